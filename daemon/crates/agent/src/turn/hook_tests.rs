use std::ops::ControlFlow;

use cohab_model_api::ToolResult;

use super::*;

/// Middleware that answers in the model's place, or ends the turn before its n-th step; records the end of the turn.
#[derive(Default)]
struct Shape {
    answer: Option<&'static str>,
    breaks_before: Option<usize>,
    forgets_history: bool,
    steps: Mutex<Vec<StepKind>>,
    ends: Arc<Mutex<Vec<TurnResult>>>,
}

fn stopped() -> TurnError {
    TurnError::Stopped { message: "enough".into(), hint: None }
}

#[async_trait]
impl Middleware for Shape {
    async fn before_turn(&self, _state: &TurnState) -> Option<String> {
        self.answer.map(str::to_owned)
    }

    async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        if self.forgets_history {
            state.rewrite(state.messages().last().cloned().into_iter().collect());
        }
        let mut steps = self.steps.lock().unwrap();
        steps.push(step);
        if self.breaks_before == Some(steps.len()) {
            return ControlFlow::Break(Err(stopped()));
        }
        ControlFlow::Continue(())
    }

    async fn after_turn(&self, _state: &TurnState, result: &TurnResult) {
        self.ends.lock().unwrap().push(result.clone());
    }
}

#[tokio::test]
async fn an_answer_that_is_known_takes_no_step() {
    let ends = Arc::default();
    let mut turn =
        Turn::new(Vec::new()).with(Shape { answer: Some("42"), ends: Arc::clone(&ends), ..Shape::default() });
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.last_text(), "42");
    assert_eq!(turn.events(), [TurnEvent::Text("42".into())]);
    assert_eq!(turn.state.model_calls(), 0);
    assert_eq!(*ends.lock().unwrap(), [Ok(StopReason::Answered)]);
}

#[tokio::test]
async fn a_turn_that_a_hook_ends_leaves_no_call_without_its_result() {
    let scripts = || vec![vec![call("1"), stop(StopClass::Tool)], done()];
    for (breaks_before, messages) in [(1, 1), (2, 3), (3, 3)] {
        let ends = Arc::default();
        let shape = Shape { breaks_before: Some(breaks_before), ends: Arc::clone(&ends), ..Shape::default() };
        let mut turn = Turn::new(scripts()).with(shape);
        assert_eq!(turn.run().await, Err(stopped()));
        assert_eq!(turn.state.messages().len(), messages, "before step {breaks_before}");
        assert!(turn.state.pending_calls().is_empty());
        assert_eq!(*ends.lock().unwrap(), [Err(stopped())]);
        if breaks_before == 2 {
            assert_eq!(turn.results(), [format!("!{NOT_RUN}")]);
            assert!(turn.echo.0.lock().unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn a_hook_may_shorten_the_conversation_before_a_model_call_only() {
    let scripts = vec![vec![call("1"), stop(StopClass::Tool)], done()];
    let mut turn = Turn::new(scripts).with(Shape { forgets_history: true, ..Shape::default() });
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let sent: Vec<usize> =
        turn.provider.requests.lock().unwrap().iter().map(|request| request.messages.len()).collect();
    // The call waited for its result when the hook was asked before it: the call was not removed.
    assert_eq!(sent, [1, 1]);
    assert_eq!(turn.echo.0.lock().unwrap().len(), 1);
}

/// Middleware that cuts the turn off immediately.
struct Late;

#[async_trait]
impl Middleware for Late {
    async fn abort_signal(&self) -> TurnError {
        stopped()
    }
}

#[tokio::test]
async fn a_turn_that_is_cut_off_ends_in_the_middle_of_a_step_and_says_why() {
    let mut turn = Turn::new(vec![vec![text("Well")]]).with(Late);
    assert_eq!(turn.run().await, Err(stopped()));
    assert!(turn.state.pending_calls().is_empty());
}

/// Middleware that records the outcomes of calls.
#[derive(Default)]
struct Ends(Arc<Mutex<Vec<(String, StepResult, bool)>>>);

impl Middleware for Ends {
    fn call_ended(&self, call: &ToolCall, outcome: StepResult, result: &ToolResult) {
        self.0.lock().unwrap().push((call.id.clone(), outcome, result.is_error));
    }
}

#[tokio::test]
async fn hooks_learn_how_each_call_went_also_of_those_that_could_not_be_run() {
    let ends = Arc::default();
    let unknown =
        ModelEvent::ToolCallDone(ToolCall { id: "2".into(), name: "ecko".into(), args: Ok(JsonObject::new().into()) });
    let scripts = vec![vec![call("1"), unknown, stop(StopClass::Tool)], done()];
    let mut turn = Turn::new(scripts).with(Ends(Arc::clone(&ends)));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let expected = [("id-1".to_owned(), StepResult::Done, false), ("2".to_owned(), StepResult::Failed, true)];
    assert_eq!(*ends.lock().unwrap(), expected);
}
