//! Types that several crates exchange.
//!
//! - [`command`]: a command for a shell, its outcome, and why it did not run.
//! - [`confined_programs`]: which programs run unasked behind the lock.
//! - [`environment`]: the variables of a client.
//! - [`reasoning`]: how much a model thinks.
//! - [`sandbox_profile`]: what a shell of the daemon's may do.
//!
//! They are plain data without behaviour: no serialization, no wire format. The protocol converts them at its codec.

pub mod command;
pub mod confined_programs;
pub mod environment;
pub mod reasoning;
pub mod sandbox_profile;
