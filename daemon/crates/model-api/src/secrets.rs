//! Removes secrets from all text that leaves the daemon: to a model, into the session store, into the spool.

use std::{
    borrow::Cow,
    collections::{BTreeSet, HashSet},
    fmt,
    hash::{BuildHasher as _, RandomState},
    ops::Deref,
    os::unix::ffi::OsStringExt as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cohab_secrets::{
    ExactValues, PersonalData, Scrubber,
    secret_names::{Use, holds_secret},
};
use serde_json::Value;

use crate::{AssistantMessage, BrokenArguments, JsonObject, Message, ModelRequest};

/// Most known secret values; further ones are found by their form only.
const MOST_VALUES: usize = 256;
/// Most texts that are known to be clean.
const MOST_CLEAN: usize = 16_384;

/// Which way a text goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// From the user, and what goes along with a question.
    UserInput,
    /// From the model to a tool.
    ToolArguments,
    /// From a tool.
    ToolResult,
    /// From the model.
    ModelOutput,
    /// From the model into what it is told again later.
    MemoryWrite,
}

/// What holds no secret any more: only [`Secrets`] makes it, and what leads out of the daemon takes nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scrubbed<T>(T);

impl<T> Scrubbed<T> {
    /// The value.
    #[must_use]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Scrubbed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

/// A value that secrets can be removed from.
pub trait Scrub {
    /// Removes secrets from all its texts.
    fn scrub(&mut self, secrets: &Secrets);
}

/// An untrusted text.
impl Scrub for String {
    fn scrub(&mut self, secrets: &Secrets) {
        secrets.text(self);
    }
}

/// All texts of a request but the tools, which are cohab's.
impl Scrub for ModelRequest {
    fn scrub(&mut self, secrets: &Secrets) {
        let personal = self.withheld;
        secrets.redact(Channel::UserInput, &mut self.system, personal);
        self.messages.iter_mut().for_each(|message| secrets.message(message, personal));
    }
}

/// The known secrets. One for all conversations of the daemon: the same value has the same placeholder in all of them, and on disk.
#[derive(Default)]
pub struct Secrets {
    finder: Mutex<Finder>,
    known: Mutex<BTreeSet<Vec<u8>>>,
}

/// Finds secrets, and remembers texts without any: each request holds those of the whole conversation again.
#[derive(Default)]
struct Finder {
    scrubber: Scrubber,
    /// The hashes of texts in which nothing was found.
    clean: HashSet<u64>,
    state: RandomState,
}

impl Finder {
    fn know(&mut self, exact: ExactValues) {
        self.scrubber.know(Arc::new(exact));
        self.clean.clear();
    }

    fn redacted<'a>(&mut self, is_own: bool, text: &'a str, personal: PersonalData) -> Cow<'a, str> {
        let hash = self.state.hash_one((is_own, personal, text));
        if self.clean.contains(&hash) {
            return Cow::Borrowed(text);
        }
        self.scrubber.look_for(personal);
        let redacted = if is_own { self.scrubber.own_text(text) } else { self.scrubber.text(text) };
        // A secret that was found may stand in a text that was clean before.
        if matches!(redacted, Cow::Owned(_)) || self.clean.len() >= MOST_CLEAN {
            self.clean.clear();
        }
        if matches!(redacted, Cow::Borrowed(_)) {
            self.clean.insert(hash);
        }
        redacted
    }
}

impl Secrets {
    /// Learns the values of this process's variables with secret-sounding names.
    #[must_use]
    pub fn of_this_process() -> Self {
        let secrets = Self::default();
        let all = std::env::vars_os().filter(|(name, _)| holds_secret(&name.to_string_lossy(), Use::Search));
        secrets.know(all.map(|(_, value)| value.into_vec()));
        secrets
    }

    /// Learns these values as secret, regardless of their form.
    pub fn know(&self, values: impl IntoIterator<Item = impl Into<Vec<u8>>>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for value in values {
            if known.len() < MOST_VALUES {
                known.insert(value.into());
            }
        }
        if known.len() > before {
            self.finder().know(ExactValues::new(known.iter().map(Vec::as_slice)));
        }
    }

    fn finder(&self) -> MutexGuard<'_, Finder> {
        self.finder.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes secrets, and this personal data, from a text in this direction. A model may name placeholders, others may not.
    pub fn redact(&self, channel: Channel, text: &mut String, personal: PersonalData) {
        // Long texts are not copied needlessly.
        if let Cow::Owned(clean) = self.redacted(channel, text, personal) {
            *text = clean;
        }
    }

