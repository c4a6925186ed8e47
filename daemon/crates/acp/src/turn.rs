//! One turn of an agent: the model of the loop, and an observer that learns what became of its calls.
//!
//! The agent's requests end the model's answer with tool calls; the loop judges, asks, runs and records them as those of any model. The
//! next request of the loop brings their results, and the answer goes on.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{Fact, TurnObserver, builtin_tools::LIVE, port::StepResult, runner::CommandRunner, state::NOTE_MARK};
use cohab_model_api::{
    Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, ModelService, ProviderErrorKind, Secrets, StopClass,
    TokenUsage, ToolCall, ToolResult,
};
use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use serde_json::{Value, json};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    ask::{Ask, Wish},
    desk::CallEnd,
    failure::{AgentFailure, refused},
    inbox::AgentEvent,
    link::Link,
    peer::Peer as _,
    pool::{AgentPool, Start},
    runner::{AgentRunner, RunningCall},
    shell_line::line_of,
    shown_files::real_path,
    start::AgentStart,
    tool_names::{ACTION, INFO, READ_TEXT, WRITE},
    wire::{PromptResponse, StopReason},
};

/// Name of the wire in [`ModelInfo`].
pub const WIRE: &str = "acp";
/// An agent that sends nothing for this long has stopped working.
const SILENCE: Duration = Duration::from_secs(600);
/// Most calls while a shell is shared.
const MAX_CALLS_ELSEWHERE: usize = 1_000;
/// Behind a question whose first attempt an earlier daemon did not finish.
const INTERRUPTED: &str = "(An earlier attempt at this was interrupted: look first at what is done.)";
/// Stands for the context of an agent, which is its own matter.
const WINDOW_TOKENS: u64 = 1_000_000;
/// The reason that an agent gets once the turn has used up its steps.
const NO_STEPS: &str = "cohab's limit of steps for one question is reached: say what is done and what is left";
/// The reason that an agent gets for a file that it does not know in full.
const HAS_GAPS: &str = "cohab showed this file with parts left out (secrets, control characters, or its length): writing it whole \
    would lose them. Change it with a command instead";

/// What an agent works with in one turn.
pub struct AgentTurnParts {
    /// The agent, and how it is started.
    pub start: AgentStart,
    /// Taken out of all that the agent gets.
    pub secrets: Arc<Secrets>,
    /// The running agents.
    pub pool: Arc<AgentPool>,
    /// Called before each prompt: from then on the agent reads what cohab does not see.
    pub before_prompt: Box<dyn Fn() + Send + Sync>,
}

/// One turn of an agent.
pub struct AgentTurn {
    parts: AgentTurnParts,
    state: Mutex<AgentTurnState>,
    call: Arc<RunningCall>,
}

#[derive(Default)]
struct AgentTurnState {
    link: Option<Arc<Link>>,
    /// The prompt whose end was not read yet, whether or not the agent ended it.
    prompt: Option<u64>,
    /// Calls that were allowed.
    allowed: HashSet<String>,
    outcomes: HashMap<String, StepResult>,
    /// What the user added while a prompt ran.
    more: VecDeque<String>,
    /// Calls of programs that a shell is shared with.
    calls_elsewhere: usize,
}

impl AgentTurn {
    /// A turn of an agent.
    #[must_use]
    pub fn new(parts: AgentTurnParts) -> Arc<Self> {
        Arc::new(Self { parts, state: Mutex::default(), call: Arc::default() })
    }

