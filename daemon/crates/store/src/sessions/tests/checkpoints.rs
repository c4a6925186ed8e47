//! The conformance suite of stores of turns and steps.

use serde_json::json;

use super::{
    super::{
        steps::{
            AgentState, AgentStatus, Checkpoint, CheckpointStore, Metadata, Step, StepFacts, StepStatus, StepType, Turn,
        },
        *,
    },
    conformance::{at, turn as session},
};

/// A store of both.
trait Both: StateStore + CheckpointStore {}
impl<T: StateStore + CheckpointStore> Both for T {}

pub(in crate::sessions) fn a_turn(session: &str, turn: &str, status: AgentStatus) -> Turn {
    Turn {
        turn: turn.into(),
        session: session.into(),
        started: at(1),
        last_activity: at(2),
        question: "why".into(),
        resumed_from: None,
        pid: 7,
        state: AgentState { status, steps: 2, messages: 3, sent_tokens: 4, received_tokens: 5, cost_microusd: 6 },
        ended: None,
        error: None,
    }
}

pub(in crate::sessions) fn a_step(session: &str, turn: &str, number: u32, status: StepStatus) -> Step {
    Step {
        id: format!("{session}{turn}{number}"),
        session: session.into(),
        turn: turn.into(),
        number,
        at: at(i64::from(number)),
        kind: StepType::ToolCall,
        input: json!({"command": "make \u{0}\u{1b}"}).into(),
        output: (status == StepStatus::Completed).then(|| "done".to_owned()),
        status,
        duration_ms: Some(u64::MAX),
        error: None,
        metadata: Metadata {
            parent: Some(0),
            tool: Some("bash".into()),
            call_id: Some(format!("call-{number}")),
            title: "make".into(),
            has_effects: true,
            ..Metadata::default()
        },
    }
}

fn step(session: &str, turn: &str, number: u32, status: StepStatus) -> Checkpoint {
    Checkpoint::Step(a_step(session, turn, number, status))
}

fn turn(session: &str, turn: &str, status: AgentStatus) -> Checkpoint {
    Checkpoint::Turn(a_turn(session, turn, status))
}

fn names(turns: &[Turn]) -> Vec<&str> {
    turns.iter().map(|turn| turn.turn.as_str()).collect()
}

fn what_was_begun_gives_way_to_what_came_of_it(store: &mut dyn Both) {
    store.keep_all(&[session("s", 0, "t")]).expect("it is kept");
    let begun = [turn("s", "t1", AgentStatus::Running), step("s", "t1", 0, StepStatus::Running)];
    store.checkpoint(&begun).expect("they are kept");
    assert_eq!(store.steps("s", "t1").expect("they can be read"), [a_step("s", "t1", 0, StepStatus::Running)]);
    assert_eq!(store.turns("s", 9).expect("they can be read"), [a_turn("s", "t1", AgentStatus::Running)]);
    let over = [step("s", "t1", 0, StepStatus::Completed), turn("s", "t1", AgentStatus::Completed)];
    store.checkpoint(&over).expect("they are kept");
    assert_eq!(store.steps("s", "t1").expect("they can be read"), [a_step("s", "t1", 0, StepStatus::Completed)]);
    assert_eq!(store.turns("s", 9).expect("they can be read"), [a_turn("s", "t1", AgentStatus::Completed)]);
}

fn steps_come_in_their_order_and_turns_the_newest_first(store: &mut dyn Both) {
    store.keep_all(&[session("s", 0, "t"), session("other", 0, "t")]).expect("they are kept");
    for name in ["t2", "t1", "t3"] {
        let kept = [turn("s", name, AgentStatus::Completed), step("s", name, 11, StepStatus::Pending)];
        store.checkpoint(&kept).expect("they are kept");
        store.checkpoint(&[step("s", name, 2, StepStatus::Failed)]).expect("it is kept");
    }
    store.checkpoint(&[turn("other", "t2", AgentStatus::Error)]).expect("it is kept");
    assert_eq!(names(&store.turns("s", 2).expect("they can be read")), ["t3", "t1"]);
    let numbers: Vec<u32> = store.steps("s", "t1").expect("they can be read").iter().map(|step| step.number).collect();
    assert_eq!(numbers, [2, 11]);
    assert!(store.steps("s", "no").expect("nothing").is_empty() && store.turns("no", 9).expect("nothing").is_empty());
}

