use std::{
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use tokio::time::sleep;

use super::*;
use crate::{definition, port::RunStore, testing::MemoryRuns};

fn flow(text: &str) -> Flow {
    definition::read("flow.toml", text, &|_| Err("no files".to_owned())).expect(text)
}

/// Answers calls by a function, after a time that depends on the node, and remembers them.
struct Scripted<F> {
    answer: F,
    calls: Mutex<Vec<(String, NodeCall)>>,
    at_once: AtomicUsize,
    most_at_once: AtomicUsize,
}

impl<F: Fn(&str, &NodeCall) -> NodeAnswer + Send + Sync> Scripted<F> {
    fn new(answer: F) -> Self {
        Self { answer, calls: Mutex::default(), at_once: AtomicUsize::new(0), most_at_once: AtomicUsize::new(0) }
    }

    /// The visits that were worked for.
    fn called(&self) -> Vec<String> {
        self.calls.lock().unwrap().iter().map(|(visit, _)| visit.clone()).collect()
    }
}

#[async_trait]
impl<F: Fn(&str, &NodeCall) -> NodeAnswer + Send + Sync> NodeWork for Scripted<F> {
    async fn call(&self, visited: &Visited, call: NodeCall, cancel: &CancellationToken) -> NodeAnswer {
        let answer = (self.answer)(&visited.node, &call);
        self.calls.lock().unwrap().push((format!("{}#{}", visited.node, visited.visit), call));
        let now = self.at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_at_once.fetch_max(now, Ordering::SeqCst);
        let time = if visited.node.starts_with("slow") { 10_000 } else { 100 };
        let answer = tokio::select! {
            () = cancel.cancelled() => NodeAnswer::Cancelled,
            () = sleep(Duration::from_millis(time)) => answer,
        };
        self.at_once.fetch_sub(1, Ordering::SeqCst);
        answer
    }
}

/// Runs a new run, or continues the only one.
async fn drive(
    flow: &Flow,
    runs: &MemoryRuns,
    answers: &[(&str, &str)],
    work: &dyn NodeWork,
    cancel: &CancellationToken,
) -> Result<RunStop, RunError> {
    let answers = answers.iter().map(|(node, text)| ((*node).to_owned(), (*text).to_owned())).collect();
    let (past, mut log) = match runs.open("").ok() {
        Some((stored, log)) => (stored.log, log),
        None => (Vec::new(), runs.create(&crate::conformance::new_run("flow")).expect("kept").1),
    };
    run(flow, &past, answers, work, log.as_mut(), cancel).await
}

async fn go(flow: &Flow, runs: &MemoryRuns, work: &dyn NodeWork) -> RunStop {
    drive(flow, runs, &[], work, &CancellationToken::new()).await.expect("it runs")
}

fn status(runs: &MemoryRuns) -> RunStatus {
    runs.read("").expect("one run").status
}

const REVIEW: &str = r#"
start = "test"
[state]
report = "text"
code = "number"
answer = "text"
[nodes.test]
kind = "tool"
command = "make test"
output = "report"
status = "code"
next = "good"
[nodes.good]
kind = "condition"
when = [{ if = "code == 0", next = "ask" }]
else = "bad"
[nodes.ask]
kind = "human"
question = "Ship it? {{report}}"
choices = ["yes", "no"]
output = "answer"
next = "ship"
[nodes.ship]
kind = "tool"
command = ["ship", "--note", "{{report}} {{answer}}"]
next = "end"
[nodes.end]
kind = "end"
result = "{{answer}}"
[nodes.bad]
kind = "end"
status = "failed"
result = "exit {{code}}"
"#;

fn passing(node: &str, call: &NodeCall) -> NodeAnswer {
    match (node, call) {
        (_, NodeCall::Human(_)) => NodeAnswer::Later,
        ("test", _) => NodeAnswer::Command { text: "42 passed".into(), status: 0 },
        _ => NodeAnswer::Command { text: String::new(), status: 0 },
    }
}

#[tokio::test(start_paused = true)]
async fn a_human_node_waits_over_a_restart_and_goes_on_with_the_answer() {
    let (flow, runs, work) = (flow(REVIEW), MemoryRuns::default(), Scripted::new(passing));
    let RunStop::Waiting(questions) = go(&flow, &runs, &work).await else { panic!("it waits") };
    let question = &questions[0];
    assert_eq!((question.visited.node.as_str(), question.question.text.as_str()), ("ask", "Ship it? 42 passed"));
    assert_eq!(status(&runs), RunStatus::Waiting);
    assert_eq!(open_questions(&flow, &runs.read("").unwrap().log).unwrap(), questions);
    // A second look changes nothing, and neither does an answer that is none.
    assert!(matches!(go(&flow, &runs, &work).await, RunStop::Waiting(_)));
    let wrong = drive(&flow, &runs, &[("ask", "perhaps")], &work, &CancellationToken::new()).await;
    assert_eq!(wrong.unwrap_err().to_string(), "`ask`: the answer is one of: yes, no");
    let end = drive(&flow, &runs, &[("ask", "YES")], &work, &CancellationToken::new()).await.unwrap();
    assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Done, text: "yes".into() }));
    assert_eq!(work.called(), ["test#1", "ask#1", "ask#1", "ship#1"]);
    let words = ["ship", "--note", "42 passed yes"].map(str::to_owned).into();
    let shipped = NodeCall::Tool { request: ToolRequest::Words(words), holds_values: true };
    assert_eq!(work.calls.lock().unwrap().last().unwrap().1, shipped);
    // What is over stays over.
    let length = runs.read("").unwrap().log.len();
    assert!(matches!(go(&flow, &runs, &work).await, RunStop::Over(_)));
    assert_eq!((runs.read("").unwrap().log.len(), work.called().len()), (length, 4));
}

