//! `cohab init` opens every interactive shell inside cohab, and no shell is ever lost to it.

use std::{
    ffi::OsString,
    fs,
    io::Write,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_e2e::{Home, Terminal, binaries, deadline::eventually, home::PROMPT};
use portable_pty::{PtySize, native_pty_system};

/// Shell, program, start-up file.
const SHELLS: [(&str, &str, &str); 3] = [
    ("bash", "/bin/bash", ".bashrc"),
    ("zsh", "/usr/bin/zsh", ".zshrc"),
    ("fish", "/usr/bin/fish", ".config/fish/config.fish"),
];
/// Long enough for a shell that would start where none should.
const NOTHING_STARTS: Duration = Duration::from_millis(400);

/// A home with the output of `cohab init` at the end of its start-up file, changed by `edit`.
fn home(shell: &str, rc: &str, edit: impl Fn(&str) -> String) -> Home {
    let home = if shell == "bash" { Home::new() } else { Home::new().shell(shell) };
    let printed = home.run(&["init", shell]);
    assert_eq!((printed.status, printed.stderr.as_str()), (Some(0), ""), "{printed:?}");
    let own = fs::read_to_string(home.path(rc)).expect("the home has it");
    home.write(rc, &(own + &edit(&printed.stdout)));
    home
}

fn open(home: &Home, program: &str) -> Terminal {
    let terminal = Terminal::spawn(home.in_terminal(program, &["-i"]));
    wait_prompt(&terminal);
    terminal
}

fn wait_prompt(terminal: &Terminal) {
    terminal.wait_for("an empty prompt", |view| view.is_at_prompt(PROMPT));
}

/// The terminal of cohab that the shell is in; empty in a plain one. `tag` differs at each call.
fn inside(terminal: &Terminal, tag: &str) -> String {
    wait_prompt(terminal);
    terminal.send(&format!("echo \"{tag}=$COHAB_TTY.\"\r"));
    let start = format!("{tag}=");
    let found = |text: &str| {
        let line = text.lines().find(|line| line.starts_with(&start))?;
        Some(line[start.len()..].strip_suffix('.')?.to_owned())
    };
    terminal.wait_for(tag, |view| found(&view.history()).is_some());
    terminal.look(|view| found(&view.history())).unwrap_or_default()
}

fn for_each_shell(run: impl Fn(&str, &str, &str)) {
    for (shell, program, rc) in SHELLS {
        if binaries::is_installed_or_skip(shell) {
            run(shell, program, rc);
        }
    }
}

fn unchanged(lines: &str) -> String {
    lines.to_owned()
}

#[test]
fn a_shell_opens_inside_nested_ones_stay_and_the_status_comes_through() {
    for_each_shell(|shell, program, rc| {
        let home = home(shell, rc, unchanged);
        let terminal = open(&home, program);
        let first = inside(&terminal, "first");
        assert!(first.starts_with("/dev/"), "{shell} is not inside\n{}", terminal.dump());
        terminal.send(&format!("{program} -i\r"));
        assert!(
            !terminal.holds_within(NOTHING_STARTS, |view| view.shows("this is your plain shell")),
            "{}",
            terminal.dump()
        );
        assert_eq!(inside(&terminal, "nested"), first, "{shell} opened another one");
        wait_prompt(&terminal);
        terminal.send("exit\r");
        assert_eq!(inside(&terminal, "again"), first);
        wait_prompt(&terminal);
        terminal.send("exit 7\r");
        assert_eq!(terminal.wait_exit().exit_code(), 7, "{shell}: {}", terminal.dump());
        assert!(left(&home).is_empty(), "{shell} leaves {:?}", left(&home));
    });
}

#[test]
fn a_terminal_that_is_closed_leaves_no_file_behind() {
    for_each_shell(|shell, program, rc| {
        let home = home(shell, rc, unchanged);
        let pty = native_pty_system().openpty(PtySize::default()).expect("the system has a PTY left");
        let mut child = pty.slave.spawn_command(home.in_terminal(program, &["-i"])).expect("the shell starts");
        drop(pty.slave);
        pty.master.take_writer().expect("it can be written").write_all(b"touch up\r").expect("the terminal takes keys");
        eventually("a prompt inside", || home.path("up").exists());
        drop(pty.master);
        child.wait().expect("the outer shell ends");
        let is_client =
            |folder: PathBuf| fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == "cohab");
        let of_home = |folder: &PathBuf| environment_names(folder, &home.path(""));
        let processes = || fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
        eventually("the end of cohab", || !processes().filter(of_home).any(is_client));
        assert!(left(&home).is_empty(), "{shell} leaves {:?}", left(&home));
    });
}

