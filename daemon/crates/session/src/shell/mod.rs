//! Shells for the tools.

pub mod claim;
pub mod fallback;
pub mod isolated;
pub mod live;
