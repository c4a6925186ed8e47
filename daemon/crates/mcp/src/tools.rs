//! The model's tools for servers: one to find tools, one to call them, one to read what a server keeps.

mod call;
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
    vec![
        Arc::new(search::SearchTools(Arc::clone(servers))),
        Arc::new(call::CallTool(Arc::clone(servers))),
        Arc::new(read::ReadResource(Arc::clone(servers))),
    ]
}

#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
