//! The input of a step.

use std::sync::Arc;

use cohab_model_api::JsonObject;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The arguments of a call, shared with the call itself, or something else. As JSON it is just that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, from = "Value")]
pub enum Input {
    /// Arguments.
    Arguments(Arc<JsonObject>),
    /// A text, or nothing.
    Other(Value),
}

impl Input {
    /// The arguments, if it is that.
    #[must_use]
    pub fn arguments(&self) -> Option<&Arc<JsonObject>> {
        match self {
            Self::Arguments(arguments) => Some(arguments),
            Self::Other(_) => None,
        }
    }

    /// The text, if it is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Arguments(_) => None,
            Self::Other(value) => value.as_str(),
        }
    }
}

impl From<Value> for Input {
    fn from(value: Value) -> Self {
        match value {
            Value::Object(object) => Self::Arguments(Arc::new(object)),
            other => Self::Other(other),
        }
    }
}
