//! Asks a model outside the conversation: no tools, nothing is shown, and only a complete answer counts.

use std::{sync::Arc, time::Duration};

use cohab_model_api::{ModelEvent, ModelProvider, ModelRequest, TokenUsage};
use futures::StreamExt;
use tokio::time::timeout;

/// Records the usage of an answer, and completes its cost as far as it is known.
pub type Account = Arc<dyn Fn(&mut TokenUsage) + Send + Sync>;

/// A request to a model, with its limits.
pub struct Ask<'a> {
    /// The name of the answer, for people: `summary`.
    pub what: &'a str,
    /// The model.
    pub provider: &'a dyn ModelProvider,
    /// Records the usage in any case, even if no caller waits any more.
    pub account: &'a Account,
    /// Longest answer that is read, in bytes.
    pub max_bytes: usize,
    /// Longest wait.
    pub wait: Duration,
}

impl Ask<'_> {
    /// The whole answer to `request`.
    ///
    /// # Errors
    /// No answer came, or too long a one; a sentence without a capital.
    pub async fn answer(&self, request: ModelRequest) -> Result<String, String> {
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
