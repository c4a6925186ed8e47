//! Shells and programs that the kernel confines.
//!
//! - [`isolated`] runs commands in a shell of their own, below a profile of the sandbox.
//! - [`profile`] says what such a shell may write and reach, and binds the calling thread to it.
//! - [`lock`] finds the launcher for programs that run unasked, and explains the failure of a command that it stopped.
//!
//! How the kernel is told is in `cohab-confine`. The user's live shell is never confined; only programs in it are.

pub mod isolated;
pub mod lock;
pub mod profile;
