//! The content of an audit record: [`Note`], [`Event`] and their JSON. Pure.

use cohab_text::{cut::cut_middle, sanitize::escaped_json};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::seal::Mac;

/// Longest text in a record, in bytes; a longer one loses its middle.
const TEXT_BYTES: usize = 16 * 1024;
/// Reasons of one verdict that are kept.
const MAX_REASONS: usize = 16;
/// Longest reason, in bytes.
const REASON_BYTES: usize = 512;

/// An event to record.
#[derive(Clone, Debug, PartialEq)]
pub struct Note {
    /// When it happened.
    pub at: Timestamp,
    /// Name of the session, if it happened in one.
    pub session: String,
    /// The turn's id, if it happened in one.
    pub turn: String,
    /// Days after which records may go.
    pub keep_days: u32,
    /// The event.
    pub event: Event,
}

/// A recorded event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn begins.
    TurnBegan {
        /// The approval mode.
        mode: String,
        /// Rules of the user's that are in force.
        rules: usize,
        /// The shell's folder.
        cwd: String,
        /// Whether its question is private: nothing else of the turn is stored.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_private: bool,
    },
    /// A question to the user was answered.
    Asked {
        /// Its subject, to the letter.
        subject: String,
        /// Whether it is known to do harm.
        is_dangerous: bool,
        /// The reasons for the question.
        reasons: Vec<String>,
        /// The user's word.
        answer: Answer,
        /// The edited text, or the reason for the refusal.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The assistant is about to act. The record is on disk before the action.
    Action {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// The kind of action.
        does: Deed,
        /// The command, or the path, to the letter.
        text: String,
        /// The command as typed, if words were added that keep it read-only.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        typed: String,
        /// Its folder.
        cwd: String,
        /// The policy's verdict: `allow`, `ask`, `danger`.
        verdict: String,
        /// Its reasons.
        reasons: Vec<String>,
        /// The consent to it.
        consent: Consent,
        /// The rule that allows it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rule: String,
    },
    /// An action was refused.
    Refused {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// The command, or the path.
        text: String,
        /// The reason that the model got.
        reason: String,
    },
    /// A hook of the user's kept something from happening.
    HookObjected {
        /// The event at which it ran.
        on: String,
        /// The tool; empty if it was no call.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        tool: String,
        /// The hook's command.
        hook: String,
        /// Its reason.
        reason: String,
    },
    /// The lock stopped a command, and the user let it run once more without it. Recorded with its result.
    RanWithoutLock {
        /// Id of the call.
        call: String,
        /// How the first run failed, a clause.
        first_run: String,
    },
    /// The end of an action.
    Done {
        /// Id of the call.
        call: String,
        /// `done`, `failed`, `refused` or `cancelled`.
        outcome: String,
    },
    /// The approval mode changed.
    ModeChanged {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// A rule of the user's was stored.
    RuleStored {
        /// Its command, and its folder if it has one.
        rule: String,
    },
    /// A rule of the user's was removed.
    RuleRemoved {
        /// Its command, and its folder if it has one.
        rule: String,
    },
    /// The user took changes of files back.
    Undone {
        /// The files.
        paths: Vec<String>,
    },
    /// A turn is over.
    TurnEnded {
        /// Its end, in one word.
        reason: String,
    },
    /// The records before this one were changed.
    Broken {
        /// The fault.
        reason: String,
    },
}

/// The kind of an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Runs a command.
    Run,
    /// Changes a file, or makes one.
    Write,
    /// Reads what may be secret.
    Read,
    /// Has something done by a program that is not part of cohab.
    Foreign,
}

/// The user's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// This once.
    Once,
    /// As long as the session lives.
    Session,
    /// For good: a rule is stored.
    Always,
    /// Something else instead.
    Edited,
    /// No.
    No,
}

/// The consent to an action.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Consent {
    /// The policy allows it.
    Policy,
    /// The user was asked about it.
    Asked,
    /// The user agreed to the same earlier in the session.
    Session,
    /// A rule of the user's allows it.
    Rule,
    /// The mode lets everything run.
    Mode,
}

/// A stored record, without its own seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1.
    pub n: u64,
    /// The seal of the record before it.
    pub prev: Mac,
    /// Its time.
    #[serde(with = "stamp")]
    pub at: Timestamp,
    /// Name of the session, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The turn, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub turn: String,
    /// The event.
    #[serde(flatten)]
    pub event: Event,
}

impl Record {
    /// One line of JSON without its end; it contains no terminal sequences.
    pub(super) fn json(&self) -> String {
        escaped_json(&serde_json::to_string(self).unwrap_or_default())
    }
}

/// Text for a record, to the letter unless it is too long.
#[must_use]
pub fn text(text: &str) -> String {
    cut_middle(text, TEXT_BYTES)
}

/// Reasons for a record.
#[must_use]
pub fn reasons(reasons: &[String]) -> Vec<String> {
    reasons.iter().take(MAX_REASONS).map(|reason| cut_middle(reason, REASON_BYTES)).collect()
}

/// A time as text.
mod stamp {
    use jiff::Timestamp;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(at: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(at)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
