//! The cohab daemon.

pub mod agent;
pub mod provider;
pub mod tool;
