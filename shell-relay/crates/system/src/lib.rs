//! Asks the operating system for what several programs need: processes, their groups and sessions; files in untrusted places.
//!
//! - [`process`]: signals and sessions of shells, the children of a process, the allocator and the surroundings of this process.
//! - [`files`]: opens regular files within a limit, and replaces a file so that a reader sees the old or the new content.
//! - [`private_file`]: reads a file only if no other user can have written it, and writes it for its user alone.
//!
//! All are thin covers of system calls: each function returns the answer to a request, and keeps no state.
//!
//! This crate decides nothing: it knows no policy, no conversation and no format of a file.

pub mod files;
pub mod private_file;
pub mod process;
