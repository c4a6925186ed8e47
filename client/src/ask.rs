//! `cohab ask`: one question, one answer, then exit. Commands run in a shell of their own in the daemon.

mod image;
mod json;
mod keyboard;
mod piped_input;
mod plain;
mod screen;
mod structured;
mod view;

use std::{
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{Args, ValueEnum};
use cohab_conversation::{
    approval::{ApprovalEnvironment, Lasting},
    redactor::Redactor,
    silence::{SILENCE, SILENCE_LIMIT},
};
use cohab_daemon_link::{
    attach_environment::{self, attach_without_shell},
    config,
    connection::{self, ConnectError, Frames},
};
use cohab_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalReply, ApprovalRequest, ClientMessage, DaemonMessage, ErrorSubject, Notice,
    NoticeKind, Paths, SessionKey, StepFinished, StepOutcome, TurnEndReason, TurnId, UserQuery, WireError,
    WireErrorKind,
};
use cohab_secrets::ExactValues;
use cohab_shell_state::shell::Shell;
use cohab_term::{live_area::Abilities, window_size};
use futures::{SinkExt, StreamExt};
use keyboard::Keyboard;
use structured::OutputSchema;
use tokio::{
    signal::unix::{Signal, SignalKind, signal},
    time::timeout,
};
use view::{View, write_line};

use crate::{approval_environment, arguments::ModelFlags, colours, driver::wake::sleep_until};

/// How long the daemon may take to confirm that a turn is cancelled.
const CANCEL_WAIT: Duration = Duration::from_millis(200);
/// Exit status of an answered question.
const ANSWERED: u8 = 0;
/// Exit status when there is no answer.
const FAILED: u8 = 1;
/// Exit status for a wrong command line or environment.
const USAGE: u8 = 2;
/// Exit status when our output is not read any more.
const BROKEN_PIPE: u8 = 3;
/// Exit status after Ctrl-C, as shells count it.
const CANCELLED: u8 = 130;

/// `cohab ask`.
#[derive(Debug, Args)]
#[command(after_help = "Piped text is context: journalctl -n 50 | cohab ask \"what failed?\"\n\
    Exit status: 0 answered, 1 failed, also if the last action that may change something failed, 2 wrong usage, 130 cancelled.")]
pub struct AskArgs {
    /// The question; several words are joined
    #[arg(required = true, value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Which model answers.
    #[command(flatten)]
    pub model: ModelFlags,
    /// Print one JSON object per event and line
    #[arg(long)]
    pub json: bool,
    /// Print only JSON that is valid against this JSON Schema
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    pub output_schema: Option<PathBuf>,
    /// Show the model an image or PDF; may be given several times
    #[arg(long, value_name = "FILE")]
    pub image: Vec<PathBuf>,
    /// What may run unasked [default: ask; without a terminal, refuse]
    #[arg(long, value_name = "MODE")]
    pub approve: Option<ApproveMode>,
}

/// Values of `--approve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApproveMode {
    /// What is plainly read-only runs, the rest is refused
    ReadOnly,
    /// Ask at the terminal about what is not plainly read-only
    Ask,
    /// Ask about danger only, and about what is written outside the folder
    Auto,
    /// Everything runs
    All,
}

impl From<ApproveMode> for ApprovalMode {
    fn from(mode: ApproveMode) -> Self {
        match mode {
            ApproveMode::ReadOnly => Self::ReadOnly,
            ApproveMode::Ask => Self::Ask,
            ApproveMode::Auto => Self::Auto,
            ApproveMode::All => Self::All,
        }
    }
}

/// Asks, and gives the exit status.
pub async fn run(args: AskArgs, paths: Paths) -> ExitCode {
    let mut view: Box<dyn View> = if args.output_schema.is_some() {
        Box::new(structured::StructuredView::new())
    } else if args.json {
        Box::new(json::JsonView::new(io::stdout()))
    } else if io::stdout().is_terminal() {
        let size = || window_size::size_of(rustix::stdio::stdout());
        let abilities = Abilities { colors: colours::of_subcommand(), ..Abilities::from_env() };
        Box::new(screen::ScreenView::new(io::stdout(), size, abilities))
    } else {
        Box::new(plain::PlainView::new(io::stdout(), io::stderr()))
    };
    let status = match ask(&args, &paths, view.as_mut()).await {
        Ok(status) => status,
        Err(error) => report(&error, view.as_mut()),
    };
    ExitCode::from(status)
}

