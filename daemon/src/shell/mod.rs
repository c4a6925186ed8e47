//! Shells for the tools.

pub mod claim;
pub mod fallback;
mod isolated;
pub mod live;
