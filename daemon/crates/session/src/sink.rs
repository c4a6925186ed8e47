//! The session sink sends the events of a turn to the client.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_agent::port::{EventSink, TurnEvent};
use cohab_protocol::{ChunkDelta, DaemonMessage, NoticeKind, StepFinished, StepStarted, TurnId, TurnProgress};
use tokio_util::sync::CancellationToken;

use super::{convert, session::Session};

/// Sends events to the client of a session. Waits while the client is slow, until the turn is cancelled: then the few remaining events
/// are accepted at once.
pub struct SessionSink {
    session: Arc<Session>,
    turn_id: TurnId,
    cancel: CancellationToken,
}

impl SessionSink {
    /// For one turn.
    #[must_use]
    pub fn new(session: Arc<Session>, turn_id: TurnId, cancel: CancellationToken) -> Self {
        Self { session, turn_id, cancel }
    }
}

#[async_trait]
impl EventSink for SessionSink {
    async fn emit(&self, event: TurnEvent) {
        tokio::select! {
            biased;
            () = self.session.has_room() => {}
            () = self.cancel.cancelled() => {}
        }
        let turn_id = self.turn_id;
        match event {
            TurnEvent::Text(text) => self.session.add_delta(ChunkDelta::Text(text)),
            TurnEvent::Reasoning(text) => self.session.add_delta(ChunkDelta::Reasoning(text)),
            TurnEvent::Reset => self.session.add_delta(ChunkDelta::Reset),
            TurnEvent::StepStarted { step, activity } => {
                let activity = convert::activity(activity);
                self.session.tell(DaemonMessage::StepStarted(StepStarted { turn_id, step, activity }));
            }
            TurnEvent::StepFinished { step, outcome, summary, elapsed, detail, only_reads } => {
                let (outcome, elapsed_ms) = (convert::outcome(outcome), convert::millis(elapsed));
                let detail = detail.map(convert::step_detail);
                let finished = StepFinished { turn_id, step, outcome, summary, elapsed_ms, detail, only_reads };
                self.session.tell(DaemonMessage::StepFinished(finished));
            }
            TurnEvent::Spent { usage, is_cost_partial } => {
                let usage = convert::usage(usage, is_cost_partial);
                self.session.tell(DaemonMessage::TurnProgress(TurnProgress { turn_id, usage }));
            }
            TurnEvent::StepProgress(text) => self.session.tell(DaemonMessage::StepProgress { turn_id, text }),
            TurnEvent::Subagent(progress) => {
                let progress = convert::subagent_progress(turn_id, progress);
                self.session.tell(DaemonMessage::SubagentProgress(progress));
            }
            TurnEvent::Extended(_) => self.session.tell_extended(turn_id),
            TurnEvent::Notice(text) => self.session.tell(convert::notice(Some(turn_id), NoticeKind::Info, text)),
            TurnEvent::Retry { reason, after } => {
                let kind = NoticeKind::Retry { after_ms: convert::millis(after) };
                self.session.tell(convert::notice(Some(turn_id), kind, reason));
            }
        }
    }

    fn pause(&self) {
        self.session.send_waiting();
    }
}
