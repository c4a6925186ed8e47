//! Findings to text for people, or to JSON for programs. Pure.

use std::time::Duration;

use cohab_term::{
    ansi::{ColorSupport, write_line},
    theme,
};
use cohab_text::sanitize::escaped_json;
use ratatui::text::{Line, Span};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

use super::{
    facts::{Facts, StartEnd, Tried, median, milliseconds},
    finding::{Finding, FindingVerdict},
    findings::{Mode, findings, mode},
};

/// Grows when a reader of the JSON would have to change.
const JSON_VERSION: u32 = 1;
const VERDICT_COLUMNS: usize = 4;

/// A whole check.
#[derive(Clone, Debug)]
pub struct Report {
    facts: Facts,
    findings: Vec<Finding>,
    mode: Mode,
}

impl Report {
    /// Judges the facts.
    #[must_use]
    pub fn new(facts: Facts) -> Self {
        Self { findings: findings(&facts), mode: mode(&facts), facts }
    }

    /// Whether the relay works: nothing failed.
    #[must_use]
    pub fn works(&self) -> bool {
        self.mode == Mode::Live && self.findings.iter().all(|finding| finding.verdict != FindingVerdict::Fail)
    }

    /// For people: a row or more per finding, its hint below, the upshot at the end. No row is wider than `columns`, unless a
    /// word is.
    #[must_use]
    pub fn text(&self, columns: usize, colors: ColorSupport) -> Vec<u8> {
        let mut out = Vec::new();
        let width = self.findings.iter().map(|finding| finding.id.len()).max().unwrap_or(0);
        let indent = VERDICT_COLUMNS + width + 4;
        for finding in &self.findings {
            let (word, style) = match finding.verdict {
                FindingVerdict::Ok => ("ok", theme::GOOD),
                FindingVerdict::Warn => ("warn", theme::WARNING),
                FindingVerdict::Fail => ("fail", theme::DANGER),
            };
            let verdict = Span::styled(format!("{word:VERDICT_COLUMNS$}"), style);
            let mut head = vec![verdict, Span::raw(format!("  {:width$}  ", title(finding.id)))];
            let hint = finding.hint.as_deref().unwrap_or_default();
            let texts = rows(&finding.text, columns, indent).into_iter().map(Span::raw);
            let hints = rows(hint, columns, indent).into_iter().map(|row| Span::styled(row, theme::DIM));
            for row in texts.chain(hints) {
                head.push(row);
                put(&Line::from(std::mem::replace(&mut head, vec![Span::raw(" ".repeat(indent))])), colors, &mut out);
            }
        }
        put(&Line::default(), colors, &mut out);
        for line in self.upshot() {
            put(&Line::raw(line), colors, &mut out);
        }
        out
    }

    fn is_partial(&self) -> bool {
        self.facts.relay.as_ref().is_some_and(|relay| relay.enter == Tried::Skipped)
    }

    fn upshot(&self) -> Vec<&'static str> {
        match self.mode {
            Mode::Live if self.works() && self.is_partial() => {
                vec!["What was tried works in this shell; asking a question was not tried."]
            }
            Mode::Live if self.works() => vec!["The assistant works in this shell."],
            Mode::Live => vec![
                "The assistant does not work correctly in this shell.",
                "`cohab ask` does: it runs commands in a shell of their own.",
            ],
            Mode::PassThrough if matches!(self.facts.start.ours, StartEnd::Slow { .. }) => vec![
                "Before the first prompt, input goes straight to the shell; questions are not recognized.",
                "`cohab ask` works: it runs commands in a shell of their own.",
            ],
            Mode::PassThrough => vec![
                "`cohab` opens this shell as it is: everything passes, no questions at the prompt.",
                "`cohab ask` works: it runs commands in a shell of their own.",
            ],
            Mode::NotStarted => vec!["`cohab` takes the next one: client.shell, $SHELL, the one of passwd, /bin/sh."],
            Mode::PlainShell => vec!["`cohab` opens your plain shell here, without the assistant."],
        }
    }

    /// For programs, with a line end.
    #[must_use]
    pub fn json(&self) -> String {
        let facts = &self.facts;
        let relay = facts.relay.as_ref();
        let round = |times: &[Duration]| median(times).map(milliseconds);
        let (with, without) = (facts.start.with.map(milliseconds), facts.start.without.map(milliseconds));
        let added = with.zip(without).map(|(with, without)| with - without);
        let tools = relay.and_then(|relay| relay.inside.as_ref()).map_or(&facts.rc.tools, |inside| &inside.tools);
        let value = json!({
            "version": JSON_VERSION,
            "works": self.works(),
            "mode": self.mode,
            "shell": {
                "kind": facts.shell.kind.name(),
                "path": facts.shell.path.to_string_lossy(),
                "version": facts.shell.version.map(|version| version.to_string()),
                "login": facts.shell.is_login,
            },
            "start_ms": { "with": rounded(with), "without": rounded(without), "added": rounded(added) },
            "round_trip_ms": {
                "relayed": rounded(relay.and_then(|relay| round(&relay.relayed))),
                "typed": rounded(relay.and_then(|relay| round(&relay.typed))),
                "samples": relay.map_or(0, |relay| relay.relayed.len().min(relay.typed.len())),
            },
            "prompt_tools": tools,
            "findings": self.findings,
        });
        escaped_json(&value.to_string()) + "\n"
    }
}

/// Milliseconds to two places; `null` for what is not known.
pub(crate) fn rounded(milliseconds: Option<f64>) -> Value {
    milliseconds.map_or(Value::Null, |time| json!((time * 100.0).round() / 100.0))
}

pub(crate) fn put(line: &Line<'_>, colors: ColorSupport, out: &mut Vec<u8>) {
    write_line(line, colors, out);
    out.push(b'\n');
}

/// A text in rows that fit behind `indent`, broken between words.
pub(crate) fn rows(text: &str, columns: usize, indent: usize) -> Vec<String> {
    let room = columns.saturating_sub(indent);
    let mut rows: Vec<String> = Vec::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        match rows.last_mut().filter(|row| row.width() + 1 + word.width() <= room) {
            Some(row) => {
                row.push(' ');
                row.push_str(word);
            }
            None => rows.push(word.to_owned()),
        }
    }
    rows
}

/// What people read for an id.
pub(crate) fn title(id: &str) -> String {
    id.replace('-', " ")
}

#[cfg(test)]
mod tests;
