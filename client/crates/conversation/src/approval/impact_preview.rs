//! The impact of a command as far as it is known while its question is open.

use std::time::Instant;

use cohab_impact::Impact;

/// What is known of a command's impact.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ImpactPreview {
    /// There is nothing to look at.
    Needless,
    /// It is looked at until then.
    Until(Instant),
    /// It took too long.
    TooLong,
    /// What was found, a command each.
    Seen(Vec<Impact>),
}
