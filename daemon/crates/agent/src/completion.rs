//! Completes one request next to the conversation, without streaming: no tools, nothing is shown, and only the whole answer counts.

use std::{sync::Arc, time::Duration};

use cohab_model_api::{ModelEvent, ModelProvider, ModelRequest, TokenUsage};
use futures::StreamExt;
use tokio::time::timeout;

/// Accounts for the tokens of an answer, and fills in their cost where it is known.
pub type Account = Arc<dyn Fn(&mut TokenUsage) + Send + Sync>;

/// Which model is asked, and the limits of its answer.
pub struct Completion<'a> {
    /// What the answer is called, for people: `summary`.
    pub what: &'a str,
    /// The model.
    pub provider: &'a dyn ModelProvider,
    /// Accounts for the tokens however the request ends, also if the caller has given up.
    pub account: &'a Account,
    /// Longest answer that is read, in bytes.
    pub max_bytes: usize,
    /// The longest wait for the answer.
    pub wait: Duration,
}

impl Completion<'_> {
    /// The whole answer to `request`.
    ///
    /// # Errors
    /// No answer came, or too long a one. The error is a sentence without a capital.
    pub async fn complete(&self, request: ModelRequest) -> Result<String, String> {
        let answer = timeout(self.wait, self.read(request)).await;
        answer.map_err(|_| format!("no {} came within {} s", self.what, self.wait.as_secs()))?
    }

    async fn read(&self, request: ModelRequest) -> Result<String, String> {
        let mut spent = Spent { usage: TokenUsage::default(), account: Arc::clone(self.account) };
        let mut events = self.provider.stream(request);
        let mut answer = String::new();
        while let Some(event) = events.next().await {
            match event {
                ModelEvent::TextDelta(text) => answer.push_str(&text),
                ModelEvent::Usage(usage) => spent.usage.update(usage),
                ModelEvent::Retrying { discard_shown: true, .. } => answer.clear(),
                ModelEvent::Stop { .. } => return Ok(answer),
                ModelEvent::Failed(error) => return Err(error.message),
                ModelEvent::Incomplete { reason } => return Err(reason),
                ModelEvent::ReasoningDelta(_)
                | ModelEvent::RefusalDelta(_)
                | ModelEvent::ToolCallDone(_)
                | ModelEvent::Notice(_)
                | ModelEvent::Retrying { .. } => {}
            }
            if answer.len() > self.max_bytes {
                return Err(format!("the {} was too long", self.what));
            }
        }
        Err(format!("the {} broke off", self.what))
    }
}

/// Records its usage when dropped.
struct Spent {
    usage: TokenUsage,
    account: Account,
}

impl Drop for Spent {
    fn drop(&mut self) {
        if self.usage != TokenUsage::default() {
            (self.account)(&mut self.usage);
        }
    }
}
