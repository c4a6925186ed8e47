//! Cases with frameworks and plugins that also use the prompt and the line editor.

use std::{path::Path, time::Duration};

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Options, Terminal, newer};

const PREEXEC: &str = include_str!("../../rc/preexec.bash");

fn asks(t: &mut Terminal) {
    t.ask_why();
    t.wait_text("\nBecause.\n");
}

fn log(t: &Terminal) -> Vec<String> {
    let log = std::fs::read_to_string(t.home_path().join("log")).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

case!(case_081_hooks_before_and_after_each_command [bash]: |kind| {
    let rc = format!(
        "{PREEXEC}\nPS1='$ '\npreexec() {{ echo \"pre $1\" >>~/log; }}\nprecmd() {{ echo \"post $?\" >>~/log; }}\n"
    );
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    std::fs::write(t.home_path().join("log"), "").unwrap();
    t.line("echo one");
    assert_eq!(log(&t), ["pre echo one", "post 0"]);
    assert_eq!(t.run("echo two; sh -c 'exit 6'").output, "two\n");
    t.type_slowly("echo three");
    assert_eq!(t.run("echo between").output, "between\n");
    t.keys("; (exit 7)\r");
    t.wait_text("\nthree\n$");
    asks(&mut t);
    let hooks = ["pre echo one", "post 0", "pre echo two; sh -c 'exit 6'", "post 6", "pre echo between", "post 0"];
    assert_eq!(log(&t)[..6], hooks);
    assert_eq!(log(&t)[6..8], ["pre echo three; (exit 7)", "post 7"]);
    assert_eq!(t.line("sh -c 'exit 4'").status, 4);
    t.line("echo \"status=$?\"");
    t.wait_text("status=4");
    assert!(!log(&t).iter().any(|line| line.contains("__cohab")), "{:?}", log(&t));
    // The text that the hooks read does not stay in the history either.
    let lines = ["echo three; (exit 7)", "? why", "sh -c 'exit 4'", "echo \"status=$?\""];
    let listed = t.line("HISTTIMEFORMAT= history | tail -n 5 | cut -c 8-").output_tail;
    assert_eq!(listed.lines().take(4).collect::<Vec<_>>(), lines);
    t.line("HISTCONTROL=ignoredups; echo same");
    t.line("echo same");
    assert_eq!(t.run("echo same").output, "same\n");
    t.keys("\x1b[A");
    t.wait("the line", |t| t.text().ends_with("$ echo same"));
});

fn style_rc() -> String {
    let instant = include_str!("../../rc/instant_prompt.zsh");
    format!("{instant}\necho loading\n{}", include_str!("../../rc/oh_my_zsh_style.zsh"))
}

case!(case_082_a_theme_with_instant_and_transient_prompts
      [zsh] except { bash: "ble.sh, the line editor that this row means, is in no package and takes no keys of ours: hotkey and prefix only" } |kind| {
    let rc = style_rc();
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.wait_text("no-branch");
    t.line("echo one");
    t.wait_text("❯ echo one\none\n");
    let outcome = t.run("cd /usr; echo two; sh -c 'exit 5'");
    assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("two\n", Some(5), Some("/usr")));
    t.wait("the prompt after it", |t| t.text().contains("❯ cd /usr; echo two; sh -c 'exit 5'") && t.text().contains("\ntwo\n/usr ["));
    t.type_slowly("echo half");
    assert_eq!(t.run("echo between").output, "between\n");
    t.wait("the line", |t| t.text().lines().last().is_some_and(|row| row.starts_with("❯ echo half")));
    t.wait("the right prompt", |t| t.text().lines().last().is_some_and(|row| row.ends_with("no-branch")));
    t.keys("-typed\r");
    t.wait_text("❯ echo half-typed\nhalf-typed\n");
    t.settle_for(Duration::from_millis(300));
    asks(&mut t);
    assert_eq!(t.line("sh -c 'exit 4'").status, 4);
    assert_eq!(t.text().lines().filter(|line| *line == "loading").count(), 1);
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
});

