//! The rows below a card: the keys, or the text that is typed.

use std::time::Instant;

use cohab_policy::user_rules::Rule;
use cohab_protocol::{ApprovalDecision, ApprovalRequest, ApprovalSubject};
use cohab_term::{
    input::InputText,
    wrap::{StyledRow, push_text, row_width, wrap_words},
};
use ratatui::text::{Line, Span};

use super::{Card, OutputStyle, theme, visible, visible_command};
use crate::approval::{ApprovalEnvironment, Offer};

/// The meaning of the key `p`.
const PROJECT: &str = " lets tests and builds run here unasked; shows which first";

/// How far the user is with the answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Answering {
    /// The user had the prompt when the question came: a key that is meant for the question is awaited.
    Unattended,
    /// A key is awaited.
    Keys,
    /// Danger: the word `yes` is typed.
    Confirming {
        /// What is typed.
        typed: InputText,
        /// What the user made of the command.
        edited: Option<String>,
    },
    /// The command is changed.
    Editing(InputText),
    /// A word to the model is typed, on the way to no.
    Refusing(InputText),
    /// These rules are shown before they are stored.
    Keeping(Vec<Rule>),
    /// Rules are being stored; the decision holds then.
    Storing {
        /// The decision.
        decision: ApprovalDecision,
        /// Until then.
        until: Instant,
    },
}

/// The rows of the question, and the cursor's row and column in them if the user types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuestionRows {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// Row and column.
    pub cursor: Option<(usize, usize)>,
}

/// The rows below the card. `chosen` is a key that takes effect in a moment.
#[must_use]
pub(crate) fn question(
    request: &ApprovalRequest,
    offer: &Offer,
    answering: &Answering,
    chosen: Option<char>,
    environment: &ApprovalEnvironment,
    width: usize,
    output_style: OutputStyle,
) -> QuestionRows {
    let below = |note: &str| {
        let mut card = Card::new(request.is_dangerous, width, output_style);
        card.rows(wrap_words(&[Span::styled(note.to_owned(), theme::DIM)], card.columns));
        card.into_bottom()
    };
    let typed = |note: &str, prompt: &str, input: &InputText| {
        let mut lines = below(note);
        let above = lines.len();
        let (rows, (row, column)) = input.layout(prompt, width);
        lines.extend(rows);
        QuestionRows { lines, cursor: Some((above + row, column)) }
    };
    let keyed = |keys: &[(&str, &str)]| {
        let mut card = Card::new(request.is_dangerous, width, output_style);
        card.keys(keys, chosen);
        QuestionRows { lines: card.into_bottom(), cursor: None }
    };
    match answering {
        Answering::Unattended => keyed(&[("Tab or an arrow", "to answer"), ("Esc", "stop")]),
        Answering::Keys => {
            let mut card = Card::new(request.is_dangerous, width, output_style);
            if !offer.project.is_empty() {
                let style = if chosen == Some('p') { theme::STRONG } else { theme::DIM };
                card.words(&[Span::styled("p", theme::STRONG), Span::styled(PROJECT, style)]);
            }
            let mut question = keyed(&keys(request, offer));
            question.lines.splice(0..0, card.into_middle());
            question
        }
        Answering::Confirming { typed: input, edited } => {
            let note = "Type yes and Enter to do it, Esc to go back.";
            let mut question = typed(note, "yes? ", input);
            if let Some(command) = edited {
                let mut card = Card::new(true, width, output_style);
                card.words(&[Span::styled("Dangerous as edited:", theme::DANGER)]);
                card.command("", &visible_command(command));
                let mut lines = card.into_middle();
                question.cursor = question.cursor.map(|(row, column)| (row + lines.len(), column));
                lines.append(&mut question.lines);
                question.lines = lines;
            }
            question
        }
        Answering::Editing(input) if matches!(request.subject, ApprovalSubject::Input { .. }) => {
            typed("Enter sends it, Esc goes back.", "> ", input)
        }
        Answering::Editing(input) => {
            typed("Change the command. Enter runs it, Alt-Enter adds a line, Esc goes back.", "$ ", input)
        }
        Answering::Refusing(input) => typed("Reason (optional). Enter refuses, Esc goes back.", "no: ", input),
        Answering::Keeping(rules) => {
            QuestionRows { lines: keeping(rules, chosen, environment, width, output_style), cursor: None }
        }
        Answering::Storing { .. } => {
            let note = format!("Storing it in {}.", visible(&environment.rules_name()));
            QuestionRows { lines: below(&note), cursor: None }
        }
    }
}

