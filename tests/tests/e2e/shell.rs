//! The shell is the user's own: its screens and keys are as without cohab.

use std::{
    io::{Read, Write},
    process::Stdio,
    time::Duration,
};

use cohab_e2e::{Home, Session, Size, Terminal, binaries, deadline::eventually, keys};
use portable_pty::{PtySize, native_pty_system};

/// The same lines typed into bash with and without cohab.
fn side_by_side(home: &Home, act: impl Fn(&Session)) -> (String, String) {
    let (plain, ours) = (home.bash(), home.cohab());
    act(&plain);
    act(&ours);
    (plain.look(cohab_e2e::terminal::View::history), ours.look(cohab_e2e::terminal::View::history))
}

#[test]
fn at_the_start_there_is_a_prompt_and_nothing_else() {
    let home = Home::new();
    let shell = home.cohab();
    shell.wait_prompt();
    assert_eq!(shell.look(|view| view.history().trim().to_owned()), "ready$");
}

#[test]
fn every_screen_is_as_without_cohab() {
    let home = Home::new().rc("alias hi='echo alias works'\ngreet() { echo \"hello $1\"; }\nexport FROM_RC=yes");
    let (plain, ours) = side_by_side(&home, |shell| {
        for line in [
            "hi",
            "greet you",
            "echo $FROM_RC; false",
            "echo $?",
            "no-such-command",
            "printf 'no newline'; echo",
            "",
            "printf '\\033[31mred\\033[0m\\n'",
            "seq 1 40",
            "echo 日本語 é 🎉",
            "for i in 1 2; do echo $i; done",
        ] {
            shell.run(line);
        }
    });
    assert_eq!(ours, plain);
}

#[test]
fn no_mark_reaches_the_terminal_and_no_report_is_asked_for() {
    let home = Home::new();
    let shell = home.cohab();
    shell.run("echo hi");
    shell.run("printf '\\033]8;;http://x/\\033\\\\link\\033]8;;\\033\\\\ \\033]133;A\\007\\n'");
    let raw = shell.raw_since(0);
    assert!(!raw.contains("7391"), "a mark: {raw:?}");
    assert!(!raw.contains("\u{1b}[6n") && !raw.contains("\u{1b}[c"), "a report is asked for: {raw:?}");
    assert!(raw.contains("\u{1b}]8;;http://x/") && raw.contains("\u{1b}]133;A"), "the user's bytes: {raw:?}");
}

#[test]
fn a_two_line_prompt_stays_whole() {
    let home = Home::new().prompt("\\[\\e[32m\\]top \\W\\[\\e[0m\\]\\nlow> ", "low> ");
    let (plain, ours) = side_by_side(&home, |shell| {
        shell.run("echo one");
        shell.run("cd /usr");
        shell.run("false");
    });
    assert_eq!(ours, plain);
}

#[test]
fn the_exit_status_is_the_shells() {
    for (line, status) in [("exit", 0), ("exit 7", 7), ("(exit 3); exit", 3)] {
        let home = Home::new();
        let shell = home.cohab();
        shell.submit(line);
        assert_eq!(shell.wait_exit().exit_code(), status, "{line}");
    }
    let home = Home::new();
    let shell = home.cohab();
    shell.send(keys::CTRL_D);
    assert_eq!(shell.wait_exit().exit_code(), 0);
}

#[test]
fn history_and_line_editing_work() {
    let home = Home::new();
    let shell = home.cohab();
    shell.run("echo first");
    shell.run("echo second");
    let mark = shell.mark();
    shell.send(keys::UP);
    shell.wait_text("ready$ echo second");
    shell.send(keys::UP);
    shell.wait_for("the line before", |view| {
        let (row, _) = view.cursor();
        view.rows()[row] == "ready$ echo first"
    });
    shell.send(keys::ENTER);
    shell.wait_next_prompt(mark);
    assert_eq!(shell.look(|view| view.rows().iter().filter(|row| *row == "first").count()), 2);
}

#[test]
fn jobs_can_be_stopped_listed_and_resumed() {
    let home = Home::new();
    let shell = home.cohab();
    let mark = shell.submit("sh -c 'echo begun; exec sleep 300'");
    shell.wait_for("the command's start", |view| view.rows().iter().any(|row| row == "begun"));
    shell.send(keys::CTRL_Z);
    shell.wait_next_prompt(mark);
    assert!(shell.run("jobs").contains("Stopped"));
    let mark = shell.submit("fg");
    shell.wait_for("the job in the foreground", |view| {
        String::from_utf8_lossy(&view.raw()[mark..]).contains("sleep 300")
    });
    // bash names a job before the job has the terminal, so the first key may come too early for it.
    for _ in 0..20 {
        shell.send(keys::CTRL_C);
        if shell.holds_within(Duration::from_millis(500), |view| view.is_at_prompt("ready$ ")) {
            break;
        }
    }
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo status=$?").contains("status=130"));
}

#[test]
fn vim_takes_the_screen_and_gives_it_back() {
    if !binaries::is_installed_or_skip("vim") {
        return;
    }
    let home = Home::new();
    let shell = home.cohab();
    shell.run("echo before");
    let mark = shell.submit("vim -u NONE -i NONE new.txt");
    shell.wait_for("vim", |view| view.screen().alternate_screen() && view.shows("~"));
    shell.send("itext by vim");
    shell.wait_text("text by vim");
    shell.send(keys::ESC);
    shell.send(":wq\r");
    shell.wait_next_prompt(mark);
    assert!(!shell.look(|view| view.screen().alternate_screen()));
    assert!(shell.look(|view| view.shows("before")));
    assert!(shell.run("cat new.txt").contains("text by vim"));
}

