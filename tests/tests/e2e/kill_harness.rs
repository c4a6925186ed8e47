//! A client and daemons that are killed in the middle of turns: what the client ran, and what it heard of it.

use std::{
    collections::HashMap,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use cohab_e2e::{Home, ModelServer, binaries, deadline::eventually};
use cohab_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalReply, Attach, CallId, ClientMessage, CommandEnding,
    CommandExecutionResult, DaemonMessage, EnvDelta, EnvSetting, ExecuteCommand, PROTOCOL_VERSION, RequestId,
    ResumeTurn, RunMode, SCHEMA_HASH, SessionAction, SessionKey, SessionRequest, StateAfter, StepActivity, StepOutcome,
    TurnEndReason, TurnId, UserQuery, WirePath,
};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::daemon::{hello, receive, send};

/// Turns of a session that are looked at on record.
const TURNS: &str = "400";
/// Longest delay of a kill, in microseconds.
const MAX_DELAY_US: u64 = 4_000;

/// Pseudo-random numbers that are the same in every run.
pub(crate) struct Dice(pub u64);

impl Dice {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// The exit status of a command, which is the last of those that ran.
pub(crate) type Status = fn(&HashMap<String, usize>, &str) -> i32;

/// A client that records commands instead of running them.
pub(crate) struct Shell {
    /// Number of runs of each command.
    pub ran: HashMap<String, usize>,
    /// The last command that ran, and its exit status.
    pub last: Option<(String, i32)>,
    /// Calls that the daemon reported as done, and how often.
    pub acknowledged: HashMap<String, usize>,
    status: Status,
    results: HashMap<CallId, CommandExecutionResult>,
    /// Turns that were begun here.
    turns: Vec<TurnId>,
}

impl Shell {
    /// One in which each command ends with this status.
    pub fn new(status: Status) -> Self {
        let (ran, results, acknowledged) = Default::default();
        Self { ran, last: None, acknowledged, status, results, turns: Vec::new() }
    }

    /// Acts like the real client: a known command is answered with its result, a command of another turn is not run, and if that turn
    /// began here the daemon learns that it never ran.
    fn execute(&mut self, request: &ExecuteCommand, turn: TurnId) -> CommandExecutionResult {
        if let Some(result) = self.results.get(&request.call_id) {
            return result.clone();
        }
        if request.turn_id != turn {
            let code = if self.turns.contains(&request.turn_id) { "turn_over" } else { "unknown_turn" };
            let ending = CommandEnding::Refused { code: code.into(), reason: "the turn is over".into() };
            return result(request.call_id, ending, 0, String::new());
        }
        let runs = self.ran.entry(request.command.clone()).or_default();
        *runs += 1;
        // Each run has another output, so that the model does not look stuck.
        let output = format!("ran <{}>\nrun {runs}\n", request.command);
        let status = (self.status)(&self.ran, &request.command);
        self.last = Some((request.command.clone(), status));
        let result = result(request.call_id, CommandEnding::Exited, status, output);
        self.results.insert(request.call_id, result.clone());
        result
    }
}

fn result(call_id: CallId, ending: CommandEnding, status: i32, output: String) -> CommandExecutionResult {
    CommandExecutionResult {
        call_id,
        ending,
        exit_code: Some(status),
        total_bytes: output.len() as u64,
        output,
        truncated_bytes: 0,
        cwd: folder(),
        env_delta: EnvDelta::default(),
        duration_ms: 1,
        mode: RunMode::Live,
        state_after: StateAfter::Prompt,
        first_run: None,
    }
}

pub(crate) fn folder() -> WirePath {
    Path::new("/tmp").into()
}

pub(crate) struct Daemon {
    child: Child,
    pub stream: UnixStream,
}

impl Daemon {
    pub fn start(home: &Home, server: &ModelServer, session: &str) -> Self {
        let mut command = home.process(binaries::program("cohabd"), &["run"]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the daemon starts");
        let mut connected = None;
        eventually("the daemon to listen", || {
            connected = UnixStream::connect(home.paths().socket()).ok();
            connected.is_some()
        });
        let mut stream = connected.expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a limit above zero");
        send(&mut stream, &hello(PROTOCOL_VERSION, SCHEMA_HASH));
        let settings = Home::model_variables(server);
        let settings = settings.map(|(name, value)| EnvSetting { name: name.to_owned(), value });
        let attach = Attach {
            session: SessionKey(session.to_owned()),
            live_shell: Some("bash".into()),
            approval: ApprovalMode::All,
            can_approve: true,
            has_lock: false,
            settings: settings.into(),
            environment: Vec::new(),
            resume: None,
        };
        let action = SessionAction::Attach(attach);
        send(&mut stream, &ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(1), action }));
        Self { child, stream }
    }

