//! When a command may start, and what the user has at the prompt meanwhile and afterwards.

use std::time::Duration;

use cohab_shell_relay::{
    live::LiveEvent,
    runner::{Ending, Mode},
};

use crate::terminal::{Options, Terminal, has};

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
fn in_another_shell_nothing_is_typed() {
    let mut t = Terminal::with_rc("PS1='$ '; export PS1\n");
    for inner in ["sh", "bash --norc"] {
        t.keys(format!("{inner}\r"));
        t.wait("its start", |t| t.events.contains(&LiveEvent::UserCommandStarted));
        t.settle_until(Duration::from_millis(400));
        let before = t.text();
        assert_eq!(t.refused("echo x"), "nested", "{inner}");
        t.settle_until(Duration::from_millis(100));
        assert_eq!(t.text(), before);
        t.line("exit");
        assert_eq!(t.run("echo back").output, "back\n");
        t.events.clear();
    }
}

#[test]
fn a_full_screen_program_refuses_at_once() {
    if !has("vim") {
        return;
    }
    let mut t = Terminal::bash();
    t.keys("vim -u NONE\r");
    t.wait("vim", |t| t.live.modes().alternate_screen());
    assert_eq!(t.refused("true"), "fullscreen_app");
    t.keys(":q\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert_eq!(t.run("echo on").output, "on\n");
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
fn a_command_that_ends_the_shell_says_so() {
    let mut t = Terminal::bash();
    let outcome = t.run("exit 3");
    assert_eq!((outcome.mode, outcome.status, outcome.ending), (Mode::Subshell, Some(3), Ending::Exited));
    let id = t.begin_as("exit 3", Mode::Live);
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (Ending::ShellExited, Some(3)));
    assert_eq!(t.refused("true"), "shell_gone");
}

#[test]
fn marks_survive_redirections_of_the_shell() {
    let mut t = Terminal::bash();
    t.line("exec 3>&1 >out");
    let outcome = t.run("cd /usr; echo x; false");
    assert_eq!((outcome.output.as_str(), outcome.status, outcome.cwd.to_str()), ("", Some(1), Some("/usr")));
    t.line("exec >&3");
    t.line("exec 2>/dev/null");
    let outcome = t.run("echo x; sh -c 'exit 2'");
    assert_eq!((outcome.output.as_str(), outcome.status), ("x\n", Some(2)));
}

#[test]
fn hooks_of_the_users_run_as_before() {
    let rc = "PS1='$ '; trap 'dbg=$BASH_COMMAND' DEBUG; PROMPT_COMMAND='last=$?'\n";
    let mut t = Terminal::with_rc(rc);
    t.line("(exit 7)");
    t.line("echo \"last=$last\"");
    t.wait_text("last=7");
    t.run("(exit 8)");
    t.line("echo \"last=$last\"");
    t.wait_text("last=8");
    t.run("PROMPT_COMMAND=true");
    assert_eq!(t.run("sh -c 'exit 9'").status, Some(9));
    t.events.clear();
    t.keys("unset PROMPT_COMMAND\r");
    t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
    assert_eq!(t.run("sh -c 'exit 10'").status, Some(10));
    // The first command has put our hooks back.
    t.line("(exit 11)");
    assert_eq!(t.run("true").status, Some(0));
}

#[test]
fn a_prompt_rebuilt_each_time_is_drawn_once() {
    let rc = "build() { PS1=\"[$?] \\\\w\\n> \"; }; PROMPT_COMMAND=build; cd /usr\n";
    let mut t = Terminal::with_rc(rc);
    t.run("(exit 5)");
    t.wait_screen("[0] /usr\n> (exit 5)\n[5] /usr\n>");
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
