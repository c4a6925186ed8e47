//! A question starts the daemon, and a daemon that hangs, fails to start or is of another build is reported.

use std::{
    fs,
    io::{Read as _, Write as _},
    os::unix::{
        fs::PermissionsExt,
        net::{UnixListener, UnixStream},
    },
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{
    Answer, Home, ModelServer, Terminal, Wire, binaries,
    deadline::{eventually, limit},
    home::PROMPT,
    keys, processes,
};
use cohab_protocol::{
    Attached, ClientMessage, DaemonMessage, ErrorSubject, Hello, Misfit, ModelIdentity, SessionAction, SessionAnswer,
    SessionReply, SessionRequest, Welcome, WireError, WireErrorKind, codec, socket::secure_directory,
};

/// A hung daemon is reported within this time.
const SILENCE_LIMIT: Duration = Duration::from_secs(5);

/// A folder with our programs, with this script as the daemon; `@` stands for the real one.
fn programs(home: &Home, script: &str) -> PathBuf {
    let folder = home.path("programs");
    fs::create_dir_all(&folder).expect("the home is writable");
    place(&binaries::program("cohab"), &folder.join("cohab"));
    let daemon = script.replace('@', &format!("exec {} \"$@\"", binaries::word("cohabd")));
    write_program(&folder.join("cohabd"), &daemon);
    folder.join("cohab")
}

/// Puts a program there: a second name where possible, as programs are large.
fn place(program: &Path, at: &Path) {
    if fs::hard_link(program, at).is_err() {
        fs::copy(program, at).expect("there is room");
    }
}

fn write_program(path: &Path, script: &str) {
    fs::write(path, format!("#!/bin/sh\n{script}\n")).expect("the home is writable");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

fn open(home: &Home, cohab: &Path) -> Terminal {
    let terminal = Terminal::spawn(home.in_terminal(cohab, &[]));
    terminal.wait_for("an empty prompt", |view| view.is_at_prompt(PROMPT));
    terminal
}

#[test]
fn a_prompt_starts_no_daemon_and_a_question_does() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("Because."), Answer::text("Again.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    for _ in 0..2 {
        shell.run("echo one");
        shell.wait_idle();
        assert!(home.daemon_pids().is_empty(), "a prompt started it");
    }
    shell.ask("why", "Because.");
    home.kill_daemon();
    shell.run("echo two");
    shell.wait_idle();
    assert!(home.daemon_pids().is_empty(), "a prompt started it");
    shell.ask("and now", "Again.");
}

#[test]
fn a_daemon_that_is_killed_while_it_starts_is_started_again() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("Because.")]);
    let home = Home::with_model(&server);
    let first = home.path("first");
    let script = format!("if [ ! -e {0} ]; then : >{0}; kill -9 $$; fi\n@", first.display());
    let terminal = open(&home, &programs(&home, &script));
    terminal.send("? why\r");
    terminal.wait_text("Because.");
    assert!(first.exists());
}

#[test]
fn a_daemon_that_ends_at_once_is_told_of_with_its_status() {
    let home = Home::new();
    let terminal = open(&home, &programs(&home, "exit 3"));
    terminal.send("? why\r");
    terminal.wait_text("the daemon was started but ended at once (exit status: 3)");
    terminal.wait_for("the prompt", |view| view.is_at_prompt(PROMPT));
}

#[test]
fn a_question_to_a_hung_daemon_is_told_of_and_a_restart_helps() {
    let answers = [Answer::text("Because."), Answer::text("Again.")];
    let server = ModelServer::start(Wire::Anthropic, answers);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("why", "Because.");
    let hung = home.daemon_pids();
    assert!(!hung.is_empty(), "no daemon runs");
    hung.iter().for_each(|pid| processes::stop(*pid));
    let asked = Instant::now();
    shell.submit("? and now");
    shell.wait_text("The daemon has not taken the question yet");
    assert!(asked.elapsed() < limit(SILENCE_LIMIT), "told after {:?}", asked.elapsed());
    shell.send(keys::CTRL_C);
    shell.wait_prompt();
    // An existing connection does not show who started it; nor does a new one.
    let another = home.cohab();
    another.submit("? hello");
    another.wait_text("the daemon does not answer");
    another.wait_prompt();
    let restarted = home.run(&["daemon", "restart"]);
    assert_eq!(restarted.status, Some(0), "{restarted:?}");
    eventually("the end of the hung one", || home.daemon_pids().iter().all(|pid| !hung.contains(pid)));
    shell.ask("and now", "Again.");
}

#[test]
fn a_question_of_the_command_line_to_a_daemon_that_hangs_later_is_told_of() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("Because.")]);
    let home = Home::with_model(&server);
    let socket = home.paths().socket();
    secure_directory(socket.parent().expect("a folder")).expect("the home is writable");
    let listener = UnixListener::bind(&socket).expect("the folder is ours");
    let silent = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client");
        let ClientMessage::Hello(hello) = read(&mut stream) else { panic!("no greeting") };
        write(&mut stream, &welcome(&hello));
        let ClientMessage::SessionRequest(request) = read(&mut stream) else { panic!("it does not attach") };
        write(&mut stream, &attached(&request));
        // Takes the question and does not answer, until the client is gone.
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
    });
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["ask", "why"]));
    terminal.wait_text("The daemon has not taken the question yet");
    terminal.send(keys::CTRL_C);
    terminal.wait_exit();
    silent.join().expect("it does not panic");
}

