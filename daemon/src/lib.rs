//! The cohab daemon: sessions, the agent loop, model providers and tools.

pub mod assembly;
pub mod cli;
pub mod folder_watch;
pub mod lifecycle;
pub mod log;
pub mod probe;
pub mod setup;
pub mod stats;
pub mod telemetry;
pub mod temporary;
pub mod tier_rules;
pub mod wiring;
