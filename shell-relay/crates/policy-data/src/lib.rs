//! Data that the policy and the launcher of confined programs share.
//!
//! - [`sensitive_paths`]: the policy asks about lines that name such a path; the launcher keeps programs from reading the secret ones.
//! - [`VARIABLES`]: the variables of the caller's environment that a shell for one confined line inherits.
//! - [`RUNNING_CODE`]: the programs that run code in their words, and so get no key in their environment.
//!
//! This crate holds no code and depends on nothing, so that the launcher, which starts with each confined program, stays small.

pub mod sensitive_paths;

/// Environment variables, a row each: `harmless | NAME` may change how text looks, `given | NAME` is passed on. Lines that begin with
/// `#` are comments.
pub const VARIABLES: &str = include_str!("variables.table");

/// Programs that run code, or other programs, which their words name; all of Python begin with `python`.
pub const RUNNING_CODE: &[&str] =
    &["bash", "dash", "find", "node", "nodejs", "perl", "python", "ruby", "sh", "timeout", "xargs"];
