//! Answers the requests of `cohab rpc`.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
};

use cohab_conversation::redactor::Redactor;
use cohab_daemon_link::connection::ConnectError;
use cohab_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalReply, ApprovalRequest, Attached, BUILD, ClientMessage, DaemonMessage,
    ErrorSubject, ExtendTurn, MAX_QUERY_BYTES, RequestId, SessionAction, SessionAnswer, SessionKey, SessionReply,
    SessionRequest, TurnEnded, TurnId, UserQuery, WireError,
};
use serde::Serialize;
use serde_json::{Value, json};

use super::{
    calls::{
        ApprovalAnswer, ApprovalAsk, AskParams, CompactResult, EventParams, InitializeResult, METHODS, OpenParams,
        OpenResult, RewindResult, RpcCall, SessionParams, VERSION,
    },
    turn::RunningTurn,
};
use crate::{
    desk::{News, SessionHandle, Wishes},
    event::{EventEnd, EventQuestion, EventSubject, EventUsage, JsonEvent},
    front_end::{FrontEnd, Outbox},
    message::{
        INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_FAILED, RpcError, answer, is_short_enough, notification, request,
        session_busy,
    },
    questions::{OpenQuestion, Questions},
};

/// Sessions that may be open at once.
const MAX_SESSIONS: usize = 64;
/// Requests that may wait for the answer of a session.
const MAX_REQUESTS: usize = 32;
/// Columns of a terminal, for questions without one.
const COLUMNS: u16 = 80;

/// What all sessions begin with.
#[derive(Debug)]
pub struct Beginning {
    /// The folder.
    pub cwd: PathBuf,
    /// What may be done unasked.
    pub approval: ApprovalMode,
}

/// The state of `cohab rpc`.
#[derive(Debug)]
pub struct Server {
    beginning: Beginning,
    redactor: Redactor,
    sessions: BTreeMap<String, Session>,
    sessions_opened: u64,
    questions: Questions,
}

#[derive(Debug)]
struct Session {
    handle: SessionHandle,
    cwd: PathBuf,
    /// The request that opened it, until it is answered.
    opening: Option<Value>,
    turn: Option<RunningTurn>,
    additions: u32,
    /// Requests that wait for the daemon's answer, in order.
    requests: VecDeque<(RequestId, Value)>,
    requests_sent: u64,
}

impl Session {
    fn ask_daemon(&mut self, id: &Value, action: SessionAction) -> Result<(), RpcError> {
        if self.opening.is_some() {
            return Err(RpcError::new(REQUEST_FAILED, "the session is not open yet"));
        }
        if self.requests.len() >= MAX_REQUESTS {
            return Err(session_busy());
        }
        self.requests_sent += 1;
        let request_id = RequestId(self.requests_sent);
        if !self.handle.send(ClientMessage::SessionRequest(SessionRequest { request_id, action })) {
            return Err(session_busy());
        }
        self.requests.push_back((request_id, id.clone()));
        Ok(())
    }

    fn answered(&mut self, request_id: RequestId) -> Option<Value> {
        let place = self.requests.iter().position(|(waiting, _)| *waiting == request_id)?;
        self.requests.remove(place).map(|(_, id)| id)
    }
}

impl Server {
    /// A server without sessions.
    #[must_use]
    pub fn new(beginning: Beginning, redactor: Redactor) -> Self {
        Self { beginning, redactor, sessions: BTreeMap::new(), sessions_opened: 0, questions: Questions::default() }
    }

    fn call(&mut self, id: &Value, call: RpcCall, out: &mut Outbox) -> Result<Option<Value>, RpcError> {
        match call {
            RpcCall::Initialize(_) => {
                let methods = METHODS.iter().map(|name| (*name).to_owned()).collect();
                result(&InitializeResult { version: VERSION, cohab: BUILD.to_owned(), methods })
            }
            RpcCall::SessionsOpen(params) => self.open(id, params, out).map(|()| None),
            RpcCall::SessionsClose(params) => self.close(&params, out),
            RpcCall::SessionsClear(params) => self.pass(id, &params.session, SessionAction::Clear),
            RpcCall::SessionsRewind(params) => self.pass(id, &params.session, SessionAction::Rewind),
            RpcCall::SessionsCompact(params) => self.pass(id, &params.session, SessionAction::Compact),
            RpcCall::SessionsUsage(params) => self.pass(id, &params.session, SessionAction::Usage),
            RpcCall::SessionsSetApproval(params) => {
                self.pass(id, &params.session, SessionAction::SetApproval { mode: params.approval.into() })
            }
            RpcCall::QuestionsAsk(params) => self.ask(id, params).map(|()| None),
            RpcCall::QuestionsAdd(params) => self.add(&params.session, params.text),
            RpcCall::QuestionsCancel(params) => self.cancel(&params.session),
        }
    }

