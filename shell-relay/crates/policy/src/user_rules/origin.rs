//! The owner of a file of rules.

/// The owner of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user's own, or the system's.
    Own,
    /// A project's: it may only tighten.
    Project,
}
