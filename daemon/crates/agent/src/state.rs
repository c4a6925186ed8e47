//! The state of a turn, and its changes by steps. No IO.

use cohab_model_api::{
    AssistantMessage, IMAGES_MAX_BYTES, Image, MAX_IMAGES, Message, ProviderError, ProviderErrorKind, StopClass,
    TokenUsage, ToolCall, ToolResult,
};

use super::error::TurnError;

/// Marks the start of a note of ours after a tool's result. No result contains the mark: tool output is sanitized.
pub const NOTE_MARK: &str = "\n\n\u{1e}";

/// Marks the end of a text that was cut.
const INTERRUPTED: &str = "[interrupted]";
/// Replaces an empty last answer.
const NO_TEXT: &str = "[stopped at the step limit]";

/// What a question names and the model gets with it: read by calls before the model's first one.
#[derive(Clone, Debug)]
pub struct Attachments {
    /// The calls that read it.
    pub calls: Vec<ToolCall>,
    /// Makes the message of the question with the results of these calls in it.
    pub fold: fn(&str, &[ToolCall], &[ToolResult]) -> String,
    /// Whether the calls check a goal: then they are shown as what they are.
    pub is_check: bool,
}

/// The conversation with its current turn.
#[derive(Clone, Debug, Default)]
pub struct TurnState {
    messages: Vec<Message>,
    progress: Progress,
    usage: TokenUsage,
    is_cost_partial: bool,
    rewrites: u32,
    model_calls: u32,
    steps: u32,
    is_final: bool,
    has_spoken: bool,
    bad_answers: u32,
    last_complaint: String,
    rejected_calls: u32,
    attachments: Option<Attachments>,
}

/// The party that acts next in a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// The model.
    #[default]
    Model,
    /// The tools: they read what the question names, before the model is asked.
    Attaching,
    /// The tools: the last message has calls without results.
    Tools {
        /// The length limit cut the answer: its calls must not run.
        is_cut: bool,
    },
    /// No one: the model ended its answer with this class.
    Answered(StopClass),
}

/// The outcome of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A complete answer.
    Answer {
        /// The message.
        message: AssistantMessage,
        /// The class of its end.
        class: StopClass,
        /// Its tokens.
        usage: TokenUsage,
    },
    /// An answer without its end.
    Broken {
        /// Text received.
        text: String,
        /// Tokens so far.
        usage: TokenUsage,
        /// The cause.
        cause: Cut,
    },
    /// Results of all pending calls, in their order.
    Tools {
        /// The results.
        results: Vec<ToolResult>,
        /// The images that they read.
        images: Vec<Image>,
        /// The error of the last call, set if no call of the batch could be run at all.
        complaint: Option<String>,
    },
}

impl Record {
    /// The tokens of a model call.
    #[must_use]
    pub fn usage(&self) -> Option<&TokenUsage> {
        match self {
            Self::Answer { usage, .. } | Self::Broken { usage, .. } => Some(usage),
            Self::Tools { .. } => None,
        }
    }

    /// The tokens of a model call, unless it produced nothing.
    pub fn usage_mut(&mut self) -> Option<&mut TokenUsage> {
        match self {
            Self::Answer { usage, .. } => Some(usage),
            Self::Broken { text, usage, .. } => has_taken(text, *usage).then_some(usage),
            Self::Tools { .. } => None,
        }
    }
}

/// Whether a broken-off call used anything that is charged.
fn has_taken(text: &str, usage: TokenUsage) -> bool {
    !text.is_empty() || usage != TokenUsage::default()
}

/// The reason for an answer without an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The turn was cancelled.
    Cancelled,
    /// The provider failed.
    Failed(ProviderError),
    /// The stream ended early.
    Incomplete(String),
}

impl TurnState {
    /// Starts a turn after `history`, which must be complete: every call has its result.
    #[must_use]
    pub fn new(mut history: Vec<Message>, question: String) -> Self {
        history.push(Message::user(question));
        Self { messages: history, ..Self::default() }
    }

    /// Continues a turn after `model_calls` model calls: `messages` must be complete and end with the message that the model reads next.
    #[must_use]
    pub fn going_on(messages: Vec<Message>, model_calls: u32) -> Self {
        Self { messages, model_calls, ..Self::default() }
    }

    /// Continues a turn whose model has ended its answer, which is the last of `messages`, and whose goal is not checked.
    #[must_use]
    pub fn answered_before(messages: Vec<Message>, model_calls: u32) -> Self {
        let progress = Progress::Answered(StopClass::End);
        Self { progress, has_spoken: true, ..Self::going_on(messages, model_calls) }
    }

