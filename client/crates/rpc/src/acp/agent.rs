//! Answers the requests of a client of the Agent Client Protocol.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use cohab_conversation::redactor::Redactor;
use cohab_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalReply, ApprovalRequest, BUILD, ClientMessage, DaemonMessage, RequestId,
    SessionAction, SessionKey, SessionRequest, TurnEndReason, TurnEnded, TurnId, UserQuery, WireError,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{
    history::{self, StoredSession},
    params::{ListSessions, LoadSession, NewSession, OfSession, Outcome, PermissionAnswer, Prompt, SetMode, question},
    update::{ONCE, SESSION, permission, update},
};
use crate::{
    desk::{News, SessionHandle, Wishes},
    event::EventUsage,
    front_end::{FrontEnd, Outbox},
    message::{
        INVALID_PARAMS, METHOD_NOT_FOUND, REQUEST_FAILED, RpcError, answer, is_short_enough, notification, request,
        session_busy,
    },
    questions::{OpenQuestion, Questions},
};

/// The version of the protocol.
const VERSION: u64 = 1;
/// The code of the protocol for something that is not there.
const NOT_FOUND: i64 = -32_002;
/// Sessions that may be open at once.
const MAX_SESSIONS: usize = 64;
/// The command line of `cohabd` that lists all conversations.
const LIST: &[&str] = &["sessions", "--all", "--json"];
/// Questions to `cohabd` that may wait at once.
const MAX_ERRANDS: usize = 8;
/// Columns of a terminal, for questions without one.
const COLUMNS: u16 = 80;

/// The modes of a session: id, name, description, and what it lets be done unasked.
const MODES: &[(&str, &str, &str, ApprovalMode)] = &[
    ("read-only", "Read only", "What only reads runs, everything else is refused", ApprovalMode::ReadOnly),
    ("ask", "Ask", "What only reads runs, everything else is asked", ApprovalMode::Ask),
    ("auto", "Auto", "Asks about danger, and about what is written outside the folder", ApprovalMode::Auto),
];

/// The state of `cohab acp`.
#[derive(Debug)]
pub struct Agent {
    /// What a session may do unasked at first.
    approval: ApprovalMode,
    redactor: Redactor,
    sessions: BTreeMap<String, Session>,
    questions: Questions,
    /// What `cohabd` was asked for, with the request that waits for it.
    errands: BTreeMap<u64, (Value, Errand)>,
    errands_sent: u64,
}

#[derive(Debug)]
struct Session {
    handle: SessionHandle,
    cwd: PathBuf,
    mode: ApprovalMode,
    /// The request that opened it, until it is answered.
    opening: Option<Value>,
    turn: Option<PromptTurn>,
    requests_sent: u64,
}

#[derive(Debug)]
struct PromptTurn {
    id: TurnId,
    /// The request that it answers.
    request: Value,
    error: Option<WireError>,
    /// Steps that the client was told of and that are not over.
    steps: BTreeSet<u32>,
}

impl PromptTurn {
    /// Whether the client is to be told: a step that is over only if its beginning was told.
    fn tells(&mut self, message: &DaemonMessage) -> bool {
        match message {
            DaemonMessage::StepStarted(started) => {
                self.steps.insert(started.step);
                true
            }
            DaemonMessage::StepFinished(finished) => self.steps.remove(&finished.step),
            _ => true,
        }
    }
}

/// What `cohabd` was asked for.
#[derive(Debug)]
enum Errand {
    /// The list, for `session/list`.
    List { cwd: Option<PathBuf> },
    /// The list, to find the conversation of this name.
    Find { load: LoadSession, is_told: bool },
    /// The conversation of this row, to tell it again.
    Tell { load: LoadSession, row: StoredSession },
}

impl Agent {
    /// An agent without sessions.
    #[must_use]
    pub fn new(approval: ApprovalMode, redactor: Redactor) -> Self {
        Self {
            approval,
            redactor,
            sessions: BTreeMap::new(),
            questions: Questions::default(),
            errands: BTreeMap::new(),
            errands_sent: 0,
        }
    }

    fn session(&mut self, name: &str) -> Result<&mut Session, RpcError> {
        let missing = || RpcError::new(NOT_FOUND, format!("no session `{name}` is open"));
        self.sessions.get_mut(name).ok_or_else(missing)
    }

