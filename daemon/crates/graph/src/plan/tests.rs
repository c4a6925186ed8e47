mod any_flow;

use super::*;
use crate::definition;

fn flow(text: &str) -> Flow {
    definition::read("flow.toml", text, &|_| Err("no files".to_owned())).expect(text)
}

/// The nodes that may run next, with their visits.
fn next(progress: &Progress<'_>) -> Vec<(String, u32)> {
    match progress.plan() {
        Plan::Run(visits) => {
            visits.iter().map(|visit| progress.visited(*visit)).map(|visited| (visited.node, visited.visit)).collect()
        }
        Plan::Over(_) => Vec::new(),
    }
}

fn names(progress: &Progress<'_>) -> Vec<String> {
    next(progress).into_iter().map(|(name, _)| name).collect()
}

fn finished(node: &str, visit: u32, outcome: NodeOutcome) -> LogEntry {
    LogEntry::Finished { visited: Visited { node: node.into(), visit }, outcome }
}

fn text(words: &str) -> NodeOutcome {
    NodeOutcome::Text(words.into())
}

fn ending(progress: &Progress<'_>) -> (RunStatus, String) {
    match progress.plan() {
        Plan::Over(RunEnding { status, text }) => (status, text),
        Plan::Run(_) => panic!("it runs: {:?}", names(progress)),
    }
}

const BRANCHES: &str = r#"
start = "split"
[state]
all = { type = "list", reducer = "append" }
[nodes.split]
kind = "parallel"
branches = ["a", "b"]
join = "join"
[nodes.a]
kind = "llm"
prompt = "a"
output = "all"
next = "join"
[nodes.b]
kind = "parallel"
branches = ["c", "d"]
join = "join"
[nodes.c]
kind = "llm"
prompt = "c"
output = "all"
next = "join"
[nodes.d]
kind = "llm"
prompt = "d"
output = "all"
next = "join"
[nodes.join]
kind = "llm"
prompt = "{{all}}"
next = "end"
[nodes.end]
kind = "end"
result = "{{all}}"
"#;

#[test]
fn a_join_waits_for_each_branch_once() {
    let flow = flow(BRANCHES);
    let mut progress = Progress::new(&flow);
    let step = |progress: &mut Progress<'_>, node: &str, outcome| {
        progress.apply(&finished(node, 1, outcome)).expect(node);
    };
    assert_eq!(names(&progress), ["split"]);
    step(&mut progress, "split", NodeOutcome::Passed);
    assert_eq!(names(&progress), ["a", "b"]);
    step(&mut progress, "b", NodeOutcome::Passed);
    assert_eq!(names(&progress), ["a", "c", "d"]);
    step(&mut progress, "d", text("D"));
    step(&mut progress, "a", text("A"));
    assert_eq!(names(&progress), ["c"]);
    step(&mut progress, "c", text("C"));
    assert_eq!(names(&progress), ["join"]);
    step(&mut progress, "join", text(""));
    step(&mut progress, "end", NodeOutcome::Passed);
    assert_eq!(ending(&progress), (RunStatus::Done, "D\nA\nC".into()));
}