#[tokio::test(start_paused = true)]
async fn a_user_who_is_there_is_asked_at_once() {
    let work = Scripted::new(|node: &str, call: &NodeCall| match call {
        NodeCall::Human(_) => NodeAnswer::Text("n".into()),
        _ => passing(node, call),
    });
    let end = go(&flow(REVIEW), &MemoryRuns::default(), &work).await;
    assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Done, text: "no".into() }));
}

#[tokio::test(start_paused = true)]
async fn a_failed_end_and_a_failed_node_are_failures() {
    let failing = Scripted::new(|_: &str, _: &NodeCall| NodeAnswer::Command { text: "no".into(), status: 2 });
    let end = go(&flow(REVIEW), &MemoryRuns::default(), &failing).await;
    assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Failed, text: "exit 2".into() }));
    let runs = MemoryRuns::default();
    let refused = Scripted::new(|_: &str, _: &NodeCall| NodeAnswer::Failed("refused".into()));
    let end = go(&flow(REVIEW), &runs, &refused).await;
    let text = "`test` failed: refused".to_owned();
    assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Failed, text }));
    assert_eq!(status(&runs), RunStatus::Failed);
}

/// A parallel node with this many branches of one tool node each, whose names begin with `prefix`.
fn wide(count: usize, prefix: &str) -> String {
    let names: Vec<String> = (0..count).map(|number| format!("{prefix}{number}")).collect();
    let node = |name: &String| {
        format!("[nodes.{name}]\nkind = \"tool\"\ncommand = \"{name}\"\noutput = \"all\"\nnext = \"end\"\n")
    };
    let nodes: String = names.iter().map(node).collect();
    format!(
        "start = \"split\"\n[state]\nall = {{ type = \"list\", reducer = \"append\" }}\n[nodes.split]\nkind = \"parallel\"\n\
         branches = {names:?}\njoin = \"end\"\n{nodes}[nodes.end]\nkind = \"end\"\nresult = \"{{{{all}}}}\"\n"
    )
}

