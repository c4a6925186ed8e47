//! Cases of the user's history: no trace of the relay's typing, and no other change.

use std::{fs, os::unix::fs::MetadataExt};

use cohab_secrets::FilledLine;

use crate::terminal::{Kind, Options, Terminal};

const PREEXEC: &str = include_str!("../../rc/preexec.bash");

/// Three commands of the agent's after a line of the user's.
fn relayed_three_times(t: &mut Terminal) {
    t.line("echo mine");
    for text in ["true", "false", "true"] {
        t.run(text);
    }
}

fn assert_no_stub_in_history(t: &mut Terminal) {
    let history = t.run("history").output;
    assert!(history.contains("echo mine") && !history.contains("__cohab"), "{history}");
}

/// The cursor stands behind the line that one Up gives.
fn assert_one_up_gives_the_last_line(t: &mut Terminal) {
    t.keys("\x1b[A");
    t.wait("the user's last line", |t| t.text().ends_with("$ echo mine"));
}

fn with(kind: Kind, rc: &str) -> Terminal {
    Terminal::with(&Options { kind, rc: &format!("{}{rc}\n", kind.plain_rc()), ..Options::default() })
}

case!(case_062_the_history_file_is_not_written_by_relays [fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    relayed_three_times(&mut t);
    let file = t.home.path().join(".local/share/fish/fish_history");
    let written = |t: &mut Terminal| {
        t.wait("the user's line in the file", |_| {
            fs::read_to_string(&file).is_ok_and(|text| text.contains("echo mine"))
        });
        (fs::metadata(&file).unwrap().ino(), fs::read_to_string(&file).unwrap())
    };
    let before = written(&mut t);
    for _ in 0..3 {
        t.run("true");
    }
    assert_eq!(written(&mut t), before, "it was written anew");
});

case!(case_062_a_history_of_another_name [fish fish4] |kind| {
    let mut t = with(kind, "set -gx fish_history other");
    relayed_three_times(&mut t);
    assert_eq!(t.run("echo $fish_history; env | string match 'fish_history*'").output, "other\nfish_history=other\n");
    assert_no_stub_in_history(&mut t);
    assert_one_up_gives_the_last_line(&mut t);
});

case!(case_062_a_history_without_a_file [fish fish4] |kind| {
    let mut t = with(kind, "set -g fish_history ''");
    relayed_three_times(&mut t);
    assert_eq!(t.run("count $fish_history; echo \"[$fish_history]\"").output, "1\n[]\n");
    assert_no_stub_in_history(&mut t);
    assert_one_up_gives_the_last_line(&mut t);
});

case!(case_062_an_exported_read_only_history_file [zsh]: |kind| {
    let mut t = with(kind, "export HISTFILE=~/.hist SAVEHIST=100; readonly HISTFILE; setopt share_history");
    relayed_three_times(&mut t);
    assert_eq!(t.run("env | grep -c ^HISTFILE=").output, "1\n");
    assert_no_stub_in_history(&mut t);
    assert_one_up_gives_the_last_line(&mut t);
    t.keys("\x15print -r -- ${(t)HISTFILE}\r");
    t.wait_text("\nscalar-readonly-export\n$");
    let written = fs::read_to_string(t.home.path().join(".hist")).unwrap();
    assert!(written.contains("echo mine") && !written.contains("__cohab"), "{written}");
});

case!(case_062_a_secret_that_is_filled_in_is_in_no_history_and_not_on_the_screen [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo mine");
    let filled = FilledLine::from("printf %s 'aB3dE5fG7' | wc -c".to_owned());
    let outcome = t.run_filled("printf %s <secret:jwt#1-abcdefgh> | wc -c", &filled);
    assert_eq!(outcome.output.trim(), "9");
    assert!(t.text().contains("printf %s <secret:jwt#1-abcdefgh>") && !t.text().contains("aB3dE5"), "{}", t.text());
    let history = t.run(if kind == Kind::Zsh { "fc -l 1" } else { "history" }).output;
    assert!(history.contains("echo mine") && !history.contains("aB3dE5"), "{history}");
    // The shell's own copy of the text from the time of the run is gone, too.
    assert!(!t.run("set").output.contains("aB3dE5"));
    assert_one_up_gives_the_last_line(&mut t);
});

case!(case_062_a_hook_that_keeps_a_history_is_not_shown_what_is_filled_in [bash]: |kind| {
    let mut t = with(kind, &format!("{PREEXEC}\npreexec() {{ echo \"pre $1\" >>~/log; }}"));
    let filled = FilledLine::from("test 'aB3dE5fG7'".to_owned());
    assert_eq!(t.run_filled("test <secret:jwt#1-abcdefgh>", &filled).status, Some(0));
    t.run("true");
    let log = fs::read_to_string(t.home.path().join("log")).unwrap();
    assert_eq!(log, "pre test <secret:jwt#1-abcdefgh>\npre true\n");
});
