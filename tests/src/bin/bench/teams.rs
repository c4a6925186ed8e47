//! Measures subagents and background tasks: the start of one, several side by side, the end of a tree, many that wait.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, model_server::Request};
use cohab_protocol::{
    ClientMessage, DaemonMessage, EnvSetting, RequestId, SessionAction, SessionAnswer, SessionRequest, StartTask,
    SubagentState, TurnId, UserQuery,
};
use serde_json::json;

use crate::{
    clients::{Client, settings},
    contestants::{self, COHAB},
    process::{daemon_pid, pss_mib},
    report::{Report, Samples},
};

const MEASURE: &str = "teams";
const SPAWN_MS: f64 = 5.0;
const SIDE_BY_SIDE: usize = 8;
/// What a subagent that is measured side by side takes at least.
const WORK: Duration = Duration::from_millis(400);
const SIDE_BY_SIDE_FACTOR: f64 = 1.2;
const TREE: usize = 20;
const CANCEL_MS: f64 = 200.0;
const TASKS: usize = 100;
const DAEMON_MIB: f64 = 60.0;
/// The task of a subagent that never ends, and of one that takes its time. No prompt has these words.
const STALL: &str = "never-end";
const WORK_TASK: &str = "take-your-time";
/// A window in which a model may order subagents.
const SETTINGS: &str = "[model]\ncontext_window_tokens = 64000\n";

/// When the model ordered a subagent last, and how long after that subagents asked.
#[derive(Default)]
struct Spawns {
    ordered_at: Option<Instant>,
    took: Samples,
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    if !contestants::has_cohab() {
        return report.unmeasured(MEASURE, COHAB, "it was not built");
    }
    let spawns = Arc::<Mutex<Spawns>>::default();
    let noted = Arc::clone(&spawns);
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| respond(request, &noted));
    let home = Home::with_model(&server);
    home.write_config(SETTINGS);
    let _ = home.run(&["ask", "warm up"]);
    let measured = turns(report, rounds, &home, settings(&server), &spawns);
    if let Err(error) = measured {
        report.unmeasured(MEASURE, COHAB, &error.to_string());
    }
}

/// Orders as many subagents as the question says; a subagent does what its task says.
fn respond(request: &Request, spawns: &Mutex<Spawns>) -> Answer {
    let told = request.conversation();
    let is_new =
        request.body["messages"].as_array().and_then(|all| all.last()).is_some_and(|last| last["role"] == "user");
    let mut spawns = spawns.lock().unwrap_or_else(PoisonError::into_inner);
    let is_subagent = told.contains("You are an explorer.") || told.contains("behind their prompt");
    match (is_subagent, is_new) {
        (true, _) => {
            if let Some(ordered_at) = spawns.ordered_at.take() {
                spawns.took.push(request.received_at.saturating_duration_since(ordered_at));
            }
            match told {
                told if told.contains(STALL) => Answer::text("x").stall_after(0),
                told if told.contains(WORK_TASK) => Answer::text("done").paced(WORK / 4),
                _ => Answer::text("done"),
            }
        }
        (false, false) => Answer::text("All reports are read."),
        (false, true) => {
            let wish = told.lines().rev().find_map(|line| line.strip_prefix("send ")).unwrap_or_default().to_owned();
            let (count, task) = wish.split_once(' ').unwrap_or(("0", ""));
            let order = json!({"agent": "explore", "task": task, "label": task});
            spawns.ordered_at = Some(Instant::now());
            let orders = 0..count.parse().unwrap_or(0);
            orders.fold(Answer::pieces(vec!["Go.".into()]), |answer: Answer, _: usize| {
                answer.and_call("delegate", &order)
            })
        }
    }
}

