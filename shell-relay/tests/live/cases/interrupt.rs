//! Cases with commands stopped by the user's Ctrl-C or by a cancel.

use cohab_shell_relay::live::LiveEvent;
use cohab_types::command::{CommandOutcome, Ending};

use crate::terminal::{BY_TURN, BY_USER, Kind, Terminal};

/// Asserts that an interrupted command wrote only the terminal's picture of the key and the shell's message.
fn assert_interrupted(outcome: &CommandOutcome, ending: Ending) {
    assert_eq!((outcome.ending, outcome.status), (ending, Some(130)), "{outcome:?}");
    assert_eq!(outcome.output.trim_end(), "^C");
}

/// The shell's own mark for output without a last line feed.
fn rest_mark(kind: Kind) -> &'static str {
    match kind {
        Kind::Bash => "",
        Kind::Zsh if rustix::process::geteuid().is_root() => "#",
        Kind::Zsh => "%",
        Kind::Fish | Kind::Fish4 => "⏎",
    }
}

/// Asserts that the shell is as before, and that only the two commands are on the screen.
fn assert_usable(t: &mut Terminal, kind: Kind, text: &str) {
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
    t.wait_screen(&format!("$ {text}\n^C{}\n$ echo next\nnext\n$", rest_mark(kind)));
}

case!(case_046_interrupt [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let text = if kind.is_fish() { "sleep 20; and echo after" } else { "sleep 20; echo after" };
    let id = t.begin(text);
    t.wait_foreground("sleep");
    t.keys("\x03");
    assert_interrupted(&t.result(&id).unwrap(), BY_USER);
    assert_usable(&mut t, kind, text);
});

case!(case_046_interrupt_in_a_loop_of_the_shell [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let text = if kind.is_fish() { "echo begun; while true; end" } else { "echo begun; while :; do :; done" };
    let id = t.begin(text);
    t.wait_text("\nbegun");
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.ending, BY_USER);
    // zsh's `$?` is now and then the signal's bare number.
    assert!(outcome.status == Some(130) || kind == Kind::Zsh && outcome.status == Some(2), "{outcome:?}");
    assert_eq!(outcome.output.trim_end(), "begun\n^C");
    t.settle();
    assert_eq!(t.run("echo next").output, "next\n");
});

case!(case_047_cancel [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sleep 20");
    t.wait_foreground("sleep");
    t.cancel(&id);
    assert_interrupted(&t.result(&id).unwrap(), BY_TURN);
    assert_usable(&mut t, kind, "sleep 20");
});

case!(case_047_cancel_of_output_without_an_end [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("printf 'half a line'; sleep 20");
    t.wait_text("half a line");
    t.wait_foreground("sleep");
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.output.trim_end(), "half a line^C");
    t.wait_screen(&format!("$ printf 'half a line'; sleep 20\nhalf a line^C{}\n$", rest_mark(kind)));
});

case!(case_047_cancel_within_an_answer [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.keys("? what\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? what\n");
    let id = t.begin("printf half; sleep 20");
    t.wait_text("\nhalf");
    t.wait_foreground("sleep");
    t.cancel(&id);
    assert_eq!(t.result(&id).unwrap().output.trim_end(), "half^C");
    t.settle();
    t.draw("Stopped.\n");
    t.end_answer(false);
    let mark = if kind == Kind::Zsh { rest_mark(kind) } else { "" };
    t.wait_screen(&format!("$ ? what\nhalf^C{mark}\nStopped.\n$"));
});

case!(case_048_escalation [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let id = t.begin("sh -c 'trap \"\" INT TERM; echo deaf; while :; do sleep 30; done'");
    t.wait_text("\ndeaf");
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.ending, BY_TURN);
    assert_eq!(outcome.status, Some(137));
    t.settle();
    assert_eq!(t.run("echo alive").output, "alive\n");
});
