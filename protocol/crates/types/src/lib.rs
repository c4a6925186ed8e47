//! Types that several crates exchange.
//!
//! - [`command`]: a command for a shell, its outcome, and the reason for a command that did not run.
//! - [`confined_programs`]: the programs that run unasked behind the lock.
//! - [`reasoning`]: the amount of reasoning that a model does.
//! - [`sandbox_profile`]: the permissions of a shell that the daemon starts.
//!
//! They are plain data without behaviour: no serialization, no wire format. The protocol converts them at its codec.

pub mod command;
pub mod confined_programs;
pub mod reasoning;
pub mod sandbox_profile;
