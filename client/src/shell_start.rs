//! Builds the options with which shells are started from the settings and the command line.

use std::{ffi::OsString, io, path::Path};

use cohab_conversation::slash::completion;
use cohab_daemon_link::config::{self, Config};
use cohab_doctor::shell_check::Start;
use cohab_protocol::{Paths, socket::secure_directory};
use cohab_sandbox::lock;
use cohab_shell_relay::live::{ExtraLines, StartOptions};

use crate::{own_commands, shell_resolution};

/// Options for shells with these arguments. `model` are variables that choose a model: `cohab ask` in the shell asks the same one as its
/// prompt.
#[must_use]
pub fn options(
    config: &Config,
    paths: &Paths,
    is_login: bool,
    arguments: Vec<OsString>,
    model: &[(String, String)],
) -> StartOptions {
    let completes = config.client.question_prefix == completion::PREFIX;
    let name_server: fn(&Path) -> _ = lock::name_server;
    StartOptions {
        is_login,
        arguments,
        environment: model.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        hotkey: config.client.hotkey.bytes(),
        name_server: config.client.lock.then_some(name_server),
        runtime_dir: paths.runtime_dir.clone(),
        secure_parent: |folder| secure_directory(folder).map_err(io::Error::other),
        extra_lines: completes.then(|| {
            let home = std::env::home_dir().unwrap_or_default();
            let own = own_commands::names(&paths.config_dir, &home);
            ExtraLines { write: completion::script, words: config.profiles.iter().cloned().chain(own).collect() }
        }),
    }
}

/// The shell that `cohab` would open, or `given`, for a check that starts it in a hidden terminal.
#[must_use]
pub fn examined(given: Option<&Path>, is_login: bool, paths: &Paths) -> Start {
    let config = config::load(&paths.config_file());
    // A shell that was asked for has no substitute.
    let shells = match given {
        Some(shell) => vec![std::path::absolute(shell).unwrap_or_else(|_| shell.to_owned())],
        None => shell_resolution::candidates(
            config.client.shell.clone(),
            std::env::var_os("SHELL"),
            shell_resolution::passwd_shell(),
        ),
    };
    let is_login = is_login || config.client.login;
    Start { shells, options: options(&config, paths, is_login, Vec::new(), &[]) }
}
