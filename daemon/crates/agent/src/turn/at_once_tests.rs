use std::sync::atomic::{AtomicUsize, Ordering};

use cohab_model_api::ToolResult;

use super::*;

/// A read that takes a second; records the starts and ends of reads, and how many ran at the same time.
#[derive(Default)]
struct Look {
    log: Arc<Mutex<Vec<String>>>,
    running: AtomicUsize,
    most: AtomicUsize,
}

#[async_trait]
impl Tool for Look {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "look".into(), description: "looks".into(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let path = args.get("path").and_then(Value::as_str).ok_or("`path` is missing")?;
        Ok(Intent { title: path.to_owned(), effect: Effect::Read { path: path.into(), pattern: None } })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let path = args["path"].as_str().unwrap().to_owned();
        self.log.lock().unwrap().push(format!("{path} begins"));
        self.most.fetch_max(self.running.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
        if path == "cancel" {
            context.cancel.cancel();
        }
        // Later calls are faster.
        let number = path.bytes().last().map_or(0, u64::from);
        tokio::time::sleep(Duration::from_millis(1_000 - number)).await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        self.log.lock().unwrap().push(format!("{path} ends"));
        Ok(ToolOutput::text(format!("saw {path}"), "ok".into()))
    }
}

/// Middleware that takes time for each call and ends the turn at `end`.
struct Slow {
    log: Arc<Mutex<Vec<String>>>,
    end: &'static str,
}

#[async_trait]
impl Middleware for Slow {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.log.lock().unwrap().push(format!("asked about {}", call.intent.title));
        tokio::time::sleep(Duration::from_millis(10)).await;
        self.log.lock().unwrap().push(format!("answered about {}", call.intent.title));
        if call.intent.title == self.end { Err(Denial::CancelTurn) } else { Ok(()) }
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        self.log.lock().unwrap().push(format!("told of {}", result.call_id));
    }
}

fn look(path: &str) -> ModelEvent {
    let args = json!({ "path": path }).as_object().cloned().unwrap();
    ModelEvent::ToolCallDone(ToolCall { id: path.into(), name: "look".into(), args: Ok(args.into()) })
}

fn turn(mut calls: Vec<ModelEvent>) -> (Turn, Arc<Look>) {
    calls.push(stop(StopClass::Tool));
    let mut turn = Turn::new(vec![calls, done()]);
    let look = Arc::new(Look::default());
    turn.agent.tools.insert("look".into(), Arc::clone(&look) as _);
    (turn, look)
}

/// Numbers of the steps that began, and of the steps that ended.
fn steps(turn: &Turn) -> (Vec<u32>, Vec<u32>) {
    let (mut began, mut ended) = (Vec::new(), Vec::new());
    for event in turn.events() {
        match event {
            TurnEvent::StepStarted { step, .. } => began.push(step),
            TurnEvent::StepFinished { step, .. } => ended.push(step),
            _ => {}
        }
    }
    (began, ended)
}

#[tokio::test(start_paused = true)]
async fn three_slow_reads_take_as_long_as_one_and_answer_in_order() {
    let (mut turn, tool) = turn(vec![look("1"), look("2"), look("3")]);
    let started = tokio::time::Instant::now();
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert!(started.elapsed() <= Duration::from_secs(1), "{:?}", started.elapsed());
    assert_eq!(turn.results(), ["saw 1", "saw 2", "saw 3"]);
    assert_eq!(steps(&turn), (vec![0, 1, 2, 3, 4], vec![0, 1, 2, 3, 4]));
    assert_eq!(tool.log.lock().unwrap()[3..], ["3 ends", "2 ends", "1 ends"]);
}

#[tokio::test(start_paused = true)]
async fn nothing_runs_beside_a_call_that_may_change_something() {
    let (mut turn, tool) = turn(vec![look("1"), call("a"), call("b"), look("2"), broken_call(), look("3")]);
    turn = turn.with(Slow { log: Arc::clone(&tool.log), end: "" });
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.results(), ["saw 1", "said a", "said b", "saw 2", "!EOF", "saw 3"]);
    assert_eq!(tool.most.load(Ordering::Relaxed), 1);
    let log = tool.log.lock().unwrap().clone();
    let at = |what: &str| log.iter().position(|line| line == what).unwrap_or_else(|| panic!("{what}: {log:?}"));
    assert!(at("1 ends") < at("asked about a") && at("told of id-b") < at("asked about 2"), "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn hooks_see_each_call_of_those_that_run_at_once_one_after_the_other() {
    let (turn, tool) = turn(vec![look("1"), look("2")]);
    let mut turn = turn.with(Slow { log: Arc::clone(&tool.log), end: "" });
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(tool.most.load(Ordering::Relaxed), 2);
    let log = tool.log.lock().unwrap().clone();
    let hooks: Vec<&str> =
        log.iter().filter(|line| line.contains(' ') && !line.ends_with('s')).map(String::as_str).collect();
    let asked = ["asked about 1", "answered about 1", "asked about 2", "answered about 2"];
    assert_eq!(hooks, [&asked[..], &["told of 1", "told of 2"]].concat());
}

#[tokio::test(start_paused = true)]
async fn so_many_run_at_once_and_no_more() {
    let (mut turn, tool) = turn((0..20).map(|n| look(&n.to_string())).collect());
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(tool.most.load(Ordering::Relaxed), 8);
    assert_eq!(turn.results().len(), 20);
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_stopped_while_reads_run_answers_each() {
    let (mut turn, _) = turn(vec![look("1"), look("cancel"), look("3"), call("a")]);
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.results(), ["!cancelled before it ended"; 4]);
    let (began, ended) = steps(&turn);
    assert_eq!(began, ended, "what began is told to have ended");
}

#[tokio::test(start_paused = true)]
async fn the_user_ends_the_turn_at_the_question_about_one_of_several_reads() {
    let (turn, tool) = turn(vec![look("1"), look("2"), look("3")]);
    let mut turn = turn.with(Slow { log: Arc::clone(&tool.log), end: "2" });
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.results(), ["!cancelled before it ended"; 3]);
    assert!(!tool.log.lock().unwrap().iter().any(|line| line == "asked about 3"));
}
