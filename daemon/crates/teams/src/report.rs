//! The report of a subagent's work.

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use cohab_agent::{StopReason, TurnError, hook::TurnResult};
use cohab_model_api::TokenUsage;
use cohab_text::{cut::cut_middle, sanitize::one_line, tokens::estimate_tokens};

/// Longest answer of a subagent that the conversation which ordered it gets, in estimated tokens.
pub const REPORT_TOKENS: u64 = 2_000;
/// Longest list of steps in a report, in steps.
const MAX_STEPS: usize = 20;
/// Longest line about one step, in columns.
const STEP_COLUMNS: usize = 100;
/// What stands before the steps.
const STEPS: &str = "\n\nits steps:";
/// The start of the line that names the source of an outside text.
const OUTSIDE: &str = "[outside text: ";

/// How the work ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReportEnd {
    /// With an answer.
    Done,
    /// At a limit: the answer is what was found until then.
    Limit,
    /// The model refused.
    Refused,
    /// The turn that ordered it was cancelled.
    Cancelled,
    /// With an error, one sentence.
    Failed(String),
}

impl ReportEnd {
    /// Of the result of a subagent's turn.
    #[must_use]
    pub fn of(result: &TurnResult) -> Self {
        match result {
            Ok(StopReason::Answered) => Self::Done,
            Ok(StopReason::StepLimit | StopReason::Length) => Self::Limit,
            Ok(StopReason::Refused) => Self::Refused,
            Ok(StopReason::Cancelled) => Self::Cancelled,
            // A budget or a rule of the user's.
            Err(TurnError::Stopped { message, .. }) => Self::Failed(message.clone()),
            Err(error) => Self::Failed(error.to_string()),
        }
    }

    fn words(&self) -> String {
        match self {
            Self::Done => "done".to_owned(),
            Self::Limit => "stopped at its limit: this may be incomplete".to_owned(),
            Self::Refused => "the model refused".to_owned(),
            Self::Cancelled => "cancelled".to_owned(),
            Self::Failed(error) => format!("failed: {error}"),
        }
    }
}

/// What a subagent changed in its copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopyChanges {
    /// The unified diff against the state at its begin; not empty.
    pub diff: String,
    /// Where it is kept for the model that ordered the work.
    pub kept: Option<KeptDiff>,
}

/// A diff in a file that a model can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDiff {
    /// The file.
    pub file: PathBuf,
    /// Whether it holds the diff to the byte: nothing in it looks like a secret.
    pub is_exact: bool,
}

/// What comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubagentReport {
    /// Its kind and number, as the user saw them: `explore 2`.
    pub name: String,
    /// The answer.
    pub answer: String,
    /// Its steps, one line each: the evidence.
    pub steps: Vec<String>,
    /// How it ended.
    pub end: ReportEnd,
    /// What it took.
    pub usage: TokenUsage,
    /// How long it took.
    pub elapsed: Duration,
    /// What it changed in its copy.
    pub changes: Option<CopyChanges>,
    /// The source of a text by outside authors that it read.
    pub outside: Option<String>,
}

impl SubagentReport {
    /// Whether the work is done.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.end == ReportEnd::Done
    }

    /// The text for the model that ordered it.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("[{}: {}]\n", self.name, self.end.words());
        if let Some(source) = &self.outside {
            let _ = writeln!(text, "{OUTSIDE}{source}]");
        }
        text.push_str(&cut_to_tokens(self.answer.trim(), REPORT_TOKENS));
        if let Some(CopyChanges { diff, kept }) = &self.changes {
            let (files, added, removed) = counts(diff);
            let _ = write!(text, "\n\n{files} changed, +{added} -{removed} lines, in its copy only.");
            if let Some(KeptDiff { file, is_exact }) = kept {
                let how = if *is_exact {
                    "`git apply` applies it"
                } else {
                    "what looks like a secret is left out, so it cannot be applied"
                };
                let _ = write!(text, " The diff is {}; {how}.", file.display());
            }
        }
        if !self.steps.is_empty() {
            text.push_str(STEPS);
            for step in self.steps.iter().take(MAX_STEPS) {
                let _ = write!(text, "\n- {}", one_line(step, STEP_COLUMNS));
            }
            if let Some(more) = self.steps.len().checked_sub(MAX_STEPS).filter(|more| *more > 0) {
                let _ = write!(text, "\n- and {more} more");
            }
        }
        text
    }
}

