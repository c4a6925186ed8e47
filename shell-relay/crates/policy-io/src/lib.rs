//! What the policy asks of the machine.
//!
//! The policy itself is pure; it names what it wants to know by traits, which are implemented here.
//!
//! - [`files`] looks up where paths really lead and which programs a name stands for.
//! - [`git_settings`] reads the settings of a repository that make git run programs.
//! - [`rules_file`] reads and writes the files of the user's rules.
//!
//! Nothing here judges a line.

pub mod files;
pub mod git_settings;
pub mod rules_file;
