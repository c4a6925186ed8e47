//! `todo_write` replaces the session's list of tasks.

use std::{path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::{
    port::{Effect, Intent, Tool, ToolContext, ToolOutput},
    tasks::{Status, Task, TaskBoard},
};
use cohab_model_api::{JsonObject, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{arguments, render};

const DESCRIPTION: &str = "Puts a list of tasks in the place of this session's list; the user sees it. Always give all tasks, those \
that are done as `completed`; an empty list ends it. At most 50.";

/// Receives a session's tasks after each change.
pub type KeepTasks = Box<dyn Fn(&[Task]) + Send + Sync>;

pub(super) struct TodoWrite {
    board: Arc<TaskBoard>,
    keep: KeepTasks,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TodoWriteArguments {
    /// All tasks, in the order in which they are to be done.
    tasks: Vec<Task>,
}

impl TodoWrite {
    pub(super) fn new(board: Arc<TaskBoard>, keep: KeepTasks) -> Self {
        Self { board, keep }
    }
}

#[async_trait]
impl Tool for TodoWrite {
    fn spec(&self) -> ToolSpec {
        let parameters = arguments::schema::<TodoWriteArguments>();
        ToolSpec { name: "todo_write".into(), description: DESCRIPTION.into(), parameters }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let TodoWriteArguments { tasks } = arguments::parse(args)?;
        let count = render::count(tasks.len(), "task");
        let now = tasks.iter().find(|task| task.status == Status::InProgress);
        let title = match now {
            Some(task) => format!("{count}, now: {}", render::one_line(&task.text, render::TITLE_MAX_CHARS)),
            None => count,
        };
        Ok(Intent { title, effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, _: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let TodoWriteArguments { tasks } = arguments::parse(args)?;
        let tasks = self.board.replace(tasks)?;
        (self.keep)(&tasks);
        Ok(shown(&tasks))
    }
}

/// The list, for the model.
pub(super) fn shown(tasks: &[Task]) -> ToolOutput {
    let active = tasks.iter().filter(|task| task.status.is_active()).count();
    let lines: Vec<String> = tasks.iter().map(Task::line).collect();
    let content = if lines.is_empty() { "[no tasks]".to_owned() } else { lines.join("\n") };
    ToolOutput::text(content, format!("{active} open of {}", tasks.len()))
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use serde_json::json;

    use super::super::{testing, todo_read::TodoRead};
    use super::*;

    #[tokio::test]
    async fn a_list_is_kept_and_read_back() {
        let (board, kept) = (Arc::new(TaskBoard::default()), Arc::new(Mutex::new(Vec::new())));
        let keep = Arc::clone(&kept);
        let write = TodoWrite::new(Arc::clone(&board), Box::new(move |tasks| *keep.lock().unwrap() = tasks.to_vec()));
        let read = TodoRead::new(board);
        let root = Path::new("/");
        assert_eq!(testing::run(&read, root, &json!({})).await.unwrap().content, "[no tasks]");
        let args = json!({"tasks": [
            {"text": "look", "status": "completed"}, {"text": "mend\n it", "status": "in_progress"}, {"text": "test", "status": "pending"},
        ]});
        assert_eq!(testing::intent(&write, root, &args).unwrap().title, "3 tasks, now: mend (+1 line)");
        let output = testing::run(&write, root, &args).await.unwrap();
        assert_eq!((output.content.as_str(), output.summary.as_str()), ("✓ look\n▶ mend  it\n○ test", "2 open of 3"));
        assert_eq!(testing::run(&read, root, &json!({})).await.unwrap(), output);
        assert_eq!(kept.lock().unwrap().len(), 3);
    }

    #[test]
    fn wrong_lists_are_refused_with_what_is_wrong() {
        let tool = TodoWrite::new(Arc::default(), Box::new(|_| ()));
        let error = |args: serde_json::Value| testing::intent(&tool, Path::new("/"), &args).unwrap_err();
        assert_eq!(error(json!({})), "argument `tasks` is missing");
        assert!(error(json!({"tasks": "x"})).contains("invalid type: string"));
        assert!(error(json!({"tasks": [{"text": "x"}]})).contains("missing field `status`"));
        assert!(error(json!({"tasks": [{"text": "x", "status": "later"}]})).contains("expected one of"));
        assert!(error(json!({"tasks": [], "more": 1})).contains("unknown argument `more`"));
    }

    #[tokio::test]
    async fn too_many_tasks_are_refused_and_the_old_list_stays() {
        let board = Arc::new(TaskBoard::default());
        let tool = TodoWrite::new(Arc::clone(&board), Box::new(|_| panic!("nothing is kept")));
        let tasks = vec![json!({"text": "x", "status": "pending"}); 51];
        assert!(testing::run(&tool, Path::new("/"), &json!({"tasks": tasks})).await.unwrap_err().contains("too many"));
        assert!(board.tasks().is_empty());
    }
}
