//! Model providers, one wire per file.
