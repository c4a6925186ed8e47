//! The models next to the main one, for tiers, roles and fallbacks: made ready when they are needed, kept with the settings.

use std::{collections::BTreeMap, sync::Arc};

use cohab_config::{
    model_roles::{Role, RoleSettings, TierSettings},
    model_settings::ModelSettings,
    profile,
};
use cohab_model_api::ModelProvider;
use cohab_models::{
    fallback::Cooldowns,
    resolution::{Choice, ChoiceError},
};
use cohab_types::environment::Variables;
use tokio::sync::Mutex;

use super::ProviderChooser;

/// What the settings say about who does what.
#[derive(Clone, Default)]
pub struct Jobs {
    /// `[tiers]`.
    pub tiers: TierSettings,
    /// `[roles]`.
    pub roles: RoleSettings,
    /// All profiles, and `[model]` as `default`.
    pub profiles: BTreeMap<String, ModelSettings>,
}

/// The models beside the main one.
pub struct ModelPool {
    chooser: Arc<dyn ProviderChooser>,
    jobs: Jobs,
    variables: Variables,
    made: Mutex<BTreeMap<String, Arc<dyn ModelProvider>>>,
    /// Which of them failed just now.
    pub(super) cooldowns: Arc<Cooldowns>,
}

impl ModelPool {
    /// Of these settings, for a client with these variables.
    #[must_use]
    pub fn new(chooser: Arc<dyn ProviderChooser>, jobs: Jobs, variables: &Variables) -> Self {
        let mut variables = variables.clone();
        // The user means the main model by it.
        variables.remove("COHAB_MODEL");
        Self { chooser, jobs, variables, made: Mutex::default(), cooldowns: Arc::default() }
    }

    /// The model of a profile.
    ///
    /// # Errors
    /// It cannot work as it is set.
    pub async fn provider(&self, name: &str) -> Result<Arc<dyn ModelProvider>, ChoiceError> {
        let mut made = self.made.lock().await;
        if let Some(provider) = made.get(name) {
            return Ok(Arc::clone(provider));
        }
        let Some(settings) = self.jobs.profiles.get(name) else {
            return Err(ChoiceError { message: format!("there is no profile `{name}`"), hint: None });
        };
        match self.chooser.choose(settings, &self.variables).await? {
            Choice::Ready(provider) => {
                made.insert(name.to_owned(), Arc::clone(&provider));
                Ok(provider)
            }
            Choice::AskLocal { found, .. } => Err(ChoiceError {
                message: format!("the profile `{name}` names no provider"),
                hint: Some(
                    format!("set `provider` and `base_url` under [{}]", profile::table(Some(name)))
                        + &{ format!("; {} was found at {}", found.server, found.url) },
                ),
            }),
        }
    }

    /// The model of a role, if it has one of its own that works.
    pub async fn of_role(&self, role: Role) -> Option<Arc<dyn ModelProvider>> {
        let name = self.jobs.roles.get(&role)?;
        let provider = self.provider(name).await;
        provider.inspect_err(|error| tracing::warn!(role = role.name(), %error, "the model of a role")).ok()
    }
}
