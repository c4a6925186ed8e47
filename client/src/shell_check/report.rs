//! Findings to text for people, or to JSON for programs. Pure.

use std::{path::Path, time::Duration};

use cohab_shell_relay::sanitize::one_line;
use ratatui::text::{Line, Span};
use serde_json::{Value, json};

use super::{
    facts::{Facts, median},
    findings::{Finding, Mode, Verdict, findings, mode},
};
use crate::ui::{
    ansi::{ColorSupport, write_line},
    theme,
};

/// Grows when a reader of the JSON would have to change.
const JSON_VERSION: u32 = 1;
/// Shown of a path.
const PATH_MAX_COLUMNS: usize = 100;
/// Where hints begin.
const HINT_INDENT: usize = 6;

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
        self.mode == Mode::Live && self.findings.iter().all(|finding| finding.verdict != Verdict::Fail)
    }

    /// For people: a line per finding, its hint below, the upshot at the end. Rows are wrapped by the terminal.
    #[must_use]
    pub fn text(&self, colors: ColorSupport) -> Vec<u8> {
        let mut out = Vec::new();
        let width = self.findings.iter().map(|finding| title(finding.id).chars().count()).max().unwrap_or(0);
        for finding in &self.findings {
            let (word, style) = match finding.verdict {
                Verdict::Ok => ("ok", theme::GOOD),
                Verdict::Warn => ("warn", theme::WARNING),
                Verdict::Fail => ("fail", theme::DANGER),
            };
            let head = format!("{:width$}  ", title(finding.id));
            let line = vec![
                Span::styled(format!("{word:4}"), style),
                Span::raw("  "),
                Span::raw(head),
                Span::raw(finding.text.as_str()),
            ];
            put(Line::from(line), colors, &mut out);
            if let Some(hint) = &finding.hint {
                let indent = " ".repeat(HINT_INDENT + width + 2);
                put(Line::from(vec![Span::raw(indent), Span::styled(hint.as_str(), theme::DIM)]), colors, &mut out);
            }
        }
        put(Line::default(), colors, &mut out);
        for line in self.upshot() {
            put(Line::raw(line), colors, &mut out);
        }
        out
    }

    fn upshot(&self) -> Vec<&'static str> {
        match self.mode {
            Mode::Live if self.works() => vec!["The assistant works in this shell."],
            Mode::Live => vec![
                "The assistant does not work in this shell as it should.",
                "`cohab ask` does: it runs commands in a shell of their own.",
            ],
            Mode::PassThrough => vec![
                "`cohab` opens this shell as it is: everything passes, no questions at the prompt.",
                "`cohab ask` works: it runs commands in a shell of their own.",
            ],
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
        format!("{value}\n")
    }
}

/// Milliseconds to two places; `null` for what is not known.
fn rounded(milliseconds: Option<f64>) -> Value {
    milliseconds.map_or(Value::Null, |time| json!((time * 100.0).round() / 100.0))
}

/// A duration in milliseconds.
#[must_use]
pub(super) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A path on one harmless line.
#[must_use]
pub(super) fn shown(path: &Path) -> String {
    one_line(&path.to_string_lossy(), PATH_MAX_COLUMNS)
}

fn put(line: Line<'_>, colors: ColorSupport, out: &mut Vec<u8>) {
    write_line(&line, colors, out);
    out.push(b'\n');
}

/// What people read for an id.
fn title(id: &str) -> String {
    id.replace('-', " ")
}
