//! A shell runs one command at a time, also when other questions need it, time runs out or the connection breaks.

use std::{
    fs,
    io::{Read, Write},
    net::Shutdown,
    os::unix::net::{UnixListener, UnixStream},
    sync::{Arc, Mutex},
    thread,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, keys};
use serde_json::json;

#[test]
fn a_question_from_elsewhere_runs_its_commands_in_a_shell_of_its_own() {
    let server = ModelServer::respond_with(Wire::Anthropic, |request| {
        let is_live = request.conversation().contains("live-question");
        match (request.tool_results().is_empty(), is_live) {
            (true, true) => Answer::bash("read -r line < gate"),
            (true, false) => Answer::bash("cd / && pwd; echo $SEEN"),
            (false, true) => Answer::text("Live answer."),
            (false, false) => Answer::text("Other answer."),
        }
    });
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").env("SEEN", "by-the-daemon");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? live-question");
    shell.wait_for("the command", |view| view.shows("read -r line"));
    let mut asking = home.cohab_process(&["ask", "other-question"]);
    let finished = home.finish(asking.env("SEEN", "by-asker").spawn().expect("cohab starts"));
    assert!(finished.status == Some(0) && finished.stdout.contains("Other answer."), "{finished:?}");
    let told = &server.requests().last().expect("it was asked").tool_results()[0].content;
    assert!(told.starts_with("/\nby-asker\n[exit 0; ") && told.contains("a shell of its own"), "{told}");
    fs::write(home.path("gate"), "go\n").expect("the command reads");
    shell.wait_answer(mark, "Live answer.");
}

#[test]
fn a_command_that_still_runs_is_told_with_what_has_the_shell() {
    let arguments = json!({"command": "sleep 300", "timeout_ms": 300});
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::call("bash", &arguments), Answer::text("It runs on.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    let mark = shell.submit("? start it");
    let told = server.wait_for_calls(2)[1].tool_results()[0].content.clone();
    assert!(told.contains("still running after") && told.contains("`sleep` has the shell"), "{told}");
    shell.send(keys::CTRL_C);
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo alive-$((1+1))").contains("alive-2"));
}

/// Stands between a client and the daemon of another home, and can hang up.
struct Proxy {
    streams: Arc<Mutex<Vec<UnixStream>>>,
}

impl Proxy {
    fn start(client_home: &Home, daemon_home: &Home) -> Self {
        let (socket, target) = (client_home.paths().socket(), daemon_home.paths().socket());
        cohab_protocol::socket::secure_directory(socket.parent().expect("it has a folder")).expect("it can be made");
        let listener = UnixListener::bind(socket).expect("nobody listens there");
        let streams: Arc<Mutex<Vec<UnixStream>>> = Arc::default();
        let proxy = Self { streams: Arc::clone(&streams) };
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(daemon) = UnixStream::connect(&target) else { return };
                for (from, to) in [(&client, &daemon), (&daemon, &client)] {
                    let (from, to) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
                    thread::spawn(move || pass(from, to));
                }
                streams.lock().expect("no panic").extend([client, daemon]);
            }
        });
        proxy
    }

    fn connections(&self) -> usize {
        self.streams.lock().expect("no panic").len() / 2
    }

    fn hang_up(&self) {
        for stream in self.streams.lock().expect("no panic").iter() {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }
}

fn pass(mut from: UnixStream, mut to: UnixStream) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

#[test]
fn a_connection_that_breaks_off_costs_neither_the_answer_nor_the_command() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo got-$line";
    let answers = [Answer::bash(command), Answer::text("All of it.")];
    let server = ModelServer::start(Wire::Anthropic, answers);
    let daemon_home = Home::with_model(&server);
    assert_eq!(daemon_home.run(&["daemon", "start"]).status, Some(0));
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let proxy = Proxy::start(&home, &daemon_home);
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = || fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == "ran\n");
    eventually("the start of the command", has_run);
    let before = proxy.connections();
    proxy.hang_up();
    eventually("a new connection", || proxy.connections() > before);
    fs::write(home.path("gate"), "word\n").expect("the command reads");
    shell.wait_answer(mark, "All of it.");
    let told = &server.wait_for_calls(2)[1].tool_results()[0].content;
    assert!(told.starts_with("got-word\n[exit 0; "), "{told}");
    assert!(has_run(), "it ran twice");
    assert!(home.daemon_pids().is_empty(), "no second daemon was started");
}