#[test]
fn an_entry_that_cannot_follow_is_refused_and_changes_nothing() {
    let flow = flow(BRANCHES);
    let mut progress = Progress::new(&flow);
    progress.apply(&finished("split", 1, NodeOutcome::Passed)).expect("it is next");
    let visited = |node: &str, visit| Visited { node: node.into(), visit };
    for (entry, fault) in [
        (finished("split", 1, NodeOutcome::Passed), LogFault::NotNext(visited("split", 1))),
        (finished("a", 2, text("x")), LogFault::NotNext(visited("a", 2))),
        (finished("a", 0, text("x")), LogFault::NotNext(visited("a", 0))),
        (finished("c", 1, text("x")), LogFault::NotNext(visited("c", 1))),
        (finished("nope", 1, text("x")), LogFault::Unknown("nope".into())),
        (finished("a", 1, NodeOutcome::Passed), LogFault::WrongOutcome("a".into())),
        (finished("b", 1, text("x")), LogFault::WrongOutcome("b".into())),
        (LogEntry::Repeated(visited("a", 1)), LogFault::NotNext(visited("a", 1))),
        (LogEntry::Began(visited("nope", 1)), LogFault::NotNext(visited("nope", 1))),
        (LogEntry::Set { key: "all".into(), text: "x".into() }, LogFault::Key("`all` is set after the start".into())),
    ] {
        assert_eq!(progress.apply(&entry), Err(fault));
        assert_eq!(names(&progress), ["a", "b"]);
    }
    progress.apply(&LogEntry::Began(visited("a", 1))).expect("it begins");
    assert!(progress.apply(&LogEntry::Began(visited("a", 1))).is_err(), "once");
}

const WORK: &str = r#"
start = "try"
steps = 9
[state]
out = "text"
code = "number"
n = { type = "number", reducer = "sum" }
[nodes.try]
kind = "tool"
command = "make"
output = "out"
status = "code"
next = "good"
[nodes.good]
kind = "condition"
when = [{ if = "code == 0", next = "end" }, { if = "n >= 2", next = "give-up" }]
else = "count"
[nodes.count]
kind = "llm"
prompt = "{{out}}"
output = "n"
on_failure = "give-up"
next = "try"
[nodes.give-up]
kind = "end"
status = "failed"
result = "exit {{code}} after {{n}}"
[nodes.end]
kind = "end"
"#;

fn command(status: i32) -> NodeOutcome {
    NodeOutcome::Command { text: "output".into(), status }
}

#[test]
fn a_loop_counts_its_visits_and_takes_the_first_case_that_holds() {
    let flow = flow(WORK);
    let mut progress = Progress::new(&flow);
    for (visit, rounds) in [(1, "1"), (2, "1")] {
        progress.apply(&finished("try", visit, command(2))).expect("try");
        progress.apply(&finished("good", visit, NodeOutcome::Passed)).expect("good");
        progress.apply(&finished("count", visit, text(rounds))).expect("count");
    }
    assert_eq!(next(&progress), [("try".to_owned(), 3)]);
    progress.apply(&finished("try", 3, command(2))).expect("try");
    progress.apply(&finished("good", 3, NodeOutcome::Passed)).expect("good");
    assert_eq!(names(&progress), ["give-up"]);
    progress.apply(&finished("give-up", 1, NodeOutcome::Passed)).expect("the ninth step");
    assert_eq!(ending(&progress), (RunStatus::Failed, "exit 2 after 2".into()));
}

#[test]
fn the_bound_of_steps_ends_a_loop() {
    let flow = flow(&WORK.replace("n >= 2", "n >= 99"));
    let mut progress = Progress::new(&flow);
    while let [(node, visit)] = next(&progress).as_slice() {
        let outcome = match node.as_str() {
            "try" => command(1),
            "good" => NodeOutcome::Passed,
            _ => text("0"),
        };
        progress.apply(&finished(node, *visit, outcome)).expect("it is next");
    }
    assert_eq!(progress.steps, 9);
    let expected = "stopped after 9 steps, the most that the flow allows";
    assert_eq!(ending(&progress), (RunStatus::Limit, expected.into()));
    assert!(progress.apply(&finished("try", 4, command(0))).is_err());
}

#[test]
fn a_failure_takes_its_way_or_ends_the_run() {
    let flow = flow(WORK);
    let began = |outcome| {
        let mut progress = Progress::new(&flow);
        progress.apply(&finished("try", 1, outcome)).expect("try");
        progress
    };
    let failed = began(NodeOutcome::Failed("refused".into()));
    assert_eq!(ending(&failed), (RunStatus::Failed, "`try` failed: refused".into()));
    // A text that is no number is a failure of its node.
    let mut counted = began(command(1));
    counted.apply(&finished("good", 1, NodeOutcome::Passed)).expect("good");
    counted.apply(&finished("count", 1, text("many"))).expect("count");
    assert_eq!(names(&counted), ["give-up"]);
}

