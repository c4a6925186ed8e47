//! Tests for questions at the prompt, answers, and commands within answers.

use cohab_shell_relay::live::{Keyboard, LiveEvent};

use crate::terminal::{BY_USER, Terminal};

/// Types a question and waits until the assistant may draw.
fn ask(t: &mut Terminal, question: &str) {
    t.keys(format!("{question}\r"));
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
}

#[test]
fn an_empty_line_is_not_asked_for() {
    let mut t = Terminal::bash();
    t.keys("\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert!(!t.events.iter().any(|event| matches!(event, LiveEvent::LineEntered { .. })));
    t.wait_screen("$\n$");
}

#[test]
fn a_two_line_prompt_stays_whole_around_commands_and_answers() {
    let mut t = Terminal::with_rc("PS1='\\[\\e[32m\\]top \\w\\[\\e[0m\\]\\n> '\nHOME=/nowhere; cd /usr\n");
    t.line("echo one");
    t.wait_screen("top /usr\n> echo one\none\ntop /usr\n>");
    t.events.clear();
    ask(&mut t, "? what");
    t.draw("? what\nThat.\n");
    t.end_answer(false);
    let so_far = "top /usr\n> echo one\none\ntop /usr\n> ? what\nThat.\ntop /usr\n>";
    t.wait_screen(so_far);
    t.run("cd /var");
    t.wait_screen(&format!("{so_far} cd /var\ntop /var\n>"));
}

#[test]
fn a_line_of_several_rows_is_cleared_and_comes_back_whole() {
    let mut t = Terminal::with_rc("PS1='top\\n> '\n");
    let line = format!("echo {}", "abcdefghi ".repeat(20));
    t.keys(&line);
    t.keys("\x1b\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    t.draw("asked\nanswer\n");
    t.end_answer(true);
    let wrapped: Vec<String> =
        format!("> {line}").as_bytes().chunks(80).map(|row| String::from_utf8_lossy(row).into()).collect();
    let wrapped: Vec<&str> = wrapped.iter().map(|row| row.trim_end()).collect();
    t.wait_screen(&format!("top\n> asked\nanswer\ntop\n{}", wrapped.join("\n")));
    t.keys("\r");
    t.wait("its end", |t| t.events.iter().any(|event| matches!(event, LiveEvent::UserCommandFinished(_))));
    t.wait_text("abcdefghi\ntop\n>");
}

#[test]
fn a_program_killed_in_an_answer_leaves_no_screen_behind() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    t.run("printf '\\033[?1049h\\033[?1000h'");
    assert!(!t.live.modes().alternate_screen());
    t.draw("done\n");
    t.end_answer(false);
    t.wait_screen("$ ? go\ndone\n$");
}

#[test]
fn a_pasted_block_of_lines_is_one_line_of_the_editor() {
    let mut t = Terminal::bash();
    t.keys("\x1b[200~echo a\necho b\x1b[201~");
    t.wait_text("echo b");
    t.events.clear();
    t.keys("\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert!(t.events.contains(&LiveEvent::LineEntered {
        text: "echo a\necho b".into(),
        cursor: 13,
        cwd: t.home_path(),
        is_command: Some(true),
        is_alone: true,
    }));
    t.wait_text("\na\nb\n$");
    t.wait_screen("$ echo a\necho b\na\nb\n$");
}

#[test]
fn keys_typed_after_enter_wait_for_the_decision() {
    let mut t = Terminal::bash();
    t.keys("echo a\recho b\r");
    t.wait("both", |t| t.text().ends_with("a\nb\n$") || t.text().ends_with("\nb\n$"));
    t.settle();
    let outputs: Vec<String> = (t.events.iter())
        .filter_map(|event| match event {
            LiveEvent::UserCommandFinished(command) => Some(command.output_tail.clone()),
            _ => None,
        })
        .collect();
    assert_eq!(outputs.last().map(|output| output.ends_with("b\n")), Some(true), "{outputs:?}");
}

