//! The composition root is the one place where implementations meet ports.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    TurnError, TurnLimits,
    port::{Approver, EventSink},
};
use cohab_config::{self, ConfigError, Settings, model_settings::ModelSettings, profile, step_rules::Action};
use cohab_context::{ignore_rules::IgnoreRules, workspace::OWN_IGNORE};
use cohab_guard::gate::standard_policy;
use cohab_model_api::{ModelProvider, Secrets};
use cohab_models::{
    detect,
    key_store::KeyStores,
    model_list,
    resolution::{self, Answerer, Choice, ChoiceError},
};
use cohab_offline::OfflineAssistant;
use cohab_protocol::Paths;
use cohab_sandbox::isolated::DaemonShell;
use cohab_secrets::secret_names::{Use, holds_secret};
use cohab_session::{Assembler, shell::isolated::IsolatedRunner};
use cohab_store::{Store, sessions::Limits};
use cohab_tools::ToolOptions;
use cohab_types::environment::Variables;
use tokio::time::timeout;

use crate::assembly::{
    Assembly, FlowCaller, FlowCalls, FlowModels, Guards, Jobs, Parts, ProviderChooser, TurnSettings,
};

/// For a service's list of models while the user waits for another model.
const LIST_LIMIT: Duration = Duration::from_secs(2);

/// The assembly for the daemon of this user; `secrets` stay in it.
#[must_use]
pub fn assembler(paths: &Paths, secrets: &Arc<Secrets>) -> Arc<dyn Assembler> {
    Arc::new(assembly(paths, secrets))
}

/// What runs the calls of a run of a flow.
///
/// # Errors
/// The settings are wrong.
pub fn flow_calls(paths: &Paths, secrets: &Arc<Secrets>, caller: FlowCaller) -> Result<FlowCalls, TurnError> {
    assembly(paths, secrets).flow_calls(caller)
}

/// The models of a run of a flow in a folder.
#[must_use]
pub fn flow_models(
    paths: &Paths,
    secrets: &Arc<Secrets>,
    run: (String, PathBuf),
    approver: Arc<dyn Approver>,
    sink: Arc<dyn EventSink>,
) -> FlowModels {
    FlowModels::new(assembly(paths, secrets), run, approver, sink)
}

fn assembly(paths: &Paths, secrets: &Arc<Secrets>) -> Assembly {
    let home = home();
    let parts = Parts {
        load_settings: Box::new({
            let home = home.clone();
            move |paths, variables| load_settings(paths, variables, &home)
        }),
        chooser: Arc::new(LearningChooser {
            inner: Chooser { stores: KeyStores::new(&paths.config_dir).telling(Arc::clone(secrets)) },
            secrets: Arc::clone(secrets),
        }),
        isolated_shell: Arc::new({
            let home = home.clone();
            move |cwd, environment, sandbox| {
                Arc::new(IsolatedRunner(keyless_shell(cwd, environment).within(sandbox).reading_only(home.clone())))
            }
        }),
        policy: standard_policy,
        home,
        store: Arc::new(Store::at(paths.usage_file())),
        secrets: Arc::clone(secrets),
    };
    Assembly::new(paths.clone(), parts)
}

/// A shell whose commands see the user's `environment`, or the daemon's if that is unknown, without variables named like keys: the
/// output goes to the model.
fn keyless_shell(cwd: &Path, environment: &Variables) -> DaemonShell {
    let shell = DaemonShell::new(cwd.to_owned());
    if environment.is_empty() {
        let own = std::env::vars_os().map(|(name, _)| name);
        return own.filter(|name| holds_secret(&name.to_string_lossy(), Use::Inherit)).fold(shell, DaemonShell::hiding);
    }
    let harmless = environment.iter().filter(|(name, _)| !holds_secret(name, Use::Inherit));
    shell.with_environment(harmless.map(|(name, value)| (OsString::from(name), OsString::from(value))))
}

/// The user's home with links resolved: judged paths have theirs resolved, too.
#[must_use]
pub fn home() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    home.canonicalize().unwrap_or(home)
}

