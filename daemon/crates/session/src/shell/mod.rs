//! Shells run the commands of the tools: the user's live shell, or a separate one. Decisions about consent belong to the safety module.

pub mod claim;
pub mod fallback;
pub mod isolated;
pub mod live;
