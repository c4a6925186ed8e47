//! Reads the surroundings of questions for consent from this process and machine.

use std::{
    path::PathBuf,
    sync::{Arc, LazyLock},
};

use cohab_conversation::approval::{ApprovalEnvironment, Lasting};
use cohab_policy_io::files::{FileSystem, program_folders};
use cohab_protocol::Paths;
use cohab_shell_state::shell::Shell;

/// The surroundings of this process.
#[must_use]
pub fn of_this_process(home: PathBuf, shell: Shell, paths: &Paths, lasting: Lasting) -> ApprovalEnvironment {
    let is_remote = std::env::var_os("SSH_CONNECTION").is_some_and(|value| !value.is_empty());
    let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
    ApprovalEnvironment {
        home,
        shell,
        files: &FileSystem,
        own_folders: paths.own_folders().into(),
        program_folders: Arc::new(LazyLock::new(|| program_folders(&std::env::var_os("PATH").unwrap_or_default()))),
        rules_file: paths.rules_file(),
        lasting,
        is_root: rustix::process::geteuid().is_root(),
        remote_host: is_remote.then(host),
    }
}
