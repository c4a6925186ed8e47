//! The connection to one agent: requests and their answers, and what it sends on its own.
//!
//! A task reads its lines; what the turn has to know goes to the [`Inbox`], what needs no turn is answered at once. Another task writes.
//! When the process ends, everything that waits for it learns why.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cohab_model_api::ProviderErrorKind;
use serde_json::Value;
use tokio::{
    io::AsyncWriteExt as _,
    process::ChildStdin,
    sync::{Notify, mpsc, oneshot},
    time::timeout,
};

use crate::{
    desk::Desk,
    failure::{AgentFailure, shown},
    inbox::{AgentEvent, Inbox},
    lines::{LINE_MAX_BYTES, LineError, next_line},
    peer::Peer,
    process::{Pipes, Process, ProcessGroup},
    wire::{self, Incoming, PromptResponse, RpcError, SessionNotification},
};

/// Messages that wait until the agent reads them; one that reads none is ended.
const MAX_OUTGOING: usize = 512;
/// Lines in a row that are no messages, before an agent counts as broken.
const MAX_GARBAGE: u32 = 100;
/// Time for an agent to end its turn after it was told to.
const CANCEL_GRACE: Duration = Duration::from_millis(1500);

/// An agent that runs.
pub(crate) struct Link {
    /// Its name behind `@`.
    pub name: String,
    pub inbox: Inbox,
    pub desk: Desk,
    out: mpsc::Sender<Vec<u8>>,
    group: ProcessGroup,
    state: Mutex<LinkState>,
    /// Wakes those who wait for the end of a prompt.
    idle: Notify,
}

#[derive(Default)]
struct LinkState {
    next_id: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, RpcError>>>,
    /// The request of the running prompt.
    prompt: Option<u64>,
    /// The request of the last prompt, running or not.
    last_prompt: u64,
    /// The running prompt was cancelled: what comes of it is of no interest.
    is_cancelled: bool,
    /// Its own name of the conversation.
    session: String,
    /// Why it is gone.
    died: Option<AgentFailure>,
}

impl Peer for Link {
    /// Sends a message. An agent that does not read is ended.
    fn send(&self, message: &Value) {
        let mut line = message.to_string().into_bytes();
        line.push(b'\n');
        if let Err(mpsc::error::TrySendError::Full(_)) = self.out.try_send(line) {
            self.kill();
        }
    }

    fn inbox(&self) -> &Inbox {
        &self.inbox
    }
}

impl Link {
    /// Connects to a started process.
    pub(crate) fn over(name: &str, process: Process, pipes: Pipes, desk: Desk) -> Arc<Self> {
        let (out, outgoing) = mpsc::channel(MAX_OUTGOING);
        let link = Arc::new(Self {
            name: name.to_owned(),
            inbox: Inbox::default(),
            desk,
            out,
            group: process.group(),
            state: Mutex::default(),
            idle: Notify::new(),
        });
        tokio::spawn(write(pipes.stdin, outgoing));
        tokio::spawn(read(Arc::clone(&link), process, pipes.stdout));
        link
    }

    fn lock(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks for something and waits for the answer.
    ///
    /// # Errors
    /// The outer error: the agent is gone, or did not answer in time. The inner one is its own.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &Value,
        patience: Duration,
    ) -> Result<Result<Value, RpcError>, AgentFailure> {
        let (sender, answer) = oneshot::channel();
        let id = {
            let mut state = self.lock();
            if let Some(died) = &state.died {
                return Err(died.clone());
            }
            state.next_id += 1;
            let id = state.next_id;
            state.waiting.insert(id, sender);
            id
        };
        self.send(&wire::request(id, method, params));
        match timeout(patience, answer).await {
            Ok(Ok(answer)) => Ok(answer),
            Ok(Err(_)) => Err(self.died()),
            Err(_) => {
                self.lock().waiting.remove(&id);
                let message = format!("@{} did not answer `{method}` within {} s", self.name, patience.as_secs());
                Err(AgentFailure::new(ProviderErrorKind::Timeout, message))
            }
        }
    }

