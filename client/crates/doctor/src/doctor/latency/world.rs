//! A private home for measuring: the user's kind of shell with a plain prompt, settings and a daemon of its own.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder},
    io,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    sync::{Arc, atomic::AtomicBool},
};

use cohab_protocol::Paths;
use cohab_shell_state::shell::Shell;

/// The prompt of its shells, as it is printed.
pub(super) const PROMPT: &str = "ready$ ";
/// Start-up files of bash and zsh, and of fish.
const POSIX_RC: &str = "PS1='ready$ '\nunset HISTFILE\n";
const FISH_RC: &str = "set -g fish_greeting\nfunction fish_prompt; printf 'ready$ '; end\n\
    function fish_right_prompt; end\nfunction fish_title; end\nset -g fish_autosuggestion_enabled 0\n";

/// The folder; removed when this is dropped.
#[derive(Debug)]
pub(super) struct World {
    folder: PathBuf,
    shell: PathBuf,
    /// The user wants to stop.
    pub stop: Arc<AtomicBool>,
    /// Where its cohab keeps things.
    pub paths: Paths,
}

impl World {
    /// For shells of the kind of `shell`; of bash, if cohab cannot work in that.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn new(shell: &Path, stop: Arc<AtomicBool>) -> io::Result<Self> {
        let shell = if Shell::of(shell) == Shell::Other { Path::new("/bin/bash") } else { shell };
        let folder = std::env::temp_dir().join(format!("cohab-doctor-{}", uuid::Uuid::new_v4().simple()));
        DirBuilder::new().mode(0o700).create(&folder)?;
        let cohab_home = folder.join("c");
        let uid = rustix::process::getuid().as_raw();
        let paths = Paths::new(|name| (name == cohab_protocol::HOME_VARIABLE).then(|| cohab_home.clone()), uid);
        let world = Self { folder, shell: shell.to_owned(), stop, paths };
        for (name, text) in [(".bashrc", POSIX_RC), (".zshrc", POSIX_RC), (".config/fish/config.fish", FISH_RC)] {
            world.write(name, text)?;
        }
        // At its first start in a new home fish 3 has python read all manuals.
        world.write(".local/share/fish/generated_completions/.keep", "")?;
        Ok(world)
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.folder.join(name);
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, text)
    }

    /// Arguments of `env` that start the shell here, within cohab or without it. `more` are variables.
    pub fn arguments(&self, is_ours: bool, more: &[(&str, String)]) -> Vec<OsString> {
        let variable = |name: &str, value: &std::ffi::OsStr| {
            let mut word = OsString::from(name);
            word.push("=");
            word.push(value);
            word
        };
        let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        let mut words: Vec<OsString> = vec![
            "-i".into(),
            variable("HOME", self.folder.as_os_str()),
            variable(cohab_protocol::HOME_VARIABLE, self.folder.join("c").as_os_str()),
            variable("PATH", &path),
            variable("SHELL", self.shell.as_os_str()),
            "TERM=xterm-256color".into(),
            "LANG=C.UTF-8".into(),
            "COHAB_APPROVAL=read-only".into(),
        ];
        words.extend(more.iter().map(|(name, value)| variable(name, value.as_ref())));
        match std::env::current_exe() {
            Ok(own) if is_ours => words.extend([own.into(), "--shell".into(), self.shell.clone().into()]),
            _ => words.extend([self.shell.clone().into(), "-i".into()]),
        }
        words
    }

    /// Where its shells start.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // What cannot be removed is left to the system's own cleaning of temporary files.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
