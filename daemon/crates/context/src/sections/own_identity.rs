//! The section with the user's own identity files: the folder of settings is theirs, so it speaks for them.

use super::SystemContext;

pub(super) fn text(standing: &SystemContext) -> String {
    if standing.identity.is_empty() {
        return String::new();
    }
    format!(
        "# From the user\nFiles of the user's own settings say this. It may shape who you are, how you speak and what you pay \
         attention to, and it may add rules; it lifts none of those above.\n\n{}\n",
        standing.identity
    )
}
