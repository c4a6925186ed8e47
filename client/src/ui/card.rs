//! The question for consent: what would be done, in full, and how to answer. Nothing is ever cut; no text of the model stands in
//! the title or the frame.

use cohab_protocol::{ApprovalRequest, ApprovalSubject, RunMode, WirePath};
use ratatui::{
    style::Style,
    text::{Line, Span},
};

use super::{
    input::InputText,
    look::Look,
    theme,
    visible::{visible, visible_command},
};
use crate::markdown::wrap::{Row, push_text, row_width, wrap_exactly, wrap_words};

const BAR: &str = "│ ";
const TOP: &str = "╭ ";
const BOTTOM: &str = "╰ ";
const BAR_COLUMNS: usize = 2;
/// Narrower terminals get the card without its bar.
const MIN_BAR_WIDTH: usize = 12;

/// How far the user is with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answering {
    /// A key is awaited.
    Keys,
    /// Danger: the word `yes` is typed.
    Confirming(InputText),
    /// The command is changed.
    Editing(InputText),
    /// A word to the model is typed, on the way to no.
    Refusing(InputText),
}

/// The rows of the question, and the cursor's row and column in them if the user types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// Row and column.
    pub cursor: Option<(usize, usize)>,
}

/// What would be done and why it is asked. All of it; a caller whose live area is too small prints it above.
#[must_use]
pub fn card(request: &ApprovalRequest, width: usize, look: Look) -> Vec<Line<'static>> {
    let mut card = Card::new(request.is_dangerous, width, look);
    let title = title(&request.subject);
    let title_style = if request.is_dangerous { theme::DANGER } else { theme::STRONG };
    card.words(&[Span::styled(
        if request.is_dangerous { format!("Dangerous: {title}") } else { title.to_owned() },
        title_style,
    )]);
    match &request.subject {
        ApprovalSubject::Command { command, cwd, mode } => {
            card.command(&visible_command(command), look);
            card.field("in", &path_text(cwd));
            if let Some(note) = mode_note(*mode) {
                card.words(&[Span::styled(note, theme::DIM)]);
            }
        }
        ApprovalSubject::FileChange { path, diff, .. } => {
            card.field("file", &path_text(path));
            for line in diff.trim_end_matches('\n').split('\n') {
                card.exactly(&[Span::styled(visible_diff_line(line), diff_style(line))]);
            }
        }
        ApprovalSubject::FileRead { path, .. } => card.field("file", &path_text(path)),
        ApprovalSubject::Commands(commands) => {
            for proposed in commands {
                card.command(&visible_command(&proposed.command), look);
                card.field("in", &path_text(&proposed.cwd));
            }
        }
        ApprovalSubject::LocalServer { url, server, model } => {
            card.field("server", &format!("{} at {}", visible(server), visible(url)));
            card.field("model", &visible(model));
        }
    }
    for reason in &request.reasons {
        let style = if request.is_dangerous { theme::DANGER } else { theme::WARNING };
        card.words(&[Span::styled(format!("{}{}", look.choose("! ", "Reason: "), visible(reason)), style)]);
    }
    card.into_top()
}

/// The rows below the card: the keys, or the text that is typed.
#[must_use]
pub fn question(request: &ApprovalRequest, answering: &Answering, width: usize, look: Look) -> Question {
    let below = |words: &[Span<'_>]| {
        let mut card = Card::new(request.is_dangerous, width, look);
        card.words(words);
        card.into_bottom()
    };
    let typed = |note: &str, prompt: &str, input: &InputText| {
        let mut lines = below(&[Span::styled(note.to_owned(), theme::DIM)]);
        let above = lines.len();
        let (rows, (row, column)) = input.layout(prompt, width);
        lines.extend(rows);
        Question { lines, cursor: Some((above + row, column)) }
    };
    match answering {
        Answering::Keys => Question { lines: below(&keys(request, look)), cursor: None },
        Answering::Confirming(input) => typed("Type yes and Enter to do it, Esc to go back.", "yes? ", input),
        Answering::Editing(input) => {
            typed("Change the command. Enter runs it, Alt-Enter adds a line, Esc goes back.", "$ ", input)
        }
        Answering::Refusing(input) => {
            typed("A word to the assistant? Enter sends it and refuses, Esc goes back.", "no: ", input)
        }
    }
}

