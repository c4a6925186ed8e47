//! The cohab client: the user's shell in the user's terminal, as it is, and an assistant that speaks between two prompts.
//!
//! The path of the data: [`driver`] waits for bytes (terminal, shell, daemon) and feeds them to the relay of
//! `cohab-shell-relay` and to `cohab-conversation`, two state machines without IO, and does what they say. Nothing else writes to the
//! terminal or to the shell.

pub mod approval_environment;
pub mod arguments;
pub mod ask;
pub mod attach_environment;
pub mod background_tasks;
pub mod classify;
pub mod cli;
pub mod colours;
pub mod definitions;
pub mod driver;
pub mod hint;
pub mod init;
pub mod manual;
pub mod path_names;
pub mod policy;
pub mod prompt_line;
pub mod scrub;
pub mod shell_resolution;
pub mod shell_start;
pub mod terminal;
