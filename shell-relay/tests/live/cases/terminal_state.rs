//! Cases of size, modes, start and end of the terminal's shell.

use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::EnvChange;

use crate::terminal::{Kind, Options, Terminal};

case!(case_085_resize [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sh -c 'until [ -e go ]; do sleep 0.02; done; stty size'");
    t.wait_foreground("sh");
    t.resize(30, 100);
    std::fs::write(t.home_path().join("go"), "").unwrap();
    assert_eq!(t.result(&id).unwrap().output, "30 100\n");
    t.settle();
    assert_eq!(t.run("stty size").output, "30 100\n");
    let echo = "$ sh -c 'until [ -e go ]; do sleep 0.02; done; stty size'";
    t.wait_screen(&format!("{echo}\n30 100\n$ stty size\n30 100\n$"));
});

case!(case_085_resize_with_a_half_typed_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo half");
    t.settle_for(std::time::Duration::from_millis(200));
    let id = t.begin("sh -c 'until [ -e go ]; do sleep 0.02; done'");
    t.wait_foreground("sh");
    // fish learns the new size after it has filled the row of its mark by the old width.
    t.resize(20, if kind.is_fish() { 100 } else { 60 });
    std::fs::write(t.home_path().join("go"), "").unwrap();
    assert_eq!(t.result(&id).unwrap().status, Some(0));
    t.wait_screen("$ sh -c 'until [ -e go ]; do sleep 0.02; done'\n$ echo half");
    t.keys(" on\r");
    t.wait_text("\nhalf on\n$");
});

case!(case_086_environment_delta [bash zsh fish fish4] |kind| {
    let variables = &[("OLD", "1"), ("GONE", "x")];
    let mut t = Terminal::with(&Options { kind, rc: kind.plain_rc(), variables, ..Options::default() });
    let (between, text) = if kind.is_fish() {
        ("set -gx BETWEEN 1", "set -gx NEW 'a\nb=c'; set -gx OLD 2; set -e GONE; cd /usr; set local_only 1")
    } else {
        ("export BETWEEN=1", "export NEW=$'a\\nb=c' OLD=2; unset GONE; cd /usr; local_only=1")
    };
    t.line(between);
    let mut request = t.request(text);
    request.wants_env_delta = true;
    let id = t.begin_request(request);
    let change = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
    let expected = [change("GONE", None), change("NEW", Some("a\nb=c")), change("OLD", Some("2"))];
    assert_eq!(t.result(&id).unwrap().env_delta, expected);
    t.settle();
    let later = if kind.is_fish() { "set -gx LATER 1" } else { "export LATER=1" };
    assert_eq!(t.run(later).env_delta, []);
});

case!(case_087_what_a_killed_program_left [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let modes = "\\033[?1049h\\033[?1000h\\033[?1006h\\033[?25l";
    t.keys(format!("sh -c 'printf \"{modes}\"; stty -echo; kill -9 $$'\r"));
    t.wait("the alternate screen", |t| t.live.modes().alternate_screen());
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    t.shown.clear();
    assert_eq!(t.run("echo works").output, "works\n");
    for undone in ["\x1b[?1049l", "\x1b[?1000l", "\x1b[?1006l", "\x1b[?25h"] {
        assert!(String::from_utf8_lossy(&t.shown).contains(undone), "{undone:?} in {:?}", t.shown);
    }
    assert!(!t.live.modes().alternate_screen());
    t.wait_text("works\n$");
    assert!(t.run("stty -a").output.contains(" echo "), "the terminal echoes again");
});

