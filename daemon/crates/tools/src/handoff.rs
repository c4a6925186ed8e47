//! `handoff_to_NAME` gives the running turn to another agent, which answers the user itself.

use std::path::Path;

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_teams::{HANDOFF_TOOL, Handoffs, SubagentKind};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, render};

/// Hands over to one agent.
pub(super) struct Handoff {
    handoffs: Handoffs,
    agent: SubagentKind,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct HandoffArguments {
    /// Why it takes over, and what it should know that was not said, in a few sentences.
    reason: String,
}

impl Handoff {
    /// To this agent.
    pub(super) fn new(handoffs: Handoffs, agent: SubagentKind) -> Self {
        Self { handoffs, agent }
    }
}

#[async_trait]
impl Tool for Handoff {
    fn spec(&self) -> ToolSpec {
        let SubagentKind { name, description, .. } = &self.agent;
        ToolSpec {
            name: format!("{HANDOFF_TOOL}{name}"),
            description: format!("Gives this turn to `{name}`, who answers the user from here: {description}"),
            parameters: arguments::schema::<HandoffArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let HandoffArguments { reason } = arguments::parse(args)?;
        Ok(Intent { title: render::one_line(reason.trim(), render::TITLE_MAX_CHARS), effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let HandoffArguments { reason } = arguments::parse(args)?;
        self.handoffs.hand_over(&self.agent.name)?;
        let name = &self.agent.name;
        let content = format!("[`{name}` has the turn from here. The reason that was given: {}]", reason.trim());
        Ok(ToolOutput::text(content, format!("{name} takes over")))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::testing, *};

    #[tokio::test]
    async fn the_turn_is_handed_over_once_to_each_agent() {
        let agent = SubagentKind::parse("---\ndescription: reviews\n---\nReview.", "reviewer").unwrap();
        let handoffs = Handoffs::new(vec![agent.clone()]);
        let tool = Handoff::new(handoffs.clone(), agent);
        assert_eq!(tool.spec().name, "handoff_to_reviewer");
        let output = testing::call(&tool, Path::new("/"), &json!({"reason": "it is written"})).await.unwrap();
        assert_eq!(
            (output.summary.as_str(), handoffs.current().unwrap().name.as_str()),
            ("reviewer takes over", "reviewer")
        );
        assert!(testing::call(&tool, Path::new("/"), &json!({"reason": "again"})).await.is_err());
    }
}