/// Whether a process has this home folder in its environment.
fn environment_names(process: &Path, home: &Path) -> bool {
    let entry = format!("HOME={}", home.display());
    let environment = fs::read(process.join("environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|one| one == entry.trim_end_matches('/').as_bytes())
}

/// Files of the lines in this home.
fn left(home: &Home) -> Vec<OsString> {
    let files = fs::read_dir(home.path("")).expect("the home").flatten().map(|entry| entry.file_name());
    files.filter(|name| name.to_string_lossy().starts_with(".cohab-ended")).collect()
}

#[test]
fn cohab_off_and_a_dumb_terminal_leave_a_plain_shell() {
    for_each_shell(|shell, program, rc| {
        for (name, value) in [("COHAB_OFF", "1"), ("TERM", "dumb")] {
            let home = home(shell, rc, unchanged).env(name, value);
            let terminal = open(&home, program);
            assert_eq!(inside(&terminal, "plain"), "", "{shell} with {name}={value}\n{}", terminal.dump());
        }
    });
}

#[test]
fn a_missing_cohab_costs_nothing_not_even_a_word() {
    for_each_shell(|shell, program, rc| {
        let own = binaries::program("cohab").display().to_string();
        let home = home(shell, rc, |lines| lines.replace(&own, "/nonexistent/cohab"));
        let terminal = open(&home, program);
        assert_eq!(inside(&terminal, "plain"), "");
        assert!(terminal.look(|view| !view.history().contains("cohab did")), "{shell}\n{}", terminal.dump());
    });
}

#[test]
fn a_cohab_that_fails_or_crashes_leaves_a_plain_shell_that_works() {
    for_each_shell(|shell, program, rc| {
        // With any status, and with the terminal as a crash would leave it.
        for end in ["exit 0", "exit 127", "kill -SEGV $$"] {
            let broken = Home::new();
            broken.write("cohab", &format!("#!/bin/sh\nstty raw -echo\n{end}\n"));
            let path = broken.path("cohab");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
            let own = binaries::program("cohab").display().to_string();
            let home = home(shell, rc, |lines| lines.replace(&own, &path.display().to_string()));
            let terminal = open(&home, program);
            assert_eq!(inside(&terminal, "plain"), "", "{shell}, {end}");
            terminal.wait_text("this is your plain shell");
        }
    });
}

#[test]
fn where_cohab_finds_no_place_for_its_files_the_plain_shell_stays() {
    for_each_shell(|shell, program, rc| {
        let home = home(shell, rc, unchanged);
        let run = home.paths().runtime_dir;
        let _ = fs::remove_dir_all(&run);
        fs::write(&run, "in the way").expect("the home is writable");
        let terminal = open(&home, program);
        assert_eq!(inside(&terminal, "plain"), "", "{shell}\n{}", terminal.dump());
    });
}

#[test]
fn scripts_and_pipes_are_left_alone() {
    for_each_shell(|shell, program, rc| {
        let home = home(shell, rc, unchanged);
        let finished = home.finish(home.process(program, &["-c", "echo script"]).spawn().expect("it starts"));
        assert_eq!((finished.status, finished.stdout.as_str()), (Some(0), "script\n"), "{shell}: {finished:?}");
        let finished = home.finish(home.process(program, &["-i", "-c", "echo script"]).spawn().expect("it starts"));
        assert!(finished.stdout.contains("script") && home.daemon_pids().is_empty(), "{shell}: {finished:?}");
        // Programs ask an interactive shell for its environment, also in a terminal.
        let terminal = Terminal::spawn(home.in_terminal(program, &["-i", "-c", "echo one=$COHAB_TTY."]));
        assert!(terminal.wait_exit().success(), "{shell}\n{}", terminal.dump());
        assert!(!terminal.look(|view| view.history().contains("one=/dev")), "{shell}\n{}", terminal.dump());
    });
}

#[test]
fn one_line_that_evaluates_what_is_printed_does_as_well() {
    for_each_shell(|shell, program, rc| {
        let own = binaries::word("cohab");
        let line = match shell {
            "fish" => format!("eval ({own} init fish | string collect)\n"),
            _ => format!("eval \"$({own} init {shell})\"\n"),
        };
        let home = home(shell, rc, |_| line.clone());
        let terminal = open(&home, program);
        assert!(inside(&terminal, "inside").starts_with("/dev/"), "{shell}\n{}", terminal.dump());
    });
}
