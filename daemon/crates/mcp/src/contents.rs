//! Lists and reads resources of servers, templates of their addresses, and prompts.

use std::{fmt::Write as _, sync::Arc};

use cohab_agent::port::Approver;
use cohab_text::sanitize::one_line;
use rmcp::{
    model::{
        ErrorCode, GetPromptRequestParams, GetPromptResult, JsonObject, PaginatedRequestParams, Prompt,
        ReadResourceRequestParams, ReadResourceResult, Resource, ResourceTemplate,
    },
    service::ServiceError,
};
use tokio::time::timeout;

use crate::{
    connection::Connection,
    pool::{CALL_LIMIT, ServerPool, Surroundings},
    server::Server,
};

/// Most resources, templates or prompts that are listed.
const MAX_ITEMS: usize = 200;
/// Most pages of a list.
const MAX_PAGES: usize = 20;
/// Longest name, description and hint that are shown, in columns.
const SHOWN_COLUMNS: usize = 200;

/// The resources of a server, and how addresses of more are built.
#[derive(Debug, Default)]
pub struct Resources {
    /// The first resources.
    pub listed: Vec<Resource>,
    /// The first templates.
    pub templates: Vec<ResourceTemplate>,
}

impl Resources {
    /// A line for each; a sentence if there are none.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let mut line = |uri: &str, name: &str, description: Option<&str>| {
            let description = one_line(description.unwrap_or_default(), SHOWN_COLUMNS);
            // Writing to a text cannot fail.
            let _ = writeln!(text, "{} {}: {description}", one_line(uri, SHOWN_COLUMNS), one_line(name, SHOWN_COLUMNS));
        };
        for one in &self.listed {
            line(&one.uri, &one.name, one.description.as_deref());
        }
        for one in &self.templates {
            line(&one.uri_template, &format!("{} (a template)", one.name), one.description.as_deref());
        }
        if text.is_empty() { "It lists no resources.".to_owned() } else { text }
    }
}

/// A prompt with what it wants: `/docs:summarise PAGE [LENGTH]`.
#[must_use]
pub fn usage(server: &Server, prompt: &Prompt) -> String {
    let mut text = format!("/{}:{}", server.name, prompt.name);
    for argument in prompt.arguments.iter().flatten() {
        let name = argument.name.to_uppercase();
        text += &if argument.required == Some(true) { format!(" {name}") } else { format!(" [{name}]") };
    }
    one_line(&text, SHOWN_COLUMNS)
}

/// The next page of a list, with the cursor of the one behind it.
macro_rules! pages {
    ($connection:expr, $list:ident, $field:ident) => {{
        let (mut all, mut cursor) = (Vec::new(), None);
        for _ in 0..MAX_PAGES {
            let params = cursor.take().map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
            match $connection.ask().peer().$list(params).await {
                Ok(page) => {
                    all.extend(page.$field);
                    cursor = page.next_cursor;
                }
                // A server that has none of them may not know the request.
                Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => break,
                Err(error) => return Err(error),
            }
            if cursor.is_none() || all.len() >= MAX_ITEMS {
                break;
            }
        }
        all.truncate(MAX_ITEMS);
        Ok::<_, ServiceError>(all)
    }};
}

async fn resources(connection: &Connection) -> Result<Resources, ServiceError> {
    let listed = resources_listed(connection).await?;
    Ok(Resources { listed, templates: templates_listed(connection).await? })
}

async fn resources_listed(connection: &Connection) -> Result<Vec<Resource>, ServiceError> {
    pages!(connection, list_resources, resources)
}

async fn templates_listed(connection: &Connection) -> Result<Vec<ResourceTemplate>, ServiceError> {
    pages!(connection, list_resource_templates, resource_templates)
}

async fn prompts_listed(connection: &Connection) -> Result<Vec<Prompt>, ServiceError> {
    pages!(connection, list_prompts, prompts)
}

impl ServerPool {
    /// Reads a resource. The server is started if it does not run, here and below.
    ///
    /// # Errors
    /// A sentence: the server cannot be started, ended, or refused.
    pub async fn read(
        &self,
        server: &Server,
        surroundings: &Surroundings,
        uri: &str,
    ) -> Result<ReadResourceResult, String> {
        let request = ReadResourceRequestParams::new(uri.to_owned());
        let (slot, connection) = self.ready(server, surroundings).await?;
        slot.answer(&connection, timeout(CALL_LIMIT, connection.ask().read_resource(request)).await)
    }

    /// The resources of a server.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub async fn resources(&self, server: &Server, surroundings: &Surroundings) -> Result<Resources, String> {
        let (slot, connection) = self.ready(server, surroundings).await?;
        slot.answer(&connection, timeout(CALL_LIMIT, resources(&connection)).await)
    }

    /// The prompts of a server.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub async fn prompts(&self, server: &Server, surroundings: &Surroundings) -> Result<Vec<Prompt>, String> {
        let (slot, connection) = self.ready(server, surroundings).await?;
        slot.answer(&connection, timeout(CALL_LIMIT, prompts_listed(&connection)).await)
    }

    /// A prompt, filled in for a user whom the server may ask meanwhile; `by` is its name for that.
    ///
    /// # Errors
    /// As of [`Self::read`].
    pub async fn prompt(
        &self,
        (server, surroundings): (&Server, &Surroundings),
        user: Arc<dyn Approver>,
        prompt: &str,
        arguments: JsonObject,
    ) -> Result<GetPromptResult, String> {
        let request = GetPromptRequestParams::new(prompt).with_arguments(arguments);
        let (slot, connection) = self.ready(server, surroundings).await?;
        let _call = connection.questions().begin(server.by(), user);
        slot.answer(&connection, timeout(CALL_LIMIT, connection.ask().get_prompt(request)).await)
    }
}