    /// Why the agent is gone.
    fn died(&self) -> AgentFailure {
        let gone = || AgentFailure::new(ProviderErrorKind::Network, format!("@{} is gone", self.name));
        self.lock().died.clone().unwrap_or_else(gone)
    }

    /// Whether its process is gone.
    pub(crate) fn is_dead(&self) -> bool {
        self.lock().died.is_some()
    }

    /// Remembers the agent's own name of the conversation.
    pub(crate) fn set_session(&self, session: &str) {
        session.clone_into(&mut self.lock().session);
    }

    /// The agent's own name of the conversation.
    pub(crate) fn session(&self) -> String {
        self.lock().session.clone()
    }

    /// Sends a prompt; its end comes as an event. Returns its number. What is left of an earlier prompt is dropped, its calls refused.
    pub(crate) fn prompt(&self, params: &Value) -> u64 {
        let mut state = self.lock();
        self.empty();
        state.next_id += 1;
        let id = state.next_id;
        state.last_prompt = id;
        if let Some(died) = &state.died {
            // Only calls find no room.
            let _ = self.inbox.push(AgentEvent::Died(died.clone()));
            return id;
        }
        state.prompt = Some(id);
        state.is_cancelled = false;
        self.desk.open();
        drop(state);
        self.send(&wire::request(id, "session/prompt", params));
        id
    }

    /// Refuses all calls, interrupts those that run, and drops what was not read.
    fn empty(&self) {
        self.desk.close(&self.inbox, &|message| self.send(&message));
        self.inbox.clear();
    }

    /// Waits until no prompt runs. False if that takes too long.
    pub(crate) async fn is_idle(&self) -> bool {
        let waiting = async {
            loop {
                let idle = self.idle.notified();
                if self.lock().prompt.is_none() {
                    return;
                }
                idle.await;
            }
        };
        timeout(CANCEL_GRACE, waiting).await.is_ok()
    }

    /// Whether a prompt runs that was not cancelled.
    pub(crate) fn is_prompted(&self) -> bool {
        let state = self.lock();
        state.prompt.is_some() && !state.is_cancelled
    }

