//! Quotes the skill or command that a question calls by its name: the user's own, or one of the project.

use crate::query::Query;

pub(super) fn text(query: &Query<'_>, is_of_project: bool) -> String {
    let called = query.called.filter(|called| called.is_of_project == is_of_project);
    called.map(|called| called.text.clone()).unwrap_or_default()
}
