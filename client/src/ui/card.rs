//! The question for consent: what would be done, in full, and how to answer. Nothing is ever cut; no text of the model stands in
//! the title or the frame.

mod answers;
mod touched;

use cohab_protocol::{ApprovalRequest, ApprovalSubject, ProposedCommand, RunMode, WirePath};
use cohab_shell_relay::policy::{Level, Part};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

pub use answers::{Answering, Question, question};
pub use touched::{TOUCHED_ROWS, touched};

use super::{
    look::Look,
    theme,
    visible::{visible, visible_command},
};
use crate::{
    approval::Scene,
    markdown::wrap::{Row, row_width, wrap_exactly, wrap_words},
};

const BAR: &str = "│ ";
const TOP: &str = "╭ ";
const BOTTOM: &str = "╰ ";
const BAR_COLUMNS: usize = 2;
/// Narrower terminals get the card without its bar.
const MIN_BAR_WIDTH: usize = 12;

/// What would be done and why it is asked. All of it; a caller whose live area is too small prints it above. `parts` are the
/// commands of a line of several.
#[must_use]
pub fn card(request: &ApprovalRequest, parts: &[Part], scene: &Scene, width: usize, look: Look) -> Vec<Line<'static>> {
    let mut card = Card::new(request.is_dangerous, width, look);
    let title = title(&request.subject);
    let title_style = if request.is_dangerous { theme::DANGER } else { theme::STRONG };
    let title = if request.is_dangerous { format!("Dangerous: {title}") } else { title };
    card.words(&[Span::styled(title, title_style)]);
    match &request.subject {
        ApprovalSubject::Command { command, cwd, mode } => {
            card.command("", &visible_command(command), look);
            card.parts(parts, look);
            card.place(cwd, *mode, scene);
        }
        ApprovalSubject::Commands(commands) => card.batch(commands, scene, look),
        ApprovalSubject::FileChange { path, diff, .. } => {
            card.field("file", &path_text(path));
            for line in diff.trim_end_matches('\n').split('\n') {
                card.exactly(&[Span::styled(visible_diff_line(line), diff_style(line))]);
            }
        }
        ApprovalSubject::FileRead { path, .. } => card.field("file", &path_text(path)),
        ApprovalSubject::LocalServer { url, server, model } => {
            card.field("server", &format!("{} at {}", visible(server), visible(url)));
            card.field("model", &visible(model));
        }
        ApprovalSubject::GoOn { what } => card.words(&[Span::raw(visible(what))]),
    }
    // A reason that stands with its own part is not said twice.
    let is_told = |reason: &String| parts.iter().any(|part| part.reasons.contains(reason));
    for reason in request.reasons.iter().filter(|reason| !is_told(reason)) {
        card.reason(reason, look);
    }
    card.into_top()
}

fn title(subject: &ApprovalSubject) -> String {
    let title = match subject {
        ApprovalSubject::Commands(commands) => return format!("Run these {} commands?", commands.len()),
        ApprovalSubject::Command { .. } => "Run this command?",
        ApprovalSubject::FileChange { tool, .. } if tool == "write" => "Write this file?",
        ApprovalSubject::FileChange { .. } => "Change this file?",
        ApprovalSubject::FileRead { .. } => "Read this file? It may hold secrets.",
        ApprovalSubject::LocalServer { .. } => "Send questions to this model server on your machine?",
        ApprovalSubject::GoOn { .. } => "Go on?",
    };
    title.to_owned()
}

fn mode_note(mode: RunMode) -> Option<&'static str> {
    match mode {
        RunMode::Live => None,
        RunMode::Subshell => Some("in a subshell of your shell: nothing it sets will stick"),
        RunMode::Isolated => Some("in a shell of its own: nothing it sets will stick"),
    }
}

fn path_text(path: &WirePath) -> String {
    visible(&path.to_string())
}

/// Tabs and the indentation behind the sign are everyday things in a file.
fn visible_diff_line(line: &str) -> String {
    let (sign, content) = line.split_at(usize::from(line.starts_with(['+', '-', ' '])));
    let parts: Vec<String> = content.split('\t').map(visible).collect();
    format!("{sign}{}", parts.join("\t"))
}

fn diff_style(line: &str) -> Style {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => theme::STRONG,
        [b'+', ..] => theme::GOOD,
        [b'-', ..] => theme::BAD,
        [b'@', b'@', ..] => theme::ACCENT,
        _ => theme::PLAIN,
    }
}

pub(super) struct Card {
    is_dangerous: bool,
    bar: Option<Span<'static>>,
    columns: usize,
    lines: Vec<Line<'static>>,
}

impl Card {
    fn new(is_dangerous: bool, width: usize, look: Look) -> Self {
        let style = if is_dangerous { theme::DANGER } else { theme::ACCENT };
        let has_bar = look == Look::Glyphs && width >= MIN_BAR_WIDTH;
        let bar = has_bar.then(|| Span::styled(BAR, style));
        Self { is_dangerous, bar, columns: width - if has_bar { BAR_COLUMNS } else { 0 }, lines: Vec::new() }
    }