    /// The agent's name behind `@`.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.parts.start.agent.name
    }

    fn lock(&self) -> MutexGuard<'_, AgentTurnState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn link(&self) -> Option<Arc<Link>> {
        self.lock().link.clone()
    }

    /// The same runner, whose commands the agent can interrupt.
    #[must_use]
    pub fn runner(&self, inner: Arc<dyn CommandRunner>) -> Arc<dyn CommandRunner> {
        Arc::new(AgentRunner { inner, call: Arc::clone(&self.call) })
    }

    /// The model of the loop.
    #[must_use]
    pub fn model(self: &Arc<Self>) -> Arc<dyn ModelProvider> {
        Arc::new(AgentModel(Arc::clone(self)))
    }

    /// Notes what a tool read, so that the agent's copy is known to be exact.
    pub fn note_exact(&self, text: &str) {
        self.link().into_iter().for_each(|link| link.desk.note_exact(text));
    }

    /// Stops what the agent does for this turn.
    fn stop(&self) {
        let (link, prompt) = {
            let mut state = self.lock();
            (state.link.clone(), state.prompt.take())
        };
        if let (Some(link), Some(prompt)) = (link, prompt) {
            link.cancel(prompt);
        }
    }

    /// The agent, if the end of a prompt is still to be read.
    fn prompted(&self) -> Option<Arc<Link>> {
        let state = self.lock();
        state.link.clone().filter(|_| state.prompt.is_some())
    }

    /// Starts the agent if it does not run. Returns sentences for the user.
    async fn connect(&self) -> Result<(Arc<Link>, Start), AgentFailure> {
        let is_first = self.link().is_none();
        let (link, start) = self.parts.pool.connect(&self.parts.start, is_first).await?;
        self.lock().link = Some(Arc::clone(&link));
        Ok((link, start))
    }

    fn prompt(&self, link: &Link, text: &str) {
        let prompt = link.prompt(&json!({"sessionId": link.session(), "prompt": [{"type": "text", "text": text}]}));
        self.lock().prompt = Some(prompt);
    }

    /// Hands out the results of the calls that the loop ran.
    fn hand_out(&self, link: &Link, results: &[ToolResult]) {
        for result in results {
            let (outcome, exit, has_run) = {
                let mut state = self.lock();
                let usual = if result.is_error { StepResult::Failed } else { StepResult::Done };
                let outcome = state.outcomes.remove(&result.call_id).unwrap_or(usual);
                (outcome, self.call.take_exit(&result.call_id), state.allowed.remove(&result.call_id))
            };
            let text = result.content.split(NOTE_MARK).next().unwrap_or_default();
            let is_exact = link.desk.is_exact(text);
            let content = result.content.replace(NOTE_MARK, "\n\n");
            let end = CallEnd { content, text: text.to_owned(), outcome, exit, is_exact, has_run };
            link.desk.ended(&result.call_id, end, &|message| link.send(&message));
        }
    }

    /// Looks which file a call is about. Returns why it may not be written.
    async fn refusal(&self, link: &Link, call_id: &str, wish: &Wish) -> Option<&'static str> {
        let (Wish::Read { path, .. } | Wish::Write { path, .. }) = wish else { return None };
        let (given, cwd, home) = (path.clone(), (self.parts.start.cwd)(), self.parts.pool.home().to_owned());
        // The tool itself refuses a path that leads nowhere.
        let path = spawn_blocking(move || real_path(&given, &cwd, &home)).await.ok()?;
        link.desk.note_place(call_id, &path);
        (matches!(wish, Wish::Write { .. }) && link.desk.has_gaps(&path)).then_some(HAS_GAPS)
    }

    /// The call of the loop for what the agent wants.
    fn call_for(&self, call_id: &str, wish: &Wish) -> Result<ToolCall, String> {
        let (name, args) = match wish {
            Wish::Terminal(request) => {
                let line = line_of(request, self.parts.start.shell, &(self.parts.start.cwd)())?;
                (LIVE, json!({"command": line}))
            }
            Wish::Run { command, timeout_ms: None } => (LIVE, json!({"command": command})),
            Wish::Run { command, timeout_ms: Some(limit) } => (LIVE, json!({"command": command, "timeout_ms": limit})),
            Wish::Read { path, line, limit } => {
                let mut args = json!({"path": path});
                let given = [("offset", line), ("limit", limit)];
                for (name, number) in given.iter().filter_map(|(name, number)| Some((name, (**number)?))) {
                    args[*name] = number.max(1).into();
                }
                (READ_TEXT, args)
            }
            Wish::Write { path, content } => (WRITE, json!({"path": path, "content": content})),
            Wish::Permit { action, details } => (ACTION, json!({"action": action, "details": details})),
            Wish::Look(args) => (INFO, args.clone()),
        };
        let Value::Object(args) = args else { return Err("the arguments are not an object".into()) };
        Ok(ToolCall { id: call_id.to_owned(), name: name.to_owned(), args: Ok(args.into()) })
    }
}

impl Drop for AgentTurn {
    fn drop(&mut self) {
        self.stop();
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(link) = state.link.take() {
            self.parts.pool.rest(&self.parts.start, &link);
        }
    }
}

#[async_trait]
impl TurnObserver for AgentTurn {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            // It stands behind the gate: nothing denied the call.
            Fact::CallReached(planned) if planned.step.is_some() => {
                let Some(link) = self.link() else { return };
                let token = link.desk.runs(&planned.call_id, &|message| link.send(&message));
                self.call.set(&planned.call_id, token);
                self.lock().allowed.insert(planned.call_id.clone());
            }
            Fact::CallEnded(call, outcome, _) => {
                self.lock().outcomes.insert(call.id.clone(), outcome);
            }
            Fact::TurnEnded(..) => self.stop(),
            _ => {}
        }
    }
}

