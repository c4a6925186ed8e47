//! Asks the terminal once for its background, before the first answer is drawn. The answer is kept from the shell whenever it comes;
//! a terminal that never answers costs nothing.

use std::borrow::Cow;

use cohab_term::{
    background::{AnswerFilter, Background, QUESTION},
    capability::reads_strings,
};
use cohab_types::client_settings::Theme;

use crate::{colours, terminal::Terminal};

/// The terminal's background, as far as it is known.
#[derive(Debug)]
pub struct BackgroundColour {
    known: Background,
    state: State,
}

#[derive(Debug)]
enum State {
    Unasked,
    Asked(AnswerFilter),
    Settled,
}

impl BackgroundColour {
    /// By the user's setting, or else by `COLORFGBG` and the terminal's answer, if it can be asked.
    pub fn new(theme: Theme) -> Self {
        let is_asked = theme == Theme::Auto && reads_strings(&std::env::var("TERM").unwrap_or_default());
        Self { known: colours::background(theme), state: if is_asked { State::Unasked } else { State::Settled } }
    }

    /// What is known before the terminal has answered.
    pub fn known(&self) -> Background {
        self.known
    }

    /// Asks, the first time.
    pub fn ask(&mut self, terminal: &mut Terminal) {
        if matches!(self.state, State::Unasked) {
            terminal.write(QUESTION);
            self.state = State::Asked(AnswerFilter::default());
        }
    }

    /// The keys without the terminal's answer, and the background when that has come.
    pub fn keys<'a>(&mut self, bytes: &'a [u8]) -> (Cow<'a, [u8]>, Option<Background>) {
        let State::Asked(filter) = &mut self.state else { return (Cow::Borrowed(bytes), None) };
        let (keys, background) = filter.keys(bytes);
        if background.is_some() {
            self.state = State::Settled;
        }
        (keys, background)
    }
}
