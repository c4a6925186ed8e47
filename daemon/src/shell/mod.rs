//! Shells for the tools.

pub mod live;
