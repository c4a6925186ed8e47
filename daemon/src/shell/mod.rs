//! Shells for the tools.

pub mod claim;
pub mod fallback;
pub mod live;
