use std::{path::Path, sync::Arc};

use cohab_conversation::redactor::Redactor;
use cohab_protocol::{
    AgentStreamChunk, ApprovalDecision, ApprovalId, ApprovalMode, ApprovalRequest, ApprovalSubject, Attached,
    ChunkDelta, ClientMessage, DaemonMessage, ModelIdentity, RunMode, SessionAction, SessionKey, TurnEndReason,
    TurnEnded, TurnId, Usage,
};
use cohab_secrets::ExactValues;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::Agent;
use crate::{
    desk::News,
    front_end::{FrontEnd, Outbox, take_line},
    stdio::InputLine,
};

/// An agent with one session, and the daemon's end of it.
struct Case {
    agent: Agent,
    session: String,
    outgoing: mpsc::Receiver<ClientMessage>,
}

impl Case {
    fn new() -> Self {
        let redactor = Redactor::new(Arc::new(ExactValues::of_environment(std::iter::empty())));
        let mut agent = Agent::new(ApprovalMode::Ask, redactor);
        let mut out = Outbox::default();
        take_line(
            &mut agent,
            &InputLine::Line(line(1, "session/new", &json!({"cwd": "/work", "mcpServers": []}))),
            &mut out,
        );
        let (session, wishes) = out.openings.pop().unwrap();
        let mut out = Outbox::default();
        agent.news(&session, News::Opened(Box::new(attached())), &mut out);
        assert_eq!(out.messages[0]["result"]["sessionId"], json!(session));
        assert_eq!(out.messages[0]["result"]["modes"]["currentModeId"], "ask");
        Self { agent, session, outgoing: wishes.outgoing }
    }

    fn send(&mut self, line: &[u8]) -> Outbox {
        let mut out = Outbox::default();
        take_line(&mut self.agent, &InputLine::Line(line.to_vec()), &mut out);
        out
    }

    fn call(&mut self, method: &str, mut params: Value) -> Outbox {
        params["sessionId"] = json!(self.session);
        self.send(&line(2, method, &params))
    }

    fn message(&mut self, message: DaemonMessage) -> Vec<Value> {
        let mut out = Outbox::default();
        self.agent.news(&self.session.clone(), News::Message(Box::new(message)), &mut out);
        out.messages
    }

    fn prompt(&mut self) -> TurnId {
        assert!(self.call("session/prompt", json!({"prompt": [{"type": "text", "text": "why?"}]})).messages.is_empty());
        let Ok(ClientMessage::UserQuery(query)) = self.outgoing.try_recv() else { panic!("no question") };
        assert_eq!(query.text, "why?");
        query.turn_id
    }

    fn end(&mut self, turn_id: TurnId, reason: TurnEndReason) -> Value {
        let ended = TurnEnded { turn_id, reason, usage: Usage::default(), chunks: 0 };
        self.message(DaemonMessage::TurnEnded(ended)).remove(0)
    }
}

fn line(id: u64, method: &str, params: &Value) -> Vec<u8> {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string().into_bytes()
}

fn attached() -> Attached {
    let model = ModelIdentity { provider: "x".into(), model: "y".into(), origin: "z".into(), is_offline: false };
    let session = SessionKey("cli:1".into());
    let (title, left, recap) = (None, None, None);
    Attached { session, model, approval: ApprovalMode::Ask, is_resumed: false, title, left, recap }
}

fn approval(turn_id: TurnId) -> DaemonMessage {
    let cwd = Path::new("/work").to_owned().into();
    DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id: ApprovalId(uuid::Uuid::nil()),
        turn_id,
        subject: ApprovalSubject::Command { command: "make".into(), cwd, mode: RunMode::Isolated },
        is_dangerous: true,
        reasons: vec!["it may write".into()],
        is_each_time: false,
    })
}

#[test]
fn a_prompt_streams_and_ends_with_its_reason() {
    for (reason, stop) in [
        (TurnEndReason::Answered, "end_turn"),
        (TurnEndReason::Cancelled, "cancelled"),
        (TurnEndReason::StepLimit, "max_turn_requests"),
        (TurnEndReason::Refused, "refusal"),
        (TurnEndReason::Length, "max_tokens"),
    ] {
        let mut case = Case::new();
        let turn_id = case.prompt();
        let chunk = AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text("Because.".into()) };
        let told = case.message(DaemonMessage::AgentStreamChunk(chunk)).remove(0);
        assert_eq!((&told["method"], &told["params"]["sessionId"]), (&json!("session/update"), &json!(case.session)));
        assert_eq!(
            told["params"]["update"],
            json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "Because."}})
        );
        let ended = case.end(turn_id, reason);
        assert_eq!((&ended["id"], &ended["result"]["stopReason"]), (&json!(2), &json!(stop)));
    }
    let mut case = Case::new();
    let turn_id = case.prompt();
    assert!(case.end(turn_id, TurnEndReason::Failed)["error"]["message"].is_string());
}

