//! Cases of the effects of a command in the shell, and of its status.

use std::fs;

use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::{Ending, Mode};

use super::{assert_line_is_back, half_typed};
use crate::terminal::{Kind, Terminal};

case!(case_001_statuses [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    for (text, status) in [("true", 0), ("false", 1), ("sh -c 'exit 42'", 42), ("sh -c 'exit 255'", 255)] {
        let outcome = t.run(text);
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(status), ""), "{text}");
        assert_eq!((outcome.ending, outcome.mode), (Ending::Exited, Mode::Live));
    }
    t.wait_screen("$ true\n$ false\n$ sh -c 'exit 42'\n$ sh -c 'exit 255'\n$");
    assert!(!t.shown.windows(4).any(|window| window == b"7391"), "a mark reached the terminal");
});

case!(case_003_cd_sticks [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run("cd /usr/share").cwd.to_str(), Some("/usr/share"));
    assert_eq!(t.run("pwd").output, "/usr/share\n");
    t.line("pwd");
    t.wait_screen("$ cd /usr/share\n$ pwd\n/usr/share\n$ pwd\n/usr/share\n$");
});

case!(case_014_comment [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run("echo hi # note").output, "hi\n");
});

case!(case_107_commands_within_an_answer [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("? what\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? what\n");
    for text in ["cd /usr", "printf tail", "pwd"] {
        t.run(text);
    }
    let background = |event: &LiveEvent| matches!(event, LiveEvent::BackgroundOutput(_));
    assert!(!t.events.iter().any(background), "{:?}", t.events);
    t.draw("Done.\n");
    t.end_answer(false);
    t.wait_screen("$ ? what\ntail\n/usr\nDone.\n$");
});

case!(case_002_empty_text [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    for text in ["", "  \t ", "\n\n"] {
        t.run("false");
        let outcome = t.run(text);
        assert_eq!((outcome.status, outcome.output.as_str(), outcome.ending), (Some(0), "", Ending::Exited), "{text:?}");
        assert_line_is_back(&mut t);
    }
});

case!(case_023_unknown_command [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("nosuchcmd --x");
    assert!(outcome.status == Some(127) && outcome.output.contains("nosuchcmd"), "{outcome:?}");
    assert_line_is_back(&mut t);
});

case!(case_024_a_file_that_is_no_program [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    fs::write(t.home_path().join("plain"), "").unwrap();
    let outcome = t.run("./plain");
    assert!(outcome.status == Some(126) && !outcome.output.is_empty(), "{outcome:?}");
    assert_line_is_back(&mut t);
});

case!(case_024_a_folder_is_no_program [bash zsh] except { fish: "goes there", fish4: "goes there" } |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("/usr");
    assert!(outcome.status == Some(126) && !outcome.output.is_empty(), "{outcome:?}");
    assert_line_is_back(&mut t);
});

case!(case_024_a_folder_is_gone_to [fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("/usr");
    assert_eq!((outcome.status, outcome.cwd.to_str()), (Some(0), Some("/usr")));
    assert_line_is_back(&mut t);
});

case!(case_025_killed_program [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("sh -c 'kill -9 $$'");
    assert_eq!((outcome.status, outcome.ending), (Some(137), Ending::Exited));
    assert_line_is_back(&mut t);
});

case!(case_026_statuses_of_a_pipe [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let text = match kind {
        Kind::Bash => "false | true; echo ${PIPESTATUS[*]}",
        _ => "false | true; echo $pipestatus",
    };
    assert_eq!(t.run(text).output, "1 0\n");
    assert_eq!(t.run("sh -c 'exit 3' | true").status, Some(0));
    assert_eq!(t.run("true | sh -c 'exit 3'").status, Some(3));
    assert_line_is_back(&mut t);
});
