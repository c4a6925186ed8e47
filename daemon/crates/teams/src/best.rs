//! The best of several attempts at one task: what the judge of them is asked, and which attempt wins. Pure.

use std::fmt::Write as _;

use cohab_text::cut::cut_middle;
use serde::Deserialize;

use crate::report::{ReportEnd, SubagentReport};

/// Most attempts at one task.
pub const MAX_ATTEMPTS: u32 = 5;
/// Longest part of an attempt's diff that the judge reads, in bytes.
const DIFF_BYTES: usize = 24 * 1024;
/// Longest part of an attempt's answer that the judge reads, in bytes.
const ANSWER_BYTES: usize = 4 * 1024;

#[derive(Deserialize)]
struct Judgement {
    best: usize,
}

/// What the judge of these attempts at `task` is asked.
#[must_use]
pub fn judge_task(task: &str, attempts: &[SubagentReport]) -> String {
    let mut text = format!(
        "These are {} attempts at the same task, each in a copy of the repository of its own. The task was:\n{task}\n",
        attempts.len()
    );
    for (index, report) in attempts.iter().enumerate() {
        let diff = report.changes.as_ref().map_or("(it changed nothing)", |changes| changes.diff.as_str());
        let _ = write!(
            text,
            "\n## Attempt {}\n{}\n\n```diff\n{}\n```\n",
            index + 1,
            cut_middle(&report.answer, ANSWER_BYTES),
            cut_middle(diff, DIFF_BYTES)
        );
    }
    text.push_str(
        "\nCompare them by what their diffs really do: correct, complete, small, checked. End your answer with one line of JSON: \
         {\"best\": the number of the best attempt}",
    );
    text
}

/// The attempt that wins, by its place, and whether the judge chose it: the judge's choice, if it names one that did its work; else the first
/// such one, else the first. `None` without attempts.
#[must_use]
pub fn winner(attempts: &[SubagentReport], judgement: Option<&str>) -> Option<(usize, bool)> {
    let is_good = |report: &SubagentReport| report.end == ReportEnd::Done;
    let chosen = judgement.and_then(chosen).filter(|place| attempts.get(*place).is_some_and(is_good));
    let with_changes = || attempts.iter().position(|report| is_good(report) && report.changes.is_some());
    let done = || attempts.iter().position(is_good);
    let first = || (!attempts.is_empty()).then_some(0);
    chosen.map(|place| (place, true)).or_else(|| Some((with_changes().or_else(done).or_else(first)?, false)))
}

/// The place that a judge names last.
fn chosen(judgement: &str) -> Option<usize> {
    let start = judgement.rfind("{\"best\"").or_else(|| judgement.rfind('{'))?;
    let end = judgement[start..].find('}')? + start;
    serde_json::from_str::<Judgement>(&judgement[start..=end]).ok()?.best.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use cohab_model_api::TokenUsage;

    use super::*;
    use crate::report::CopyChanges;

    fn attempt(end: ReportEnd, diff: Option<&str>) -> SubagentReport {
        SubagentReport {
            name: "background 1".into(),
            answer: "I did it.".into(),
            steps: Vec::new(),
            end,
            usage: TokenUsage::default(),
            elapsed: Duration::ZERO,
            changes: diff.map(|diff| CopyChanges { diff: diff.into(), kept: None }),
            outside: None,
        }
    }

    #[test]
    fn the_judge_reads_all_attempts_and_its_choice_wins_if_it_did_its_work() {
        let attempts = [
            attempt(ReportEnd::Done, None),
            attempt(ReportEnd::Done, Some("+a")),
            attempt(ReportEnd::Limit, Some("+b")),
        ];
        let task = judge_task("mend it", &attempts);
        assert!(
            task.contains("## Attempt 3") && task.contains("+b") && task.contains("(it changed nothing)"),
            "{task}"
        );
        assert_eq!(winner(&attempts, Some("{} is worse. {\"best\": 1}")), Some((0, true)));
        for judgement in
            [Some("the third: {\"best\": 3}"), Some("{\"best\": 9}"), Some("{\"best\": 0}"), Some("no idea"), None]
        {
            assert_eq!(winner(&attempts, judgement), Some((1, false)), "{judgement:?}");
        }
        assert_eq!(winner(&[attempt(ReportEnd::Limit, None)], None), Some((0, false)));
        assert_eq!(winner(&[], None), None);
    }
}
