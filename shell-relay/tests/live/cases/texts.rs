//! Cases in which any text is one unit, taken literally.

use std::time::{Duration, Instant};

use cohab_shell_relay::live::{COMMAND_MAX_BYTES, LiveEvent};

use super::{assert_line_is_back, by, half_typed};
use crate::terminal::{Kind, Terminal};

case!(case_015_no_history_expansion [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.line("echo prev");
    assert_eq!(t.run("echo \"wow!!\" '!$'").output, "wow!! !$\n");
    t.wait_screen("$ echo prev\nprev\n$ echo \"wow!!\" '!$'\nwow!! !$\n$");
});

case!(case_016_wide_characters [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    assert_eq!(t.run("echo 日本語 é 🎉").output, "日本語 é 🎉\n");
    t.wait_screen("$ echo 日本語 é 🎉\n日本語 é 🎉\n$ echo half");
    assert_line_is_back(&mut t);
    assert_eq!(t.screen.screen().cursor_position(), (2, 11));
});

case!(case_017_loop_of_many_lines [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let text = by(
        kind,
        "for i in 1 2; do\n\techo \"n $i\" # say it\n\n\tfalse\ndone\n# a comment\n\necho end",
        "for i in 1 2\n\techo \"n $i\" # say it\n\n\tfalse\nend\n# a comment\n\necho end",
    );
    assert_eq!(t.run(text).output, "n 1\nn 2\nend\n");
    let started = t.events.iter().filter(|event| matches!(event, LiveEvent::CommandStarted { .. })).count();
    assert_eq!(started, 1);
    let echoed = text.replace('\t', "        ");
    t.wait_screen(&format!("$ {echoed}\nn 1\nn 2\nend\n$ echo half"));
    assert_line_is_back(&mut t);
});

case!(case_018_heredocs [bash zsh] |kind| {
    let mut t = half_typed(kind);
    assert_eq!(t.run("cat <<A\n$((1 + 1)) $HOME\nA").output, format!("2 {}\n", t.home_path().display()));
    assert_eq!(t.run("cat <<'A'\n$HOME `x`\nA").output, "$HOME `x`\n");
    assert_eq!(t.run("cat <<-A\n\tx\n\tA\necho after").output, "x\nafter\n");
    let outcome = t.run("cat <<E\nnever ended");
    assert!(outcome.output.ends_with("never ended\n"), "{outcome:?}");
    assert_line_is_back(&mut t);
});

case!(case_019_long_text [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    assert_eq!(t.run(&assignment(kind, 100_000)).output, "100000\n");
    assert_line_is_back(&mut t);
    let rows = t.text().lines().count();
    assert!(t.text().contains("...\n100000\n") && rows < 12, "{}", t.text());
});

/// A text that assigns a long value and prints its length.
fn assignment(kind: Kind, length: usize) -> String {
    let value = "a".repeat(length);
    match kind.is_fish() {
        true => format!("set x {value}; string length $x"),
        false => format!("x={value}; echo ${{#x}}"),
    }
}

case!(case_020_nul_is_refused [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    // What the shell paints last may come late on a busy machine.
    t.settle_for(Duration::from_millis(200));
    let before = t.shown.len();
    assert_eq!(t.refused("echo a\0b"), "bad_text");
    t.settle_for(Duration::from_millis(200));
    assert_eq!(t.shown.len(), before);
    assert_line_is_back(&mut t);
});

case!(case_021_unclosed_quote [bash zsh fish fish4] |kind| {
    fails_at_once(kind, &["echo 'unclosed", "echo \"unclosed", by(kind, "echo $(", "echo (")]);
});

case!(case_022_unfinished_block [bash zsh fish fish4] |kind| {
    fails_at_once(kind, &[by(kind, "if true; then echo x", "if true; echo x"), by(kind, "{ echo x", "begin; echo x")]);
});

fn fails_at_once(kind: Kind, texts: &[&str]) {
    let mut t = half_typed(kind);
    for text in texts {
        let outcome = t.run(text);
        assert!(outcome.status != Some(0) && !outcome.output.is_empty(), "{text}: {outcome:?}");
        assert_line_is_back(&mut t);
    }
    assert_eq!(t.run("echo fine").output, "fine\n");
    assert_line_is_back(&mut t);
}

case!(case_102_longest_text [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    // Other users of the machine may slow a try down.
    let times = (0..5).map(|_| {
        let begun = Instant::now();
        let id = t.begin(&assignment(kind, 1024 * 1024));
        assert_eq!(t.result(&id).unwrap().output, "1048576\n");
        let time = begun.elapsed();
        t.settle();
        time
    });
    assert!(times.into_iter().any(|time| time < Duration::from_secs(2)));
    // What the shell paints last may come late on a busy machine.
    t.settle_for(Duration::from_millis(200));
    let before = t.shown.len();
    assert_eq!(t.refused(&"x".repeat(COMMAND_MAX_BYTES + 1)), "bad_text");
    t.settle_for(Duration::from_millis(200));
    assert_eq!(t.shown.len(), before);
    assert_line_is_back(&mut t);
});
