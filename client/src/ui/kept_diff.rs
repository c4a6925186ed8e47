//! Keeps the diffs of the cards of a turn, so that a change that was made stays in the scrollback.

use std::path::Path;

use cohab_protocol::{ApprovalId, ApprovalRequest, ApprovalSubject, StepActivity};
use cohab_term::{output_style::OutputStyle, theme};
use ratatui::text::Line;

use super::{
    card::{diff_rows, without_names},
    status::fitted,
};

/// Rows of a diff that are kept.
const KEPT_ROWS: usize = 15;
/// Changes that were asked about and not yet made or refused.
const MAX_CHANGES: usize = 32;
/// The rows stand below the line of their step.
const INDENT: &str = "    ";

/// The changes that were asked about, until their steps end.
#[derive(Debug, Default)]
pub struct AskedChanges(Vec<AskedChange>);

#[derive(Debug)]
struct AskedChange {
    id: ApprovalId,
    tool: String,
    path: String,
    diff: String,
}

impl AskedChanges {
    /// Keeps the diff of a card, if it is one about a file's change.
    pub fn keep(&mut self, request: &ApprovalRequest) {
        let ApprovalSubject::FileChange { tool, path, diff } = &request.subject else { return };
        let id = request.approval_id;
        if self.0.len() < MAX_CHANGES && self.0.iter().all(|kept| kept.id != id) {
            let path = path.to_string();
            let diff = without_names(diff, &path).trim_end_matches('\n').to_owned();
            self.0.push(AskedChange { id, tool: tool.clone(), path, diff });
        }
    }

    /// The rows for a step that has ended; none if no card was about it. They are given out once.
    pub fn take_rows(
        &mut self,
        activity: &StepActivity,
        width: usize,
        output_style: OutputStyle,
    ) -> Vec<Line<'static>> {
        let StepActivity::ToolCall { tool, argument } = activity else { return Vec::new() };
        let is_it = |kept: &AskedChange| kept.tool == *tool && is_path_of(argument, &kept.path);
        let Some(index) = self.0.iter().position(is_it) else { return Vec::new() };
        rows(&self.0.remove(index).diff, width, output_style)
    }
}

/// The start of a diff; the rest is counted.
fn rows(diff: &str, width: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let indent = output_style.choose(INDENT, "");
    let all = diff_rows(diff);
    let left_out = all.len().saturating_sub(KEPT_ROWS);
    let shown = all.into_iter().take(KEPT_ROWS).map(|mut span| {
        span.content = format!("{indent}{}", span.content).into();
        Line::from(span)
    });
    let rest = (left_out > 0).then(|| {
        let lines = if left_out == 1 { "line" } else { "lines" };
        Line::styled(format!("{indent}{}{left_out} more {lines}", output_style.choose("… ", "And ")), theme::DIM)
    });
    shown.chain(rest).map(|line| fitted(&line, width)).collect()
}

/// Whether an argument, which may be relative to the folder or the home, can be this absolute path.
fn is_path_of(argument: &str, path: &str) -> bool {
    let relative = argument.strip_prefix("~/").or_else(|| argument.strip_prefix("./")).unwrap_or(argument);
    Path::new(path).ends_with(relative)
}

#[cfg(test)]
mod tests {
    use cohab_protocol::TurnId;

    use super::*;

    fn change(path: &str, diff: &str) -> ApprovalRequest {
        ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: TurnId::fresh(),
            subject: ApprovalSubject::FileChange {
                tool: "edit".into(),
                path: Path::new(path).into(),
                diff: diff.into(),
            },
            is_dangerous: false,
            reasons: Vec::new(),
            is_each_time: false,
        }
    }

    fn step(argument: &str) -> StepActivity {
        StepActivity::ToolCall { tool: "edit".into(), argument: argument.into() }
    }

    fn taken(changes: &mut AskedChanges, argument: &str) -> Vec<String> {
        let rows = changes.take_rows(&step(argument), 40, OutputStyle::Rich);
        rows.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn a_change_that_was_made_shows_its_diff_once() {
        let mut changes = AskedChanges::default();
        changes.keep(&change("/w/src/a.py", "--- /w/src/a.py\n+++ /w/src/a.py\n@@ -1 +1 @@\n-old\n+new\n"));
        for other in ["src/b.py", "lib/a.py", "rc/a.py", "/src/a.py"] {
            assert_eq!(taken(&mut changes, other), [""; 0], "no card was about it");
        }
        assert_eq!(taken(&mut changes, "src/a.py"), ["    @@ -1 +1 @@", "    -old", "    +new"]);
        assert_eq!(taken(&mut changes, "src/a.py"), [""; 0]);
    }

    #[test]
    fn of_a_long_diff_the_rest_is_counted_and_a_long_row_is_cut() {
        let mut changes = AskedChanges::default();
        let diff = (0..55).map(|number| format!("+{number}\u{202e}{}\n", "x".repeat(60))).collect::<String>();
        changes.keep(&change("/w/a.py", &diff));
        let rows = taken(&mut changes, "a.py");
        assert_eq!(rows.len(), KEPT_ROWS + 1);
        assert!(rows.iter().all(|row| row.chars().count() <= 40 && !row.contains('\u{202e}')), "{rows:?}");
        assert_eq!(rows.last().unwrap(), "    … 40 more lines");
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let mut changes = AskedChanges::default();
        let twice = change("/w/a.py", "+a\n");
        (0..2).for_each(|_| changes.keep(&twice));
        assert_eq!(changes.0.len(), 1);
        (0..100).for_each(|_| changes.keep(&change("/w/a.py", "+a\n")));
        assert_eq!(changes.0.len(), MAX_CHANGES);
    }
}
