use std::{path::Path, sync::Arc};

use cohab_conversation::redactor::Redactor;
use cohab_protocol::{
    AgentStreamChunk, ApprovalDecision, ApprovalId, ApprovalMode, ApprovalRequest, ApprovalSubject, Attached,
    ChunkDelta, ClientMessage, DaemonMessage, ModelIdentity, RunMode, SessionKey, StepActivity, StepStarted,
    TurnEndReason, TurnEnded, TurnId, Usage,
};
use cohab_secrets::ExactValues;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::{Server, server::Beginning};
use crate::{
    desk::{News, Wishes},
    front_end::{FrontEnd, Outbox, take_line},
    stdio::InputLine,
};

/// A server, and the daemon's end of its last session.
struct Case {
    server: Server,
    wishes: Option<Wishes>,
}

impl Case {
    fn new() -> Self {
        let beginning = Beginning { cwd: "/work".into(), approval: ApprovalMode::Ask };
        let redactor = Redactor::new(Arc::new(ExactValues::of_environment(std::iter::empty())));
        Self { server: Server::new(beginning, redactor), wishes: None }
    }

    /// One with the session `s1`.
    fn with_session() -> (Self, mpsc::Receiver<ClientMessage>) {
        let mut case = Self::new();
        assert!(case.call(1, "sessions/open", &json!({})).is_empty());
        let answers = case.news(News::Opened(Box::new(attached())));
        assert_eq!(answers[0]["result"]["session"], "s1");
        let outgoing = case.wishes.take().unwrap().outgoing;
        (case, outgoing)
    }

    fn line(&mut self, line: &Value) -> Vec<Value> {
        let mut out = Outbox::default();
        take_line(&mut self.server, &InputLine::Line(line.to_string().into_bytes()), &mut out);
        self.wishes = out.openings.pop().map(|(_, wishes)| wishes).or(self.wishes.take());
        out.messages
    }

    fn call(&mut self, id: u64, method: &str, params: &Value) -> Vec<Value> {
        self.line(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
    }

    fn news(&mut self, news: News) -> Vec<Value> {
        let mut out = Outbox::default();
        self.server.news("s1", news, &mut out);
        out.messages
    }

    fn message(&mut self, message: DaemonMessage) -> Vec<Value> {
        self.news(News::Message(Box::new(message)))
    }
}

fn attached() -> Attached {
    let model = ModelIdentity {
        provider: "offline".into(),
        model: "built-in".into(),
        origin: "no model".into(),
        is_offline: true,
    };
    let session = SessionKey("cli:1".into());
    let (title, left, recap) = (None, None, None);
    Attached { session, model, approval: ApprovalMode::Ask, is_resumed: false, title, left, recap }
}

fn asked(case: &mut Case, outgoing: &mut mpsc::Receiver<ClientMessage>) -> TurnId {
    assert!(case.call(2, "questions/ask", &json!({"session": "s1", "text": "why?"})).is_empty());
    let Ok(ClientMessage::UserQuery(query)) = outgoing.try_recv() else { panic!("no question") };
    assert_eq!((query.text.as_str(), query.cwd.to_string().as_str()), ("why?", "/work"));
    query.turn_id
}

fn text(turn_id: TurnId, text: &str) -> DaemonMessage {
    DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text(text.into()) })
}

fn end(turn_id: TurnId) -> DaemonMessage {
    DaemonMessage::TurnEnded(TurnEnded { turn_id, reason: TurnEndReason::Answered, usage: Usage::default(), chunks: 1 })
}

fn question(turn_id: TurnId, approval_id: ApprovalId) -> DaemonMessage {
    let subject = ApprovalSubject::Command {
        command: "make".into(),
        cwd: Path::new("/work").to_owned().into(),
        mode: RunMode::Isolated,
    };
    let reasons = vec!["it may write".into()];
    DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id,
        turn_id,
        subject,
        is_dangerous: false,
        reasons,
        is_each_time: false,
    })
}

#[test]
fn a_question_is_answered_at_the_end_of_its_turn() {
    let (mut case, mut outgoing) = Case::with_session();
    let turn_id = asked(&mut case, &mut outgoing);
    let told = case.message(text(turn_id, "let me look"));
    assert_eq!(told[0]["method"], "event");
    assert_eq!(told[0]["params"], json!({"session": "s1", "event": {"type": "text", "delta": "let me look"}}));
    let activity = StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() };
    case.message(DaemonMessage::StepStarted(StepStarted { turn_id, step: 1, activity }));
    case.message(text(turn_id, "Because."));
    let told = case.message(end(turn_id));
    assert_eq!(told[0]["params"]["event"]["type"], "turn_ended");
    assert_eq!((&told[1]["id"], &told[1]["result"]["answer"]), (&json!(2), &json!("Because.")));
    assert_eq!(told[1]["result"]["reason"], "answered");
    assert!(case.server.is_idle());
}