#[test]
fn a_command_without_a_key_for_its_status_fails_by_it() {
    let flow = flow(&WORK.replace("status = \"code\"\n", ""));
    let mut progress = Progress::new(&flow);
    progress.apply(&finished("try", 1, command(3))).expect("try");
    assert_eq!(ending(&progress), (RunStatus::Failed, "`try` failed: exit status 3: output".into()));
}

const PARTS: &str = r#"
start = "sub"
steps = 50
[state]
word = { type = "text", value = "x" }
[nodes.sub]
kind = "subgraph"
with = { word = "{{word}}!" }
output = "word"
next = "again"
on_failure = "bad"
[nodes.sub.flow]
start = "ask"
[nodes.sub.flow.state]
word = "text"
seen = { type = "list", reducer = "append" }
[nodes.sub.flow.nodes.ask]
kind = "llm"
prompt = "{{word}}"
output = "seen"
next = "which"
[nodes.sub.flow.nodes.which]
kind = "condition"
when = [{ if = 'seen contains "bad"', next = "no" }]
else = "out"
[nodes.sub.flow.nodes.out]
kind = "end"
result = "{{word}}{{seen}}"
[nodes.sub.flow.nodes.no]
kind = "end"
status = "failed"
result = "{{seen}}"
[nodes.again]
kind = "condition"
when = [{ if = 'word contains "2"', next = "end" }]
else = "sub"
[nodes.end]
kind = "end"
result = "{{word}}"
[nodes.bad]
kind = "end"
status = "failed"
result = "it was {{word}}"
"#;

#[test]
fn a_subgraph_begins_with_its_own_state_each_time() {
    let flow = flow(PARTS);
    let run = |answers: [&str; 2]| {
        let mut progress = Progress::new(&flow);
        for (visit, answer) in (1..).zip(answers) {
            for (node, outcome) in [
                ("sub", NodeOutcome::Passed),
                ("sub/ask", text(answer)),
                ("sub/which", NodeOutcome::Passed),
                (if answer == "bad" { "sub/no" } else { "sub/out" }, NodeOutcome::Passed),
            ] {
                let visit = if node == "sub/no" { 1 } else { visit };
                progress.apply(&finished(node, visit, outcome)).expect(node);
            }
            if answer == "bad" {
                progress.apply(&finished("bad", 1, NodeOutcome::Passed)).expect("bad");
                break;
            }
            progress.apply(&finished("again", visit, NodeOutcome::Passed)).expect("again");
        }
        if matches!(progress.plan(), Plan::Run(_)) {
            progress.apply(&finished("end", 1, NodeOutcome::Passed)).expect("end");
        }
        ending(&progress)
    };
    assert_eq!(run(["1", "2"]), (RunStatus::Done, "x!1!2".into()));
    assert_eq!(run(["bad", ""]), (RunStatus::Failed, "it was x".into()));
}

#[test]
fn keys_are_set_before_the_first_step_only_if_they_fit() {
    let flow = flow(WORK);
    let mut progress = Progress::new(&flow);
    let set = |key: &str, text: &str| LogEntry::Set { key: key.into(), text: text.into() };
    progress.apply(&set("n", "2")).expect("a number");
    assert!(
        progress.apply(&set("n", "two")).is_err_and(|fault| fault.to_string() == "the value for `n` is not a number")
    );
    assert!(progress.apply(&set("m", "2")).is_err_and(|fault| fault.to_string() == "the flow has no key `m`"));
    progress.apply(&finished("try", 1, command(1))).expect("try");
    progress.apply(&finished("good", 1, NodeOutcome::Passed)).expect("good");
    assert_eq!(names(&progress), ["give-up"], "the first value counts");
}