fn turns(
    report: &mut Report,
    rounds: usize,
    home: &Home,
    settings: Vec<EnvSetting>,
    spawns: &Mutex<Spawns>,
) -> io::Result<()> {
    let mut client = Client::live(home, settings)?;
    for _ in 0..rounds {
        ask(&mut client, "send 1 answer")?;
        to_end(&mut client)?;
    }
    let took = spawns.lock().unwrap_or_else(PoisonError::into_inner).took.clone();
    report.samples(MEASURE, "the order of a subagent to its request", "ms", &took);
    report.at_most(MEASURE, "the order of a subagent to its request, p50", took.p50(), SPAWN_MS, "ms");
    let mut alone = Samples::default();
    let mut together = Samples::default();
    for _ in 0..3 {
        alone.push(work(&mut client, 1)?);
        together.push(work(&mut client, SIDE_BY_SIDE)?);
    }
    let factor = together.p50() / alone.p50();
    report.at_most(MEASURE, "eight subagents beside one", factor, SIDE_BY_SIDE_FACTOR, "x");
    let mut ends = Samples::default();
    for _ in 0..5 {
        let turn_id = ask(&mut client, &format!("send {TREE} {STALL}"))?;
        wait_for(&mut client, SIDE_BY_SIDE)?;
        let since = Instant::now();
        client.send(&ClientMessage::CancelTurn { turn_id })?;
        to_end(&mut client)?;
        ends.push(since.elapsed());
    }
    report.at_most(MEASURE, "the end of a tree of 20, slowest", ends.quantile(1.0), CANCEL_MS, "ms");
    for _ in 0..TASKS {
        start_task(&mut client)?;
    }
    match daemon_pid(home) {
        Some(daemon) => report.at_most(MEASURE, "daemon's PSS with 100 tasks", pss_mib(daemon), DAEMON_MIB, "MiB"),
        None => report.unmeasured(MEASURE, "daemon with 100 tasks", "it does not run"),
    }
    Ok(())
}

fn ask(client: &mut Client, text: &str) -> io::Result<TurnId> {
    let turn_id = TurnId::fresh();
    let query = UserQuery {
        turn_id,
        text: text.to_owned(),
        cwd: Path::new("/").into(),
        columns: 80,
        piped_input: None,
        is_private: false,
    };
    client.send(&ClientMessage::UserQuery(query))?;
    Ok(turn_id)
}

fn to_end(client: &mut Client) -> io::Result<()> {
    loop {
        if let DaemonMessage::TurnEnded(_) = client.read_next()? {
            return Ok(());
        }
    }
}

/// From the first news of so many subagents to the last one's end.
fn work(client: &mut Client, count: usize) -> io::Result<Duration> {
    ask(client, &format!("send {count} {WORK_TASK}"))?;
    let (mut began, mut took, mut over) = (None, Duration::ZERO, 0);
    loop {
        match client.read_next()? {
            DaemonMessage::SubagentProgress(progress) => {
                let began = *began.get_or_insert_with(Instant::now);
                if let SubagentState::Ended(_) = progress.state {
                    over += 1;
                    took = began.elapsed();
                }
            }
            DaemonMessage::TurnEnded(_) if over == count => return Ok(took),
            DaemonMessage::TurnEnded(_) => return Err(io::Error::other(format!("{over} of {count} subagents ended"))),
            _ => {}
        }
    }
}

fn wait_for(client: &mut Client, count: usize) -> io::Result<()> {
    let mut begun = std::collections::BTreeSet::new();
    while begun.len() < count {
        if let DaemonMessage::SubagentProgress(progress) = client.read_next()? {
            begun.insert(progress.number);
        }
    }
    Ok(())
}

fn start_task(client: &mut Client) -> io::Result<()> {
    let task = StartTask { session: None, text: STALL.to_owned(), cwd: Path::new("/").into(), attempts: 1 };
    let action = SessionAction::StartTask(task);
    client.send(&ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(7), action }))?;
    loop {
        match client.read_next()? {
            DaemonMessage::SessionReply(reply) if matches!(reply.answer, SessionAnswer::TaskStarted { .. }) => {
                return Ok(());
            }
            DaemonMessage::Error(error) => return Err(io::Error::other(error.message)),
            _ => {}
        }
    }
}