#[tokio::test(start_paused = true)]
async fn branches_run_at_the_same_time_eight_at_most() {
    for (count, most) in [(3, 3), (20, MAX_AT_ONCE)] {
        let work = Scripted::new(|node: &str, _: &NodeCall| NodeAnswer::Text(node.to_owned()));
        let RunStop::Over(end) = go(&flow(&wide(count, "n")), &MemoryRuns::default(), &work).await else { panic!() };
        assert_eq!((end.status, end.text.lines().count()), (RunStatus::Done, count));
        assert_eq!(work.most_at_once.load(Ordering::SeqCst), most);
        let (mut called, all) = (work.called(), work.called().len());
        called.sort();
        called.dedup();
        assert_eq!((called.len(), all), (count, count));
    }
}

#[tokio::test(start_paused = true)]
async fn a_failure_ends_the_other_branches() {
    let text = wide(2, "slow").replace("slow1", "quick");
    let runs = MemoryRuns::default();
    let work = Scripted::new(|_: &str, _: &NodeCall| NodeAnswer::Failed("no".into()));
    let began = tokio::time::Instant::now();
    let RunStop::Over(end) = go(&flow(&text), &runs, &work).await else { panic!() };
    assert_eq!((end.status, end.text.as_str()), (RunStatus::Failed, "`quick` failed: no"));
    assert!(began.elapsed() < Duration::from_secs(1) && work.at_once.load(Ordering::SeqCst) == 0);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_run_keeps_what_is_finished_and_asks_about_the_rest() {
    let (flow, runs) = (flow(&wide(2, "slow").replace("slow1", "quick")), MemoryRuns::default());
    let work = Scripted::new(|node: &str, call: &NodeCall| match call {
        NodeCall::Human(_) => NodeAnswer::Later,
        _ => NodeAnswer::Text(node.to_owned()),
    });
    let cancel = CancellationToken::new();
    let later = async {
        sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    };
    let (stop, ()) = tokio::join!(drive(&flow, &runs, &[], &work, &cancel), later);
    assert_eq!((stop.unwrap(), status(&runs)), (RunStop::Cancelled, RunStatus::Cancelled));
    // It began and did not finish: it is not run again without the user's word.
    let RunStop::Waiting(questions) = go(&flow, &runs, &work).await else { panic!("it asks") };
    assert!(questions[0].question.is_about_repeating && questions[0].visited.node == "slow0");
    let end = drive(&flow, &runs, &[("slow0", "again")], &work, &CancellationToken::new()).await.unwrap();
    assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Done, text: "quick\nslow0".into() }));
    assert_eq!(work.called(), ["slow0#1", "quick#1", "slow0#1", "slow0#1"]);
}

#[tokio::test(start_paused = true)]
async fn at_its_limit_a_run_ends_as_such() {
    let runs = MemoryRuns::default();
    let text = "start = \"a\"\nsteps = 7\n[nodes.a]\nkind = \"llm\"\nprompt = \"\"\nnext = \"a\"\non_failure = \"z\"\n\
                [nodes.z]\nkind = \"end\"\n";
    let work = Scripted::new(|_: &str, _: &NodeCall| NodeAnswer::Text(String::new()));
    let RunStop::Over(end) = go(&flow(text), &runs, &work).await else { panic!() };
    assert_eq!((end.status, work.called().len(), status(&runs)), (RunStatus::Limit, 7, RunStatus::Limit));
}

#[tokio::test(start_paused = true)]
async fn long_results_are_cut_before_they_are_kept() {
    let runs = MemoryRuns::default();
    let text = "start = \"a\"\n[state]\nt = \"text\"\n[nodes.a]\nkind = \"llm\"\nprompt = \"\"\noutput = \"t\"\nnext = \"z\"\n\
                [nodes.z]\nkind = \"end\"\nresult = \"{{t}}\"\n";
    let work = Scripted::new(|_: &str, _: &NodeCall| NodeAnswer::Text("é".repeat(OUTPUT_MAX_BYTES)));
    let RunStop::Over(end) = go(&flow(text), &runs, &work).await else { panic!() };
    assert!(end.text.contains("bytes left out") && end.text.len() < OUTPUT_MAX_BYTES + 100);
}

