//! The cohab daemon: sessions, the agent loop, model providers and tools.

pub mod agent;
pub mod assembly;
pub mod audit;
pub mod cache;
pub mod cli;
pub mod compaction;
pub mod config;
pub mod context;
pub mod file;
pub mod folder_watch;
pub mod jobs;
pub mod lifecycle;
pub mod log;
pub mod middleware;
pub mod probe;
pub mod provider;
pub mod recording;
pub mod safety;
pub mod server;
pub mod setup;
pub mod shell;
pub mod stats;
pub mod store;
pub mod tasks;
pub mod telemetry;
pub mod tool;
pub mod wiring;

#[cfg(test)]
#[path = "../../shell-relay/src/hostile_table.rs"]
pub(crate) mod hostile_table;
