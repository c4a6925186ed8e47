//! The rows below a card: the keys, or the text that is typed.

use std::time::Instant;

use cohab_protocol::{ApprovalDecision, ApprovalRequest, ApprovalSubject};
use cohab_shell_relay::policy::remembered::Rule;
use ratatui::text::{Line, Span};

use super::{Card, Look, theme, visible, visible_command};
use crate::{
    approval::{Offer, Scene},
    markdown::wrap::{Row, push_text},
    ui::input::InputText,
};

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
    /// This rule is shown before it is stored.
    Keeping(Rule),
    /// A rule is being stored; the decision holds then.
    Storing {
        /// The decision.
        decision: ApprovalDecision,
        /// Until then.
        until: Instant,
    },
}

/// The rows of the question, and the cursor's row and column in them if the user types.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The rows.
    pub lines: Vec<Line<'static>>,
    /// Row and column.
    pub cursor: Option<(usize, usize)>,
}

/// The rows below the card.
#[must_use]
pub fn question(
    request: &ApprovalRequest,
    offer: &Offer,
    answering: &Answering,
    scene: &Scene,
    width: usize,
    look: Look,
) -> Question {
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
        Answering::Keys => Question { lines: below(&keys(request, offer, look)), cursor: None },
        Answering::Confirming(input) => typed("Type yes and Enter to do it, Esc to go back.", "yes? ", input),
        Answering::Editing(input) => {
            typed("Change the command. Enter runs it, Alt-Enter adds a line, Esc goes back.", "$ ", input)
        }
        Answering::Refusing(input) => {
            typed("A word to the assistant? Enter sends it and refuses, Esc goes back.", "no: ", input)
        }
        Answering::Keeping(rule) => Question { lines: keeping(rule, scene, width, look), cursor: None },
        Answering::Storing { .. } => {
            let note = format!("storing it in {}", visible(&scene.rules_name()));
            Question { lines: below(&[Span::styled(note, theme::DIM)]), cursor: None }
        }
    }
}

/// The rule as it would be stored, and the keys for it.
fn keeping(rule: &Rule, scene: &Scene, width: usize, look: Look) -> Vec<Line<'static>> {
    let mut card = Card::new(false, width, look);
    let place = rule.folder.as_ref().map_or("in every folder".into(), |folder| format!("in {}", scene.short(folder)));
    card.words(&[
        Span::styled("stores: ", theme::DIM),
        Span::raw("allow "),
        Span::styled(format!("`{}`", visible_command(&rule.line())), theme::STRONG),
        Span::raw(format!(" {place}, in {}", visible(&scene.rules_name()))),
    ]);
    let mut lines = card.into_middle();
    let mut card = Card::new(false, width, look);
    card.words(&row(&[("y", "stores it"), ("Esc", "goes back")], false, look));
    lines.extend(card.into_bottom());
    lines
}

/// The keys that mean something for this question, in the order shown.
#[must_use]
pub fn keys(request: &ApprovalRequest, offer: &Offer, look: Look) -> Vec<Span<'static>> {
    let is_plain = matches!(request.subject, ApprovalSubject::LocalServer { .. } | ApprovalSubject::GoOn { .. });
    let once = match (is_plain, offer.as_one, request.is_dangerous) {
        (true, ..) => "yes",
        (_, true, _) => "all",
        (_, _, true) => "once (asks for a typed yes)",
        _ => "once",
    };
    let all = [
        ("y", once, true),
        ("s", "this session", offer.session),
        ("d", "this folder", offer.folder.is_some()),
        ("a", "always", offer.always.is_some()),
        ("o", "one by one", offer.as_one),
        ("e", "edit", offer.edit),
        ("n", if offer.as_one { "none" } else { "no" }, true),
        ("Esc", "stop", true),
    ];
    let offered: Vec<_> =
        all.iter().filter(|(.., is_offered)| *is_offered).map(|(key, what, _)| (*key, *what)).collect();
    row(&offered, request.is_dangerous, look)
}

fn row(keys: &[(&str, &str)], is_dangerous: bool, look: Look) -> Vec<Span<'static>> {
    let mut row = Row::new();
    for (key, meaning) in keys {
        if !row.is_empty() {
            push_text(&mut row, look.choose(" · ", ", "), theme::DIM);
        }
        let key_style = if is_dangerous && *key == "y" { theme::DANGER } else { theme::STRONG };
        push_text(&mut row, key, key_style);
        push_text(&mut row, &format!(" {meaning}"), theme::PLAIN);
    }
    row
}