case!(case_082_powerlevel9k [zsh]: |kind| {
    const THEME: &str = "/usr/share/powerlevel9k/powerlevel9k.zsh-theme";
    if !Path::new(THEME).exists() {
        eprintln!("SKIPPED: {THEME} is not installed");
        return;
    }
    let rc = format!(
        "POWERLEVEL9K_LEFT_PROMPT_ELEMENTS=(dir status)\nPOWERLEVEL9K_RIGHT_PROMPT_ELEMENTS=(command_execution_time)\n\
         POWERLEVEL9K_PROMPT_ON_NEWLINE=true POWERLEVEL9K_COMMAND_EXECUTION_TIME_THRESHOLD=0\nsource {THEME}\n"
    );
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.line("cd /usr");
    t.wait_text(" /usr ");
    let outcome = t.run("cd /var; echo two; sleep 0.3; sh -c 'exit 5'");
    assert_eq!((outcome.output.as_str(), outcome.status), ("two\n", Some(5)));
    t.wait_text(" /var ");
    t.type_slowly("echo half");
    assert_eq!(t.run("echo between").output, "between\n");
    t.wait("the line", |t| last_row(t).contains("echo half"));
    t.keys("-typed\r");
    t.wait_text("\nhalf-typed\n");
    t.settle_for(Duration::from_millis(300));
    asks(&mut t);
    assert_eq!(t.line("sh -c 'exit 4'").status, 4);
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
});

