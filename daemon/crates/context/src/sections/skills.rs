//! Lists the user's own skills by name and description.

use super::SystemContext;
use crate::skills::lines;

pub(super) fn text(standing: &SystemContext) -> String {
    if standing.skills.is_empty() {
        return String::new();
    }
    format!(
        "# Skills\nThe user keeps instructions for these. When a question is about one of them, read it with the `skill` tool before \
         you act.\n{}",
        lines(&standing.skills)
    )
}