/// The line that names the source of outside text in a result; [`outside_source`] reads it.
#[must_use]
pub fn outside_line(source: &str) -> String {
    let source: String =
        source.chars().map(|letter| if letter.is_control() || letter == ']' { ' ' } else { letter }).collect();
    format!("{OUTSIDE}{source}]")
}

/// The source of the outside text that a report names, as [`SubagentReport::text`] wrote it. A report can only lower its own trust by such a line.
#[must_use]
pub fn outside_source(text: &str) -> Option<&str> {
    text.lines().find_map(|line| line.strip_prefix(OUTSIDE)?.strip_suffix(']'))
}

/// The steps that a report lists, as [`SubagentReport::text`] wrote it; none of any other text.
pub fn report_steps(text: &str) -> impl Iterator<Item = &str> {
    let listed = text.starts_with('[').then(|| text.rsplit_once(STEPS)).flatten().map_or("", |(_, listed)| listed);
    listed.lines().filter_map(|line| line.strip_prefix("- "))
}

fn counts(diff: &str) -> (String, usize, usize) {
    let count =
        |start: &str, not: &str| diff.lines().filter(|line| line.starts_with(start) && !line.starts_with(not)).count();
    let files = diff.lines().filter(|line| line.starts_with("diff --git ")).count();
    (format!("{files} {}", if files == 1 { "file" } else { "files" }), count("+", "+++ "), count("-", "--- "))
}

/// The text, without its middle if it is longer than so many estimated tokens.
fn cut_to_tokens(text: &str, most: u64) -> String {
    let tokens = estimate_tokens(text);
    if tokens <= most {
        return text.to_owned();
    }
    let bytes = u128::from(most) * text.len() as u128 / u128::from(tokens);
    cut_middle(text, usize::try_from(bytes).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(answer: &str) -> SubagentReport {
        SubagentReport {
            name: "explore 2".into(),
            answer: answer.into(),
            steps: vec!["grep \"x\" in src (12 lines)".into()],
            end: ReportEnd::Done,
            usage: TokenUsage::default(),
            elapsed: Duration::from_secs(1),
            changes: None,
            outside: None,
        }
    }

    #[test]
    fn a_report_names_its_end_and_its_evidence() {
        let text = report("It is in src/a.rs:3.").text();
        assert_eq!(text, "[explore 2: done]\nIt is in src/a.rs:3.\n\nits steps:\n- grep \"x\" in src (12 lines)");
        let limit = SubagentReport { end: ReportEnd::Limit, ..report("half") }.text();
        assert!(limit.starts_with("[explore 2: stopped at its limit: this may be incomplete]\nhalf"), "{limit}");
        assert!(!SubagentReport { end: ReportEnd::Limit, ..report("") }.is_done());
        assert_eq!(report_steps(&text).collect::<Vec<_>>(), ["grep \"x\" in src (12 lines)"]);
        assert_eq!(report_steps("a\n\nits steps:\n- b").count(), 0);
    }

    #[test]
    fn a_long_answer_and_many_steps_are_cut() {
        let long = SubagentReport { steps: vec!["x".repeat(500); 40], ..report(&"word ".repeat(20_000)) }.text();
        assert!(estimate_tokens(&long) < REPORT_TOKENS + 1_500, "{}", estimate_tokens(&long));
        assert!(long.ends_with("- and 20 more"), "{}", &long[long.len() - 40..]);
    }

    #[test]
    fn an_outside_text_is_named_for_whoever_reads_the_report_later() {
        let text = SubagentReport { outside: Some("`curl`".into()), ..report("x") }.text();
        assert_eq!(outside_source(&text), Some("`curl`"));
        assert_eq!(outside_source(&report("x").text()), None);
    }

    #[test]
    fn changes_are_counted_and_their_file_is_named() {
        let diff = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-a\n+b\n+c\n".to_owned();
        let text = |is_exact| {
            let kept = Some(KeptDiff { file: "/o/w.diff".into(), is_exact });
            SubagentReport { changes: Some(CopyChanges { diff: diff.clone(), kept }), ..report("ok") }.text()
        };
        let told = "1 file changed, +2 -1 lines, in its copy only. The diff is /o/w.diff; ";
        assert!(text(true).contains(&format!("{told}`git apply` applies it.")), "{}", text(true));
        assert!(text(false).contains(&format!("{told}what looks like a secret is left out")), "{}", text(false));
    }
}
