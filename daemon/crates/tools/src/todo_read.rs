//! `todo_read` returns the session's tasks.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    port::{Effect, Intent, Tool, ToolContext, ToolOutput},
    tasks::TaskBoard,
};
use cohab_model_api::{JsonObject, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, todo_write};

const DESCRIPTION: &str = "Shows the list of tasks of this session, done ones included.";

pub(super) struct TodoRead {
    board: Arc<TaskBoard>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoReadArguments {}

impl TodoRead {
    pub(super) fn new(board: Arc<TaskBoard>) -> Self {
        Self { board }
    }
}

#[async_trait]
impl Tool for TodoRead {
    fn spec(&self) -> ToolSpec {
        // Some services refuse a schema without properties unless it says so.
        let mut parameters = arguments::schema::<TodoReadArguments>();
        if let Some(schema) = parameters.as_object_mut() {
            schema.entry("properties").or_insert_with(|| JsonObject::new().into());
        }
        ToolSpec { name: "todo_read".into(), description: DESCRIPTION.into(), parameters }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let TodoReadArguments {} = arguments::parse(args)?;
        Ok(Intent { title: "tasks".into(), effect: Effect::Internal })
    }

    async fn call(&self, _: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        Ok(todo_write::shown(&self.board.tasks()))
    }
}
