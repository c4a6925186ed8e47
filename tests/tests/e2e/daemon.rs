//! The daemon may die at any moment, and any process may write to its socket: the shell lives, and no command runs twice.

use std::{
    fs,
    io::{Read, Write},
    os::unix::net::UnixStream,
    path::Path,
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, home::API_KEY, terminal::View};
use cohab_protocol::{ClientMessage, DaemonMessage, Hello, MAX_FRAME_BYTES, PROTOCOL_VERSION, SCHEMA_HASH, codec};

/// Longest time for a peer to close an unwanted connection.
const CLOSE_LIMIT: Duration = Duration::from_secs(10);

fn connect(home: &Home) -> UnixStream {
    let stream = UnixStream::connect(home.paths().socket()).expect("the daemon listens");
    stream.set_read_timeout(Some(CLOSE_LIMIT)).expect("a limit above zero");
    stream
}

pub(crate) fn send(stream: &mut UnixStream, message: &ClientMessage) {
    let bytes = codec::to_bytes(message).expect("it encodes");
    let length = u32::try_from(bytes.len()).expect("it is short");
    stream.write_all(&length.to_be_bytes()).and_then(|()| stream.write_all(&bytes)).expect("the daemon reads");
}

pub(crate) fn receive(stream: &mut UnixStream) -> DaemonMessage {
    let mut length = [0; 4];
    stream.read_exact(&mut length).expect("an answer");
    let mut bytes = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut bytes).expect("the whole answer");
    codec::from_bytes(&bytes).expect("an answer of this protocol")
}

/// Reads until the daemon closes; returns the number of bytes before.
fn read_to_close(stream: &mut UnixStream) -> usize {
    let mut rest = Vec::new();
    match stream.read_to_end(&mut rest) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => rest.len(),
        Err(error) => panic!("the daemon keeps the connection: {error}"),
    }
}

pub(crate) fn hello(version: u32, hash: u64) -> ClientMessage {
    ClientMessage::Hello(Hello {
        protocol_version: version,
        schema_hash: hash,
        build: "test".into(),
        pid: std::process::id(),
    })
}

fn start(home: &Home) {
    let finished = home.run(&["daemon", "start"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
}

#[test]
fn killed_while_idle_the_next_question_starts_another() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Before."), Answer::text("After.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("first", "Before.");
    home.kill_daemon();
    assert!(shell.run("echo alive-$((1+1))").contains("alive-2"));
    shell.ask("second", "After.");
}

#[test]
fn killed_while_streaming_the_prompt_comes_back_and_the_text_stays() {
    let answers = [Answer::text("Words so far and more").stall_after(4), Answer::text("After.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? tell me");
    shell.wait_text("Words so");
    home.kill_daemon();
    shell.wait_next_prompt(mark);
    assert!(shell.look(|view| view.history().contains("Words so")), "{}", shell.dump());
    assert!(shell.run("echo alive-$((1+1))").contains("alive-2"));
    shell.ask("and now", "After.");
}

#[test]
fn killed_while_a_command_runs_the_command_ends_once_and_by_itself() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo ended >> ran.txt";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    // For reading too: so opening never waits.
    let mut gate = fs::OpenOptions::new().read(true).write(true).open(home.path("gate")).expect("it was made");
    home.kill_daemon();
    gate.write_all(b"go\n").expect("the command reads");
    shell.wait_next_prompt(mark);
    eventually("the end of the command", || has_run("ran\nended\n"));
    shell.ask("and now", "After.");
    assert!(has_run("ran\nended\n"), "it ran again");
}

#[test]
fn killed_while_it_waits_for_consent_nothing_runs() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("touch made.txt"), Answer::text("After.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("touch made.txt");
    home.kill_daemon();
    shell.wait_next_prompt(mark);
    shell.ask("and now", "After.");
    assert!(!home.path("made.txt").exists());
}

#[test]
fn many_starts_at_once_make_one_daemon() {
    let home = Home::new();
    let start = || home.cohab_process(&["daemon", "start"]).spawn().expect("cohab starts");
    let children: Vec<_> = (0..12).map(|_| start()).collect();
    for child in children {
        let finished = home.finish(child);
        assert_eq!(finished.status, Some(0), "{finished:?}");
    }
    // Late ones may still be ending.
    eventually("the late ones to end", || home.daemon_pids().len() == 1);
    assert_eq!(home.run(&["daemon", "status"]).status, Some(0));
}

#[test]
fn two_shells_have_two_conversations_and_one_daemon() {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |request| {
        let is_red = request.conversation().contains("red-question");
        Answer::text(if is_red { "Red answer." } else { "Blue answer." })
    });
    let home = Home::with_model(&server);
    let (red, blue) = (home.cohab(), home.cohab());
    red.ask("red-question", "Red answer.");
    blue.ask("blue-question", "Blue answer.");
    assert!(!blue.look(View::history).contains("Red answer."));
    assert_eq!(home.daemon_pids().len(), 1);
}