#[derive(Debug, thiserror::Error)]
enum AskError {
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Schema(String),
    #[error("the answer is not valid against the schema: {}", .0.join("; "))]
    Invalid(Vec<String>),
    #[error("the input cannot be read: {0}")]
    Input(io::Error),
    #[error("the current folder is not there any more: {0}")]
    Folder(io::Error),
    #[error("the output cannot be written: {0}")]
    Output(#[from] io::Error),
    #[error(transparent)]
    Connection(#[from] ConnectError),
}

fn report(error: &AskError, view: &mut dyn View) -> u8 {
    let (kind, hint, status) = match error {
        AskError::Usage(_) => (WireErrorKind::Settings, None, USAGE),
        AskError::Schema(_) => {
            let hint = "the file holds one JSON Schema; https://json-schema.org/learn explains them";
            (WireErrorKind::Settings, Some(hint.into()), USAGE)
        }
        AskError::Invalid(_) => {
            let hint = "try a larger model, or a simpler schema";
            (WireErrorKind::Provider, Some(hint.into()), FAILED)
        }
        AskError::Input(_) => (WireErrorKind::NotFound, None, FAILED),
        AskError::Folder(_) => (WireErrorKind::NotFound, Some("`cd` to a folder that exists".into()), FAILED),
        AskError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => return BROKEN_PIPE,
        AskError::Output(_) => return FAILED,
        AskError::Connection(error) => (WireErrorKind::NotFound, Some(error.hint()), FAILED),
    };
    let message = error.to_string();
    let error = DaemonMessage::Error(WireError { about: ErrorSubject::Connection, kind, message, hint });
    // If the output is gone too, the exit status is all that is left.
    let _ = view.show(&error).and_then(|()| view.finish());
    status
}

async fn ask(args: &AskArgs, paths: &Paths, view: &mut dyn View) -> Result<u8, AskError> {
    let text = args.question.join(" ");
    if text.trim().is_empty() {
        return Err(AskError::Usage("the question is empty".into()));
    }
    let schema = args.output_schema.as_deref().map(OutputSchema::read).transpose().map_err(AskError::Schema)?;
    let config = config::load(&paths.config_file());
    let approval = attach_environment::approval_mode(
        args.approve.map(ApprovalMode::from),
        std::env::var("COHAB_APPROVAL").ok().as_deref(),
        config.approval_mode.as_deref(),
    )
    .map_err(AskError::Usage)?;
    let cwd = std::env::current_dir().map_err(AskError::Folder)?;
    let images: Result<Vec<String>, String> = args.image.iter().map(|path| image::mention(path, &cwd)).collect();
    let text = [vec![text], images.map_err(AskError::Usage)?].concat().join("\n");
    let piped_input = piped_input::read().map_err(AskError::Input)?;
    // From here on the terminal may be changed, and Ctrl-C has something to cancel; before, the system's own way of ending us is right.
    let mut stop = StopSignals::listen()?;
    let mut keyboard =
        if approval != ApprovalMode::ReadOnly && !args.json { Keyboard::open(environment(paths)) } else { None };
    let session = SessionKey::one_shot();
    let attach =
        attach_without_shell(session, approval, keyboard.is_some(), args.model.variables(), &config.key_variables);
    let (mut frames, _attached) = tokio::select! {
        opened = connection::open_session(paths, attach, true) => opened?,
        () = stop.next() => return Ok(CANCELLED),
    };
    let text = schema.as_ref().map_or_else(|| text.clone(), |schema| schema.question(&text));
    let mut query = UserQuery {
        turn_id: TurnId::fresh(),
        text,
        cwd: cwd.into(),
        columns: window_size::size_of(rustix::stdio::stdout()).0,
        piped_input,
        is_private: false,
    };
    let mut redactor = Redactor::new(Arc::new(ExactValues::of_environment(std::env::vars_os())));
    let mut repairs = 0;
    loop {
        let turn_id = query.turn_id;
        redactor.query(&mut query);
        frames.send(ClientMessage::UserQuery(query.clone())).await.map_err(ConnectError::from)?;
        let status = follow(&mut frames, turn_id, view, keyboard.as_mut(), &mut stop, &mut redactor).await?;
        view.finish()?;
        let Some(schema) = schema.as_ref().filter(|_| status != CANCELLED) else { return Ok(status) };
        match schema.check(view.answer()) {
            Ok(json) => {
                write_line(&mut io::stdout(), &json)?;
                return Ok(status);
            }
            // The turn has said why there is no answer.
            Err(_) if status != ANSWERED => return Ok(status),
            Err(faults) if repairs == structured::MAX_REPAIRS => return Err(AskError::Invalid(faults)),
            Err(faults) => {
                repairs += 1;
                query = UserQuery {
                    turn_id: TurnId::fresh(),
                    text: OutputSchema::repair(&faults),
                    piped_input: None,
                    ..query
                };
            }
        }
    }
}

/// What ends us before the answer does. The terminal is restored then.
struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl StopSignals {
    fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hangup.recv() => {}
        }
    }
}

