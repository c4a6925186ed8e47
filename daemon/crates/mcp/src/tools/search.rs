//! `mcp_search` finds tools of servers by words.

use std::{cmp::Reverse, fmt::Write as _, path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_teams::outside_line;
use cohab_text::{cut::cut_middle, sanitize::one_line};
use futures::{FutureExt as _, StreamExt as _, stream};
use serde::Deserialize;
use serde_json::json;
use tokio::time::timeout;

use super::turn_servers::{SHOWN_COLUMNS, TurnServers, arguments};
use crate::{
    consents::ToolConsent,
    listing::{ListedTool, Listing},
    search::{score, words},
    server::Server,
};

const DESCRIPTION: &str =
    "Finds tools of the MCP servers by words, with their arguments. Without words it lists the tools of a server.";
/// So many servers are started at a time.
const AT_ONCE: usize = 8;
/// So many tools are described.
const DESCRIBED: usize = 8;
/// So many names are listed.
const NAMED: usize = 100;
/// Longest description and schema that are shown, in bytes.
const DESCRIPTION_BYTES: usize = 600;
const SCHEMA_BYTES: usize = 3_000;

pub(super) struct SearchTools(pub(super) Arc<TurnServers>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SearchArguments {
    #[serde(default)]
    query: String,
    #[serde(default)]
    server: Option<String>,
}

/// The tools of one server, or why there are none.
type FoundTools<'a> = (&'a Server, Result<Arc<Listing>, String>);

#[async_trait]
impl Tool for SearchTools {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "mcp_search".into(),
            description: DESCRIPTION.into(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "query": {"type": "string", "description": "What the tool should do, in a few words"},
                    "server": {"type": "string", "description": "Name of a server; without it, all are searched"},
                },
                "required": ["query"],
            }),
        }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let SearchArguments { query, server } = arguments(args)?;
        let server = server.filter(|name| !name.is_empty()).map(|name| self.0.find(&name)).transpose()?;
        if words(&query).is_empty() && server.is_none() {
            return Err("argument `query` has no words; name a `server` to list its tools".into());
        }
        let place = server.map(|server| format!("{}: ", server.name)).unwrap_or_default();
        Ok(Intent { title: one_line(&format!("{place}{query}"), 2 * SHOWN_COLUMNS), effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let SearchArguments { query, server } = arguments(args)?;
        let servers = match server.filter(|name| !name.is_empty()) {
            Some(name) => vec![self.0.find(&name)?],
            None => self.0.catalog.servers.iter().collect(),
        };
        let asking: Vec<_> = servers.into_iter().map(|server| self.ask(server).boxed()).collect();
        let found: Vec<FoundTools<'_>> = tokio::select! {
            biased;
            () = context.cancel.cancelled() => return Err("cancelled before it ended".into()),
            found = stream::iter(asking).buffered(AT_ONCE).collect() => found,
        };
        Ok(self.output(&words(&query), &found))
    }
}

impl SearchTools {
    async fn ask<'a>(&'a self, server: &'a Server) -> FoundTools<'a> {
        let (pool, surroundings) = (Arc::clone(&self.0.pool), self.0.surroundings.clone());
        let asked = server.clone();
        // A first start may download the program: it continues when the search waits no longer.
        let starting = tokio::spawn(async move { pool.tools(&asked, &surroundings).await });
        let tools = match timeout(self.0.search_wait, starting).await {
            Ok(Ok(tools)) => tools,
            Ok(Err(_)) => Err("it could not be asked".into()),
            Err(_) => Err("it has not started yet; try again later".into()),
        };
        (server, tools)
    }

    fn output(&self, wanted: &[String], found: &[FoundTools<'_>]) -> ToolOutput {
        let all = found.iter().filter_map(|(server, tools)| Some((*server, tools.as_ref().ok()?)));
        let all = all.flat_map(|(server, tools)| tools.tools.iter().map(move |tool| (server, tool)));
        let mut fitting: Vec<(u32, &Server, &ListedTool)> = match wanted {
            [] => all.map(|(server, tool)| (0, server, tool)).collect(),
            wanted => {
                let scored = all.map(|(server, tool)| (score(wanted, &server.name, tool), server, tool));
                scored.filter(|(score, ..)| *score > 0).collect()
            }
        };
        fitting.sort_by_key(|(score, ..)| Reverse(*score));
        let described = if wanted.is_empty() && fitting.len() > DESCRIBED { 0 } else { DESCRIBED };
        let mut text = String::new();
        for (_, server, tool) in fitting.iter().take(described) {
            describe(&mut text, server, tool);
        }
        let rest: Vec<String> =
            fitting.iter().skip(described).map(|(_, server, tool)| format!("{}: {}", server.name, tool.name)).collect();
        if !rest.is_empty() {
            let more = if rest.len() > NAMED { format!("; and {} more", rest.len() - NAMED) } else { String::new() };
            let named = rest[..rest.len().min(NAMED)].join("; ");
            // Writing to a text cannot fail.
            let _ = writeln!(text, "Not described: {named}{more}");
        }
        if fitting.is_empty() {
            text += "No tool fits. Use other words, or name a server and no words to list its tools.\n";
        }
        let faults = found.iter().filter_map(|(server, tools)| Some((server, tools.as_ref().err()?)));
        let mut has_faults = false;
        for (server, reason) in faults {
            has_faults = true;
            let _ = writeln!(text, "Not available: {}: {reason}", server.name);
        }
        let strange = fitting.iter().filter(|(_, server, tool)| !self.is_known_to_user(server, tool));
        let mut sources: Vec<String> = strange.map(|(_, server, _)| server.by()).collect();
        sources.dedup();
        if !sources.is_empty() || has_faults {
            let source = sources.first().cloned().unwrap_or_else(|| "an MCP server".to_owned());
            text = format!("{}\n{text}", outside_line(&source));
        }
        let summary = if fitting.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", fitting.len()) };
        ToolOutput::text(text, summary)
    }

    /// Whether the user allowed the tool with just this description.
    fn is_known_to_user(&self, server: &Server, tool: &ListedTool) -> bool {
        let consent = self.0.consent(server).unwrap_or_default();
        matches!(consent.tools.get(&tool.name), Some(ToolConsent::Allowed { definition }) if *definition == tool.digest)
    }
}

fn describe(text: &mut String, server: &Server, tool: &ListedTool) {
    let hint = if tool.claims_to_read { " (says it only reads)" } else { "" };
    let description = cut_middle(tool.description.trim(), DESCRIPTION_BYTES);
    let schema = cut_middle(&tool.schema, SCHEMA_BYTES);
    // Writing to a text cannot fail.
    let _ = writeln!(text, "server {}, tool {}{hint}\n{description}\narguments: {schema}\n", server.name, tool.name);
}