fn load_settings(paths: &Paths, variables: &Variables, home: &Path) -> Result<TurnSettings, TurnError> {
    let wrong = |error: ConfigError| TurnError::Settings {
        message: error.to_string(),
        hint: error.hint.or_else(|| Some("`cohab config check` shows all that is wrong".into())),
    };
    let settings = cohab_config::load(paths).map_err(wrong)?;
    let models = cohab_config::models(paths).map_err(wrong)?;
    let model = settings.model_of(variables.get("COHAB_PROFILE").map(String::as_str));
    let mut model =
        model.map_err(|error| TurnError::Settings { message: error.to_string(), hint: Some(error.hint) })?;
    let rules = Arc::new(settings.rules());
    let name = variables.get("COHAB_MODEL").or(model.name.as_ref()).cloned().unwrap_or_default();
    if let Some(Action::Retry(times)) = rules.of_model(&name).map(|rule| rule.action) {
        model.retries = Some(times);
    }
    let jobs = jobs(&settings);
    let tools = cohab_tools::registry(&ToolOptions {
        home: home.to_owned(),
        command_timeout: settings.limits.command_timeout(),
        output_max_bytes: settings.limits.tool_output_max_bytes,
        ignore: IgnoreRules::new(home.to_owned(), paths.config_dir.join(OWN_IGNORE)),
    });
    Ok(TurnSettings {
        model,
        models: Arc::new(models),
        approval: settings.approval.mode,
        limits: TurnLimits { model_calls: settings.limits.steps_per_turn },
        tools,
        output_max_bytes: settings.limits.tool_output_max_bytes,
        mcp: Arc::new(settings.mcp),
        context: settings.context,
        kept: settings.sessions.enabled.then(|| Limits::of_days(settings.sessions.keep_days)),
        audit_days: settings.audit.keep_days(settings.sessions),
        sandbox: settings.sandbox.profile,
        guards: Guards {
            budget: settings.budget.limits(),
            rules,
            stalled_steps: settings.limits.stalled_steps,
            confined: settings.approval.confined,
        },
        is_cache_on: settings.cache.enabled,
        jobs,
    })
}

fn jobs(settings: &Settings) -> Jobs {
    let names = settings.profiles.keys().map(String::as_str).chain([profile::DEFAULT]);
    let profiles = names.filter_map(|name| Some((name.to_owned(), settings.model_of(Some(name)).ok()?)));
    Jobs { tiers: settings.tiers.clone(), roles: settings.roles.clone(), profiles: profiles.collect() }
}

/// The settings in force and the model that they and `variables` choose, without asking the user. A failure is not retried.
///
/// # Errors
/// As for a turn: the settings are wrong, or name something that cannot work.
pub async fn configured_once(paths: &Paths, variables: &Variables) -> Result<(TurnSettings, Choice), TurnError> {
    let mut settings = load_settings(paths, variables, &home())?;
    settings.model.retries = Some(0);
    let chooser = Chooser { stores: KeyStores::new(&paths.config_dir) };
    let choice = chooser.choose(&settings.model, variables).await;
    let choice = choice.map_err(|error| TurnError::Settings { message: error.message, hint: error.hint })?;
    Ok((settings, choice))
}

struct Chooser {
    stores: KeyStores,
}

#[async_trait]
impl ProviderChooser for Chooser {
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError> {
        let environment = |name: &str| variables.get(name).cloned();
        let hosts = detect::usual_hosts(environment("OLLAMA_HOST").as_deref());
        let offline = || -> Arc<dyn ModelProvider> { Arc::new(OfflineAssistant::new("no model is set up")) };
        resolution::choose(settings, &environment, &hosts, &self.stores, offline).await
    }

    async fn model_names(&self, settings: &ModelSettings, variables: &Variables) -> Option<Vec<String>> {
        let environment = |name: &str| variables.get(name).cloned();
        let Ok(Answerer::Service(service)) = resolution::answerer(settings, &environment, &[]).await else {
            return None;
        };
        let list = async {
            let key = match &service.key {
                Some(key) if key.source.asks_the_user() => return None,
                Some(key) => Some(key.secret(&self.stores, &service.account).await.ok()?),
                None => None,
            };
            model_list::models(&service, key).await.ok()
        };
        let models = timeout(LIST_LIMIT, list).await.ok()??;
        let is_whole = service.lists_its_models() && !models.is_empty();
        is_whole.then(|| models.into_iter().map(|model| model.id).collect())
    }
}

/// Learns the secrets in a client's environment before it chooses.
struct LearningChooser {
    inner: Chooser,
    secrets: Arc<Secrets>,
}

#[async_trait]
impl ProviderChooser for LearningChooser {
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError> {
        let secret = variables.iter().filter(|(name, _)| holds_secret(name, Use::Search));
        self.secrets.know(secret.map(|(_, value)| value.as_str()));
        self.inner.choose(settings, variables).await
    }

    async fn model_names(&self, settings: &ModelSettings, variables: &Variables) -> Option<Vec<String>> {
        self.inner.model_names(settings, variables).await
    }
}
