//! Recording stores the events of a turn: observers and wrappers around the agent's sink and runner take notes. Only a step with effects
//! waits for it, and nothing is stored before the settings of the turn allow it. It decides nothing about the turn.

pub mod episode;
pub mod hooks;
mod ports;
mod session;
pub mod step_hooks;
mod steps;

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cohab_store::{
    past::{PastEntry, PastLog},
    sessions::{
        Archive, Entry, Limits, TITLE_MAX_CHARS,
        event::{Approval, Call, CallResult, Event, OUTPUT_TAIL_BYTES, TEXT_BYTES},
        written,
    },
};
use cohab_text::sanitize::{one_line, sanitize, sanitize_prose};
use cohab_types::command::{CommandOutcome, Mode};
use jiff::Timestamp;
use tokio::sync::oneshot;

pub use ports::{RecordingRunner, RecordingSink};
pub use session::SessionRecord;

use cohab_agent::{
    StopReason, TurnError,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Effect, Lasts},
    tasks::Task,
};
use cohab_model_api::{Message, ModelInfo, TokenUsage};
use cohab_text::cut::{cut_middle, tail};

/// How a turn begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Opening {
    /// Name of the session.
    pub session: String,
    /// The turn's id.
    pub turn: String,
    /// The question as typed.
    pub question: String,
    /// The shell's folder.
    pub cwd: PathBuf,
    /// Name of the live shell, if there is one.
    pub shell: Option<String>,
    /// Piped input, in bytes.
    pub piped_bytes: usize,
    /// The interrupted turn that this one continues.
    pub resumed_from: Option<String>,
}

/// Records one turn.
pub struct TurnRecorder {
    archive: Archive,
    session: Arc<SessionRecord>,
    opening: Opening,
    steps: steps::StepLog,
    state: Mutex<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    is_on: bool,
    text: String,
    reasoning: String,
    /// The open calls, by their ids, until their results are known.
    calls: BTreeMap<String, OpenCall>,
    /// The latest one: calls are asked about one after the other, and a command runs alone.
    current: String,
    /// Decisions about later calls.
    beforehand: Vec<(Effect, Approval)>,
    /// The stored messages.
    saved: StoredMessages,
    /// Fingerprint of the last stored message: the message may hold megabytes.
    last_saved: Option<u64>,
    /// Fires when the beginning is on disk.
    begun: Option<oneshot::Receiver<bool>>,
    /// Rewrites of the conversation at that point.
    rewrites: u32,
    /// Where the turn is stored as something that was done, with what came of it so far.
    episode: Option<(Arc<PastLog>, Timestamp, episode::Episode)>,
}

/// What of a conversation is stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredMessages {
    /// The number of messages.
    count: usize,
    /// A digest of all of them, in their order.
    digest: u64,
}

impl StoredMessages {
    /// The same with these behind.
    fn and(self, messages: &[Message]) -> Self {
        let chained = |digest: u64, message: &Message| digest.rotate_left(5).wrapping_mul(CHAIN) ^ message.digest();
        Self { count: self.count + messages.len(), digest: messages.iter().fold(self.digest, chained) }
    }
}

/// An odd number, so that the order of messages counts.
const CHAIN: u64 = 0x9e37_79b9_7f4a_7c15;

impl RecorderState {
    fn current(&mut self) -> Option<&mut OpenCall> {
        self.calls.get_mut(&self.current)
    }
}

struct OpenCall {
    /// Number of its step in the turn.
    step: Option<u32>,
    call: Call,
    /// Whether the user or the policy allowed it.
    is_allowed: bool,
    /// Whether its event is stored. The event of a call that runs with others waits for its result, so that the two are adjacent.
    is_kept: bool,
    was_asked: bool,
    /// Whether its command began, with no report of its end: it may have done anything.
    is_running: bool,
    ran: CallResult,
}