    fn room_for_another(&self, name: &str) -> Result<(), RpcError> {
        if self.sessions.contains_key(name) {
            return Err(RpcError::new(REQUEST_FAILED, format!("session `{name}` is open")));
        }
        if self.sessions.len() >= MAX_SESSIONS {
            return Err(RpcError::new(REQUEST_FAILED, format!("{MAX_SESSIONS} sessions are open")));
        }
        Ok(())
    }

    fn open(
        &mut self,
        id: &Value,
        session: String,
        name: SessionKey,
        cwd: PathBuf,
        out: &mut Outbox,
    ) -> Result<(), RpcError> {
        is_absolute(&cwd)?;
        self.room_for_another(&session)?;
        let (handle, outgoing) = SessionHandle::new();
        let wishes = Wishes { name, approval: self.approval, profile: None, model: None, outgoing };
        out.openings.push((session.clone(), wishes));
        let (mode, opening) = (self.approval, Some(id.clone()));
        self.sessions.insert(session, Session { handle, cwd, mode, opening, turn: None, requests_sent: 0 });
        Ok(())
    }

    fn send_errand(
        &mut self,
        request: &Value,
        errand: Errand,
        arguments: &[&str],
        out: &mut Outbox,
    ) -> Result<(), RpcError> {
        if self.errands.len() >= MAX_ERRANDS {
            return Err(RpcError::new(REQUEST_FAILED, "too many conversations are looked up at once"));
        }
        self.errands_sent += 1;
        self.errands.insert(self.errands_sent, (request.clone(), errand));
        out.errands.push((self.errands_sent, arguments.iter().map(|word| (*word).to_owned()).collect()));
        Ok(())
    }

    fn set_mode(&mut self, wish: &SetMode) -> Result<Option<Value>, RpcError> {
        let Some(&(.., mode)) = MODES.iter().find(|(id, ..)| *id == wish.mode_id) else {
            let known: Vec<&str> = MODES.iter().map(|(id, ..)| *id).collect();
            let message = format!("no mode `{}`; there are {}", wish.mode_id, known.join(", "));
            return Err(RpcError::new(INVALID_PARAMS, message));
        };
        let session = self.session(&wish.session_id)?;
        session.requests_sent += 1;
        let action = SessionAction::SetApproval { mode };
        let request = SessionRequest { request_id: RequestId(session.requests_sent), action };
        if !session.handle.send(ClientMessage::SessionRequest(request)) {
            return Err(session_busy());
        }
        session.mode = mode;
        Ok(Some(json!({})))
    }

    fn prompt(&mut self, id: &Value, prompt: Prompt) -> Result<(), RpcError> {
        let (text, piped_input) = question(prompt.prompt).map_err(|reason| RpcError::new(INVALID_PARAMS, reason))?;
        if text.trim().is_empty() {
            return Err(RpcError::new(INVALID_PARAMS, "the prompt is empty"));
        }
        is_short_enough(&text, piped_input.as_deref())?;
        let session = self.session(&prompt.session_id)?;
        if session.opening.is_some() || session.turn.is_some() {
            return Err(RpcError::new(REQUEST_FAILED, "the session is busy; `session/cancel` ends its turn"));
        }
        let turn_id = TurnId::fresh();
        let cwd = session.cwd.clone().into();
        let mut query = UserQuery { turn_id, text, cwd, columns: COLUMNS, piped_input, is_private: false };
        self.redactor.query(&mut query);
        let session = self.session(&prompt.session_id)?;
        if !session.handle.send(ClientMessage::UserQuery(query)) {
            return Err(session_busy());
        }
        session.turn = Some(PromptTurn { id: turn_id, request: id.clone(), error: None, steps: BTreeSet::new() });
        Ok(())
    }

