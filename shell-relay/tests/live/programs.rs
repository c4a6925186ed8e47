//! Programs that need the terminal and the keyboard.

use std::time::{Duration, Instant};

use cohab_shell_relay::{
    live::{AwaitedInput, LiveEvent},
    runner::Ending,
};

use crate::terminal::{Options, SIZE, Terminal, has};

#[test]
fn a_command_has_a_real_terminal() {
    let mut t = Terminal::bash();
    assert_eq!(t.run("test -t 0 && test -t 1 && stty size").output, "24 80\n");
    let id = t.begin("sleep 0.2; stty size");
    t.wait_started(&id);
    t.pty.resize(cohab_shell_relay::live::PtySize { rows: 30, columns: 100, ..SIZE }).unwrap();
    assert_eq!(t.result(&id).unwrap().output, "30 100\n");
}

#[test]
fn a_password_prompt_is_seen_and_what_is_typed_is_not() {
    let mut t = Terminal::bash();
    let mut request = t.request("stty -echo; read x; stty echo; echo got $x");
    request.timeout = Duration::from_millis(900);
    let id = t.begin_request(request);
    let waiting = LiveEvent::WaitingForInput { id: id.clone(), what: AwaitedInput::Password };
    t.wait("the password prompt", |t| t.events.contains(&waiting));
    // Its time stands still meanwhile.
    t.settle_until(Duration::from_millis(1200));
    t.keys("secret\r");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.output.as_str()), (Ending::Exited, "got secret\n"));
}

#[test]
fn vim_works_and_leaves_the_screen_as_it_was() {
    if !has("vim") {
        return;
    }
    let mut t = Terminal::bash();
    let id = t.begin("vim -u NONE");
    t.wait("vim's screen", |t| t.live.modes().alternate_screen());
    t.wait_text("VIM - Vi IMproved");
    t.keys(":q\r");
    let outcome = t.result(&id).unwrap();
    assert_eq!(outcome.status, Some(0));
    assert!(outcome.output.contains("[full-screen program ran]"), "{}", outcome.output);
    assert!(!t.live.modes().alternate_screen());
    t.wait_screen("$ vim -u NONE\n$");
}

#[test]
fn less_works() {
    if !has("less") {
        return;
    }
    let mut t = Terminal::bash();
    let id = t.begin("seq 200 | less");
    t.wait_text("\n23\n:");
    t.keys("q");
    assert_eq!(t.result(&id).unwrap().status, Some(0));
}

#[test]
fn fzf_gets_no_stray_keys() {
    if !has("fzf") {
        return;
    }
    let mut t = Terminal::bash();
    for command in ["printf 'one\\ntwo\\n' | fzf", "printf 'one\\ntwo\\n' | fzf --height 5"] {
        let id = t.begin(command);
        t.wait_text("2/2");
        t.keys("tw");
        t.wait_text("1/2");
        t.keys("\r");
        let outcome = t.result(&id).unwrap();
        assert_eq!(outcome.status, Some(0));
        assert!(outcome.output.ends_with("two\n"), "{:?}", outcome.output);
        t.settle();
    }
}

#[test]
fn ctrl_c_of_the_user_ends_the_command_and_the_rest_of_the_text() {
    let mut t = Terminal::bash();
    let id = t.begin("sleep 20; echo after");
    t.wait_foreground("sleep");
    t.keys("\x03");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (Ending::Interrupted, Some(130)));
    assert!(!outcome.output.contains("after"));
}

#[test]
fn a_cancel_climbs_until_the_command_is_gone_and_the_shell_lives() {
    let mut t = Terminal::bash();
    let id = t.begin("sleep 20");
    t.wait_started(&id);
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (Ending::Interrupted, Some(130)));
    t.settle();
    let id = t.begin("sh -c 'trap \"\" INT TERM; while :; do sleep 30; done'");
    t.wait_started(&id);
    t.settle();
    let begun = Instant::now();
    t.cancel(&id);
    let outcome = t.result(&id).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    assert_eq!(outcome.ending, Ending::Interrupted);
    assert_eq!(t.run("echo alive").output, "alive\n");
}

#[test]
fn a_stopped_command_is_a_job_of_the_shell() {
    let mut t = Terminal::bash();
    let id = t.begin("sleep 30");
    t.wait_foreground("sleep");
    t.keys("\x1a");
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status), (Ending::Stopped, Some(148)));
    assert!(t.run("jobs").output.contains("sleep 30"));
    assert_eq!(t.run("kill -9 %1; wait %1; sh -c 'exit 148'").ending, Ending::Exited);
}

#[test]
fn a_background_job_does_not_hold_the_result() {
    let mut t = Terminal::bash();
    let begun = Instant::now();
    let outcome = t.run("sleep 5 & echo bg");
    assert!(begun.elapsed() < Duration::from_secs(3));
    assert!(outcome.output.contains("bg\n"), "{}", outcome.output);
}

#[test]
fn a_command_whose_time_is_up_goes_on() {
    let mut t = Terminal::bash();
    let mut request = t.request("echo begun; sleep 1; echo done");
    request.timeout = Duration::from_millis(300);
    let id = t.begin_request(request);
    let outcome = t.result(&id).unwrap();
    assert_eq!((outcome.ending, outcome.status, outcome.output.as_str()), (Ending::StillRunning, None, "begun\n"));
    t.wait_text("done\n$");
    assert_eq!(t.run("echo next").output, "next\n");
}

#[test]
fn bytes_of_characters_and_sequences_may_come_apart() {
    let mut t = Terminal::bash();
    let text = "printf '\\xe2\\x82'; sleep 0.05; printf '\\xac \\033[3'; sleep 0.05; printf '1mred\\033[0m\\n'";
    assert_eq!(t.run(text).output, "€ red\n");
    t.wait_text("\n€ red\n$");
}

#[test]
fn a_login_shell_reads_its_files_once_and_logs_out() {
    let options = Options {
        rc: "echo never read >>~/log",
        login: true,
        files: &[(".bash_profile", "PS1='$ '; echo profile >>~/log\n"), (".bash_logout", "echo logout >>~/log\n")],
        ..Options::default()
    };
    let mut t = Terminal::with(&options);
    assert_eq!(
        t.run("shopt login_shell; shopt -o posix; cat ~/log").output,
        "login_shell    \ton\nposix          \toff\nprofile\n"
    );
    assert_eq!(t.run("echo ${HISTFILE##*/}; env | grep -c HISTFILE").output, ".bash_history\n0\n");
    let log = t.home_path().join("log");
    t.keys("logout\r");
    t.wait("the end", |t| t.ended);
    assert_eq!(std::fs::read_to_string(log).unwrap(), "profile\nlogout\n");
}