#[test]
fn consent_is_only_what_says_so_in_so_many_words() {
    for (answer, expected) in [
        (json!({"result": {"decision": "once"}}), ApprovalDecision::Once),
        (json!({"result": {"decision": "session"}}), ApprovalDecision::Session),
        (json!({"result": {"decision": "cancel"}}), ApprovalDecision::CancelTurn),
        (json!({"result": {"decision": "refused", "note": "no"}}), ApprovalDecision::Refused { note: "no".into() }),
        (json!({"result": {"decision": "always"}}), ApprovalDecision::Refused { note: String::new() }),
        (json!({"result": true}), ApprovalDecision::Refused { note: String::new() }),
        (json!({"error": {"code": 1, "message": "x"}}), ApprovalDecision::Refused { note: String::new() }),
    ] {
        let (mut case, mut outgoing) = Case::with_session();
        let turn_id = asked(&mut case, &mut outgoing);
        let approval_id = ApprovalId(uuid::Uuid::nil());
        let told = case.message(question(turn_id, approval_id));
        assert_eq!(
            (&told[0]["method"], &told[0]["params"]["subject"]["command"]),
            (&json!("approval/ask"), &json!("make"))
        );
        let mut reply = json!({"jsonrpc": "2.0", "id": told[0]["id"]});
        reply.as_object_mut().unwrap().extend(answer.as_object().unwrap().clone());
        assert!(case.line(&reply).is_empty());
        let Ok(ClientMessage::ApprovalReply(sent)) = outgoing.try_recv() else { panic!("no reply to {answer}") };
        assert_eq!((sent.approval_id, sent.decision), (approval_id, expected), "{answer}");
        // The same answer once more says nothing.
        assert!(case.line(&reply).is_empty() && outgoing.try_recv().is_err());
    }
}

#[test]
fn an_answer_that_comes_after_the_turn_is_not_passed_on() {
    let (mut case, mut outgoing) = Case::with_session();
    let turn_id = asked(&mut case, &mut outgoing);
    let told = case.message(question(turn_id, ApprovalId(uuid::Uuid::nil())));
    case.message(end(turn_id));
    case.line(&json!({"jsonrpc": "2.0", "id": told[0]["id"], "result": {"decision": "once"}}));
    assert!(outgoing.try_recv().is_err());
}

#[test]
fn mistakes_are_told_with_what_is_right() {
    let (mut case, mut outgoing) = Case::with_session();
    let failure = |answers: Vec<Value>| (answers[0]["error"]["code"].as_i64().unwrap(), answers[0].to_string());
    let (code, text) = failure(case.call(3, "sessions/fly", &json!({})));
    assert!(code == -32_601 && text.contains("sessions/open"), "{text}");
    for params in
        [json!({"session": "s9", "text": "x"}), json!({"session": "s1"}), json!({"session": "s1", "text": " "})]
    {
        assert_eq!(failure(case.call(3, "questions/ask", &params)).0, -32_602);
    }
    assert_eq!(failure(case.call(3, "sessions/open", &json!({"cwd": "here"}))).0, -32_602);
    assert_eq!(failure(case.call(3, "questions/cancel", &json!({"session": "s1"}))).0, -32_000);
    asked(&mut case, &mut outgoing);
    let (code, text) = failure(case.call(4, "questions/ask", &json!({"session": "s1", "text": "again?"})));
    assert!(code == -32_000 && text.contains("questions/add"), "{text}");
}

#[test]
fn a_lost_daemon_answers_everything_that_waits() {
    let (mut case, mut outgoing) = Case::with_session();
    asked(&mut case, &mut outgoing);
    assert!(case.call(5, "sessions/usage", &json!({"session": "s1"})).is_empty());
    let told = case.news(News::Lost(cohab_daemon_link::connection::ConnectError::NotRunning));
    let ids: Vec<&Value> = told.iter().map(|answer| &answer["id"]).collect();
    assert_eq!(ids, [&json!(2), &json!(5)]);
    assert!(told.iter().all(|answer| answer["error"]["data"]["hint"].is_string()), "{told:?}");
}

#[test]
fn when_the_other_program_is_gone_turns_are_cancelled() {
    let (mut case, mut outgoing) = Case::with_session();
    let turn_id = asked(&mut case, &mut outgoing);
    case.server.stop();
    assert_eq!(outgoing.try_recv(), Ok(ClientMessage::CancelTurn { turn_id }));
    assert!(!case.server.is_idle());
    case.message(end(turn_id));
    assert!(case.server.is_idle());
}