#[test]
fn a_client_of_another_build_says_so_and_starts_no_daemon() {
    let home = Home::new();
    let socket = home.paths().socket();
    secure_directory(socket.parent().expect("a folder")).expect("the home is writable");
    let listener = UnixListener::bind(&socket).expect("the folder is ours");
    let newer = "0.1.0 (ffffffff0 of 2999-01-01 00:00 UTC)";
    let refusing = thread::spawn(move || {
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().expect("a client");
            let ClientMessage::Hello(_) = read(&mut stream) else { panic!("no greeting") };
            let older = "0.1.0 (000000000 of 2000-01-01 00:00 UTC)";
            let Misfit { message, hint } = Misfit::between(older, newer);
            let (about, kind) = (ErrorSubject::Connection, WireErrorKind::Version);
            write(&mut stream, &DaemonMessage::Error(WireError { about, kind, message, hint: Some(hint) }));
        }
    });
    let shell = home.cohab();
    // The first prompt looks for a daemon, then the question does.
    shell.wait_idle();
    shell.submit("? why");
    shell.wait_text("open a new terminal");
    refusing.join().expect("it was asked twice");
    fs::remove_file(&socket).expect("it is there");
    shell.wait_prompt();
    for question in ["? and now", "? and now, please"] {
        let mark = shell.submit(question);
        assert!(shell.wait_next_prompt(mark).contains("the daemon is not running"), "{}", shell.dump());
    }
    assert!(home.daemon_pids().is_empty(), "it has started its own");
}

#[test]
fn temporary_files_of_a_killed_daemon_are_removed_by_the_next_one() {
    let call = |text: &str| Answer::bash(&format!("echo {text} >$TMPDIR/file; echo $TMPDIR"));
    let server =
        ModelServer::start(Wire::Anthropic, [call("one"), Answer::text("One."), call("two"), Answer::text("Two.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let left = || {
        let shared = fs::read_dir(home.path("../tmp")).expect("the home has it").flatten().map(|entry| entry.path());
        let own = shared.flat_map(|shared| fs::read_dir(shared).into_iter().flatten().flatten());
        own.map(|entry| entry.path().join("file")).filter(|file| file.exists()).collect::<Vec<_>>()
    };
    let ask = |question: &str| assert_eq!(home.run(&["ask", question]).status, Some(0));
    ask("one");
    let of_killed = left();
    assert_eq!(of_killed.len(), 1, "{of_killed:?}");
    home.kill_daemon();
    assert_eq!(left(), of_killed);
    ask("two");
    eventually("their removal", || left().len() == 1 && left() != of_killed);
    assert_eq!(home.run(&["daemon", "stop"]).status, Some(0));
    eventually("the removal of its own", || {
        fs::read_dir(home.path("../tmp")).is_ok_and(|mut left| left.next().is_none())
    });
}

#[test]
fn doctor_tells_of_a_daemon_whose_program_was_replaced_or_removed() {
    let home = Home::new();
    let folder = home.path("programs");
    fs::create_dir(&folder).expect("the home is writable");
    let (cohab, cohabd) = (folder.join("cohab"), folder.join("cohabd"));
    place(&binaries::program("cohab"), &cohab);
    place(&binaries::program("cohabd"), &cohabd);
    let run = |arguments: &[&str]| home.finish(home.process(&cohab, arguments).spawn().expect("it starts"));
    assert_eq!(run(&["daemon", "start"]).status, Some(0));
    let told = |word: &str| run(&["doctor"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(word);
    assert!(!told("since it started"));
    write_program(&folder.join("new"), "exit 1");
    fs::rename(folder.join("new"), &cohabd).expect("the folder is ours");
    assert!(told("its program was replaced since it started"));
    fs::remove_file(&cohabd).expect("the folder is ours");
    assert!(told("its program was removed since it started"));
}

fn welcome(hello: &Hello) -> DaemonMessage {
    let Hello { protocol_version, schema_hash, build, pid } = hello.clone();
    DaemonMessage::Welcome(Welcome { protocol_version, schema_hash, build, pid })
}

fn attached(request: &SessionRequest) -> DaemonMessage {
    let SessionAction::Attach(attach) = &request.action else { panic!("it does not attach: {request:?}") };
    let model = ModelIdentity { provider: "p".into(), model: "m".into(), origin: "o".into(), is_offline: false };
    let (session, approval) = (attach.session.clone(), attach.approval);
    let attached = Attached { session, model, approval, is_resumed: false, title: None, left: None, recap: None };
    let answer = SessionAnswer::Attached(attached);
    DaemonMessage::SessionReply(SessionReply { request_id: request.request_id, answer })
}

fn write(stream: &mut UnixStream, message: &DaemonMessage) {
    let bytes = codec::to_bytes(message).expect("it encodes");
    let length = u32::try_from(bytes.len()).expect("it is short");
    stream.write_all(&length.to_be_bytes()).and_then(|()| stream.write_all(&bytes)).expect("the client reads");
}

fn read(stream: &mut UnixStream) -> ClientMessage {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("a message");
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut bytes).expect("the whole message");
    codec::from_bytes(&bytes).expect("a message of this protocol")
}
