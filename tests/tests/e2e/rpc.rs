//! `cohab rpc` lets another program hold conversations.

use std::{io::Write as _, process::Stdio};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries, deadline::eventually, peer::Peer};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

fn events<'a>(peer: &'a Peer, kind: &str) -> Vec<&'a Value> {
    let events = peer.notifications.iter().map(|message| &message["params"]["event"]);
    events.filter(|event| event["type"] == kind).collect()
}

#[test]
fn a_program_asks_approves_and_asks_again() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::bash("echo made > made"), Answer::text("It is made."), Answer::text("As I said.")],
    );
    let home = Home::with_model(&server);
    home.open_sandbox();
    let mut peer = Peer::start(home.cohab_process(&["rpc"]));
    assert_eq!(peer.call("initialize", &json!({}))["version"], 1);
    let opened = peer.call("sessions/open", &json!({"approval": "ask"}));
    assert_eq!((&opened["approval"], &opened["is_offline"]), (&json!("ask"), &json!(false)), "{opened}");
    let session = &opened["session"];

    let id = peer.request("questions/ask", &json!({"session": session, "text": "make it"}));
    let mut asked = Vec::new();
    let answer = peer.answer(id, |method, question| {
        asked.push((method.to_owned(), question["subject"]["command"].clone()));
        json!({"decision": "once"})
    });
    assert_eq!(asked, [("approval/ask".to_owned(), json!("echo made > made"))]);
    assert_eq!((&answer["result"]["answer"], &answer["result"]["reason"]), (&json!("It is made."), &json!("answered")));
    assert_eq!(std::fs::read_to_string(home.path("made")).expect("it ran"), "made\n");
    assert_eq!(events(&peer, "step_finished").len(), 3, "{:?}", peer.notifications);

    let again = peer.call("questions/ask", &json!({"session": session, "text": "and?"}));
    assert_eq!(again["answer"], "As I said.");
    assert!(server.wait_for_calls(3)[2].conversation().contains("make it"), "one conversation");
    assert_eq!(peer.end(), Some(0));
}

#[test]
fn a_refusal_and_silence_keep_a_command_from_running() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash("touch made"), Answer::text("Then not.")]);
    let home = Home::with_model(&server);
    home.open_sandbox();
    let mut peer = Peer::start(home.cohab_process(&["rpc"]));
    let session = peer.call("sessions/open", &json!({}))["session"].clone();
    let id = peer.request("questions/ask", &json!({"session": session, "text": "make it"}));
    let answer = peer.answer(id, |_, _| json!({"decision": "whatever"}));
    assert_eq!(answer["result"]["answer"], "Then not.");
    assert!(!home.path("made").exists());
}

#[test]
fn what_runs_ends_with_the_other_program() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("sleep 60")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let mut peer = Peer::start(home.cohab_process(&["rpc"]));
    let session = peer.call("sessions/open", &json!({}))["session"].clone();
    peer.request("questions/ask", &json!({"session": session, "text": "wait"}));
    while peer.message()["params"]["event"]["activity"] != "tool" {}
    assert_eq!(peer.end(), Some(0));
    eventually("the command ends", || {
        !home.daemon_pids().iter().any(|pid| {
            let pid = u32::try_from(pid.as_raw_nonzero().get()).expect("a process id");
            cohab_e2e::processes::children(pid).iter().any(|child| {
                std::fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("sleep"))
            })
        })
    });
}

#[test]
fn a_signal_ends_it_although_nobody_reads_what_it_says() {
    let home = Home::new();
    let mut child = home.cohab_process(&["rpc"]).stdin(Stdio::piped()).spawn().expect("it starts");
    let mut input = child.stdin.take().expect("a pipe");
    // Each line is answered, until the pipe of the answers is full and so is this one.
    let writing = std::thread::spawn(move || while input.write_all(&b"{}\n".repeat(1_000)).is_ok() {});
    let output = child.stdout.take().expect("a pipe");
    let unread = || rustix::io::ioctl_fionread(&output).expect("a pipe");
    eventually("it waits for its reader", || unread() > 60_000 && cohab_e2e::processes::sleep(child.id()));
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::TERM).expect("it runs");
    eventually("it ends", || child.try_wait().expect("a child").is_some());
    writing.join().expect("it does not panic");
}

#[test]
fn the_schema_is_printed_without_a_daemon() {
    let home = Home::new();
    let finished = home.run(&["rpc", "--schema"]);
    let schema: Value = serde_json::from_str(&finished.stdout).expect("JSON");
    assert_eq!((finished.status, &schema["title"]), (Some(0), &json!("cohab rpc")));
    assert!(home.daemon_pids().is_empty());
    let broken = home.process(binaries::program("cohab"), &["rpc"]).env("COHAB_APPROVAL", "maybe").output();
    let broken = broken.expect("it starts");
    assert_eq!(broken.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("COHAB_APPROVAL"), "{broken:?}");
}