    fn session(&mut self, name: &str) -> Result<&mut Session, RpcError> {
        self.sessions.get_mut(name).ok_or_else(|| {
            RpcError::new(INVALID_PARAMS, format!("no session `{name}` is open; `sessions/open` opens one"))
        })
    }

    fn pass(&mut self, id: &Value, session: &str, action: SessionAction) -> Result<Option<Value>, RpcError> {
        self.session(session)?.ask_daemon(id, action).map(|()| None)
    }

    fn open(&mut self, id: &Value, params: OpenParams, out: &mut Outbox) -> Result<(), RpcError> {
        if self.sessions.len() >= MAX_SESSIONS {
            let message = format!("{MAX_SESSIONS} sessions are open; `sessions/close` closes one");
            return Err(RpcError::new(REQUEST_FAILED, message));
        }
        let cwd = match params.cwd {
            Some(cwd) => absolute(&cwd)?,
            None => self.beginning.cwd.clone(),
        };
        self.sessions_opened += 1;
        let name = format!("s{}", self.sessions_opened);
        let (handle, outgoing) = SessionHandle::new();
        out.openings.push((
            name.clone(),
            Wishes {
                name: params.resume.map_or_else(SessionKey::of_program, |id| SessionKey::of_resumed(&id)),
                approval: params.approval.map_or(self.beginning.approval, Into::into),
                profile: params.profile,
                model: params.model,
                outgoing,
            },
        ));
        let session = Session {
            handle,
            cwd,
            opening: Some(id.clone()),
            turn: None,
            additions: 0,
            requests: VecDeque::new(),
            requests_sent: 0,
        };
        self.sessions.insert(name, session);
        Ok(())
    }

    fn close(&mut self, params: &SessionParams, out: &mut Outbox) -> Result<Option<Value>, RpcError> {
        self.session(&params.session)?;
        if let Some(session) = self.sessions.remove(&params.session) {
            if let Some(turn) = &session.turn {
                let _ = session.handle.send(ClientMessage::CancelTurn { turn_id: turn.id });
            }
            self.give_up(&params.session, session, &RpcError::new(REQUEST_FAILED, "the session was closed"), out);
        }
        Ok(Some(Value::Null))
    }

    fn ask(&mut self, id: &Value, params: AskParams) -> Result<(), RpcError> {
        let AskParams { session: name, text, piped_input, cwd, private } = params;
        if text.trim().is_empty() {
            return Err(RpcError::new(INVALID_PARAMS, "the question is empty"));
        }
        is_short_enough(&text, piped_input.as_deref())?;
        let cwd = cwd.map(|cwd| absolute(&cwd)).transpose()?;
        let session = self.session(&name)?;
        if session.opening.is_some() {
            return Err(RpcError::new(REQUEST_FAILED, "the session is not open yet"));
        }
        if session.turn.is_some() {
            let hint = "`questions/add` adds words to it, `questions/cancel` ends it".to_owned();
            return Err(RpcError::new(REQUEST_FAILED, "a question is being answered").hint(Some(hint)));
        }
        if let Some(cwd) = cwd {
            session.cwd = cwd;
        }
        let turn_id = TurnId::fresh();
        let mut query = UserQuery {
            turn_id,
            text,
            cwd: session.cwd.clone().into(),
            columns: COLUMNS,
            piped_input,
            is_private: private,
        };
        self.redactor.query(&mut query);
        let session = self.session(&name)?;
        if !session.handle.send(ClientMessage::UserQuery(query)) {
            return Err(session_busy());
        }
        session.additions = 0;
        session.turn = Some(RunningTurn::new(turn_id, id.clone()));
        Ok(())
    }