#[test]
fn only_an_option_of_ours_is_consent() {
    let outcome = |outcome: Value| json!({ "outcome": outcome });
    for (answer, expected) in [
        (outcome(json!({"outcome": "selected", "optionId": "once"})), ApprovalDecision::Once),
        (outcome(json!({"outcome": "selected", "optionId": "session"})), ApprovalDecision::Session),
        (outcome(json!({"outcome": "selected", "optionId": "yes"})), ApprovalDecision::Refused { note: String::new() }),
        (outcome(json!({"outcome": "cancelled"})), ApprovalDecision::CancelTurn),
        (json!({}), ApprovalDecision::Refused { note: String::new() }),
    ] {
        let mut case = Case::new();
        let turn_id = case.prompt();
        let asked = case.message(approval(turn_id)).remove(0);
        let tool = &asked["params"]["toolCall"];
        assert_eq!(
            (&tool["title"], &tool["kind"], &tool["status"]),
            (&json!("make"), &json!("execute"), &json!("pending"))
        );
        assert!(
            tool["content"].to_string().contains("This may do harm")
                && tool["content"].to_string().contains("it may write")
        );
        let options: Vec<&Value> = (0..3).map(|option| &asked["params"]["options"][option]["kind"]).collect();
        assert_eq!(options, ["allow_once", "allow_always", "reject_once"]);
        let reply = json!({"jsonrpc": "2.0", "id": asked["id"], "result": answer}).to_string();
        assert!(case.send(reply.as_bytes()).messages.is_empty());
        let Ok(ClientMessage::ApprovalReply(sent)) = case.outgoing.try_recv() else { panic!("no reply to {answer}") };
        assert_eq!(sent.decision, expected, "{answer}");
    }
}

#[test]
fn a_turn_is_cancelled_and_a_mode_is_set() {
    let mut case = Case::new();
    let turn_id = case.prompt();
    let cancel = json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": case.session}});
    assert!(case.send(cancel.to_string().as_bytes()).messages.is_empty());
    assert_eq!(case.outgoing.try_recv(), Ok(ClientMessage::CancelTurn { turn_id }));
    assert!(case.call("session/set_mode", json!({"modeId": "read-only"})).messages[0].get("error").is_none());
    let Ok(ClientMessage::SessionRequest(sent)) = case.outgoing.try_recv() else { panic!("no request") };
    assert_eq!(sent.action, SessionAction::SetApproval { mode: ApprovalMode::ReadOnly });
    assert_eq!(case.call("session/set_mode", json!({"modeId": "all"})).messages[0]["error"]["code"], -32_602);
}

#[test]
fn a_stored_conversation_is_told_again_and_resumed() {
    let mut case = Case::new();
    let load = json!({"sessionId": "shell:7", "cwd": "/work", "mcpServers": []});
    let out = case.send(&line(5, "session/load", &load));
    assert_eq!(out.errands[0].1, ["sessions", "--all", "--json"]);
    let rows = json!({"sessions": [{"id": "abc", "name": "shell:7", "title": "t", "active_at": "2026-01-02T03:04:05Z", "cwd": "/work"}]});
    let mut next = Outbox::default();
    case.agent.told(out.errands[0].0, Ok(rows), &mut next);
    assert_eq!(next.errands[0].1, ["sessions", "show", "abc", "--json"]);
    let shown = json!({"session": {}, "events": [
        {"type": "question", "text": "why?", "cwd": "/", "shell": null, "piped_bytes": 0, "number": 1},
        {"type": "call", "tool": "bash", "title": "ls", "command": "ls", "cwd": "/"},
        {"type": "answer", "text": "So."},
        {"type": "usage"},
    ]});
    let mut last = Outbox::default();
    case.agent.told(next.errands[0].0, Ok(shown), &mut last);
    let kinds: Vec<&Value> = last.messages.iter().map(|told| &told["params"]["update"]["sessionUpdate"]).collect();
    assert_eq!(kinds, ["user_message_chunk", "tool_call", "agent_message_chunk"]);
    assert_eq!(last.openings[0].1.name, SessionKey("resume:abc".into()));

    let out = case.send(&line(6, "session/resume", &json!({"sessionId": "gone", "cwd": "/work"})));
    let mut told = Outbox::default();
    case.agent.told(out.errands[0].0, Ok(json!({"sessions": []})), &mut told);
    assert_eq!((&told.messages[0]["id"], &told.messages[0]["error"]["code"]), (&json!(6), &json!(-32_002)));
}

#[test]
fn mistakes_are_told() {
    let mut case = Case::new();
    for (method, params, code) in [
        ("session/fly", json!({}), -32_601),
        ("session/new", json!({"cwd": "here"}), -32_602),
        ("session/prompt", json!({"sessionId": "none", "prompt": [{"type": "text", "text": "x"}]}), -32_002),
        ("session/prompt", json!({"prompt": []}), -32_602),
    ] {
        let told = case.send(&line(9, method, &params)).messages;
        assert_eq!(told[0]["error"]["code"], code, "{told:?}");
    }
    case.prompt();
    let busy = case.call("session/prompt", json!({"prompt": [{"type": "text", "text": "x"}]}));
    assert_eq!(busy.messages[0]["error"]["code"], -32_000);
}
