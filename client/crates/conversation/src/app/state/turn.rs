//! One turn as the client sees it.

use std::time::{Duration, Instant};

use cohab_protocol::{CallId, ChunkDelta, ClientMessage, ModelIdentity, ResumePoint, StepActivity, TurnId};
use cohab_term::markdown::CodeBlocks;
use cohab_text::sanitize::one_line;
use ratatui::text::Line;

use super::{
    additions::Additions,
    agent_command::{AgentCommand, Running},
    answer_text::AnswerText,
    countdown::Countdown,
    progress::TurnProgress,
    stopped::Stopped,
    subagents::Subagents,
    thinking::Thinking,
};
use crate::{app::Options, approval::OpenQuestion, silence::SILENCE_LIMIT};

/// How long the end of a turn waits for the colours of its last code block.
const SETTLE_LIMIT: Duration = Duration::from_millis(300);
/// How often the rest of one turn is asked for over a new connection.
const RESUMES_MAX: u8 = 3;
/// Columns of what a step says of itself; the rest of the status row is the program's.
const PROGRESS_MAX_COLUMNS: usize = 40;

/// Whether a turn is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pause {
    /// It is not.
    #[default]
    No,
    /// It will be when its step is over.
    Asked,
    /// It is.
    Holds,
}

/// What the turn is waiting for, shown in the live area.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Waiting {
    /// The daemon is started or connected.
    Link,
    /// The model or a tool.
    Step(StepActivity),
    /// A request that is repeated: why and when.
    Retry(Countdown),
    /// Nothing: text is coming.
    Nothing,
}

/// A step of this turn that is over.
#[derive(Debug)]
pub(crate) struct EndedStep {
    pub activity: StepActivity,
    /// Its command was shown when it ran.
    pub has_echoed: bool,
    /// How long that took, if the live shell reported.
    pub ran_ms: Option<u64>,
    /// The user suspended that command: it is a job of the shell now.
    pub is_suspended: bool,
}

/// How far the turn and the daemon know of each other.
#[derive(Debug)]
struct Delivery {
    /// What the turn begins with, while the daemon cannot take it.
    unsent_query: Option<ClientMessage>,
    /// Since when the daemon has not taken it; absent once the user was warned.
    silent_since: Option<Instant>,
    /// The daemon has begun it, so it can be asked for its rest.
    is_begun: bool,
    is_resuming: bool,
    resumes_left: u8,
    /// Number of the next piece of text.
    next_seq: u64,
}

/// The steps of a turn.
#[derive(Debug, Default)]
struct Steps {
    /// Number of the next one.
    next: u32,
    /// Those that are not over, by number.
    open: Vec<(u32, StepActivity)>,
    /// A command of the current step was shown as it ran.
    has_echoed: bool,
    /// How long that command ran, without what it waited for the terminal.
    ran_ms: Option<u64>,
    /// The user suspended that command.
    is_suspended: bool,
    /// One of them shared the shell.
    shares_shell: bool,
    /// How far the last one is, as it says.
    progress: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Turn {
    id: TurnId,
    answer: AnswerText,
    delivery: Delivery,
    steps: Steps,
    pub waiting: Waiting,
    /// Whether the user holds it.
    pub pause: Pause,
    /// Whether nothing of it is stored.
    pub is_private: bool,
    /// What the user added to its question.
    pub additions: Additions,
    /// For the status line.
    pub progress: TurnProgress,
    pub thinking: Thinking,
    pub subagents: Subagents,
    /// It ended in order: what it took is said below it.
    pub has_footer: bool,
    pub question: Option<OpenQuestion>,
    /// The command that waits for something, or that the shell has.
    pub command: Option<AgentCommand>,
    /// A command that the lock has stopped, until its second run has ended or was refused.
    pub stopped: Option<Stopped>,
    /// A command whose time was up, and which still has the shell.
    pub overdue: Option<String>,
    /// Of the last command that was answered for.
    pub last_result: Option<CallId>,
    ended_at: Option<Instant>,
    /// When the last message or tick came.
    pub last_seen: Instant,
    is_over: bool,
}

impl Turn {
    /// A turn whose rows have `width` columns.
    pub(crate) fn new(id: TurnId, width: u16, options: &Options, now: Instant) -> Self {
        Self {
            id,
            answer: AnswerText::new(width, options),
            delivery: Delivery {
                unsent_query: None,
                silent_since: Some(now),
                is_begun: false,
                is_resuming: false,
                resumes_left: RESUMES_MAX,
                next_seq: 0,
            },
            steps: Steps::default(),
            waiting: Waiting::Link,
            pause: Pause::No,
            is_private: false,
            additions: Additions::default(),
            progress: TurnProgress::new("", now),
            thinking: Thinking::default(),
            subagents: Subagents::default(),
            has_footer: false,
            question: None,
            command: None,
            stopped: None,
            overdue: None,
            last_result: None,
            ended_at: None,
            last_seen: now,
            is_over: false,
        }
    }

