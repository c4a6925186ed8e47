//! The cohab daemon: sessions, the agent loop, model providers and tools.

pub mod cli;
pub mod folder_watch;
pub mod lifecycle;
pub mod log;
pub mod probe;
pub mod setup;
pub mod stats;
pub mod telemetry;
