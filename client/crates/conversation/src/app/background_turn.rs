//! Moves a turn behind the prompt while it only waits: the user types commands as usual, the turn continues, and its output is shown
//! once the prompt is left untouched.

use std::time::{Duration, Instant};

use cohab_shell_relay::live::{LineDecision, UntouchedPrompt};
use cohab_term::theme;
use ratatui::text::{Line, Span};

use super::{
    App, Surface,
    state::{
        agent_command::{AgentCommand, CommandState},
        asked::Asked,
        background_turn::Presence,
        turn::{Turn, Waiting},
    },
};
use crate::{
    effect::Effect,
    ui::status::{fitted, one_line},
};

/// A model that answers at once is waited for; that is not worth another prompt.
const GRACE: Duration = Duration::from_millis(200);
/// A text that stops for so long in its middle counts as waiting, too.
const STALL: Duration = Duration::from_secs(1);
/// Said once in a turn, when the prompt comes.
const HINT: &str = "Still thinking. Type commands; Ctrl-C on an empty line stops it.";

impl App {
    /// When the turn is to go behind the prompt, if nothing else happens.
    pub(super) fn background_due(&self) -> Option<Instant> {
        let turn = self.activity.turn().filter(|turn| !turn.is_over())?;
        let may_leave = (self.background.keys_wait || turn.waits_for_programs())
            && self.background.place == Presence::Here
            && self.surface == Surface::Ours
            && turn.question.is_none()
            && turn.command.as_ref().is_none_or(|command| match command.state {
                CommandState::ResolvingNames { .. } | CommandState::AwaitingLocalApproval { .. } => true,
                CommandState::WaitingForTerminal { .. }
                | CommandState::CheckingGitSettings { .. }
                | CommandState::Running(_) => false,
            });
        let is_text_coming = turn.waiting == Waiting::Nothing && !turn.waits_for_programs();
        let patience = if is_text_coming { STALL } else { GRACE };
        may_leave.then(|| turn.progress.quiet_since() + patience)
    }

    /// After each event: leaves the terminal if the user wants it, asks for it if there is something to show.
    pub(super) fn settle_background_turn(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        match self.background.place {
            Presence::Here if self.background_due().is_some_and(|due| now >= due) => {
                let is_shared = self.activity.turn().is_some_and(Turn::is_shared);
                if !is_shared && !std::mem::replace(&mut self.background.has_told, true) {
                    self.print_remark(HINT);
                }
                self.background.place = Presence::Leaving;
                self.background.keys_wait = false;
                self.surface = Surface::Closing;
                // The question stays away: what Escape brings back later does not belong to this answer.
                self.entered_line.ended();
                effects.push(Effect::EndAnswer);
            }
            Presence::Away if self.surface == Surface::Shell && self.has_something_to_show() => {
                self.background.place = Presence::ComingBack;
                effects.push(Effect::ComeBack);
            }
            _ => {}
        }
    }

    fn has_something_to_show(&self) -> bool {
        self.background.has_text
            || self.activity.turn().is_some_and(|turn| {
                let waits = turn.command.as_ref().is_some_and(AgentCommand::is_waiting);
                turn.is_over() || turn.question.is_some() || waits
            })
    }

    /// The shell's prompt stands. Returns whether that is only because the turn went behind the prompt.
    pub(super) fn has_gone_to_background(&mut self) -> bool {
        let is_in_background = self.background.place == Presence::Leaving;
        if is_in_background {
            self.background.place = Presence::Away;
            self.surface = Surface::Shell;
        }
        is_in_background
    }

    /// The terminal could not be had. Returns whether the turn is behind the prompt: then it is asked for again.
    pub(super) fn stays_in_background(&mut self) -> bool {
        if self.background.is_away() {
            self.background.place = Presence::Away;
            self.surface = Surface::Shell;
            if std::mem::take(&mut self.background.is_asking) {
                self.background.queue.pop_back();
            }
            if std::mem::take(&mut self.background.has_answered_line) && !self.screen.above.is_empty() {
                self.screen.above.remove(0);
            }
        }
        self.background.is_away()
    }