    pub fn end(mut self, is_wish: bool) {
        if is_wish {
            let pid = Pid::from_child(&self.child);
            rustix::process::kill_process(pid, Signal::TERM).expect("it is ours");
        } else {
            self.child.kill().expect("it is ours");
        }
        self.child.wait().expect("it ends when it is asked to");
    }
}

/// The end of one life of the daemon.
pub(crate) enum Life {
    Killed,
    /// The turn is over.
    Ended(TurnEndReason),
}

/// The message that begins a turn with this question, or continues the one that was interrupted.
fn beginning(turn_id: TurnId, question: Option<&str>) -> ClientMessage {
    match question {
        Some(question) => ClientMessage::UserQuery(UserQuery {
            turn_id,
            text: question.to_owned(),
            cwd: folder(),
            columns: 80,
            piped_input: None,
            is_private: false,
        }),
        None => ClientMessage::ResumeTurn(ResumeTurn { turn_id, cwd: folder() }),
    }
}

/// Waits for a moment that the dice decide: a kill may come at any point of what the daemon does.
pub(crate) fn dither(dice: &mut Dice) {
    thread::sleep(Duration::from_micros(dice.below(MAX_DELAY_US)));
}

/// One life of the daemon: as many messages as the dice decide, at most `max_messages` or a few more, or the end of the turn.
pub(crate) fn live(
    daemon: &mut Daemon,
    shell: &mut Shell,
    question: Option<&str>,
    max_messages: u64,
    dice: &mut Dice,
) -> Life {
    let turn_id = TurnId::fresh();
    shell.turns.push(turn_id);
    send(&mut daemon.stream, &beginning(turn_id, question));
    let last = 1 + dice.below(max_messages);
    let mut steps = HashMap::new();
    for count in 0..last {
        match receive(&mut daemon.stream) {
            DaemonMessage::StepStarted(step) => {
                if let StepActivity::ToolCall { argument, .. } = step.activity {
                    steps.insert(step.step, argument);
                }
            }
            DaemonMessage::StepFinished(step) if step.outcome == StepOutcome::Done => {
                if let Some(argument) = steps.remove(&step.step) {
                    *shell.acknowledged.entry(argument).or_default() += 1;
                }
            }
            DaemonMessage::ExecuteCommand(request) => {
                let result = shell.execute(&request, turn_id);
                // At times it is killed before it learns of the result.
                if count + 1 < last {
                    send(&mut daemon.stream, &ClientMessage::CommandExecutionResult(result));
                }
            }
            DaemonMessage::ApprovalRequest(request) => {
                let decision = ApprovalDecision::Refused { note: String::new() };
                let reply = ApprovalReply { approval_id: request.approval_id, decision };
                send(&mut daemon.stream, &ClientMessage::ApprovalReply(reply));
            }
            DaemonMessage::TurnEnded(ended) => return Life::Ended(ended.reason),
            _ => {}
        }
    }
    dither(dice);
    Life::Killed
}

/// Number of records of each command as done.
pub(crate) fn done_on_record(home: &Home) -> HashMap<String, usize> {
    let trace = home.run(&["trace", "--json", "-n", TURNS]).stdout;
    let trace: Value = serde_json::from_str(&trace).expect("it is JSON");
    let turns = trace["turns"].as_array().expect("turns");
    let steps = turns.iter().flat_map(|turn| turn["result"]["steps"].as_array().expect("steps"));
    let mut done = HashMap::new();
    for step in steps.filter(|step| step["type"] == "tool_call" && step["status"] == "completed") {
        *done.entry(step["input"]["command"].as_str().expect("a command").to_owned()).or_default() += 1;
    }
    done
}
