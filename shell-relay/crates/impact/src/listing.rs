//! Lets git, `tar` and `unzip` list what a command is about to change. The programs only read, get no more of the environment than they
//! need, and are stopped at a deadline. Git starts no program that the settings of a repository name: it compares no content of files,
//! which could run a filter, and fetches nothing.

mod archive;
mod repository;

use std::{
    ffi::OsStr,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Instant,
};

use crate::{
    changes::{Changes, ListCall},
    walk::MAX_NAMES,
};

/// Longest listing that is read, in bytes.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// Variables that the programs get: where they are, and where the user's own settings are.
const VARIABLES: [&str; 3] = ["PATH", "HOME", "XDG_CONFIG_HOME"];

/// Adds the paths of all [`Changes::calls`]; what cannot be listed until `deadline` is uncovered. Blocks.
pub fn list(changes: &mut Changes, deadline: Instant) {
    for call in std::mem::take(&mut changes.calls) {
        let found = match &call {
            ListCall::Git(call) => repository::paths(call, deadline),
            ListCall::Archive(call) => archive::paths(call, deadline),
        };
        match found.filter(|found| found.len() <= MAX_NAMES) {
            Some(found) => changes.paths.extend(found),
            None => changes.uncovered(match &call {
                ListCall::Git(call) => format!("what `git {}` changes in files", call.subcommand),
                ListCall::Archive(call) => format!("what is unpacked from {}", call.archive.display()),
            }),
        }
    }
}

/// The output of a program that ends well before `deadline`.
fn output<S: AsRef<OsStr>>(program: &str, arguments: &[S], folder: &Path, deadline: Instant) -> Option<Vec<u8>> {
    let mut command = Command::new(program);
    let known = VARIABLES.into_iter().filter_map(|name| Some((name, std::env::var_os(name)?)));
    command.env_clear().envs(known).envs(repository::VARIABLES).env("LC_ALL", "C").current_dir(folder);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let output = child.stdout.take()?;
    let (sender, receiver) = mpsc::sync_channel(1);
    let read = move || {
        let mut bytes = Vec::new();
        let read = output.take(MAX_BYTES + 1).read_to_end(&mut bytes);
        // The receiver may have given up.
        let _ = sender.send(read.is_ok().then_some(bytes));
    };
    let is_read = thread::Builder::new().name("listing".into()).spawn(read).is_ok();
    let left = deadline.saturating_duration_since(Instant::now());
    let bytes = if is_read { receiver.recv_timeout(left).ok().flatten() } else { None };
    let bytes = bytes.filter(|bytes| bytes.len() as u64 <= MAX_BYTES);
    if bytes.is_none() {
        // The process may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().ok()?;
    bytes.filter(|_| status.success())
}

/// A name that a program reports, below `folder`. `None` if it leads elsewhere.
fn below(folder: &Path, name: &Path) -> Option<PathBuf> {
    let is_plain = name.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    (is_plain && name.components().next().is_some()).then(|| folder.join(name))
}

#[cfg(test)]
mod tests;