/// Sequences that a terminal would obey beyond drawing.
const OBEYED: &[&str] = &[
    "\x1b]52;c;ZXZpbA==\x07",
    "\x1b]0;owned\x07",
    "\x1b]8;;file:///etc\x1b\\",
    "\x1b]133;D;7\x07",
    "\x1b]7391;0;1;E;7;0;/\x07",
    "\x1bP$qm\x1b\\",
    "\x1b_Gx\x1b\\",
    "\x1b^x\x1b\\",
    "\x1b[21t",
    "\x1b[6n",
    "\x1b[>c",
    "\x1bZ",
    "\x05",
    "\x1b(0",
    "\x0e",
    "\x1b[?1000h",
    "\x1b[?1003;1006h",
    "\x1b[?1049h",
    "\x1b[4h",
    "\x1b[?7l",
    "\x1b[?2004l\x1b[?2004l",
    "\x1b[3J",
    "\x1b[5i",
    "\x1bc",
    "\u{9b}6n",
];

case!(case_087_what_an_agents_command_writes [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    std::fs::write(t.home_path().join("hostile"), format!("a\x1b[31m{}b\x1b[8m\x1b[?25l\n", OBEYED.concat())).unwrap();
    t.shown.clear();
    t.run("cat hostile");
    t.settle();
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    assert!(shown.contains("a\x1b[31m") && shown.contains("\x1b[8m\x1b[?25l\r\n\x1b[?25h\x1b[m"), "{shown:?}");
    for obeyed in OBEYED {
        assert!(!shown.contains(obeyed), "{obeyed:?} in {shown:?}");
    }
    assert!(!t.live.modes().alternate_screen());
    assert_eq!(t.run("echo works").output, "works\n");
});

case!(case_087_what_a_program_of_an_agent_leaves [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let left = "\\033[?1049h\\033[?1000h\\033[?25l\\033[2;5r\\033(0\\033[4h\\033[?7l";
    t.shown.clear();
    let wait = "until [ -e go ]; do sleep 0.02; done";
    let id = t.begin(&format!("sh -c 'stty -icanon -echo; printf \"{left}\"; {wait}; kill -9 $$'"));
    t.wait("its screen", |t| t.live.modes().alternate_screen());
    std::fs::write(t.home_path().join("go"), "").unwrap();
    assert!(t.result(&id).is_ok());
    t.settle();
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    let back = "\x1b[?7h\x1b[?25h\x1b[?1000l\x1b[?1049l\x1b7\x1b[r\x1b8\x1b(B\x0f\x1b[4l\x1b[m";
    assert!(shown.contains("\x1b[?1049h") && shown.contains(back), "{shown:?}");
    assert!(!t.live.modes().alternate_screen());
    assert_eq!(t.run("echo works").output, "works\n");
});

case!(case_088_login_shell [bash zsh fish fish4] |kind| {
    let (rc, files, asked, told): (&str, &[(&str, &str)], &str, &str) = match kind {
        Kind::Bash => (
            "echo never read >>~/log",
            &[(".bash_profile", "PS1='$ '; echo profile >>~/log\n"), (".bash_logout", "echo logout >>~/log\n")],
            "shopt login_shell; shopt -o posix; echo ${HISTFILE##*/}; env | grep -c HISTFILE",
            "login_shell    \ton\nposix          \toff\n.bash_history\n0\n",
        ),
        Kind::Zsh => (
            "PS1='$ '",
            &[(".zprofile", "echo profile >>~/log\n"), (".zlogout", "echo logout >>~/log\n")],
            "[[ -o login ]] && echo login; echo ${ZDOTDIR-unset}",
            "login\nunset\n",
        ),
        Kind::Fish | Kind::Fish4 => (
            "set -g fish_greeting\nfunction fish_prompt; printf '$ '; end\nstatus is-login; and echo profile >>~/log\n\
             function leave --on-event fish_exit; echo logout >>~/log; end\n",
            &[],
            "status is-login; and echo login",
            "login\n",
        ),
    };
    let mut t = Terminal::with(&Options { kind, rc, login: true, files, ..Options::default() });
    assert_eq!(t.run(asked).output, told);
    assert_eq!(t.run("cat ~/log").output, "profile\n");
    let log = t.home_path().join("log");
    t.keys(if kind.is_fish() { "exit\r" } else { "logout\r" });
    t.wait("the end", |t| t.ended);
    assert_eq!(std::fs::read_to_string(log).unwrap(), "profile\nlogout\n");
});