#[test]
fn garbage_on_the_socket_closes_that_connection_only() {
    let home = Home::new();
    start(&home);
    let pids = home.daemon_pids();
    let shutdown = codec::to_bytes(&ClientMessage::Shutdown).expect("it encodes");
    let frame = |payload: &[u8]| [&u32::try_from(payload.len()).expect("short").to_be_bytes()[..], payload].concat();
    let too_long = u32::try_from(MAX_FRAME_BYTES + 1).expect("a length").to_be_bytes();
    let garbage: [Vec<u8>; 6] = [
        b"GET / HTTP/1.1\r\n\r\n".to_vec(),
        vec![0xff; 4096],
        too_long.to_vec(),
        frame(&[]),
        frame(&[0, 1, 2, 253, 0, 0, 0, 0, 0, 1, 0, 0]),
        // A valid message, but before the handshake.
        frame(&shutdown),
    ];
    for bytes in garbage {
        let mut stream = connect(&home);
        stream.write_all(&bytes).expect("the daemon reads");
        read_to_close(&mut stream);
    }
    assert_eq!(home.daemon_pids(), pids, "the daemon died");
    let mut stream = connect(&home);
    send(&mut stream, &hello(PROTOCOL_VERSION, SCHEMA_HASH));
    assert!(matches!(receive(&mut stream), DaemonMessage::Welcome(_)));
}

#[test]
fn a_socket_that_is_removed_comes_back_and_the_conversation_with_it() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::text("Before."), Answer::text("After.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("first", "Before.");
    let pids = home.daemon_pids();
    let folder = home.paths().runtime_dir;
    for remove in
        [|home: &Home| fs::remove_file(home.paths().socket()), |home: &Home| fs::remove_file(home.paths().lock_file())]
    {
        remove(&home).expect("the daemon made it");
        eventually("the socket and the lock", || {
            home.paths().lock_file().exists() && UnixStream::connect(home.paths().socket()).is_ok()
        });
        assert_eq!(home.run(&["daemon", "start"]).status, Some(0));
        assert_eq!(home.daemon_pids(), pids);
    }
    let moved = folder.with_file_name("moved");
    fs::rename(&folder, &moved).expect("it is ours");
    eventually("the socket", || UnixStream::connect(home.paths().socket()).is_ok());
    assert_eq!(home.daemon_pids(), pids);
    shell.ask("second", "After.");
    assert!(server.wait_for_calls(2)[1].conversation().contains("Before."));
}

#[test]
fn another_version_or_schema_is_told_and_closed() {
    let home = Home::new();
    start(&home);
    for (version, hash) in [(PROTOCOL_VERSION + 1, SCHEMA_HASH), (PROTOCOL_VERSION, SCHEMA_HASH ^ 1)] {
        let mut stream = connect(&home);
        send(&mut stream, &hello(version, hash));
        let answer = receive(&mut stream);
        assert!(matches!(&answer, DaemonMessage::Error(error) if error.hint.is_some()), "{answer:?}");
        read_to_close(&mut stream);
    }
}

#[test]
fn a_silent_connection_is_closed() {
    let home = Home::new();
    start(&home);
    read_to_close(&mut connect(&home));
}

#[test]
fn logs_hold_neither_keys_nor_questions() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("An answer-nobody-logs.")]);
    let home = Home::with_model(&server);
    assert_eq!(home.run(&["ask", "a question-nobody-logs"]).status, Some(0));
    let log = home.daemon_log();
    assert!(!log.is_empty(), "it logs nothing at all");
    for secret in [API_KEY, "question-nobody-logs", "answer-nobody-logs"] {
        assert!(!log.contains(secret), "the log holds {secret}");
    }
}

#[test]
fn no_file_of_cohab_holds_the_key() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Fine.")]);
    let home = Home::with_model(&server);
    home.cohab().ask("hello", "Fine.");
    let mut files = Vec::new();
    collect(&home.path("../cohab"), &mut files);
    assert!(!files.is_empty());
    for file in files {
        let bytes = fs::read(&file).unwrap_or_default();
        assert!(!bytes.windows(API_KEY.len()).any(|part| part == API_KEY.as_bytes()), "{}", file.display());
    }
}

fn collect(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&entry.path(), files),
            Ok(kind) if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}
