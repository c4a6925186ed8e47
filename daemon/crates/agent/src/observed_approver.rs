//! Observes an approver: the answers to all that asks through it are facts.

use std::sync::Arc;

use async_trait::async_trait;
use tokio::time::Instant;

use super::{
    observer::{Fact, TurnObserver},
    port::{ApprovalAnswer, ApprovalQuestion, Approver},
};

/// Asks through another approver, and tells the answers to observers, in their order.
pub struct ObservedApprover {
    /// The other approver.
    pub inner: Arc<dyn Approver>,
    /// The observers.
    pub observers: Vec<Arc<dyn TurnObserver>>,
}

impl ObservedApprover {
    async fn tell(&self, fact: Fact<'_>) {
        for observer in &self.observers {
            observer.observe(fact).await;
        }
    }
}

#[async_trait]
impl Approver for ObservedApprover {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        let began = Instant::now();
        let answer = self.inner.ask(question.clone()).await;
        self.tell(Fact::Answered(&question, &answer, began.elapsed())).await;
        answer
    }

    async fn ask_all(&self, questions: Vec<ApprovalQuestion>) -> Vec<ApprovalAnswer> {
        let began = Instant::now();
        let answers = self.inner.ask_all(questions.clone()).await;
        self.tell(Fact::AllAnswered(&questions, &answers, began.elapsed())).await;
        answers
    }
}
