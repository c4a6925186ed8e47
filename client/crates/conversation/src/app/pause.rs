//! A turn that the user holds: by a key while the assistant has the terminal, by `/pause` and `/resume` from the prompt.

use cohab_protocol::{ClientMessage, TurnId};
use cohab_shell_relay::live::LineDecision;
use cohab_term::output_style::OutputStyle;

use super::{App, Surface, state::turn::Pause};
use crate::{
    effect::Effect,
    slash::{self, CommandKind, Parsed},
};

impl App {
    /// The key for it was pressed.
    pub(super) fn on_pause_key(&mut self, effects: &mut Vec<Effect>) {
        if let Some(pause) = self.pause() {
            self.set_pause(pause == Pause::No, effects);
        }
    }

    /// The turn is held after its step, unless it is already.
    pub(super) fn hold_turn(&mut self, effects: &mut Vec<Effect>) {
        if self.pause() == Some(Pause::No) {
            self.set_pause(true, effects);
        }
    }

    /// Whether the turn is held, if it is one that can be.
    fn pause(&self) -> Option<Pause> {
        self.activity.turn().filter(|turn| !turn.is_over() && turn.was_sent()).map(|turn| turn.pause)
    }

    fn set_pause(&mut self, is_paused: bool, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn_mut() else { return };
        turn.pause = if is_paused { Pause::Asked } else { Pause::No };
        effects.push(Effect::Send(ClientMessage::PauseTurn { turn_id: turn.id(), is_paused }));
        self.screen.is_dirty = true;
        self.tell_pause();
    }

    /// The daemon says that it holds, or continues.
    pub(super) fn on_turn_paused(&mut self, turn_id: TurnId, is_paused: bool) {
        if !self.is_current(turn_id) {
            return;
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        let pause = match (is_paused, turn.pause) {
            // The user has let it go on meanwhile.
            (true, Pause::No) | (false, _) => Pause::No,
            (true, _) => Pause::Holds,
        };
        if std::mem::replace(&mut turn.pause, pause) != pause {
            self.tell_pause();
        }
    }

    /// Where nothing is painted twice it is said once.
    fn tell_pause(&mut self) {
        if self.options.output_style == OutputStyle::Accessible
            && let Some(text) = self.pause_text()
        {
            self.flush_text();
            self.print_remark(&text);
        }
    }

    /// What is shown of it.
    pub(super) fn pause_text(&self) -> Option<String> {
        let output_style = self.options.output_style;
        let what = match self.pause()? {
            Pause::No => return None,
            Pause::Asked => output_style.choose("pausing after this step", "Pausing after this step"),
            Pause::Holds => output_style.choose("paused", "Paused"),
        };
        let separator = output_style.choose(" · ", ", ");
        let prefix = &self.options.question_prefix;
        Some(format!("{what}{separator}Ctrl-Z or {prefix} /resume continues{separator}Ctrl-C stops"))
    }

    /// A question at the prompt while a turn continues behind it: pauses or resumes the turn, if it is one of these commands.
    pub(super) fn take_pause_command(&mut self, question: &str, effects: &mut Vec<Effect>) -> bool {
        let Parsed::Command(command, "") = slash::parse(question) else { return false };
        let wants_pause = match command.kind {
            CommandKind::Pause => true,
            CommandKind::Resume => false,
            _ => return false,
        };
        let said = match (wants_pause, self.pause()) {
            (_, None) => "Nothing is being answered.",
            (true, Some(Pause::No)) => "Pausing after this step.",
            (true, Some(_)) => "The answer is paused already.",
            (false, Some(Pause::No)) => "The answer is not paused.",
            (false, Some(_)) => "Resumed.",
        };
        if self.pause().is_some_and(|pause| (pause == Pause::No) == wants_pause) {
            self.set_pause(wants_pause, effects);
        }
        self.answer_line("", said);
        self.surface = Surface::Opening;
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        true
    }
}
