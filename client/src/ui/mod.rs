//! What the user sees: lines and bytes, made without any IO.

#[cfg(test)]
pub(crate) mod describe;
pub mod theme;
