//! Findings to text for people, or to JSON for programs. Pure.

use cohab_term::{ansi::ColorSupport, output_style::OutputStyle, theme};
use cohab_text::sanitize::escaped_json;
use ratatui::text::{Line, Span};
use serde_json::json;
use unicode_width::UnicodeWidthStr;

use super::latency::Measured;
use crate::shell_check::{
    finding::{Finding, FindingVerdict},
    report::{put, rounded, rows, title},
};

/// Grows when a reader of the JSON would have to change.
const JSON_VERSION: u32 = 1;
/// Columns for a figure: `999.99 ms`.
const FIGURE_COLUMNS: usize = 9;

/// All that was found.
pub(super) struct Report {
    pub findings: Vec<Finding>,
    /// Measured, if that was asked for.
    pub latency: Option<Vec<Measured>>,
}

impl Report {
    /// Nothing fails.
    pub fn is_ok(&self) -> bool {
        self.count(FindingVerdict::Fail) == 0
    }

    fn count(&self, verdict: FindingVerdict) -> usize {
        let measured = self.latency.iter().flatten().filter(|measured| measured.verdict() == verdict);
        self.findings.iter().filter(|finding| finding.verdict == verdict).count() + measured.count()
    }

    /// For people: a row or more a finding, its hint below, the figures, the upshot at the end.
    pub fn text(&self, columns: usize, colors: ColorSupport, output_style: OutputStyle) -> Vec<u8> {
        let mut out = Vec::new();
        let width = self.findings.iter().map(|finding| finding.id.width()).max().unwrap_or(0);
        for finding in &self.findings {
            let (mark, style) = mark(finding.verdict, output_style);
            let mut head =
                vec![Span::styled(format!("{mark}  "), style), Span::raw(format!("{:width$}  ", title(finding.id)))];
            let indent = mark.width() + width + 4;
            let texts = rows(&finding.text, columns, indent).into_iter().map(Span::raw);
            let hint = finding.hint.as_ref().map(|hint| format!("{}{hint}", output_style.choose("", "Hint: ")));
            let hints = rows(hint.as_deref().unwrap_or_default(), columns, indent);
            for row in texts.chain(hints.into_iter().map(|row| Span::styled(row, theme::DIM))) {
                head.push(row);
                put(&Line::from(std::mem::replace(&mut head, vec![Span::raw(" ".repeat(indent))])), colors, &mut out);
            }
        }
        put(&Line::default(), colors, &mut out);
        if let Some(latency) = &self.latency {
            figures(latency, output_style, colors, &mut out);
        }
        put(&Line::raw(self.upshot()), colors, &mut out);
        out
    }