fn a_session_is_unfinished_if_its_newest_turn_is(store: &mut dyn Both) {
    for name in ["a", "b", "c"] {
        store.keep_all(&[session(name, 0, "t")]).expect("it is kept");
        store.checkpoint(&[turn(name, "t1", AgentStatus::Running)]).expect("it is kept");
    }
    store.checkpoint(&[turn("b", "t2", AgentStatus::Completed)]).expect("it is kept");
    let found = |store: &dyn Both, limit| -> Vec<String> {
        store.unfinished(limit).expect("they can be read").into_iter().map(|turn| turn.session).collect()
    };
    assert_eq!(found(store, 9), ["c", "a"]);
    assert_eq!(found(store, 1), ["c"]);
    store.checkpoint(&[turn("c", "t1", AgentStatus::Idle)]).expect("it is kept");
    assert_eq!(found(store, 9), ["a"]);
}

fn turns_go_with_their_session_and_a_copy_has_its_own(store: &mut dyn Both) {
    store.keep_all(&[session("s", 0, "t")]).expect("it is kept");
    let kept = [turn("s", "t1", AgentStatus::Running), step("s", "t1", 0, StepStatus::Running)];
    store.checkpoint(&kept).expect("they are kept");
    assert!(store.fork("s", "copy", at(9)).expect("it is copied"));
    let copied = store.turns("copy", 9).expect("they can be read");
    assert_eq!((names(&copied), copied[0].state.status), (vec!["t1"], AgentStatus::Idle), "only one can go on");
    store.remove(&["s".into()]).expect("it is removed");
    assert!(store.turns("s", 9).expect("nothing").is_empty() && store.steps("s", "t1").expect("nothing").is_empty());
    assert_eq!(store.steps("copy", "t1").expect("they can be read").len(), 1);
    store.checkpoint(&kept).expect("it is dropped");
    assert!(store.turns("s", 9).expect("nothing").is_empty(), "of a session that is not there nothing is kept");
}

fn turns_since_a_time_come_once_each_with_what_is_counted_of_their_steps(store: &mut dyn Both) {
    for name in ["a", "b"] {
        store.keep_all(&[session(name, 0, "t")]).expect("it is kept");
    }
    let early = Turn { started: at(-100), ..a_turn("a", "t0", AgentStatus::Completed) };
    let kept = [
        Checkpoint::Turn(early),
        turn("a", "t1", AgentStatus::Completed),
        step("a", "t1", 0, StepStatus::Completed),
        step("a", "t1", 1, StepStatus::Failed),
        turn("b", "t2", AgentStatus::Completed),
    ];
    store.checkpoint(&kept).expect("they are kept");
    assert!(store.fork("a", "copy", at(9)).expect("it is copied"));
    let told = |store: &dyn Both| {
        let mut told = Vec::new();
        let mut take = |turn: Turn, steps: Vec<StepFacts>| {
            let statuses: Vec<StepStatus> = steps.iter().map(|step| step.status).collect();
            told.push((turn.turn, statuses));
        };
        store.turns_since(at(0), &mut take).expect("they can be read");
        told
    };
    let steps = || vec![StepStatus::Completed, StepStatus::Failed];
    assert_eq!(told(store), [("t1".to_owned(), steps()), ("t2".to_owned(), Vec::new())]);
    store.remove(&["a".into()]).expect("it is removed");
    assert_eq!(told(store), [("t2".to_owned(), Vec::new()), ("t1".to_owned(), steps())], "the copy has them still");
}

macro_rules! conformance {
    ($($check:ident),* $(,)?) => {
        mod in_a_file {
            $(#[test]
            fn $check() {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("state/sessions.db");
                super::$check(&mut super::SqliteStore::create(&path).expect("it is made"));
            })*
        }
        mod in_memory {
            $(#[test]
            fn $check() {
                super::$check(&mut super::SqliteStore::in_memory().expect("it is made"));
            })*
        }
    };
}

conformance!(
    what_was_begun_gives_way_to_what_came_of_it,
    steps_come_in_their_order_and_turns_the_newest_first,
    a_session_is_unfinished_if_its_newest_turn_is,
    turns_go_with_their_session_and_a_copy_has_its_own,
    turns_since_a_time_come_once_each_with_what_is_counted_of_their_steps,
);
