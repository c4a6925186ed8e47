//! Cases in which the terminal remains the user's: queries, keyboard protocol, clipboard, the reported directory, time and rows.

use std::time::{Duration, Instant};

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Kind, Terminal};

/// Asks the terminal with its first argument, printed by `printf`, and prints the answer up to the byte that is its second.
const ASK: &str =
    "stty raw -echo; printf \"$1\"; IFS= read -rd \"$2\" answer; stty sane; printf 'answer: %q\\n' \"$answer\"\n";

fn shown(t: &Terminal) -> String {
    String::from_utf8_lossy(&t.shown).into_owned()
}

fn with_ask(kind: Kind) -> Terminal {
    let t = Terminal::of(kind);
    std::fs::write(t.home_path().join("ask"), ASK).unwrap();
    t
}

case!(case_094_queries_of_a_program [bash zsh fish fish4] |kind| {
    let mut t = with_ask(kind);
    for (query, until, answer) in [("\\033[6n", "R", "$'\\E[2;1'"), ("\\033[c", "c", "$'\\E[?62;22'")] {
        t.run("clear");
        t.wait_screen("$");
        let outcome = t.run(&format!("bash ask '{query}' {until}"));
        assert!(outcome.output.ends_with(&format!("answer: {answer}\n")), "{outcome:?}");
    }
    // Each answer came once: nothing is left over for the line editor.
    t.wait_screen("$ bash ask '\\033[c' c\nanswer: $'\\E[?62;22'\n$");
});

case!(case_094_query_of_the_user [bash zsh fish fish4] |kind| {
    let mut t = with_ask(kind);
    let command = t.line("bash ask '\\033]11;?\\a' '/'");
    assert!(command.output_tail.contains("E]11;rgb:1111"), "{command:?}");
});

// An agent's command may not make the terminal type: requests beyond the cursor and the terminal's kind pass only once the user types
// into the program, and nothing passes for a program that reads lines: the answer would be a line for the shell.
case!(case_094_colour_query_of_a_program_in_use [bash zsh fish fish4] |kind| {
    let mut t = with_ask(kind);
    let script = "stty raw -echo; printf 'press a key'; read -rn 1; printf '\\033]11;?\\a'; IFS= read -rd '/' answer; stty sane; printf '%q\\n' \"$answer\"\n";
    std::fs::write(t.home_path().join("use"), script).unwrap();
    let id = t.begin("bash use");
    t.wait_text("press a key");
    t.keys("x");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.contains("E]11;rgb:1111"), "{outcome:?}");
});

case!(case_094_queries_that_nobody_reads [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.shown.clear();
    assert_eq!(t.run("printf '\\033[6n\\033[c\\033]11;?\\007done\\n'").status, Some(0));
    let shown = shown(&t);
    assert!(shown.contains("done") && !shown.contains("\x1b[6n") && !shown.contains("\x1b]11;"), "{shown:?}");
    t.wait_screen("$ printf '\\033[6n\\033[c\\033]11;?\\007done\\n'\ndone\n$");
});

case!(case_095_kitty_keyboard [fish4]: |kind| {
    let mut t = Terminal::of(kind);
    t.wait("fish's flags", |t| t.live.modes().kitty_keyboard());
    t.keys("echo half");
    t.settle_for(Duration::from_millis(200));
    t.keys("\x1b[13;3u");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("asked\n");
    // Ctrl-C and Escape as the terminal now sends them.
    t.keys("\x1b[99;5u");
    t.keys("\x1b[27u");
    assert_eq!(t.events.iter().filter(|event| matches!(event, LiveEvent::CancelRequested { .. })).count(), 2);
    t.run("printf '\\033[>1u'; true");
    assert!(!shown(&t).contains("\x1b[>1u"), "a command that only writes sets no flags");
    let script = "stty raw -echo; printf '\\033[>1upress a key'; read -rn 1; printf '\\r\\033[K'; stty sane\n";
    std::fs::write(t.home_path().join("push"), script).unwrap();
    let id = t.begin("bash push");
    t.wait_text("press a key");
    t.keys("y");
    assert_eq!(t.result(&id).unwrap().status, Some(0));
    t.settle();
    t.end_answer(true);
    t.wait_screen("$ asked\n$ echo half");
    let after = shown(&t);
    let last = |flags: &str| after.rfind(flags);
    assert!(t.live.modes().kitty_keyboard() && last("\x1b[=5u") > last("\x1b[=0u"), "{after:?}");
    assert!(last("\x1b[<1u") > last("\x1b[>1u"), "what the command pushed is popped: {after:?}");
    t.keys("\x1b[97;1ub\r");
    t.wait_text("\nhalfab\n$");
});

