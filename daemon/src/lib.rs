//! The cohab daemon.

pub mod agent;
pub mod file;
pub mod provider;
pub mod tool;