#[test]
fn less_pages_and_ends() {
    if !binaries::is_installed_or_skip("less") {
        return;
    }
    let home = Home::new();
    let shell = home.cohab();
    let mark = shell.submit("seq 1 200 | less");
    shell.wait_for("the first page", |view| view.shows("20") && view.cursor().0 == 23);
    shell.send("G");
    shell.wait_text("200");
    shell.send("q");
    shell.wait_next_prompt(mark);
}

#[test]
fn a_new_size_reaches_the_programs() {
    let home = Home::new();
    let shell = home.cohab();
    shell.resize(Size { rows: 30, columns: 100 });
    // The signal is on its way: each try checks again.
    let arrives = (0..200).any(|_| shell.run("stty size").contains("30 100"));
    assert!(arrives, "{}", shell.dump());
}

#[test]
fn the_terminal_is_as_before_after_the_end() {
    for ending in ["exit", "kill -TERM $PPID", "kill -HUP $PPID", "kill -9 $$"] {
        let home = Home::new();
        let mut outer = home.bash();
        outer.submit("PS1='outer$ '");
        outer.expect_prompt("outer$ ");
        outer.wait_prompt();
        let before = outer.run("stty -g");
        outer.submit(&binaries::word("cohab"));
        outer.expect_prompt("ready$ ");
        outer.wait_prompt();
        outer.submit(ending);
        outer.expect_prompt("outer$ ");
        outer.wait_prompt();
        let after = outer.run("stty -g");
        assert_eq!(settings(&after), settings(&before), "after `{ending}`\n{}", outer.dump());
    }
}

/// The line of `stty -g` in raw output.
fn settings(raw: &str) -> Option<String> {
    raw.lines().map(str::trim).find(|line| line.contains(':') && line.len() > 40).map(str::to_owned)
}

#[test]
fn a_command_line_for_the_shell_goes_to_the_real_shell() {
    let home = Home::new();
    assert_eq!(home.run(&["-c", "exit 7"]).status, Some(7));
    let echo = home.run(&["-c", "echo out; echo err >&2"]);
    assert_eq!((echo.status, echo.stdout.as_str(), echo.stderr.as_str()), (Some(0), "out\n", "err\n"));
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing");
}

#[test]
fn without_a_terminal_it_is_the_plain_shell() {
    let home = Home::new();
    let mut process = home.cohab_process(&[]);
    let mut child = process.stdin(Stdio::piped()).spawn().expect("cohab starts");
    child.stdin.take().expect("a pipe").write_all(b"echo from a pipe\nexit 5\n").expect("the shell reads");
    let finished = home.finish(child);
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(5), "from a pipe\n"));
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing");
}

#[test]
fn a_dumb_terminal_gets_the_plain_shell() {
    let home = Home::new().env("TERM", "dumb");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &[]));
    terminal.wait_for("the prompt", |view| view.is_at_prompt("ready$ "));
    let program = std::fs::read_link(format!("/proc/{}/exe", terminal.pid())).expect("it runs");
    assert!(program.ends_with("bash"), "{}", program.display());
    terminal.send("exit 4\r");
    assert_eq!(terminal.wait_exit().exit_code(), 4);
}

#[test]
fn another_shell_runs_as_it_is() {
    let home = Home::new();
    home.write(".shrc", "PS1='sh> '\n");
    let rc = home.path(".shrc").display().to_string();
    let home = home.env("ENV", &rc);
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["--shell", "/bin/sh"]));
    terminal.wait_for("the prompt", |view| view.is_at_prompt("sh> "));
    terminal.send("exit 6\r");
    assert_eq!(terminal.wait_exit().exit_code(), 6);
}

#[test]
fn without_a_daemon_the_shell_still_works() {
    let home = Home::new();
    // A file where the folder of the socket should be: no daemon can start.
    home.write("../cohab/run", "in the way");
    let shell = home.cohab();
    assert!(shell.run("echo still here").contains("still here"));
    let mark = shell.submit("? are you there");
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo and again").contains("and again"));
    shell.submit("exit 3");
    assert_eq!(shell.wait_exit().exit_code(), 3);
}

#[test]
fn a_terminal_that_reads_late_still_gets_the_last_output_whole() {
    const LETTERS: usize = 40_000;
    let home = Home::new();
    let pty = native_pty_system().openpty(PtySize::default()).expect("the system has a PTY left");
    let mut child = pty.slave.spawn_command(home.in_terminal(binaries::program("cohab"), &[])).expect("cohab starts");
    drop(pty.slave);
    let mut keys = pty.master.take_writer().expect("a fresh PTY can be written");
    let line = format!("head -c {LETTERS} /dev/zero | tr '\\0' '\\132'; touch ended; exit 5\r");
    keys.write_all(line.as_bytes()).expect("the terminal takes keys");
    eventually("the shell's end", || home.path("ended").exists());
    let mut output = Vec::new();
    // The end of a PTY is an error on Linux.
    let _ = pty.master.try_clone_reader().expect("a PTY can be read").read_to_end(&mut output);
    assert_eq!(output.iter().filter(|byte| **byte == b'Z').count(), LETTERS);
    assert_eq!(child.wait().expect("it ended").exit_code(), 5);
}
