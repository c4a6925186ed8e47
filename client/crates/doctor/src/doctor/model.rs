//! Checks which model would answer, and whether it can be reached. `cohabd who` finds this out, since the daemon handles settings and
//! keys.

use std::{io, process::Output};

use cohab_daemon_link::daemon_program;
use cohab_protocol::amount;
use cohab_text::sanitize::one_line;
use serde::Deserialize;

use super::context::Context;
use crate::shell_check::finding::{Finding, FindingVerdict, finding};

/// Shown of a name or a message.
const NAME_MAX_COLUMNS: usize = 60;
const MESSAGE_MAX_COLUMNS: usize = 200;

/// What `cohabd who` reports.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Who {
    kind: String,
    name: String,
    host: String,
    model: Option<String>,
    origin: String,
    key: Option<String>,
    reached: Reached,
    assumed_window_tokens: Option<u64>,
    message: Option<String>,
    hint: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Reached {
    is_asked: bool,
    is_there: bool,
    models: Option<usize>,
    message: Option<String>,
    hint: Option<String>,
}

/// Looks and judges.
pub(super) async fn check(_: &Context) -> Vec<Finding> {
    judge(daemon_program::output(&["who"]).await)
}

fn judge(told: io::Result<Output>) -> Vec<Finding> {
    let told = told.ok().filter(|output| output.status.success());
    match told.and_then(|output| serde_json::from_slice::<Who>(&output.stdout).ok()) {
        Some(who) => of(&who),
        None => vec![
            finding("model", FindingVerdict::Fail, "cohabd did not say who would answer")
                .hint("`cohab models` may say why"),
        ],
    }
}

fn of(who: &Who) -> Vec<Finding> {
    let name = |text: &str| one_line(text, NAME_MAX_COLUMNS);
    match who.kind.as_str() {
        "offline" => vec![
            finding("model", FindingVerdict::Ok, "none: the built-in assistant answers")
                .hint("`cohab setup` chooses a model"),
        ],
        "script" => vec![finding("model", FindingVerdict::Ok, "a script answers")],
        "service" | "local" => {
            let model = who.model.as_deref().map_or_else(|| "its own choice of model".to_owned(), name);
            let key = who.key.as_deref().map(|place| format!(", key from {}", name(place))).unwrap_or_default();
            let text = format!("{model} at {} ({}), by {}{key}", name(&who.name), name(&who.host), name(&who.origin));
            let mut found = finding("model", FindingVerdict::Ok, text);
            if who.kind == "local" {
                found = found.hint("found on this machine; you are asked before its first use");
            }
            let window = who.assumed_window_tokens.map(assumed);
            [found, reached(&who.reached, &name(&who.host))].into_iter().chain(window).collect()
        }
        _ => {
            let message = who.message.as_deref().unwrap_or("cohabd did not say who would answer");
            vec![with_hint(
                finding("model", FindingVerdict::Fail, one_line(message, MESSAGE_MAX_COLUMNS)),
                who.hint.as_deref(),
            )]
        }
    }
}

fn reached(reached: &Reached, host: &str) -> Finding {
    let message = reached.message.as_deref().map(|message| one_line(message, MESSAGE_MAX_COLUMNS));
    match (reached.is_asked, &reached.models, message) {
        (true, Some(count), None) => {
            let models = if *count == 1 { "1 model".to_owned() } else { format!("{count} models") };
            finding("reachable", FindingVerdict::Ok, format!("asked {host} for its list: {models}"))
        }
        (true, _, message) => {
            let message = message.unwrap_or_else(|| format!("{host} gave no list of its models"));
            // Not every service has a list, or has it where it answers.
            let verdict = if reached.is_there { FindingVerdict::Warn } else { FindingVerdict::Fail };
            with_hint(finding("reachable", verdict, message), reached.hint.as_deref())
        }
        (false, _, message) => {
            let message = message.unwrap_or_else(|| format!("{host} was not asked"));
            let hint = reached.hint.as_deref().unwrap_or("`cohab models` asks");
            // A key that cannot be had is a fault; one that was not fetched is not.
            let verdict = if reached.hint.is_some() { FindingVerdict::Fail } else { FindingVerdict::Ok };
            with_hint(finding("reachable", verdict, message), Some(hint))
        }
    }
}

fn assumed(tokens: u64) -> Finding {
    let text = format!("the size of the model's context is not known; {} tokens are assumed", amount::count(tokens));
    finding("context", FindingVerdict::Warn, text).hint("`cohab config set model.context_window_tokens N` sets it")
}

fn with_hint(found: Finding, hint: Option<&str>) -> Finding {
    match hint {
        Some(hint) => found.hint(one_line(hint, MESSAGE_MAX_COLUMNS)),
        None => found,
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::process::ExitStatusExt, process::ExitStatus};

    use super::*;

    fn told(json: &str) -> Vec<(&'static str, FindingVerdict, String)> {
        let output = Output { status: ExitStatus::from_raw(0), stdout: json.into(), stderr: Vec::new() };
        judge(Ok(output)).into_iter().map(|found| (found.id, found.verdict, found.text)).collect()
    }

    #[test]
    fn who_answers_why_and_what_was_contacted_is_told() {
        let service = r#"{"kind": "service", "name": "Mistral", "host": "api.mistral.ai", "model": "m", "origin": "the settings",
            "key": "MISTRAL_API_KEY", "reached": {"is_asked": true, "models": 2}}"#;
        let found = told(service);
        assert_eq!(found[0].2, "m at Mistral (api.mistral.ai), by the settings, key from MISTRAL_API_KEY");
        assert_eq!(
            found[1],
            ("reachable", FindingVerdict::Ok, "asked api.mistral.ai for its list: 2 models".to_owned())
        );
        assert_eq!(found.len(), 2, "its context is known");
        assert_eq!(told(r#"{"kind": "offline"}"#)[0].1, FindingVerdict::Ok);
        let assumed =
            told(r#"{"kind": "service", "assumed_window_tokens": 8192, "reached": {"is_asked": true, "models": 2}}"#);
        assert_eq!(
            assumed[2],
            (
                "context",
                FindingVerdict::Warn,
                "the size of the model's context is not known; 8.1k tokens are assumed".to_owned()
            )
        );
    }

    #[test]
    fn what_cannot_work_fails_with_its_reason() {
        for (json, words) in [
            (r#"{"kind": "none", "message": "needs a key", "hint": "set X"}"#, "needs a key"),
            (r#"{"kind": "service", "reached": {"is_asked": true, "message": "no such host"}}"#, "no such host"),
            (
                r#"{"kind": "service", "reached": {"is_asked": false, "message": "no key in the file", "hint": "h"}}"#,
                "no key",
            ),
            ("nonsense", "did not say"),
            ("{}", "did not say"),
        ] {
            let found = told(json);
            let failed = found.iter().find(|found| found.1 == FindingVerdict::Fail);
            assert!(failed.is_some_and(|found| found.2.contains(words)), "{json}: {found:?}");
        }
    }

    #[test]
    fn names_from_a_service_come_out_clean() {
        let found = told("{\"kind\": \"service\", \"name\": \"a\\u001b[2Jb\", \"model\": \"x\\ny\"}");
        assert!(found.iter().all(|found| !found.2.contains(['\u{1b}', '\n'])), "{found:?}");
    }
}
