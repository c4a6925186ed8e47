//! Lists the session's open tasks with their number.

use cohab_agent::tasks::{Status, Task};

/// The pending and started tasks in their order; empty if there are none.
#[must_use]
pub fn text(tasks: &[Task]) -> String {
    let count = |status| tasks.iter().filter(|task| task.status == status).count();
    let (started, pending) = (count(Status::InProgress), count(Status::Pending));
    if started + pending == 0 {
        return String::new();
    }
    let lines = tasks.iter().filter(|task| task.status.is_active()).map(Task::line);
    let head = format!("{} active of {}: {started} in progress, {pending} pending", started + pending, tasks.len());
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}
