//! The task board holds a session's plan: a list that the model keeps and the user sees. Pure, except for its lock.

use std::sync::{Mutex, PoisonError};

use cohab_text::sanitize::one_line;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most tasks of one session.
pub const MAX_TASKS: usize = 50;
/// Longest text of one, in columns.
pub const MAX_TEXT_COLUMNS: usize = 300;

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Task {
    /// What, in one line.
    pub text: String,
    /// How far it is.
    pub status: Status,
}

/// How far a task is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Not begun.
    Pending,
    /// Being done.
    InProgress,
    /// Done.
    Completed,
}

impl Status {
    /// Whether it is not done.
    #[must_use]
    pub fn is_active(self) -> bool {
        self != Self::Completed
    }

    /// One character.
    #[must_use]
    pub fn icon(self) -> &'static str {
        match self {
            Self::Pending => "○",
            Self::InProgress => "▶",
            Self::Completed => "✓",
        }
    }
}

impl Task {
    /// Icon and text.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.status.icon(), self.text)
    }
}

/// The tasks of one session.
#[derive(Debug, Default)]
pub struct TaskBoard(Mutex<Vec<Task>>);

impl TaskBoard {
    /// All tasks.
    #[must_use]
    pub fn tasks(&self) -> Vec<Task> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the tasks by these, cleaned. Returns the new tasks.
    ///
    /// # Errors
    /// For the model: there are too many, or one is empty.
    pub fn replace(&self, tasks: Vec<Task>) -> Result<Vec<Task>, String> {
        if tasks.len() > MAX_TASKS {
            return Err(format!("{} tasks are too many; keep at most {MAX_TASKS}, and drop what is done", tasks.len()));
        }
        let clean = |task: Task| Task { text: one_line(task.text.trim(), MAX_TEXT_COLUMNS), ..task };
        let tasks: Vec<Task> = tasks.into_iter().map(clean).collect();
        if let Some(at) = tasks.iter().position(|task| task.text.is_empty()) {
            return Err(format!("task {} has no text", at + 1));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&tasks);
        Ok(tasks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn task(text: &str) -> Task {
        Task { text: text.into(), status: Status::Pending }
    }

    #[test]
    fn a_list_takes_the_place_of_the_last_one_and_is_cleaned() {
        let board = TaskBoard::default();
        board.replace(vec![task("one"), task("two")]).unwrap();
        board.replace(vec![task(" a\u{1b}[31m\nb ")]).unwrap();
        assert_eq!(board.tasks(), [task("a b")]);
    }

    #[test]
    fn too_many_and_empty_tasks_are_refused_and_change_nothing() {
        let board = TaskBoard::default();
        board.replace(vec![task("one")]).unwrap();
        assert!(board.replace(vec![task("x"); MAX_TASKS + 1]).unwrap_err().contains("at most 50"));
        assert_eq!(board.replace(vec![task("x"), task(" \u{7} ")]).unwrap_err(), "task 2 has no text");
        assert_eq!(board.tasks(), [task("one")]);
        let long = board.replace(vec![task(&"é".repeat(100_000))]).unwrap();
        assert!(long[0].text.len() < 2 * MAX_TEXT_COLUMNS + 8);
    }
}