case!(case_089_zdotdir [zsh]: |kind| {
    let folder = tempfile::tempdir().unwrap();
    let name = folder.path().to_str().unwrap();
    std::fs::write(folder.path().join(".zshenv"), "echo zshenv >>$ZDOTDIR/log\n").unwrap();
    std::fs::write(folder.path().join(".zshrc"), "PS1='$ '; echo zshrc >>$ZDOTDIR/log\n").unwrap();
    // As `start` names it for a user who has one.
    let variables = &[("COHAB_ZDOTDIR", name)];
    let mut t = Terminal::with(&Options { kind, rc: "echo not mine", variables, ..Options::default() });
    assert_eq!(t.run("echo $ZDOTDIR; env | grep ZDOTDIR").output, format!("{name}\nZDOTDIR={name}\n"));
    assert_eq!(t.run("cat $ZDOTDIR/log").output, "zshenv\nzshrc\n");
    assert!(!t.text().contains("not mine"));
});

case!(case_089_no_zdotdir [zsh]: |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run("echo ${ZDOTDIR-unset}; env | grep ZDOTDIR").output, "unset\n");
});

case!(case_090_answer_at_prompt [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("? what\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? what\nThe answer.\n");
    t.end_answer(false);
    t.wait_screen("$ ? what\nThe answer.\n$");
    t.line("echo fine");
    t.wait_screen("$ ? what\nThe answer.\n$ echo fine\nfine\n$");
});

case!(case_090_answer_at_two_rows_with_a_half_typed_line [bash zsh fish fish4] |kind| {
    let rc = match kind {
        Kind::Bash => "PS1='top \\w\\n> '\ncd /usr\n",
        Kind::Zsh => "PS1=$'top %~\\n> ' RPROMPT=right\ncd /usr\n",
        Kind::Fish | Kind::Fish4 => {
            "set -g fish_greeting\nset -g fish_autosuggestion_enabled 0\nfunction fish_title; end\n\
             function fish_prompt; printf 'top %s\\n> ' $PWD; end\nfunction fish_right_prompt; printf right; end\ncd /usr\n"
        }
    };
    // bash has no right prompt.
    let row = |line: &str| match kind {
        Kind::Bash => format!("> {line}"),
        Kind::Zsh => format!("{:<74}right", format!("> {line}")),
        Kind::Fish | Kind::Fish4 => format!("{:<75}right", format!("> {line}")),
    };
    let mut t = Terminal::with(&Options { kind, rc, ..Options::default() });
    t.wait_screen(&format!("top /usr\n{}", row("").trim_end()));
    t.keys("echo half");
    t.keys("\x1b[D\x1b[D");
    t.settle_for(std::time::Duration::from_millis(200));
    t.keys("\x1b\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("asked\nThe answer.\n");
    t.end_answer(true);
    let answered = format!("top /usr\n{}\nThe answer.\ntop /usr\n", row("asked"));
    t.wait_screen(&format!("{answered}{}", row("echo half")));
    t.keys("-");
    t.wait_screen(&format!("{answered}{}", row("echo ha-lf")));
    t.keys("\r");
    t.wait_text("\nha-lf\ntop /usr\n>");
});

case!(case_091_terminal_that_stops_reading [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("seq 150000; echo behind");
    t.wait_started(&id);
    // The output is not read meanwhile: the command must wait, and lose nothing.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let outcome = t.result(&id).unwrap();
    let expected: String = (1..=150_000).map(|n| format!("{n}\r\n")).collect::<String>() + "behind\r\n";
    assert_eq!((outcome.status, outcome.total_bytes), (Some(0), expected.len() as u64));
    assert!(t.shown.windows(expected.len()).any(|part| part == expected.as_bytes()), "it is shown whole and in order");
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});
