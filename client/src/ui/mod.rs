//! What the user sees: lines and bytes, made without any IO.

pub mod ansi;
#[cfg(test)]
pub(crate) mod describe;
pub mod input;
pub mod keys;
pub mod live_area;
pub mod theme;