    /// Cancels a prompt, without waiting: the agent is told, and ended if it does not stop soon. What the prompt left is dropped even
    /// if it ended. Does nothing to a later prompt.
    pub(crate) fn cancel(self: &Arc<Self>, prompt: u64) {
        {
            let mut state = self.lock();
            if state.last_prompt != prompt {
                return;
            }
            let is_running = state.prompt.is_some() && !state.is_cancelled && state.died.is_none();
            if is_running {
                state.is_cancelled = true;
                let params = serde_json::json!({"sessionId": state.session});
                self.send(&wire::notification("session/cancel", &params));
            }
            self.empty();
            if !is_running {
                return;
            }
        }
        let link = Arc::clone(self);
        // Without a runtime the daemon ends, and the agent with it.
        match tokio::runtime::Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(async move {
                if !link.is_idle().await {
                    link.kill();
                }
            })),
            Err(_) => self.kill(),
        }
    }

    /// Ends the agent and all that it started.
    pub(crate) fn kill(&self) {
        self.group.kill();
    }

    /// Takes one line. False if it is no message.
    fn take(&self, line: &[u8]) -> bool {
        let Ok(message) = serde_json::from_slice::<Incoming>(line) else { return false };
        match (message.method, message.id) {
            (Some(method), Some(id)) => self.desk.request(&method, message.params, &id, self),
            (Some(method), None) if method == "session/update" => self.update(message.params),
            (Some(_), None) => {}
            (None, Some(id)) => {
                let answer = message.error.map_or(Ok(message.result), Err);
                self.answered(&id, answer);
            }
            (None, None) => return false,
        }
        true
    }

    fn answered(&self, id: &Value, answer: Result<Value, RpcError>) {
        let Some(id) = id.as_u64() else { return };
        let mut state = self.lock();
        if state.prompt == Some(id) {
            state.prompt = None;
            if !state.is_cancelled {
                let ended = answer.and_then(|result| {
                    serde_json::from_value::<PromptResponse>(result).map_err(|error| RpcError {
                        code: wire::INTERNAL_ERROR,
                        message: format!("its answer is not one of the protocol: {error}"),
                        data: Value::Null,
                    })
                });
                self.desk.shut(&self.inbox, &|message| self.send(&message));
                // Only calls find no room.
                let _ = self.inbox.push(AgentEvent::Ended(ended));
            }
            drop(state);
            self.idle.notify_waiters();
        } else if let Some(waiting) = state.waiting.remove(&id) {
            // Nobody waits any more if this fails.
            let _ = waiting.send(answer);
        }
    }

    fn update(&self, params: Value) {
        let Ok(SessionNotification { session_id, update }) = serde_json::from_value(params) else { return };
        let event = self.desk.event_of(update);
        // Held until it is queued: nothing of an earlier prompt may come behind the next one.
        let state = self.lock();
        let is_wanted = state.prompt.is_some() && !state.is_cancelled;
        let is_ours = session_id.is_empty() || session_id == state.session;
        if let Some(event) = event.filter(|_| is_wanted && is_ours) {
            // Only calls find no room.
            let _ = self.inbox.push(event);
        }
    }

    fn ended(&self, failure: AgentFailure) {
        self.kill();
        let mut state = self.lock();
        let is_wanted = state.prompt.is_some() && !state.is_cancelled;
        state.prompt = None;
        state.died = Some(failure.clone());
        // Those who wait see that nobody answers.
        state.waiting.clear();
        self.desk.close(&self.inbox, &|_| {});
        if is_wanted {
            // Only calls find no room.
            let _ = self.inbox.push(AgentEvent::Died(failure));
        }
        drop(state);
        self.idle.notify_waiters();
    }
}

async fn write(mut stdin: ChildStdin, mut outgoing: mpsc::Receiver<Vec<u8>>) {
    while let Some(line) = outgoing.recv().await {
        // The reader notices that it is gone.
        if stdin.write_all(&line).await.is_err() || stdin.flush().await.is_err() {
            return;
        }
    }
}

async fn read(link: Arc<Link>, process: Process, mut stdout: impl tokio::io::AsyncBufRead + Unpin) {
    let (mut line, mut garbage) = (Vec::new(), 0);
    let cause = loop {
        link.inbox.room().await;
        match next_line(&mut stdout, &mut line, LINE_MAX_BYTES).await {
            Ok(()) if line.iter().all(u8::is_ascii_whitespace) => {}
            Ok(()) if link.take(&line) => garbage = 0,
            Ok(()) => {
                garbage += 1;
                let start = String::from_utf8_lossy(&line[..line.len().min(200)]).into_owned();
                tracing::debug!(agent = link.name, line = shown(&start), "an agent wrote no message");
                if garbage >= MAX_GARBAGE {
                    break Some(format!("what it writes is not the Agent Client Protocol: {}", shown(&start)));
                }
            }
            Err(LineError::TooLong) => {
                break Some(format!("it sent a message of more than {} MiB", LINE_MAX_BYTES / 1024 / 1024));
            }
            Err(LineError::Io(error)) => break Some(format!("its output cannot be read: {error}")),
            Err(LineError::Closed) => break None,
        }
    };
    if cause.is_some() {
        link.kill();
    }
    let end = process.end().await;
    let message = format!("@{} is gone: {}", link.name, cause.unwrap_or(end));
    let hint = "ask again: it is started afresh";
    link.ended(AgentFailure::new(ProviderErrorKind::Network, message).with_hint(hint));
}