case!(case_083_suggestions_and_highlighting [zsh]: |kind| {
    let plugins =
        ["zsh-autosuggestions", "zsh-syntax-highlighting"].map(|name| format!("/usr/share/{name}/{name}.zsh"));
    if let Some(missing) = plugins.iter().find(|path| !Path::new(path).exists()) {
        eprintln!("SKIPPED: {missing} is not installed");
        return;
    }
    let rc = format!("{}source {}\nsource {}\n", kind.plain_rc(), plugins[0], plugins[1]);
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.line("echo suggested-word");
    t.keys("echo sugg");
    t.wait("the suggestion", |t| t.text().ends_with("\n$ echo suggested-word"));
    t.settle_for(Duration::from_millis(250));
    assert_eq!(t.run("echo x").output, "x\n");
    t.wait("the line", |t| t.text().lines().last().is_some_and(|row| row.starts_with("$ echo sugg")));
    t.keys("\r");
    t.wait_text("\nsugg\n$");
    t.settle_for(Duration::from_millis(250));
    // It is not part of the reported line either.
    t.events.clear();
    t.keys("echo sugges");
    t.wait("the suggestion", |t| t.text().ends_with("\n$ echo suggested-word"));
    t.keys("\x1b\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    assert!(t.events.contains(&LiveEvent::HotkeyPressed { text: "echo sugges".into(), cwd: t.home_path(), is_command: Some(true) }));
    t.draw("\nanswer\n");
    t.end_answer(true);
    t.wait("the line", |t| t.text().lines().last().is_some_and(|row| row.starts_with("$ echo sugges")));
    t.keys("\r");
    t.wait_text("\nsugges\n$");
    assert!(!String::from_utf8_lossy(&t.shown).contains("__cohab"));
});

const STARSHIP: &str = "add_newline = false\nformat = '$directory$cmd_duration$status$character'\n\
    [directory]\nformat = '$path '\n[cmd_duration]\nmin_time = 500\nformat = 'took $duration '\n\
    [status]\ndisabled = false\nformat = 'st $status '\n[character]\nformat = 'sh> '\n";

/// A shell with starship and the text `more` behind it; `first` comes before.
fn with_starship(kind: Kind, first: &str, more: &str) -> Option<Terminal> {
    let Some(starship) = newer("COHAB_TEST_STARSHIP", "starship") else {
        eprintln!("SKIPPED: starship is not installed");
        return None;
    };
    let starship = starship.display();
    let init = match kind {
        Kind::Bash => format!("eval \"$({starship} init bash)\"\n"),
        Kind::Zsh => format!("eval \"$({starship} init zsh)\"\n"),
        Kind::Fish | Kind::Fish4 => format!("{starship} init fish | source\n"),
    };
    let rc = format!("{first}{}{init}{more}", kind.plain_rc());
    let files = [(".config/starship.toml", STARSHIP)];
    Some(Terminal::with(&Options { kind, rc: &rc, files: &files, ..Options::default() }))
}

fn last_row(t: &Terminal) -> String {
    t.text().lines().last().unwrap_or_default().to_owned()
}

fn wait_last_row(t: &mut Terminal, begin: &str, end: &str) {
    t.wait(&format!("{begin}..{end}"), |t| last_row(t).starts_with(begin) && last_row(t).ends_with(end));
}

fn starship_is_right(t: &mut Terminal) {
    t.wait_text("~ sh>");
    t.line("sleep 0.7");
    wait_last_row(t, "~ took ", "sh>");
    t.line("true");
    t.wait("no timer", |t| last_row(t) == "~ sh>");
    assert_eq!(t.run("sleep 0.7; cd /usr; sh -c 'exit 5'").status, Some(5));
    wait_last_row(t, "/usr took ", "st 5 sh>");
    t.type_slowly("echo half");
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.wait("the line", |t| last_row(t) == "/usr sh> echo half");
    t.keys("-typed\r");
    t.wait("its output", |t| t.text().ends_with("\nhalf-typed\n/usr sh>"));
    t.settle_for(Duration::from_millis(300));
    asks(t);
    t.wait("the prompt", |t| last_row(t) == "/usr sh>");
    assert_eq!(t.line("sh -c 'exit 4'").status, 4);
    t.wait("the status", |t| last_row(t) == "/usr st 4 sh>");
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
}

case!(case_099_starship [bash zsh fish fish4] |kind| {
    if let Some(mut t) = with_starship(kind, "", "") {
        starship_is_right(&mut t);
    }
});

case!(case_099_starship_whose_old_prompts_shrink [fish fish4] |kind| {
    // The framework binds Enter itself.
    let Some(mut t) = with_starship(kind, "", "enable_transience\n") else { return };
    t.wait_text("~ sh>");
    t.line("echo one");
    t.wait("the short prompt", |t| t.text().lines().any(|row| row.ends_with("echo one") && !row.contains("sh>")));
    assert_eq!(t.run("cd /usr; echo two; sh -c 'exit 5'").output, "two\n");
    t.type_slowly("echo half");
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.wait("the line", |t| last_row(t) == "/usr sh> echo half");
    t.keys("-typed\r");
    t.wait("its output", |t| t.text().ends_with("\nhalf-typed\n/usr sh>"));
    t.settle_for(Duration::from_millis(300));
    asks(&mut t);
    t.wait("the prompt", |t| last_row(t) == "/usr sh>");
});

case!(case_100_hooks_then_starship_and_own_ones [bash]: |kind| {
    let own = "trap 'dbg=$BASH_COMMAND' DEBUG\nPROMPT_COMMAND=\"last=\\$?${PROMPT_COMMAND:+;$PROMPT_COMMAND}\"\n";
    let more = format!("preexec_functions+=(logged)\nlogged() {{ echo \"pre $1\" >>~/log; }}\n{own}");
    let Some(mut t) = with_starship(kind, PREEXEC, &more) else { return };
    starship_is_right(&mut t);
    let hooks: Vec<String> =
        log(&t).into_iter().filter(|line| line.contains("sleep") || line.contains("half")).collect();
    assert_eq!(hooks, ["pre sleep 0.7", "pre sleep 0.7; cd /usr; sh -c 'exit 5'", "pre echo half-typed"]);
    t.line("(exit 7)");
    t.line("echo \"last=$last status=$?\"");
    t.wait_text("last=7 status=7");
    t.run("(exit 8)");
    t.line("echo \"last=$last status=$?\"");
    t.wait_text("last=8 status=8");
});

case!(case_100_the_traps_of_the_user_stay [bash]: |kind| {
    let Some(mut t) = with_starship(kind, PREEXEC, "trap 'dbg=$BASH_COMMAND' DEBUG\n") else { return };
    t.run("true");
    t.line("echo before; echo \"[$dbg]\"");
    t.wait_text("before\n[");
    assert!(!t.text().contains("__cohab"), "{}", t.text());
});
