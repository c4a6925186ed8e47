//! Runs hooks before a conversation is shortened.

use std::sync::Arc;

use async_trait::async_trait;
use cohab_context::{
    compaction::{Compactor, Shortened},
    elision::Target,
};
use cohab_model_api::Message;

use crate::{input::Occasion, turn::TurnHooks};

/// Shortens by another compactor, after hooks heard of it.
pub struct HookedCompactor {
    /// The other compactor.
    pub inner: Arc<dyn Compactor>,
    /// The hooks.
    pub hooks: Arc<TurnHooks>,
    /// `auto` or `manual`.
    pub trigger: &'static str,
}

#[async_trait]
impl Compactor for HookedCompactor {
    async fn shorten(&self, messages: &[Message], target: Target) -> Shortened {
        self.hooks.run(&Occasion::PreCompact { trigger: self.trigger }).await;
        self.inner.shorten(messages, target).await
    }
}
