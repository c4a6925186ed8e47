use std::sync::Mutex;

use async_trait::async_trait;
use cohab_model_api::{JsonObject, ToolCall};

use super::*;
use crate::port::{Effect, Intent, StepResult};

/// Writes down by its name what it is asked and what it learns.
struct Notes {
    name: &'static str,
    log: Arc<Mutex<Vec<String>>>,
    denies: bool,
}

impl Notes {
    fn note(&self, what: &str) {
        self.log.lock().unwrap().push(format!("{} {what}", self.name));
    }
}

#[async_trait]
impl Middleware for Notes {
    async fn before_step(&self, _step: StepKind, _state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.note("before_step");
        ControlFlow::Continue(())
    }

    async fn before_model(&self, _request: &mut ModelRequest, refused: Option<Overflow>) -> bool {
        self.note("before_model");
        refused.is_some()
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        self.note("before_tool");
        call.tool = self.name.to_owned();
        if self.denies { Err(Denial::CancelTurn) } else { Ok(()) }
    }

    async fn after_tool(&self, _result: &mut ToolResult) {
        self.note("after_tool");
    }
}

#[async_trait]
impl TurnObserver for Notes {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::StepBegins(_) => self.note("StepBegins"),
            Fact::Requested => self.note("Requested"),
            Fact::CallReached(call) => self.note(&format!("CallReached of {}", call.tool)),
            Fact::CallEnded(..) => self.note("CallEnded"),
            Fact::StepEnded(_) => self.note("StepEnded"),
            _ => {}
        }
    }
}

/// An observer, both, middleware, and another observer.
fn stack(denies: bool) -> (TurnStack, Arc<Mutex<Vec<String>>>) {
    let log = Arc::<Mutex<Vec<String>>>::default();
    let notes = |name, denies| Arc::new(Notes { name, log: Arc::clone(&log), denies });
    let mut stack = TurnStack::default();
    stack.observe(notes("outer", false));
    stack.change_and_observe(notes("both", false));
    stack.change(notes("gate", denies));
    stack.observe(notes("inner", false));
    (stack, log)
}

fn call() -> ToolCall {
    ToolCall { id: "1".into(), name: "wish".into(), args: Ok(JsonObject::new().into()) }
}

fn planned() -> PlannedCall {
    let intent = Intent { title: String::new(), effect: Effect::Internal };
    PlannedCall::new(&call(), JsonObject::new(), intent, "/".into())
}

#[tokio::test]
async fn hooks_and_facts_run_inwards_by_the_list_and_back_in_reverse() {
    let (stack, log) = stack(false);
    let taken = || std::mem::take(&mut *log.lock().unwrap());
    let mut state = TurnState::default();
    assert!(stack.before_step(StepKind::ToolCalls, &mut state).await.is_continue());
    assert_eq!(
        taken(),
        ["outer StepBegins", "both before_step", "both StepBegins", "gate before_step", "inner StepBegins"]
    );
    let mut request = ModelRequest::of(Vec::new());
    assert!(!stack.before_model(&mut request, None).await);
    assert_eq!(
        taken(),
        ["outer Requested", "both before_model", "both Requested", "gate before_model", "inner Requested"]
    );
    assert!(stack.before_model(&mut request, Some(Overflow::default())).await);
    taken();
    let mut result = ToolResult { call_id: "1".into(), tool: "wish".into(), content: String::new(), is_error: false };
    stack.after_tool(&mut result).await;
    assert_eq!(taken(), ["gate after_tool", "both after_tool"]);
    stack.tell(Fact::CallEnded(&call(), StepResult::Done, &result)).await;
    assert_eq!(taken(), ["inner CallEnded", "both CallEnded", "outer CallEnded"]);
    stack.tell(Fact::StepEnded(&state)).await;
    assert_eq!(taken(), ["inner StepEnded", "both StepEnded", "outer StepEnded"]);
}

#[tokio::test]
async fn an_observer_inside_of_the_gate_learns_of_what_may_run() {
    let expected = [
        "outer CallReached of wish",
        "both before_tool",
        "both CallReached of both",
        "gate before_tool",
        "inner CallReached of gate",
    ];
    let (allows, log) = stack(false);
    assert_eq!(allows.before_tool(&mut planned()).await, Ok(()));
    assert_eq!(*log.lock().unwrap(), expected);
    let (denies, log) = stack(true);
    assert_eq!(denies.before_tool(&mut planned()).await, Err(Denial::CancelTurn));
    assert_eq!(*log.lock().unwrap(), expected[..4]);
}