    pub(crate) fn id(&self) -> TurnId {
        self.id
    }

    /// When the number of a countdown changes.
    fn countdown_deadline(&self) -> Option<Instant> {
        match &self.waiting {
            Waiting::Retry(countdown) => countdown.deadline(),
            _ => None,
        }
    }

    /// Lets time pass. Returns whether a countdown shows another number.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        let Waiting::Retry(countdown) = &mut self.waiting else { return false };
        let has_changed = countdown.tick(now);
        // The request is made again: from now on the model is waited for as before.
        if countdown.deadline().is_none()
            && let Some((_, activity)) = self.steps.open.last()
        {
            self.waiting = Waiting::Step(activity.clone());
            return true;
        }
        has_changed
    }

    /// Whether the shell is shared by it.
    pub(crate) fn is_shared(&self) -> bool {
        self.steps.shares_shell
    }

    /// Whether it waits for programs that the shell is shared with.
    pub(crate) fn waits_for_programs(&self) -> bool {
        matches!(self.steps.open.last(), Some((_, StepActivity::Shared)))
    }

    pub(crate) fn wait_for_model(&mut self, model: &ModelIdentity) {
        let model = format!("{}/{}", model.provider, model.model);
        self.waiting = Waiting::Step(StepActivity::ModelCall { model });
    }

    /// Keeps the question until the daemon can take it.
    pub(crate) fn hold(&mut self, query: ClientMessage) {
        self.delivery.unsent_query = Some(query);
    }

    /// Whether the daemon knows of the turn.
    pub(crate) fn was_sent(&self) -> bool {
        self.delivery.unsent_query.is_none()
    }

    pub(crate) fn take_unsent_query(&mut self) -> Option<ClientMessage> {
        self.delivery.unsent_query.take()
    }

    /// The daemon knows of it.
    pub(crate) fn begin(&mut self) {
        self.delivery.is_begun = true;
        self.delivery.silent_since = None;
    }

    /// When the user is warned that the daemon has not taken it.
    fn silence_deadline(&self) -> Option<Instant> {
        self.delivery.silent_since.filter(|_| !self.is_over).map(|since| since + SILENCE_LIMIT)
    }

    /// Whether to warn the user now.
    pub(crate) fn take_silence(&mut self, now: Instant) -> bool {
        let is_due = self.silence_deadline().is_some_and(|due| due <= now);
        if is_due {
            self.delivery.silent_since = None;
        }
        is_due
    }

    /// Whether the daemon has begun it.
    pub(crate) fn is_begun(&self) -> bool {
        self.delivery.is_begun
    }

    /// From where to ask for the rest after a lost connection, if that makes sense (any more).
    pub(crate) fn resume(&mut self) -> Option<ResumePoint> {
        if self.is_over || !self.delivery.is_begun {
            return None;
        }
        self.delivery.resumes_left = self.delivery.resumes_left.checked_sub(1)?;
        self.delivery.is_resuming = true;
        Some(ResumePoint { turn_id: self.id, next_seq: self.delivery.next_seq })
    }

    pub(crate) fn is_resuming(&self) -> bool {
        self.delivery.is_resuming
    }

    /// There is a connection again.
    pub(crate) fn resumed(&mut self) {
        self.delivery.is_resuming = false;
    }

