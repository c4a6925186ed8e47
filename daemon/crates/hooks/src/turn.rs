//! The hooks around one turn: [`TurnHooks`] guards its question and its calls, and reports what happened.
//!
//! It stands outside of the gate: what a hook has nothing against is judged like any other call.

use std::{
    collections::{BTreeMap, HashMap},
    ops::ControlFlow,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{
    BeforeStop, Denial, Fact, Middleware, PlannedCall, StopReason, TurnError, TurnObserver, TurnResult, TurnState,
    plan::StepKind,
    port::{StepResult, Tool},
};
use cohab_model_api::{JsonObject, Message, ToolResult};
use tokio_util::sync::CancellationToken;

use crate::{
    event::HookEvent,
    hook_set::{HookOutcome, HookSet, Moment, Spoken},
    input::{Occasion, ToolUse},
    output::Objection,
    sessions::KnownSessions,
    tool_names::own_arguments,
};

/// How often hooks may have the model continue at the end of a turn.
const MAX_CONTINUED: u32 = 2;
/// The result of calls for which there is no time any more.
const STOPPED: &str = "not run: a hook of the user stopped the turn";
/// Advice for the user.
const HINT: &str = "`cohab hooks` lists your hooks";

/// Hears what hooks did.
#[async_trait]
pub trait HookReport: Send + Sync {
    /// The user should know this.
    async fn notice(&self, text: String);

    /// A hook kept something from happening. `tool` is empty if that was no call.
    fn blocked(&self, event: HookEvent, tool: &str, by: &Spoken);

    /// The model may read what this line printed in this folder.
    fn spoke(&self, command: &str, cwd: &Path);
}

/// The turn that hooks run around.
pub struct HookedTurn {
    /// Name of the session that the turn belongs to in the end.
    pub session: String,
    /// The user's words; `None` if no user asked.
    pub question: Option<String>,
    /// The kind of the subagent whose turn it is.
    pub subagent: Option<String>,
    /// Whether nothing of the turn may be kept: then only hooks that guard run.
    pub is_private: bool,
    /// Ends the turn.
    pub cancel: CancellationToken,
    /// When and where a hook runs that starts now.
    pub moment: Box<dyn Fn() -> Moment + Send + Sync>,
}

/// The hooks around a turn.
pub struct TurnHooks {
    set: Arc<HookSet>,
    known: Arc<KnownSessions>,
    report: Arc<dyn HookReport>,
    turn: HookedTurn,
    tools: OnceLock<BTreeMap<String, Arc<dyn Tool>>>,
    state: Mutex<HookedState>,
}

#[derive(Default)]
struct HookedState {
    /// Words of the user that no hook has seen.
    prompts: Vec<String>,
    /// Texts for the model.
    notes: Vec<String>,
    /// A hook ends the turn, for this reason.
    stop: Option<String>,
    /// Calls that ran, by id, with whether they failed.
    ran: HashMap<String, (ToolUse, bool)>,
    continued: u32,
    /// The hooks of the end have run.
    has_stopped: bool,
}

impl TurnHooks {
    /// The hooks of `set` around a turn.
    #[must_use]
    pub fn new(set: Arc<HookSet>, known: Arc<KnownSessions>, report: Arc<dyn HookReport>, turn: HookedTurn) -> Self {
        let state = HookedState { prompts: turn.question.iter().cloned().collect(), ..HookedState::default() };
        Self { set, known, report, turn, tools: OnceLock::new(), state: Mutex::new(state) }
    }

    /// Takes the tools of the turn: a call that a hook changes is understood by them.
    pub fn know_tools(&self, tools: &BTreeMap<String, Arc<dyn Tool>>) {
        // A second time changes nothing.
        let _ = self.tools.set(tools.clone());
    }

    /// The user added these words to the turn. Hooks see them before the model does.
    pub fn added(&self, words: &str) {
        self.state().prompts.push(words.to_owned());
    }

    /// Reports which files wait for consent, each once in a session.
    pub async fn tell_waiting(&self) {
        for notice in self.set.notices() {
            self.tell_once(notice).await;
        }
    }

    fn state(&self) -> MutexGuard<'_, HookedState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports that a hook kept something from happening.
    pub(crate) fn report_block(&self, event: HookEvent, tool: &str, by: &Spoken) {
        self.report.blocked(event, tool, by);
    }

    async fn tell_once(&self, notice: String) {
        if self.known.is_new(&self.turn.session, &notice) {
            self.report.notice(notice).await;
        }
    }

    /// Runs the hooks of an event, and passes on what they said to the user and to the model. If the turn is cancelled meanwhile they are
    /// killed, and what they guard does not happen.
    pub(crate) async fn run(&self, occasion: &Occasion) -> HookOutcome {
        let event = occasion.event();
        let is_wanted = self.set.has(&[event]) && (event.is_guard() || !self.turn.is_private);
        if !is_wanted {
            return HookOutcome::default();
        }
        let moment = (self.turn.moment)();
        let outcome = tokio::select! {
            biased;
            () = self.turn.cancel.cancelled() => return HookOutcome::cancelled(event),
            outcome = self.set.run(occasion, &moment) => outcome,
        };
        self.take(event, &outcome, &moment.cwd).await;
        outcome
    }

    async fn take(&self, event: HookEvent, outcome: &HookOutcome, cwd: &Path) {
        outcome.speakers.iter().for_each(|command| self.report.spoke(command, cwd));
        for Spoken { hook, text } in &outcome.faults {
            self.tell_once(format!("The hook `{hook}` of {event} failed: {text}.")).await;
        }
        for Spoken { hook, text } in &outcome.messages {
            self.report.notice(format!("Hook `{hook}`: {text}")).await;
        }
        let mut state = self.state();
        let notes =
            outcome.contexts.iter().map(|Spoken { hook, text }| format!("[The user's hook `{hook}` says: {text}]"));
        state.notes.extend(notes);
        if let (None, Some(Spoken { hook, text })) = (&state.stop, &outcome.stop) {
            state.stop = Some(format!("the hook `{hook}` ended the turn: {text}"));
        }
    }

    /// Runs the hooks for words of the user that they have not seen. `Break`: they must not reach the model.
    async fn see_prompts(&self, state: &mut TurnState) -> ControlFlow<TurnResult> {
        let prompts = std::mem::take(&mut self.state().prompts);
        for prompt in prompts {
            if state.is_untouched() && self.set.has(&[HookEvent::SessionStart]) {
                let has_history = state.messages().len() > 1;
                if let Some(source) = self.known.start(&self.turn.session, has_history) {
                    self.run(&Occasion::SessionStart { source }).await;
                }
            } else if state.is_untouched() {
                // Hooks hear of its end, also where no hook is for its start.
                self.known.start(&self.turn.session, true);
            }
            let outcome = self.run(&Occasion::UserPromptSubmit { prompt }).await;
            if outcome.is_cancelled {
                // No hook has seen the words: they are no part of the conversation either.
                forget_question(state);
                return ControlFlow::Break(Ok(StopReason::Cancelled));
            }
            let Some(by) = outcome.blocked() else { continue };
            self.report.blocked(HookEvent::UserPromptSubmit, "", &by);
            forget_question(state);
            let Spoken { hook, text } = by;
            let message = format!("the hook `{hook}` keeps your words from the model: {text}");
            return ControlFlow::Break(Err(TurnError::Stopped { message, hint: Some(HINT.into()) }));
        }
        ControlFlow::Continue(())
    }

    /// Changes a call as a hook wants it. What comes of it is judged like a call of the model's.
    fn change(&self, call: &mut PlannedCall, hook: &str, input: &JsonObject) -> Result<(), Denial> {
        let args = own_arguments(&call.tool, input);
        if args == *call.args {
            return Ok(());
        }
        let tool = self.tools.get().and_then(|tools| tools.get(&call.tool));
        let intent =
            tool.ok_or_else(|| "the tool is not known".to_owned()).and_then(|tool| tool.intent(&args, &call.cwd));
        match intent {
            Ok(intent) => {
                call.note =
                    Some(format!("the user's hook `{hook}` changed the call; what ran instead: {}", intent.title));
                (call.args, call.intent) = (Arc::new(args), intent);
                Ok(())
            }
            Err(error) => {
                Err(refused(&format!("the user's hook `{hook}` made a call of it that cannot be run: {error}")))
            }
        }
    }

    /// Runs the hooks of the end of the model's answer.
    async fn at_stop(&self, state: &TurnState) -> HookOutcome {
        let is_again = self.state().continued > 0;
        let last = last_answer(state).to_owned();
        let occasion = match &self.turn.subagent {
            Some(kind) => Occasion::SubagentStop { is_again, last, kind: kind.clone() },
            None => Occasion::Stop { is_again, last },
        };
        self.run(&occasion).await
    }
}

/// The question is no part of the conversation.
fn forget_question(state: &mut TurnState) {
    state.give_up_calls(STOPPED);
    if let [before @ .., Message::User { .. }] = state.messages() {
        let before = before.to_vec();
        state.rewrite(before);
    }
}

fn last_answer(state: &TurnState) -> &str {
    let answers = state.messages().iter().rev();
    answers
        .map_while(|message| match message {
            Message::Assistant(answer) => Some(answer.text.as_str()),
            Message::User { .. } | Message::ToolResults(_) => None,
        })
        .next()
        .unwrap_or_default()
}

fn refused(reason: &str) -> Denial {
    Denial::Refused { reason: reason.to_owned() }
}

#[async_trait]
impl Middleware for TurnHooks {
    async fn before_step(&self, _step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.see_prompts(state).await?;
        let stop = self.state().stop.take();
        match stop {
            Some(message) => ControlFlow::Break(Err(TurnError::Stopped { message, hint: Some(HINT.into()) })),
            None => ControlFlow::Continue(()),
        }
    }

    fn pending_notes(&self) -> Option<String> {
        let notes = std::mem::take(&mut self.state().notes);
        (!notes.is_empty()).then(|| notes.join("\n"))
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        if self.state().stop.is_some() {
            return Err(refused(STOPPED));
        }
        let outcome = self.run(&Occasion::PreToolUse(ToolUse::of(call))).await;
        if outcome.is_cancelled {
            return Err(Denial::CancelTurn);
        }
        if let Some(by) = outcome.blocked() {
            self.report.blocked(HookEvent::PreToolUse, &call.tool, &by);
            let Spoken { hook, text } = by;
            return Err(refused(&format!("not run: the user's hook `{hook}` objects: {text}")));
        }
        if let Some((hook, input)) = &outcome.updated_input {
            self.change(call, hook, input)?;
        }
        if let Objection::Ask(reason) = &outcome.objection {
            call.must_ask = Some(format!("your hook `{}` wants you to be asked: {reason}", outcome.by));
        }
        Ok(())
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        let Some((call, has_failed)) = self.state().ran.remove(&result.call_id) else { return };
        let tool = call.tool.clone();
        let outcome = self.run(&Occasion::PostToolUse { call, result: result.content.clone(), has_failed }).await;
        if let Some(Spoken { hook, text }) = outcome.blocked() {
            self.state().notes.push(format!("[The user's hook `{hook}` objects to what `{tool}` did: {text}]"));
        }
    }
}

#[async_trait]
impl TurnObserver for TurnHooks {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::ToolRan(call, outcome) if self.set.has(&[HookEvent::PostToolUse, HookEvent::PostToolUseFailure]) => {
                let ran = (ToolUse::of(call), outcome != StepResult::Done);
                self.state().ran.insert(call.call_id.clone(), ran);
            }
            // Where the model did not end it itself, nothing can be continued.
            Fact::TurnEnded(state, Ok(reason)) if *reason != StopReason::Cancelled && !self.state().has_stopped => {
                self.at_stop(state).await;
            }
            _ => {}
        }
    }
}

#[async_trait]
impl BeforeStop for TurnHooks {
    async fn objection(&self, state: &TurnState) -> Option<String> {
        let outcome = self.at_stop(state).await;
        let ends_turn = outcome.stop.is_some();
        self.state().stop = None;
        if let Some(Spoken { hook, text }) = outcome.blocked().filter(|_| !ends_turn) {
            if self.state().continued < MAX_CONTINUED {
                self.state().continued += 1;
                return Some(format!("[The user's hook `{hook}` does not let the turn end here: {text}]"));
            }
            let notice =
                format!("The hook `{hook}` wants the model to continue, which hooks can do {MAX_CONTINUED} times.");
            self.report.notice(notice).await;
        }
        self.state().has_stopped = true;
        None
    }
}

#[cfg(test)]
#[path = "turn_tests.rs"]
pub(crate) mod tests;
