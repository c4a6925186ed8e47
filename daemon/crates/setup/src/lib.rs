//! Sets up a model service: chooses service, key and model for `cohab setup`, and tries them out before it writes.
//!
//! - [`interactive`] asks, [`scripted`] takes flags; both make a draft, which `check` tries and `save` writes. [`Setup`] is what they
//!   work on.
//! - [`probe`] sends one request to a model and shows what comes, for `cohab probe-model`.
//!
//! Invariants: nothing is written before the last answer, so leaving at any step changes nothing. A key is shown to nobody.
//!
//! This crate knows no command line: the commands are in `cohab-admin`.

mod check;
mod draft;
mod offer;
pub mod probe;
mod save;
mod script;
mod wizard;

use std::path::PathBuf;

use cohab_models::{
    key_store::{KeyError, KeyStores},
    resolution::ChoiceError,
};
use cohab_protocol::Paths;
use cohab_types::environment::Variables;
use secrecy::SecretString;

pub use self::{
    check::in_thousands,
    save::Saved,
    script::{Done, run as scripted},
    wizard::run as interactive,
};
use cohab_config::ConfigError;
use cohab_model_api::ProviderError;

use cohab_prompt::{Prompt, Row, Stopped, Tone};

/// What is set up, and for whom.
pub struct Setup {
    /// The user's files.
    pub paths: Paths,
    /// The stores of keys.
    pub stores: KeyStores,
    /// The user's environment.
    pub variables: Variables,
    /// The facts from the command line.
    pub given: Given,
}

/// The facts from the command line.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// A wire, a vendor or `offline`.
    pub provider: Option<String>,
    /// The address of the service.
    pub base_url: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// The source of the key.
    pub key: Option<GivenKey>,
    /// The profile to write; `[model]` without.
    pub profile: Option<String>,
    /// Whether to write without a real request.
    pub is_untested: bool,
}

/// A key from the command line.
#[derive(Clone, Debug)]
pub enum GivenKey {
    /// The content of this variable, at every use.
    Variable(String),
    /// The output of this command, at every use.
    Command(String),
    /// This key; it will be stored.
    Secret(SecretString),
}

/// The reason why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The user left.
    #[error("cancelled")]
    Cancelled,
    /// The user cannot be asked, and these flags are missing.
    #[error("setup cannot ask without a terminal, and the command line lacks {}", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// The command line makes no sense: a sentence and the remedy.
    #[error("{0}")]
    Usage(String, String),
    /// The service refused the test or did not answer.
    #[error(transparent)]
    Service(#[from] ProviderError),
    /// The answers do not go together.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The key cannot be fetched or stored.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The settings file is wrong or cannot be written.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The terminal is gone.
    #[error(transparent)]
    Terminal(std::io::Error),
}

impl From<Stopped> for SetupError {
    fn from(stopped: Stopped) -> Self {
        match stopped {
            Stopped::Cancelled => Self::Cancelled,
            Stopped::Gone(error) => Self::Terminal(error),
        }
    }
}

impl SetupError {
    /// The remedy for the user.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(_, hint) => Some(hint.clone()),
            Self::Missing(_) => Some("`cohab setup --help` shows all flags".into()),
            Self::Service(error) => error.hint.clone(),
            Self::Choice(error) => error.hint.clone(),
            Self::Key(error) => Some(error.hint.clone()),
            Self::Config(error) => error.hint.clone(),
            Self::Cancelled | Self::Terminal(_) => None,
        }
    }
}

impl Setup {
    fn variable(&self, name: &str) -> Option<String> {
        self.variables.get(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    /// Variables that override the settings about to be written.
    fn stronger_variables(&self) -> Vec<&'static str> {
        let all = ["COHAB_PROFILE", "COHAB_PROVIDER", "COHAB_BASE_URL", "COHAB_API_KEY", "COHAB_MODEL"];
        all.into_iter().filter(|name| self.variable(name).is_some()).collect()
    }

    /// Whether it runs at a prompt inside cohab, and not in another terminal that was opened from there.
    fn is_inside_cohab(&self) -> bool {
        let terminal = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok();
        terminal.is_some_and(|terminal| {
            self.variable("COHAB_TTY").is_some_and(|ours| terminal.to_bytes() == ours.as_bytes())
        })
    }

    fn config_file(&self) -> PathBuf {
        self.paths.config_file()
    }

    /// A path in its usual notation.
    fn shown_path(&self, path: &std::path::Path) -> String {
        let home = self.variable("HOME").map(PathBuf::from);
        let short = home.and_then(|home| Some(format!("~/{}", path.strip_prefix(home).ok()?.display())));
        short.unwrap_or_else(|| path.display().to_string())
    }
}
