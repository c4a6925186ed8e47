//! Cases with surroundings invented to break the relay: output that ends in the middle of a sequence, variables, signals.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use super::{assert_line_is_back, by, half_typed};
use crate::terminal::{BY_TURN, Kind, Options, Terminal};

/// Status and folder are exact; without a program from PATH.
fn assert_exact(t: &mut Terminal, kind: Kind, why: &str) {
    let (one, other) = if t.live.cwd().ends_with("usr") { ("/var", 130) } else { ("/usr", 127) };
    let leave = by(kind, "(exit NUMBER)", "begin; function l; return NUMBER; end; l; end")
        .replace("NUMBER", &other.to_string());
    let outcome = t.run(&format!("cd {one}; echo a b; {leave}"));
    assert_eq!(
        (outcome.output.as_str(), outcome.status, outcome.cwd.to_str()),
        ("a b\n", Some(other), Some(one)),
        "{why}"
    );
}

case!(case_230_output_that_ends_within_a_sequence [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let (nonce, pid) = (t.nonce.clone(), t.pty.child_pid());
    let begun = format!("\\033]7391;{nonce};{pid};E;99;0");
    for end in ["\\033", "\\033[", "\\033[31", "\\033]0;title", "\\033P", "\\033_", "\\342\\202", "\\033]7391;", &begun] {
        assert_eq!(t.run(&format!("printf 'x{end}'; sh -c 'exit 6'")).status, Some(6), "{end}");
        t.settle_for(Duration::from_millis(100));
        assert!(t.text().lines().last().is_some_and(|row| row.ends_with("echo half")), "{end}\n{}", t.text());
        assert_exact(&mut t, kind, end);
    }
});

case!(case_231_signals_to_the_shell [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let pid = by(kind, "$$", "$fish_pid");
    let statuses = [("INT", 130), ("WINCH", 0), ("CONT", 0), ("CHLD", 0), ("TTIN", 0), ("QUIT", 0), ("TERM", 0)];
    // Regardless of the relay, SIGTERM ends fish.
    for (signal, status) in statuses.into_iter().take(if kind.is_fish() { 6 } else { 7 }) {
        assert_eq!(t.run(&format!("kill -{signal} {pid}; sleep 0.05")).status, Some(status), "{signal}");
        assert_exact(&mut t, kind, signal);
    }
    assert_line_is_back(&mut t);
});

case!(case_232_terminal_left_in_odd_modes [bash zsh fish fish4] |kind| {
    for modes in ["raw -echo", "-icanon min 0 time 0", "-isig", "-onlcr", "-echo", "ixany", "cols 20"] {
        let mut t = half_typed(kind);
        t.run(&format!("stty {modes}"));
        assert_exact(&mut t, kind, modes);
        assert_exact(&mut t, kind, modes);
        t.run("stty sane");
        assert_exact(&mut t, kind, modes);
    }
});

case!(case_233_controls_in_the_text [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let text = "echo '\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}31m\u{202e}\u{8}\u{c}\u{7f}' >/dev/null; echo on";
    assert_eq!(t.run(text).output, "on\n");
    assert_line_is_back(&mut t);
    let shown = String::from_utf8_lossy(&t.shown).into_owned();
    for part in ["\u{1b}[2J", "\u{1b}]0;t", "\u{9b}", "\u{202e}", "\u{c}"] {
        assert!(!shown.contains(part), "{part:?} {shown:?}");
    }
});

case!(case_234_no_job_control [bash zsh] |kind| {
    let mut t = half_typed(kind);
    t.run("set +m");
    assert_exact(&mut t, kind, "set +m");
    let id = t.begin("sleep 20; echo after");
    t.wait_started(&id);
    t.settle_for(Duration::from_millis(200));
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (BY_TURN, Some(130)));
    t.settle();
    assert_exact(&mut t, kind, "cancelled");
    assert_line_is_back(&mut t);
});

