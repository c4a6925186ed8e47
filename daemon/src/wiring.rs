//! The composition root: the one place where implementations meet ports.

use std::{path::PathBuf, sync::Arc};

use async_trait::async_trait;
use cohab_protocol::{ApprovalMode, Paths};
use cohab_shell_relay::runner::{CommandOutcome, CommandRequest, CommandRunner, RelayError};
use tokio_util::sync::CancellationToken;

use crate::{
    agent::{TurnError, TurnLimits},
    assembly::{Assembly, Choice, Parts, ProviderChooser, TurnSettings},
    provider::settings::ModelSettings,
    safety::gate::standard_policy,
    server::{Assembler, session::Variables},
};

/// What the daemon of this user works with.
#[must_use]
pub fn assembler(paths: &Paths) -> Arc<dyn Assembler> {
    let parts = Parts {
        load_settings: Box::new(load_settings),
        chooser: Arc::new(Chooser),
        isolated_shell: Box::new(|cwd| Arc::new(NoShell { cwd: cwd.to_owned() })),
        policy: standard_policy,
        home: std::env::var_os("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from),
    };
    Arc::new(Assembly::new(paths.clone(), parts))
}

fn load_settings(_paths: &Paths) -> Result<TurnSettings, TurnError> {
    Ok(TurnSettings {
        model: ModelSettings::default(),
        approval: ApprovalMode::default(),
        limits: TurnLimits { model_calls: 50 },
        tools: Vec::new(),
    })
}

/// Joined with `provider::choice` when that is here.
struct Chooser;

#[async_trait]
impl ProviderChooser for Chooser {
    async fn choose(&self, _settings: &ModelSettings, _variables: &Variables) -> Result<Choice, TurnError> {
        Err(TurnError::Settings { message: "this build has no model provider".into(), hint: None })
    }
}

/// Joined with the isolated shell of the relay when that is here.
struct NoShell {
    cwd: PathBuf,
}

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(&self, _request: CommandRequest, _cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        self.cwd.clone()
    }
}
