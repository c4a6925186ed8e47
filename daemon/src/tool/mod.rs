//! Tools are the actions of the model, one per file.
//!
//! Arguments are typed structs; the model sees their schema, and every call is checked against it. A failure is text for the model with
//! the next thing to try. Tools do not ask for consent: [`Tool::intent`] describes the effect of a call, with links in paths resolved,
//! so that the judged path is the touched one.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cohab_agent::{port::Tool, runner::CommandRunner};

use crate::{
    context::surroundings::Surroundings,
    tasks::{Task, TaskBoard},
};

mod arguments;
mod bash;
mod bash_unconfined;
mod blocking;
mod change;
mod edit;
mod glob;
mod grep;
mod matches;
mod path;
mod read;
mod render;
mod skill;
mod todo_read;
mod todo_write;
mod walk;
mod write;

#[cfg(test)]
mod testing;

pub use read::LINE_MAX_BYTES;
pub(crate) use render::without_duration;

/// The facts about the user that the tools need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOptions {
    /// The meaning of `~`.
    pub home: PathBuf,
    /// Time limit of a command unless the model sets one.
    pub command_timeout: Duration,
    /// Longest result of one call; the rest is left out and counted.
    pub output_max_bytes: usize,
}

/// All tools, sorted by name. Make one set per session: `write` and `edit` remember their previews.
#[must_use]
pub fn registry(options: &ToolOptions) -> Vec<Arc<dyn Tool>> {
    // The policy judges paths with links resolved, so the home must be resolved, too.
    let home = options.home.canonicalize().unwrap_or_else(|_| options.home.clone());
    let options = &ToolOptions { home, ..options.clone() };
    vec![
        Arc::new(bash::Bash::new(options)),
        Arc::new(edit::Edit::new(options)),
        Arc::new(glob::Glob::new(options)),
        Arc::new(grep::Grep::new(options)),
        Arc::new(read::Read::new(options)),
        Arc::new(write::Write::new(options)),
    ]
}

/// Name of the tool that runs commands in the user's own shell, where there is one.
pub const LIVE: &str = "bash";
/// Name of the tool that runs commands without the sandbox. The user is asked each time, regardless of stored consents.
pub const UNCONFINED: &str = "bash_unconfined";

/// The tool [`UNCONFINED`], next to the `bash` among `tools`, for sessions with a confined shell. Its commands run in `runner`.
#[must_use]
pub fn unconfined(tools: &[Arc<dyn Tool>], runner: Arc<dyn CommandRunner>) -> Option<Arc<dyn Tool>> {
    let bash = tools.iter().find(|tool| tool.spec().name == "bash")?;
    Some(Arc::new(bash_unconfined::BashUnconfined::new(Arc::clone(bash), runner)))
}

/// Receives a session's tasks after each change.
pub type KeepTasks = Box<dyn Fn(&[Task]) + Send + Sync>;

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

    use super::testing;
    use super::*;

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