/// The rules as they would be stored, and the keys for them.
fn keeping(
    rules: &[Rule],
    chosen: Option<char>,
    environment: &ApprovalEnvironment,
    width: usize,
    output_style: OutputStyle,
) -> Vec<Line<'static>> {
    let mut card = Card::new(false, width, output_style);
    let folder = rules.first().and_then(|rule| rule.folder.as_ref());
    let place = folder.map_or("in every folder".into(), |folder| format!("in {}", environment.short(folder)));
    let mut words = vec![card.label("stores"), Span::raw("allow ")];
    for (index, rule) in rules.iter().enumerate() {
        words.extend((index > 0).then(|| Span::raw(", ")));
        words.push(Span::styled(format!("`{}`", visible_command(&rule.line())), theme::STRONG));
    }
    words.push(Span::raw(format!(" {place}; kept in {}", visible(&environment.rules_name()))));
    card.words(&words);
    let mut lines = card.into_middle();
    let mut card = Card::new(false, width, output_style);
    card.keys(&[("y", if rules.len() > 1 { "stores them" } else { "stores it" }), ("Esc", "goes back")], chosen);
    lines.extend(card.into_bottom());
    lines
}

/// The keys that mean something for this question, in the order shown, and their meanings.
fn keys(request: &ApprovalRequest, offer: &Offer) -> Vec<(&'static str, &'static str)> {
    let value = match &request.subject {
        ApprovalSubject::Input { value, .. } => value.as_deref(),
        _ => None,
    };
    let is_plain = matches!(
        request.subject,
        ApprovalSubject::LocalServer { .. } | ApprovalSubject::GoOn { .. } | ApprovalSubject::Input { .. }
    );
    let is_change = matches!(request.subject, ApprovalSubject::FileChange { .. });
    let once = match (is_plain, offer.as_one, request.is_dangerous) {
        _ if value == Some("") => "send nothing",
        _ if value.is_some() => "send",
        (true, ..) => "yes",
        (_, true, _) => "all",
        (_, _, true) => "run (you will type \"yes\")",
        _ => "once",
    };
    let all = [
        ("y", once, true),
        ("s", if is_change { "this file, this session" } else { "this session" }, offer.session),
        ("d", "this folder", offer.folder.is_some()),
        ("a", "always", offer.always.is_some()),
        ("o", "one by one", offer.as_one),
        ("e", if value.is_some() { "type" } else { "edit" }, offer.edit),
        ("v", "details", offer.details),
        ("n", if offer.as_one { "none" } else { "no" }, true),
        ("Esc", "stop", true),
    ];
    all.into_iter().filter(|(.., is_offered)| *is_offered).map(|(key, what, _)| (key, what)).collect()
}

/// Keys with their meanings, as many on a row as fit. None is parted from its meaning, but where a row is narrower than the two.
#[must_use]
pub(crate) fn key_rows(
    keys: &[(&str, &str)],
    is_dangerous: bool,
    columns: usize,
    output_style: OutputStyle,
) -> Vec<StyledRow> {
    let mut rows = Vec::new();
    let mut row = StyledRow::new();
    for (index, (key, meaning)) in keys.iter().enumerate() {
        let key_style = if is_dangerous && *key == "y" { theme::DANGER } else { theme::STRONG };
        let mut item = vec![Span::styled((*key).to_owned(), key_style)];
        let comma = if index + 1 < keys.len() { output_style.choose("", ",") } else { "" };
        push_text(&mut item, &format!(" {meaning}"), theme::PLAIN);
        push_text(&mut item, comma, theme::DIM);
        let separator = if row.is_empty() { "" } else { output_style.choose(" · ", " ") };
        if row_width(&row) + row_width(&[Span::raw(separator)]) + row_width(&item) > columns {
            rows.extend(Some(std::mem::take(&mut row)).filter(|row| !row.is_empty()));
        } else {
            push_text(&mut row, separator, theme::DIM);
        }
        row.append(&mut item);
    }
    rows.push(row);
    rows.iter().flat_map(|row| wrap_words(row, columns)).collect()
}

impl Card {
    /// With a key that is pressed the others step back. Nothing is read aloud twice for it.
    fn keys(&mut self, keys: &[(&str, &str)], chosen: Option<char>) {
        let mut rows = key_rows(keys, self.is_dangerous, self.columns, self.output_style);
        let shown = keys.iter().find(|(key, _)| chosen.is_some_and(|chosen| key.chars().eq([chosen])));
        if let (Some((key, meaning)), OutputStyle::Rich) = (shown, self.output_style) {
            let is_it = |text: &str| text == *key || text == format!(" {meaning}");
            for span in rows.iter_mut().flatten() {
                span.style = if is_it(&span.content) { theme::STRONG } else { theme::DIM };
            }
        }
        self.rows(rows);
    }
}
