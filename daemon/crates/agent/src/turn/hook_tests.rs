use std::ops::ControlFlow;

use super::*;
use crate::port::{Deadline, KnownAnswers};

/// Knows the answer.
struct Knows(&'static str);

#[async_trait]
impl KnownAnswers for Knows {
    async fn answer(&self, _state: &TurnState) -> Option<String> {
        Some(self.0.to_owned())
    }
}

/// Middleware that ends the turn before its n-th step.
#[derive(Default)]
struct Shape {
    breaks_before: Option<usize>,
    forgets_history: bool,
    steps: Mutex<Vec<StepKind>>,
}

/// Observer that records the end of the turn.
#[derive(Default)]
struct TurnEnds(Arc<Mutex<Vec<TurnResult>>>);

#[async_trait]
impl TurnObserver for TurnEnds {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::TurnEnded(_, result) = fact {
            self.0.lock().unwrap().push(result.clone());
        }
    }
}

fn stopped() -> TurnError {
    TurnError::Stopped { message: "enough".into(), hint: None }
}

#[async_trait]
impl Middleware for Shape {
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
}

#[tokio::test]
async fn an_answer_that_is_known_takes_no_step() {
    let ends = Arc::default();
    let mut turn = Turn::new(Vec::new()).observed_by(TurnEnds(Arc::clone(&ends)));
    turn.agent.ports.known_answers = Some(Arc::new(Knows("42")));
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
        let shape = Shape { breaks_before: Some(breaks_before), ..Shape::default() };
        let mut turn = Turn::new(scripts()).with(shape).observed_by(TurnEnds(Arc::clone(&ends)));
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

/// Cuts the turn off immediately.
struct Late;

#[async_trait]
impl Deadline for Late {
    async fn passed(&self) -> TurnError {
        stopped()
    }
}

#[tokio::test]
async fn a_turn_that_is_cut_off_ends_in_the_middle_of_a_step_and_says_why() {
    let mut turn = Turn::new(vec![vec![text("Well")]]);
    turn.agent.ports.deadline = Some(Arc::new(Late));
    assert_eq!(turn.run().await, Err(stopped()));
    assert!(turn.state.pending_calls().is_empty());
}

/// Observer that records the outcomes of calls.
#[derive(Default)]
struct Ends(Arc<Mutex<Vec<(String, StepResult, bool)>>>);

#[async_trait]
impl TurnObserver for Ends {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::CallEnded(call, outcome, result) = fact {
            self.0.lock().unwrap().push((call.id.clone(), outcome, result.is_error));
        }
    }
}

#[tokio::test]
async fn hooks_learn_how_each_call_went_also_of_those_that_could_not_be_run() {
    let ends = Arc::default();
    let unknown =
        ModelEvent::ToolCallDone(ToolCall { id: "2".into(), name: "ecko".into(), args: Ok(JsonObject::new().into()) });
    let scripts = vec![vec![call("1"), unknown, stop(StopClass::Tool)], done()];
    let mut turn = Turn::new(scripts).observed_by(Ends(Arc::clone(&ends)));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let expected = [("id-1".to_owned(), StepResult::Done, false), ("2".to_owned(), StepResult::Failed, true)];
    assert_eq!(*ends.lock().unwrap(), expected);
}
