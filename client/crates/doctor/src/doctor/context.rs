//! What all checks look at.

use cohab_protocol::Paths;
use cohab_system::process::surroundings::Surroundings;

use crate::shell_check::facts::Facts;

/// What all checks look at.
pub(super) struct Context {
    pub paths: Paths,
    pub surroundings: Surroundings,
    /// About the shell that `cohab` would open; `None` if that could not be found out.
    pub facts: Option<Facts>,
}

/// Whether a variable is set to something.
pub(super) fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