    fn upshot(&self) -> String {
        let counted = |count: usize, word: &str| match count {
            0 => None,
            1 => Some(format!("1 {word}")),
            count => Some(format!("{count} {word}s")),
        };
        let all = [
            counted(self.count(FindingVerdict::Fail), "failure"),
            counted(self.count(FindingVerdict::Warn), "warning"),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() { "All is well.".to_owned() } else { format!("{}.", all.join(", ")) }
    }

    /// For programs, with a line end.
    pub fn json(&self) -> String {
        let mut value = json!({"version": JSON_VERSION, "ok": self.is_ok(), "findings": self.findings});
        if let Some(latency) = &self.latency {
            let figures = latency.iter().map(|measured| {
                json!({
                    "id": measured.id, "verdict": measured.verdict(), "value_ms": rounded(measured.value_ms),
                    "spread_ms": measured.spread_ms.map(|(low, high)| [rounded(Some(low)), rounded(Some(high))]),
                    "p99_ms": rounded(measured.p99_ms), "budget_ms": measured.budget_ms, "text": measured.text,
                })
            });
            value["latency"] = figures.collect();
        }
        escaped_json(&value.to_string()) + "\n"
    }
}

fn mark(verdict: FindingVerdict, output_style: OutputStyle) -> (&'static str, ratatui::style::Style) {
    match verdict {
        FindingVerdict::Ok => (output_style.choose("✓", "ok  "), theme::GOOD),
        FindingVerdict::Warn => (output_style.choose("!", "warn"), theme::WARNING),
        FindingVerdict::Fail => (output_style.choose("✗", "fail"), theme::DANGER),
    }
}

/// A row a figure: what it is, its median, the budget; below one over the budget between which times most measurements lie.
fn figures(latency: &[Measured], output_style: OutputStyle, colors: ColorSupport, out: &mut Vec<u8>) {
    let width = latency.iter().map(|measured| measured.text.width()).max().unwrap_or(0);
    for measured in latency {
        let (mark, style) = mark(measured.verdict(), output_style);
        let gap = " ".repeat(width - measured.text.width());
        let figure = measured.value_ms.map_or_else(|| "not known".to_owned(), |value| format!("{value:.2} ms"));
        let budget = format!("at most {} ms", measured.budget_ms);
        let row = vec![
            Span::styled(format!("{mark}  "), style),
            Span::raw(format!("{}{gap}  {figure:>FIGURE_COLUMNS$}  ", measured.text)),
            Span::styled(budget, theme::DIM),
        ];
        put(&Line::from(row), colors, out);
        // A wide spread says that the machine was busy.
        let spread = measured.spread_ms.filter(|_| measured.verdict() == FindingVerdict::Warn);
        if let Some((low, high)) = spread {
            let indent = " ".repeat(mark.width() + 2);
            let text = format!("{indent}80 % of the measurements took {:.1} to {:.1} ms", low.max(0.0), high.max(0.0));
            put(&Line::from(Span::styled(text, theme::DIM)), colors, out);
        }
    }
    put(&Line::default(), colors, out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shell_check::finding::finding;

    fn report() -> Report {
        let long = "xterm-256color, 80 columns, 24 rows, in tmux, over ssh, and some more words to fill the row up";
        let findings = vec![
            finding("terminal", FindingVerdict::Ok, long)
                .hint("if Esc comes late here: `set -s escape-time 10` in tmux.conf"),
            finding("rc-files", FindingVerdict::Warn, "~/.bashrc line 3: `exec fish`").hint("take it out"),
            finding("model", FindingVerdict::Fail, "the key of Mistral should be in X, which is not set").hint("set X"),
        ];
        let measured = |id, text: &str, value_ms: Option<f64>| Measured {
            id,
            text: text.into(),
            value_ms,
            spread_ms: value_ms.map(|value| (value / 2.0, value * 20.0)),
            p99_ms: None,
            budget_ms: 1.5,
        };
        let latency = vec![
            measured("echo", "a key, added", Some(0.123)),
            measured("glyph", "a chunk to its glyph", None),
            measured("start", "the start, added", Some(7.25)),
        ];
        Report { findings, latency: Some(latency) }
    }

    fn text(output_style: OutputStyle) -> String {
        String::from_utf8(report().text(80, ColorSupport::None, output_style)).unwrap()
    }

    #[test]
    fn people_see_rows_that_fit_and_an_upshot() {
        insta::assert_snapshot!(text(OutputStyle::Rich));
        insta::assert_snapshot!(text(OutputStyle::Accessible));
        assert!(text(OutputStyle::Accessible).is_ascii());
    }

    #[test]
    fn programs_get_every_finding_and_unknown_figures_as_null() {
        let value: serde_json::Value = serde_json::from_str(&report().json()).unwrap();
        assert_eq!((&value["version"], &value["ok"]), (&json!(1), &json!(false)));
        assert_eq!(value["findings"][2]["verdict"], "fail");
        assert_eq!((&value["latency"][0]["value_ms"], &value["latency"][1]["value_ms"]), (&json!(0.12), &json!(null)));
        let well = Report { findings: vec![finding("a", FindingVerdict::Warn, "b")], latency: None };
        let value: serde_json::Value = serde_json::from_str(&well.json()).unwrap();
        assert!(value["ok"] == true && value.get("latency").is_none());
    }
}

/// For the tests of the checks.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// What a person sees of these findings in 80 columns.
    pub fn rows(findings: Vec<Finding>) -> String {
        let report = Report { findings, latency: None };
        String::from_utf8(report.text(80, ColorSupport::None, OutputStyle::Rich)).expect("UTF-8")
    }
}
