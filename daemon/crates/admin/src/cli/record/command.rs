//! Finds the assistant's commands in stored events, each with the events around it. Pure.

use cohab_store::sessions::{
    EventRow,
    event::{Approval, Call, CallResult, Event},
};
use serde_json::{Value, json};

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// Its event.
    pub row: EventRow,
    /// The call.
    pub call: Call,
    /// Its result; absent if it was never reported.
    pub result: Option<CallResult>,
    /// The user's question.
    pub question: Option<String>,
    /// The reasons of the question for consent.
    pub reasons: Vec<String>,
    /// Its place in the turn's events, to find the model's text before it and the events after it.
    pub place: usize,
}

impl Command {
    /// Finds the command of this number among the events of its turn.
    #[must_use]
    pub fn among(events: &[EventRow], number: u64) -> Option<Self> {
        let place = events.iter().position(|row| row.number == number)?;
        let row = events[place].clone();
        let Event::Call(call) = row.event.clone() else { return None };
        // The next call's result is not this one's.
        let after = events[place + 1..].iter().take_while(|row| !matches!(row.event, Event::Call(_)));
        let result = after.filter_map(result_of).next();
        let question = events[..place].iter().rev().find_map(|row| match &row.event {
            Event::Question { text, .. } => Some(text.clone()),
            _ => None,
        });
        let asked = events[..place].last().and_then(|row| match &row.event {
            Event::Approval { reasons, .. } => Some(reasons.clone()),
            _ => None,
        });
        Some(Self { row, call, result, question, reasons: asked.unwrap_or_default(), place })
    }

    /// The exact text; the title where it is no command.
    #[must_use]
    pub fn text(&self) -> &str {
        self.call.command.as_deref().unwrap_or(&self.call.title)
    }

    /// Its outcome, in a few words.
    #[must_use]
    pub fn went(&self) -> String {
        if self.call.approval == Approval::Refused {
            return "not run".to_owned();
        }
        match &self.result {
            Some(CallResult { exit_code: Some(code), .. }) => format!("exit {code}"),
            Some(CallResult { is_error: true, .. }) => "not run".to_owned(),
            Some(_) => "did not finish".to_owned(),
            None => "unknown".to_owned(),
        }
    }

    /// Whether it succeeded.
    #[must_use]
    pub fn went_well(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.exit_code == Some(0) && !result.is_error)
    }

    /// Its author.
    #[must_use]
    pub fn author(&self) -> &'static str {
        if self.call.proposed.is_some() { "assistant, edited by you" } else { "assistant" }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Value {
        let result = self.result.as_ref();
        json!({
            "number": self.row.number,
            "session": self.row.session,
            "at": self.row.at.to_string(),
            "command": self.text(),
            "proposed": self.call.proposed,
            "author": self.author(),
            "cwd": self.call.cwd,
            "exit_code": result.and_then(|result| result.exit_code),
            "duration_ms": result.and_then(|result| result.duration_ms),
            "approval": self.call.approval.words(),
            "question": self.question,
        })
    }
}

fn result_of(row: &EventRow) -> Option<CallResult> {
    match &row.event {
        Event::Result(result) => Some(result.clone()),
        _ => None,
    }
}