#[test]
fn commands_run_within_an_answer_without_a_prompt_around_them() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\nstep 1\n");
    let outcome = t.run("cd /usr; printf 'no newline'");
    assert_eq!((outcome.output.as_str(), outcome.cwd.to_str()), ("no newline", Some("/usr")));
    t.draw("step 2\n");
    assert_eq!(t.run("pwd").output, "/usr\n");
    t.draw("done\n");
    t.end_answer(false);
    t.wait_screen("$ ? go\nstep 1\nno newline\nstep 2\n/usr\ndone\n$");
    t.line("pwd");
    t.wait_text("$ pwd\n/usr\n$");
}

#[test]
fn a_command_within_an_answer_has_the_keyboard() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    t.keyboard(Keyboard::Assistant);
    t.keys("y");
    assert_eq!(t.events.last(), Some(&LiveEvent::AnswerKey(b"y".to_vec())));
    let id = t.begin("read -rp 'name: ' x; echo \"hello $x\"");
    t.wait_text("name:");
    t.keys("bob\r");
    let outcome = t.result(&id).unwrap();
    assert!(outcome.output.ends_with("hello bob\n"), "{}", outcome.output);
    t.keys("\x1b");
    assert_eq!(t.events.last(), Some(&LiveEvent::AnswerKey(b"\x1b".to_vec())));
    t.end_answer(false);
    t.wait_screen("$ ? go\nname: bob\nhello bob\n$");
}

#[test]
fn ctrl_z_during_an_answer_asks_to_hold_it_and_is_typed_into_nothing() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    t.keys("\x1a");
    assert!(t.events.contains(&LiveEvent::PauseKeyPressed));
    assert!(!t.events.contains(&LiveEvent::KeysWait), "the assistant does not step aside for it");
    t.end_answer(false);
    t.keys("echo later\r");
    t.wait_screen("$ ? go\n$ echo later\nlater\n$");
}

#[test]
fn ctrl_c_during_an_answer_asks_to_cancel_and_other_keys_come_back_afterwards() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    t.keys("echo la");
    t.keys("\x03");
    t.keys("ter");
    t.keys("\x1b");
    let cancels = t.events.iter().filter(|event| matches!(event, LiveEvent::CancelRequested { .. })).count();
    assert_eq!(cancels, 2);
    t.end_answer(false);
    t.wait_screen("$ ? go\n$ echo later");
    t.keys("\r");
    t.wait_screen("$ ? go\n$ echo later\nlater\n$");
}

#[test]
fn a_line_typed_ahead_does_not_run_after_a_stop() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    t.keys("touch ahead\r");
    t.keys("\x03");
    t.keys("ls");
    t.end_answer(false);
    t.wait_screen("$ ? go\n$ ls");
}

#[test]
fn a_question_is_one_up_away_and_takes_nothing_from_the_history() {
    let mut t = Terminal::bash();
    t.keys("echo one\r");
    t.wait_screen("$ echo one\none\n$");
    ask(&mut t, "? first");
    t.draw("? first\n");
    t.end_answer(false);
    t.events.clear();
    ask(&mut t, "? second");
    t.draw("? second\n");
    t.end_answer(false);
    t.keys("\x1b[A\x1b[A");
    t.wait_screen("$ echo one\none\n$ ? first\n$ ? second\n$ ? first");
    t.keys("\x1b[A");
    t.wait_screen("$ echo one\none\n$ ? first\n$ ? second\n$ echo one");
}

#[test]
fn an_unrecorded_question_is_not_in_the_history_and_its_line_is_gone() {
    let mut t = Terminal::bash();
    t.keys("echo one\r");
    t.wait_screen("$ echo one\none\n$");
    ask(&mut t, "?! first");
    t.draw("?! first\n");
    t.end_answer(false);
    t.wait_screen("$ echo one\none\n$ ?! first\n$");
    t.keys("\x1b[A");
    t.wait_screen("$ echo one\none\n$ ?! first\n$ echo one");
}

