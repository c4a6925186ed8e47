//! Takes an agent's requests: answers those that need no turn, queues the others as calls, and hands out their results.
//!
//! Terminals are commands in the user's own shell: `terminal/create` is answered when its command may run, `terminal/kill` interrupts it.

use std::{
    collections::{HashMap, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use cohab_agent::{builtin_tools::output_of, port::StepResult};
use cohab_text::cut::tail;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{
    ask::{Ask, FilePlace, Reply, ToolAnswer, Wish, option_for},
    failure::shown,
    inbox::{AgentEvent, Inbox},
    known::Agent,
    own_calls::is_ours,
    peer::Peer,
    permission,
    shares::NONE_SHARED,
    shown_files::ShownFiles,
    wire::{
        self, CreateTerminal, OfTerminal, PermissionRequest, ReadFile, ToolCallFields, ToolKind, ToolStatus, Update,
        WriteFile,
    },
};

/// Most terminals of one prompt that were not released.
const MAX_TERMINALS: usize = 256;
/// Most tools of the agent that are watched at the same time.
const MAX_WATCHED: usize = 256;
/// Most ids that wait for the end of one terminal.
const MAX_WAITERS: usize = 64;
/// The reason that an agent gets for what it asks when no prompt runs.
const NO_TURN: &str = "no prompt is running";

/// What became of a call.
pub(crate) struct CallEnd {
    /// The result with all notes.
    pub content: String,
    /// The result without notes of cohab.
    pub text: String,
    pub outcome: StepResult,
    /// Exit status, where a command ran and ended.
    pub exit: Option<i32>,
    /// Whether `text` is exactly what the tool gave.
    pub is_exact: bool,
    /// Whether it was allowed to run.
    pub has_run: bool,
}

/// The desk of one agent.
pub(crate) struct Desk {
    agent: Agent,
    state: Mutex<DeskState>,
}

#[derive(Default)]
struct DeskState {
    is_open: bool,
    made: u64,
    /// Calls that the loop has.
    handed: HashMap<String, Reply>,
    /// What interrupts each call that is not over.
    tokens: HashMap<String, CancellationToken>,
    terminals: HashMap<String, Terminal>,
    /// The agent's own tools that run: their titles and kinds.
    own: HashMap<String, (String, ToolKind)>,
    shown_files: ShownFiles,
    /// Results of which each byte came from a file.
    exact: HashSet<u64>,
}

struct Terminal {
    call_id: String,
    limit: Option<usize>,
    end: Option<(String, Option<i32>)>,
    waiters: Vec<Value>,
}

impl Desk {
    pub(crate) fn new(agent: Agent) -> Self {
        Self { agent, state: Mutex::default() }
    }

    fn lock(&self) -> MutexGuard<'_, DeskState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A prompt begins. What an earlier one left was refused when the desk closed.
    pub(crate) fn open(&self) {
        let mut state = self.lock();
        state.is_open = true;
        state.terminals.clear();
        state.own.clear();
        state.exact.clear();
    }

    /// The agent ended its prompt: calls that the loop does not have are refused, those that it has run to their ends.
    pub(crate) fn shut(&self, inbox: &Inbox, send: &dyn Fn(Value)) {
        self.lock().is_open = false;
        for ask in inbox.withdraw_all() {
            self.drop_call(&ask.call_id);
            refuse(ask.reply, self.closed(), true, send);
        }
    }

    /// The prompt is over: everything that waits is refused, what runs is interrupted.
    pub(crate) fn close(&self, inbox: &Inbox, send: &dyn Fn(Value)) {
        let (handed, terminals, tokens) = {
            let mut state = self.lock();
            state.is_open = false;
            let taken = &mut *state;
            (std::mem::take(&mut taken.handed), std::mem::take(&mut taken.terminals), std::mem::take(&mut taken.tokens))
        };
        tokens.values().for_each(CancellationToken::cancel);
        for terminal in terminals.into_values() {
            terminal.waiters.iter().for_each(|id| send(wire::error(id, wire::INTERNAL_ERROR, "cancelled")));
        }
        handed
            .into_values()
            .chain(inbox.withdraw_all().into_iter().map(|ask| ask.reply))
            .for_each(|reply| refuse(reply, "cancelled", true, send));
    }

    /// Forgets a call that does not run.
    fn drop_call(&self, call_id: &str) {
        let mut state = self.lock();
        state.tokens.remove(call_id);
        state.terminals.retain(|_, terminal| terminal.call_id != call_id);
    }

    /// A new id for a call.
    pub(crate) fn call_id(&self) -> String {
        let mut state = self.lock();
        state.made += 1;
        format!("{}-{}-{}", self.agent.name, uuid::Uuid::new_v4().simple(), state.made)
    }

    /// Takes a request of the agent.
    pub(crate) fn request(&self, method: &str, params: Value, id: &Value, peer: &dyn Peer) {
        if !wire::is_short_id(id) {
            // Its id is not repeated: it may be long.
            return peer.send(&wire::error(&Value::Null, wire::INVALID_REQUEST, wire::WRONG_ID));
        }
        let answer = match method {
            "terminal/create" => parsed(params).and_then(|request| self.create(request, id, peer)),
            "terminal/output" => {
                parsed(params).and_then(|OfTerminal { terminal_id }| self.output(&terminal_id).map(Some))
            }
            "terminal/wait_for_exit" => {
                parsed(params).and_then(|OfTerminal { terminal_id }| self.wait(&terminal_id, id))
            }
            "terminal/kill" => {
                parsed(params).and_then(|OfTerminal { terminal_id }| self.kill(&terminal_id, false).map(Some))
            }
            "terminal/release" => {
                parsed(params).and_then(|OfTerminal { terminal_id }| self.kill(&terminal_id, true).map(Some))
            }
            "fs/read_text_file" => parsed(params).and_then(|ReadFile { path, line, limit }| {
                let is_whole = line.is_none_or(|line| line <= 1) && limit.is_none();
                let place = FilePlace { is_whole, ..FilePlace::default() };
                let reply = Reply::Text { request: id.clone(), place };
                self.queue(Wish::Read { path, line, limit }, reply, peer)
            }),
            "fs/write_text_file" => parsed(params).and_then(|WriteFile { path, content }| {
                self.queue(Wish::Write { path, content }, Reply::Written { request: id.clone() }, peer)
            }),
            "session/request_permission" => parsed(params).and_then(|request| self.permit(request, id, peer)),
            _ => Err((wire::METHOD_NOT_FOUND, format!("cohab has no method `{}`", shown(method)))),
        };
        match answer {
            Ok(Some(result)) => peer.send(&wire::response(id, &result)),
            // It is answered later.
            Ok(None) => {}
            Err((code, message)) => peer.send(&wire::error(id, code, &message)),
        }
    }

    fn create(&self, request: CreateTerminal, id: &Value, peer: &dyn Peer) -> DeskResult {
        let call_id = self.call_id();
        let terminal = format!("terminal-{call_id}");
        {
            let mut state = self.lock();
            if state.terminals.len() >= MAX_TERMINALS {
                return Err((wire::INTERNAL_ERROR, format!("there are {MAX_TERMINALS} terminals; release some")));
            }
            let made =
                Terminal { call_id: call_id.clone(), limit: request.output_byte_limit, end: None, waiters: Vec::new() };
            state.terminals.insert(terminal.clone(), made);
        }
        let reply = Reply::Terminal { request: id.clone(), terminal: terminal.clone() };
        let queued = self.queue_as(call_id, Wish::Terminal(request), reply, peer);
        if queued.is_err() {
            self.lock().terminals.remove(&terminal);
        }
        queued
    }

    fn output(&self, terminal: &str) -> Result<Value, Fault> {
        let state = self.lock();
        let Terminal { limit, end, .. } = state.terminals.get(terminal).ok_or_else(no_terminal)?;
        Ok(match end {
            None => json!({"output": "", "truncated": false}),
            Some((output, exit)) => {
                let kept = limit.map_or(output.as_str(), |limit| tail(output, limit));
                json!({"output": kept, "truncated": kept.len() < output.len(), "exitStatus": {"exitCode": exit}})
            }
        })
    }

    fn wait(&self, terminal: &str, id: &Value) -> DeskResult {
        let mut state = self.lock();
        let terminal = state.terminals.get_mut(terminal).ok_or_else(no_terminal)?;
        match &terminal.end {
            Some((_, exit)) => Ok(Some(json!({"exitCode": exit}))),
            None if terminal.waiters.len() >= MAX_WAITERS => {
                Err((wire::INTERNAL_ERROR, "too many requests wait".into()))
            }
            None => {
                terminal.waiters.push(id.clone());
                Ok(None)
            }
        }
    }

    /// Interrupts the command of a terminal, and forgets the terminal if it is released.
    fn kill(&self, terminal: &str, is_released: bool) -> Result<Value, Fault> {
        let mut state = self.lock();
        let found = state.terminals.get(terminal).ok_or_else(no_terminal)?;
        let (call_id, has_ended) = (found.call_id.clone(), found.end.is_some());
        if let Some(token) = state.tokens.get(&call_id) {
            token.cancel();
        }
        if is_released && has_ended {
            state.terminals.remove(terminal);
        }
        Ok(json!({}))
    }

    fn permit(&self, request: PermissionRequest, id: &Value, peer: &dyn Peer) -> DeskResult {
        let PermissionRequest { tool_call, options } = request;
        if is_ours(&self.agent.marks, &tool_call) {
            // The call itself comes to the loop, which judges it.
            return Ok(Some(chosen(option_for(&options, true))));
        }
        let (action, details) = permission::described(&tool_call);
        self.queue(Wish::Permit { action, details }, Reply::Permission { request: id.clone(), options }, peer)
    }

    fn queue(&self, wish: Wish, reply: Reply, peer: &dyn Peer) -> DeskResult {
        self.queue_as(self.call_id(), wish, reply, peer)
    }

    fn queue_as(&self, call_id: String, wish: Wish, reply: Reply, peer: &dyn Peer) -> DeskResult {
        self.push(Ask { call_id, wish, reply }, peer)
            .map_err(|(_, reason)| (wire::INTERNAL_ERROR, reason.to_owned()))?;
        Ok(None)
    }

    /// Why nothing is taken.
    fn closed(&self) -> &'static str {
        if self.agent.is_host { NONE_SHARED } else { NO_TURN }
    }

    /// Queues a call.
    ///
    /// # Errors
    /// The call, and why it is refused.
    pub(crate) fn push(&self, ask: Ask, peer: &dyn Peer) -> Result<(), (Box<Ask>, &'static str)> {
        // Held until it is queued: no call may come behind the end of the prompt.
        let mut state = self.lock();
        if !state.is_open {
            return Err((Box::new(ask), self.closed()));
        }
        let call_id = ask.call_id.clone();
        peer.inbox().push(AgentEvent::Ask(Box::new(ask))).map_err(|ask| (ask, "too many requests wait"))?;
        state.tokens.insert(call_id, CancellationToken::new());
        Ok(())
    }

    /// The agent wants no result of this call any more: it is taken out of the queue, or interrupted.
    pub(crate) fn give_up(&self, call_id: &str, peer: &dyn Peer) {
        if peer.inbox().withdraw(call_id).is_some() {
            self.lock().tokens.remove(call_id);
        } else if let Some(token) = self.lock().tokens.get(call_id) {
            token.cancel();
        }
    }

    /// A call that was taken out of the queue and does not reach the loop: it is answered with the reason.
    pub(crate) fn turn_down(&self, call_id: &str, reason: &str, send: &dyn Fn(Value)) {
        let reply = self.lock().handed.remove(call_id);
        self.drop_call(call_id);
        reply.into_iter().for_each(|reply| refuse(reply, reason, false, send));
    }

    /// This call was taken out of the queue; from now on the desk holds the place of its answer.
    pub(crate) fn handed(&self, call_id: &str, reply: Reply) {
        self.lock().handed.insert(call_id.to_owned(), reply);
    }

    /// Notes which file a call reads.
    pub(crate) fn note_place(&self, call_id: &str, path: &Path) {
        if let Some(Reply::Text { place, .. }) = self.lock().handed.get_mut(call_id) {
            path.clone_into(&mut place.path);
        }
    }

    /// Whether the agent was shown this file with parts left out.
    pub(crate) fn has_gaps(&self, path: &Path) -> bool {
        self.lock().shown_files.has_gaps(path)
    }

    /// The command of this call may run: the agent learns the name of its terminal. Returns what interrupts it.
    pub(crate) fn runs(&self, call_id: &str, send: &dyn Fn(Value)) -> CancellationToken {
        let state = self.lock();
        if let Some(Reply::Terminal { request, terminal }) = state.handed.get(call_id) {
            send(wire::response(request, &json!({"terminalId": terminal})));
        }
        state.tokens.get(call_id).cloned().unwrap_or_default()
    }

    /// Notes a text of which each byte came from a file.
    pub(crate) fn note_exact(&self, text: &str) {
        self.lock().exact.insert(hash_of(text));
    }

    /// Whether each byte of the text came from a file.
    pub(crate) fn is_exact(&self, text: &str) -> bool {
        self.lock().exact.contains(&hash_of(text))
    }

    /// Hands out the result of a call.
    pub(crate) fn ended(&self, call_id: &str, end: CallEnd, send: &dyn Fn(Value)) {
        let reply = {
            let mut state = self.lock();
            state.tokens.remove(call_id);
            state.handed.remove(call_id)
        };
        let Some(reply) = reply else { return };
        let is_error = matches!(end.outcome, StepResult::Refused | StepResult::Cancelled)
            || (end.outcome == StepResult::Failed && end.exit.is_none());
        match reply {
            Reply::Terminal { terminal, .. } if end.has_run => self.terminal_ended(&terminal, end, send),
            Reply::Terminal { ref terminal, .. } => {
                self.lock().terminals.remove(terminal);
                refuse(reply, &end.content, false, send);
            }
            Reply::Text { ref request, ref place } if !is_error => {
                self.lock().shown_files.note(&place.path, end.is_exact, place.is_whole);
                send(wire::response(request, &json!({"content": end.text})));
            }
            Reply::Written { ref request } if !is_error => send(wire::response(request, &json!({}))),
            Reply::Permission { ref request, ref options } if end.outcome != StepResult::Cancelled => {
                let result = chosen(option_for(options, end.outcome == StepResult::Done));
                send(wire::response(request, &result));
            }
            Reply::Tool(sender) => {
                // Nobody waits any more if this fails.
                let _ = sender.send(ToolAnswer { text: end.content, is_error });
            }
            reply => refuse(reply, &end.content, end.outcome == StepResult::Cancelled, send),
        }
    }

    fn terminal_ended(&self, terminal: &str, end: CallEnd, send: &dyn Fn(Value)) {
        let mut state = self.lock();
        let Some(terminal) = state.terminals.get_mut(terminal) else { return };
        let waiters = std::mem::take(&mut terminal.waiters);
        waiters.iter().for_each(|id| send(wire::response(id, &json!({"exitCode": end.exit}))));
        // Without a status the last line of the result says why there is none.
        let output = if end.exit.is_some() { output_of(&end.text).to_owned() } else { end.text };
        terminal.end = Some((output, end.exit));
    }

    /// What the turn learns of an update.
    pub(crate) fn event_of(&self, update: Update) -> Option<AgentEvent> {
        let text = |text: Option<String>| text.filter(|text| !text.is_empty());
        match update {
            Update::AgentMessageChunk { content } => text(content.into_text()).map(AgentEvent::Text),
            Update::AgentThoughtChunk { content } => text(content.into_text()).map(AgentEvent::Thought),
            Update::ToolBegins(fields) | Update::ToolContinues(fields) => self.own_tool(fields).map(AgentEvent::Notice),
            Update::Other => None,
        }
    }

    /// A sentence on a tool of the agent's own that changed something: cohab had no part in it.
    fn own_tool(&self, fields: ToolCallFields) -> Option<String> {
        let mut state = self.lock();
        let is_ours = is_ours(&self.agent.marks, &fields);
        let shows_terminal = fields.content.iter().flatten().any(|content| content["type"] == "terminal");
        if is_ours || shows_terminal {
            state.own.remove(&fields.tool_call_id);
            return None;
        }
        let known = state.own.remove(&fields.tool_call_id);
        let (title, kind) = known.unwrap_or_else(|| (String::new(), ToolKind::Other));
        let (title, kind) = (fields.title.map_or(title, |title| shown(&title)), fields.kind.unwrap_or(kind));
        match fields.status {
            Some(ToolStatus::Completed) => {}
            Some(ToolStatus::Failed) => return None,
            _ => {
                if state.own.len() < MAX_WATCHED && fields.tool_call_id.len() <= wire::ID_MAX_BYTES {
                    state.own.insert(fields.tool_call_id, (title, kind));
                }
                return None;
            }
        }
        let what = match kind {
            ToolKind::Edit | ToolKind::Delete | ToolKind::Move => "changed files itself",
            ToolKind::Execute => "ran a command itself, outside of your shell",
            ToolKind::Fetch => "fetched from the network itself",
            ToolKind::Read | ToolKind::Search | ToolKind::Think | ToolKind::SwitchMode | ToolKind::Other => {
                return None;
            }
        };
        Some(format!("@{} {what}: {title}", self.agent.name))
    }
}

/// The error of a request: its code and a sentence.
type Fault = (i64, String);
/// An answer, or none yet.
type DeskResult = Result<Option<Value>, Fault>;

fn no_terminal() -> Fault {
    (wire::INVALID_PARAMS, "there is no such terminal".to_owned())
}

fn parsed<T: DeserializeOwned>(params: Value) -> Result<T, Fault> {
    serde_json::from_value(params).map_err(|error| (wire::INVALID_PARAMS, shown(&error.to_string())))
}

fn chosen(option: Option<&str>) -> Value {
    match option {
        Some(option) => json!({"outcome": {"outcome": "selected", "optionId": option}}),
        None => json!({"outcome": {"outcome": "cancelled"}}),
    }
}

/// Answers a request whose call did not run.
pub(crate) fn refuse(reply: Reply, reason: &str, is_cancelled: bool, send: &dyn Fn(Value)) {
    match reply {
        Reply::Terminal { request, .. } | Reply::Text { request, .. } | Reply::Written { request } => {
            send(wire::error(&request, wire::INTERNAL_ERROR, reason));
        }
        Reply::Permission { request, options } => {
            let option = option_for(&options, false).filter(|_| !is_cancelled);
            send(wire::response(&request, &chosen(option)));
        }
        Reply::Tool(sender) => {
            // Nobody waits any more if this fails.
            let _ = sender.send(ToolAnswer { text: reason.to_owned(), is_error: true });
        }
        #[cfg(test)]
        Reply::None => {}
    }
}

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
#[path = "desk_tests.rs"]
mod tests;
