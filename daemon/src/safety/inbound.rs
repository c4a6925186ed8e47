//! What tools return becomes harmless text of bounded size before the model sees it.

use async_trait::async_trait;
use cohab_shell_relay::sanitize::sanitize;

use super::cut_middle;
use crate::agent::{Middleware, port::ToolResult};

/// Largest result of one tool call that is looked at; a longer one keeps its head and its tail. What the model gets is less.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// Sanitises and bounds results.
pub struct Inbound;

/// A result as the model may have it.
#[must_use]
pub fn harmless(content: &str) -> String {
    cut_middle(&sanitize(content), MAX_RESULT_BYTES)
}

#[async_trait]
impl Middleware for Inbound {
    async fn after_tool(&self, result: &mut ToolResult) {
        result.content = harmless(&result.content);
    }
}
