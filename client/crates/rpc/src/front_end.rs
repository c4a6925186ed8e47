//! Runs a front end: lines of standard input and news of sessions go in, one after the other, and lines of standard output come out.

use std::{process::ExitCode, time::Duration};

use cohab_daemon_link::daemon_program;
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::Value;
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::{Instant, sleep_until, timeout},
};

use crate::{
    desk::{Desk, News, Wishes},
    message::{INVALID_REQUEST, Incoming, RpcError, answer, parse},
    stdio::{self, InputLine, MAX_LINE_BYTES},
};

/// What waits to be handled. Where it is full, the input and the daemon's messages wait.
const WAITING: usize = 64;
/// Columns of a message of `cohabd`.
const MESSAGE_COLUMNS: usize = 400;
/// How long turns may take to end when the input has ended.
const CANCEL_WAIT: Duration = Duration::from_millis(500);

/// Speaks a protocol with another program. It does no IO of its own but through what it is given.
pub trait FrontEnd {
    /// Answers a request; `None` if the answer comes later.
    ///
    /// # Errors
    /// Why it has no result.
    fn request(&mut self, id: &Value, method: &str, params: Value, out: &mut Outbox)
    -> Result<Option<Value>, RpcError>;
    /// Handles a notification.
    fn notification(&mut self, _method: &str, _params: Value) {}
    /// Handles the answer to a request of ours.
    fn response(&mut self, id: &Value, outcome: Result<Value, RpcError>);
    /// Handles what came of a session.
    fn news(&mut self, session: &str, news: News, out: &mut Outbox);
    /// Handles what `cohabd` printed for an errand: JSON, or a sentence why there is none.
    fn told(&mut self, errand: u64, outcome: Result<Value, String>, out: &mut Outbox);
    /// Stops what runs: the other program is gone.
    fn stop(&mut self);
    /// Whether nothing runs.
    fn is_idle(&self) -> bool;
}

/// What a front end wants done, in order.
#[derive(Debug, Default)]
pub struct Outbox {
    /// Messages for the other program.
    pub messages: Vec<Value>,
    /// Sessions to open, by their names.
    pub openings: Vec<(String, Wishes)>,
    /// Command lines of `cohabd` that print JSON, by numbers of the front end's choice.
    pub errands: Vec<(u64, Vec<String>)>,
}

/// Something to handle.
enum Happening {
    Input(Option<InputLine>),
    News(String, News),
    Told(u64, Result<Value, String>),
}

/// Handles a line of the input.
pub fn take_line(front_end: &mut impl FrontEnd, line: &InputLine, out: &mut Outbox) {
    let line = match line {
        InputLine::Line(line) => line,
        InputLine::TooLong => {
            let failure = RpcError::new(INVALID_REQUEST, format!("a line may have {MAX_LINE_BYTES} bytes"));
            return out.messages.push(answer(&Value::Null, Err(failure)));
        }
    };
    match parse(line) {
        Ok(Incoming::Request { id, method, params }) => {
            let outcome = front_end.request(&id, &method, params, out);
            out.messages.extend(outcome.transpose().map(|outcome| answer(&id, outcome)));
        }
        Ok(Incoming::Notification { method, params }) => front_end.notification(&method, params),
        Ok(Incoming::Response { id, outcome }) => front_end.response(&id, outcome),
        Err(no_message) => out.messages.push(answer(&no_message.id, Err(no_message.failure))),
    }
}

/// Runs it until the input or the output ends, or a signal says so.
pub async fn run<F: FrontEnd>(mut front_end: F, desk: Desk) -> ExitCode {
    let (sender, mut happenings) = mpsc::channel(WAITING);
    let started = stdio::read_input(sender.clone(), Happening::Input).and_then(|()| stdio::write_output());
    let signals = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    let (Ok((lines, written)), (Ok(mut terminated), Ok(mut interrupted))) = (started, signals) else {
        return ExitCode::FAILURE;
    };
    let mut deadline: Option<Instant> = None;
    loop {
        let happening = tokio::select! {
            happening = happenings.recv() => happening.unwrap_or(Happening::Input(None)),
            _ = terminated.recv() => Happening::Input(None),
            _ = interrupted.recv() => Happening::Input(None),
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => break,
        };
        let mut out = Outbox::default();
        match happening {
            Happening::Input(Some(line)) if deadline.is_none() => take_line(&mut front_end, &line, &mut out),
            Happening::Input(Some(_)) => {}
            Happening::Input(None) => {
                front_end.stop();
                deadline.get_or_insert(Instant::now() + CANCEL_WAIT);
            }
            Happening::News(session, news) => front_end.news(&session, news, &mut out),
            Happening::Told(errand, outcome) => front_end.told(errand, outcome, &mut out),
        }
        let written = tokio::select! {
            written = write(&lines, out.messages) => written,
            _ = terminated.recv() => false,
            _ = interrupted.recv() => false,
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => break,
        };
        if !written && deadline.is_none() {
            front_end.stop();
            deadline = Some(Instant::now() + CANCEL_WAIT);
        }
        for (session, wishes) in out.openings {
            desk.open(session, wishes, sender.clone(), Happening::News);
        }
        for (errand, arguments) in out.errands {
            let sender = sender.clone();
            tokio::spawn(async move {
                let outcome = printed_json(&arguments).await;
                // The receiver is gone when the front end has ended.
                let _ = sender.send(Happening::Told(errand, outcome)).await;
            });
        }
        if deadline.is_some() && front_end.is_idle() {
            break;
        }
    }
    drop(lines);
    // A reader that does not read must not keep us; one that does gets what was said last.
    let _ = timeout(CANCEL_WAIT, written).await;
    ExitCode::SUCCESS
}

/// Hands lines to the writer; false if the output is gone.
async fn write(lines: &mpsc::Sender<String>, messages: Vec<Value>) -> bool {
    for message in messages {
        if lines.send(escaped_json(&message.to_string()) + "\n").await.is_err() {
            return false;
        }
    }
    true
}

async fn printed_json(arguments: &[String]) -> Result<Value, String> {
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = daemon_program::output(&arguments).await.map_err(|error| format!("cohabd: {error}"))?;
    if !output.status.success() {
        return Err(one_line(&String::from_utf8_lossy(&output.stderr), MESSAGE_COLUMNS));
    }
    serde_json::from_slice(&output.stdout).map_err(|error| format!("cohabd printed no JSON: {error}"))
}
