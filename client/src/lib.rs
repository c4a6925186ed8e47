//! The cohab client: the user's shell in the user's terminal, as it is, and an assistant that speaks between two prompts.
//!
//! The path of the data: [`driver`] waits for bytes (terminal, shell, daemon) and feeds them to the relay of
//! `cohab-shell-relay` and to [`app`], two state machines without IO, and does what they say. Nothing else writes to the
//! terminal or to the shell.

pub mod app;
pub mod approval;
pub mod approval_environment;
pub mod arguments;
pub mod ask;
pub mod attach_environment;
pub mod background_task;
pub mod background_tasks;
pub mod classify;
pub mod cli;
pub mod colours;
pub mod consent;
pub mod definitions;
pub mod driver;
pub mod effect;
pub mod event;
pub mod hint;
pub mod init;
pub mod journal;
pub mod line_question;
pub mod manual;
pub mod path_names;
pub mod policy;
pub mod prompt_line;
pub mod redactor;
pub mod scrub;
pub mod session_override;
pub mod shell_drift;
pub mod shell_resolution;
pub mod shell_start;
pub mod silence;
pub mod slash;
pub mod terminal;
#[cfg(test)]
mod test_messages;
pub mod ui;