    /// When something of it is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let command = self.command.as_ref().and_then(AgentCommand::deadline);
        let question = self.question.as_ref().and_then(OpenQuestion::deadline);
        let own = [self.settle_deadline(), self.countdown_deadline(), self.silence_deadline()];
        own.into_iter().chain([command, question]).flatten().min()
    }

    /// Its command that the shell has.
    pub(crate) fn running(&self) -> Option<&Running> {
        self.command.as_ref().and_then(AgentCommand::running)
    }

    /// Takes a chunk. False for one that came before, which says nothing new.
    pub(crate) fn take_chunk(&mut self, seq: u64, delta: ChunkDelta) -> bool {
        if seq < self.delivery.next_seq {
            return false;
        }
        self.delivery.next_seq = seq + 1;
        match delta {
            ChunkDelta::Text(text) => {
                self.answer.push(&text);
                self.waiting = Waiting::Nothing;
            }
            ChunkDelta::Reasoning(text) => self.thinking.push(&text, self.last_seen),
            ChunkDelta::Reset => self.answer.restart(),
        }
        true
    }

    /// Lines that are final now.
    pub(crate) fn take_closed_text(&mut self) -> Vec<Line<'static>> {
        self.answer.take_closed()
    }

    /// Closes the text so far: what comes next is a step or the end.
    pub(crate) fn finish_text(&mut self) -> Vec<Line<'static>> {
        self.answer.finish()
    }

    /// Whether there is text that is not closed.
    pub(crate) fn has_open_text(&self) -> bool {
        self.answer.has_text
    }

    /// The code of the answer so far; `None` as long as there is no answer.
    pub(crate) fn code_blocks(&self) -> Option<&CodeBlocks> {
        self.answer.code_blocks()
    }

    /// The part of the text that may still change.
    pub(crate) fn tail(&mut self) -> Vec<Line<'static>> {
        self.answer.tail()
    }

    pub(crate) fn set_width(&mut self, width: u16) {
        self.answer.set_width(width);
    }

    /// False for one that came before: a daemon that is asked for the rest of a turn repeats some.
    pub(crate) fn is_new_step(&mut self, step: u32) -> bool {
        let is_new = step >= self.steps.next;
        self.steps.next = self.steps.next.max(step.saturating_add(1));
        is_new
    }

    /// A command of the current step is shown as it runs.
    pub(crate) fn echoed(&mut self) {
        self.steps.has_echoed = true;
    }

    /// That command has run for so long, to its end or until the user suspended it.
    pub(crate) fn ran(&mut self, ms: u64, is_suspended: bool) {
        (self.steps.ran_ms, self.steps.is_suspended) = (Some(ms), is_suspended);
    }

    pub(crate) fn step_started(&mut self, step: u32, activity: StepActivity) {
        self.waiting = Waiting::Step(activity.clone());
        self.steps.shares_shell |= activity == StepActivity::Shared;
        (self.steps.ran_ms, self.steps.is_suspended, self.steps.progress) = (None, false, None);
        self.steps.open.push((step, activity));
    }

    /// The last step has come so far.
    pub(crate) fn step_progressed(&mut self, text: &str) {
        self.steps.progress = Some(one_line(text, PROGRESS_MAX_COLUMNS)).filter(|_| !self.steps.open.is_empty());
    }

    /// How far the last step is, in a few words.
    pub(crate) fn step_progress(&self) -> Option<&str> {
        self.steps.progress.as_deref()
    }

    /// What is known of a step that is over.
    pub(crate) fn step_finished(&mut self, step: u32) -> Option<EndedStep> {
        let index = self.steps.open.iter().position(|(number, _)| *number == step)?;
        let (_, activity) = self.steps.open.remove(index);
        self.steps.progress = None;
        // Several may be on at once.
        self.waiting = self.steps.open.last().map_or(Waiting::Nothing, |(_, open)| Waiting::Step(open.clone()));
        Some(EndedStep {
            activity,
            has_echoed: std::mem::take(&mut self.steps.has_echoed),
            ran_ms: self.steps.ran_ms.take(),
            is_suspended: std::mem::take(&mut self.steps.is_suspended),
        })
    }

    /// The command that the shell has.
    pub(crate) fn running_mut(&mut self) -> Option<&mut Running> {
        self.command.as_mut()?.running_mut()
    }

    /// Closes an open question; true if there was one.
    pub(crate) fn close_question(&mut self) -> bool {
        self.question.take().is_some()
    }

    pub(crate) fn end(&mut self) {
        self.is_over = true;
        self.waiting = Waiting::Nothing;
        self.delivery.unsent_query = None;
        // What the shell has comes to its own end.
        self.command.take_if(|command| !command.is_running());
        self.ended_at.get_or_insert(self.last_seen);
    }

    /// Don't wait for colours: the user wants the prompt now.
    pub(crate) fn hurry(&mut self, now: Instant) {
        self.ended_at = now.checked_sub(SETTLE_LIMIT);
    }

    pub(crate) fn saw(&mut self, now: Instant) {
        self.last_seen = now;
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Whether the last code has its colours, or has waited long enough.
    pub(crate) fn is_settled(&self, now: Instant) -> bool {
        self.answer.is_settled() || self.ended_at.is_none_or(|ended| now >= ended + SETTLE_LIMIT)
    }

    fn settle_deadline(&self) -> Option<Instant> {
        let waits = self.is_over && !self.answer.is_settled();
        self.ended_at.filter(|_| waits).map(|ended| ended + SETTLE_LIMIT)
    }
}
