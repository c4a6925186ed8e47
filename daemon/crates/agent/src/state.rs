//! The state of a turn, and the changes that steps make to it. No IO.

use cohab_model_api::{
    AssistantMessage, Message, ProviderError, ProviderErrorKind, StopClass, TokenUsage, ToolCall, ToolResult,
};

use super::error::TurnError;

/// Where a note of ours begins behind a tool's result. No result holds it: what tools return is made harmless text.
pub const NOTE_MARK: &str = "\n\n\u{1e}";

/// Stands at the end of a text that was cut.
const INTERRUPTED: &str = "[interrupted]";
/// Stands for a last answer that has no text.
const NO_TEXT: &str = "[stopped at the step limit]";

/// The conversation with its running turn.
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
}

/// Whose move it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// The model's.
    #[default]
    Model,
    /// The tools': the last message has calls without results.
    Tools {
        /// The length limit cut the answer: its calls must not run.
        is_cut: bool,
    },
    /// Nobody's: the model ended its answer so.
    Answered(StopClass),
}

/// What came of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A complete answer.
    Answer {
        /// The message.
        message: AssistantMessage,
        /// What its end means.
        class: StopClass,
        /// Its tokens.
        usage: TokenUsage,
    },
    /// An answer without its end.
    Broken {
        /// Text that came.
        text: String,
        /// Tokens so far.
        usage: TokenUsage,
        /// Why.
        cause: Cut,
    },
    /// Results of all pending calls, in their order.
    Tools {
        /// The results.
        results: Vec<ToolResult>,
        /// Set if no call of the batch could be run at all: what was wrong with the last one.
        complaint: Option<String>,
    },
}

impl Record {
    /// The tokens of a model call, unless nothing came of it.
    pub fn usage_mut(&mut self) -> Option<&mut TokenUsage> {
        match self {
            Self::Answer { usage, .. } => Some(usage),
            Self::Broken { text, usage, .. } => has_taken(text, *usage).then_some(usage),
            Self::Tools { .. } => None,
        }
    }
}

/// Whether a call that broke off took anything that is paid for.
fn has_taken(text: &str, usage: TokenUsage) -> bool {
    !text.is_empty() || usage != TokenUsage::default()
}

/// Why an answer has no end.
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
    /// A turn on top of `history`, which must be complete: every call has its result.
    #[must_use]
    pub fn new(mut history: Vec<Message>, question: String) -> Self {
        history.push(Message::User { text: question });
        Self { messages: history, ..Self::default() }
    }

    /// A turn that goes on after so many model calls: `messages` must be complete and end with what the model is to read next.
    #[must_use]
    pub fn going_on(messages: Vec<Message>, model_calls: u32) -> Self {
        Self { messages, model_calls, ..Self::default() }
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

    /// Whether an answer cost something that is not known, beside what is.
    #[must_use]
    pub fn is_cost_partial(&self) -> bool {
        self.is_cost_partial
    }

    /// Whose move it is.
    #[must_use]
    pub fn progress(&self) -> Progress {
        self.progress
    }

    /// Model calls so far, those that failed included.
    #[must_use]
    pub fn model_calls(&self) -> u32 {
        self.model_calls
    }

    /// Whether the last answer was asked for without tools.
    #[must_use]
    pub fn is_final(&self) -> bool {
        self.is_final
    }

    /// Whether any text of the turn was kept.
    #[must_use]
    pub fn has_spoken(&self) -> bool {
        self.has_spoken
    }

    /// Answers in a row of which no call could be run, and the last complaint.
    #[must_use]
    pub fn bad_answers(&self) -> (u32, &str) {
        (self.bad_answers, &self.last_complaint)
    }

    /// Somebody else answers from now on.
    pub fn forgive_bad_answers(&mut self) {
        self.bad_answers = 0;
    }

    /// Calls that wait for results.
    #[must_use]
    pub fn pending_calls(&self) -> &[ToolCall] {
        match (self.progress, self.messages.last()) {
            (Progress::Tools { .. }, Some(Message::Assistant(message))) => &message.tool_calls,
            _ => &[],
        }
    }

    /// The number of the next step.
    pub fn number_step(&mut self) -> u32 {
        self.steps += 1;
        self.steps - 1
    }

    /// Notes that a model call begins; `allow_tools` is false for the last one.
    pub fn model_call_begins(&mut self, allow_tools: bool) {
        self.model_calls += 1;
        self.is_final = !allow_tools;
    }

    /// Whether there is something that the model reads next, for [`TurnState::tell`].
    #[must_use]
    pub fn is_read_next(&self) -> bool {
        matches!(self.messages.last(), Some(Message::User { .. } | Message::ToolResults(_)))
    }

    /// Adds a note of ours to the end of what the model reads next: the user's text, or the last result of the last batch. There it
    /// splits no call from its result and makes no second message in a row.
    pub fn tell(&mut self, note: &str) {
        match self.messages.last_mut() {
            Some(Message::User { text }) => *text += &format!("\n\n{note}"),
            Some(Message::ToolResults(results)) => {
                let last = results.last_mut();
                last.into_iter().for_each(|result| result.content += &format!("{NOTE_MARK}{note}"));
            }
            Some(Message::Assistant(_)) | None => {}
        }
    }

    /// Puts another conversation in place of this one, before a model call: a shorter one that means the same. It must be complete
    /// and end with what the model is to read next.
    pub fn rewrite(&mut self, messages: Vec<Message>) {
        if self.progress == Progress::Model {
            self.messages = messages;
            self.rewrites += 1;
        }
    }

    /// How often the conversation was put in place of another: what is known of its earlier messages is then no longer so.
    #[must_use]
    pub fn rewrites(&self) -> u32 {
        self.rewrites
    }

    /// Adds what was taken beside the model's answers.
    pub fn spend(&mut self, usage: TokenUsage) {
        self.usage.add(usage);
        self.is_cost_partial |= usage.cost_microusd.is_none();
    }

    /// The answer is known without the model.
    pub fn answer_with(&mut self, text: String) {
        self.has_spoken = true;
        self.progress = Progress::Answered(StopClass::End);
        self.messages.push(Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() }));
    }

    /// Calls that wait for results get this one, so that the conversation is complete.
    pub fn give_up_calls(&mut self, reason: &str) {
        let give_up = |call: &ToolCall| ToolResult {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            content: reason.to_owned(),
            is_error: true,
        };
        let results: Vec<ToolResult> = self.pending_calls().iter().map(give_up).collect();
        if !results.is_empty() {
            self.messages.push(Message::ToolResults(results));
            self.progress = Progress::Model;
        }
    }

    /// Takes in what came of a step.
    ///
    /// # Errors
    /// When the turn cannot go on. The conversation is complete then, too.
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
            Record::Tools { results, complaint } => {
                self.messages.push(Message::ToolResults(results));
                self.progress = Progress::Model;
                self.bad_answers = if complaint.is_some() { self.bad_answers + 1 } else { 0 };
                self.last_complaint = complaint.unwrap_or_default();
                Ok(())
            }
        }
    }

    fn answered(&mut self, mut message: AssistantMessage, class: StopClass) {
        let must_drop_calls = self.is_final || class == StopClass::Refusal;
        if must_drop_calls && !message.tool_calls.is_empty() {
            // The provider's form holds the calls, too; sent back without results it would be refused.
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
        // A question that was cancelled needs an answer, too: the next one must not revive it.
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
                self.messages.push(Message::User { text });
                Ok(())
            }
            Cut::Failed(error) => Err(TurnError::Provider(error)),
        }
    }
}
