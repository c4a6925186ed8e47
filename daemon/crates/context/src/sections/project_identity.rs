//! Quotes the identity files of the workspace. The author of the repository wrote them, so they are data as project notes are.

use crate::query::Query;

pub(super) fn text(query: &Query<'_>) -> String {
    query.project_identity.unwrap_or_default().to_owned()
}