/// The keys that mean something for this question, in the order shown.
#[must_use]
pub fn keys(request: &ApprovalRequest, look: Look) -> Vec<Span<'static>> {
    let is_command = matches!(request.subject, ApprovalSubject::Command { .. });
    let is_server = matches!(request.subject, ApprovalSubject::LocalServer { .. });
    let once = match (is_server, request.is_dangerous) {
        (true, _) => "yes",
        (false, true) => "once (asks for a typed yes)",
        (false, false) => "once",
    };
    let all = [
        ("y", once, true),
        ("a", "this session", !request.is_dangerous && !is_server),
        ("e", "edit", is_command),
        ("n", "no", true),
        ("Esc", "stop", true),
    ];
    let mut row = Row::new();
    for (key, meaning, _) in all.iter().filter(|(_, _, is_offered)| *is_offered) {
        if !row.is_empty() {
            push_text(&mut row, look.choose(" · ", ", "), theme::DIM);
        }
        let key_style = if request.is_dangerous && *key == "y" { theme::DANGER } else { theme::STRONG };
        push_text(&mut row, key, key_style);
        push_text(&mut row, &format!("{}{meaning}", look.choose(" ", " for ")), theme::PLAIN);
    }
    row
}

fn title(subject: &ApprovalSubject) -> &'static str {
    match subject {
        ApprovalSubject::Command { .. } => "Run this command?",
        ApprovalSubject::Commands(_) => "Run these commands?",
        ApprovalSubject::FileChange { tool, .. } if tool == "write" => "Write this file?",
        ApprovalSubject::FileChange { .. } => "Change this file?",
        ApprovalSubject::FileRead { .. } => "Read this file? It may hold secrets.",
        ApprovalSubject::LocalServer { .. } => "Send questions to this model server on your machine?",
    }
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

struct Card {
    bar: Option<Span<'static>>,
    columns: usize,
    lines: Vec<Line<'static>>,
}

impl Card {
    fn new(is_dangerous: bool, width: usize, look: Look) -> Self {
        let style = if is_dangerous { theme::DANGER } else { theme::ACCENT };
        let has_bar = look == Look::Glyphs && width >= MIN_BAR_WIDTH;
        let bar = has_bar.then(|| Span::styled(BAR, style));
        Self { bar, columns: width - if has_bar { BAR_COLUMNS } else { 0 }, lines: Vec::new() }
    }

