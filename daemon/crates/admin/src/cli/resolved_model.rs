//! `cohabd who` reports the model that would answer now, the reason, and its reachability. For `cohab doctor`.
//!
//! Prints one JSON object. `kind`: `service`, `local` (found on this machine, the user is asked before its first use), `offline`,
//! `script` or `none`. Of the first two: `name`, `host`, `model` (absent if the service is asked for it), `origin` (the setting that
//! decided), `key` (where the key comes from, never the key). `reached` is the result of the request for the list of models:
//! `is_asked`, `models` (their number), `message` and `hint` if it failed or was not tried, `is_there` if the service answered all the
//! same. `assumed_window_tokens` is the size of the model's context where neither the settings, its server nor a table says it. Of `none`:
//! `message` and `hint`.

use std::{io::Write, process::ExitCode, time::Duration};

use clap::Args;
use cohab_config::{self, model_settings::KeyStore};
use cohab_model_api::{
    ProviderErrorKind,
    window_size::{WindowSource, WindowSources},
};
use cohab_models::{
    detect, http,
    key::Source,
    key_store::KeyStores,
    model_list,
    resolution::{self, Answerer},
    resolved_endpoint::ResolvedEndpoint,
};
use cohab_protocol::Paths;
use cohab_types::environment::Variables;
use serde_json::{Value, json};
use tokio::time::timeout;

use super::{Failure, ModelFlags};

/// Somebody answered, and may answer questions too: not every service has a list of its models.
const ANSWERED: [ProviderErrorKind; 5] = [
    ProviderErrorKind::ModelNotFound,
    ProviderErrorKind::InvalidRequest,
    ProviderErrorKind::Protocol,
    ProviderErrorKind::RateLimit,
    ProviderErrorKind::Overloaded,
];
/// For the list of models.
const REACH_LIMIT: Duration = Duration::from_secs(3);

/// Print who would answer, and whether they can be reached, as JSON, for `cohab doctor`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct WhoArgs {}

/// Runs it.
pub fn run(_: &WhoArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let told = runtime.map_err(Failure::from).and_then(|runtime| {
        let told = runtime.block_on(who(paths, &ModelFlags::default().variables()));
        writeln!(output, "{told}").map_err(Failure::from)
    });
    super::finish(told, output, errors)
}

async fn who(paths: &Paths, variables: &Variables) -> Value {
    match answerer(paths, variables).await {
        Ok(Answerer::Offline) => json!({"kind": "offline"}),
        Ok(Answerer::Script(_)) => json!({"kind": "script"}),
        Ok(Answerer::Service(mut service)) => {
            let reached = reached(paths, &service).await;
            let mut told = told("service", &service, &reached);
            told["assumed_window_tokens"] = assumed_window(paths, variables, &mut service).await.into();
            told
        }
        // Finding it was asking it.
        Ok(Answerer::Local(found, service)) => {
            let mut told = told("local", &service, &json!({"is_asked": true, "models": found.models.len()}));
            told["model"] = found.model.into();
            told
        }
        Err((message, hint)) => json!({"kind": "none", "message": message, "hint": hint}),
    }
}

/// The context size that is assumed for the model; `None` if it is known, or if the model is not. No service elsewhere is asked.
async fn assumed_window(paths: &Paths, variables: &Variables, service: &mut ResolvedEndpoint) -> Option<u64> {
    let model = service.likely_model()?.to_owned();
    let settings = cohab_config::load(paths).ok()?;
    let own = settings.model_of(variables.get("COHAB_PROFILE").map(String::as_str)).ok()?;
    let host = http::host_of(&service.base);
    let table = cohab_config::models(paths).ok()?.context_window_tokens(&host, &model);
    let is_local = http::is_loopback(&service.base);
    let settings = own.context_window_tokens;
    let server = if settings.is_none() { service.window_tokens(&model).await } else { None };
    let window = WindowSources { settings, server, table, is_local }.decide(None);
    (window.source == WindowSource::Default).then_some(window.tokens)
}

type Complaint = (String, Option<String>);

async fn answerer(paths: &Paths, variables: &Variables) -> Result<Answerer, Complaint> {
    let settings = cohab_config::load(paths).map_err(|error| (error.to_string(), error.hint))?;
    let settings = settings.model_of(variables.get("COHAB_PROFILE").map(String::as_str));
    let settings = settings.map_err(|error| (error.to_string(), Some(error.hint)))?;
    let environment = |name: &str| variables.get(name).cloned();
    let hosts = detect::usual_hosts(environment("OLLAMA_HOST").as_deref());
    resolution::answerer(&settings, &environment, &hosts).await.map_err(|error| (error.message, error.hint))
}

fn told(kind: &str, service: &ResolvedEndpoint, reached: &Value) -> Value {
    json!({
        "kind": kind, "name": service.name, "host": http::host_of(&service.base), "model": service.likely_model(),
        "origin": service.origin(), "key": service.key.as_ref().map(|_| &service.key_place), "reached": reached,
    })
}

/// Asks for the list of models, unless getting the key may open a dialog or ask for a passphrase.
async fn reached(paths: &Paths, service: &ResolvedEndpoint) -> Value {
    let not_asked = |message: &str| json!({"is_asked": false, "message": message});
    let key = match &service.key {
        Some(key) => match key.source {
            Source::Command(_) => return not_asked("its key comes from a command, which was not run"),
            Source::Stored(KeyStore::Keyring) => return not_asked("its key is in the keyring, which was not opened"),
            Source::Here(_) | Source::Stored(KeyStore::File) => {
                match key.secret(&KeyStores::new(&paths.config_dir), &service.account).await {
                    Ok(secret) => Some(secret),
                    Err(error) => return json!({"is_asked": false, "message": error.message, "hint": error.hint}),
                }
            }
        },
        None => None,
    };
    match timeout(REACH_LIMIT, model_list::models(service, key)).await {
        Ok(Ok(models)) => json!({"is_asked": true, "models": models.len()}),
        Ok(Err(error)) => {
            let is_there = ANSWERED.contains(&error.kind);
            json!({"is_asked": true, "is_there": is_there, "message": error.message, "hint": error.hint})
        }
        Err(_) => {
            let message = format!("{} did not answer within {} s", service.name, REACH_LIMIT.as_secs());
            json!({"is_asked": true, "message": message, "hint": "check the network and the service"})
        }
    }
}