/// An agent in the place of a model.
struct AgentModel(Arc<AgentTurn>);

impl ModelProvider for AgentModel {
    fn info(&self) -> ModelInfo {
        let name = self.0.parts.start.agent.name.clone();
        let origin = format!("the question begins with @{name}");
        ModelInfo { wire: WIRE.to_owned(), model: name, origin, is_offline: false }
    }

    fn service(&self) -> ModelService {
        // The agent keeps the conversation itself: nothing of what it gets is to be cut.
        ModelService {
            host: WIRE.to_owned(),
            context_window_tokens: Some(WINDOW_TOKENS),
            is_host: self.0.parts.start.agent.is_host,
            ..ModelService::default()
        }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let answer = AgentAnswer {
            turn: Arc::clone(&self.0),
            allow_tools: request.allow_tools,
            request: Some(request),
            events: VecDeque::new(),
            has_text: false,
            is_over: false,
        };
        stream::unfold(answer, async |mut answer| answer.next().await.map(|event| (event, answer))).boxed()
    }
}

/// One answer to the loop; dropping it before its end cancels the prompt.
struct AgentAnswer {
    turn: Arc<AgentTurn>,
    request: Option<ModelRequest>,
    allow_tools: bool,
    events: VecDeque<ModelEvent>,
    has_text: bool,
    is_over: bool,
}

impl Drop for AgentAnswer {
    fn drop(&mut self) {
        if !self.is_over {
            self.turn.stop();
        }
    }
}