/// Shows what comes until the turn ends.
async fn follow(
    frames: &mut Frames,
    turn_id: TurnId,
    view: &mut dyn View,
    mut keyboard: Option<&mut Keyboard>,
    stop: &mut StopSignals,
    redactor: &mut Redactor,
) -> Result<u8, AskError> {
    let mut silent_until = Some(Instant::now() + SILENCE_LIMIT);
    // Whether the last action that may change something has failed.
    let mut has_failed = false;
    loop {
        tokio::select! {
            () = stop.next() => return cancel(frames, turn_id, view).await,
            () = sleep_until(silent_until) => {
                silent_until = None;
                let (kind, text) = (NoticeKind::Warning, SILENCE.into());
                view.show(&DaemonMessage::Notice(Notice { turn_id: None, kind, text }))?;
            }
            () = sleep_until(view.deadline()) => view.draw_if_due()?,
            reply = next_reply(&mut keyboard, view) => {
                let mut reply = reply?;
                redactor.decision(&mut reply.decision);
                frames.send(ClientMessage::ApprovalReply(reply)).await.map_err(ConnectError::from)?;
            }
            frame = frames.next() => {
                let message = frame.ok_or(ConnectError::NotRunning)?.map_err(ConnectError::from)?;
                if matches!(&message, DaemonMessage::TurnStarted { turn_id: taken } if *taken == turn_id) {
                    silent_until = None;
                }
                if let DaemonMessage::ApprovalRequest(request) = &message
                    && let Some(keyboard) = keyboard.as_deref_mut()
                {
                    keyboard.ask(request.clone(), Instant::now());
                    view.show_question(keyboard.question())?;
                    continue;
                }
                if let DaemonMessage::ApprovalRequest(request) = &message {
                    frames.send(nobody_here(request)).await.map_err(ConnectError::from)?;
                }
                view.show(&message)?;
                if let DaemonMessage::StepFinished(StepFinished { outcome, only_reads: false, .. }) = &message {
                    has_failed = *outcome == StepOutcome::Failed;
                }
                if let Some(status) = final_status(&message, turn_id) {
                    return Ok(if has_failed && status == ANSWERED { FAILED } else { status });
                }
            }
        }
    }
}

/// Waits for the user's decision, keeping the question drawn. Never ends without a keyboard or an open question.
async fn next_reply(keyboard: &mut Option<&mut Keyboard>, view: &mut dyn View) -> io::Result<ApprovalReply> {
    let Some(keyboard) = keyboard else { return std::future::pending().await };
    loop {
        let keyboard::KeyboardStep { reply, remark } = keyboard.step().await?;
        if keyboard.question().is_none() {
            view.show_question(None)?;
        }
        if let Some((text, is_failure)) = remark {
            let kind = if is_failure { NoticeKind::Warning } else { NoticeKind::Info };
            view.show(&DaemonMessage::Notice(Notice { turn_id: None, kind, text }))?;
        }
        if keyboard.question().is_some() {
            view.show_question(keyboard.question())?;
        }
        if let Some(reply) = reply {
            return Ok(reply);
        }
    }
}

/// A shell of its own runs the commands, in the daemon.
fn environment(paths: &Paths) -> ApprovalEnvironment {
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    approval_environment::of_this_process(home.canonicalize().unwrap_or(home), Shell::Bash, paths, Lasting::Answer)
}

fn nobody_here(request: &ApprovalRequest) -> ClientMessage {
    let note = "no terminal is attached to approve this; `--approve all` would allow it".into();
    let decision = ApprovalDecision::Refused { note };
    ClientMessage::ApprovalReply(ApprovalReply { approval_id: request.approval_id, decision })
}

/// Cancels, and waits a moment for the daemon's word: a socket closed with unread messages takes back what was sent last.
async fn cancel(frames: &mut Frames, turn_id: TurnId, view: &mut dyn View) -> Result<u8, AskError> {
    frames.send(ClientMessage::CancelTurn { turn_id }).await.map_err(ConnectError::from)?;
    let ended = async {
        while let Some(Ok(message)) = frames.next().await {
            if final_status(&message, turn_id).is_some() {
                return Some(message);
            }
        }
        None
    };
    // A daemon that says nothing changes nothing: the user wants out.
    if let Ok(Some(last)) = timeout(CANCEL_WAIT, ended).await {
        view.show(&last)?;
    }
    view.finish()?;
    Ok(CANCELLED)
}

/// The exit status, if this message ends the turn.
fn final_status(message: &DaemonMessage, turn_id: TurnId) -> Option<u8> {
    match message {
        DaemonMessage::TurnEnded(ended) if ended.turn_id == turn_id => Some(match ended.reason {
            TurnEndReason::Answered => ANSWERED,
            TurnEndReason::Cancelled => CANCELLED,
            TurnEndReason::StepLimit | TurnEndReason::Refused | TurnEndReason::Length | TurnEndReason::Failed => FAILED,
        }),
        DaemonMessage::Goodbye { .. } => Some(FAILED),
        DaemonMessage::Error(error) if error.about == ErrorSubject::Connection => Some(FAILED),
        _ => None,
    }
}
