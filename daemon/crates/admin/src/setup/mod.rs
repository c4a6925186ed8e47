//! `cohab setup`: which service, which key, which model; tried out before anything is written.
//!
//! `wizard` asks, `script` takes flags; both make a draft, which `check` tries and `save` writes. Nothing is written
//! before the last answer, so that leaving at any step leaves everything as it was.

mod check;
mod draft;
mod offer;
mod prompt;
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

pub(crate) use self::check::in_thousands;
pub use self::{
    prompt::{Plain, Prompt, Row, Screen, Stopped, Terminal, Tone},
    save::Saved,
    script::{Done, run as scripted},
    wizard::run as interactive,
};
use cohab_config::ConfigError;
use cohab_model_api::ProviderError;

/// What is set up, and for whom.
pub struct Setup {
    /// Where the user's files are.
    pub paths: Paths,
    /// Where keys are kept.
    pub stores: KeyStores,
    /// The user's environment.
    pub variables: Variables,
    /// What the command line says already.
    pub given: Given,
}

/// What the command line says.
#[derive(Clone, Debug, Default)]
pub struct Given {
    /// A wire, a vendor or `offline`.
    pub provider: Option<String>,
    /// Where the service is.
    pub base_url: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// Where the key is.
    pub key: Option<GivenKey>,
    /// The profile to write; `[model]` without.
    pub profile: Option<String>,
    /// Whether to write without a real request.
    pub is_untested: bool,
}

/// A key from the command line.
#[derive(Clone, Debug)]
pub enum GivenKey {
    /// In this variable, at every use.
    Variable(String),
    /// Printed by this command, at every use.
    Command(String),
    /// This one; it will be stored.
    Secret(SecretString),
}

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The user left.
    #[error("cancelled")]
    Cancelled,
    /// There is nobody to ask, and these flags are missing.
    #[error("there is no terminal to ask at, and the command line lacks {}", .0.join(", "))]
    Missing(Vec<&'static str>),
    /// The command line makes no sense: a sentence and what to do.
    #[error("{0}")]
    Usage(String, String),
    /// The service refused the test or did not answer.
    #[error(transparent)]
    Service(#[from] ProviderError),
    /// The answers do not go together.
    #[error(transparent)]
    Choice(#[from] ChoiceError),
    /// The key cannot be got or kept.
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
    /// What the user can do.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Usage(_, hint) => Some(hint.clone()),
            Self::Missing(_) => Some("`cohab setup --help` shows all of them".into()),
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

    /// Variables that win over what is about to be written.
    fn stronger_variables(&self) -> Vec<&'static str> {
        let all = ["COHAB_PROFILE", "COHAB_PROVIDER", "COHAB_BASE_URL", "COHAB_API_KEY", "COHAB_MODEL"];
        all.into_iter().filter(|name| self.variable(name).is_some()).collect()
    }

    /// Whether it runs at a prompt of cohab's own, and not in another terminal that was opened from there.
    fn is_inside_cohab(&self) -> bool {
        let terminal = rustix::termios::ttyname(std::io::stdin(), Vec::new()).ok();
        terminal.is_some_and(|terminal| {
            self.variable("COHAB_TTY").is_some_and(|ours| terminal.to_bytes() == ours.as_bytes())
        })
    }

    fn config_file(&self) -> PathBuf {
        self.paths.config_file()
    }

    /// A path as people write it.
    fn shown_path(&self, path: &std::path::Path) -> String {
        let home = self.variable("HOME").map(PathBuf::from);
        let short = home.and_then(|home| Some(format!("~/{}", path.strip_prefix(home).ok()?.display())));
        short.unwrap_or_else(|| path.display().to_string())
    }
}
