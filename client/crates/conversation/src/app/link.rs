//! Keeps the connection to the daemon: opens it when it is needed, and again for the rest of an answer.

use std::time::Instant;

use cohab_protocol::{Attached, ClientMessage, ErrorSubject, Notice, NoticeKind, WireError, WireErrorKind};

use super::{
    App, LinkState,
    state::{agent_command::AgentCommand, turn::Turn},
};
use crate::{effect::Effect, silence::SILENCE, ui::status};

const GONE: &str = "the daemon is gone";
const GONE_HINT: &str = "ask again; that starts it";
/// A private question is not stored, so no daemon can continue it.
const PRIVATE_HINT: &str = "nothing of a private question is kept; ask it again";

impl App {
    pub(super) fn connect(&mut self, effects: &mut Vec<Effect>) {
        self.connection.link = LinkState::Connecting;
        effects.push(Effect::Connect);
    }

    /// No daemon runs. A mere prompt needs none; one is started for what was asked meanwhile, and for commands that are to be kept.
    pub(super) fn on_daemon_absent(&mut self, effects: &mut Vec<Effect>) {
        self.connection.link = LinkState::Down;
        self.connection.cancelled_turn = None;
        let has_commands = self.options.keeps_commands && !self.connection.shell_events.is_empty();
        if has_commands || self.activity.turn().is_some_and(|turn| !turn.was_sent() && !turn.is_over()) {
            self.connect(effects);
        }
        self.send_held_request(effects);
    }

    /// Says once that the daemon has not taken a question.
    pub(super) fn tell_of_silence(&mut self, now: Instant) {
        if self.activity.turn_mut().is_some_and(|turn| turn.take_silence(now)) {
            let notice = Notice { turn_id: None, kind: NoticeKind::Warning, text: SILENCE.into() };
            self.screen.above.extend(status::notice(&notice, self.width(), self.options.output_style));
            self.screen.is_dirty = true;
        }
    }

    pub(super) fn on_link_up(&mut self, attached: Attached, effects: &mut Vec<Effect>) {
        let is_resumed = attached.is_resumed;
        let joined = attached.title.is_some().then(|| attached.clone());
        self.connection.link = LinkState::Up(attached);
        if is_resumed {
            self.report_again(effects);
        } else {
            self.connection.cancelled_turn = None;
            // A daemon that was just (re)started knows nothing; one that knew us keeps only the newest, so twice does no harm.
            let events = self.connection.shell_events.iter().cloned();
            effects.extend(events.map(|event| Effect::Send(ClientMessage::ShellEvent(event))));
            if self.activity.turn().is_some_and(Turn::is_resuming) {
                self.fail_turn_of_gone(effects);
            }
        }
        if let Some(turn) = self.activity.turn_mut() {
            turn.resumed();
        }
        if self.connection.cancelled_turn.is_none() {
            self.send_held_query(effects);
        }
        if let Some(attached) = joined {
            self.joined(Ok(attached), effects);
        }
        self.send_held_request(effects);
    }

    pub(super) fn send_held_query(&mut self, effects: &mut Vec<Effect>) {
        if let Some(query) = self.activity.turn_mut().and_then(Turn::take_unsent_query) {
            effects.push(Effect::Send(query));
            effects.extend(self.additions());
        }
    }

    /// What the daemon may not have got before the connection broke off: it ignores what it knows.
    fn report_again(&mut self, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn().filter(|turn| !turn.is_over()) else { return };
        effects.extend(turn.command.as_ref().and_then(AgentCommand::progress));
        if let Some(result) = turn.last_result.and_then(|call_id| self.journal.find(call_id)) {
            effects.push(Effect::Send(ClientMessage::CommandExecutionResult(result.clone())));
        }
        effects.extend(self.additions());
    }

    /// The daemon that holds the turn is asked for its rest; a running command continues meanwhile.
    pub(super) fn on_link_lost(&mut self, effects: &mut Vec<Effect>) {
        if let Some(from) = self.activity.turn_mut().and_then(Turn::resume) {
            self.connection.link = LinkState::Connecting;
            effects.push(Effect::Resume(from));
            return;
        }
        self.connection.link = LinkState::Down;
        self.connection.cancelled_turn = None;
        self.fail_turn_of_gone(effects);
        self.fail_slash(GONE, GONE_HINT);
    }

    pub(super) fn on_link_down(&mut self, message: &str, hint: &str, effects: &mut Vec<Effect>) {
        self.connection.cancelled_turn = None;
        self.connection.link = LinkState::Failed;
        if self.activity.turn().is_some_and(Turn::is_resuming) {
            self.connection.link = LinkState::Down;
            self.fail_turn_of_gone(effects);
        } else {
            self.fail_turn(message, hint, effects);
            self.fail_slash(message, hint);
        }
    }

    /// The daemon has ended. The next one knows of a turn that was begun.
    fn fail_turn_of_gone(&mut self, effects: &mut Vec<Effect>) {
        if self.activity.turn().is_some_and(Turn::is_begun) {
            let is_private = self.activity.turn().is_some_and(|turn| turn.is_private);
            let hint = if is_private { PRIVATE_HINT.to_owned() } else { self.way_on() };
            self.fail_turn("the daemon ended in the middle of the answer", &hint, effects);
        } else {
            self.fail_turn(GONE, GONE_HINT, effects);
        }
    }

    /// The turn has no daemon any more. A command that was handed over to the shell is left to its end.
    fn fail_turn(&mut self, message: &str, hint: &str, effects: &mut Vec<Effect>) {
        let Some(turn) = self.activity.turn().filter(|turn| !turn.is_over()) else { return };
        if let Some(running) = turn.running().filter(|running| !running.has_started) {
            effects.push(Effect::WithdrawCommand(running.id.clone()));
        }
        self.name_unread();
        self.drop_queue();
        self.print_error(&WireError {
            about: ErrorSubject::Connection,
            kind: WireErrorKind::NotFound,
            message: message.to_owned(),
            hint: Some(hint.to_owned()),
        });
        self.end_turn(effects);
    }
}
