//! The section on the agent's runtime: time, platform, release, session, connected channels.

use crate::query::{Query, one_line};

pub(super) fn text(query: &Query<'_>) -> String {
    let Some(runtime) = &query.runtime else { return String::new() };
    let channels = match runtime.channels.as_slice() {
        [] => "none".to_owned(),
        channels => channels.iter().map(|(kind, count)| format!("{kind} ({count})")).collect::<Vec<_>>().join(", "),
    };
    format!(
        "time: {}\nplatform: {}\nversion: cohab {}\nsession: {}\nchannels: {}",
        runtime.time,
        runtime.platform,
        runtime.version,
        one_line(&runtime.session),
        one_line(&channels)
    )
}
