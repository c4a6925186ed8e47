//! `cohab models --tiers` lists the models of each tier and role, from the settings alone. It sends no request.

use std::io::Write;

use cohab_config::{
    Settings,
    chosen_profile::UnknownProfile,
    model_roles::{Role, Tier},
    profile,
};
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::{Value, json};

use super::Failure;

/// Widest column of names.
const MAX_COLUMNS: usize = 30;

/// A task of a model.
struct Job {
    kind: &'static str,
    name: String,
    /// The profile that is set for it, `default` for `[model]`.
    profile: String,
    is_set: bool,
}

/// Prints the tasks, as one JSON object if wanted. `asked` is the profile that the user requests.
pub(super) fn show(
    settings: &Settings,
    asked: Option<&str>,
    as_json: bool,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let failed = |error: UnknownProfile| Failure::Other(error.to_string(), Some(error.hint));
    let main = settings.model_of(asked).map_err(failed)?;
    let main_name = main.profile.as_ref().map_or(profile::DEFAULT, |profile| profile.name.as_str());
    let job = |kind, name: &str, profile: Option<&str>| Job {
        kind,
        name: name.to_owned(),
        profile: profile.unwrap_or(main_name).to_owned(),
        is_set: profile.is_some(),
    };
    let main_job = std::iter::once(job("main", "", Some(main_name)));
    let tiers = Tier::ALL.into_iter().map(|tier| job("tier", tier.name(), settings.tiers.profile(tier)));
    let is_shown = |role: &&Role| !role.is_reserved() || settings.roles.contains_key(role);
    let roles = Role::ALL.iter().filter(is_shown);
    let roles = roles.map(|role| job("role", role.name(), settings.roles.get(role).map(String::as_str)));
    let fallback = main.fallback.iter().enumerate();
    let fallback = fallback.map(|(index, name)| job("fallback", &(index + 1).to_string(), Some(name)));
    let jobs: Vec<Job> = main_job.chain(tiers).chain(roles).chain(fallback).collect();
    if as_json {
        let rows: Vec<Value> = jobs.iter().map(|job| row(settings, job)).collect();
        writeln!(output, "{}", escaped_json(&json!({ "jobs": rows }).to_string()))?;
        return Ok(());
    }
    for job in jobs {
        let row = row(settings, &job);
        let word = |key: &str| one_line(row[key].as_str().unwrap_or("automatic"), MAX_COLUMNS);
        let whose = if job.is_set { word("profile") } else { "same as main".to_owned() };
        let name = format!("{} {}", job.kind, job.name);
        writeln!(output, "{name:<18}  {whose:<16}  {:<14}  {}", word("provider"), word("model"))?;
    }
    Ok(())
}

/// `provider` and `model` are null where the environment, or the service, decides.
fn row(settings: &Settings, job: &Job) -> Value {
    let model = settings.model_of(Some(&job.profile)).unwrap_or_default();
    json!({
        "kind": job.kind, "name": job.name, "profile": job.profile, "is_set": job.is_set,
        "provider": model.provider, "model": model.name,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "[model]\nprovider = 'openai'\nname = 'big-1'\nfallback = ['spare']\n[tiers]\nlow = 'cheap'\n\
        [roles]\ncompactor = 'cheap'\n[profiles.cheap]\nprovider = 'ollama'\nname = 'small-1'\n[profiles.spare]\n";

    fn shown(as_json: bool) -> String {
        let mut output = Vec::new();
        show(&toml::from_str(FILE).unwrap(), None, as_json, &mut output).unwrap();
        String::from_utf8(output).unwrap()
    }

    #[test]
    fn each_job_has_its_row() {
        let text = shown(false);
        let row = |start: &str| text.lines().find(|line| line.starts_with(start)).map(str::split_whitespace);
        let words = |start: &str| row(start).map(Iterator::collect::<Vec<_>>).unwrap_or_default();
        assert_eq!(words("main"), ["main", "default", "openai", "big-1"]);
        assert_eq!(words("tier low"), ["tier", "low", "cheap", "ollama", "small-1"]);
        assert_eq!(words("tier high"), ["tier", "high", "same", "as", "main", "openai", "big-1"]);
        assert_eq!(words("role compactor"), ["role", "compactor", "cheap", "ollama", "small-1"]);
        assert_eq!(words("fallback 1"), ["fallback", "1", "spare", "automatic", "automatic"]);
        assert_eq!(text.lines().count(), 1 + 3 + 5 + 1, "reserved roles are left out");
    }

    #[test]
    fn scripts_get_the_same_as_one_object() {
        let told: Value = serde_json::from_str(&shown(true)).unwrap();
        let low = &told["jobs"][1];
        assert_eq!(
            *low,
            json!({"kind": "tier", "name": "low", "profile": "cheap", "is_set": true, "provider": "ollama", "model": "small-1"})
        );
    }
}
