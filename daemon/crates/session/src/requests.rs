//! Answers a client's requests about its session: its context, compaction, usage, undoing the last turn.

use std::{path::PathBuf, sync::PoisonError, time::Duration};

use cohab_agent::TurnError;
use cohab_context::{
    compaction,
    query::EARLIER,
    query_text::{inside, with_block, words},
    report::{SectionRow, analysis, rows},
};
use cohab_model_api::{Message, TokenUsage};
use cohab_protocol::{
    ContextReport, ContextSection, MAX_NAMED_COMMANDS, NamedCommand, RequestId, SessionAction, SessionAnswer,
    WireError, WireErrorKind,
};

use tokio::time::timeout;

use super::{
    Daemon, convert,
    question_prompt::{self, Asked},
    recollection::Remembered,
    resume,
    session::Session,
};

/// Time for the user's hooks to hear that a conversation ends, while the user waits.
const HOOKS_WAIT: Duration = Duration::from_millis(1_500);

/// Answers a request of an attached client.
///
/// # Errors
/// `Busy` while a turn runs, for requests that change the conversation; `Settings` if no model can be chosen.
pub async fn answer(
    daemon: &Daemon,
    session: &Session,
    id: RequestId,
    action: SessionAction,
) -> Result<SessionAnswer, WireError> {
    if matches!(action, SessionAction::Context | SessionAction::Compact | SessionAction::Rewind) {
        resume::restore(&daemon.archive, session).await;
    }
    let idle = |answer: Option<SessionAnswer>| answer.ok_or_else(|| busy(id));
    match action {
        SessionAction::Clear => {
            let cleared = idle(session.clear().then_some(SessionAnswer::Done))?;
            resume::forget(&daemon.archive, session);
            // The conversation is gone either way, and its user waits.
            if timeout(HOOKS_WAIT, daemon.assembler.conversation_ended(session, true)).await.is_err() {
                tracing::warn!("hooks did not hear in time that a conversation ended");
            }
            Ok(cleared)
        }
        SessionAction::SetApproval { mode } => {
            session.set_approval(mode);
            Ok(SessionAnswer::Done)
        }
        SessionAction::Context => Ok(SessionAnswer::Context(context(daemon, session, id).await?)),
        SessionAction::Compact => compact(daemon, session, id).await,
        SessionAction::Commands { cwd } => Ok(SessionAnswer::Commands(commands(daemon, cwd.to_path_buf()).await)),
        SessionAction::Usage => Ok(SessionAnswer::Usage(session.spent())),
        SessionAction::Rewind => {
            resume::give_up(&daemon.archive, session);
            let answer = idle(session.between_turns(|messages| SessionAnswer::Rewound { question: rewind(messages) }))?;
            // What is listed next must not have the question any more.
            resume::keep(&daemon.archive, session);
            Ok(answer)
        }
        // The connection answers these itself.
        SessionAction::Attach(_)
        | SessionAction::Status
        | SessionAction::StartTask(_)
        | SessionAction::Tasks
        | SessionAction::Task { .. }
        | SessionAction::CancelTask { .. }
        | SessionAction::RetryTask { .. } => {
            Err(convert::request_error(id, WireErrorKind::Protocol, "this is not a session request".into(), None))
        }
    }
}

/// Shortens the conversation, unless a question arrives meanwhile: a model may have to sum it up.
async fn compact(daemon: &Daemon, session: &Session, id: RequestId) -> Result<SessionAnswer, WireError> {
    let before = session.between_turns(|messages| messages.clone()).ok_or_else(|| busy(id))?;
    let failed =
        |error: TurnError| convert::request_error(id, convert::error_kind(&error), error.to_string(), error.hint());
    let (shortened, usage) = daemon.assembler.shorten(session, &before).await.map_err(failed)?;
    if usage != TokenUsage::default() {
        session.spend(&convert::usage(usage, usage.cost_microusd.is_none()));
    }
    let (before_tokens, after_tokens) = (compaction::tokens(&before), compaction::tokens(&shortened.messages));
    let is_taken = session.between_turns(|messages| {
        let is_same = *messages == before;
        if is_same {
            *messages = shortened.messages;
        }
        is_same
    });
    let answer = SessionAnswer::Compacted { before_tokens, after_tokens };
    is_taken.filter(|is_taken| *is_taken).map(|_| answer).ok_or_else(|| busy(id))
}

fn busy(id: RequestId) -> WireError {
    let hint = Some("cancel it with Ctrl-C, or wait".into());
    convert::request_error(id, WireErrorKind::Busy, "a question is being answered".into(), hint)
}

/// The skills and commands that can be called by name in a folder, best first, each name once.
async fn commands(daemon: &Daemon, cwd: PathBuf) -> Vec<NamedCommand> {
    let surroundings = daemon.assembler.surroundings(cwd).await;
    let mut commands: Vec<NamedCommand> = Vec::new();
    for skill in surroundings.callable() {
        if commands.iter().all(|other| other.name != skill.name) {
            commands.push(NamedCommand {
                name: skill.name.clone(),
                hint: skill.argument_hint.clone().unwrap_or_default(),
                meaning: skill.description.clone(),
                is_of_project: skill.project.is_some(),
            });
        }
    }
    commands.truncate(MAX_NAMED_COMMANDS);
    commands
}

/// Forgets the last turn; returns its question.
fn rewind(messages: &mut Vec<Message>) -> Option<String> {
    let asked = |message: &Message| match message {
        Message::User { text, .. } => Some(words(text)).filter(|words| !words.trim().is_empty()),
        _ => None,
    };
    let start = messages.iter().rposition(|message| asked(message).is_some())?;
    let turn: Vec<Message> = messages.drain(start..).collect();
    let Some(Message::User { text, .. }) = turn.first() else { return None };
    // The block about dropped messages is true without the turn, too.
    if let Some(earlier) = inside(text, EARLIER) {
        messages.push(Message::user(with_block("", EARLIER, earlier)));
    }
    turn.first().and_then(asked)
}

async fn context(daemon: &Daemon, session: &Session, id: RequestId) -> Result<ContextReport, WireError> {
    let failed = |error| convert::request_error(id, convert::error_kind(&error), error.to_string(), error.hint());
    let surroundings = daemon.assembler.surroundings(session.cwd()).await;
    let fixed = daemon.assembler.outlook(&session.variables(), &surroundings).await.map_err(failed)?;
    let mut messages = session.conversation().lock().unwrap_or_else(PoisonError::into_inner).clone();
    let remembered = Remembered::of(daemon.assembler.as_ref(), "", &session.cwd(), &messages).await;
    let asked = Asked::nothing(session.cwd(), session.tasks().tasks(), remembered);
    let next = question_prompt::question(daemon, session, &surroundings, &messages, &asked);
    messages.push(Message::user(next));
    let rows = rows(&fixed, &messages);
    let room = analysis(&fixed, &rows).map(convert::context_room);
    let section = |row: SectionRow| ContextSection { name: row.name.to_owned(), tokens: row.tokens };
    Ok(ContextReport { sections: rows.into_iter().map(section).collect(), room })
}
