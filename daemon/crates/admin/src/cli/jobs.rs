//! `cohabd jobs` checks for `cohab doctor` that the models of tiers, roles and fallbacks could answer. It sends no request, runs no
//! command and opens no keyring for a key.
//!
//! Prints a JSON list, an object for each profile that does something: `profile`, `does` (words), `model` (`null` if the service is
//! asked for it), `service` and `host` (both empty where nothing is sent), and if it cannot answer `message` and `hint`. The list is
//! empty if the settings cannot be read: `cohab config check` says why.

use std::{collections::BTreeMap, io::Write, process::ExitCode};

use clap::Args;
use cohab_config::{
    self, Settings,
    model_roles::{Role, Tier},
    model_settings::KeyStore,
    profile,
};
use cohab_models::{
    http,
    key::Source,
    key_store::KeyStores,
    resolution::{self, Answerer},
    resolved_endpoint::ResolvedEndpoint,
};
use cohab_protocol::Paths;
use cohab_types::environment::Variables;
use serde_json::{Value, json};

use super::{Failure, ModelFlags};

/// Print whether the models of tiers, roles and fallbacks could answer, as JSON, for `cohab doctor`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct JobsArgs {}

/// Runs it.
pub fn run(_: &JobsArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let told = runtime.map_err(Failure::from).and_then(|runtime| {
        let told = runtime.block_on(jobs(paths, &ModelFlags::default().variables()));
        writeln!(output, "{}", Value::Array(told)).map_err(Failure::from)
    });
    super::finish(told, output, errors)
}

async fn jobs(paths: &Paths, variables: &Variables) -> Vec<Value> {
    let Ok(settings) = cohab_config::load(paths) else { return Vec::new() };
    // The user sets it for the main model only.
    let environment = |name: &str| variables.get(name).filter(|_| name != "COHAB_MODEL").cloned();
    let mut all = Vec::new();
    for (name, does) in in_use(&settings, variables) {
        let mut told = json!({"profile": name, "does": does, "model": null, "service": "", "host": ""});
        let complaint = match settings.model_of(Some(&name)) {
            Err(error) => Some((error.to_string(), Some(error.hint))),
            // Servers of this machine are looked for only where no profile is named.
            Ok(model) => match resolution::answerer(&model, &environment, &[]).await {
                Err(error) => Some((error.message, error.hint)),
                Ok(Answerer::Script(_)) => None,
                Ok(Answerer::Offline) if model.provider.as_deref() == Some("offline") => None,
                Ok(Answerer::Offline | Answerer::Local(..)) => {
                    let hint = format!("set `provider` under [{}]", profile::table(Some(&name)));
                    Some((format!("the profile `{name}` has no provider"), Some(hint)))
                }
                Ok(Answerer::Service(service)) => {
                    told["model"] = service.likely_model().into();
                    told["service"] = service.name.as_str().into();
                    told["host"] = http::host_of(&service.base).into();
                    lacks_key(paths, &service).await
                }
            },
        };
        if let Some((message, hint)) = complaint {
            told["message"] = message.into();
            told["hint"] = hint.into();
        }
        all.push(told);
    }
    all
}

/// The tasks of each named profile.
fn in_use(settings: &Settings, variables: &Variables) -> BTreeMap<String, Vec<String>> {
    let mut all = BTreeMap::<String, Vec<String>>::new();
    let mut add = |name: &str, does: String| all.entry(name.to_owned()).or_default().push(does);
    for tier in Tier::ALL {
        settings.tiers.profile(tier).into_iter().for_each(|name| add(name, format!("tier {}", tier.name())));
    }
    for (role, name) in &settings.roles {
        add(name, format!("role {}", Role::name(*role)));
    }
    let main = settings.model_of(variables.get("COHAB_PROFILE").map(String::as_str));
    main.iter().flat_map(|main| &main.fallback).for_each(|name| add(name, "fallback".to_owned()));
    all
}

/// A key that should be at hand and is not.
async fn lacks_key(paths: &Paths, service: &ResolvedEndpoint) -> Option<(String, Option<String>)> {
    let key = service.key.as_ref()?;
    match key.source {
        Source::Command(_) | Source::Stored(KeyStore::Keyring) => None,
        Source::Here(_) | Source::Stored(KeyStore::File) => {
            let secret = key.secret(&KeyStores::new(&paths.config_dir), &service.account).await;
            secret.err().map(|error| (error.message, Some(error.hint)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;
    use crate::cli::testing::Home;

    #[tokio::test]
    async fn each_profile_that_does_something_is_told_with_what_it_lacks() {
        let home = Home::empty();
        std::fs::create_dir_all(&home.paths.config_dir).expect("a folder");
        let file = home.paths.config_file();
        let text = "[model]\nprovider = 'offline'\nfallback = ['spare']\n[tiers]\nlow = 'cheap'\nhigh = 'bare'\n\
                    [roles]\ncompactor = 'cheap'\n[profiles.cheap]\nprovider = 'ollama'\nname = 'small'\n[profiles.bare]\n\
                    name = 'x'\n[profiles.spare]\nprovider = 'mistral'\nname = 'm'\n[profiles.idle]\n";
        std::fs::write(&file, text).expect("it is written");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).expect("ours");
        let told = jobs(&home.paths, &Variables::default()).await;
        let names: Vec<&str> = told.iter().filter_map(|one| one["profile"].as_str()).collect();
        assert_eq!(names, ["bare", "cheap", "spare"]);
        assert_eq!(told[0]["message"], "the profile `bare` has no provider");
        assert_eq!((&told[1]["does"], &told[1]["model"]), (&json!(["tier low", "role compactor"]), &json!("small")));
        assert!(told[1].get("message").is_none(), "{told:?}");
        assert!(told[2]["message"].as_str().is_some_and(|message| message.contains("key")), "{told:?}");
        let with_key: Variables = [("MISTRAL_API_KEY".to_owned(), "k".to_owned())].into();
        assert!(jobs(&home.paths, &with_key).await[2].get("message").is_none());
    }
}
