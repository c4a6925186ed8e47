//! The names of the tools that agents call.

/// An action of the agent's own.
pub(crate) const ACTION: &str = "agent_action";
/// A look at the live shell.
pub(crate) const INFO: &str = "shell_info";
/// Reads a file exactly.
pub(crate) const READ_TEXT: &str = "read_text";
/// Writes a file.
pub(crate) const WRITE: &str = "write";
