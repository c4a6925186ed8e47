//! What the driver says without being asked, next to the shell. Each is said once.

use crate::driver::{greeting::Greeting, nested_shell::NestedShell, unintegrated_notice::UnintegratedNotice};

/// The notices, as far as they are still to come.
pub struct Notices {
    pub unintegrated: UnintegratedNotice,
    /// Shown at this start, and not counted yet.
    pub greeting: Option<Greeting>,
    pub nested_shell: NestedShell,
}
