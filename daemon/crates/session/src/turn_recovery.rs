//! Continues a turn that the end of an earlier daemon interrupted: finished steps stay finished, results of the client's commands are
//! claimed, and unknown outcomes are reported.

use std::sync::Arc;

use cohab_agent::{
    Agent, TurnState,
    port::{Effect, EventSink, NoSink, ToolContext, TurnEvent},
};
use cohab_guard::sanitize_results::harmless;
use cohab_model_api::{Message, ToolResult};
use cohab_protocol::TurnId;
use cohab_runtime::middleware::uncertain_calls::UncertainCalls;
use cohab_store::sessions::{
    Archive, Entry,
    steps::{
        Checkpoint, Step, StepStatus,
        recover::{NOT_BEGUN, Unfinished, put_result},
    },
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::session::Session;
use crate::shell::claim::{Claimed, Claims};

/// The note to the model at the end of the interrupted conversation.
const NOTE: &str = "[The assistant's program ended suddenly in the middle of this turn and was started again. Everything above is \
                    done as it says there: do not do it again. Go on with the user's question from here.]";

/// What a turn goes on in.
pub struct RecoveryContext<'a> {
    /// Where steps are kept.
    pub archive: &'a Archive,
    /// Its session.
    pub session: &'a Arc<Session>,
    /// Its agent.
    pub agent: &'a Agent,
    /// What is asked about, unless its end turns up.
    pub doubts: &'a UncertainCalls,
    /// Ends the turn.
    pub cancel: &'a CancellationToken,
}

/// The fate of a step that began and had no result.
enum Fate {
    /// It ran to its end; this is the step with its result.
    Ran(Step),
    /// It began and did not finish, for any reason; this is the step with its result.
    NotFinished(Step),
    /// It never reached the shell.
    NeverBegun(Step),
    /// Unknown.
    Unknown,
}

impl RecoveryContext<'_> {
    /// The state of the turn as it goes on, from the conversation as it was completed. The user is told what is done and what is
    /// not known.
    pub async fn state(
        &self,
        unfinished: Unfinished,
        mut conversation: Vec<Message>,
        sink: &dyn EventSink,
    ) -> TurnState {
        let Unfinished { turn, done, model_calls, unknown, answer, .. } = unfinished;
        if answer.is_none() {
            // The note on the interruption.
            conversation.pop();
        }
        let steps = match done {
            0 => "nothing was done yet".to_owned(),
            1 => "1 step is done and is not repeated".to_owned(),
            done => format!("{done} steps are done and are not repeated"),
        };
        sink.emit(TurnEvent::Notice(format!("continues where the daemon ended: {steps}"))).await;
        for step in unknown {
            let title = step.metadata.title.clone();
            let (told, settled) = match self.fate(&step).await {
                Fate::Ran(done) => (format!("this ran in the meantime, its result is here: `{title}`"), done),
                Fate::NotFinished(step) => {
                    (format!("this was started and did not finish, its output is here: `{title}`"), step)
                }
                Fate::NeverBegun(step) => (format!("this was never started: `{title}`"), step),
                Fate::Unknown => {
                    let text = format!("it is unknown whether this ran: `{title}`; it is not run again by itself");
                    sink.emit(TurnEvent::Notice(text)).await;
                    continue;
                }
            };
            self.doubts.settle(&settled);
            let call_id = settled.metadata.call_id.clone().unwrap_or_default();
            let tool = settled.metadata.tool.clone().unwrap_or_default();
            let (content, is_error) = (settled.output.clone().unwrap_or_default(), settled.error.is_some());
            put_result(&mut conversation, &ToolResult { call_id, tool, content, is_error });
            self.archive.keep(Entry::Checkpoint(Box::new(Checkpoint::Step(settled))));
            sink.emit(TurnEvent::Notice(told)).await;
        }
        self.archive.keep(Entry::Checkpoint(Box::new(Checkpoint::Turn(turn.went_on()))));
        if answer.is_some() {
            return TurnState::answered_before(conversation, model_calls);
        }
        let mut state = TurnState::going_on(conversation, model_calls);
        state.tell(NOTE);
        state
    }

    /// The client's report on a step.
    async fn fate(&self, step: &Step) -> Fate {
        self.ask(step).await.unwrap_or(Fate::Unknown)
    }

    async fn ask(&self, step: &Step) -> Option<Fate> {
        let begun_in = Uuid::try_parse(&step.turn).map(TurnId).ok()?;
        let tool = self.agent.tools.get(step.metadata.tool.as_ref()?)?;
        let args = step.input.arguments()?;
        // Only commands have results elsewhere; any other tool would act here and now.
        let intent = tool.intent(args, &self.session.cwd()).ok()?;
        if !matches!(intent.effect, Effect::RunCommand { .. }) || self.session.live_shell().is_none() {
            return None;
        }
        let runner = Claims::new(Arc::clone(self.session), begun_in);
        let (run_id, cancel) = (step.id.clone(), self.cancel);
        let context = ToolContext { runner: &runner, approval: None, run_id, is_check: false, cancel, sink: &NoSink };
        let answer = tool.call(args, &context).await;
        let mut settled = step.clone();
        let claimed = runner.claimed();
        if claimed == Some(Claimed::NeverBegun) {
            settled.status = StepStatus::Failed;
            settled.error = Some("never started: the daemon ended before".to_owned());
            settled.output = Some(NOT_BEGUN.to_owned());
            return Some(Fate::NeverBegun(settled));
        }
        let output = answer.ok()?;
        settled.status = StepStatus::Completed;
        settled.output = Some(harmless(&output.content));
        settled.metadata.summary = output.summary;
        settled.metadata.is_claimed = true;
        Some(if claimed == Some(Claimed::Ended) { Fate::Ran(settled) } else { Fate::NotFinished(settled) })
    }
}

/// Repeats an answer that was complete except for its end, which the user did not get.
pub async fn tell_answer(archive: &Archive, answered: &Unfinished, sink: &dyn EventSink) {
    sink.emit(TurnEvent::Notice("this was answered before the daemon ended; the answer again:".to_owned())).await;
    sink.emit(TurnEvent::Text(answered.answer.clone().unwrap_or_default())).await;
    archive.keep_now(Entry::Checkpoint(Box::new(Checkpoint::Turn(answered.turn.clone().answered())))).await;
}
