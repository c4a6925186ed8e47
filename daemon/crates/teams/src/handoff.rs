//! A handoff: another agent takes over the running turn, with its instructions and tools, and answers the user itself.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use cohab_agent::Middleware;
use cohab_model_api::{ModelRequest, Overflow};

use crate::kind::SubagentKind;

/// Most handoffs of one turn.
pub const MAX_HANDOFFS: usize = 3;
/// What the name of the tool for one agent begins with.
pub const HANDOFF_TOOL: &str = "handoff_to_";

/// The agents that may take over a turn, and who has it. Clones share it.
#[derive(Clone)]
pub struct Handoffs {
    agents: Arc<Vec<SubagentKind>>,
    /// Names of those that have had the turn, in their order; the last one has it.
    path: Arc<Mutex<Vec<String>>>,
}

impl Handoffs {
    /// Among these agents.
    #[must_use]
    pub fn new(agents: Vec<SubagentKind>) -> Self {
        Self { agents: Arc::new(agents), path: Arc::default() }
    }

    /// The agents that may be named at all.
    #[must_use]
    pub fn agents(&self) -> &[SubagentKind] {
        &self.agents
    }

    /// Gives the turn to the agent of this name.
    ///
    /// # Errors
    /// It may not have it; the text says why, for the model.
    pub fn hand_over(&self, to: &str) -> Result<(), String> {
        let mut path = self.path();
        if !self.agents.iter().any(|agent| agent.name == to) {
            return Err(format!("there is no agent `{to}` to take over"));
        }
        if path.iter().any(|name| name == to) {
            return Err(format!("`{to}` has had this turn already: go on yourself"));
        }
        if path.len() == MAX_HANDOFFS {
            return Err(format!("this turn was handed over {MAX_HANDOFFS} times, which is the most: go on yourself"));
        }
        let now = path.last().and_then(|name| self.agents.iter().find(|agent| agent.name == *name));
        if let Some(now) = now.filter(|now| !now.handoffs.iter().any(|name| name == to)) {
            return Err(format!("`{}` may not hand over to `{to}`", now.name));
        }
        path.push(to.to_owned());
        Ok(())
    }

    /// The agent that has the turn; `None` for the assistant itself.
    #[must_use]
    pub fn current(&self) -> Option<SubagentKind> {
        let path = self.path();
        let name = path.last()?;
        self.agents.iter().find(|agent| agent.name == *name).cloned()
    }

    fn path(&self) -> MutexGuard<'_, Vec<String>> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Middleware for Handoffs {
    /// Whoever has the turn is told its instructions, and has its own tools and those for the agents that it may hand over to.
    async fn before_model(&self, request: &mut ModelRequest, _: Option<Overflow>) -> bool {
        if let Some(agent) = self.current() {
            let may_hand = |tool: &str| {
                tool.strip_prefix(HANDOFF_TOOL).is_some_and(|to| agent.handoffs.iter().any(|name| name == to))
            };
            request.tools.retain(|tool| agent.tools.contains(&tool.name.as_str()) || may_hand(&tool.name));
            request.system = format!(
                "{}\n# You have taken over\n\nYou are `{}`: {}. What was said before was said by another agent.\n\n{}\n",
                request.system, agent.name, agent.description, agent.instructions
            );
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use cohab_model_api::ToolSpec;
    use serde_json::json;

    use super::*;

    fn agent(name: &str, handoffs: &str) -> SubagentKind {
        let text = format!("---\ndescription: does {name}\ntools: read\nhandoffs: {handoffs}\n---\nBe {name}.");
        SubagentKind::parse(&text, name).unwrap()
    }

    fn handoffs() -> Handoffs {
        Handoffs::new(vec![agent("a", "b, c"), agent("b", "a, c"), agent("c", "d"), agent("d", "e"), agent("e", "")])
    }

    #[test]
    fn a_turn_is_handed_over_along_the_lists_without_a_circle_and_three_times_at_most() {
        let turn = handoffs();
        assert!(turn.hand_over("x").unwrap_err().contains("no agent `x`"));
        turn.hand_over("a").unwrap();
        assert!(turn.hand_over("d").unwrap_err().contains("`a` may not hand over to `d`"));
        turn.hand_over("b").unwrap();
        assert!(turn.hand_over("a").unwrap_err().contains("has had this turn"), "a circle");
        turn.hand_over("c").unwrap();
        assert!(turn.hand_over("d").unwrap_err().contains("3 times"));
        assert_eq!(turn.current().unwrap().name, "c");
    }

    #[tokio::test]
    async fn whoever_has_the_turn_has_its_instructions_and_tools() {
        let turn = handoffs();
        let tool = |name: &str| ToolSpec { name: name.into(), description: String::new(), parameters: json!({}) };
        let request = || ModelRequest {
            system: "Base.".into(),
            messages: Vec::new(),
            tools: ["bash", "read", "handoff_to_a", "handoff_to_b"].map(tool).into(),
            allow_tools: true,
            withheld: Default::default(),
        };
        let mut before = request();
        turn.before_model(&mut before, None).await;
        assert_eq!((before.system.as_str(), before.tools.len()), ("Base.", 4));
        turn.hand_over("a").unwrap();
        let mut after = request();
        turn.before_model(&mut after, None).await;
        let names: Vec<&str> = after.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["read", "handoff_to_b"]);
        assert!(after.system.starts_with("Base.") && after.system.ends_with("Be a.\n"), "{}", after.system);
    }
}