impl TurnRecorder {
    /// For one turn of a session.
    #[must_use]
    pub fn new(archive: Archive, session: Arc<SessionRecord>, opening: Opening) -> Self {
        let steps = steps::StepLog::new(archive.clone());
        Self { archive, session, opening, steps, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_on(&self) -> bool {
        self.state().is_on
    }

    fn keep(&self, event: Event) {
        self.keep_at(Timestamp::now(), event);
    }

    /// The turn, unless it is private, is stored there as something that was done.
    pub fn store_episode_in(&self, past: Arc<PastLog>) {
        self.state().episode = Some((past, Timestamp::now(), episode::Episode::default()));
    }

    fn keep_at(&self, at: Timestamp, event: Event) {
        if self.is_on() {
            if let Some((_, _, episode)) = &mut self.state().episode {
                episode.note(&event);
            }
            let Opening { session, turn, .. } = &self.opening;
            self.archive.keep(Entry::Event { session: session.clone(), turn: turn.clone(), at, event });
        }
    }

    /// The settings are read: from here on events are stored, if they are to be.
    pub fn begin(&self, limits: Option<Limits>, model: &ModelInfo) {
        let Some(limits) = limits else { return };
        self.state().is_on = true;
        let question = sanitize_prose(&self.opening.question);
        let cwd = self.opening.cwd.to_string_lossy().into_owned();
        self.archive.keep(Entry::Turn {
            session: self.opening.session.clone(),
            at: Timestamp::now(),
            title: self.title(),
            cwd: cwd.clone(),
            model: format!("{}/{}", model.wire, model.model),
            limits,
        });
        for (at, event) in self.session.take_commands() {
            self.keep_at(at, event);
        }
        let piped_bytes = u64::try_from(self.opening.piped_bytes).unwrap_or(u64::MAX);
        self.keep(Event::Question { text: question, cwd, shell: self.opening.shell.clone(), piped_bytes });
        self.steps.begin(&self.opening, model);
    }

    /// The title of the conversation if this turn is its first.
    fn title(&self) -> String {
        one_line(sanitize(&self.opening.question).trim(), TITLE_MAX_CHARS)
    }

    /// Names the conversation, unless it got a name meanwhile.
    pub fn named(&self, title: String) {
        if self.is_on() {
            let session = self.opening.session.clone();
            self.archive.keep(Entry::Title { session, instead_of: self.title(), title });
        }
    }

    /// Stores the session's new list of tasks.
    pub fn tasks(&self, tasks: &[Task]) {
        if self.is_on() {
            let session = self.opening.session.clone();
            self.archive.keep(Entry::Tasks { session, tasks: tasks.to_vec() });
        }
    }

    /// The messages at the beginning of the turn, including its question.
    pub fn history(&self, messages: &[Message]) {
        if !self.is_on() {
            return;
        }
        let has_gap = self.archive.take_gap(&self.opening.session);
        let stored = self.session.take_stored().filter(|_| !has_gap);
        let is_same = |stored: &StoredMessages| {
            messages.get(..stored.count).is_some_and(|before| StoredMessages::default().and(before) == *stored)
        };
        let from = stored.filter(is_same).unwrap_or_default();
        self.state().saved = from;
        let entry = self.conversation(from, messages);
        self.state().begun = entry.map(|entry| self.archive.keep_telling(entry));
    }

    /// Waits, once, until the beginning of the turn is on disk: a turn that the user saw must not be forgotten.
    async fn has_begun(&self) {
        let begun = self.state().begun.take();
        if let Some(begun) = begun {
            written(begun).await;
        }
    }

    /// The conversation after a step; its calls may wait for their results. `rewrites` counts the rewrites so far.
    fn step_done(&self, messages: &[Message], rewrites: u32) {
        self.since_last(messages, rewrites).into_iter().for_each(|entry| self.archive.keep(entry));
    }

    /// The user added something to the turn. Waits until that is on disk: it is then reported as read.
    async fn extended(&self, messages: &[Message], rewrites: u32) {
        if let Some(entry) = self.since_last(messages, rewrites) {
            written(self.archive.keep_telling(entry)).await;
        }
    }

    /// The entry that stores what changed in the conversation since the last one.
    fn since_last(&self, messages: &[Message], rewrites: u32) -> Option<Entry> {
        let (saved, is_same) = {
            let mut state = self.state();
            let is_same = std::mem::replace(&mut state.rewrites, rewrites) == rewrites;
            let last = state.saved.count.checked_sub(1).and_then(|last| messages.get(last));
            (state.saved, is_same && last.map(Message::digest) == state.last_saved)
        };
        // The stored part has changed: the store finds out where.
        self.conversation(if is_same { saved } else { StoredMessages::default() }, messages)
    }

    /// Records a compaction: the number of messages left, and the usage of the model. The earlier events stay on record.
    pub fn compacted(&self, summary: Option<&str>, dropped: usize, left: usize, usage: Option<&TokenUsage>) {
        self.steps.compacted(left, usage);
        if dropped > 0 {
            let (text, messages) = (clean(summary.unwrap_or_default()), u64::try_from(dropped).unwrap_or(u64::MAX));
            self.keep(Event::Summary { text, messages });
        }
    }

    /// The entry with the messages behind those that are stored, if there are any, or if nothing is stored.
    fn conversation(&self, stored: StoredMessages, messages: &[Message]) -> Option<Entry> {
        let from = stored.count;
        let new = messages.get(from..).unwrap_or_default();
        let mut state = self.state();
        let is_wanted = state.is_on && (from == 0 || !new.is_empty());
        is_wanted.then(|| {
            state.saved = stored.and(new);
            state.last_saved = messages.last().map(Message::digest);
            self.session.set_stored(state.saved);
            Entry::Conversation { session: self.opening.session.clone(), from, messages: new.to_vec() }
        })
    }

    /// Stores the model's text of a step, which is complete or will not grow.
    fn flush(&self) {
        let (reasoning, text) = {
            let mut state = self.state();
            (std::mem::take(&mut state.reasoning), std::mem::take(&mut state.text))
        };
        if !reasoning.trim().is_empty() {
            self.keep(Event::Reasoning { text: clean_prose(&reasoning) });
        }
        if !text.trim().is_empty() {
            self.keep(Event::Answer { text: clean_prose(&text) });
        }
    }

    fn asked(&self, question: &ApprovalQuestion, answer: &ApprovalAnswer) {
        let (decision, mut note) = decision(answer);
        if matches!(question.subject, ApprovalSubject::Input { .. }) && decision == Approval::Edited {
            // What a program got stays between the user and it.
            note.clear();
        }
        if let Some(open) = self.state().current() {
            open.was_asked = true;
            open.call.approval = decision;
        }
        self.keep_approval(question, decision, note);
    }

    /// Notes the decisions about several calls that were asked about together: the calls come later.
    fn asked_beforehand(&self, questions: &[ApprovalQuestion], answers: &[ApprovalAnswer]) {
        self.state().beforehand.clear();
        for (question, answer) in questions.iter().zip(answers) {
            let (decision, note) = decision(answer);
            if let ApprovalSubject::Effect { effect, .. } = &question.subject {
                self.state().beforehand.push((effect.clone(), decision));
            }
            self.keep_approval(question, decision, note);
        }
    }

    /// The decision that was made about this beforehand, used once.
    fn take_beforehand(&self, effect: &Effect) -> Option<Approval> {
        let beforehand = &mut self.state().beforehand;
        let at = beforehand.iter().position(|(known, _)| known == effect)?;
        Some(beforehand.remove(at).1)
    }

    fn keep_approval(&self, question: &ApprovalQuestion, decision: Approval, note: String) {
        let (reasons, is_dangerous) = (question.reasons.clone(), question.is_dangerous);
        self.keep(Event::Approval { subject: subject(&question.subject), reasons, is_dangerous, decision, note });
    }

    fn set_running(&self, is_running: bool) {
        if let Some(open) = self.state().current() {
            open.is_running = is_running;
        }
    }

    fn ran(&self, outcome: &CommandOutcome) {
        if outcome.mode == Mode::Live {
            self.session.shell_changed(outcome);
            // A daemon that continues later wants to start there.
            self.keep_left();
        }
        if let Some(open) = self.state().current() {
            open.ran = CallResult {
                output: tail(&sanitize(&outcome.output), OUTPUT_TAIL_BYTES).to_owned(),
                is_error: false,
                exit_code: outcome.status,
                cwd: Some(outcome.cwd.to_string_lossy().into_owned()),
                duration_ms: Some(u64::try_from(outcome.duration.as_millis()).unwrap_or(u64::MAX)),
            };
        }
    }

    /// Notes the duration of a step. For a command its own duration is more exact.
    fn took(&self, step: u32, elapsed: Duration) {
        let mut state = self.state();
        if let Some(open) = state.calls.values_mut().find(|open| open.step == Some(step) && open.is_allowed) {
            open.ran.duration_ms.get_or_insert(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX));
        }
    }

    /// The turn is over. `trust_tenths` is the trust of its conversation.
    pub fn end(&self, result: &Result<StopReason, TurnError>, usage: &TokenUsage, trust_tenths: u8) {
        self.flush();
        if let Err(error) = result {
            self.keep(Event::Error { message: sanitize(&error.to_string()) });
        }
        let TokenUsage { output: received_tokens, cost_microusd, .. } = *usage;
        self.keep(Event::Usage { sent_tokens: usage.sent(), received_tokens, cost_microusd });
        self.keep(Event::Ended { reason: end_word(result).to_owned() });
        self.keep_left();
        let is_on = self.is_on();
        let episode = self.state().episode.take();
        if let Some((past, at, episode)) = episode.filter(|_| is_on) {
            let question = sanitize_prose(&self.opening.question);
            let turn = episode.finish(&self.opening, &question, at, trust_tenths);
            turn.into_iter().for_each(|turn| past.keep(PastEntry::Turn(turn)));
        }
    }

    fn keep_left(&self) {
        if self.is_on() {
            let left = self.session.left(&self.opening.cwd);
            self.archive.keep(Entry::Left { session: self.opening.session.clone(), left });
        }
    }
}

fn clean_prose(text: &str) -> String {
    cut_middle(&sanitize_prose(text), TEXT_BYTES)
}

fn clean(text: &str) -> String {
    cut_middle(&sanitize(text), TEXT_BYTES)
}

fn decision(answer: &ApprovalAnswer) -> (Approval, String) {
    match answer {
        ApprovalAnswer::Approved { lasts: Lasts::Once, .. } => (Approval::Once, String::new()),
        ApprovalAnswer::Approved { lasts: Lasts::Session, .. } => (Approval::Session, String::new()),
        ApprovalAnswer::Approved { lasts: Lasts::Rule, .. } => (Approval::Rule, String::new()),
        ApprovalAnswer::Edited { command, .. } => (Approval::Edited, clean(command)),
        ApprovalAnswer::Refused { reason } => (Approval::Refused, clean(reason)),
        ApprovalAnswer::CancelTurn => (Approval::Refused, "the user ended the turn".to_owned()),
    }
}

fn subject(subject: &ApprovalSubject) -> String {
    let text = match subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => return clean(command),
        ApprovalSubject::Effect { tool, effect: Effect::Read { path, .. } | Effect::Write { path, .. } } => {
            format!("{tool} {}", path.display())
        }
        ApprovalSubject::Effect { tool, effect: Effect::Internal } => tool.clone(),
        ApprovalSubject::Effect { effect: Effect::Foreign { by, action, .. }, .. } => format!("{by}: {action}"),
        ApprovalSubject::LocalServer { url, server, .. } => format!("ask {server} at {url}"),
        ApprovalSubject::GoOn { what } => format!("continue: {what}"),
        ApprovalSubject::Input { by, label, .. } => format!("tell {by}: {label}"),
    };
    clean(&text)
}

/// The end of a turn, in a word.
pub fn end_word(result: &Result<StopReason, TurnError>) -> &'static str {
    match result {
        Ok(StopReason::Answered) => "answered",
        Ok(StopReason::Cancelled) => "cancelled",
        Ok(StopReason::StepLimit) => "step_limit",
        Ok(StopReason::Refused) => "refused",
        Ok(StopReason::Length) => "length",
        Err(_) => "failed",
    }
}

#[cfg(test)]
mod tests;
