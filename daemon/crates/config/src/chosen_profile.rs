//! The choice of a profile: the settings of the model in force. Pure.

use super::{Settings, keys};
use crate::{
    model_settings::{AskedBy, ModelSettings, Profile, TimeoutSettings},
    profile::{DEFAULT, NAME_MAX_BYTES},
};

/// Returns advice for a user who named a missing profile, with the known ones.
pub(super) fn advice(name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("there are no profiles; `cohab setup --profile {name}` makes this one");
    }
    let near = keys::nearest(name, known).map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
    format!("{near}profiles: `{}`, `{DEFAULT}`", known.join("`, `"))
}

/// The error of naming a missing profile.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no profile `{name}`")]
pub struct UnknownProfile {
    /// Its name.
    pub name: String,
    /// Advice for the user.
    pub hint: String,
}

impl Settings {
    /// Returns the settings of the model: the profile `asked` for, else the file's profile, else `[model]`. Time limits and retries that a
    /// profile leaves out come from `[model]`, since they depend on the connection and not on the service.
    ///
    /// # Errors
    /// The profile does not exist.
    pub fn model_of(&self, asked: Option<&str>) -> Result<ModelSettings, UnknownProfile> {
        let asked = asked.map(str::trim).filter(|name| !name.is_empty());
        let Some(name) = asked.or(self.profile.as_deref()) else { return Ok(self.model.clone()) };
        let asked_by = if asked.is_some() { AskedBy::User } else { AskedBy::File };
        let profile = Some(Profile { name: name.to_owned(), asked_by });
        if name == DEFAULT {
            return Ok(ModelSettings { profile, ..self.model.clone() });
        }
        let Some(own) = self.profiles.get(name) else {
            let known: Vec<&str> = self.profiles.keys().map(String::as_str).collect();
            let shown: String = name.chars().filter(|c| !c.is_control()).take(NAME_MAX_BYTES).collect();
            return Err(UnknownProfile { hint: advice(&shown, &known), name: shown });
        };
        let (ours, base) = (own.timeouts, self.model.timeouts);
        let timeouts = TimeoutSettings {
            connect_ms: ours.connect_ms.or(base.connect_ms),
            headers_ms: ours.headers_ms.or(base.headers_ms),
            byte_idle_ms: ours.byte_idle_ms.or(base.byte_idle_ms),
            payload_idle_ms: ours.payload_idle_ms.or(base.payload_idle_ms),
        };
        Ok(ModelSettings { profile, timeouts, retries: own.retries.or(self.model.retries), ..own.clone() })
    }
}

#[cfg(test)]
#[path = "chosen_profile_tests.rs"]
mod tests;
