//! Checks whether the models of tiers, roles and fallbacks could answer. `cohabd jobs` finds out without a request to a model.

use std::{io, process::Output};

use cohab_daemon_link::daemon_program;
use cohab_text::sanitize::one_line;
use serde::Deserialize;

use super::context::Context;
use crate::shell_check::finding::{Finding, FindingVerdict, finding};

/// Shown of a name or a message.
const NAME_MAX_COLUMNS: usize = 60;
const MESSAGE_MAX_COLUMNS: usize = 200;

/// What `cohabd jobs` reports of one profile.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Job {
    profile: String,
    does: Vec<String>,
    model: Option<String>,
    service: String,
    host: String,
    message: Option<String>,
    hint: Option<String>,
}

/// Looks and judges. Without tiers, roles and fallbacks there is nothing to say.
pub(super) async fn check(_: &Context) -> Vec<Finding> {
    judge(daemon_program::output(&["jobs"]).await)
}

fn judge(told: io::Result<Output>) -> Vec<Finding> {
    let told = told.ok().filter(|output| output.status.success());
    match told.and_then(|output| serde_json::from_slice::<Vec<Job>>(&output.stdout).ok()) {
        Some(jobs) => jobs.iter().map(of).collect(),
        None => {
            let text = "cohabd did not report the other models";
            vec![finding("jobs", FindingVerdict::Fail, text).hint("`cohab models --tiers` may say why")]
        }
    }
}

fn of(job: &Job) -> Finding {
    let name = |text: &str| one_line(text, NAME_MAX_COLUMNS);
    let does = one_line(&job.does.join(", "), NAME_MAX_COLUMNS);
    let profile = name(&job.profile);
    if let Some(message) = &job.message {
        let text = format!("`{profile}` ({does}) cannot answer: {}", one_line(message, MESSAGE_MAX_COLUMNS));
        // The main model stands in for it.
        let found = finding("jobs", FindingVerdict::Warn, text);
        return match &job.hint {
            Some(hint) => found.hint(one_line(hint, MESSAGE_MAX_COLUMNS)),
            None => found,
        };
    }
    let who = match (job.model.as_deref(), job.service.as_str()) {
        (_, "") => "answers here".to_owned(),
        (Some(model), service) => format!("{} at {} ({})", name(model), name(service), name(&job.host)),
        (None, service) => format!("its own choice of model at {} ({})", name(service), name(&job.host)),
    };
    finding("jobs", FindingVerdict::Ok, format!("`{profile}` ({does}): {who}"))
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
    fn each_profile_says_what_it_does_and_what_it_lacks() {
        let found = told(
            r#"[{"profile": "cheap", "does": ["tier low", "role compactor"], "model": "small", "service": "Ollama",
                "host": "127.0.0.1:11434"},
            {"profile": "spare", "does": ["fallback"], "model": "m", "service": "Mistral", "host": "api.mistral.ai",
                "message": "the key of Mistral should be in MISTRAL_API_KEY, which is not set", "hint": "set it"}]"#,
        );
        insta::assert_snapshot!(rows(found));
        assert!(told("[]").is_empty());
        assert_eq!(told("nonsense")[0].verdict, FindingVerdict::Fail);
    }
}