#[test]
fn a_long_question_is_known_at_enter_and_a_longer_one_by_its_beginning() {
    let mut t = Terminal::bash();
    let text = format!("? why; {}", "does é not 100% work? [x] & so\\on ".repeat(300));
    ask(&mut t, &format!("\x1b[200~{text}\x1b[201~"));
    assert!(entered(&t).iter().any(|line| *line == text));
    t.end_answer(false);
    t.events.clear();
    ask(&mut t, &format!("\x1b[200~? {}\x1b[201~", "界".repeat(12_000)));
    assert!(entered(&t).iter().any(|line| line.starts_with("? 界界") && line.ends_with("界 [...]")));
}

fn entered(t: &Terminal) -> Vec<&str> {
    let lines = t.events.iter().filter_map(|event| match event {
        LiveEvent::LineEntered { text, .. } => Some(text.as_str()),
        _ => None,
    });
    lines.collect()
}

#[test]
fn the_users_strict_and_tracing_options_change_nothing() {
    let mut t = Terminal::with_rc("PS1='$ '\nset -eux\nunset PROMPT_COMMAND\n");
    t.shown.clear();
    ask(&mut t, "? why");
    t.draw("? why\n");
    t.end_answer(false);
    t.line("[[ $- == *e*u*x* ]] && echo strict");
    t.wait_text("\nstrict\n$");
    assert!(!String::from_utf8_lossy(&t.shown).contains("__cohab"), "{}", t.text());
}

#[test]
fn ctrl_c_in_a_command_within_an_answer_ends_the_command_only() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    let id = t.begin("sleep 20; echo after");
    t.wait_started(&id);
    t.settle();
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (BY_USER, Some(130)));
    assert!(!t.events.iter().any(|event| matches!(event, LiveEvent::CancelRequested { .. })));
    assert_eq!(t.run("echo on").output, "on\n");
    t.end_answer(false);
    t.wait_text("on\n$");
}

#[test]
fn what_a_command_left_unread_is_typed_after_the_answer() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys("echo left");
    t.result(&id).unwrap();
    assert_eq!(t.run("echo second").output, "second\n");
    t.end_answer(false);
    t.wait_text("second\n$ echo left");
    t.keys("\r");
    t.wait_text("$ echo left\nleft\n$");
}

#[test]
fn a_line_typed_ahead_runs_once_within_the_answer() {
    let mut t = Terminal::bash();
    ask(&mut t, "? go");
    t.draw("? go\n");
    let id = t.begin("sleep 0.3");
    t.wait_started(&id);
    t.keys("echo ahead > ahead; cat ahead\r");
    t.result(&id).unwrap();
    assert_eq!(t.run("echo second").output, "second\n");
    t.end_answer(false);
    t.wait_text("second\n$");
    assert_eq!(t.text().lines().filter(|line| *line == "ahead").count(), 1, "{}", t.text());
}

#[test]
fn background_output_during_an_answer_is_handed_to_the_assistant() {
    let mut t = Terminal::bash();
    t.line("(sleep 0.4; echo from behind) &");
    t.events.clear();
    ask(&mut t, "? go");
    t.wait("the background job's output", |t| {
        t.events.iter().any(|event| *event == LiveEvent::BackgroundOutput(b"from behind\r\n".to_vec()))
    });
    t.draw("? go\n");
    t.end_answer(false);
    t.wait_text("? go\n");
}

#[test]
fn an_answer_works_with_prompts_that_go_nowhere() {
    let mut t = Terminal::bash();
    t.line("exec 2>/dev/null");
    t.events.clear();
    t.keys("\x1b\r");
    t.wait("the answer", |t| t.events.contains(&LiveEvent::AnswerReady));
    assert_eq!(t.run("echo x").output, "x\n");
    t.end_answer(false);
    assert_eq!(t.run("echo y").output, "y\n");
}
