//! Settings of a model that cannot work.

use cohab_config::keys;
use cohab_wires::vendor::{self, Spoken};

/// Settings that cannot work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ChoiceError {
    /// One sentence.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
}

impl ChoiceError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}

/// The wire or vendor of this name.
pub(super) fn spoken_by(name: &str) -> Result<Spoken, ChoiceError> {
    vendor::named(name).ok_or_else(|| {
        let names = keys::provider_names();
        let guess =
            keys::nearest(name, &names).map(|nearest| format!("did you mean {nearest:?}? ")).unwrap_or_default();
        ChoiceError::new(format!("there is no model provider {name:?}"), format!("{guess}known: {}", names.join(", ")))
    })
}
