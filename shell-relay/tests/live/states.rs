//! Tests for the start of a command, and for the user's line at the prompt meanwhile and afterwards.

use std::time::Duration;

use cohab_shell_relay::live::LiveEvent;

use crate::terminal::{Options, Terminal};

#[test]
fn a_list_of_the_users_of_what_not_to_record_does_not_uncover_the_stub() {
    let mut t = Terminal::bash();
    t.line("HISTIGNORE=ls");
    t.run("true");
    assert!(!t.run("history").output.contains("__cohab"));
}

#[test]
fn asking_for_the_line_leaves_the_users_parameters_alone() {
    let mut t = Terminal::bash();
    t.line("mkdir new");
    t.line("cd $_");
    assert_eq!(t.live.cwd(), t.home_path().join("new"));
    t.line("false | true | (exit 3)");
    t.line("echo \"[$?] [${PIPESTATUS[*]}]\"");
    t.wait_text("[3] [1 0 3]");
}

#[test]
fn a_user_who_types_is_waited_for() {
    let mut t = Terminal::bash();
    t.keys("echo typing");
    let id = t.begin("true");
    t.settle_until(Duration::from_millis(300));
    assert!(!t.shown.windows(4).any(|window| window == b"true"));
    assert_eq!(t.result(&id).unwrap().status, Some(0));
    t.wait_screen("$ true\n$ echo typing");
}

#[test]
fn a_pending_escape_is_no_hindrance() {
    let mut t = Terminal::bash();
    t.keys("echo half");
    t.keys("\x1b");
    t.settle_for(Duration::from_millis(700));
    assert_eq!(t.run("echo relayed").output, "relayed\n");
    t.wait_screen("$ echo relayed\nrelayed\n$ echo half");
    t.keys("\x1b");
    t.settle();
    // readline itself takes Enter behind a pending Escape for an unbound key.
    t.keys("\r");
    t.settle();
    t.keys("\r");
    t.wait_text("\nhalf\n$");
}

#[test]
fn a_quoted_enter_is_typed_as_it_is() {
    let mut t = Terminal::bash();
    t.keys("echo 'a\x16");
    t.keys("\r");
    t.keys("b' | od -c\r");
    t.wait_text("a  \\r   b");
}

#[test]
fn commands_wait_for_each_other_and_for_the_user() {
    let mut t = Terminal::bash();
    let first = t.begin("sleep 0.3; echo first");
    let second = t.begin("echo second");
    assert_eq!(t.result(&first).unwrap().output, "first\n");
    assert_eq!(t.result(&second).unwrap().output, "second\n");
    t.settle();
    t.events.clear();
    t.keys("sleep 0.5\r");
    t.wait("its start", |t| t.events.contains(&LiveEvent::UserCommandStarted));
    assert_eq!(t.run("echo third").output, "third\n");
}

#[test]
fn a_shell_without_our_files_is_passed_through() {
    let mut t = Terminal::unready(&Options { rc: "exec bash --norc --noprofile\n", ..Options::default() });
    t.wait("the verdict", |t| t.events.iter().any(|event| matches!(event, LiveEvent::NotIntegrated { .. })));
    assert_eq!(t.refused("true"), "not_integrated");
    t.keys("echo plain\r");
    t.wait_text("\nplain\n");
}

#[test]
fn an_idle_prompt_needs_no_timer() {
    let mut t = Terminal::bash();
    t.run("true");
    t.settle_for(Duration::from_millis(300));
    assert_eq!(t.live.deadline(), None);
}
