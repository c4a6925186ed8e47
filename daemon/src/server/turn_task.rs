//! One turn of a session, from the query to `TurnEnded`.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError},
};

use cohab_protocol::{DaemonMessage, MAX_QUERY_BYTES, TurnEnded, Usage, UserQuery, WireError, WireErrorKind};
use futures::FutureExt;
use tokio_util::sync::CancellationToken;

use super::{
    Daemon, TurnParts,
    asking::{self, Asked},
    convert, resume,
    session::Session,
    sink::SessionSink,
};
use crate::{
    agent::{
        StopReason, TurnError, TurnState,
        port::{EventSink as _, TurnEvent},
    },
    context::fit::fit,
    recording::{Opening, RecordingSink, TurnRecorder},
};

/// A conversation is kept up to about this size between turns.
pub const MAX_CONVERSATION_TOKENS: u64 = 400_000;

/// Starts to answer `query`. Everything else comes through the session.
///
/// # Errors
/// `Busy` while another turn runs, `Protocol` if the query is too long, `NotFound` when the daemon is about to end.
pub fn start(daemon: &Arc<Daemon>, session: &Arc<Session>, query: UserQuery) -> Result<(), WireError> {
    let id = query.turn_id;
    if query.text.len() > MAX_QUERY_BYTES {
        let message = format!("the question is longer than {MAX_QUERY_BYTES} bytes");
        let hint = Some("put the text into a file and ask about that".into());
        return Err(convert::turn_error(id, WireErrorKind::Protocol, message, hint));
    }
    if daemon.shutdown.is_cancelled() {
        return Err(convert::turn_error(id, WireErrorKind::NotFound, "the daemon is ending".into(), None));
    }
    let cancel = daemon.shutdown.child_token();
    session.begin_turn(id, query.cwd.to_path_buf(), cancel.clone())?;
    let task = run(Arc::clone(daemon), Arc::clone(session), query, cancel);
    daemon.turns.spawn(task);
    Ok(())
}

async fn run(daemon: Arc<Daemon>, session: Arc<Session>, query: UserQuery, cancel: CancellationToken) {
    let id = query.turn_id;
    tracing::info!(session = %session.key(), turn = %id, "turn begins");
    // A panic ends this turn and nothing else; the conversation is then that of the last checkpoint.
    let ended = AssertUnwindSafe(answer(&daemon, &session, query, &cancel)).catch_unwind().await;
    let (result, usage) = ended.unwrap_or((Err(TurnError::Internal), Usage::default()));
    let reason = convert::end_reason(&result);
    tracing::info!(session = %session.key(), turn = %id, ?reason, "turn ends");
    session.spend(&usage);
    session.end_turn(|chunks| {
        let error = result.err().map(|error| {
            let log_dir = || format!("details are in {}", daemon.facts.log_dir.display());
            let hint = error.hint().or_else(|| Some(log_dir()));
            DaemonMessage::Error(convert::turn_error(id, convert::error_kind(&error), error.to_string(), hint))
        });
        let ended = TurnEnded { turn_id: id, reason, usage, chunks };
        error.into_iter().chain([DaemonMessage::TurnEnded(ended)]).collect()
    });
}

async fn answer(
    daemon: &Daemon,
    session: &Arc<Session>,
    query: UserQuery,
    cancel: &CancellationToken,
) -> (Result<StopReason, TurnError>, Usage) {
    resume::restore(&daemon.archive, session).await;
    let recorder =
        Arc::new(TurnRecorder::new(daemon.archive.clone(), Arc::clone(session.record()), opening(session, &query)));
    let sink = SessionSink::new(Arc::clone(session), query.turn_id, cancel.clone());
    let sink = Arc::new(RecordingSink::new(sink, Arc::clone(&recorder)));
    let (turn_id, sink_of_parts) = (query.turn_id, Arc::clone(&sink) as _);
    let surroundings = daemon.assembler.surroundings(query.cwd.to_path_buf()).await;
    if let Some(notice) = session.named().notice(&surroundings.skipped) {
        sink.emit(TurnEvent::Notice(notice)).await;
    }
    let parts = TurnParts {
        session: Arc::clone(session),
        turn_id,
        sink: sink_of_parts,
        recorder: Arc::clone(&recorder),
        surroundings: Arc::clone(&surroundings),
    };
    let assembled = tokio::select! {
        biased;
        () = cancel.cancelled() => return (Ok(StopReason::Cancelled), Usage::default()),
        assembled = daemon.assembler.assemble(parts) => assembled,
    };
    let agent = match assembled {
        Ok(agent) => agent,
        Err(error) => return (Err(error), Usage::default()),
    };
    let history = session.conversation().lock().unwrap_or_else(PoisonError::into_inner).clone();
    recorder.history(&history);
    let question = asking::question(daemon, session, &surroundings, &history, &Asked::by(&query));
    let mut state = TurnState::new(history, question);
    let result = agent.run_turn(&mut state, sink.as_ref(), cancel).await;
    recorder.end(&result, &state.usage());
    let usage = convert::usage(state.usage(), state.is_cost_partial());
    let mut messages = state.into_messages();
    fit(&mut messages, MAX_CONVERSATION_TOKENS);
    *session.conversation().lock().unwrap_or_else(PoisonError::into_inner) = messages;
    (result, usage)
}

fn opening(session: &Session, query: &UserQuery) -> Opening {
    Opening {
        session: session.key().to_string(),
        turn: query.turn_id.to_string(),
        question: query.text.clone(),
        cwd: query.cwd.to_path_buf(),
        shell: session.live_shell(),
        piped_bytes: query.piped_input.as_ref().map_or(0, String::len),
    }
}