    /// The terminal is ours again: says which turn this is, before the text that came meanwhile.
    pub(super) fn come_back(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if !self.background.is_away() {
            return;
        }
        let above_it = usize::from(self.background.has_answered_line).min(self.screen.above.len());
        let is_plain_stop = self.background.is_stopped && !self.background.has_text;
        if let Some(turn) = self.activity.turn_mut() {
            turn.progress.drawn(now);
            let title = turn.progress.title().to_owned();
            // Of a shell that is shared only calls of programs are worth a title.
            let is_answer_only = turn.is_shared() && above_it > 0;
            if !is_plain_stop && !is_answer_only {
                let label = self.options.output_style.choose("… continuing: ", "Continuing: ");
                let line = self.cut_remark(label, &title, above_it == 0);
                self.screen.above.insert(above_it, line);
            }
            if let Some(question) = self.activity.turn_mut().and_then(|turn| turn.question.as_mut()) {
                question.wait_for_attention();
                effects.push(Effect::TakeKeyboard(true));
            }
        }
        let left_out_bytes = std::mem::take(&mut self.background.left_out_bytes);
        if left_out_bytes > 0 {
            self.flush_text();
            let text =
                format!("{left_out_bytes} bytes of the answer are left out here. `cohab sessions show` has them.");
            self.print_remark(&text);
        }
        self.background.come_back();
    }

    /// Whether the user's prompt stands while a turn is on: a question entered there waits for its end.
    pub(super) fn is_in_background(&self) -> bool {
        self.background.is_away() && self.activity.turn().is_some()
    }

    /// A question entered while another one is answered. An empty one only brings the assistant back.
    pub(super) fn queue_question(&mut self, asked: Asked, effects: &mut Vec<Effect>) {
        let is_private = asked.is_private();
        if self.take_unshare(&asked.text, is_private, effects)
            || !is_private && self.take_pause_command(&asked.text, effects)
        {
            return;
        }
        if !asked.text.is_empty() {
            let text = asked.text.clone();
            let is_kept = self.background.keep(asked);
            self.background.is_asking |= is_kept;
            self.answer_line(if is_kept { "queued: " } else { "not queued (too many wait): " }, &text);
        }
        self.surface = Surface::Opening;
        effects.push(Effect::DecideLine(if is_private { LineDecision::Unrecorded } else { LineDecision::Assistant }));
    }

    /// Says something of a line that was entered. It continues the prompt's row, where the line stood.
    pub(super) fn answer_line(&mut self, label: &str, text: &str) {
        self.screen.above.insert(0, self.cut_remark(label, text, true));
        self.background.has_answered_line = true;
    }

    /// The turn is over: the next question is asked on the spot. False if no question waits.
    pub(super) fn ask_next(&mut self, now: Instant, effects: &mut Vec<Effect>) -> bool {
        let Some(asked) = self.background.queue.pop_front() else { return false };
        self.background.has_told = false;
        self.screen.open_gap();
        if !asked.is_private() && self.take_queued_slash(&asked.text, now, effects) {
            return true;
        }
        self.open_turn(asked, now, effects);
        self.surface = Surface::Ours;
        true
    }

    /// There is no daemon to ask.
    pub(super) fn drop_queue(&mut self) {
        if let Some(dropped) = self.background.drop_queue() {
            self.print_remark(&dropped);
        }
    }

    /// Whether Ctrl-C stops the turn that continues behind the user's prompt: only on an empty line. The relay knows about keys.
    #[must_use]
    pub fn takes_stop_key(&self, prompt: UntouchedPrompt) -> bool {
        prompt == UntouchedPrompt::Stands
            && self.is_in_background()
            && self.activity.turn().is_some_and(|turn| !turn.is_over())
    }

    /// That key was pressed.
    pub(super) fn stop_background_turn(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        self.background.is_stopped = true;
        self.cancel_turn(now, effects);
    }

    /// A dim line in one row. The length of the prompt that it continues is unknown; two thirds of a row are free in most shells.
    pub(super) fn cut_remark(&self, label: &str, text: &str, continues_prompt: bool) -> Line<'static> {
        let span = Span::styled(format!("{label}{}", one_line(text)), theme::DIM);
        let width = if continues_prompt { (self.width() * 2).div_ceil(3) } else { self.width() };
        fitted(&Line::from(span), width)
    }
}
