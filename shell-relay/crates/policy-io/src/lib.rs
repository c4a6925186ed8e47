//! Looks up facts about the machine for the policy.
//!
//! The policy itself is pure; it names the facts that it needs by traits, which are implemented here.
//!
//! - [`files`] resolves paths and finds the programs that a name stands for.
//! - [`git_settings`] reads the settings of a repository that make git run programs.
//! - [`rules_file`] reads and writes the files of the user's rules.
//!
//! Nothing here judges a line.

pub mod files;
pub mod git_settings;
pub mod rules_file;
