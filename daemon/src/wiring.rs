//! The composition root: the one place where implementations meet ports.

use std::{ffi::OsStr, path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_protocol::Paths;
use cohab_shell_relay::isolated::DaemonShell;

use crate::{
    agent::{TurnError, TurnLimits, port::ModelProvider},
    assembly::{Assembly, Parts, ProviderChooser, TurnSettings},
    config,
    provider::{
        choice::{self, Choice, ChoiceError},
        detect,
        offline::OfflineAssistant,
        settings::ModelSettings,
    },
    safety::gate::standard_policy,
    server::{Assembler, session::Variables},
    tool::{self, ToolOptions},
};

/// What the daemon of this user works with.
#[must_use]
pub fn assembler(paths: &Paths) -> Arc<dyn Assembler> {
    let home = home();
    let parts = Parts {
        load_settings: Box::new({
            let home = home.clone();
            move |paths| load_settings(paths, &home)
        }),
        chooser: Arc::new(Chooser),
        isolated_shell: Box::new(|cwd| {
            let keys = std::env::vars_os().map(|(name, _)| name).filter(|name| is_key(name));
            Arc::new(keys.fold(DaemonShell::new(cwd.to_owned()), DaemonShell::hiding))
        }),
        policy: standard_policy,
        home,
    };
    Arc::new(Assembly::new(paths.clone(), parts))
}

/// Of a variable that holds a model's key: commands have no business with it.
fn is_key(name: &OsStr) -> bool {
    name.to_string_lossy().ends_with("_API_KEY")
}

/// The user's home with links resolved: paths that are judged have theirs resolved, too.
fn home() -> PathBuf {
    let home = std::env::home_dir().unwrap_or_else(|| PathBuf::from("/"));
    home.canonicalize().unwrap_or(home)
}

fn load_settings(paths: &Paths, home: &std::path::Path) -> Result<TurnSettings, TurnError> {
    let settings = config::load(paths).map_err(|error| TurnError::Settings {
        message: error.to_string(),
        hint: error.hint.or_else(|| Some("`cohab config check` shows all that is wrong".into())),
    })?;
    let tools = tool::registry(&ToolOptions {
        home: home.to_owned(),
        command_timeout: settings.limits.command_timeout(),
        output_max_bytes: settings.limits.tool_output_max_bytes,
    });
    Ok(TurnSettings {
        model: settings.model,
        approval: settings.approval.mode,
        limits: TurnLimits { model_calls: settings.limits.steps_per_turn },
        tools,
    })
}

struct Chooser;

#[async_trait]
impl ProviderChooser for Chooser {
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError> {
        let environment = |name: &str| variables.get(name).cloned();
        let hosts = detect::usual_hosts(environment("OLLAMA_HOST").as_deref());
        let offline = || -> Arc<dyn ModelProvider> { Arc::new(OfflineAssistant::new("no model is set up")) };
        choice::choose(settings, &environment, &hosts, offline).await
    }
}
