//! Begins a turn: prints the question and sends it, now or as soon as there is a connection.

use std::time::Instant;

use cohab_protocol::{ClientMessage, UserQuery};
use cohab_term::program_status::ProgramStatus;

use super::{
    App, LinkState, Surface,
    state::{activity::Activity, asked::Asked, progress::TurnProgress, turn::Turn},
};
use crate::effect::Effect;

/// Stands for the words of a private question where a title is kept or shown later.
const PRIVATE_TITLE: &str = "private question";
/// Said below a private question.
const PRIVATE: &str = "private: nothing of this is kept";

impl App {
    /// Begins a turn: the relay is already making room for it.
    pub(super) fn open_turn(&mut self, asked: Asked, now: Instant, effects: &mut Vec<Effect>) {
        self.surface = Surface::Opening;
        self.screen.is_dirty = true;
        self.print_asked(&asked);
        if asked.text.is_empty() {
            let turn_id = (self.options.fresh_turn_id)();
            let turn = Turn::new(turn_id, self.text_width(), &self.options, now);
            self.activity = Activity::Turn(Box::new(turn));
            self.print_usage(&asked);
            self.end_turn(effects);
            return;
        }
        self.ask(asked, now, effects);
    }

    /// Puts a question to the model, now or as soon as there is a connection.
    pub(super) fn ask(&mut self, asked: Asked, now: Instant, effects: &mut Vec<Effect>) {
        let turn_id = (self.options.fresh_turn_id)();
        let is_private = asked.is_private();
        let title = if is_private { PRIVATE_TITLE } else { &asked.text };
        self.undo.turn_begins(title);
        let mut turn = Turn::new(turn_id, self.text_width(), &self.options, now);
        turn.progress = TurnProgress::new(title, now);
        turn.is_private = is_private;
        let mut query = UserQuery {
            turn_id,
            text: asked.text,
            cwd: self.shell.cwd.as_path().into(),
            columns: self.screen.columns,
            piped_input: asked.data,
            is_private,
        };
        self.redactor.query(&mut query);
        self.begin_turn(turn, ClientMessage::UserQuery(query), effects);
    }

    /// Sends what a turn begins with, now or as soon as there is a connection.
    pub(super) fn begin_turn(&mut self, mut turn: Turn, query: ClientMessage, effects: &mut Vec<Effect>) {
        self.journal.begin_turn(turn.id());
        self.undo.history.begin(turn.id());
        self.attention.last_end = ProgramStatus::Idle;
        match &self.connection.link {
            LinkState::Up(_) if self.connection.cancelled_turn.is_some() => turn.hold(query),
            LinkState::Up(attached) => {
                turn.wait_for_model(&attached.model);
                effects.push(Effect::Send(query));
            }
            LinkState::Connecting => turn.hold(query),
            LinkState::Down | LinkState::Failed => {
                turn.hold(query);
                self.connect(effects);
            }
        }
        self.activity = Activity::Turn(Box::new(turn));
    }

    /// The question in the place of the line that was typed.
    fn print_asked(&mut self, asked: &Asked) {
        self.print_question_behind(&asked.prefix(&self.options.question_prefix), &asked.text);
        if asked.is_private() && !asked.text.is_empty() {
            self.print_remark(PRIVATE);
        }
    }
}
