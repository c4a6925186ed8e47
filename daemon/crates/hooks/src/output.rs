//! Reads what a hook said: its exit status, and JSON on its output. Pure.
//!
//! A hook can object, or ask for a question; it can never allow what the policy does not. What is said by a hook that guards and cannot be
//! understood counts as an objection.

use cohab_model_api::JsonObject;
use cohab_text::{
    cut::cut_middle,
    sanitize::{one_line, sanitize},
};
use serde::Deserialize;

use crate::event::HookEvent;

/// Most bytes of a text of a hook for the model.
const MAX_TEXT_BYTES: usize = 16 * 1024;
/// Columns of a text of a hook for the user.
const MESSAGE_COLUMNS: usize = 1_000;
/// The status of a hook that objects.
const OBJECTS: i32 = 2;
/// The reason of a hook that gives none.
const NO_REASON: &str = "it gave no reason";

/// How a hook ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookEnd {
    /// By itself.
    Exited {
        /// Its status, as a shell reports it.
        status: i32,
        /// What it printed.
        output: Captured,
        /// Its errors.
        errors: Captured,
    },
    /// At its time limit, of so many seconds.
    Late(u64),
    /// It did not run, for this reason.
    NotRun(String),
}

/// What a hook wrote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captured {
    /// The first bytes.
    pub bytes: Vec<u8>,
    /// Whether there was more.
    pub is_cut: bool,
}

/// What a hook has against an action, from the least.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objection {
    /// Nothing. That is no consent.
    #[default]
    None,
    /// The user is asked, for this reason.
    Ask(String),
    /// It must not happen, for this reason.
    Block(String),
}

/// What a hook said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// Against the action.
    pub objection: Objection,
    /// The fault of a hook that did not work, a phrase.
    pub fault: Option<String>,
    /// Text for the model.
    pub context: Option<String>,
    /// Text for the user, one line.
    pub message: Option<String>,
    /// The reason to end the turn.
    pub stop: Option<String>,
    /// The arguments that the call should have.
    pub updated_input: Option<JsonObject>,
}

impl Reply {
    fn failed(event: HookEvent, fault: String) -> Self {
        let objection = match event.is_guard() {
            true => Objection::Block(format!("it did not work, so nothing passes it: {fault}")),
            false => Objection::None,
        };
        Self { objection, fault: Some(fault), ..Self::default() }
    }
}

/// Reads how a hook of an event ended.
///
/// ```
/// use cohab_hooks::{event::HookEvent, output::{Captured, HookEnd, Objection, read}};
/// let errors = Captured { bytes: b"not here".to_vec(), is_cut: false };
/// let end = HookEnd::Exited { status: 2, output: Captured::default(), errors };
/// assert_eq!(read(HookEvent::PreToolUse, &end).objection, Objection::Block("not here".into()));
/// ```
#[must_use]
pub fn read(event: HookEvent, end: &HookEnd) -> Reply {
    match end {
        HookEnd::NotRun(reason) => Reply::failed(event, one_line(reason, MESSAGE_COLUMNS)),
        HookEnd::Late(seconds) => Reply::failed(event, format!("it did not end within {seconds} s and was killed")),
        HookEnd::Exited { status: 0, output, .. } => said(event, output),
        HookEnd::Exited { status: OBJECTS, errors, .. } => {
            let reason = for_model(&String::from_utf8_lossy(&errors.bytes)).unwrap_or_else(|| NO_REASON.to_owned());
            Reply { objection: Objection::Block(reason), ..Reply::default() }
        }
        HookEnd::Exited { status, errors, .. } => {
            let errors = one_line(&String::from_utf8_lossy(&errors.bytes), MESSAGE_COLUMNS);
            let errors = if errors.is_empty() { String::new() } else { format!(": {errors}") };
            Reply::failed(event, format!("it ended with status {status}{errors}"))
        }
    }
}

