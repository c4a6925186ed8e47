//! Types that several crates exchange.
//!
//! - [`command`]: a command for a shell, its outcome, and why it did not run.
//! - [`reasoning`]: how much a model thinks.
//!
//! They are plain data without behaviour: no serialization, no wire format. The protocol converts them at its codec.

pub mod command;
pub mod reasoning;