    /// Lets tools read what the question names before the model is asked. The conversation must end with that question.
    pub fn attach(&mut self, attachments: Attachments) {
        if self.progress == Progress::Model && !attachments.calls.is_empty() {
            self.attachments = Some(attachments);
            self.progress = Progress::Attaching;
        }
    }

    /// The conversation so far.
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The conversation, when the turn is over.
    #[must_use]
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }

    /// Tokens of all answers of the turn.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        self.usage
    }

    /// Whether an answer had a cost that is unknown, in addition to the known cost.
    #[must_use]
    pub fn is_cost_partial(&self) -> bool {
        self.is_cost_partial
    }

    /// The party that acts next.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Model calls so far, including failed ones.
    #[must_use]
    pub fn model_calls(&self) -> u32 {
        self.model_calls
    }

    /// Whether the last request did not allow tools.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Whether any text of the turn was kept.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Number of answers in a row without a usable call, and the last complaint.
    #[must_use]
    pub fn bad_answers(&self) -> (u32, &str) {
        (self.bad_answers, &self.last_complaint)
    }

    /// Resets the count of bad answers, because another model answers from now on.
    pub fn forgive_bad_answers(&mut self) {
        self.bad_answers = 0;
    }

    /// Calls that wait for results.
    #[must_use]
    pub fn pending_calls(&self) -> &[ToolCall] {
        match (self.progress, self.messages.last()) {
            (Progress::Tools { .. }, Some(Message::Assistant(message))) => &message.tool_calls,
            (Progress::Attaching, _) => self.attachments.as_ref().map_or(&[], |attachments| &attachments.calls),
            _ => &[],
        }
    }

    /// Whether the pending calls check a goal.
    #[must_use]
    pub fn is_checking(&self) -> bool {
        self.attachments.as_ref().is_some_and(|attachments| attachments.is_check)
    }

    /// Whether no step of the turn began.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.steps == 0 && self.model_calls == 0
    }

    /// Takes the number for the next step.
    pub fn number_step(&mut self) -> u32 {
        self.steps += 1;
        self.steps - 1
    }

    /// Records that a model call begins; `allow_tools` is false for the last one.
    pub fn model_call_begins(&mut self, allow_tools: bool) {
        self.model_calls += 1;
        self.is_final = !allow_tools;
    }

    /// Whether the conversation ends with a message that the model reads next and [`TurnState::tell`] can extend.
    #[must_use]
    pub fn is_read_next(&self) -> bool {
        matches!(self.messages.last(), Some(Message::User { .. } | Message::ToolResults(_)))
    }

    /// Adds a note to the end of the message that the model reads next: the user's text, or the last result of the last batch. A note
    /// there separates no call from its result and makes no second message in a row.
    pub fn tell(&mut self, note: &str) {
        match self.messages.last_mut() {
            Some(Message::User { text, .. }) => *text += &format!("\n\n{note}"),
            Some(Message::ToolResults(results)) => {
                let last = results.last_mut();
                last.into_iter().for_each(|result| result.content += &format!("{NOTE_MARK}{note}"));
            }
            Some(Message::Assistant(_)) | None => {}
        }
    }

    /// Whether the turn takes another message of the user now: before a model call, and where the model ended its answer.
    #[must_use]
    pub fn can_be_extended(&self) -> bool {
        match self.progress {
            Progress::Model => self.is_read_next(),
            Progress::Answered(StopClass::End | StopClass::Tool) => !self.is_final,
            Progress::Answered(_) | Progress::Tools { .. } | Progress::Attaching => false,
        }
    }

    /// Adds a message of the user, which the model reads with its next call.
    pub fn extend(&mut self, message: String) {
        self.messages.push(Message::user(message));
        self.progress = Progress::Model;
    }

    /// Replaces the conversation before a model call with a shorter one of the same meaning. The new one must be complete and end with the
    /// message that the model reads next.
    pub fn rewrite(&mut self, messages: Vec<Message>) {
        if self.progress == Progress::Model {
            self.messages = messages;
            self.rewrites += 1;
        }
    }

    /// Number of times that the conversation was replaced: facts about its earlier messages are then no longer valid.
    #[must_use]
    pub fn rewrites(&self) -> u32 {
        self.rewrites
    }

    /// Adds usage outside the model's answers.
    pub fn spend(&mut self, usage: TokenUsage) {
        self.usage.add(usage);
        self.is_cost_partial |= usage.cost_microusd.is_none();
    }

    /// Ends the turn with an answer that is known without the model.
    pub fn answer_with(&mut self, text: String) {
        self.has_spoken = true;
        self.progress = Progress::Answered(StopClass::End);
        self.messages.push(Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }));
    }

    /// Gives this result to all calls without one, so that the conversation is complete.
    pub fn give_up_calls(&mut self, reason: &str) {
        let give_up = |call: &ToolCall| ToolResult {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            content: reason.to_owned(),
            is_error: true,
        };
        if self.progress == Progress::Attaching {
            self.progress = Progress::Model;
            return;
        }
        let results: Vec<ToolResult> = self.pending_calls().iter().map(give_up).collect();
        if !results.is_empty() {
            self.messages.push(Message::ToolResults(results));
            self.progress = Progress::Model;
        }
    }

    /// Applies the outcome of a step.
    ///
    /// # Errors
    /// The turn cannot continue. The conversation is complete in that case, too.
    pub fn apply(&mut self, record: Record) -> Result<(), TurnError> {
        match record {
            Record::Answer { message, class, usage } => {
                self.spend(usage);
                self.answered(message, class);
                Ok(())
            }
            Record::Broken { text, usage, cause } => {
                if has_taken(&text, usage) {
                    self.spend(usage);
                }
                self.broke_off(&text, cause)
            }
            Record::Tools { results, images, .. } if self.progress == Progress::Attaching => {
                self.attached(&results, images);
                Ok(())
            }
            Record::Tools { results, complaint, .. } => {
                self.messages.push(Message::ToolResults(results));
                self.progress = Progress::Model;
                self.bad_answers = if complaint.is_some() { self.bad_answers + 1 } else { 0 };
                self.last_complaint = complaint.unwrap_or_default();
                Ok(())
            }
        }
    }

    /// The question holds from now on what it names.
    fn attached(&mut self, results: &[ToolResult], read: Vec<Image>) {
        self.progress = Progress::Model;
        if let (Some(Attachments { calls, fold, .. }), Some(Message::User { text, images })) =
            (self.attachments.take(), self.messages.last_mut())
        {
            *text = fold(text, &calls, results);
            images.extend(read);
        }
        self.drop_images(MAX_IMAGES, IMAGES_MAX_BYTES);
    }

    /// Keeps at most so many of the newest images, of so many bytes. Returns the names of those that are no longer shown.
    pub(super) fn drop_images(&mut self, mut count: usize, mut bytes: usize) -> Vec<String> {
        let mut dropped = Vec::new();
        for message in self.messages.iter_mut().rev() {
            let Message::User { images, .. } = message else { continue };
            images.retain(|image| {
                let is_kept = count > 0 && image.bytes.len() <= bytes;
                if is_kept {
                    (count, bytes) = (count - 1, bytes - image.bytes.len());
                } else {
                    dropped.push(image.name.clone());
                    (count, bytes) = (0, 0);
                }
                is_kept
            });
        }
        dropped
    }

    fn answered(&mut self, mut message: AssistantMessage, class: StopClass) {
        let must_drop_calls = self.is_final || class == StopClass::Refusal;
        if must_drop_calls && !message.tool_calls.is_empty() {
            // The provider's form holds the calls, too; the service would refuse it without results.
            message = AssistantMessage { text: message.text, ..AssistantMessage::default() };
            if message.text.is_empty() {
                NO_TEXT.clone_into(&mut message.text);
            }
        }
        self.has_spoken |= !message.text.trim().is_empty();
        self.progress = if message.tool_calls.is_empty() {
            Progress::Answered(class)
        } else {
            Progress::Tools { is_cut: class == StopClass::Length }
        };
        let is_empty = message.text.is_empty() && message.tool_calls.is_empty();
        if !is_empty {
            self.messages.push(Message::Assistant(message));
        }
    }

    fn broke_off(&mut self, text: &str, cause: Cut) -> Result<(), TurnError> {
        let has_text = !text.trim().is_empty();
        self.has_spoken |= has_text;
        // A cancelled question needs an answer, too, so that the next question does not revive it.
        if has_text || cause == Cut::Cancelled {
            let text = if has_text { format!("{text}\n\n{INTERRUPTED}") } else { INTERRUPTED.to_owned() };
            self.messages.push(Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }));
        }
        match cause {
            Cut::Cancelled => Ok(()),
            Cut::Incomplete(reason) => Err(TurnError::Incomplete { reason }),
            Cut::Failed(error) if error.kind == ProviderErrorKind::ToolUseFailed && self.rejected_calls == 0 => {
                self.rejected_calls += 1;
                let text = format!(
                    "Your last tool call was rejected before it ran: {}\nWrite it again, with arguments that are one \
                     valid JSON object.",
                    error.message
                );
                self.messages.push(Message::user(text));
                Ok(())
            }
            Cut::Failed(error) => Err(TurnError::Provider(error)),
        }
    }
}
