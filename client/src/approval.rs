//! A question for consent while it is open: keys in, a decision out. What it looks like is in [`crate::ui::card`].

use std::time::{Duration, Instant};

use cohab_protocol::{ApprovalDecision, ApprovalRequest, ApprovalSubject};
use ratatui::text::Line;

use crate::ui::{
    card::{self, Answering, Question},
    input::{EditResult, InputText},
    keys::{Input, Key, KeyPress},
    look::Look,
};

/// Keys are ignored for this long after the question appeared: they were meant for something else.
const DEAF: Duration = Duration::from_millis(300);

/// Rows that a question needs below its card: the keys or a typed line, and one of the text above.
pub const QUESTION_ROWS: usize = 4;

/// An open question.
#[derive(Clone, Debug)]
pub struct OpenQuestion {
    request: ApprovalRequest,
    answering: Answering,
    opened_at: Instant,
}

impl OpenQuestion {
    /// A question that appears now.
    #[must_use]
    pub fn new(request: ApprovalRequest, now: Instant) -> Self {
        Self { request, answering: Answering::Keys, opened_at: now }
    }

    /// The question comes onto the screen only now.
    pub fn appear(&mut self, now: Instant) {
        self.opened_at = now;
    }

    /// What is asked.
    #[must_use]
    pub fn request(&self) -> &ApprovalRequest {
        &self.request
    }

    /// What would be done, whole.
    #[must_use]
    pub fn card(&self, width: usize, look: Look) -> Vec<Line<'static>> {
        card::card(&self.request, width, look)
    }

    /// The rows below: the keys, or what is typed.
    #[must_use]
    pub fn question(&self, width: usize, look: Look) -> Question {
        card::question(&self.request, &self.answering, width, look)
    }

    /// Takes what the user did. A paste never decides anything; it is text where text is typed.
    pub fn on_input(&mut self, input: &Input, now: Instant) -> Option<ApprovalDecision> {
        if self.answering != Answering::Keys {
            return self.on_text(input);
        }
        let Input::Key(press) = input else { return None };
        if now < self.opened_at + DEAF {
            return None;
        }
        self.on_key(*press)
    }

    fn on_key(&mut self, press: KeyPress) -> Option<ApprovalDecision> {
        if press.has_ctrl {
            return matches!(press.key, Key::Char('c')).then_some(ApprovalDecision::CancelTurn);
        }
        let is_command = matches!(self.request.subject, ApprovalSubject::Command { .. });
        let is_server = matches!(self.request.subject, ApprovalSubject::LocalServer { .. });
        match press.key {
            Key::Escape => return Some(ApprovalDecision::CancelTurn),
            Key::Char('y' | 'Y') if self.request.is_dangerous => {
                self.answering = Answering::Confirming(InputText::new(""));
            }
            Key::Char('y' | 'Y') => return Some(ApprovalDecision::Once),
            Key::Char('a' | 'A') if !self.request.is_dangerous && !is_server => return Some(ApprovalDecision::Session),
            Key::Char('e' | 'E') if is_command => {
                if let ApprovalSubject::Command { command, .. } = &self.request.subject {
                    self.answering = Answering::Editing(InputText::new(command));
                }
            }
            Key::Char('n' | 'N') => self.answering = Answering::Refusing(InputText::new("")),
            _ => {}
        }
        None
    }

    fn on_text(&mut self, input: &Input) -> Option<ApprovalDecision> {
        let text = match &mut self.answering {
            Answering::Confirming(text) | Answering::Editing(text) | Answering::Refusing(text) => text,
            Answering::Keys => return None,
        };
        if text.apply(input) == EditResult::Edited {
            return None;
        }
        match input {
            Input::Key(press) if *press == KeyPress::plain(Key::Enter) => self.on_submitted(),
            Input::Key(press) if *press == KeyPress::plain(Key::Escape) => {
                self.answering = Answering::Keys;
                None
            }
            Input::Key(press) if *press == KeyPress::ctrl('c') => Some(ApprovalDecision::CancelTurn),
            _ => None,
        }
    }

    fn on_submitted(&mut self) -> Option<ApprovalDecision> {
        match &self.answering {
            Answering::Editing(text) if self.request.is_dangerous && self.is_asked(text.text()) => {
                self.answering = Answering::Confirming(InputText::new(""));
                None
            }
            Answering::Confirming(text) if text.text().trim() == "yes" => Some(ApprovalDecision::Once),
            Answering::Confirming(_) => {
                self.answering = Answering::Keys;
                None
            }
            Answering::Editing(text) if text.text().trim().is_empty() => None,
            Answering::Editing(text) => Some(ApprovalDecision::Edited { command: text.text().to_owned() }),
            Answering::Refusing(text) => Some(ApprovalDecision::Refused { note: text.text().trim().to_owned() }),
            Answering::Keys => None,
        }
    }

    /// Whether `text` is the command as it was asked. The editor leaves out what cannot be typed.
    fn is_asked(&self, text: &str) -> bool {
        matches!(&self.request.subject, ApprovalSubject::Command { command, .. } if InputText::new(command).text() == text)
    }
}
