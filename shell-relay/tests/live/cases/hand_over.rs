//! Cases of the hand-over: without a folder, without a file, and at most once.

use std::fs;

use cohab_shell_relay::live::LiveEvent;

use super::lines::{ESCAPE_IS_OVER, vi_rc};
use crate::terminal::{Options, Terminal};

const TEXTS: [(&str, &str); 4] = [
    (r#"printf '%s|' 'a  b' "c" % %41 '\x41' '$HOME'; echo two"#, "a  b|c|%|%41|\\x41|$HOME|two\n"),
    ("echo first\n\n# a comment\n\techo 日本語 é\n", "first\n日本語 é\n"),
    ("cd /usr/share; pwd", "/usr/share\n"),
    ("true", ""),
];

case!(case_401_a_command_for_which_no_file_can_be_written_is_typed [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.refuse_files();
    t.keys("echo half");
    for (text, output) in TEXTS {
        assert_eq!(t.run(text).output, output, "{text}");
    }
    t.keys("way\r");
    t.wait_text("\nhalfway\n$");
    assert!(!t.text().contains("%0A"), "what is typed is shown: {}", t.text());
});

case!(case_401_a_command_is_typed_within_an_answer [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.refuse_files();
    t.keys("? why\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    for (text, output) in TEXTS {
        assert_eq!(t.run(text).output, output, "{text}");
    }
    t.end_answer(false);
    t.line("echo on");
    t.wait_text("\non\n$");
    assert!(!t.text().contains("%0A"), "what is typed is shown: {}", t.text());
});

case!(case_401_a_command_is_typed_in_vi_command_mode [bash zsh fish fish4] |kind| {
    let rc = vi_rc(kind);
    let mut t = Terminal::with(&Options { kind, rc: &rc, ..Options::default() });
    t.refuse_files();
    t.keys("echo abc");
    t.keys("\x1b");
    t.settle_for(ESCAPE_IS_OVER);
    assert_eq!(t.run("echo 'i x'").output, "i x\n");
    t.wait_text("$ echo abc");
    t.keys("x");
    t.wait("a letter less", |t| t.text().ends_with("$ echo ab"));
});

case!(case_402_a_removed_folder_is_made_again [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let folder = t.relay_dir();
    for output in ["one\n", "two\n"] {
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(t.run(&format!("echo {output}")).output, output);
    }
});

case!(case_403_the_keys_of_the_hand_over_do_nothing_by_themselves [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run("echo once >>ran").output, "");
    let (load, run) = if kind.is_fish() { ("\x1er2", "\x1er3") } else { ("\x1b[7391;2~", "\x1b[7391;3~") };
    // The file of the command that ran last is written once more.
    let id = "ab";
    fs::write(t.relay_dir().join("cmd"), format!("{id}\necho twice >>ran")).unwrap();
    t.keys("echo li");
    for keys in [run, load, run, run, load, run] {
        t.keys(keys);
    }
    t.keys("ne\r");
    t.settle();
    let ran = fs::read_to_string(t.home_path().join("ran")).unwrap();
    assert_eq!(ran.matches("twice").count(), 1, "load and run, once: {ran}");
});

case!(case_404_no_file_may_be_written_from_the_start [bash zsh] |kind| {
    let mut t = Terminal::with(&Options { kind, rc: "ulimit -f 0", ..Options::default() });
    t.line("echo still here");
    t.wait_text("\nstill here\n");
});
