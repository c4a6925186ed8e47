//! The client: the user's shell in the user's terminal, as it is, and an assistant that speaks between two prompts.
//!
//! [`driver`] waits for bytes of the terminal, the shell and the daemon. It feeds them to two state machines without IO, the relay of
//! `cohab-shell-relay` and the conversation of `cohab-conversation`, and does what comes out as effects. Next to it:
//!
//! - `terminal` owns raw mode and is the only writer to the user's terminal.
//! - `prompt_line` judges lines on a separate thread; `hint` draws the words next to the line.
//! - `background_tasks` does on other threads what may hang: it looks at files, asks git, stores rules.
//! - `approval_environment` reads what the conversation needs of this process and machine.
//!
//! [`cli`] is the command line: one row a subcommand. `ask` is `cohab ask`, a conversation without a live shell; `rpc` and `acp` are the
//! same for programs and editors. `classify`, `policy`, `scrub` and [`init`] are subcommands of the client's own, `manual` and
//! `definitions` describe all of them. [`shell_resolution`] finds the shell and [`shell_start`] its options.
//!
//! Invariants: whatever fails, the user has a working shell: before the shell's first byte the caller executes the plain shell, after it
//! the driver passes bytes. A key waits for nothing but its write to the shell.
//!
//! This crate does not decide what may run, what is shown of a turn or what is sent to the daemon: `cohab-conversation` does.

mod acp;
mod approval_environment;
mod arguments;
mod ask;
mod background_tasks;
mod classify;
pub mod cli;
mod colours;
mod complaint;
mod definitions;
pub mod driver;
mod hint;
pub mod init;
mod manual;
mod own_commands;
mod path_names;
mod policy;
mod prompt_line;
mod rpc;
mod scrub;
pub mod shell_resolution;
pub mod shell_start;
mod terminal;
