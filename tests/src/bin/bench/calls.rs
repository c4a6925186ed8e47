//! Measures the daemon's memory while a model makes calls with long arguments, and afterwards.

use std::{io, path::Path, thread, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Wire};
use cohab_protocol::{
    ApprovalDecision, ApprovalReply, ApprovalSubject, ClientMessage, CommandEnding, CommandExecutionResult,
    DaemonMessage, EnvDelta, RunMode, StateAfter, TurnId, UserQuery,
};
use serde_json::json;

use crate::{
    clients::{self, Client},
    contestants::{self, COHAB},
    process::{own_memory_kib, peak_mib, reset_peak, resident_mib},
    report::Report,
};

const MEASURE: &str = "calls";
/// Arguments of the maximal length, minus the name of the argument.
const LONG_BYTES: usize = 4 * 1024 * 1024 - 1024;
/// The question that makes the model send them.
const QUESTION: &str = "make the long calls";
/// Characters per event of the arguments.
const EVENT_CHARS: usize = 4 * 1024;
/// Most memory of a turn beyond that of the idle daemon.
const PEAK_MIB: f64 = 32.0;
/// Most memory kept after the turn.
const KEPT_MIB: f64 = 8.0;
/// The store finishes writing within this time after the turn.
const SETTLE: Duration = Duration::from_secs(2);

/// One answer of the model, and the user's answer to its calls.
struct Case {
    name: &'static str,
    answer: fn() -> Answer,
    is_allowed: bool,
}

const CASES: &[Case] = &[
    Case { name: "a command of 4 MiB", answer: || command(LONG_BYTES), is_allowed: true },
    Case { name: "a command of 4 MiB, refused", answer: || command(LONG_BYTES), is_allowed: false },
    Case { name: "4 commands of 1 MiB", answer: || commands(4, LONG_BYTES / 4), is_allowed: true },
    Case { name: "64 commands of 64 KiB, refused", answer: || commands(64, LONG_BYTES / 64), is_allowed: false },
    Case { name: "10 calls of 5 MiB, too long", answer: || commands(10, 5 * 1024 * 1024), is_allowed: true },
    Case { name: "a command of 4 MiB of escapes", answer: escapes, is_allowed: true },
    Case { name: "a file of 4 MiB", answer: || file(LONG_BYTES), is_allowed: true },
    Case { name: "a file of 900 KiB", answer: || file(900 * 1024), is_allowed: true },
];

fn line(bytes: usize) -> String {
    let mut line = "# a comment that is no secret, and ends here\n".repeat(bytes / 45);
    line.push_str("true");
    line
}

fn command(bytes: usize) -> Answer {
    commands(1, bytes)
}

fn commands(count: usize, bytes: usize) -> Answer {
    let call = |answer: Answer, index: usize| {
        answer.and_call("bash", &json!({ "command": format!("true {index}\n{}", line(bytes - bytes / 16)) }))
    };
    (0..count).fold(Answer::pieces(Vec::new()), call).arguments_in_pieces_of(EVENT_CHARS)
}

fn escapes() -> Answer {
    let arguments = format!("{{\"command\": \"{}\"}}", "\\u0041".repeat(LONG_BYTES / 6));
    Answer::pieces(Vec::new()).and_raw_call("bash", arguments).arguments_in_pieces_of(EVENT_CHARS)
}

fn file(bytes: usize) -> Answer {
    let content = line(bytes - bytes / 16);
    Answer::call("write", &json!({ "path": "long.txt", "content": content })).arguments_in_pieces_of(EVENT_CHARS)
}

pub(crate) fn measure(report: &mut Report) {
    if !contestants::has_cohab() {
        return report.unmeasured(MEASURE, COHAB, "it was not built");
    }
    for case in CASES {
        match figures(case) {
            Ok((peak, kept)) => {
                report.at_most(MEASURE, &format!("{}, peak above idle", case.name), peak, PEAK_MIB, "MiB");
                report.at_most(MEASURE, &format!("{}, kept afterwards", case.name), kept, KEPT_MIB, "MiB");
            }
            Err(error) => report.unmeasured(MEASURE, case.name, &error.to_string()),
        }
    }
}

/// Memory above that of the idle daemon: the maximum, and afterwards. A short turn comes first: it loads everything that any turn
/// needs.
fn figures(case: &Case) -> io::Result<(f64, f64)> {
    let mut answer = Some((case.answer)());
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        let is_asked = request.conversation().contains(QUESTION);
        answer.take_if(|_| is_asked).unwrap_or_else(|| Answer::text("Done."))
    });
    let home = Home::with_model(&server);
    home.open_sandbox();
    // This starts the daemon.
    let _ = home.run(&["status"]);
    let _ = home.run(&["ask", "warm up"]);
    let Some(daemon) = crate::process::daemon_pid(&home) else {
        return Err(io::Error::other("the daemon does not run"));
    };
    let mut client = Client::live(&home, clients::settings(&server))?;
    thread::sleep(SETTLE);
    let (idle, own) = (resident_mib(daemon), own_memory_kib(daemon));
    reset_peak(daemon);
    turn(&mut client, &home.path(""), case.is_allowed)?;
    thread::sleep(SETTLE);
    let peak = peak_mib(daemon) - idle;
    let kept = (own_memory_kib(daemon) - own) / 1024.0;
    Ok((peak, kept))
}

/// One turn with a person who gives the same answer to every question, and a shell that ends at once.
fn turn(client: &mut Client, cwd: &Path, is_allowed: bool) -> io::Result<()> {
    let (turn_id, text) = (TurnId::fresh(), QUESTION.to_owned());
    client.send(&ClientMessage::UserQuery(UserQuery {
        turn_id,
        text,
        cwd: cwd.into(),
        columns: 80,
        piped_input: None,
        is_private: false,
    }))?;
    let decision = if is_allowed { ApprovalDecision::Once } else { ApprovalDecision::Refused { note: String::new() } };
    loop {
        match client.read_next()? {
            DaemonMessage::ApprovalRequest(request) => {
                let ids = match request.subject {
                    ApprovalSubject::Commands(commands) => commands.iter().map(|one| one.approval_id).collect(),
                    _ => vec![request.approval_id],
                };
                for approval_id in ids {
                    let decision = decision.clone();
                    client.send(&ClientMessage::ApprovalReply(ApprovalReply { approval_id, decision }))?;
                }
            }
            DaemonMessage::ExecuteCommand(command) => {
                client.send(&ClientMessage::CommandExecutionResult(CommandExecutionResult {
                    call_id: command.call_id,
                    ending: CommandEnding::Exited,
                    exit_code: Some(0),
                    output: String::new(),
                    total_bytes: 0,
                    truncated_bytes: 0,
                    cwd: cwd.into(),
                    env_delta: EnvDelta::default(),
                    duration_ms: 1,
                    mode: RunMode::Live,
                    state_after: StateAfter::Prompt,
                    first_run: None,
                }))?;
            }
            DaemonMessage::Error(error) => return Err(io::Error::other(error.message)),
            DaemonMessage::TurnEnded(_) => return Ok(()),
            _ => {}
        }
    }
}
