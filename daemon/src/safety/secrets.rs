//! Takes secrets out of what leaves the daemon: to a model, into the store of sessions, into the spool.

use std::{
    collections::BTreeSet,
    fmt,
    os::unix::ffi::OsStringExt as _,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use cohab_shell_relay::{
    scrub::{ExactValues, Scrubber},
    secret_names::{Stake, holds_secret},
};
use serde_json::Value;

use crate::agent::port::{AssistantMessage, BrokenArguments, Message, ModelRequest};

/// Values that are known to be secret; further ones are found by their form only.
const MOST_VALUES: usize = 256;

/// One for all conversations of the daemon: the same value has the same placeholder in all of them, and on disk.
#[derive(Default)]
pub struct Secrets {
    scrubber: Mutex<Scrubber>,
    known: Mutex<BTreeSet<Vec<u8>>>,
}

impl Secrets {
    /// Knows what the variables of this process hold whose names sound secret.
    #[must_use]
    pub fn of_this_process() -> Self {
        let secrets = Self::default();
        let all = std::env::vars_os().filter(|(name, _)| holds_secret(&name.to_string_lossy(), Stake::Sought));
        secrets.know(all.map(|(_, value)| value.into_vec()));
        secrets
    }

    /// These are secret, too, whatever they look like.
    pub fn know(&self, values: impl IntoIterator<Item = impl Into<Vec<u8>>>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let before = known.len();
        for value in values {
            if known.len() < MOST_VALUES {
                known.insert(value.into());
            }
        }
        if known.len() > before {
            let exact = ExactValues::new(known.iter().map(Vec::as_slice));
            self.scrubber().know(Arc::new(exact));
        }
    }

    fn scrubber(&self) -> MutexGuard<'_, Scrubber> {
        self.scrubber.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Text by others.
    pub fn text(&self, text: &mut String) {
        let clean = self.scrubber().text(text).into_owned();
        *text = clean;
    }

    /// Text by a model, which may name placeholders.
    pub fn own_text(&self, text: &mut String) {
        let clean = self.scrubber().own_text(text).into_owned();
        *text = clean;
    }

    /// All strings in a value by a model.
    pub fn own_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => self.own_text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.own_value(value)),
            Value::Object(object) => object.values_mut().for_each(|value| self.own_value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    /// All texts of a message. Its provider's own form stays: it goes only where it came from.
    pub fn message(&self, message: &mut Message) {
        match message {
            Message::User { text } => self.text(text),
            Message::Assistant(AssistantMessage { text, tool_calls, provider_data: _ }) => {
                self.own_text(text);
                for call in tool_calls {
                    match &mut call.args {
                        Ok(args) => args.values_mut().for_each(|value| self.own_value(value)),
                        Err(BrokenArguments { raw, error }) => {
                            self.own_text(raw);
                            self.own_text(error);
                        }
                    }
                }
            }
            Message::ToolResults(results) => results.iter_mut().for_each(|result| self.text(&mut result.content)),
        }
    }

    /// All texts of a request but the tools, which are ours.
    pub fn request(&self, request: &mut ModelRequest) {
        self.text(&mut request.system);
        request.messages.iter_mut().for_each(|message| self.message(message));
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