    fn add(&mut self, name: &str, mut text: String) -> Result<Option<Value>, RpcError> {
        if text.len() > MAX_QUERY_BYTES {
            return Err(RpcError::new(INVALID_PARAMS, "added words may have 1 MiB"));
        }
        self.redactor.words(&mut text);
        let session = self.session(name)?;
        let Some(turn) = &session.turn else { return Err(nothing_runs()) };
        let extension = ExtendTurn { turn_id: turn.id, number: session.additions + 1, text };
        if !session.handle.send(ClientMessage::ExtendTurn(extension)) {
            return Err(session_busy());
        }
        session.additions += 1;
        Ok(Some(Value::Null))
    }

    fn cancel(&mut self, name: &str) -> Result<Option<Value>, RpcError> {
        let session = self.session(name)?;
        let Some(turn) = &session.turn else { return Err(nothing_runs()) };
        if session.handle.send(ClientMessage::CancelTurn { turn_id: turn.id }) {
            Ok(Some(Value::Null))
        } else {
            Err(session_busy())
        }
    }

    fn opened(&mut self, name: &str, attached: &Attached, out: &mut Outbox) {
        let Some(id) = self.sessions.get_mut(name).and_then(|session| session.opening.take()) else { return };
        let opened = OpenResult {
            session: name.to_owned(),
            key: attached.session.to_string(),
            model: format!("{}/{}", attached.model.provider, attached.model.model),
            is_offline: attached.model.is_offline,
            approval: attached.approval.into(),
            title: attached.title.clone(),
        };
        out.messages.push(answer(&id, result(&opened).map(Option::unwrap_or_default)));
    }

    fn message(&mut self, name: &str, message: DaemonMessage, out: &mut Outbox) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        match message {
            DaemonMessage::ApprovalRequest(question) => return self.question(name, &question, out),
            DaemonMessage::SessionReply(SessionReply { request_id, answer: reply }) => {
                if let Some(id) = session.answered(request_id) {
                    out.messages.push(answer(&id, reply_result(reply)));
                }
                return;
            }
            DaemonMessage::Error(WireError { about: ErrorSubject::Request(request_id), message, hint, .. }) => {
                if let Some(id) = session.answered(request_id) {
                    let failure = RpcError::new(REQUEST_FAILED, message).hint(hint);
                    out.messages.push(answer(&id, Err(failure)));
                }
                return;
            }
            _ => {}
        }
        if let Some(turn) = &mut session.turn {
            turn.follow(&message);
        }
        if let Some(event) = JsonEvent::of(&message) {
            let params = EventParams { session: name.to_owned(), event };
            out.messages.push(notification("event", &json!(params)));
        }
        if let DaemonMessage::TurnEnded(TurnEnded { turn_id, reason, usage, .. }) = message
            && let Some(turn) = session.turn.take_if(|turn| turn.id == turn_id)
        {
            self.questions.forget_turn(turn_id);
            let id = turn.request.clone();
            let end = EventEnd { reason: reason.into(), usage: usage.into() };
            out.messages.push(answer(&id, result(&turn.result(end)).map(Option::unwrap_or_default)));
        }
    }

    fn question(&mut self, name: &str, question: &ApprovalRequest, out: &mut Outbox) {
        let open = OpenQuestion { session: name.to_owned(), turn: question.turn_id, approval: question.approval_id };
        let number = self.questions.keep(open);
        let ask = ApprovalAsk {
            session: name.to_owned(),
            turn: question.turn_id.to_string(),
            question: EventQuestion {
                subject: EventSubject::of(&question.subject),
                dangerous: question.is_dangerous,
                reasons: question.reasons.clone(),
            },
            is_each_time: question.is_each_time,
        };
        out.messages.push(request(number, "approval/ask", &json!(ask)));
    }

    fn lost(&mut self, name: &str, error: &ConnectError, out: &mut Outbox) {
        let Some(session) = self.sessions.remove(name) else { return };
        let failure = RpcError::new(REQUEST_FAILED, error.to_string()).hint(Some(error.hint()));
        self.give_up(name, session, &failure, out);
    }

    /// Answers all requests about a session that is no more.
    fn give_up(&mut self, name: &str, session: Session, failure: &RpcError, out: &mut Outbox) {
        self.questions.forget_session(name);
        let turn = session.turn.map(|turn| turn.request);
        let waiting = session.opening.into_iter().chain(turn).chain(session.requests.into_iter().map(|(_, id)| id));
        out.messages.extend(waiting.map(|id| answer(&id, Err(failure.clone()))));
    }
}