/// What a hook that succeeded printed: a JSON object, or plain text.
fn said(event: HookEvent, output: &Captured) -> Reply {
    let Ok(text) = str::from_utf8(&output.bytes).or_else(|error| cut_character(output, error)) else {
        return Reply::failed(event, "it printed what is no text".to_owned());
    };
    if !text.trim_start().starts_with('{') {
        let context = for_model(text).filter(|_| event.takes_plain_text());
        return Reply { context, ..Reply::default() };
    }
    if output.is_cut {
        return Reply::failed(event, "it printed more than cohab reads".to_owned());
    }
    match serde_json::from_str::<OutputForm>(text) {
        Ok(form) => form.reply(event),
        Err(error) => {
            let error = one_line(&error.to_string(), MESSAGE_COLUMNS);
            Reply::failed(event, format!("it printed JSON that cannot be read: {error}"))
        }
    }
}

/// The text of a long output whose last character is cut.
fn cut_character(output: &Captured, error: std::str::Utf8Error) -> Result<&str, ()> {
    let whole = &output.bytes[..error.valid_up_to()];
    let is_end = output.is_cut && error.error_len().is_none();
    str::from_utf8(whole).ok().filter(|_| is_end).ok_or(())
}

/// Harmless text for the model; `None` if it is empty.
fn for_model(text: &str) -> Option<String> {
    let text = cut_middle(sanitize(text).trim(), MAX_TEXT_BYTES);
    (!text.is_empty()).then_some(text)
}

fn reason(text: Option<String>) -> String {
    text.and_then(|text| for_model(&text)).unwrap_or_else(|| NO_REASON.to_owned())
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct OutputForm {
    r#continue: Option<bool>,
    stop_reason: Option<String>,
    decision: Option<DecisionForm>,
    reason: Option<String>,
    system_message: Option<String>,
    additional_context: Option<String>,
    hook_specific_output: Option<SpecificForm>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum DecisionForm {
    Approve,
    Allow,
    Ask,
    Defer,
    Block,
    Deny,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct SpecificForm {
    permission_decision: Option<DecisionForm>,
    permission_decision_reason: Option<String>,
    additional_context: Option<String>,
    updated_input: Option<JsonObject>,
    decision: Option<RequestForm>,
}

#[derive(Deserialize)]
struct RequestForm {
    behavior: DecisionForm,
    message: Option<String>,
}

impl DecisionForm {
    fn objection(self, reason: String) -> Objection {
        match self {
            Self::Approve | Self::Allow | Self::Defer => Objection::None,
            Self::Ask => Objection::Ask(reason),
            Self::Block | Self::Deny => Objection::Block(reason),
        }
    }
}

impl OutputForm {
    fn reply(self, event: HookEvent) -> Reply {
        let specific = self.hook_specific_output.unwrap_or_default();
        let general = self.decision.map(|decision| decision.objection(reason(self.reason)));
        let permission =
            specific.permission_decision.map(|one| one.objection(reason(specific.permission_decision_reason)));
        let request = specific.decision.map(|one| one.behavior.objection(reason(one.message)));
        let stop = (self.r#continue == Some(false)).then(|| reason(self.stop_reason));
        let stopped = stop.clone().filter(|_| event.is_guard()).map(Objection::Block);
        let objection = [general, permission, request, stopped].into_iter().flatten().max().unwrap_or_default();
        let context = [specific.additional_context, self.additional_context].into_iter().flatten();
        let context = for_model(&context.collect::<Vec<_>>().join("\n"));
        let message = self.system_message.map(|text| one_line(&text, MESSAGE_COLUMNS)).filter(|text| !text.is_empty());
        let updated_input = specific.updated_input.filter(|_| event == HookEvent::PreToolUse);
        Reply { objection, fault: None, context, message, stop, updated_input }
    }
}

#[cfg(test)]
#[path = "output_tests.rs"]
mod tests;
