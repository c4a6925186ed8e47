//! `cohab acp` is an agent for editors.

use cohab_e2e::{Answer, Home, ModelServer, Wire, peer::Peer};
use serde_json::{Value, json};

fn updates<'a>(peer: &'a Peer, kind: &str) -> Vec<&'a Value> {
    let updates = peer.notifications.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["sessionUpdate"] == kind).collect()
}

fn said(peer: &Peer) -> String {
    let texts = updates(peer, "agent_message_chunk");
    texts.iter().filter_map(|update| update["content"]["text"].as_str()).collect()
}

#[test]
fn an_editor_drives_a_whole_task_and_takes_it_up_again() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::bash("echo made > made"), Answer::text("It is made."), Answer::text("As I said.")],
    );
    let home = Home::with_model(&server);
    home.open_sandbox();
    let cwd = home.path("");
    let mut peer = Peer::start(home.cohab_process(&["acp"]));
    let told = peer.call("initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}));
    assert_eq!((&told["protocolVersion"], &told["agentCapabilities"]["loadSession"]), (&json!(1), &json!(true)));
    let session = peer.call("session/new", &json!({"cwd": cwd, "mcpServers": []}))["sessionId"].clone();

    let prompt = |text: &str| json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
    let id = peer.request("session/prompt", &prompt("make it"));
    let mut asked = Vec::new();
    let answer = peer.answer(id, |method, question| {
        asked.push((method.to_owned(), question["toolCall"]["title"].clone()));
        json!({"outcome": {"outcome": "selected", "optionId": "once"}})
    });
    assert_eq!(asked, [("session/request_permission".to_owned(), json!("echo made > made"))]);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
    assert_eq!(said(&peer), "It is made.");
    assert_eq!(std::fs::read_to_string(home.path("made")).expect("it ran"), "made\n");
    let call = updates(&peer, "tool_call")[0];
    let done = updates(&peer, "tool_call_update")[0];
    assert_eq!((&call["kind"], &done["status"]), (&json!("execute"), &json!("completed")));
    assert_eq!(call["toolCallId"], done["toolCallId"]);
    assert_eq!(peer.end(), Some(0));

    let mut peer = Peer::start(home.cohab_process(&["acp"]));
    let listed = peer.call("session/list", &json!({}));
    assert_eq!(listed["sessions"][0]["sessionId"], session, "{listed}");
    peer.call("session/load", &json!({"sessionId": session, "cwd": cwd, "mcpServers": []}));
    assert_eq!(said(&peer), "It is made.");
    assert_eq!(updates(&peer, "user_message_chunk")[0]["content"]["text"], "make it");
    assert_eq!(peer.call("session/prompt", &prompt("and?"))["stopReason"], "end_turn");
    assert!(server.wait_for_calls(3)[2].conversation().contains("make it"), "one conversation");
    assert_eq!(peer.end(), Some(0));
}

#[test]
fn a_cancelled_turn_says_so_and_its_command_ends() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("sleep 60")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let mut peer = Peer::start(home.cohab_process(&["acp"]));
    let session = peer.call("session/new", &json!({"cwd": home.path(""), "mcpServers": []}))["sessionId"].clone();
    let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": "wait"}]});
    let id = peer.request("session/prompt", &prompt);
    while peer.message()["params"]["update"]["sessionUpdate"] != "tool_call" {}
    peer.write(&json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session}}));
    assert_eq!(peer.answer(id, |_, _| json!({}))["result"]["stopReason"], "cancelled");
    assert_eq!(peer.end(), Some(0));
}
