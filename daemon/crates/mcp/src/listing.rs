//! The tools of a server, read in pages. Names, descriptions and schemas are the server's text: checked and bounded here.

use std::{sync::Arc, time::Duration};

use rmcp::{
    model::{PaginatedRequestParams, Tool},
    service::ServiceError,
};
use serde_json::{Value, json};
use tokio::time::timeout;

use crate::{
    connection::{Connection, Refused},
    digest, start_error,
};

/// A list has so long, all of its pages together.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// Most pages of a list.
const MAX_PAGES: usize = 200;
/// Most tools of a server; the rest is not used.
pub const MAX_TOOLS: usize = 10_000;
/// Most bytes of all definitions of a server.
const MAX_DEFINITION_BYTES: usize = 16 * 1024 * 1024;
/// Longest name of a tool.
const MAX_NAME_BYTES: usize = 128;

/// The tools of a server.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// The tools, in the order of the server; no name twice.
    pub tools: Vec<ListedTool>,
    /// Tools that were left out: too many, too long, or with a name that is not valid.
    pub left_out: usize,
}

/// A tool as its server describes it.
#[derive(Clone, Debug)]
pub struct ListedTool {
    /// Letters, digits, `-`, `_`, `.` and `/`.
    pub name: String,
    /// The server's text.
    pub description: String,
    /// Its schema, as JSON.
    pub schema: Arc<str>,
    /// The server says that it only reads. A hint, no right.
    pub claims_to_read: bool,
    /// The digest of name, description, schema and hints.
    pub digest: String,
}

impl Listing {
    /// The tool of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

/// Asks for all tools.
pub(crate) async fn read(connection: &Connection) -> Result<Listing, Refused> {
    let reading = async {
        let mut listing = Collected::default();
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            let page = connection.ask().peer().list_tools(params).await?;
            let is_full = page.tools.iter().filter(|tool| listing.add(tool)).count() > 0;
            cursor = page.next_cursor;
            if is_full || cursor.is_none() {
                break;
            }
        }
        Ok::<_, ServiceError>(listing.listing)
    };
    match timeout(LIST_LIMIT, reading).await {
        Ok(Ok(listing)) => Ok(listing),
        // A server without tools may not know the request.
        Ok(Err(ServiceError::McpError(error))) if error.code == rmcp::model::ErrorCode::METHOD_NOT_FOUND => {
            Ok(Listing::default())
        }
        Ok(Err(error)) => Err(connection.refused(&error)),
        Err(_) => Err(start_error::too_slow(LIST_LIMIT).into()),
    }
}

#[derive(Default)]
struct Collected {
    listing: Listing,
    names: std::collections::HashSet<String>,
    bytes: usize,
}

impl Collected {
    /// Adds a tool; returns whether no more fit.
    fn add(&mut self, tool: &Tool) -> bool {
        let listed = listed(tool);
        let bytes = listed.description.len() + listed.schema.len();
        let is_full = self.listing.tools.len() >= MAX_TOOLS || self.bytes + bytes > MAX_DEFINITION_BYTES;
        if is_full || !is_name(&listed.name) || !self.names.insert(listed.name.clone()) {
            self.listing.left_out += 1;
            return is_full;
        }
        self.bytes += bytes;
        self.listing.tools.push(listed);
        false
    }
}

fn listed(tool: &Tool) -> ListedTool {
    let description = tool.description.as_deref().unwrap_or_default().to_owned();
    let schema = Value::Object(tool.input_schema.as_ref().clone());
    let hints = tool.annotations.as_ref();
    let claims_to_read = hints.and_then(|hints| hints.read_only_hint).unwrap_or_default();
    let whole = json!({"name": tool.name, "description": description, "schema": schema, "hints": hints});
    ListedTool {
        name: tool.name.to_string(),
        description,
        schema: schema.to_string().into(),
        claims_to_read,
        digest: digest::of(&whole),
    }
}

fn is_name(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte);
    !name.is_empty() && name.len() <= MAX_NAME_BYTES && name.bytes().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(value: &Value) -> Tool {
        serde_json::from_value(value.clone()).unwrap()
    }

    #[test]
    fn names_that_imitate_or_repeat_are_left_out() {
        let mut collected = Collected::default();
        for name in ["now", "now", "a b", "x\u{1b}[2J", "", "ns/now.v2", &"x".repeat(200)] {
            collected.add(&tool(&json!({"name": name, "inputSchema": {"type": "object"}})));
        }
        let names: Vec<&str> = collected.listing.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!((names, collected.listing.left_out), (vec!["now", "ns/now.v2"], 5));
    }

    #[test]
    fn each_change_of_a_definition_changes_the_digest() {
        let base = json!({"name": "now", "description": "a", "inputSchema": {"type": "object"}});
        let digest = |change: Value| {
            let mut value = base.clone();
            value.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
            listed(&tool(&value)).digest
        };
        let same = digest(json!({}));
        assert_eq!(same, digest(json!({})));
        for change in [
            json!({"description": "b"}),
            json!({"inputSchema": {"type": "object", "required": ["x"]}}),
            json!({"annotations": {"readOnlyHint": true}}),
        ] {
            assert_ne!(same, digest(change.clone()), "{change}");
        }
    }

    #[test]
    fn there_is_a_most_number_of_tools() {
        let mut collected = Collected::default();
        for number in 0..MAX_TOOLS + 5 {
            collected.add(&tool(&json!({"name": format!("t{number}"), "inputSchema": {"type": "object"}})));
        }
        assert_eq!((collected.listing.tools.len(), collected.listing.left_out), (MAX_TOOLS, 5));
    }
}