    fn words(&mut self, spans: &[Span<'_>]) {
        self.rows(wrap_words(spans, self.columns));
    }

    fn exactly(&mut self, spans: &[Span<'_>]) {
        self.rows(wrap_exactly(spans, self.columns));
    }

    /// A new line of the command has a mark of its own; a wrapped row has none, so the two cannot be mistaken.
    fn command(&mut self, number: &str, command: &str, look: Look) {
        for (index, line) in command.split('\n').enumerate() {
            let indent = " ".repeat(number.len());
            let mark = match (look, index) {
                (Look::Glyphs, 0) => format!("{number}$ "),
                (Look::Glyphs, _) => format!("{indent}> "),
                (Look::Sentences, 0) => format!("Command {}", number.trim()).trim_end().to_owned() + ": ",
                (Look::Sentences, _) => format!("Line {}: ", index + 1),
            };
            let hanging =
                if self.columns >= MIN_BAR_WIDTH && look == Look::Glyphs { indent + "  " } else { String::new() };
            let rows =
                wrap_exactly(&[Span::styled(line.to_owned(), theme::STRONG)], self.columns.saturating_sub(mark.len()));
            let marks = std::iter::once(mark.as_str()).chain(std::iter::repeat(hanging.as_str()));
            for (row, mark) in rows.into_iter().zip(marks) {
                let marked = std::iter::once(Span::styled(mark.to_owned(), theme::DIM)).chain(row);
                self.exactly(&marked.filter(|span| !span.content.is_empty()).collect::<Row>());
            }
        }
    }

    /// The commands of a line one by one, each with what the policy says of it.
    fn parts(&mut self, parts: &[Part], look: Look) {
        for (index, part) in parts.iter().enumerate() {
            let (word, style) = match part.level {
                Level::Allow => ("only reads", theme::DIM),
                Level::Ask => ("asked", theme::WARNING),
                Level::Danger | Level::Deny => ("danger", theme::DANGER),
            };
            let why = match part.reasons.first() {
                Some(reason) if part.level > Level::Allow => format!("{word}: {}", visible(reason)),
                _ => word.to_owned(),
            };
            let start = format!("{}{}. ", look.choose("  ", "Part "), index + 1);
            let text = Span::raw(visible_command(&part.text));
            self.words(&[
                Span::styled(start, theme::DIM),
                text,
                Span::styled(look.choose(" — ", ", "), theme::DIM),
                Span::styled(why, style),
            ]);
        }
    }

    fn batch(&mut self, commands: &[ProposedCommand], scene: &Scene, look: Look) {
        let shared = commands
            .first()
            .filter(|first| commands.iter().all(|one| (&one.cwd, one.mode) == (&first.cwd, first.mode)));
        let digits = commands.len().to_string().len();
        for (index, one) in commands.iter().enumerate() {
            self.command(&format!("{:>digits$} ", index + 1), &visible_command(&one.command), look);
            if shared.is_none() {
                self.place(&one.cwd, one.mode, scene);
            }
            for reason in &one.reasons {
                self.reason(reason, look);
            }
        }
        if let Some(shared) = shared {
            self.place(&shared.cwd, shared.mode, scene);
        }
    }

    /// Folder, user and machine, as far as they are worth a word.
    fn place(&mut self, cwd: &WirePath, mode: RunMode, scene: &Scene) {
        self.field("in", &path_text(cwd));
        if let Some(note) = mode_note(mode) {
            self.words(&[Span::styled(note, theme::DIM)]);
        }
        if let Some(host) = &scene.remote_host {
            self.words(&[
                Span::styled("on: ", theme::DIM),
                Span::styled(format!("{} over ssh", visible(host)), theme::WARNING),
            ]);
        }
        if scene.is_root {
            self.words(&[Span::styled("as: ", theme::DIM), Span::styled("root", theme::DANGER)]);
        }
    }

    fn reason(&mut self, reason: &str, look: Look) {
        let style = if self.is_dangerous { theme::DANGER } else { theme::WARNING };
        self.words(&[Span::styled(format!("{}{}", look.choose("! ", "Reason: "), visible(reason)), style)]);
    }

    fn field(&mut self, name: &str, value: &str) {
        self.exactly(&[Span::styled(format!("{name}: "), theme::DIM), Span::raw(value)]);
    }

    /// The lines of the card's upper part.
    fn into_top(mut self) -> Vec<Line<'static>> {
        if let (Some(bar), Some(line)) = (&self.bar, self.lines.first_mut()) {
            line.spans[0] = Span::styled(TOP, bar.style);
        }
        self.lines
    }

    /// Lines between the two.
    fn into_middle(self) -> Vec<Line<'static>> {
        self.lines
    }

    /// The lines of what closes the card; a second one has no frame any more.
    fn into_bottom(mut self) -> Vec<Line<'static>> {
        if let Some(bar) = &self.bar {
            for (index, line) in self.lines.iter_mut().enumerate() {
                line.spans[0] = if index == 0 { Span::styled(BOTTOM, bar.style) } else { Span::raw("  ") };
            }
        }
        self.lines
    }

    fn rows(&mut self, rows: Vec<Row>) {
        for row in rows {
            debug_assert!(row_width(&row) <= self.columns.max(2));
            self.lines.push(Line::from_iter(self.bar.clone().into_iter().chain(row)));
        }
    }
}

#[cfg(test)]
mod tests;
