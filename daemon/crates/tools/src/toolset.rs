//! The tools of a session: those that all sessions have, and those that belong to one.

use std::{path::PathBuf, sync::Arc};

use cohab_agent::{port::Tool, runner::CommandRunner, tasks::TaskBoard};
use cohab_context::workspace::Surroundings;
use cohab_teams::{Handoffs, SubagentKind, Subagents};

use crate::{
    ToolOptions, bash_unconfined,
    conversation_search::{self, SearchConversations},
    delegate::Delegate,
    handoff::Handoff,
    memory_edit::{self, ProposeEdit},
    memory_propose::{self, ProposeFact},
    memory_search::{self, SearchDocuments, SearchPast},
    read_text::ReadText,
    skill, todo_read,
    todo_write::{self, KeepTasks},
};

/// All tools, sorted by name. Make one set per session: `write` and `edit` remember their previews.
#[must_use]
pub fn registry(options: &ToolOptions) -> Vec<Arc<dyn Tool>> {
    // The policy judges paths with links resolved, so the home must be resolved, too.
    let home = options.home.canonicalize().unwrap_or_else(|_| options.home.clone());
    let options = &ToolOptions { home, ..options.clone() };
    crate::tools(options)
}

/// That tool, beside the `bash` among `tools`, for sessions whose shell is confined. Its commands run in `runner`.
#[must_use]
pub fn unconfined(tools: &[Arc<dyn Tool>], runner: Arc<dyn CommandRunner>) -> Option<Arc<dyn Tool>> {
    let bash = tools.iter().find(|tool| tool.spec().name == "bash")?;
    Some(Arc::new(bash_unconfined::BashUnconfined::new(Arc::clone(bash), runner)))
}

/// The tool that reads files exactly, for agents that write back what they read.
#[must_use]
pub fn text_reader(options: &ToolOptions) -> Arc<dyn Tool> {
    Arc::new(ReadText::new(options))
}

/// The tool that searches what was done and the user's documents, with paths below `home` shortened.
#[must_use]
pub fn memory_search(search: SearchPast, documents: SearchDocuments, home: PathBuf) -> Arc<dyn Tool> {
    Arc::new(memory_search::MemorySearch::new(search, documents, home))
}

/// The tool that puts facts into the inbox.
#[must_use]
pub fn memory_propose(propose: ProposeFact) -> Arc<dyn Tool> {
    Arc::new(memory_propose::MemoryPropose::new(propose))
}

/// The tools that propose changes of memory blocks.
#[must_use]
pub fn memory_edits(propose: &ProposeEdit) -> [Arc<dyn Tool>; 2] {
    memory_edit::tools(propose)
}

/// The tool that orders subagents.
#[must_use]
pub fn delegate(subagents: Arc<dyn Subagents>) -> Arc<dyn Tool> {
    Arc::new(Delegate::new(subagents))
}

/// The tools that give the running turn to another agent, one for each.
#[must_use]
pub fn handoffs(handoffs: &Handoffs) -> Vec<Arc<dyn Tool>> {
    let tool = |agent: &SubagentKind| Arc::new(Handoff::new(handoffs.clone(), agent.clone())) as Arc<dyn Tool>;
    handoffs.agents().iter().map(tool).collect()
}

/// The tool that searches stored conversations.
#[must_use]
pub fn conversation_search(search: SearchConversations) -> Arc<dyn Tool> {
    Arc::new(conversation_search::ConversationSearch::new(search))
}

/// Tools that belong to one session and its question.
#[must_use]
pub fn session_tools(board: &Arc<TaskBoard>, around: &Surroundings, keep: KeepTasks) -> Vec<Arc<dyn Tool>> {
    let mut tools: Vec<Arc<dyn Tool>> = vec![
        Arc::new(todo_read::TodoRead::new(Arc::clone(board))),
        Arc::new(todo_write::TodoWrite::new(Arc::clone(board), keep)),
    ];
    let skills = around.skills();
    if !skills.is_empty() {
        tools.push(Arc::new(skill::ReadSkill::new(skills)));
    }
    tools
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::*;
    use crate::testing;

    #[test]
    fn the_registry_is_sorted_and_its_schemas_never_change_by_accident() {
        let specs: Vec<_> = registry(&testing::options(Path::new("/home/me"))).iter().map(|tool| tool.spec()).collect();
        let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!(names, ["bash", "edit", "glob", "grep", "read", "write"]);
        assert_eq!(
            specs[0].parameters,
            json!({
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "command": {"type": "string", "description": "The shell line or script, as it would be typed."},
                    "timeout_ms": {
                        "type": "integer", "minimum": 1, "maximum": 3_600_000,
                        "description": "How long to wait for its end, in milliseconds; it is not killed then.",
                    },
                },
                "required": ["command"],
            })
        );
        for (spec, again) in specs.iter().zip(registry(&testing::options(Path::new("/other")))) {
            assert_eq!(spec.parameters.to_string(), again.spec().parameters.to_string());
            assert_eq!(spec.parameters["type"], "object");
            assert!(!spec.description.is_empty());
        }
    }

    #[tokio::test]
    async fn no_tool_touches_what_the_user_keeps_from_the_assistant() {
        let (_folder, root) = testing::folder();
        std::fs::create_dir(root.join("private")).unwrap();
        std::fs::write(root.join("private/b.txt"), "needle").unwrap();
        std::fs::write(root.join("a.txt"), "straw").unwrap();
        std::fs::write(root.join(".cohabignore"), "# mine\nprivate/\n").unwrap();
        std::os::unix::fs::symlink("private/b.txt", root.join("link")).unwrap();
        let tools = registry(&testing::options(&root));
        let tool = |name: &str| tools.iter().find(|tool| tool.spec().name == name).unwrap().as_ref();
        let by = format!("is kept from the assistant by {}/.cohabignore:2", root.display());
        for (name, args) in [
            ("read", json!({"path": "private/b.txt"})),
            ("read", json!({"path": "link"})),
            ("read", json!({"path": "private"})),
            ("edit", json!({"path": "private/b.txt", "old_string": "needle", "new_string": "x"})),
            ("write", json!({"path": "private/new.txt", "content": "x"})),
            ("grep", json!({"pattern": "needle", "path": "private"})),
            ("glob", json!({"pattern": "private/*"})),
        ] {
            let error = testing::run(tool(name), &root, &args).await.unwrap_err();
            assert!(error.contains(&by), "{name} {args}: {error}");
        }
        let listed = testing::run(tool("read"), &root, &json!({"path": "."})).await.unwrap().content;
        assert!(listed.contains("a.txt") && !listed.contains("private/"), "{listed}");
        assert!(listed.contains("[1 entry kept from the assistant]"), "{listed}");
        for (name, args) in [("grep", json!({"pattern": "needle"})), ("glob", json!({"pattern": "*.txt"}))] {
            let found = testing::run(tool(name), &root, &args).await.unwrap().content;
            assert!(!found.contains("b.txt"), "{name}: {found}");
        }
    }

    #[test]
    fn every_tool_refuses_unknown_missing_and_mistyped_arguments() {
        for tool in registry(&testing::options(Path::new("/home/me"))) {
            for args in [json!({"no_such_thing": 1}), json!({}), json!({"command": 1, "path": 1, "pattern": []})] {
                let args = args.as_object().expect("a literal object");
                let error = tool.intent(args, Path::new("/")).expect_err("must be refused");
                assert!(error.contains('`'), "{error}");
            }
        }
    }
}
