//! Runs that end at any byte of their file go on and repeat nothing that is finished.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use async_trait::async_trait;
use cohab_graph::{
    conformance::new_run,
    definition,
    flow::Flow,
    log::{LogEntry, RunStatus, Visited},
    plan::RunEnding,
    port::{NodeAnswer, NodeCall, NodeWork, RunStore as _},
    run::{Answers, RunStop, run},
};
use tokio_util::sync::CancellationToken;

use super::*;

const FLOW: &str = r#"
start = "split"
steps = 60
[state]
n = { type = "number", reducer = "sum" }
all = { type = "list", reducer = "append" }
[nodes.split]
kind = "parallel"
branches = ["a", "b", "c"]
join = "more"
[nodes.a]
kind = "tool"
command = "a"
output = "all"
next = "a2"
[nodes.a2]
kind = "tool"
command = "a2"
output = "all"
next = "more"
[nodes.b]
kind = "llm"
prompt = "b"
output = "all"
next = "more"
[nodes.c]
kind = "tool"
command = "c"
repeatable = true
output = "all"
next = "more"
[nodes.more]
kind = "llm"
prompt = "{{n}}"
output = "n"
next = "enough"
[nodes.enough]
kind = "condition"
when = [{ if = "n >= 2", next = "end" }]
else = "split"
[nodes.end]
kind = "end"
result = "{{n}}"
"#;

/// Answers 1 to all, and lets each node run again that was interrupted.
#[derive(Default)]
struct Counting {
    called: Mutex<Vec<Visited>>,
    allowed_again: Mutex<BTreeSet<Visited>>,
}

#[async_trait]
impl NodeWork for Counting {
    async fn call(&self, visited: &Visited, call: NodeCall, _: &CancellationToken) -> NodeAnswer {
        if let NodeCall::Human(question) = call {
            assert!(question.is_about_repeating);
            self.allowed_again.lock().unwrap().insert(visited.clone());
            return NodeAnswer::Text("again".into());
        }
        self.called.lock().unwrap().push(visited.clone());
        NodeAnswer::Text("1".into())
    }
}

fn finished(log: &[LogEntry]) -> Vec<&Visited> {
    let visits = log.iter().filter_map(|entry| match entry {
        LogEntry::Finished { visited, .. } => Some(visited),
        _ => None,
    });
    visits.collect()
}

fn begun(log: &[LogEntry]) -> Vec<&Visited> {
    let visits = log.iter().filter_map(|entry| match entry {
        LogEntry::Began(visited) => Some(visited),
        _ => None,
    });
    visits.collect()
}

async fn go(flow: &Flow, runs: &FlowRuns, id: &str, work: &Counting) -> RunStop {
    let (stored, mut log) = runs.open(id).expect("opened");
    run(flow, &stored.log, Answers::new(), work, log.as_mut(), &CancellationToken::new()).await.expect("it runs")
}

#[tokio::test]
async fn a_run_that_was_killed_at_200_points_repeats_no_finished_node() {
    let folder = tempfile::tempdir().expect("a folder");
    let runs = FlowRuns::at(folder.path(), Arc::default());
    let flow = definition::read("flow.toml", FLOW, &|_| Err(String::new())).expect("a flow");
    let done = RunStop::Over(RunEnding { status: RunStatus::Done, text: "2".into() });
    let id = runs.create(&new_run("flow")).expect("created").0;
    assert_eq!(go(&flow, &runs, &id, &Counting::default()).await, done);
    let path = runs.path(&id);
    let whole = fs::read(&path).expect("bytes");
    // Behind the two lines that were there when the run began.
    let from = whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).expect("two lines").0 + 1;
    let mut seed = 7_u64;
    for _ in 0..200 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let cut = from + usize::try_from(seed >> 33).expect("it fits") % (whole.len() - from + 1);
        fs::write(&path, &whole[..cut]).expect("written");
        let before = runs.read(&id).expect("what is whole can be read").log;
        let work = Counting::default();
        assert_eq!(go(&flow, &runs, &id, &work).await, done, "cut at {cut}");
        let (called, again) = (work.called.into_inner().unwrap(), work.allowed_again.into_inner().unwrap());
        let was_finished = finished(&before);
        for visited in &called {
            assert!(!was_finished.contains(&visited), "{visited:?} ran again, cut at {cut}");
            // What had begun ran again only with the user's word.
            assert!(!begun(&before).contains(&visited) || again.contains(visited), "{visited:?}, cut at {cut}");
        }
        let after = runs.read(&id).expect("read").log;
        let all = finished(&after);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len(), "cut at {cut}");
    }
}
