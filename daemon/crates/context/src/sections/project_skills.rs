//! Lists the skills of the workspace by name and description.

use crate::query::Query;

pub(super) fn text(query: &Query<'_>) -> String {
    query.project_skills.unwrap_or_default().to_owned()
}
