//! The section with piped input.

use crate::query::Query;

pub(super) fn text(query: &Query<'_>) -> String {
    query.piped_input.unwrap_or_default().to_owned()
}
