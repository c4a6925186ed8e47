//! Recognizes requests for permission that are about a tool of the live shell. Such a tool is judged when its call comes to the loop.
//!
//! The name of the MCP server is another one in each start, so no other server of the agent has it.

use crate::{
    known::PermissionMark,
    mcp,
    wire::{ToolCallFields, ToolKind},
};

/// Whether the agent's own marks say that this is a tool of the live shell. Fields for programs count before titles, which may hold
/// words of a model.
pub(crate) fn is_ours(marks: &[PermissionMark], call: &ToolCallFields) -> bool {
    let is_tool = |rest: &str| mcp::TOOLS.contains(&rest);
    marks.iter().any(|mark| match mark {
        PermissionMark::Title(front) => {
            let name = match (&call.name, call.kind) {
                // The title of a command is its text.
                (_, Some(ToolKind::Execute)) => None,
                (Some(name), _) => Some(name),
                (None, Some(ToolKind::Other)) => call.title.as_ref(),
                (None, _) => None,
            };
            name.and_then(|name| name.strip_prefix(front.as_str())).is_some_and(is_tool)
        }
        // The agent's counter follows the name.
        PermissionMark::CallId(front) => call
            .tool_call_id
            .strip_prefix(front.as_str())
            .is_some_and(|rest| mcp::TOOLS.iter().any(|tool| rest.starts_with(tool))),
        PermissionMark::Raw(field, value) => call.raw_input[field.as_str()] == value.as_str(),
    })
}

#[cfg(test)]
mod tests {
    use cohab_config::agents::OwnAgents;
    use serde_json::{Value, json};

    use super::*;
    use crate::known;

    const SERVER: &str = "cohab-0123456789ab";

    fn is_ours_of(agent: &str, call: Value) -> bool {
        let agent = known::find(agent, &OwnAgents::new()).expect(agent).with_server(Some(SERVER));
        is_ours(&agent.marks, &serde_json::from_value(call).expect("a call"))
    }

    #[test]
    fn a_permission_for_the_live_shell_is_known_by_the_agents_own_marks() {
        let codex = json!({"toolCallId": "1", "title": "Approve MCP tool call", "rawInput": {"server_name": SERVER}});
        assert!(is_ours_of("codex", codex.clone()) && !is_ours_of("claude", codex));
        let claude = format!("mcp__{SERVER}__run");
        assert!(is_ours_of("claude", json!({"toolCallId": "1", "title": claude, "kind": "other"})));
        assert!(is_ours_of("claude", json!({"toolCallId": "1", "title": "Run", "name": claude})));
        let gemini = format!("mcp_{SERVER}_run__mcp_{SERVER}_run_1_0");
        assert!(is_ours_of("gemini", json!({"toolCallId": gemini, "title": "ls", "kind": "other"})));
        let copilot = format!("{SERVER}_run");
        assert!(is_ours_of("copilot", json!({"toolCallId": "1", "title": copilot, "kind": "other"})));
        for (agent, call) in [
            ("claude", json!({"toolCallId": "1", "title": format!("{claude}; rm -rf x"), "kind": "other"})),
            ("claude", json!({"toolCallId": "1", "title": claude, "kind": "execute"})),
            ("claude", json!({"toolCallId": "1", "title": claude})),
            ("claude", json!({"toolCallId": "1", "title": claude, "name": "Bash", "kind": "other"})),
            ("gemini", json!({"toolCallId": "run_shell_command__1", "title": "mcp_cohab_run", "kind": "execute"})),
            ("codex", json!({"toolCallId": "1", "title": "cohab", "rawInput": {"command": "server_name=cohab"}})),
            ("codex", json!({"toolCallId": "1", "title": "x", "rawInput": {"server_name": "other"}})),
        ] {
            assert!(!is_ours_of(agent, call.clone()), "{agent}: {call}");
        }
    }

    #[test]
    fn a_server_of_the_project_called_cohab_is_another_one() {
        for (agent, call) in [
            ("claude", json!({"toolCallId": "1", "title": "mcp__cohab__run", "kind": "other"})),
            ("codex", json!({"toolCallId": "1", "title": "x", "rawInput": {"server_name": "cohab"}})),
            ("gemini", json!({"toolCallId": "mcp_cohab_run__1", "title": "ls", "kind": "other"})),
            ("opencode", json!({"toolCallId": "1", "title": "cohab_run", "kind": "other"})),
            ("goose", json!({"toolCallId": "1", "title": "cohab__run", "kind": "other"})),
            ("copilot", json!({"toolCallId": "1", "title": "run", "kind": "other"})),
            ("copilot", json!({"toolCallId": "1", "title": "output"})),
        ] {
            assert!(!is_ours_of(agent, call.clone()), "{agent}: {call}");
        }
    }
}
