//! A goal: a turn goes on until a check command succeeds, however often the model calls its answer the last one.

use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cohab_model_api::{JsonObject, ToolCall, ToolResult};

use crate::{
    builtin_tools::LIVE,
    observer::{Fact, TurnObserver},
    port::StepResult,
    state::Attachments,
};

/// Most checks of one turn.
pub const MAX_ROUNDS: u32 = 10;
/// What a question with a goal begins with.
const COMMAND: &str = "/goal";
/// Parts the goal from its check.
const SEPARATOR: &str = "::";

/// What the user wants, and the command that shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoalWish<'a> {
    /// The goal, in the user's words.
    pub what: &'a str,
    /// The shell line that succeeds when the goal is reached.
    pub check: &'a str,
}

impl<'a> GoalWish<'a> {
    /// Reads a question such as `/goal the tests pass :: cargo test`; `None` for any other question.
    #[must_use]
    pub fn parse(question: &'a str) -> Option<Self> {
        let (what, check) =
            question.strip_prefix(COMMAND)?.strip_prefix(char::is_whitespace)?.rsplit_once(SEPARATOR)?;
        let (what, check) = (what.trim(), check.trim());
        (!what.is_empty() && !check.is_empty()).then_some(Self { what, check })
    }

    /// The question for the model.
    #[must_use]
    pub fn question(&self) -> String {
        format!(
            "{}\n\nThis is a goal: it is reached when `{}` succeeds. That is run after each of your answers, and you go on until then. \
             Do not weaken what it checks.",
            self.what, self.check
        )
    }
}

/// The goal of a turn, and how far it is.
pub struct Goal {
    check: String,
    state: Mutex<GoalState>,
}

#[derive(Clone, Copy, Default)]
struct GoalState {
    rounds: u32,
    /// Whether the check of this round has no result. The model chooses the ids of its own calls, and may choose that of a check.
    is_checking: bool,
    last: Option<StepResult>,
}

/// What becomes of a turn with a goal when the model ends its answer.
#[derive(Clone, Debug)]
pub enum GoalStep {
    /// The check runs: this message, with the call to be attached to it.
    Check(String, Attachments),
    /// It was not reached with the last check.
    Limit,
}

/// How a turn with a goal ends after a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalEnd {
    /// The check succeeded.
    Reached,
    /// The user or the policy refused the check: nothing shows whether the goal is reached.
    Refused,
}

impl Goal {
    /// Reached when this shell line succeeds.
    #[must_use]
    pub fn new(check: &str) -> Self {
        Self { check: check.to_owned(), state: Mutex::default() }
    }

    /// The check.
    #[must_use]
    pub fn check(&self) -> &str {
        &self.check
    }

    /// The number of checks so far.
    #[must_use]
    pub fn rounds(&self) -> u32 {
        self.state().rounds
    }

    /// The model calls its answer the last one.
    #[must_use]
    pub fn answered(&self) -> GoalStep {
        let mut state = self.state();
        if state.rounds == MAX_ROUNDS {
            return GoalStep::Limit;
        }
        state.rounds += 1;
        (state.is_checking, state.last) = (true, None);
        let args = JsonObject::from_iter([("command".to_owned(), self.check.clone().into())]);
        let call = ToolCall { id: self.call_id(state.rounds), name: LIVE.to_owned(), args: Ok(args.into()) };
        let message = format!("[check {} of {MAX_ROUNDS}: `{}`]", state.rounds, self.check);
        GoalStep::Check(message, Attachments { calls: vec![call], fold: with_result, is_check: true })
    }

    /// The end that the last check gives the turn; `None` if the model goes on.
    #[must_use]
    pub fn end(&self) -> Option<GoalEnd> {
        match self.state().last? {
            StepResult::Done => Some(GoalEnd::Reached),
            StepResult::Refused => Some(GoalEnd::Refused),
            StepResult::Failed | StepResult::Cancelled => None,
        }
    }

    fn call_id(&self, round: u32) -> String {
        format!("goal-{round}")
    }

    fn state(&self) -> MutexGuard<'_, GoalState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl TurnObserver for Goal {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::CallEnded(call, outcome, _) = fact {
            let mut state = self.state();
            if state.is_checking && call.id == self.call_id(state.rounds) {
                (state.is_checking, state.last) = (false, Some(outcome));
            }
        }
    }
}

/// The message of a check with its result. It stays in the conversation, also if the check succeeded.
fn with_result(message: &str, _: &[ToolCall], results: &[ToolResult]) -> String {
    let results: String = results.iter().map(|result| format!("\n{}", result.content)).collect();
    format!("{message}{results}\n\nThe goal is reached only when this check succeeds. Until then, go on.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_with_a_goal_names_what_and_how_it_is_seen() {
        assert!(GoalWish::parse("/goal\tx :: y").is_some());
        let wish = GoalWish::parse("/goal a :: b holds :: cargo test --all").unwrap();
        assert_eq!((wish.what, wish.check), ("a :: b holds", "cargo test --all"));
        for other in ["/goal", "/goal x", "/goal :: x", "/goal x ::", "goal x :: y", "/goals x :: y"] {
            assert_eq!(GoalWish::parse(other), None, "{other}");
        }
    }

    #[tokio::test]
    async fn only_the_result_of_the_check_ends_the_turn() {
        let goal = Goal::new("true");
        let result = ToolResult { call_id: "x".into(), tool: LIVE.into(), content: String::new(), is_error: false };
        for (outcome, end) in [
            (StepResult::Failed, None),
            (StepResult::Refused, Some(GoalEnd::Refused)),
            (StepResult::Done, Some(GoalEnd::Reached)),
        ] {
            let GoalStep::Check(_, Attachments { calls, .. }) = goal.answered() else { panic!("a check") };
            let other = ToolCall { id: "other".into(), ..calls[0].clone() };
            goal.observe(Fact::CallEnded(&other, StepResult::Done, &result)).await;
            assert_eq!(goal.end(), None);
            goal.observe(Fact::CallEnded(&calls[0], outcome, &result)).await;
            assert_eq!(goal.end(), end);
            // A later call of the model with the id of the check.
            goal.observe(Fact::CallEnded(&calls[0], StepResult::Done, &result)).await;
            assert_eq!(goal.end(), end);
        }
        let GoalStep::Check(..) = goal.answered() else { panic!("a check") };
        assert_eq!(goal.end(), None, "the result of the round before counts no more");
    }

    #[test]
    fn the_checks_are_counted() {
        let goal = Goal::new("true");
        let checks = (0..100).take_while(|_| matches!(goal.answered(), GoalStep::Check(..))).count();
        assert_eq!((checks, goal.rounds()), (10, 10));
    }
}
