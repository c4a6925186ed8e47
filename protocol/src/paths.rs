//! Finds the folders and files of cohab. Both programs use one rule: `COHAB_HOME` puts everything under one folder; without it, XDG.

use std::path::{Path, PathBuf};

/// The variable that puts everything under one folder.
pub const HOME_VARIABLE: &str = "COHAB_HOME";

/// The folders of one user. None of them need exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Paths {
    /// The folder of `config.toml` and `models.toml`.
    pub config_dir: PathBuf,
    /// The folder of logs, the user's permissions and the usage of model calls.
    pub state_dir: PathBuf,
    /// The folder of files that can be made again.
    pub cache_dir: PathBuf,
    /// The socket and the files of running shells.
    pub runtime_dir: PathBuf,
}

impl Paths {
    /// The folders for this process's environment.
    #[must_use]
    pub fn from_env() -> Self {
        let variable = |name: &str| match name {
            HOME_VARIABLE => Self::home_from_env(),
            _ => std::env::var_os(name).map(PathBuf::from),
        };
        Self::new(variable, rustix::process::getuid().as_raw())
    }

    /// `COHAB_HOME`, made absolute: a relative value is relative to the current folder.
    #[must_use]
    pub fn home_from_env() -> Option<PathBuf> {
        std::env::var_os(HOME_VARIABLE).and_then(|home| std::path::absolute(home).ok())
    }

    /// The folders for an environment and a user id. Empty and relative values count as absent, as XDG demands.
    pub fn new(variable: impl Fn(&str) -> Option<PathBuf>, uid: u32) -> Self {
        let absolute = |name: &str| variable(name).filter(|path| path.is_absolute());
        if let Some(home) = absolute(HOME_VARIABLE) {
            return Self {
                config_dir: home.join("config"),
                state_dir: home.join("state"),
                cache_dir: home.join("cache"),
                runtime_dir: home.join("run"),
            };
        }
        let private = std::env::temp_dir().join(format!("cohab-{uid}"));
        let home = absolute("HOME").unwrap_or_else(|| private.clone());
        let xdg = |name: &str, default: &str| absolute(name).unwrap_or_else(|| home.join(default)).join("cohab");
        let config_dir = xdg("XDG_CONFIG_HOME", ".config");
        // Another home has other settings, and a separate daemon that reads them.
        let home_hash = crate::version::fnv1a(config_dir.as_os_str().as_encoded_bytes());
        let of_home = |folder: &str| format!("{folder}-{home_hash:016x}");
        Self {
            state_dir: xdg("XDG_STATE_HOME", ".local/state"),
            cache_dir: xdg("XDG_CACHE_HOME", ".cache"),
            runtime_dir: match absolute("XDG_RUNTIME_DIR") {
                Some(dir) => dir.join(of_home("cohab")),
                None => std::env::temp_dir().join(of_home(&format!("cohab-{uid}"))),
            },
            config_dir,
        }
    }

    /// Everything that only our user may read or change, including the targets of links in these places. Looks at the disk.
    #[must_use]
    pub fn own_folders(&self) -> Vec<PathBuf> {
        let socket = self.socket().parent().map(Path::to_owned).unwrap_or_default();
        let mut folders = vec![
            self.config_dir.clone(),
            self.state_dir.clone(),
            self.cache_dir.clone(),
            self.runtime_dir.clone(),
            socket,
        ];
        let real: Vec<PathBuf> = folders.iter().filter_map(|folder| folder.canonicalize().ok()).collect();
        folders.extend(real);
        folders.sort_unstable();
        folders.dedup();
        folders
    }

    /// The folder for temporary files of the daemon's commands. Its name follows from the socket's, so the next daemon finds the folder
    /// that a killed daemon has left.
    #[must_use]
    pub fn temporary_dir(&self) -> PathBuf {
        let uid = rustix::process::getuid().as_raw();
        let hash = crate::version::fnv1a(self.socket().as_os_str().as_encoded_bytes());
        std::env::temp_dir().join(format!("cohab-tmp-{uid}-{hash:016x}"))
    }

    /// The folder for the copies of repositories that subagents change. It is none of cohab's own folders, which tools may not enter. Its
    /// name follows from the socket's, so the next daemon finds the copies that a killed daemon has left.
    #[must_use]
    pub fn copies_dir(&self) -> PathBuf {
        let hash = crate::version::fnv1a(self.socket().as_os_str().as_encoded_bytes());
        let mut name = self.cache_dir.file_name().unwrap_or_default().to_owned();
        name.push("-copies");
        self.cache_dir.with_file_name(name).join(format!("{hash:016x}"))
    }

    /// The settings file.
    #[must_use]
    pub fn config_file(&self) -> PathBuf {
        self.config_dir.join("config.toml")
    }

    /// The file of sizes and prices of models, as set by the user.
    #[must_use]
    pub fn models_file(&self) -> PathBuf {
        self.config_dir.join("models.toml")
    }

    /// The file of commands that the user allowed for good.
    #[must_use]
    pub fn rules_file(&self) -> PathBuf {
        self.config_dir.join("rules.toml")
    }

    /// The file of folders whose own instructions for the assistant the user trusts.
    #[must_use]
    pub fn trusted_folders_file(&self) -> PathBuf {
        self.state_dir.join("trusted-folders")
    }

    /// The file of the hooks that the user allowed, by their content.
    #[must_use]
    pub fn allowed_hooks_file(&self) -> PathBuf {
        self.state_dir.join("allowed-hooks.json")
    }

    /// The file of the usage of model calls.
    #[must_use]
    pub fn usage_file(&self) -> PathBuf {
        self.state_dir.join("usage.db")
    }

    /// The file of conversations.
    #[must_use]
    pub fn sessions_file(&self) -> PathBuf {
        self.state_dir.join("sessions.db")
    }

    /// The file of what was done: commands that ran, and questions with their answers.
    #[must_use]
    pub fn past_file(&self) -> PathBuf {
        self.state_dir.join("past.db")
    }

    /// The file of the user's documents that were learned.
    #[must_use]
    pub fn knowledge_file(&self) -> PathBuf {
        self.state_dir.join("knowledge.db")
    }

    /// The file of remembered facts.
    #[must_use]
    pub fn memory_file(&self) -> PathBuf {
        self.state_dir.join("memory.db")
    }

    /// The folder of the key that seals remembered facts, apart from them.
    #[must_use]
    pub fn memory_key_dir(&self) -> PathBuf {
        self.config_dir.join("memory")
    }

    /// The file of watchers.
    #[must_use]
    pub fn watchers_file(&self) -> PathBuf {
        self.state_dir.join("watchers.db")
    }

    /// The file that is there as long as a daemon is needed for watchers. It has a folder to itself, whose changes a daemon hears of.
    #[must_use]
    pub fn watchers_signal(&self) -> PathBuf {
        self.state_dir.join("watchers").join("active")
    }

    /// The folder of the daemon's log files.
    #[must_use]
    pub fn log_dir(&self) -> PathBuf {
        self.state_dir.join("log")
    }

    /// The file whose lock the one running daemon holds for life.
    #[must_use]
    pub fn lock_file(&self) -> PathBuf {
        self.runtime_dir.join(format!("d{}.lock", crate::PROTOCOL_VERSION))
    }

    /// The daemon's socket. A path too long for `sockaddr_un` becomes a hashed name in `/tmp/cohab-<uid>/`.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        crate::socket::socket_path(&self.runtime_dir, rustix::process::getuid().as_raw())
    }
}
