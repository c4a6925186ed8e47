//! Adds words of the user to the running turn: `?+ only in src` while the assistant works. What the model has not read when the turn
//! ends is asked next; what it can no longer read is named.

use cohab_protocol::{ClientMessage, ExtendTurn, TurnId};
use cohab_shell_relay::live::{LineDecision, UserCommand};

use super::{
    App, LinkState, Surface,
    state::{
        asked::{Asked, AskedKind},
        turn::Turn,
    },
};
use crate::effect::Effect;

/// Said when the user stops a turn before the model read an addition.
pub(super) const UNREAD: &str = "What you added was not read.";

impl App {
    /// Adds words to the turn behind the prompt. Without words, or when the turn has ended meanwhile, they are a question.
    pub(super) fn add_to_turn(&mut self, words: &str, effects: &mut Vec<Effect>) {
        let takes_words = |turn: &&Turn| !turn.is_over() && !turn.is_shared() && !words.is_empty();
        let Some(turn) = self.activity.turn().filter(takes_words) else {
            return self.queue_question(Asked::plain(words), effects);
        };
        let decision = if turn.is_private { LineDecision::Unrecorded } else { LineDecision::Assistant };
        let is_kept = self.keep_addition(words, effects);
        self.answer_line(if is_kept { "added: " } else { "not added (too many wait): " }, words);
        self.surface = Surface::Opening;
        effects.push(Effect::DecideLine(decision));
    }

    /// Keeps an addition, and sends it if the daemon has the turn. False if too many wait.
    fn keep_addition(&mut self, words: &str, effects: &mut Vec<Effect>) -> bool {
        let Some(turn) = self.activity.turn_mut() else { return false };
        let (was_sent, is_kept) = (turn.was_sent(), turn.additions.add(words));
        if is_kept && was_sent && matches!(self.connection.link, LinkState::Up(_)) {
            let last = self.additions().pop();
            effects.extend(last);
        }
        is_kept
    }

    /// What the user typed ahead while a command of ours ran went to the shell, which knows no such command: it is added, or asked next,
    /// all the same. False if it is something else, or too much waits.
    pub(super) fn take_up_typed_ahead(&mut self, command: &UserCommand, effects: &mut Vec<Effect>) -> bool {
        let failed = command.line.as_deref().filter(|_| command.status != 0);
        let Some(rest) = failed.and_then(|line| line.strip_prefix(&self.options.question_prefix)) else { return false };
        let asked = Asked::behind_prefix(rest);
        // Behind the last turn that was ours nothing asks any more.
        let Some(is_over) =
            self.activity.turn().map(Turn::is_over).filter(|is_over| !is_over || self.surface == Surface::Ours)
        else {
            return false;
        };
        if asked.text.is_empty() {
            return false;
        }
        let (is_kept, label) = match asked.kind {
            AskedKind::Addition if is_over => (self.background.keep(Asked::plain(&asked.text)), "queued: "),
            AskedKind::Addition => (self.keep_addition(&asked.text, effects), "added: "),
            AskedKind::Plain | AskedKind::Private => (self.background.keep(asked.clone()), "queued: "),
        };
        if is_kept {
            self.flush_text();
            self.print_remark(&format!("{label}{}", asked.text));
        }
        is_kept
    }

    /// The messages for what the model has not read; the daemon ignores those that it knows.
    pub(super) fn additions(&mut self) -> Vec<Effect> {
        let Some(turn) = self.activity.turn().filter(|turn| !turn.is_over()) else { return Vec::new() };
        let turn_id = turn.id();
        let redactor = &mut self.redactor;
        let message = |(number, words): (u32, &str)| {
            let mut text = words.to_owned();
            redactor.words(&mut text);
            Effect::Send(ClientMessage::ExtendTurn(ExtendTurn { turn_id, number, text }))
        };
        turn.additions.unread().map(message).collect()
    }

    /// The model reads the additions up to this number with its next call.
    pub(super) fn on_extended(&mut self, turn_id: TurnId, number: u32) {
        if self.is_current(turn_id) {
            // What the model says next answers them, too.
            self.flush_text();
            self.activity.turn_mut().into_iter().for_each(|turn| turn.additions.read(number));
        }
    }

    /// The turn has ended before the model read these: they are the next questions.
    pub(super) fn ask_unread(&mut self) {
        let Some(turn) = self.activity.turn_mut() else { return };
        let kind = if turn.is_private { AskedKind::Private } else { AskedKind::Plain };
        for text in turn.additions.take_unread().into_iter().rev() {
            self.background.queue.push_front(Asked { text, kind, data: None });
        }
    }

    /// No model will read these: the user may want to add them again.
    pub(super) fn name_unread(&mut self) {
        let unread = self.activity.turn_mut().map(|turn| turn.additions.take_unread()).unwrap_or_default();
        for words in unread {
            self.flush_text();
            self.print_remark(&format!("not read by the model: {words}"));
        }
    }
}
