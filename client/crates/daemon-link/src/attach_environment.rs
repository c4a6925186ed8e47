//! The settings that the client sends to the daemon when it joins a session: model variables, the environment for commands, and the
//! approval mode.

use cohab_protocol::{ApprovalMode, Attach, EnvSetting, HOME_VARIABLE, MAX_ENVIRONMENT_BYTES, SessionKey};
use cohab_secrets::secret_names::{Use, holds_secret};

/// A request to join `session` without a live shell, with this process's environment. `flags` choose the model over the environment.
#[must_use]
pub fn attach_without_shell(
    session: SessionKey,
    approval: ApprovalMode,
    can_approve: bool,
    flags: Vec<(String, String)>,
    key_variables: &[String],
) -> Attach {
    Attach {
        session,
        live_shell: None,
        approval,
        can_approve,
        has_lock: false,
        settings: model_variables(environment(), flags, key_variables),
        environment: shell_environment(environment(), key_variables),
        resume: None,
    }
}

/// The variables that choose a model: the user's shell decides, not the one that happened to start the daemon. Those of `flags`
/// take the place of the environment's; those of `key_variables` hold keys by the settings.
#[must_use]
pub fn model_variables(
    environment: impl Iterator<Item = (String, String)>,
    flags: Vec<(String, String)>,
    key_variables: &[String],
) -> Vec<EnvSetting> {
    let is_wanted = |name: &str| is_model_variable(name) || key_variables.iter().any(|variable| variable == name);
    let is_overruled = |name: &str| flags.iter().any(|(flag, _)| flag == name);
    let environment: Vec<_> = environment.filter(|(name, _)| !is_overruled(name)).collect();
    let mut settings: Vec<EnvSetting> = environment
        .into_iter()
        .chain(flags)
        .filter(|(name, value)| is_wanted(name) && !value.is_empty())
        .map(|(name, value)| EnvSetting { name, value })
        .collect();
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    settings
}

/// Those without a common ending: our own, and those of vendors that use other names.
const MODEL_VARIABLES: [&str; 9] = [
    "COHAB_PROFILE",
    "COHAB_PROVIDER",
    "COHAB_BASE_URL",
    "COHAB_API_KEY",
    "COHAB_MODEL",
    "COHAB_TIER",
    "OLLAMA_HOST",
    "HF_TOKEN",
    "AZURE_OPENAI_ENDPOINT",
];

fn is_model_variable(name: &str) -> bool {
    MODEL_VARIABLES.contains(&name) || name.ends_with("_API_KEY") || name.ends_with("_BASE_URL")
}

/// What commands in a shell of their own are to see: the environment without our own variables and what is a key, by its name or
/// by the settings. In order of name; what does not fit into `MAX_ENVIRONMENT_BYTES` is left out.
#[must_use]
pub fn shell_environment(
    environment: impl Iterator<Item = (String, String)>,
    key_variables: &[String],
) -> Vec<EnvSetting> {
    let is_ours = |name: &str| name.starts_with("COHAB_") && name != HOME_VARIABLE;
    let is_key = |name: &str| holds_secret(name, Use::Inherit) || key_variables.iter().any(|variable| variable == name);
    let mut settings: Vec<EnvSetting> = environment
        .filter(|(name, _)| !is_ours(name) && !is_key(name))
        .map(|(name, value)| EnvSetting { name, value })
        .collect();
    settings.sort_by(|a, b| a.name.cmp(&b.name));
    let mut room = MAX_ENVIRONMENT_BYTES;
    settings.retain(|setting| {
        let left = room.checked_sub(setting.name.len() + setting.value.len());
        room = left.unwrap_or(room);
        left.is_some()
    });
    settings
}

/// The approval mode in force: the command line, else `COHAB_APPROVAL`, else the settings, else `ask`.
///
/// # Errors
/// A sentence, if the value that decides is invalid.
pub fn approval_mode(
    argument: Option<ApprovalMode>,
    variable: Option<&str>,
    setting: Option<&str>,
) -> Result<ApprovalMode, String> {
    if let Some(mode) = argument {
        return Ok(mode);
    }
    if let Some(text) = variable.filter(|text| !text.is_empty()) {
        return text.parse().map_err(|error| format!("COHAB_APPROVAL: {error}"));
    }
    setting.map_or(Ok(ApprovalMode::default()), |text| text.parse().map_err(|error| format!("approval.mode: {error}")))
}

/// The process's environment as text; variables that are not UTF-8 are none of ours.
pub fn environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_chooses_a_model_travels() {
        let environment = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "sk"),
            ("COHAB_MODEL", "m"),
            ("ANTHROPIC_BASE_URL", ""),
            ("AWS_SECRET_ACCESS_KEY", "x"),
            ("COHAB_TTY", "/dev/pts/1"),
        ];
        let environment = || environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let sent = |flags: &[(&str, &str)], key_variables: &[&str]| -> Vec<String> {
            let key_variables: Vec<String> = key_variables.iter().map(|name| (*name).to_owned()).collect();
            let flags = flags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
            let settings = model_variables(environment(), flags, &key_variables);
            settings.into_iter().map(|setting| format!("{}={}", setting.name, setting.value)).collect()
        };
        assert_eq!(sent(&[], &["NONE"]), ["COHAB_MODEL=m", "OPENAI_API_KEY=sk"]);
        let flags = [("COHAB_PROFILE", "work"), ("COHAB_MODEL", "other")];
        assert_eq!(sent(&[], &["AWS_SECRET_ACCESS_KEY"])[0], "AWS_SECRET_ACCESS_KEY=x");
        assert_eq!(sent(&flags, &[]), ["COHAB_MODEL=other", "COHAB_PROFILE=work", "OPENAI_API_KEY=sk"]);
    }

    #[test]
    fn commands_see_the_users_environment_without_keys() {
        let huge = "x".repeat(MAX_ENVIRONMENT_BYTES);
        let environment = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "sk"),
            ("GH_TOKEN", "t"),
            ("COHAB_MODEL", "m"),
            ("COHAB_HOME", "/h"),
            ("BIG", huge.as_str()),
            ("LANG", ""),
            ("MINE", "sk"),
        ];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        let seen = shell_environment(environment, &["MINE".to_owned()]);
        let seen: Vec<(&str, &str)> = seen.iter().map(|one| (one.name.as_str(), one.value.as_str())).collect();
        assert_eq!(seen, [("COHAB_HOME", "/h"), ("LANG", ""), ("PATH", "/bin")]);
    }

    #[test]
    fn the_nearest_choice_of_mode_wins() {
        let all = Some(ApprovalMode::All);
        assert_eq!(approval_mode(all, Some("ask"), None), Ok(ApprovalMode::All));
        assert_eq!(approval_mode(None, Some("read-only"), Some("all")), Ok(ApprovalMode::ReadOnly));
        assert_eq!(approval_mode(None, Some(""), Some("all")), Ok(ApprovalMode::All));
        assert_eq!(approval_mode(None, None, None), Ok(ApprovalMode::Ask));
        assert!(approval_mode(None, Some("yes"), None).unwrap_err().starts_with("COHAB_APPROVAL:"));
    }
}
