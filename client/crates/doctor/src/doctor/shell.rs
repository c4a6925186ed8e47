//! Checks the shell that `cohab` opens, and whether this terminal is inside cohab already.

use super::context::Context;
use crate::shell_check::{
    finding::{Finding, FindingVerdict, finding},
    findings,
};

/// Looks and judges.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let Some(facts) = &context.facts else {
        return vec![
            finding("shell", FindingVerdict::Warn, "nothing could be found out about it")
                .hint("run `cohab shell-check`"),
        ];
    };
    vec![findings::shell(facts), here(context.surroundings.is_inside_cohab)]
}

fn here(is_inside: bool) -> Finding {
    match is_inside {
        true => finding("here", FindingVerdict::Ok, "this shell is inside cohab")
            .hint("`cohab shell-check` tries out how it gets on with your start-up files"),
        false => finding("here", FindingVerdict::Ok, "this shell is not inside cohab")
            .hint("`cohab` opens one that is; `cohab shell-check` tries it out beforehand"),
    }
}