/// A log that is lost after some entries, as if the process was killed.
struct Dying<'a> {
    log: Box<dyn RunLog>,
    left: &'a AtomicUsize,
}

impl RunLog for Dying<'_> {
    fn append(&mut self, entry: &LogEntry) -> Result<LogEntry, RunStoreError> {
        let is_alive = self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok();
        if is_alive { self.log.append(entry) } else { Err(RunStoreError::System("killed".into())) }
    }
}

const LONG: &str = r#"
start = "split"
[state]
n = { type = "number", reducer = "sum" }
[nodes.split]
kind = "parallel"
branches = ["a", "b", "c"]
join = "more"
[nodes.a]
kind = "tool"
command = "a"
next = "a2"
[nodes.a2]
kind = "tool"
command = "a2"
next = "more"
[nodes.b]
kind = "llm"
prompt = "b"
next = "more"
[nodes.c]
kind = "tool"
command = "c"
repeatable = true
next = "more"
[nodes.more]
kind = "llm"
prompt = "{{n}}"
output = "n"
next = "enough"
[nodes.enough]
kind = "condition"
when = [{ if = "n >= 3", next = "end" }]
else = "split"
[nodes.end]
kind = "end"
result = "{{n}}"
"#;

#[tokio::test(start_paused = true)]
async fn killed_after_any_entry_a_run_repeats_nothing_that_counts() {
    let flow = flow(LONG);
    let answer = |_: &str, call: &NodeCall| match call {
        // The user lets it run again: they know that it did not act.
        NodeCall::Human(question) => NodeAnswer::Text(question.choices[0].clone()),
        _ => NodeAnswer::Text("1".into()),
    };
    for survived in 0..60 {
        let (runs, work, left) = (MemoryRuns::default(), Scripted::new(answer), AtomicUsize::new(survived));
        let (_, log) = runs.create(&crate::conformance::new_run("flow")).unwrap();
        let mut log = Dying { log, left: &left };
        let first = run(&flow, &[], Answers::new(), &work, &mut log, &CancellationToken::new()).await;
        drop(log);
        let before = runs.read("").unwrap().log;
        let called_before = work.called().len();
        let end = go(&flow, &runs, &work).await;
        assert_eq!(end, RunStop::Over(RunEnding { status: RunStatus::Done, text: "3".into() }));
        assert_eq!(first.is_ok(), before.len() == runs.read("").unwrap().log.len());
        let finished = |entries: &[LogEntry]| {
            let visits = entries.iter().filter_map(|entry| match entry {
                LogEntry::Finished { visited, .. } => Some(format!("{}#{}", visited.node, visited.visit)),
                _ => None,
            });
            visits.collect::<Vec<_>>()
        };
        let (done, log) = (finished(&before), runs.read("").unwrap().log);
        for again in &work.called()[called_before..] {
            assert!(!done.contains(again), "{again} ran again after {survived} entries");
        }
        let all = finished(&log);
        assert!(all.iter().all(|one| all.iter().filter(|other| one == *other).count() == 1), "{all:?}");
        // What may act once runs a second time only with the user's word.
        for node in ["a#1", "a2#1", "a#2", "a#3"] {
            let runs_of = work
                .calls
                .lock()
                .unwrap()
                .iter()
                .filter(|(visit, call)| visit == node && !matches!(call, NodeCall::Human(_)))
                .count();
            let words = log.iter().filter(|entry| {
                matches!(entry, LogEntry::Repeated(visited) if format!("{}#{}", visited.node, visited.visit) == node)
            }).count();
            assert!(runs_of <= 1 + words, "{node}: {runs_of} runs, {words} words of the user");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_log_of_another_flow_is_refused() {
    let runs = MemoryRuns::default();
    let work = Scripted::new(passing);
    go(&flow(REVIEW), &runs, &work).await;
    let error = drive(&flow(LONG), &runs, &[], &work, &CancellationToken::new()).await.unwrap_err();
    assert!(error.to_string().starts_with("entry 1 of the log does not belong to the flow"), "{error}");
}
