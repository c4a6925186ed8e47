//! The model's tools for servers: one to find tools, one to call them, one to read what a server keeps, and one for a prompt that the
//! user asks for.

mod call;
mod prompt;
mod read;
mod search;
mod turn_servers;

use std::sync::Arc;

use cohab_agent::port::Tool;

pub use turn_servers::{Judged, SEARCH_WAIT, TurnServers};

/// The tools; none without servers.
#[must_use]
pub fn tools(servers: &Arc<TurnServers>) -> Vec<Arc<dyn Tool>> {
    if servers.catalog.servers.is_empty() {
        return Vec::new();
    }
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(search::SearchTools(Arc::clone(servers))),
        Arc::new(call::CallTool(Arc::clone(servers))),
        Arc::new(read::ReadResource(Arc::clone(servers))),
    ];
    if servers.asked_prompt().is_some() {
        tools.push(Arc::new(prompt::GetPrompt(Arc::clone(servers))));
    }
    tools
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
