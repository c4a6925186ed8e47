//! The port through which the assembly chooses a provider.

use async_trait::async_trait;
use cohab_config::model_settings::ModelSettings;
use cohab_models::resolution::{Choice, ChoiceError};
use cohab_types::environment::Variables;

/// Chooses the provider of answers.
#[async_trait]
pub trait ProviderChooser: Send + Sync {
    /// Decides from the settings and the client's environment; may look for a server on this machine.
    ///
    /// # Errors
    /// An explicit setting cannot work.
    async fn choose(&self, settings: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError>;

    /// The names of the service's models; `None` if they are not known soon, or only after the user was asked for a key.
    async fn model_names(&self, _settings: &ModelSettings, _variables: &Variables) -> Option<Vec<String>> {
        None
    }
}
