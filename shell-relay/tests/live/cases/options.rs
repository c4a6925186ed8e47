//! Cases in which the user's options, `$?`, `$_` and history stay the user's.

use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::Mode;

use crate::terminal::{Kind, Terminal};

/// The state of options as the user's own shell reports it: `on` or `off` for each.
fn options(t: &mut Terminal, kind: Kind, names: &[&str]) -> Vec<String> {
    let command = match kind {
        Kind::Bash => format!("for o in {}; do [[ -o $o ]] && echo on || echo off; done", names.join(" ")),
        _ => format!("for o in {}; do print -r -- ${{options[$o]}}; done", names.join(" ")),
    };
    let command = t.line(&command);
    let words: Vec<String> = command.output_tail.split_whitespace().map(str::to_owned).collect();
    words.into_iter().filter(|word| matches!(word.as_str(), "on" | "off")).collect()
}

case!(case_055_nounset_does_not_leak [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("set -u; echo $nope");
    assert_ne!(outcome.status, Some(0));
    assert!(outcome.output.contains("nope"), "{outcome:?}");
    assert_eq!(t.run("echo N$nope").output, "N\n");
    assert_eq!(options(&mut t, kind, &["nounset"]), ["off"]);
});

case!(case_056_strict_text [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    let outcome = t.run("set -euo pipefail; cd /usr; false; echo not reached");
    assert_eq!((outcome.mode, outcome.status, outcome.output.as_str()), (Mode::Subshell, Some(1), ""));
    assert_eq!(outcome.cwd, t.home_path());
    assert_eq!(t.run("set -euo pipefail; echo fine | cat; echo $nope").status, Some(1));
    assert_eq!(options(&mut t, kind, &["errexit", "nounset", "pipefail"]), ["off", "off", "off"]);
});

case!(case_057_strict_user [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("set -u -o pipefail");
    assert_eq!(t.run("echo N$nope").output, "N\n");
    assert_eq!(t.run("false | true").status, Some(1));
    assert_eq!(t.run("set +u +o pipefail; true").status, Some(0));
    assert_eq!(options(&mut t, kind, &["nounset", "pipefail"]), ["on", "on"]);
});

case!(case_058_tracing_user [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("set -x");
    t.shown.clear();
    assert_eq!(t.run("echo traced").output, "traced\n");
    assert!(!String::from_utf8_lossy(&t.shown).contains("__cohab"), "{}", t.text());
    assert_eq!(options(&mut t, kind, &["xtrace"]).last().map(String::as_str), Some("on"));
});

case!(case_058_a_command_that_traces [zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let (on, off) = if kind.is_fish() { ("set -g fish_trace 1", "set -e fish_trace") } else { ("set -x", "set +x") };
    t.line(on);
    assert_eq!(t.run("echo traced").output, "traced\n");
    t.line(off);
    let output = t.run(&format!("{on}\necho traced")).output;
    let (_, behind) = output.split_once("> echo traced\ntraced\n").unwrap_or_else(|| panic!("{output}"));
    // In fish the end of the command is a command itself.
    assert!(behind.lines().count() <= if kind.is_fish() { 4 } else { 0 } && !output.contains("7391"), "{output}");
    t.line(off);
});

case!(case_059_errexit_user [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("set -e");
    assert_eq!(t.run("false").status, Some(1));
    assert_eq!(t.run("false; echo on").output, "on\n");
    assert_eq!(t.run("nosuchcmd").status, Some(127));
    let id = t.begin("sleep 20");
    t.wait_foreground("sleep");
    t.keys("\x03");
    assert_eq!(t.result(&id).unwrap().status, Some(130));
    t.settle();
    assert_eq!(t.run("echo alive").output, "alive\n");
    assert_eq!(options(&mut t, kind, &["errexit"]), ["on"]);
});

case!(case_060_last_argument [bash zsh] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo keepme last_arg");
    t.run("echo other arguments");
    t.line("echo \"<$_>\"");
    t.wait_text("\n<last_arg>\n$");
    t.line("echo another last");
    t.keys("echo half ");
    t.settle_for(std::time::Duration::from_millis(200));
    t.run("true");
    t.run("cd /");
    t.keys("\"<$_>\"\r");
    t.wait_text("\nhalf <last>\n$");
});

case!(case_061_status [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let status = if kind.is_fish() { "$status" } else { "$?" };
    for (text, expected) in [("false", 1), ("sh -c 'exit 4'", 4), ("true", 0), ("nosuchcmd", 127)] {
        t.run(text);
        t.line(&format!("echo \"<{status}>\""));
        t.wait_text(&format!("\n<{expected}>\n$"));
    }
});

case!(case_062_history [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo mine");
    for text in ["true", "echo relayed", "false"] {
        t.run(text);
    }
    t.keys("\x1b[A");
    t.wait("the user's last line", |t| t.text().ends_with("\n$ echo mine"));
    t.events.clear();
    t.keys("\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    let history = t.run(if kind == Kind::Zsh { "fc -l 1" } else { "history" }).output;
    assert!(history.contains("echo mine"), "{history}");
    assert!(!history.contains("__cohab") && !history.contains("relayed"), "{history}");
});

case!(case_058_traps_on_debug [zsh]: |kind| {
    for (trap, off) in [
        ("trap 'seen+=($ZSH_DEBUG_CMD)' DEBUG", "trap - DEBUG"),
        ("TRAPDEBUG() { seen+=($ZSH_DEBUG_CMD); }", "unfunction TRAPDEBUG"),
    ] {
        let mut t = Terminal::of(kind);
        t.line(trap);
        t.keys("for i in 1\r");
        t.wait_text("for>");
        t.keys("do :; done\r");
        t.settle();
        assert!(t.run("trap").output.contains("seen+="), "{trap}");
        t.line("print -r -- $#seen; [[ $seen != *__cohab_[^d]* ]] && print none of ours");
        assert!(t.text().contains("none of ours"), "{}", t.text());
        t.run(off);
        assert_eq!(t.run("trap").output, "", "{trap}");
        t.run(trap);
        t.line("seen=()");
        let line = t.line("true; print -rl -- $seen");
        assert!(line.output_tail.contains("true"), "{trap}: {line:?}");
    }
});
