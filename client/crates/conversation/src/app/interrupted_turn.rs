//! Offers a turn that the end of the daemon interrupted, next to the prompt. `? /resume` or `cohab resume` continues it.

use std::time::Instant;

use cohab_protocol::{ClientMessage, ResumeTurn, TurnUnfinished};
use cohab_shell_relay::live::LineDecision;
use cohab_text::sanitize::one_line;

use super::{
    App, Surface,
    state::{progress::TurnProgress, turn::Turn},
};
use crate::effect::Effect;

/// Of a question that is only named.
const TITLE_MAX_CHARS: usize = 40;
/// Title of a turn that continues another.
const TITLE: &str = "/resume";
/// The line that asks for it, as the command to the assistant does.
const LINE: [&str; 2] = ["cohab", "resume"];

impl App {
    /// Whether a line asks to go on.
    pub(super) fn is_resume(line: &str) -> bool {
        line.split_whitespace().eq(LINE)
    }

    /// How to go on after the daemon's end.
    pub(super) fn way_on(&self) -> String {
        format!("`{} /resume` continues it; finished steps are not repeated", self.options.question_prefix)
    }

    /// The daemon knows of a turn that was interrupted.
    pub(super) fn on_unfinished(&mut self, unfinished: &TurnUnfinished, effects: &mut Vec<Effect>) {
        if self.activity.resuming_mut().is_some_and(|resuming| resuming.hold(unfinished)) {
            return;
        }
        if self.is_joining() && self.surface == Surface::Ours {
            self.print_unfinished(unfinished);
        } else if self.activity.turn().is_none() {
            let (question, prefix) = (title(unfinished), &self.options.question_prefix);
            effects.push(Effect::Announce(format!("\"{question}\" was interrupted: {prefix} /resume continues it")));
        }
    }

    /// Prints it below the remark about its session.
    pub(super) fn print_unfinished(&mut self, unfinished: &TurnUnfinished) {
        let steps = match unfinished.steps_done {
            0 => "nothing is done yet".to_owned(),
            1 => "1 step is done".to_owned(),
            steps => format!("{steps} steps are done"),
        };
        let question = title(unfinished);
        self.print_remark(&format!("Its last answer was interrupted (\"{question}\", {steps}): {}.", self.way_on()));
        for unknown in &unfinished.unknown {
            self.print_remark(&format!("It is unknown whether this ran: {}", one_line(unknown, TITLE_MAX_CHARS)));
        }
    }

    /// `cohab resume` at the prompt: the line is taken from the shell.
    pub(super) fn begin_going_on(&mut self, line: &str, now: Instant, effects: &mut Vec<Effect>) {
        effects.push(Effect::DecideLine(LineDecision::Assistant));
        self.surface = Surface::Opening;
        self.screen.is_dirty = true;
        self.print_own_line(line.trim());
        self.go_on(now, effects);
    }

    /// Whether the turn is one that continues another.
    pub(super) fn is_going_on(&self) -> bool {
        self.activity.turn().is_some_and(|turn| turn.progress.title() == TITLE)
    }

    /// A turn begins that continues the interrupted one.
    pub(super) fn go_on(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        let turn_id = (self.options.fresh_turn_id)();
        let mut turn = Turn::new(turn_id, self.text_width(), &self.options, now);
        turn.progress = TurnProgress::new(TITLE, now);
        let resume = ResumeTurn { turn_id, cwd: self.shell.cwd.as_path().into() };
        self.begin_turn(turn, ClientMessage::ResumeTurn(resume), effects);
    }
}

fn title(unfinished: &TurnUnfinished) -> String {
    one_line(&unfinished.question, TITLE_MAX_CHARS)
}
