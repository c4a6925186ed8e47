//! Runs shells and programs that the kernel confines.
//!
//! - [`isolated`] runs commands in a separate shell, below a profile of the sandbox.
//! - [`profile`] describes the places that such a shell may write and reach, and binds the calling thread to them.
//! - [`lock`] finds the launcher for programs that run unasked, and explains the failure of a command that it stopped.
//!
//! The calls to the kernel are in `cohab-confine`. The user's live shell is never confined; only programs in it are.

pub mod isolated;
pub mod lock;
pub mod profile;
