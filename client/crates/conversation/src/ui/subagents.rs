//! The rows of the subagents that work for a turn. Pure: it holds no clock.

use cohab_protocol::{StepActivity, StepOutcome, SubagentProgress, SubagentState, amount};
use cohab_term::{output_style::OutputStyle, theme};
use cohab_text::sanitize;
use ratatui::text::{Line, Span};

use super::status::{fitted, one_line, seconds};

/// Most rows; more subagents are counted.
const MAX_ROWS: usize = 8;
/// Longest argument of a tool in a row, in columns.
const ARGUMENT_COLUMNS: usize = 60;

/// One subagent that is shown.
#[derive(Clone, Debug)]
pub struct ShownSubagent {
    /// The last news of it.
    pub progress: SubagentProgress,
    /// Time that it has worked, in whole seconds.
    pub elapsed_s: u64,
}

impl ShownSubagent {
    fn is_at_work(&self) -> bool {
        matches!(self.progress.state, SubagentState::Working(_))
    }

    fn name(&self) -> String {
        format!("{} {}", one_line(&self.progress.kind), self.progress.number)
    }

    /// What it does; its task while it thinks.
    fn doing(&self) -> String {
        match &self.progress.state {
            SubagentState::Working(StepActivity::ToolCall { tool, argument }) => {
                format!("{} {}", one_line(tool), sanitize::one_line(argument, ARGUMENT_COLUMNS))
            }
            SubagentState::Working(_) | SubagentState::Ended(_) => one_line(&self.progress.label),
        }
    }

    fn facts(&self) -> Vec<String> {
        let elapsed = (self.elapsed_s > 0).then(|| seconds(self.elapsed_s));
        let tokens = (self.progress.tokens > 0).then(|| format!("{} tokens", amount::count(self.progress.tokens)));
        elapsed.into_iter().chain(tokens).collect()
    }

    /// A sentence for its end, where nothing is painted twice.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let SubagentState::Ended(outcome) = self.progress.state else { return None };
        let end = if outcome == StepOutcome::Done { "is done" } else { "did not finish" };
        let facts: String = self.facts().iter().map(|fact| format!(", {fact}")).collect();
        Some(format!("Subagent {} {end}: {}{facts}.", self.name(), self.doing()))
    }

    fn row(&self, branch: &'static str, width: usize) -> Line<'static> {
        let mark = match self.progress.state {
            SubagentState::Working(_) => None,
            SubagentState::Ended(StepOutcome::Done) => Some(Span::styled("✓ ", theme::GOOD)),
            SubagentState::Ended(_) => Some(Span::styled("✗ ", theme::BAD)),
        };
        let end: String = self.facts().iter().map(|fact| format!(" · {fact}")).collect();
        let mut head = Line::from(vec![Span::styled(branch, theme::DIM)]);
        head.extend(mark);
        head.push_span(Span::raw(self.name()));
        head.push_span(Span::styled(format!(" · {}", self.doing()), theme::DIM));
        let end = Line::styled(end, theme::DIM);
        // Where there is little room what it took goes, not what it does.
        let room = width.saturating_sub(end.width());
        if room < head.width().min(width / 2) {
            return fitted(&head, width);
        }
        let mut line = fitted(&head, room);
        line.extend(end.spans.into_iter().map(|span| span.style(theme::DIM)));
        line
    }
}

/// The rows, for example `├ explore 2 · read src/a.rs · 14 s · 3.1k tokens`. Those at work go first where there are too many.
#[must_use]
pub fn rows(shown: &[ShownSubagent], width: usize) -> Vec<Line<'static>> {
    let mut kept: Vec<&ShownSubagent> = shown.iter().collect();
    if kept.len() > MAX_ROWS {
        kept.sort_by_key(|one| (!one.is_at_work(), one.progress.number));
        kept.truncate(MAX_ROWS - 1);
        kept.sort_by_key(|one| one.progress.number);
    }
    let left_out = shown.len() - kept.len();
    let last = kept.len().saturating_sub(usize::from(left_out == 0));
    let mut rows: Vec<Line<'static>> = Vec::new();
    for (index, one) in kept.iter().enumerate() {
        rows.push(one.row(if index == last { "└ " } else { "├ " }, width));
    }
    if left_out > 0 {
        rows.push(fitted(&Line::styled(format!("└ {left_out} more"), theme::DIM), width));
    }
    rows
}

