//! The records of the audit log. Pure.

use cohab_text::{cut::cut_middle, sanitize::escaped_json};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::seal::Mac;

/// Longest text in a record, in bytes; a longer one loses its middle.
const TEXT_BYTES: usize = 16 * 1024;
/// Reasons of one verdict that are kept.
const MAX_REASONS: usize = 16;
/// Longest reason, in bytes.
const REASON_BYTES: usize = 512;

/// What is to be recorded.
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
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// A turn begins.
    TurnBegan {
        /// What may be done unasked.
        mode: String,
        /// Rules of the user's that are in force.
        rules: usize,
        /// Where the shell is.
        cwd: String,
    },
    /// A question to the user was answered.
    Asked {
        /// What about, to the letter.
        subject: String,
        /// Known to do harm.
        is_dangerous: bool,
        /// Why it was asked.
        reasons: Vec<String>,
        /// The user's word.
        answer: Answer,
        /// What the user made of it, or why not.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        note: String,
    },
    /// The assistant is about to do this. Stands on disk before it happens.
    Action {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// What it does.
        does: Deed,
        /// The command, or the path, to the letter.
        text: String,
        /// The command as it is typed, if words are put in that keep it read-only.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        typed: String,
        /// Where.
        cwd: String,
        /// The policy's word: `allow`, `ask`, `danger`.
        verdict: String,
        /// Its reasons.
        reasons: Vec<String>,
        /// Why it may.
        consent: Consent,
        /// The rule that allows it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        rule: String,
    },
    /// The assistant was kept from this.
    Refused {
        /// Id of the call.
        call: String,
        /// The tool.
        tool: String,
        /// The command, or the path.
        text: String,
        /// What the model was told.
        reason: String,
    },
    /// What became of an action.
    Done {
        /// Id of the call.
        call: String,
        /// `done`, `failed`, `refused` or `cancelled`.
        outcome: String,
    },
    /// Something else may be done unasked from now on.
    ModeChanged {
        /// Before.
        from: String,
        /// Now.
        to: String,
    },
    /// A rule of the user's holds from now on.
    RuleStored {
        /// Its command, and its folder if it has one.
        rule: String,
    },
    /// A rule of the user's holds no more.
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
        /// How, in one word.
        reason: String,
    },
    /// The records before this one were not as they had been left.
    Broken {
        /// What was wrong.
        reason: String,
    },
}

/// What an action touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deed {
    /// Runs a command.
    Run,
    /// Changes a file, or makes one.
    Write,
    /// Reads what may be secret.
    Read,
}

/// What the user said.
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

/// Why an action may happen.
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

/// A record as it is kept, without its own seal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number, from 1.
    pub n: u64,
    /// The seal of the one before.
    pub prev: Mac,
    /// When.
    #[serde(with = "stamp")]
    pub at: Timestamp,
    /// Name of the session, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The turn, if any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub turn: String,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

impl Record {
    /// As one line of JSON without its end; a terminal obeys nothing in it.
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
