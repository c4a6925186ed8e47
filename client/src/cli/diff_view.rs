//! `cohab diff` at a terminal, and for `? /diff`: draws what the daemon's program has compared.

use std::{
    ffi::OsString,
    io::{IsTerminal, Write},
    process::{ExitCode, Stdio},
};

use cohab_conversation::ui::diff::{DiffRow, counts, diff_rows};
use cohab_daemon_link::connection;
use cohab_system::process::surroundings::BESIDE_VARIABLE;
use cohab_term::{
    ansi::{ColorSupport, write_line},
    output_style::OutputStyle,
    theme,
    visible::visible,
    window_size,
    wrap::{wrap_exactly, wrap_words},
};
use ratatui::text::{Line, Span};
use serde::Deserialize;
use tokio::process::Command;

use super::pager;
use crate::colours;

/// Narrower output is not indented.
const MIN_COLUMNS: usize = 20;

/// Changes as `cohabd diff --json` prints them.
#[derive(Deserialize)]
pub(super) struct Changes {
    pub title: Option<String>,
    pub remarks: Vec<String>,
    pub files: Vec<ChangedFile>,
}

#[derive(Deserialize)]
pub(super) struct ChangedFile {
    pub shown: String,
    pub note: String,
    pub diff: String,
}

/// Whether these words ask for changes that a person reads.
pub(super) fn is_wanted(words: &[OsString]) -> bool {
    let is_other = |word: &OsString| ["--json", "--help", "-h"].iter().any(|option| word == option);
    let is_read = std::env::var_os(BESIDE_VARIABLE).is_some() || std::io::stdout().is_terminal();
    is_read && words.first().is_some_and(|word| word == "diff") && !words.iter().any(is_other)
}

/// Shows them. `None` if that fails before anything was shown.
pub(super) async fn run(words: &[OsString]) -> Option<ExitCode> {
    let mut reader = Command::new(connection::daemon_program());
    let read = reader.args(words).arg("--json").stderr(Stdio::null()).output().await.ok()?;
    let changes: Changes = serde_json::from_slice(&read.stdout).ok().filter(|_| read.status.success())?;
    let colors = colours::of_subcommand();
    let columns = columns();
    let page = page(&changes, columns, OutputStyle::from_env(colors), colors);
    let shown = match std::io::stdout().is_terminal() {
        true => pager::show(&page).await,
        false => std::io::stdout().lock().write_all(&page),
    };
    Some(if shown.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The columns of the terminal, or those that `? /diff` has.
pub(super) fn columns() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let beside = told.filter(|_| std::env::var_os(BESIDE_VARIABLE).is_some());
    usize::from(beside.unwrap_or_else(|| window_size::size_of(rustix::stdio::stdout()).0)).max(1)
}

/// The changes as text for a terminal.
pub(super) fn page(changes: &Changes, columns: usize, output_style: OutputStyle, colors: ColorSupport) -> Vec<u8> {
    let mut page = Vec::new();
    for line in drawn(changes, columns, output_style) {
        write_line(&line, colors, &mut page);
        page.push(b'\n');
    }
    page
}

fn drawn(changes: &Changes, columns: usize, output_style: OutputStyle) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let words =
        |text: &str| wrap_words(&[Span::styled(visible(text), theme::DIM)], columns).into_iter().map(Line::from);
    lines.extend(changes.title.iter().flat_map(|title| words(title)));
    lines.extend(changes.remarks.iter().flat_map(|remark| words(remark)));
    for file in &changes.files {
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        let (added, removed) = counts(&file.diff);
        let counted = (!file.diff.is_empty()).then(|| format!("+{added} -{removed}"));
        let note = Some(visible(&file.note)).filter(|note| !note.is_empty());
        let facts: Vec<String> = counted.into_iter().chain(note).collect();
        let head = [
            Span::styled(visible(&file.shown), theme::STRONG),
            Span::styled(output_style.choose("  ", ": "), theme::DIM),
            Span::styled(facts.join(output_style.choose(" · ", ", ")), theme::DIM),
        ];
        lines.extend(wrap_words(&head, columns).into_iter().map(Line::from));
        if file.diff.is_empty() {
            continue;
        }
        lines.extend(diff_rows(&file.diff, output_style).iter().flat_map(|row| folded(row, columns)));
    }
    lines
}

/// A row that is too wide continues below its text.
fn folded(DiffRow { spans, indent }: &DiffRow, columns: usize) -> Vec<Line<'static>> {
    let rows = wrap_exactly(spans, columns);
    if rows.len() == 1 || columns < MIN_COLUMNS {
        return rows.into_iter().map(Line::from).collect();
    }
    let indent = (*indent).min(columns / 2);
    let rows = wrap_exactly(spans, columns - indent).into_iter().enumerate();
    let placed = |(index, mut row): (usize, Vec<Span<'static>>)| {
        if index > 0 {
            row.insert(0, Span::raw(" ".repeat(indent)));
        }
        Line::from(row)
    };
    rows.map(placed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGES: &str = r#"{"title": "\"fix the price\", 2 min ago, 2 turns", "remarks": ["Not known: what `make` changes in files."],
        "files": [{"path": "/home/ann/shop/app.py", "shown": "~/shop/app.py", "note": "changed again since",
            "diff": "@@ -1,2 +1,2 @@\n def price():\n-    return net * count\n+    return gross * count  # a comment that makes the line long\n"},
            {"path": "/home/ann/p.png", "shown": "~/p.png\u001b[2J", "note": "new, 2 bytes that are not text", "diff": ""}]}"#;

    fn rows(columns: usize, output_style: OutputStyle) -> Vec<String> {
        let changes: Changes = serde_json::from_str(CHANGES).unwrap();
        drawn(&changes, columns, output_style).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn each_file_has_a_head_and_numbered_lines() {
        let widths =
            [(100, OutputStyle::Rich), (60, OutputStyle::Rich), (40, OutputStyle::Rich), (60, OutputStyle::Accessible)];
        let seen = widths.map(|(columns, output_style)| {
            let rows = rows(columns, output_style);
            assert!(rows.iter().all(|row| row.chars().count() <= columns), "{rows:?}");
            format!("==== {columns} columns, {output_style:?}\n{}\n", rows.join("\n"))
        });
        insta::assert_snapshot!(seen.join("\n"));
    }

    #[test]
    fn help_and_json_are_the_daemons() {
        let wanted = |line: &str| is_wanted(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert!(["diff --json", "diff --help", "undo", "diff --all -h"].iter().all(|line| !wanted(line)));
    }
}
