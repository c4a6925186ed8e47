//! The daemon is killed again and again in the middle of a turn of 20 commands: no finished step is lost, no step runs twice.

#![expect(clippy::print_stderr, reason = "a test says what it counted")]

use std::{
    collections::{HashMap, HashSet},
    fs,
    io::Write as _,
    os::unix::net::UnixStream,
    path::Path,
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries, deadline::eventually, model_server::SentToolResult};
use cohab_protocol::{
    ApprovalDecision, ApprovalMode, ApprovalReply, Attach, CallId, ClientMessage, CommandEnding,
    CommandExecutionResult, DaemonMessage, EnvDelta, EnvSetting, ExecuteCommand, PROTOCOL_VERSION, RequestId,
    ResumeTurn, RunMode, SCHEMA_HASH, SessionAction, SessionKey, SessionRequest, StateAfter, StepActivity, StepOutcome,
    TurnEndReason, TurnId, UserQuery, WirePath,
};
use rustix::process::{Pid, Signal};
use serde_json::Value;

use crate::daemon::{hello, receive, send};

/// Commands of a turn.
const COMMANDS: usize = 20;
/// Kills in all.
const KILLS: usize = 200;
/// One in this many is a request to end instead of a kill.
const WISH_TO_END: u64 = 5;
/// Turns of a session that are checked at the end.
const TURNS: &str = "200";
/// Most messages of a daemon's life.
const MAX_MESSAGES: u64 = 28;
/// Longest delay of the kill after the last of them, in microseconds.
const MAX_DELAY_US: u64 = 4_000;

/// Pseudo-random numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A client that records commands instead of running them.
#[derive(Default)]
struct Shell {
    /// Number of runs of each command.
    ran: HashMap<String, usize>,
    results: HashMap<CallId, CommandExecutionResult>,
    /// Turns that were begun here.
    turns: Vec<TurnId>,
    /// Commands that the daemon reported as done.
    acknowledged: HashSet<String>,
}

impl Shell {
    /// Acts like the real client: a known command is answered with its result, a command of another turn is not run, and if that turn
    /// began here the daemon learns that it never ran.
    fn execute(&mut self, request: &ExecuteCommand, turn: TurnId) -> CommandExecutionResult {
        if let Some(result) = self.results.get(&request.call_id) {
            return result.clone();
        }
        if request.turn_id != turn {
            let code = if self.turns.contains(&request.turn_id) { "turn_over" } else { "unknown_turn" };
            let ending = CommandEnding::Refused { code: code.into(), reason: "the turn is over".into() };
            return result(request.call_id, ending, String::new());
        }
        *self.ran.entry(request.command.clone()).or_default() += 1;
        let result = result(request.call_id, CommandEnding::Exited, format!("ran <{}>\n", request.command));
        self.results.insert(request.call_id, result.clone());
        result
    }
}

fn result(call_id: CallId, ending: CommandEnding, output: String) -> CommandExecutionResult {
    CommandExecutionResult {
        call_id,
        ending,
        exit_code: Some(0),
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

fn folder() -> WirePath {
    Path::new("/tmp").into()
}

/// The command of each result: a command that was not run is requested again.
fn commands_of(results: &[SentToolResult]) -> (Vec<(usize, &str)>, usize) {
    let mut next = 0;
    let mut told = Vec::new();
    for SentToolResult { content, .. } in results {
        // Some wires have no other place for it.
        let content = content.strip_prefix("ERROR: ").unwrap_or(content);
        told.push((next, content));
        next += usize::from(!content.starts_with("not run"));
    }
    (told, next)
}

/// A model that runs one command after the other.
fn script() -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, |request| {
        let (_, next) = commands_of(&request.tool_results());
        if next < COMMANDS { Answer::bash(&format!("step {next}")) } else { Answer::text("All done.") }
    })
}

struct Daemon {
    child: Child,
    stream: UnixStream,
}