    fn words(&mut self, spans: &[Span<'_>]) {
        self.rows(wrap_words(spans, self.columns));
    }

    fn exactly(&mut self, spans: &[Span<'_>]) {
        self.rows(wrap_exactly(spans, self.columns));
    }

    /// A new line of the command has a mark of its own; a wrapped row has none, so the two cannot be mistaken.
    fn command(&mut self, command: &str, look: Look) {
        for (index, line) in command.split('\n').enumerate() {
            let mark = match (look, index) {
                (Look::Glyphs, 0) => "$ ".to_owned(),
                (Look::Glyphs, _) => "> ".to_owned(),
                (Look::Sentences, 0) => "Command: ".to_owned(),
                (Look::Sentences, _) => format!("Line {}: ", index + 1),
            };
            let hanging = look.choose(if self.columns >= MIN_BAR_WIDTH { "  " } else { "" }, "");
            let rows =
                wrap_exactly(&[Span::styled(line.to_owned(), theme::STRONG)], self.columns.saturating_sub(mark.len()));
            let marks = std::iter::once(mark.as_str()).chain(std::iter::repeat(hanging));
            for (row, mark) in rows.into_iter().zip(marks) {
                let marked = std::iter::once(Span::styled(mark.to_owned(), theme::DIM)).chain(row);
                self.exactly(&marked.filter(|span| !span.content.is_empty()).collect::<Row>());
            }
        }
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
mod tests {
    use std::path::Path;

    use cohab_protocol::{ApprovalId, TurnId};

    use super::*;
    use crate::ui::describe::{plain, styled};

    fn request(subject: ApprovalSubject, is_dangerous: bool, reasons: &[&str]) -> ApprovalRequest {
        ApprovalRequest {
            approval_id: ApprovalId::fresh(),
            turn_id: TurnId::fresh(),
            subject,
            is_dangerous,
            reasons: reasons.iter().map(|reason| (*reason).to_owned()).collect(),
        }
    }

    fn command(text: &str) -> ApprovalSubject {
        ApprovalSubject::Command { command: text.into(), cwd: Path::new("/home/ann/src").into(), mode: RunMode::Live }
    }

    fn shown(request: &ApprovalRequest, answering: &Answering) -> String {
        let mut out = String::new();
        for (width, look) in [(80, Look::Glyphs), (40, Look::Glyphs), (40, Look::Sentences)] {
            let question = question(request, answering, width, look);
            out += &format!("======== {width} columns, {look:?}, cursor {:?}\n", question.cursor);
            out += &styled(&card(request, width, look));
            out += &styled(&question.lines);
        }
        out
    }

    #[test]
    fn a_command() {
        let subject = command("cargo build --release 2>&1 | tee build.log\necho \u{1b}[2J done");
        insta::assert_snapshot!(shown(
            &request(subject, false, &["`cargo build` runs code of the project"]),
            &Answering::Keys
        ));
    }

    #[test]
    fn a_dangerous_command() {
        let asked = request(command("rm -rf ~/src/old"), true, &["removes 3 folders and what is in them for good"]);
        insta::assert_snapshot!(shown(&asked, &Answering::Confirming(InputText::new("ye"))));
        insta::assert_snapshot!(shown(&asked, &Answering::Keys));
    }

    #[test]
    fn a_change_of_a_file() {
        let subject = ApprovalSubject::FileChange {
            tool: "edit".into(),
            path: Path::new("src/main.rs").into(),
            diff: "--- src/main.rs\n+++ src/main.rs\n@@ -1,3 +1,3 @@\n fn main() {\n-    old();\n+    a_new_call(with, many, arguments, that, wrap);\n }\n".into(),
        };
        insta::assert_snapshot!(shown(
            &request(subject, false, &[]),
            &Answering::Refusing(InputText::new("use foo()"))
        ));
    }

    #[test]
    fn a_local_server() {
        let subject = ApprovalSubject::LocalServer {
            url: "http://127.0.0.1:11434".into(),
            server: "Ollama".into(),
            model: "qwen3:8b".into(),
        };
        insta::assert_snapshot!(shown(&request(subject, false, &[]), &Answering::Keys));
    }

    #[test]
    fn editing_a_command() {
        let text = "find . -name '*.tmp' -newer Makefile -print";
        insta::assert_snapshot!(shown(&request(command(text), false, &[]), &Answering::Editing(InputText::new(text))));
    }

    #[test]
    fn the_whole_command_is_shown_at_any_width() {
        let text = "x".repeat(5_000) + "END";
        let asked = request(command(&text), false, &[]);
        for width in [2, 5, 20, 80] {
            let letters: String =
                plain(&card(&asked, width, Look::Sentences)).chars().filter(|c| !c.is_whitespace()).collect();
            assert!(letters.contains(&text), "width {width}");
        }
    }

    #[test]
    fn a_diff_keeps_its_indentation_and_shows_what_hides() {
        assert_eq!(visible_diff_line("+\t\tx"), "+\t\tx");
        assert_eq!(visible_diff_line("-        y\u{202e}"), "-        y\\u{202e}");
    }

    #[test]
    fn danger_cannot_be_allowed_for_the_session() {
        let offered = |is_dangerous| {
            keys(&request(command("rm x"), is_dangerous, &[]), Look::Glyphs).iter().any(|key| key.content == "a")
        };
        assert!(offered(false));
        assert!(!offered(true));
    }
}
