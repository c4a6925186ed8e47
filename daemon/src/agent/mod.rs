//! The agent core.

pub mod port;
