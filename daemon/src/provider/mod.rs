//! Model providers, one wire per file.

pub mod settings;