case!(case_235_variables_gone_or_odd [bash zsh fish fish4] |kind| {
    let texts = [
        by(kind, "PATH=", "set PATH"),
        by(kind, "unset PATH", "set -e PATH"),
        by(kind, "unset HOME", "set -e HOME"),
        by(kind, "unset PWD OLDPWD", "true"),
        by(kind, "export TERM=dumb", "set -gx TERM dumb"),
        by(kind, "unset TERM", "set -e TERM"),
        by(kind, "COLUMNS=10", "set COLUMNS 10"),
        by(kind, "CDPATH=/:/usr/share", "set CDPATH / /usr/share"),
        by(kind, "set -- -x 'y z' \"'\"", "set argv -x"),
        by(kind, "BASH_ENV=x ENV=x SHELLOPTS_=x _=x", "set status_ x"),
        by(kind, "REPLY=x st=5 c=x s=x o=x k=x w=x line=x", "set st 5; set line x; set -g t x; set -g own x; set -g typed x"),
        by(kind, "st() { echo st; }; o() { echo o; }", "function st; echo st; end"),
        by(kind, "declare -i st=1 REPLY=2 rest=3 line=4", "set -gx st 1"),
        by(kind, "HISTSIZE=0 HISTFILE=/nonexistent HISTCONTROL=ignoreboth", "set -g fish_history ''"),
    ];
    for text in texts {
        let mut t = half_typed(kind);
        t.run(text);
        let outcome = t.run(by(kind, "builtin cd /usr; echo 'a b'; (exit 127)", "builtin cd /usr; echo 'a b'; begin; function l; return 127; end; l; end"));
        assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("a b\n", Some(127), Some("/usr")), "{text}");
        t.settle_for(Duration::from_millis(100));
        assert!(t.text().ends_with("echo half"), "{text}\n{}", t.text());
    }
});

case!(case_236_read_only_variables [bash zsh] |kind| {
    let names = match kind {
        Kind::Bash => "PS2 HISTIGNORE HISTCONTROL HISTFILE LC_ALL IFS REPLY TMOUT st line stopped before c",
        _ => "PS1 PS2 PROMPT LC_ALL IFS REPLY TMOUT st line o k w",
    };
    let readonly: String = names.split_whitespace().map(|name| format!("{name}=${name}\nreadonly {name}\n")).collect();
    let rc = format!("HISTIGNORE=ls TMOUT=0\n{}{readonly}", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.line("echo last");
    assert_exact(&mut t, kind, names);
    t.keys("\x1b[A");
    t.wait("the line before", |t| t.text().ends_with("$ echo last"));
    t.settle_for(Duration::from_millis(200));
    assert_exact(&mut t, kind, names);
    t.wait("the line before", |t| t.text().ends_with("$ echo last"));
    assert!(!t.text().contains("readonly") && !t.text().contains("read-only"), "{}", t.text());
});

case!(case_236_read_only_history_file [zsh]: |kind| {
    let rc = format!("{}readonly HISTFILE\n", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    assert_exact(&mut t, kind, "HISTFILE");
    // The stub is one Up away, as zsh keeps such a line until the next one.
    t.line("true");
    let history = t.line("fc -l 1").output_tail;
    assert!(history.contains("true") && !history.contains("__cohab"), "{history}");
});

case!(case_236_line_that_the_shell_discards [zsh]: |kind| {
    let rc = format!("{}zshaddhistory() {{ (( lines++ )) || : ${{refused:?}}; }}\n", kind.plain_rc());
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    assert_eq!(t.refused("echo never"), "not_ready");
    t.settle();
    assert_exact(&mut t, kind, "after the line that was discarded");
});

case!(case_236_read_only_hooks [bash zsh] |kind| {
    let names: &[&str] = if kind == Kind::Bash { &["PS1", "PROMPT_COMMAND"] } else { &["precmd_functions"] };
    for name in names {
        let rc = format!("{}{name}=${name}\nreadonly {name}\n", kind.plain_rc());
        let mut t = Terminal::unready(&Options { kind, rc: &rc, ..Options::default() });
        t.wait("the verdict", |t| t.events.iter().any(|event| matches!(event, LiveEvent::NotIntegrated { .. })));
        assert_eq!(t.refused("true"), "not_integrated");
        t.keys("echo plain\r");
        t.wait_text("\nplain\n");
    }
});

case!(case_237_buffer_filled_by_a_command [zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    t.run(by(kind, "print -z ' filled'", "commandline -r ' filled'"));
    t.wait_text("\n$ echo half filled");
    assert_exact(&mut t, kind, "filled");
    t.wait("the line", |t| t.text().ends_with("\n$ echo half filled"));
});

case!(case_238_names_for_the_hint_are_told_when_they_change [zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let file = t.relay_dir().join("names");
    std::fs::remove_file(&file).unwrap();
    t.run("printf one");
    t.line("printf two");
    assert!(!file.exists(), "told anew after commands that define nothing");
    let tells = |name: &str| std::fs::read_to_string(&file).is_ok_and(|names| names.lines().any(|line| line == name));
    t.run(by(kind, "alias first=ls", "alias first ls"));
    t.wait("the assistant's alias", |_| tells("first"));
    t.line(by(kind, "alias second=ls", "alias second ls"));
    t.wait("the user's alias", |_| tells("second"));
});