impl FrontEnd for Server {
    fn request(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
        out: &mut Outbox,
    ) -> Result<Option<Value>, RpcError> {
        self.call(id, read_call(method, params)?, out)
    }

    fn response(&mut self, id: &Value, outcome: Result<Value, RpcError>) {
        let Some(question) = self.questions.answered(id) else { return };
        let decided = outcome.ok().and_then(|value| serde_json::from_value::<ApprovalAnswer>(value).ok());
        let refused = || ApprovalDecision::Refused { note: String::new() };
        let mut decision = match decided {
            Some(ApprovalAnswer::Once) => ApprovalDecision::Once,
            Some(ApprovalAnswer::Session) => ApprovalDecision::Session,
            Some(ApprovalAnswer::Edited { command }) => ApprovalDecision::Edited { command },
            Some(ApprovalAnswer::Refused { note }) => ApprovalDecision::Refused { note },
            Some(ApprovalAnswer::Cancel) => ApprovalDecision::CancelTurn,
            None => refused(),
        };
        self.redactor.decision(&mut decision);
        let reply = ApprovalReply { approval_id: question.approval, decision };
        if let Some(session) = self.sessions.get(&question.session) {
            // A session that takes no more is lost, and says so itself.
            let _ = session.handle.send(ClientMessage::ApprovalReply(reply));
        }
    }

    fn news(&mut self, session: &str, news: News, out: &mut Outbox) {
        match news {
            News::Opened(attached) => self.opened(session, &attached, out),
            News::Message(message) => self.message(session, *message, out),
            News::Lost(error) => self.lost(session, &error, out),
        }
    }

    fn told(&mut self, _errand: u64, _outcome: Result<Value, String>, _out: &mut Outbox) {}

    fn stop(&mut self) {
        self.sessions.retain(|_, session| {
            let turn = session.turn.as_ref();
            turn.is_some_and(|turn| session.handle.send(ClientMessage::CancelTurn { turn_id: turn.id }))
        });
    }

    fn is_idle(&self) -> bool {
        self.sessions.values().all(|session| session.turn.is_none())
    }
}

fn read_call(method: &str, params: Value) -> Result<RpcCall, RpcError> {
    if !METHODS.contains(&method) {
        let message = format!("no method `{method}`; there are {}", METHODS.join(", "));
        return Err(RpcError::new(METHOD_NOT_FOUND, message));
    }
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(json!({"method": method, "params": params}))
        .map_err(|error| RpcError::new(INVALID_PARAMS, format!("`{method}`: {error}")))
}

fn reply_result(reply: SessionAnswer) -> Result<Value, RpcError> {
    let value = match reply {
        SessionAnswer::Rewound { question } => result(&RewindResult { question }),
        SessionAnswer::Compacted { before_tokens, after_tokens } => {
            result(&CompactResult { before_tokens, after_tokens })
        }
        SessionAnswer::Usage(usage) => result(&EventUsage::from(usage)),
        _ => Ok(None),
    };
    value.map(Option::unwrap_or_default)
}

fn result(result: &impl Serialize) -> Result<Option<Value>, RpcError> {
    serde_json::to_value(result).map(Some).map_err(|error| RpcError::new(REQUEST_FAILED, error.to_string()))
}

fn absolute(cwd: &str) -> Result<PathBuf, RpcError> {
    let path = Path::new(cwd);
    if path.is_absolute() {
        Ok(path.to_owned())
    } else {
        Err(RpcError::new(INVALID_PARAMS, format!("`cwd` must be an absolute path, not `{cwd}`")))
    }
}

fn nothing_runs() -> RpcError {
    RpcError::new(REQUEST_FAILED, "no question is being answered")
}