    fn message(&mut self, name: &str, message: &DaemonMessage, out: &mut Outbox) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        match message {
            DaemonMessage::ApprovalRequest(question) => return self.ask(name, question, out),
            DaemonMessage::Error(error) => {
                if let Some(turn) = &mut session.turn {
                    turn.error = Some(error.clone());
                }
            }
            DaemonMessage::TurnEnded(ended) => {
                if let Some(turn) = session.turn.take_if(|turn| turn.id == ended.turn_id) {
                    self.questions.forget_turn(turn.id);
                    out.messages.push(answer(&turn.request, turn_result(&turn, ended)));
                }
            }
            _ => {}
        }
        let Some(update) = update(message) else { return };
        if session.turn.as_mut().is_none_or(|turn| turn.tells(message)) {
            out.messages.push(told(name, &update));
        }
    }

    fn ask(&mut self, name: &str, question: &ApprovalRequest, out: &mut Outbox) {
        let open = OpenQuestion { session: name.to_owned(), turn: question.turn_id, approval: question.approval_id };
        let number = self.questions.keep(open);
        out.messages.push(request(number, "session/request_permission", &permission(name, question)));
    }

    fn opened(&mut self, name: &str, out: &mut Outbox) {
        let Some(session) = self.sessions.get_mut(name) else { return };
        let Some(id) = session.opening.take() else { return };
        let modes: Vec<Value> = MODES
            .iter()
            .map(|(id, name, description, _)| json!({"id": id, "name": name, "description": description}))
            .collect();
        let current = MODES.iter().find(|(.., mode)| *mode == session.mode).map_or("ask", |(id, ..)| id);
        let result = json!({"sessionId": name, "modes": {"currentModeId": current, "availableModes": modes}});
        out.messages.push(answer(&id, Ok(result)));
    }

    fn close(&mut self, name: &str, failure: &RpcError, out: &mut Outbox) {
        let Some(session) = self.sessions.remove(name) else { return };
        self.questions.forget_session(name);
        if let Some(turn) = &session.turn {
            // One that is lost has no turn any more.
            let _ = session.handle.send(ClientMessage::CancelTurn { turn_id: turn.id });
        }
        let waiting = session.opening.into_iter().chain(session.turn.map(|turn| turn.request));
        out.messages.extend(waiting.map(|id| answer(&id, Err(failure.clone()))));
    }

    fn errand_done(
        &mut self,
        request: &Value,
        errand: Errand,
        printed: Value,
        out: &mut Outbox,
    ) -> Result<(), RpcError> {
        match errand {
            Errand::List { cwd } => {
                let listed =
                    history::listed(history::rows(printed).map_err(failed)?, cwd.as_deref().and_then(Path::to_str));
                out.messages.push(answer(request, Ok(listed)));
                Ok(())
            }
            Errand::Find { load, is_told } => {
                let rows = history::rows(printed).map_err(failed)?;
                let Some(row) = rows.into_iter().find(|row| row.name == load.session_id) else {
                    return Err(RpcError::new(NOT_FOUND, format!("no conversation `{}` is stored", load.session_id)));
                };
                if !is_told {
                    return self.resume(request, load, &row, out);
                }
                let id = row.id.clone();
                self.send_errand(request, Errand::Tell { load, row }, &["sessions", "show", &id, "--json"], out)
            }
            Errand::Tell { load, row } => {
                let updates = history::updates(&printed);
                out.messages.extend(updates.iter().map(|update| told(&load.session_id, update)));
                self.resume(request, load, &row, out)
            }
        }
    }

    fn resume(
        &mut self,
        request: &Value,
        load: LoadSession,
        row: &StoredSession,
        out: &mut Outbox,
    ) -> Result<(), RpcError> {
        self.open(request, load.session_id, SessionKey::of_resumed(&row.id), load.cwd, out)
    }
}

impl FrontEnd for Agent {
    fn request(
        &mut self,
        id: &Value,
        method: &str,
        params: Value,
        out: &mut Outbox,
    ) -> Result<Option<Value>, RpcError> {
        match method {
            "initialize" => Ok(Some(capabilities())),
            // Keys belong to the settings: there is nothing to do.
            "authenticate" | "logout" => Ok(Some(json!({}))),
            "session/new" => {
                let NewSession { cwd } = read(method, params)?;
                let name = SessionKey::of_program();
                self.open(id, name.0.clone(), name, cwd, out).map(|()| None)
            }
            "session/load" | "session/resume" => {
                let load: LoadSession = read(method, params)?;
                is_absolute(&load.cwd)?;
                self.room_for_another(&load.session_id)?;
                let errand = Errand::Find { load, is_told: method == "session/load" };
                self.send_errand(id, errand, LIST, out).map(|()| None)
            }
            "session/list" => {
                let ListSessions { cwd, cursor } = read(method, params)?;
                if cursor.is_some() {
                    return Err(RpcError::new(INVALID_PARAMS, "there is only one page"));
                }
                self.send_errand(id, Errand::List { cwd }, LIST, out).map(|()| None)
            }
            "session/close" => {
                let OfSession { session_id } = read(method, params)?;
                self.session(&session_id)?;
                self.close(&session_id, &RpcError::new(REQUEST_FAILED, "the session was closed"), out);
                Ok(Some(json!({})))
            }
            "session/set_mode" => self.set_mode(&read(method, params)?),
            "session/prompt" => self.prompt(id, read(method, params)?).map(|()| None),
            _ => Err(RpcError::new(METHOD_NOT_FOUND, format!("`{method}` is not supported"))),
        }
    }