case!(case_095_no_kitty_keyboard [fish]: |kind| {
    // fish 3.6 does not know the protocol.
    let mut t = Terminal::of(kind);
    t.keys("? what\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    assert!(!t.live.modes().kitty_keyboard());
    t.draw("? what\n");
    t.end_answer(false);
    t.wait_screen("$ ? what\n$");
    assert!(!t.live.modes().kitty_keyboard() && !shown(&t).contains("\x1b[="));
});

case!(case_096_clipboard [bash zsh fish fish4] |kind| {
    const COPY: &str = "\x1b]52;c;aGk=\x07";
    let mut t = Terminal::of(kind);
    t.line("printf '\\033]52;c;aGk=\\007'");
    assert_eq!(shown(&t).matches(COPY).count(), 1, "the user's own commands are free");
    t.shown.clear();
    // The policy: an agent's command may not write the clipboard, unless the user types into it.
    t.run("printf '\\033]52;c;aGk=\\007'");
    assert!(!shown(&t).contains("\x1b]52;"));
    let script = "stty raw -echo; printf 'press a key'; read -rn 1; printf '\\033]52;c;aGk=\\007'; sleep 0.2; stty sane\n";
    std::fs::write(t.home_path().join("copy"), script).unwrap();
    let id = t.begin("bash copy");
    t.wait_text("press a key");
    t.keys("y");
    assert_eq!(t.result(&id).unwrap().status, Some(0));
    assert_eq!(shown(&t).matches(COPY).count(), 1);
});

case!(case_096_directory_told [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.shown.clear();
    t.run("printf '\\033]7;file://host/etc\\007'; cd /usr");
    assert!(!shown(&t).contains("\x1b]7;file://host/etc"), "{:?}", shown(&t));
    t.run("cd /usr/share; printf '\\033]7;file://host/usr/share\\007'");
    assert_eq!(shown(&t).matches("\x1b]7;file://host/usr/share\x07").count(), 1, "a true one passes");
});

case!(case_096_directory_told_by_fish [fish4]: |kind| {
    let mut t = Terminal::of(kind);
    t.shown.clear();
    t.run("cd /usr/share");
    assert!(shown(&t).contains("/usr/share\x07"), "{:?}", shown(&t));
    t.keys("? what\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("? what\n");
    t.run("cd /var");
    t.end_answer(false);
    let told = shown(&t);
    assert!(
        told.rfind("/var\x07")
            .is_some_and(|at| told[..at].ends_with(&told[told.rfind("\x1b]7;file://").unwrap()..at])),
        "{told:?}"
    );
});

case!(case_097_fifty_commands [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let mut relayed: Vec<Duration> = Vec::new();
    for _ in 0..50 {
        t.events.clear();
        let begun = Instant::now();
        let id = t.begin("true");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        relayed.push(begun.elapsed());
        assert_eq!(t.result(&id).unwrap().status, Some(0));
    }
    let mut typed: Vec<Duration> = Vec::new();
    for _ in 0..50 {
        t.events.clear();
        t.keys("true");
        t.settle_for(Duration::from_millis(5));
        let begun = Instant::now();
        t.keys("\r");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        typed.push(begun.elapsed());
        t.settle_for(Duration::from_millis(5));
    }
    relayed.sort();
    typed.sort();
    eprintln!("{kind:?}, prompt to prompt, median: relayed {:?}, typed {:?}", relayed[25], typed[25]);
    // The bar for an idle machine and optimised code is in `bench relay`; this finds a wait that has crept in.
    assert!(relayed[25] < typed[25] * 4 + Duration::from_millis(40), "relayed {:?}, typed {:?}", relayed[25], typed[25]);
    let rows: Vec<String> = t.text().lines().map(str::to_owned).collect();
    assert!(rows[..rows.len() - 1].iter().all(|row| row == "$ true"), "{rows:?}");
    assert_eq!(rows.last().map(String::as_str), Some("$"));
});

case!(case_098_no_blank_rows [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    for _ in 0..5 {
        t.run("true");
    }
    t.wait_screen("$ true\n$ true\n$ true\n$ true\n$ true\n$");
    assert_eq!(t.screen.screen().cursor_position().0, 5);
});
