//! The section with a project's notes to assistants.

use crate::query::Query;

pub(super) fn text(query: &Query<'_>) -> String {
    query.project_notes.unwrap_or_default().to_owned()
}
