//! Formats the output of another of our own programs as lines.

use cohab_term::{theme, wrap::wrap_words};
use cohab_text::sanitize::sanitize;
use ratatui::{
    style::{Color, Modifier, Style},
    text::{Line, Span},
};
use unicode_width::UnicodeWidthStr;

/// Lines that are shown; the rest is counted.
pub(crate) const MAX_LINES: usize = 200;
/// So much is read, in bytes.
pub const MAX_BYTES: usize = 64 * 1024;

/// How such a program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProgramEnding {
    /// By itself, with this status.
    Exited(i32),
    /// It took too long, or wrote too much, and was ended.
    Ended,
    /// It could not be started: why.
    NotStarted(String),
}

/// What it printed, on both streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnOutput {
    /// As written.
    pub text: String,
    /// How it ended.
    pub ending: ProgramEnding,
}

impl OwnOutput {
    /// For the screen; `name` is how the user would call it.
    #[must_use]
    pub(crate) fn lines(&self, name: &str, width: usize) -> Vec<Line<'static>> {
        let all: Vec<Line<'static>> = self.text.lines().map(coloured).collect();
        let is_blank = |line: &Line<'_>| line.to_string().trim().is_empty();
        let count = all.iter().rposition(|line| !is_blank(line)).map_or(0, |last| last + 1);
        let all = &all[..count];
        let shown = all.iter().take(MAX_LINES).flat_map(|line| fold(line, width));
        let mut lines: Vec<Line<'static>> = shown.collect();
        if all.len() > MAX_LINES {
            lines.extend(remark(&format!("… and {} more lines: `{name}`", all.len() - MAX_LINES), width));
        }
        match &self.ending {
            ProgramEnding::Exited(0) if lines.is_empty() => lines.extend(remark("Nothing to show.", width)),
            ProgramEnding::Exited(status) if lines.is_empty() => {
                lines.extend(remark(&format!("`{name}` ended with status {status} and said nothing."), width));
            }
            ProgramEnding::Exited(_) => {}
            ProgramEnding::Ended => lines.extend(remark(&format!("`{name}` was stopped: it took too long."), width)),
            ProgramEnding::NotStarted(error) => {
                let error = sanitize(error);
                lines.extend(remark(&format!("`{name}` cannot be started: {error}."), width));
            }
        }
        lines
    }
}

/// A line with the colours that our own programs write; nothing else that a terminal obeys is left.
fn coloured(line: &str) -> Line<'static> {
    let (mut spans, mut style, mut rest) = (Vec::new(), theme::PLAIN, line);
    let mut push = |text: &str, style: Style| {
        let clean = sanitize(text).replace('\n', " ");
        if !clean.is_empty() {
            spans.push(Span::styled(clean, style));
        }
    };
    while let Some((text, codes, behind)) = next_colour(rest) {
        push(text, style);
        style = codes.split(';').fold(style, with_code);
        rest = behind;
    }
    push(rest, style);
    Line::from(spans)
}

/// The first change of colour: the text before it, its codes and the text behind it.
fn next_colour(text: &str) -> Option<(&str, &str, &str)> {
    text.match_indices("\x1b[").find_map(|(at, start)| {
        let behind = &text[at + start.len()..];
        let end = behind.find(|c: char| !(c.is_ascii_digit() || c == ';'))?;
        Some((&text[..at], &behind[..end], behind[end..].strip_prefix('m')?))
    })
}

/// The style after one of the codes that `cohab_term::theme` needs.
fn with_code(style: Style, code: &str) -> Style {
    match code {
        "" | "0" => theme::PLAIN,
        "1" => style.add_modifier(Modifier::BOLD),
        "2" => style.add_modifier(Modifier::DIM),
        "7" => style.add_modifier(Modifier::REVERSED),
        "31" => style.fg(Color::Red),
        "32" => style.fg(Color::Green),
        "33" => style.fg(Color::Yellow),
        "36" => style.fg(Color::Cyan),
        _ => style,
    }
}

/// A line that is too wide continues below its last column, as our tables do.
fn fold(whole: &Line<'static>, width: usize) -> Vec<Line<'static>> {
    if whole.width() <= width {
        return vec![whole.clone()];
    }
    let line = whole.to_string();
    let table = line.rmatch_indices("  ").map(|(at, _)| at + 2).find(|at| line[..*at].width() <= width / 2);
    let (start, rest) = line.split_at(table.unwrap_or(0));
    let indent = start.width();
    let rows = wrap_words(&[Span::raw(rest)], width.saturating_sub(indent));
    let row = |(index, mut row): (usize, Vec<Span<'static>>)| {
        row.insert(0, Span::raw(if index == 0 { start.to_owned() } else { " ".repeat(indent) }));
        Line::from(row)
    };
    rows.into_iter().enumerate().map(row).collect()
}

fn remark(text: &str, width: usize) -> Vec<Line<'static>> {
    wrap_words(&[Span::styled(text.to_owned(), theme::DIM)], width).into_iter().map(Line::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, ending: ProgramEnding, width: usize) -> Vec<String> {
        let output = OwnOutput { text: text.into(), ending };
        output.lines("cohab doctor", width).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn lines_that_fit_keep_their_columns_and_nothing_of_an_escape_is_left() {
        let lines =
            shown("ok    terminal\n\u{1b}[31mbad\u{1b}[0m   \u{1b}]0;x\u{7}daemon\n\n", ProgramEnding::Exited(1), 40);
        assert_eq!(lines, ["ok    terminal", "bad   daemon"]);
        assert_eq!(shown("one two three", ProgramEnding::Exited(0), 8), ["one two", "three"]);
        let folded = shown("ok    terminal  one two three four", ProgramEnding::Exited(0), 32);
        assert_eq!(folded, ["ok    terminal  one two three", "                four"]);
    }

    #[test]
    fn the_colours_of_our_own_programs_stay() {
        let text = "\u{1b}[32m✓\u{1b}[m  terminal\n\u{1b}[1;31m✗\u{1b}[m  \u{1b}[2mhint\u{1b}[m\u{1b}[2J";
        let output = OwnOutput { text: text.into(), ending: ProgramEnding::Exited(0) };
        let lines = output.lines("cohab doctor", 80);
        assert_eq!(lines[0].spans, [Span::styled("✓", theme::GOOD), Span::raw("  terminal")]);
        let expected = [Span::styled("✗", theme::DANGER), Span::raw("  "), Span::styled("hint", theme::DIM)];
        assert_eq!(lines[1].spans, expected);
        assert_eq!(lines.len(), 2);
    }

    #[test]
    fn silence_and_failures_are_told() {
        assert_eq!(shown("", ProgramEnding::Exited(0), 80), ["Nothing to show."]);
        assert_eq!(shown("", ProgramEnding::Exited(3), 80), ["`cohab doctor` ended with status 3 and said nothing."]);
        assert_eq!(shown("half", ProgramEnding::Ended, 80), ["half", "`cohab doctor` was stopped: it took too long."]);
        let missing = shown("", ProgramEnding::NotStarted("No such file".into()), 80);
        assert_eq!(missing, ["`cohab doctor` cannot be started: No such file."]);
    }

    #[test]
    fn a_flood_is_counted() {
        let lines = shown(&"x\n".repeat(500), ProgramEnding::Exited(0), 80);
        assert_eq!(lines.len(), MAX_LINES + 1);
        assert_eq!(lines[MAX_LINES], "… and 300 more lines: `cohab doctor`");
    }
}
