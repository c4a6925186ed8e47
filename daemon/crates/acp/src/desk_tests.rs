use cohab_config::agents::OwnAgents;

use super::*;
use crate::{inbox::Inbox, known};

/// An agent that only listens.
#[derive(Default)]
struct Listener {
    inbox: Inbox,
    got: Mutex<Vec<Value>>,
}

impl Peer for Listener {
    fn send(&self, message: &Value) {
        self.got.lock().expect("a lock").push(message.clone());
    }

    fn inbox(&self) -> &Inbox {
        &self.inbox
    }
}

impl Listener {
    fn last(&self) -> Value {
        self.got.lock().expect("a lock").last().cloned().unwrap_or_default()
    }
}

fn desk() -> Desk {
    Desk::new(known::find("claude", &OwnAgents::new()).expect("known"))
}

#[test]
fn a_desk_that_is_shut_refuses_what_waits_and_what_comes() {
    let (desk, peer) = (desk(), Listener::default());
    desk.open();
    desk.request("terminal/create", json!({"command": "ls"}), &json!(1), &peer);
    desk.request("terminal/create", json!({"command": "pwd"}), &json!(2), &peer);
    let runs = peer.inbox.next_ask().expect("a call");
    desk.handed(&runs.call_id, runs.reply);
    let token = desk.runs(&runs.call_id, &|message| peer.send(&message));
    peer.inbox.push(AgentEvent::Text("words".into())).expect("room");
    desk.shut(&peer.inbox, &|message| peer.send(&message));
    assert_eq!((&peer.last()["id"], &peer.last()["error"]["message"]), (&json!(2), &json!(NO_TURN)));
    assert!(!token.is_cancelled(), "what runs goes on to its end");
    assert_eq!(peer.inbox.withdraw_all().len(), 0);
    desk.request("terminal/create", json!({"command": "id"}), &json!(3), &peer);
    assert_eq!((&peer.last()["id"], &peer.last()["error"]["message"]), (&json!(3), &json!(NO_TURN)));
    assert_eq!(desk.lock().terminals.len(), 1);
}

#[test]
fn long_ids_and_titles_are_not_kept() {
    let (desk, peer) = (desk(), Listener::default());
    desk.open();
    for id in [json!("x".repeat(wire::ID_MAX_BYTES + 1)), json!([1]), json!({"a": 1})] {
        desk.request("fs/read_text_file", json!({"path": "/w/a"}), &id, &peer);
        assert_eq!((&peer.last()["id"], &peer.last()["error"]["message"]), (&Value::Null, &json!(wire::WRONG_ID)));
    }
    assert!(peer.inbox.next_ask().is_none());
    let begins = |id: String| {
        let fields = ToolCallFields { tool_call_id: id, title: Some("t".repeat(1024 * 1024)), ..Default::default() };
        desk.event_of(Update::ToolBegins(fields))
    };
    assert!(begins("1".into()).is_none() && begins("x".repeat(1024 * 1024)).is_none());
    let state = desk.lock();
    assert_eq!(state.own.len(), 1);
    assert!(state.own["1"].0.len() < 2048);
}
