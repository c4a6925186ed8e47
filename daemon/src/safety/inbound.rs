//! What tools return becomes harmless text of bounded size before the model sees it.

use async_trait::async_trait;
use cohab_shell_relay::sanitize::sanitize;

use super::cut_middle;
use crate::agent::{Middleware, port::ToolResult};

/// Largest result of one tool call that is looked at; a longer one keeps its head and its tail. What the model gets is less.
const MAX_RESULT_BYTES: usize = 4 * 1024 * 1024;

/// Sanitises and bounds results.
pub struct Inbound;

#[async_trait]
impl Middleware for Inbound {
    async fn after_tool(&self, result: &mut ToolResult) {
        result.content = cut_middle(&sanitize(&result.content), MAX_RESULT_BYTES);
    }
}