    fn redacted<'a>(&self, channel: Channel, text: &'a str, personal: PersonalData) -> Cow<'a, str> {
        let is_own = match channel {
            Channel::UserInput | Channel::ToolResult => false,
            Channel::ToolArguments | Channel::ModelOutput | Channel::MemoryWrite => true,
        };
        self.finder().redacted(is_own, text, personal)
    }

    /// The same in arguments, which stay shared if they hold no secrets.
    pub fn arguments(&self, channel: Channel, args: &mut Arc<JsonObject>, personal: PersonalData) {
        if !args.values().all(|value| self.is_clean(channel, value, personal)) {
            Arc::make_mut(args).values_mut().for_each(|value| self.redact_value(channel, value, personal));
        }
    }

    fn is_clean(&self, channel: Channel, value: &Value, personal: PersonalData) -> bool {
        match value {
            Value::String(text) => matches!(self.redacted(channel, text, personal), Cow::Borrowed(_)),
            Value::Array(values) => values.iter().all(|value| self.is_clean(channel, value, personal)),
            Value::Object(object) => object.values().all(|value| self.is_clean(channel, value, personal)),
            Value::Null | Value::Bool(_) | Value::Number(_) => true,
        }
    }

    /// The same in all strings of a value.
    pub fn redact_value(&self, channel: Channel, value: &mut Value, personal: PersonalData) {
        match value {
            Value::String(text) => self.redact(channel, text, personal),
            Value::Array(values) => values.iter_mut().for_each(|value| self.redact_value(channel, value, personal)),
            Value::Object(object) => {
                object.values_mut().for_each(|value| self.redact_value(channel, value, personal));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// Whether a text has a secret in it.
    #[must_use]
    pub fn are_in(&self, text: &str) -> bool {
        let mut scrubbed = text.to_owned();
        self.text(&mut scrubbed);
        scrubbed != text
    }

    /// An untrusted text that goes to a disk: personal data stays where it is the user's own.
    pub fn text(&self, text: &mut String) {
        self.redact(Channel::ToolResult, text, PersonalData::default());
    }

    /// A text by a model that goes to a disk.
    pub fn own_text(&self, text: &mut String) {
        self.redact(Channel::ModelOutput, text, PersonalData::default());
    }

    /// The same for a shared text; other owners keep the original.
    pub fn shared(&self, text: &mut Arc<str>) {
        if let Cow::Owned(clean) = self.redacted(Channel::ModelOutput, text, PersonalData::default()) {
            *text = clean.into();
        }
    }

    /// All strings in a value by a model that go to a disk.
    pub fn own_value(&self, value: &mut Value) {
        self.redact_value(Channel::ToolArguments, value, PersonalData::default());
    }

    /// Whether [`Secrets::own_value`] would leave the value as it is.
    #[must_use]
    pub fn is_own_value_clean(&self, value: &Value) -> bool {
        self.is_clean(Channel::ToolArguments, value, PersonalData::default())
    }

    /// All texts of a message. Its provider's own form stays: it goes only back to that provider.
    pub fn message(&self, message: &mut Message, personal: PersonalData) {
        match message {
            Message::User { text, .. } => self.redact(Channel::UserInput, text, personal),
            Message::Assistant(AssistantMessage { text, tool_calls, provider_data: _ }) => {
                self.redact(Channel::ModelOutput, text, personal);
                for call in tool_calls {
                    match &mut call.args {
                        Ok(args) => self.arguments(Channel::ToolArguments, args, personal),
                        Err(BrokenArguments { raw, error }) => {
                            [raw, error]
                                .into_iter()
                                .for_each(|text| self.redact(Channel::ToolArguments, text, personal));
                        }
                    }
                }
            }
            Message::ToolResults(results) => {
                results.iter_mut().for_each(|result| self.redact(Channel::ToolResult, &mut result.content, personal));
            }
        }
    }

    /// `value` without secrets.
    #[must_use]
    pub fn scrubbed<T: Scrub>(&self, mut value: T) -> Scrubbed<T> {
        value.scrub(self);
        Scrubbed(value)
    }

    /// A text of cohab or of a model without secrets; placeholders stay.
    #[must_use]
    pub fn scrubbed_own(&self, mut text: String) -> Scrubbed<String> {
        self.own_text(&mut text);
        Scrubbed(text)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secrets")
    }
}

#[cfg(test)]
#[path = "secrets_tests.rs"]
mod tests;
