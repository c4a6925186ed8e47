//! A background task is over: a line says so once the prompt is left alone.

use cohab_protocol::{TaskEnd, TaskEnded};
use cohab_term::output_style::OutputStyle;

use super::{App, state::fired::News};
impl App {
    /// A background task is over.
    pub(super) fn on_task_ended(&mut self, ended: &TaskEnded) {
        let (line, more) = told(ended, self.options.output_style);
        self.connection.fired.push(News::Task(line, more));
    }
}

/// What is said of a task that is over, and what to do about it.
fn told(ended: &TaskEnded, output_style: OutputStyle) -> (String, String) {
    let TaskEnded { id, question, end, has_changes } = ended;
    let how = match end {
        TaskEnd::Done => "is done",
        TaskEnd::Limit => "stopped at its limit",
        TaskEnd::Refused => "was refused by the model",
        TaskEnd::Failed => "failed",
        TaskEnd::Cancelled => "was stopped",
        TaskEnd::Interrupted => "was interrupted",
    };
    let more = match has_changes {
        true => format!("it changed files{}cohab tasks show {id}", output_style.choose(" · ", ", see ")),
        false => format!("cohab tasks show {id}"),
    };
    (format!("task {id} {how}: {question}"), more)
}