impl Daemon {
    fn start(home: &Home, server: &ModelServer, session: &str) -> Self {
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

    fn end(mut self, is_wish: bool) {
        if is_wish {
            let pid = Pid::from_child(&self.child);
            rustix::process::kill_process(pid, Signal::TERM).expect("it is ours");
        } else {
            self.child.kill().expect("it is ours");
        }
        self.child.wait().expect("it was told to end");
    }
}

/// The end of one life of the daemon.
enum Life {
    Killed,
    /// The turn is over.
    Ended(TurnEndReason),
}

/// One life of the daemon: as many messages as the dice decide, or the end of the turn.
fn live(daemon: &mut Daemon, shell: &mut Shell, is_first: bool, dice: &mut Dice) -> Life {
    let turn_id = TurnId::fresh();
    shell.turns.push(turn_id);
    send(
        &mut daemon.stream,
        &if is_first {
            ClientMessage::UserQuery(UserQuery {
                turn_id,
                text: "do all steps".into(),
                cwd: folder(),
                columns: 80,
                piped_input: None,
                is_private: false,
            })
        } else {
            ClientMessage::ResumeTurn(ResumeTurn { turn_id, cwd: folder() })
        },
    );
    let last = 3 + dice.below(MAX_MESSAGES);
    let mut steps = HashMap::new();
    for count in 0..last {
        match receive(&mut daemon.stream) {
            DaemonMessage::StepStarted(step) => {
                if let StepActivity::ToolCall { argument, .. } = step.activity {
                    steps.insert(step.step, argument);
                }
            }
            DaemonMessage::StepFinished(step) if step.outcome == StepOutcome::Done => {
                shell.acknowledged.extend(steps.remove(&step.step));
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
    thread::sleep(Duration::from_micros(dice.below(MAX_DELAY_US)));
    Life::Killed
}

/// Whether the model has the results of all commands.
fn is_all_told(server: &ModelServer) -> bool {
    server.requests().last().is_some_and(|request| commands_of(&request.tool_results()).1 == COMMANDS)
}

/// Number of records of each command as done.
fn done_on_record(home: &Home) -> HashMap<String, usize> {
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

/// Counts of the turns.
#[derive(Default)]
struct Count {
    kills: usize,
    acknowledged: usize,
    turns: usize,
    ran: usize,
    unknown: usize,
    not_run: usize,
}

/// A turn from its question to its answer.
fn turn(home: &Home, count: &mut Count, dice: &mut Dice) {
    let server = script();
    let mut shell = Shell::default();
    let session = format!("shell:{}", count.turns);
    let mut is_first = true;
    loop {
        let mut daemon = Daemon::start(home, &server, &session);
        let life = live(&mut daemon, &mut shell, is_first, dice);
        daemon.end(dice.below(WISH_TO_END) == 0);
        match life {
            Life::Killed => (count.kills, is_first) = (count.kills + 1, false),
            Life::Ended(TurnEndReason::Answered) => break,
            // Nothing was on disk yet when it was killed.
            Life::Ended(_) if shell.ran.is_empty() => is_first = true,
            // It was killed between storing the end and reporting it.
            Life::Ended(_) if is_all_told(&server) => break,
            Life::Ended(reason) => panic!("{reason:?} after {:?}", shell.ran),
        }
    }
    let requests = server.requests();
    let results = requests.last().expect("the model was asked").tool_results();
    let (told, next) = commands_of(&results);
    assert_eq!(next, COMMANDS);
    for (index, content) in told {
        let command = format!("step {index}");
        let runs = shell.ran.get(&command).copied().unwrap_or(0);
        assert!(runs <= 1, "`{command}` ran {runs} times");
        let is_unknown = content.starts_with("unknown");
        match (content.starts_with("not run"), is_unknown) {
            (true, _) => count.not_run += 1,
            (_, true) => count.unknown += 1,
            _ => assert!(content.contains(&format!("ran <{command}>")), "{content}"),
        }
        assert!(!is_unknown, "the client knows whether `{command}` ran");
    }
    let done = done_on_record(home);
    for command in &shell.acknowledged {
        assert!(done.contains_key(command), "`{command}` was told to be done and is not on record: {done:?}");
    }
    let repeated: Vec<_> = done.iter().filter(|(_, times)| **times > 1).collect();
    assert!(repeated.is_empty(), "done more than once: {repeated:?}");
    (count.turns, count.ran) = (count.turns + 1, count.ran + shell.ran.len());
    count.acknowledged += shell.acknowledged.len();
}

#[test]
fn killed_at_random_points_nothing_is_lost_and_nothing_runs_twice() {
    let home = Home::new();
    // The model of this test derives the finished commands from all results it gets.
    home.write_config("[context]\ncompact_over_messages = 1000\n[model]\ncontext_window_tokens = 128000\n");
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let mut count = Count::default();
    while count.kills < KILLS {
        turn(&home, &mut count, &mut dice);
    }
    let Count { kills, acknowledged, turns, ran, unknown, not_run } = count;
    eprintln!(
        "{kills} kills in {turns} turns of {COMMANDS} commands: {ran} commands ran once, 0 ran twice; {acknowledged} steps were \
         told to be done, 0 of them lost, 0 repeated; {unknown} were told as unknown, {not_run} as not run and asked for again"
    );
}

#[test]
fn at_the_prompt_the_turn_goes_on_with_what_the_shell_ran_meanwhile() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    // For reading too: so opening never waits.
    let mut gate = fs::OpenOptions::new().read(true).write(true).open(home.path("gate")).expect("it was made");
    home.kill_daemon();
    gate.write_all(b"go\n").expect("the command reads");
    shell.wait_next_prompt(mark);
    assert!(shell.look(|view| view.history().contains("/resume` continues")), "{}", shell.dump());
    shell.ask("/resume", "After all.");
    assert!(has_run("ran\n"), "it ran again");
    let calls = server.wait_for_calls(2);
    let results = calls[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("the-end-of-it"), "{results:?}");
    let trace = home.run(&["trace", "-n", "2"]).stdout;
    assert!(trace.contains("ran while no daemon was running") && trace.contains("answered"), "{trace}");
    let nothing = home.run(&["resume", "--list"]);
    assert_eq!((nothing.status, nothing.stdout.as_str()), (Some(1), ""), "{nothing:?}");
}

#[test]
fn what_was_interrupted_while_no_daemon_was_there_is_not_told_as_done() {
    let command = "echo ran >> ran.txt; sleep 60; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    home.kill_daemon();
    shell.send("\x03");
    shell.wait_next_prompt(mark);
    shell.ask("/resume", "After all.");
    let told = |text: &str| shell.look(|view| view.history().contains(text));
    assert!(told("this was started and did not finish") && !told("this ran in the meantime"), "{}", shell.dump());
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("interrupted by the user"), "{results:?}");
    assert!(has_run("ran\n"), "it ran again");
}

#[test]
fn a_restart_in_the_middle_of_a_turn_costs_neither_the_turn_nor_the_command() {
    let command = "echo ran >> ran.txt; read -r line < gate; echo the-end-of-it";
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash(command), Answer::text("After all.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.run("mkfifo gate");
    let mark = shell.submit("? do it");
    let has_run = |text: &str| fs::read_to_string(home.path("ran.txt")).is_ok_and(|ran| ran == text);
    eventually("the start of the command", || has_run("ran\n"));
    let mut gate = fs::OpenOptions::new().read(true).write(true).open(home.path("gate")).expect("it was made");
    let restarted = home.run(&["daemon", "restart"]);
    assert_eq!(restarted.status, Some(0), "{restarted:?}");
    gate.write_all(b"go\n").expect("the command reads");
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo alive-$((1+1))").contains("alive-2"));
    let told = shell.look(|view| view.history().matches("/resume` continues").count());
    assert_eq!(told, 1, "{}", shell.dump());
    shell.ask("/resume", "After all.");
    assert!(has_run("ran\n"), "it ran again");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results.len() == 1 && results[0].content.contains("the-end-of-it"), "{results:?}");
    assert!(!shell.look(|view| view.history().contains("cancelled")), "{}", shell.dump());
}

#[test]
fn another_terminal_goes_on_with_what_was_interrupted() {
    let answers = [Answer::text("Words so far and more").stall_after(4), Answer::text("The rest of it.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let first = home.cohab();
    let mark = first.submit("? tell me all");
    first.wait_text("Words so");
    home.kill_daemon();
    first.wait_next_prompt(mark);
    drop(first);
    let list = home.run(&["resume", "--list"]);
    assert!(list.status == Some(0) && list.stdout.contains("tell me all"), "{list:?}");
    let second = home.cohab_with(&["resume"]);
    second.wait_text("was interrupted");
    second.ask("/resume", "The rest of it.");
}
