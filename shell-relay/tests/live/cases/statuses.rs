//! What a command does in the shell, and the status it gives.

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::Terminal;

case!(case_001_statuses [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    for (text, status) in [("true", 0), ("false", 1), ("sh -c 'exit 42'", 42), ("sh -c 'exit 255'", 255)] {
        let outcome = t.run(text);
        assert_eq!((outcome.status, outcome.output.as_str()), (Some(status), ""), "{text}");
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

case!(case_046_interrupt [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let text = if kind.is_fish() { "sleep 20; and echo after" } else { "sleep 20; echo after" };
    let id = t.begin(text);
    t.wait_foreground("sleep");
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.status, Some(130));
    assert!(!outcome.output.contains("after"), "{outcome:?}");
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_063_half_typed_line [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("echo half 'ty");
    t.settle_for(std::time::Duration::from_millis(200));
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.wait_screen("$ echo relayed\nrelayed\n$ echo half 'ty");
    t.keys("ped'\r");
    t.wait_text("\nhalf typed\n$");
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
