//! The model pool prepares the models of tiers, roles and fallbacks on first use and keeps them as long as the settings hold.

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

/// The models of tiers and roles in the settings.
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
        // The user sets it for the main model only.
        variables.remove("COHAB_MODEL");
        Self { chooser, jobs, variables, made: Mutex::default(), cooldowns: Arc::default() }
    }

    /// The model of a profile.
    ///
    /// # Errors
    /// The profile cannot work as it is set.
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
                message: format!("the profile `{name}` has no provider"),
                hint: Some(
                    format!("set `provider` and `base_url` under [{}]", profile::table(Some(name)))
                        + &{ format!("; {} was found at {}", found.server, found.url) },
                ),
            }),
        }
    }

    /// The separate model of a role, if there is one and it works.
    pub async fn of_role(&self, role: Role) -> Option<Arc<dyn ModelProvider>> {
        let name = self.jobs.roles.get(&role)?;
        let provider = self.provider(name).await;
        provider.inspect_err(|error| tracing::warn!(role = role.name(), %error, "the model of a role")).ok()
    }
}
