//! The summarizing strategy replaces dropped messages by a model's summary.

use std::{sync::Arc, time::Duration};

use async_trait::async_trait;
use cohab_agent::completion::{Account, Completion};
use cohab_model_api::{Message, ModelProvider, ModelRequest};
use cohab_text::tokens::estimate_tokens;

use super::{Compactor, Shortened, Sliding, block_tokens, summary};
use crate::{
    elision::{Gap, Target},
    fit::{fit, fit_request},
};

/// Longest wait for a summary; without one the turn continues.
const SUMMARY_WAIT: Duration = Duration::from_secs(90);
/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// Lets a model sum up dropped messages; on failure they are dropped without a summary, as with [`Sliding`].
pub struct Summarize {
    provider: Arc<dyn ModelProvider>,
    request_tokens: u64,
    account: Account,
}

impl Summarize {
    /// `provider` writes the summaries. Its requests may have `request_tokens` by the estimate; `account` takes their usage.
    #[must_use]
    pub fn new(provider: Arc<dyn ModelProvider>, request_tokens: u64, account: Account) -> Self {
        Self { provider, request_tokens, account }
    }

    async fn summary(&self, gap: &Gap, target: Target) -> Result<String, String> {
        if self.provider.info().is_offline {
            return Err("there is no model to summarize it".to_owned());
        }
        let text = summary::material(gap.earlier(), &gap.dropped, gap.question());
        let before = estimate_tokens(&text);
        let messages = vec![Message::user(text)];
        let mut request =
            ModelRequest { system: summary::PROMPT.to_owned(), allow_tools: false, ..ModelRequest::of(messages) };
        if fit_request(&mut request, self.request_tokens) > self.request_tokens {
            return Err("the model is too small to summarize it".to_owned());
        }
        let completion = Completion {
            what: "summary",
            provider: self.provider.as_ref(),
            account: &self.account,
            max_bytes: MAX_ANSWER_BYTES,
            wait: SUMMARY_WAIT,
        };
        let answer = completion.complete(request).await?;
        let summary = summary::checked(&answer, block_tokens(target)).ok_or("the reply was not a summary")?;
        if estimate_tokens(&summary) < before { Ok(summary) } else { Err("the summary was too long".to_owned()) }
    }
}

#[async_trait]
impl Compactor for Summarize {
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened {
        let gap = Gap::find(messages, target, block_tokens(target), false);
        let Some(gap) = gap.filter(|gap| !gap.dropped.is_empty()) else {
            return Sliding.shorten(messages, target).await;
        };
        match self.summary(&gap, target).await {
            Ok(summary) => {
                let shortened = gap.shortened;
                let mut left = gap.close(&summary);
                fit(&mut left, target.tokens);
                let dropped = messages.len() - left.len();
                Shortened { messages: left, dropped, shortened, summary: Some(summary), trouble: None }
            }
            Err(trouble) => Shortened { trouble: Some(trouble), ..Sliding.shorten(messages, target).await },
        }
    }
}
