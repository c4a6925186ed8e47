//! Checks that the files of conversations, usage and remembered facts are readable, of this release and sound. `cohabd stores` looks.

use std::{io, path::Path, process::Output};

use cohab_daemon_link::daemon_program;
use cohab_text::sanitize::one_line;
use serde::Deserialize;

use super::context::Context;
use crate::shell_check::{
    facts::shown,
    finding::{Finding, FindingVerdict, finding},
};

/// Shown of a message.
const MESSAGE_MAX_COLUMNS: usize = 200;

/// What `cohabd stores` reports of one.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Store {
    name: String,
    path: String,
    is_there: bool,
    bytes: u64,
    version: usize,
    known_version: usize,
    is_checked: bool,
    kept: Option<String>,
    message: Option<String>,
    hint: Option<String>,
}

/// Looks and judges.
pub(super) async fn check(_: &Context) -> Vec<Finding> {
    judge(daemon_program::output(&["stores"]).await)
}

fn judge(told: io::Result<Output>) -> Vec<Finding> {
    let told = told.ok().filter(|output| output.status.success());
    match told.and_then(|output| serde_json::from_slice::<Vec<Store>>(&output.stdout).ok()) {
        Some(stores) => stores.iter().map(of).collect(),
        None => vec![
            finding("stores", FindingVerdict::Fail, "cohabd did not say how its files are")
                .hint("`cohab sessions` and `cohab usage` may say why"),
        ],
    }
}

fn of(store: &Store) -> Finding {
    let id = match store.name.as_str() {
        "usage" => "usage-store",
        "memory" => "memory-store",
        "past" => "past-store",
        "knowledge" => "knowledge-store",
        "watchers" => "watchers-store",
        "hooks" => "hooks",
        _ => "sessions-store",
    };
    let path = shown(Path::new(&store.path));
    if let Some(message) = &store.message {
        let found = finding(id, FindingVerdict::Fail, one_line(&format!("{path}: {message}"), MESSAGE_MAX_COLUMNS));
        return match &store.hint {
            Some(hint) => found.hint(one_line(hint, MESSAGE_MAX_COLUMNS)),
            None => found,
        };
    }
    if !store.is_there {
        return finding(id, FindingVerdict::Ok, format!("{path} is not there yet; the first question makes it"));
    }
    let form = match store.version {
        version if version == store.known_version => "",
        _ => ", of an earlier release: the next question brings it up",
    };
    let looked = if store.is_checked { ", sound" } else { ", too large to look at all of it here" };
    let found = finding(id, FindingVerdict::Ok, format!("{path}: {}{looked}{form}", size(store.bytes)));
    match &store.kept {
        Some(kept) => {
            found.hint(format!("{} broke and was taken over; remove it if nothing is missing", shown(Path::new(kept))))
        }
        None => found,
    }
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;
    use crate::doctor::report::testing::rows;

    fn told(json: &str) -> Vec<Finding> {
        judge(Ok(Output { status: ExitStatus::from_raw(0), stdout: json.into(), stderr: Vec::new() }))
    }

    #[test]
    fn each_store_has_its_row() {
        let found = told(
            r#"[{"name": "sessions", "path": "/s/sessions.db", "is_there": true, "bytes": 4321000, "version": 3,
                "known_version": 3, "is_checked": true, "kept": "/s/sessions.db.broken"},
            {"name": "usage", "path": "/s/usage.db", "is_there": true, "bytes": 4096, "version": 1, "known_version": 2,
                "is_checked": false, "kept": null},
            {"name": "usage", "path": "/s/usage.db", "is_there": false},
            {"name": "sessions", "path": "/s/sessions.db", "is_there": true, "message": "it is of a later release",
                "hint": "use that release"}]"#,
        );
        insta::assert_snapshot!(rows(found));
    }

    #[test]
    fn what_is_said_of_them_comes_out_clean() {
        let found = told(r#"[{"name": "x", "path": "/s\u001b[2J", "is_there": true, "message": "a\u0007\nb"}]"#);
        assert_eq!(found[0].verdict, FindingVerdict::Fail);
        assert!(!found[0].text.contains(['\u{1b}', '\u{7}', '\n']), "{found:?}");
        assert_eq!(told("nonsense")[0].verdict, FindingVerdict::Fail);
    }
}
