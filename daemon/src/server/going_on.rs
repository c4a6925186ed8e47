//! A turn that an earlier daemon's end has interrupted goes on: what is done stays done, what the client ran meanwhile is claimed,
//! and what nobody knows is told.

use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use std::sync::Arc;

use cohab_protocol::TurnId;

use super::session::Session;
use crate::{
    agent::{
        Agent, TurnState,
        port::{Effect, EventSink, Message, ToolContext, ToolResult, TurnEvent},
    },
    safety::inbound::harmless,
    shell::claim::Claims,
    store::sessions::{
        Archive, Entry,
        steps::{
            Checkpoint, Step, StepStatus,
            recover::{Unfinished, put_result},
        },
    },
};

/// Told to the model at the end of what it reads first.
const NOTE: &str = "[The assistant's program ended suddenly in the middle of this turn and was started again. Everything above is \
                    done as it says there: do not do it again. Go on with the user's question from here.]";

/// The state of the turn as it goes on, from the conversation as it was completed. The user is told what is done and what is not
/// known.
pub async fn state(
    archive: &Archive,
    session: &Arc<Session>,
    agent: &Agent,
    unfinished: Unfinished,
    mut conversation: Vec<Message>,
    sink: &dyn EventSink,
    cancel: &CancellationToken,
) -> TurnState {
    // The word on the interruption.
    conversation.pop();
    let Unfinished { turn, done, unknown, .. } = unfinished;
    let old = Uuid::try_parse(&turn.turn).map(TurnId).ok();
    let steps = if done == 1 { "step is" } else { "steps are" };
    sink.emit(TurnEvent::Notice(format!("goes on where the daemon ended: {done} {steps} done, and not done again")))
        .await;
    for step in unknown {
        let claimed = match old {
            Some(old) => claim(session, old, agent, &step, cancel).await,
            None => None,
        };
        let title = step.metadata.title.clone();
        let Some(done) = claimed else {
            let text = format!("it is not known whether this has run: `{title}`; it is not run again by itself");
            sink.emit(TurnEvent::Notice(text)).await;
            continue;
        };
        let call_id = done.metadata.call_id.clone().unwrap_or_default();
        let tool = done.metadata.tool.clone().unwrap_or_default();
        let content = done.output.clone().unwrap_or_default();
        put_result(&mut conversation, &ToolResult { call_id, tool, content, is_error: false });
        archive.keep(Entry::Checkpoint(Box::new(Checkpoint::Step(done))));
        sink.emit(TurnEvent::Notice(format!("this ran meanwhile, its result is here: `{title}`"))).await;
    }
    archive.keep(Entry::Checkpoint(Box::new(Checkpoint::Turn(turn.went_on()))));
    let mut state = TurnState::going_on(conversation);
    state.tell(NOTE);
    state
}

/// All was done but the answer's last words to the user: they are told again.
pub async fn tell_answer(archive: &Archive, answered: &Unfinished, sink: &dyn EventSink) {
    sink.emit(TurnEvent::Notice("this was answered before the daemon ended; the answer again:".to_owned())).await;
    sink.emit(TurnEvent::Text(answered.answer.clone().unwrap_or_default())).await;
    archive.keep_now(Entry::Checkpoint(Box::new(Checkpoint::Turn(answered.turn.clone().answered())))).await;
}

/// The step with the result that the client has of it, if it has one.
async fn claim(
    session: &Arc<Session>,
    old: TurnId,
    agent: &Agent,
    step: &Step,
    cancel: &CancellationToken,
) -> Option<Step> {
    let tool = agent.tools.get(step.metadata.tool.as_ref()?)?;
    let args = step.input.as_object()?;
    // Only commands have results elsewhere; anything else would be done here and now.
    let intent = tool.intent(args, &session.cwd()).ok()?;
    if !matches!(intent.effect, Effect::RunCommand { .. }) || session.live_shell().is_none() {
        return None;
    }
    let runner = Claims::new(Arc::clone(session), old);
    let context = ToolContext { runner: &runner, approval: None, run_id: step.id.clone(), cancel };
    let output = tool.call(args, &context).await.ok()?;
    let mut done = step.clone();
    done.status = StepStatus::Completed;
    done.output = Some(harmless(&output.content));
    done.metadata.summary = output.summary;
    done.metadata.is_claimed = true;
    Some(done)
}