impl AgentAnswer {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.events.pop_front() {
                let is_last =
                    matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. });
                self.is_over |= is_last;
                return Some(event);
            }
            if self.is_over {
                return None;
            }
            match self.request.take() {
                Some(request) => self.begin(request).await,
                None => self.read().await,
            }
        }
    }

    /// Says that the agent did not get what the user added, if there is something.
    fn drop_added_words(&mut self, name: &str) {
        let words = std::mem::take(&mut self.turn.lock().more);
        if !words.is_empty() {
            let notice = format!("@{name} stopped before it saw what you added; ask again with it.");
            self.events.push_back(ModelEvent::Notice(notice));
        }
    }

    fn fail(&mut self, failure: AgentFailure) {
        self.turn.stop();
        let name = self.turn.parts.start.agent.name.clone();
        self.drop_added_words(&name);
        self.events.push_back(ModelEvent::Failed(failure.into()));
    }

    /// Sends a prompt, or the results that the agent waits for.
    async fn begin(&mut self, request: ModelRequest) {
        let secrets = Arc::clone(&self.turn.parts.secrets);
        let is_running = self.turn.prompted().is_some();
        let news = spawn_blocking(move || {
            let request = ModelRequest { messages: news(&request.messages, is_running), ..request };
            secrets.scrubbed(request).into_inner().messages
        });
        let Ok(news) = news.await else {
            return self.fail(AgentFailure::new(
                ProviderErrorKind::InvalidRequest,
                "nothing was sent: the search for secrets failed",
            ));
        };
        let (mut results, mut words) = (Vec::new(), Vec::new());
        for message in news {
            match message {
                Message::User { text, .. } => words.push(text),
                Message::ToolResults(more) => results.extend(more),
                Message::Assistant(_) => {}
            }
        }
        if let Some(link) = self.turn.prompted() {
            self.turn.hand_out(&link, &results);
            if self.turn.parts.start.agent.is_host {
                return self.count_elsewhere(results.len());
            }
            self.turn.lock().more.extend(words);
            return;
        }
        match self.turn.connect().await {
            Ok((link, Start { notices, preface })) => {
                (self.turn.parts.before_prompt)();
                self.events.extend(notices.into_iter().map(ModelEvent::Notice));
                let text = preface.into_iter().chain(words).collect::<Vec<_>>().join("\n\n");
                self.turn.prompt(&link, &text);
            }
            Err(failure) => self.fail(failure),
        }
    }

    /// Counts calls of programs elsewhere. A turn that holds many is ended: each call takes longer, the more are behind it.
    fn count_elsewhere(&mut self, calls: usize) {
        let all = {
            let mut state = self.turn.lock();
            state.calls_elsewhere += calls;
            state.calls_elsewhere
        };
        if all >= MAX_CALLS_ELSEWHERE {
            self.turn.stop();
            let text = format!("This shell is no longer shared: it was used {all} times. `? /share` shares it again.");
            self.events.push_back(ModelEvent::TextDelta(text));
            self.events.push_back(ModelEvent::Stop { class: StopClass::End, provider_data: None });
        }
    }

    /// Waits for what the agent sends.
    async fn read(&mut self) {
        let Some(link) = self.turn.link() else {
            return self.fail(AgentFailure::new(ProviderErrorKind::Protocol, "the agent is not connected"));
        };
        let patience = if self.turn.parts.start.agent.is_host { Duration::MAX } else { SILENCE };
        let Ok(event) = timeout(patience, link.inbox.next()).await else {
            let message = format!("@{} sent nothing for {} minutes", link.name, SILENCE.as_secs() / 60);
            return self.fail(AgentFailure::new(ProviderErrorKind::Timeout, message));
        };
        if matches!(event, AgentEvent::Ended(_) | AgentEvent::Died(_)) {
            self.turn.lock().prompt = None;
        }
        match event {
            AgentEvent::Text(text) => {
                self.has_text |= !text.trim().is_empty();
                self.events.push_back(ModelEvent::TextDelta(text));
            }
            AgentEvent::Thought(text) => self.events.push_back(ModelEvent::ReasoningDelta(text)),
            AgentEvent::Notice(text) => self.events.push_back(ModelEvent::Notice(text)),
            AgentEvent::Ask(ask) => self.call(&link, *ask).await,
            AgentEvent::Ended(Ok(response)) => self.ended(&link, response),
            AgentEvent::Ended(Err(error)) => {
                let failure = refused(&self.turn.parts.start.agent, &error);
                self.fail(failure);
            }
            AgentEvent::Died(failure) => self.fail(failure),
        }
    }

    /// Ends the answer with the calls that wait.
    async fn call(&mut self, link: &Link, first: Ask) {
        let mut calls = Vec::new();
        let mut next = Some(first);
        while let Some(Ask { call_id, wish, reply }) = next {
            // The desk has the answer's place from here on: this may be dropped while it waits for the disk.
            link.desk.handed(&call_id, reply);
            let call = match self.turn.refusal(link, &call_id, &wish).await {
                _ if !self.allow_tools => Err(NO_STEPS.to_owned()),
                Some(reason) => Err(reason.to_owned()),
                None => self.turn.call_for(&call_id, &wish),
            };
            match call {
                Ok(call) => calls.push(ModelEvent::ToolCallDone(call)),
                Err(reason) => link.desk.turn_down(&call_id, &reason, &|message| link.send(&message)),
            }
            next = link.inbox.next_ask();
        }
        if !calls.is_empty() {
            self.events.extend(calls);
            self.events.push_back(ModelEvent::Stop { class: StopClass::Tool, provider_data: None });
        }
    }

    fn ended(&mut self, link: &Link, response: PromptResponse) {
        if response.stop_reason == StopReason::EndTurn {
            let next = self.turn.lock().more.pop_front();
            if let Some(words) = next {
                return self.turn.prompt(link, &words);
            }
        }
        self.drop_added_words(&link.name);
        if let Some(usage) = response.usage {
            self.events.push_back(ModelEvent::Usage(TokenUsage {
                input: usage.input_tokens,
                output: usage.output_tokens,
                cache_read: usage.cached_read_tokens,
                cache_write: usage.cached_write_tokens,
                reasoning: usage.thought_tokens,
                ..TokenUsage::default()
            }));
        }
        let class = match response.stop_reason {
            StopReason::EndTurn | StopReason::Other => StopClass::End,
            StopReason::MaxTokens | StopReason::MaxTurnRequests => StopClass::Length,
            StopReason::Refusal => StopClass::Refusal,
            StopReason::Cancelled => {
                let reason = format!("@{} stopped on its own", link.name);
                return self.events.push_back(ModelEvent::Incomplete { reason });
            }
        };
        if !self.has_text && class == StopClass::End {
            self.events.push_back(ModelEvent::TextDelta(format!("(@{} ended without a word.)", link.name)));
        }
        self.events.push_back(ModelEvent::Stop { class, provider_data: None });
    }
}

/// What the agent does not know yet: the results behind the last answer, and the user's words behind it. An agent that is started for a
/// turn of an earlier daemon gets the question again.
fn news(messages: &[Message], is_running: bool) -> Vec<Message> {
    let last_answer = messages.iter().rposition(|message| matches!(message, Message::Assistant(_)));
    let mut news = messages[last_answer.map_or(0, |index| index + 1)..].to_vec();
    if !is_running && !news.iter().any(|message| matches!(message, Message::User { .. })) {
        let asked = messages.iter().rev().find_map(|message| match message {
            Message::User { text, .. } => Some(format!("{text}\n\n{INTERRUPTED}")),
            _ => None,
        });
        news.extend(asked.map(Message::user));
    }
    news
}
