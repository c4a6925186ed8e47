//! The cohab daemon.

pub mod agent;
pub mod cli;
pub mod config;
pub mod file;
pub mod provider;
pub mod tool;
