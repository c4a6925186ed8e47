//! Shells for the tools.

pub mod fallback;
pub mod live;
