//! Handles messages from the daemon.

use std::time::Instant;

use cohab_protocol::{
    AgentStreamChunk, ChunkDelta, DaemonMessage, ErrorSubject, Notice, StepActivity, StepDetail, StepFinished,
    StepOutcome, SubagentProgress, TurnEnded, TurnId, WireErrorKind,
};
use cohab_term::output_style::OutputStyle;

use super::{
    App,
    state::{
        countdown::Countdown,
        turn::{Turn, Waiting},
    },
};
use crate::{
    effect::Effect,
    ui::{diff::kept_rows, status},
};

impl App {
    pub(super) fn on_daemon(&mut self, message: DaemonMessage, now: Instant, effects: &mut Vec<Effect>) {
        self.screen.is_dirty = true;
        if let Some(turn) = self.activity.turn_mut() {
            turn.saw(now);
            let turn_id = turn.id();
            turn.progress.heard(&message, turn_id, now);
        }
        match message {
            DaemonMessage::TurnStarted { turn_id } if self.is_current(turn_id) => {
                self.activity.turn_mut().map(Turn::begin);
            }
            DaemonMessage::AgentStreamChunk(chunk) => self.on_chunk(chunk),
            DaemonMessage::StepStarted(started) if self.is_current(started.turn_id) => {
                self.on_step_started(started.step, started.activity);
            }
            DaemonMessage::StepFinished(finished) if self.is_current(finished.turn_id) => {
                self.on_step_finished(&finished);
            }
            DaemonMessage::ExecuteCommand(request) => self.on_execute(request, now, effects),
            DaemonMessage::InterruptCommand { call_id, by } => self.on_interrupt(call_id, by, effects),
            DaemonMessage::ApprovalRequest(request) => self.on_approval_request(request, now, effects),
            DaemonMessage::TurnEnded(ended) if self.connection.cancelled_turn == Some(ended.turn_id) => {
                self.connection.cancelled_turn = None;
                self.send_held_query(effects);
                self.send_held_request(effects);
            }
            DaemonMessage::TurnEnded(ended) if self.is_current(ended.turn_id) => {
                self.call_user(ended.reason, now, effects);
                self.on_turn_ended(&ended, effects);
            }
            DaemonMessage::TurnUnfinished(unfinished) => self.on_unfinished(&unfinished, effects),
            DaemonMessage::TurnPaused { turn_id, is_paused } => self.on_turn_paused(turn_id, is_paused),
            DaemonMessage::TurnExtended { turn_id, number } => self.on_extended(turn_id, number),
            DaemonMessage::StepProgress { turn_id, text } if self.is_current(turn_id) => {
                if let Some(turn) = self.activity.turn_mut() {
                    turn.step_progressed(&text);
                }
            }
            DaemonMessage::SubagentProgress(progress) if self.is_current(progress.turn_id) => {
                self.on_subagent(progress, now);
            }
            DaemonMessage::TaskEnded(ended) => self.on_task_ended(&ended),
            DaemonMessage::WatcherFired(fired) => self.on_fired(fired, effects),
            DaemonMessage::Notice(notice) if notice.turn_id.is_none() && self.activity.turn().is_none() => {
                self.on_line_to_show(notice.text);
            }
            DaemonMessage::Notice(notice) => self.on_notice(&notice, now),
            DaemonMessage::SessionReply(reply) => self.on_session_reply(reply, now, effects),
            DaemonMessage::Error(error) if self.on_request_error(&error) => {}
            DaemonMessage::Error(error) => {
                let ends_turn = matches!(error.about, ErrorSubject::Turn(id) if self.is_current(id));
                if ends_turn || (error.about == ErrorSubject::Connection && self.activity.turn().is_some()) {
                    self.print_error(&error);
                }
                if ends_turn && error.kind == WireErrorKind::NotFound && self.is_going_on() {
                    self.end_turn(effects);
                    return self.begin_pick_of_conversation(now, effects);
                }
                // A turn that was never begun has no `TurnEnded`.
                if ends_turn && error.kind == WireErrorKind::Busy {
                    self.end_turn(effects);
                }
            }
            _ => {}
        }
    }

    pub(super) fn is_current(&self, turn_id: TurnId) -> bool {
        self.activity.turn().is_some_and(|turn| turn.id() == turn_id && !turn.is_over())
    }

