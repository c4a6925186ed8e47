//! Model providers, one wire per file.

pub mod offline;
pub mod settings;
