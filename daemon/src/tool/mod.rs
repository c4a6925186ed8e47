//! Tools, one per file.
