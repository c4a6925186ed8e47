//! The variables of the shell by which git finds itself and its settings.

use std::ffi::OsString;

use cohab_shell_state::state::{Item, Snapshot, Value};

/// Variables that decide which git is started, which settings are the user's own, and whose repositories git reads.
const VARIABLES: [&str; 4] = ["PATH", "HOME", "XDG_CONFIG_HOME", "SUDO_UID"];

/// The shell's variables that concern git.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitEnvironment {
    /// Names and values.
    pub variables: Vec<(&'static str, OsString)>,
}

impl GitEnvironment {
    /// The environment as the shell reported it.
    #[must_use]
    pub fn of_shell(shell: &Snapshot) -> Self {
        let value = |name: &'static str| Some((name, joined(shell.get(&Item::Exported(name.into()))?)));
        Self { variables: VARIABLES.into_iter().filter_map(value).collect() }
    }

    /// Reads the variables by their names.
    #[must_use]
    pub fn of_variables(value: impl Fn(&str) -> Option<OsString>) -> Self {
        let of = |name: &'static str| Some((name, value(name)?));
        Self { variables: VARIABLES.into_iter().filter_map(of).collect() }
    }
}

/// fish keeps PATH as a list.
fn joined(value: &Value) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(value.join(&b':'))
}