    fn notification(&mut self, method: &str, params: Value) {
        if method != "session/cancel" {
            return;
        }
        let cancelled = read::<OfSession>(method, params).ok();
        let session = cancelled.and_then(|of| self.sessions.get(&of.session_id));
        if let Some((session, turn)) = session.and_then(|session| Some((session, session.turn.as_ref()?))) {
            // A session that takes no more is lost, and says so itself.
            let _ = session.handle.send(ClientMessage::CancelTurn { turn_id: turn.id });
        }
    }

    fn response(&mut self, id: &Value, outcome: Result<Value, RpcError>) {
        let Some(question) = self.questions.answered(id) else { return };
        let chosen = outcome.ok().and_then(|value| serde_json::from_value::<PermissionAnswer>(value).ok());
        let decision = match chosen.map(|answer| answer.outcome) {
            Some(Outcome::Selected { option_id }) if option_id == ONCE => ApprovalDecision::Once,
            Some(Outcome::Selected { option_id }) if option_id == SESSION => ApprovalDecision::Session,
            Some(Outcome::Cancelled) => ApprovalDecision::CancelTurn,
            Some(Outcome::Selected { .. }) | None => ApprovalDecision::Refused { note: String::new() },
        };
        if let Some(session) = self.sessions.get(&question.session) {
            let reply = ApprovalReply { approval_id: question.approval, decision };
            // A session that takes no more is lost, and says so itself.
            let _ = session.handle.send(ClientMessage::ApprovalReply(reply));
        }
    }

    fn news(&mut self, session: &str, news: News, out: &mut Outbox) {
        match news {
            News::Opened(_) => self.opened(session, out),
            News::Message(message) => self.message(session, &message, out),
            News::Lost(error) => {
                let failure = RpcError::new(REQUEST_FAILED, error.to_string()).hint(Some(error.hint()));
                self.close(session, &failure, out);
            }
        }
    }

    fn told(&mut self, errand: u64, outcome: Result<Value, String>, out: &mut Outbox) {
        let Some((request, errand)) = self.errands.remove(&errand) else { return };
        let done = outcome.map_err(failed).and_then(|printed| self.errand_done(&request, errand, printed, out));
        out.messages.extend(done.err().map(|failure| answer(&request, Err(failure))));
    }

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

fn capabilities() -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": {"image": false, "audio": false, "embeddedContext": true},
            "mcpCapabilities": {"http": false, "sse": false},
            "sessionCapabilities": {"list": {}, "resume": {}, "close": {}},
        },
        "agentInfo": {"name": "cohab", "title": "cohab", "version": BUILD},
        "authMethods": [],
    })
}

/// The result of `session/prompt`.
fn turn_result(turn: &PromptTurn, ended: &TurnEnded) -> Result<Value, RpcError> {
    let reason = match ended.reason {
        TurnEndReason::Answered => "end_turn",
        TurnEndReason::Cancelled => "cancelled",
        TurnEndReason::StepLimit => "max_turn_requests",
        TurnEndReason::Refused => "refusal",
        TurnEndReason::Length => "max_tokens",
        TurnEndReason::Failed => {
            let (message, hint) = turn.error.as_ref().map_or_else(
                || ("the turn failed".to_owned(), None),
                |error| (error.message.clone(), error.hint.clone()),
            );
            return Err(RpcError::new(REQUEST_FAILED, message).hint(hint));
        }
    };
    Ok(json!({"stopReason": reason, "_meta": {"cohab/usage": EventUsage::from(ended.usage)}}))
}

fn told(session: &str, update: &Value) -> Value {
    notification("session/update", &json!({"sessionId": session, "update": update}))
}

fn read<T: DeserializeOwned>(method: &str, params: Value) -> Result<T, RpcError> {
    let params = if params.is_null() { json!({}) } else { params };
    serde_json::from_value(params).map_err(|error| RpcError::new(INVALID_PARAMS, format!("`{method}`: {error}")))
}

fn is_absolute(cwd: &Path) -> Result<(), RpcError> {
    if cwd.is_absolute() {
        Ok(())
    } else {
        Err(RpcError::new(INVALID_PARAMS, format!("`cwd` must be an absolute path, not `{}`", cwd.display())))
    }
}

fn failed(message: String) -> RpcError {
    RpcError::new(REQUEST_FAILED, message)
}