    fn on_chunk(&mut self, chunk: AgentStreamChunk) {
        if !self.is_current(chunk.turn_id) {
            return;
        }
        if matches!(&chunk.delta, ChunkDelta::Text(text) if !text.is_empty()) {
            self.begin_text();
        }
        let Some(turn) = self.activity.turn_mut() else { return };
        if turn.take_chunk(chunk.seq, self.background.admit(chunk.delta)) {
            let closed = turn.take_closed_text();
            self.append_text(closed);
        }
    }

    fn on_step_started(&mut self, step: u32, activity: StepActivity) {
        if !self.activity.turn_mut().is_some_and(|turn| turn.is_new_step(step)) {
            return;
        }
        if matches!(activity, StepActivity::ToolCall { .. }) {
            self.flush_text();
        }
        if let Some(turn) = self.activity.turn_mut() {
            turn.step_started(step, activity);
        }
        self.tell_step();
    }

    fn on_step_finished(&mut self, finished: &StepFinished) {
        let Some(ended) = self.activity.turn_mut().and_then(|turn| turn.step_finished(finished.step)) else { return };
        let (width, output_style) = (self.width(), self.options.output_style);
        // A command of the live shell has announced itself, with its output below, and each step where nothing is painted twice.
        if !ended.has_echoed && output_style == OutputStyle::Rich {
            self.screen.above.extend(status::step_started(&ended.activity, width));
        }
        let StepFinished { outcome, summary, elapsed_ms, detail, .. } = finished;
        match detail {
            Some(StepDetail::Change(change)) => {
                let all = format!("{} /diff", self.options.question_prefix);
                self.screen.above.extend(kept_rows(change, &all, width, output_style));
            }
            Some(StepDetail::Output(output)) if !ended.has_echoed => {
                self.screen.above.extend(status::failed_output(output, width, output_style));
            }
            Some(StepDetail::Output(_) | StepDetail::Lines(_)) | None => {}
        }
        let mut summary = match detail {
            Some(StepDetail::Lines(lines)) if !ended.has_echoed => {
                status::folded(summary, *lines, &format!("{} /output", self.options.question_prefix), output_style)
            }
            _ => summary.clone(),
        };
        if *outcome == StepOutcome::Done && changes_files(&ended.activity) {
            self.undo.record_files(finished.turn_id);
            summary.push_str(output_style.choose(" · undo: cohab undo", ", `cohab undo` takes it back"));
        }
        // A command may have waited long for the user to leave the terminal.
        let took_ms = ended.ran_ms.unwrap_or(*elapsed_ms);
        let line = if ended.is_suspended && *outcome == StepOutcome::Done {
            status::step_suspended(&ended.activity, took_ms, width, output_style)
        } else {
            status::step_finished(&ended.activity, *outcome, &summary, took_ms, width, output_style)
        };
        self.screen.above.extend(line);
    }

    fn on_subagent(&mut self, progress: SubagentProgress, now: Instant) {
        let told = self.activity.turn_mut().and_then(|turn| turn.subagents.heard(progress, now));
        let sentence = told.filter(|_| self.options.output_style == OutputStyle::Accessible);
        if let Some(sentence) = sentence.and_then(|told| told.sentence()) {
            self.flush_text();
            self.print_remark(&sentence);
        }
    }

    fn on_notice(&mut self, notice: &Notice, now: Instant) {
        let Some(turn) = self.activity.turn_mut().filter(|turn| notice.turn_id.is_none_or(|id| id == turn.id())) else {
            return;
        };
        if let Some(countdown) = Countdown::of(notice, now).filter(|_| self.options.output_style == OutputStyle::Rich) {
            turn.waiting = Waiting::Retry(countdown);
        } else {
            // That a program is there is worth the terminal: nothing else would show it soon.
            self.background.has_text |= turn.is_shared();
            self.flush_text();
            self.screen.above.extend(status::notice(notice, self.width(), self.options.output_style));
        }
    }

    fn on_turn_ended(&mut self, ended: &TurnEnded, effects: &mut Vec<Effect>) {
        // Without a remark the text stays open until its code has its colours.
        if let Some(remark) = status::end_remark(ended.reason) {
            self.flush_text();
            self.print_remark(remark);
        }
        self.ask_unread();
        if let Some(turn) = self.activity.turn_mut() {
            turn.has_footer = self.options.footer;
        }
        self.end_turn(effects);
    }
}

/// Whether a tool changes files, of which the daemon keeps what they held.
fn changes_files(activity: &StepActivity) -> bool {
    matches!(activity, StepActivity::ToolCall { tool, .. } if tool == "write" || tool == "edit")
}