/// What the turn does while several work for it; `None` for one or none.
#[must_use]
pub fn activity(shown: &[ShownSubagent], output_style: OutputStyle) -> Option<StepActivity> {
    let at_work = shown.iter().filter(|one| one.is_at_work()).count();
    (at_work > 1 && output_style == OutputStyle::Rich)
        .then(|| StepActivity::ToolCall { tool: format!("{at_work} subagents"), argument: "at work".to_owned() })
}

#[cfg(test)]
mod tests {
    use cohab_protocol::TurnId;

    use super::*;

    fn shown(number: u32, state: SubagentState, elapsed_s: u64, tokens: u64) -> ShownSubagent {
        let (turn_id, kind, label) = (TurnId(uuid::Uuid::nil()), "explore".into(), "build scripts".into());
        let progress = SubagentProgress { turn_id, number, kind, label, state, tokens, elapsed_ms: 0 };
        ShownSubagent { progress, elapsed_s }
    }

    fn reading(path: &str) -> SubagentState {
        SubagentState::Working(StepActivity::ToolCall { tool: "read".into(), argument: path.into() })
    }

    fn text(shown: &[ShownSubagent], width: usize) -> String {
        rows(shown, width).iter().map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn each_subagent_has_a_row() {
        let thinking = SubagentState::Working(StepActivity::ModelCall { model: "m".into() });
        let three = [
            shown(1, thinking, 3, 0),
            shown(2, reading("tests/e2e/a/very/long/path/of/a/file/that/does/not/fit.rs"), 75, 3_100),
            shown(3, SubagentState::Ended(StepOutcome::Done), 9, 1_200),
        ];
        insta::assert_snapshot!(text(&three, 80), @r"
        ├ explore 1 · build scripts · 3 s
        ├ explore 2 · read tests/e2e/a/very/long/path/of/a/f… · 1 min 15 s · 3.1k tokens
        └ ✓ explore 3 · build scripts · 9 s · 1.2k tokens
        ");
        insta::assert_snapshot!(text(&three, 40), @r"
        ├ explore 1 · build scripts · 3 s
        ├ explore 2 · read tests/e2e/a/very/lon…
        └ ✓ explore 3 · bui… · 9 s · 1.2k tokens
        ");
        assert_eq!(
            activity(&three, OutputStyle::Rich),
            Some(StepActivity::ToolCall { tool: "2 subagents".into(), argument: "at work".into() })
        );
        assert_eq!(activity(&three[1..], OutputStyle::Rich), None);
    }

    #[test]
    fn those_at_work_stay_where_there_are_too_many() {
        let many: Vec<_> = (1..=12)
            .map(|number| match number {
                1..=5 => shown(number, SubagentState::Ended(StepOutcome::Done), 1, 0),
                _ => shown(number, reading("a"), 1, 0),
            })
            .collect();
        let text = text(&many, 60);
        assert_eq!(text.lines().count(), MAX_ROWS);
        assert!(text.contains("explore 12") && text.ends_with("└ 5 more\n") && !text.contains("explore 5"), "{text}");
    }

    #[test]
    fn hostile_names_stay_in_their_row() {
        let mut one = shown(1, reading("\u{1b}[2Jx\ny"), 0, 0);
        one.progress.kind = "a\nb\u{1b}]0;x\u{7}".into();
        for width in 1..100 {
            for line in rows(std::slice::from_ref(&one), width) {
                let text = line.to_string();
                assert!(line.width() <= width && !text.contains(['\n', '\u{1b}', '\u{7}']), "{text:?}");
            }
        }
    }

    #[test]
    fn an_end_is_one_sentence() {
        let ended = shown(2, SubagentState::Ended(StepOutcome::Failed), 14, 3_100);
        assert_eq!(ended.sentence().unwrap(), "Subagent explore 2 did not finish: build scripts, 14 s, 3.1k tokens.");
        assert_eq!(shown(1, reading("a"), 1, 1).sentence(), None);
    }
}
