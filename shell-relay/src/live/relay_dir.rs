//! The private directory through which commands reach the shell.

use std::{
    collections::BTreeMap,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use super::{CommandFile, Effects, LiveEvent, exported, redact};
use crate::{
    runner::EnvChange,
    shell::{Shell, startup_files},
};

/// An environment larger than this is not compared.
const ENVIRONMENT_MAX_BYTES: u64 = 4 * 1024 * 1024;
/// Variables that each `cd` or command changes by itself.
const NOT_REPORTED: [&str; 4] = ["_", "OLDPWD", "PWD", "SHLVL"];

/// A directory of mode 0700 for one shell; it goes with its owner.
#[derive(Debug)]
pub struct RelayDir {
    path: PathBuf,
    /// The shell reads the first one.
    startup_files: Vec<PathBuf>,
    nonce: String,
}

impl RelayDir {
    /// Makes a fresh directory below `runtime_dir` (which must exist) with the start-up files for `shell`. `nonce` is the one of
    /// [`LiveSetup`](super::LiveSetup).
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn create(runtime_dir: &Path, shell: Shell, login: bool, nonce: &str) -> io::Result<Self> {
        let path = runtime_dir.join(format!("shell-{}", uuid::Uuid::new_v4().simple()));
        DirBuilder::new().mode(0o700).create(&path)?;
        let mut made = Self { path, startup_files: Vec::new(), nonce: nonce.to_owned() };
        for (name, content) in startup_files(shell, login, nonce, &made.path) {
            let file = made.path.join(name);
            write_private(&file, &content)?;
            made.startup_files.push(file);
        }
        Ok(made)
    }

    /// 128 random bits in lower-case hexadecimal.
    #[must_use]
    pub fn fresh_nonce() -> String {
        // A version 4 id spends six bits on its version; two of them hold more than 128.
        let bits = uuid::Uuid::new_v4().as_u128() ^ uuid::Uuid::new_v4().as_u128().rotate_left(64);
        format!("{bits:032x}")
    }

    /// What the shell is to read at its start; absent for shells without integration.
    #[must_use]
    pub fn startup_file(&self) -> Option<&Path> {
        self.startup_files.first().map(PathBuf::as_path)
    }

    /// Does the part of `effects` that concerns files, and completes its events: writes the command file, removes it once the
    /// command runs, fills `env_delta` in, removes the start-up files (they hold the nonce) at the first prompt, takes the nonce out
    /// of what the events tell. To be called before anything else is done with `effects`.
    ///
    /// # Errors
    /// If the command file cannot be written: `pty` then holds no key that needs it.
    pub fn apply(&mut self, effects: &mut Effects) -> io::Result<()> {
        for event in &mut effects.events {
            match event {
                LiveEvent::PromptReady => self.startup_files.drain(..).for_each(|file| remove(&file)),
                LiveEvent::CommandStarted { .. } => remove(&self.path.join("cmd")),
                LiveEvent::CommandFinished { id, outcome } => outcome.env_delta = self.take_env_delta(id),
                _ => {}
            }
            redact::redact(event, &self.nonce);
        }
        if let Some(file) = effects.command_file.take()
            && let Err(error) = self.write_command(&file)
        {
            effects.pty.truncate(file.keys_from);
            return Err(error);
        }
        Ok(())
    }

    fn write_command(&self, file: &CommandFile) -> io::Result<()> {
        let wish = self.path.join("wantenv");
        if file.wants_env_delta {
            write_private(&wish, b"")?;
        } else {
            remove(&wish);
        }
        let new = self.path.join("cmd.new");
        write_private(&new, &file.content)?;
        fs::rename(new, self.path.join("cmd"))
    }

    fn take_env_delta(&self, id: &str) -> Vec<EnvChange> {
        let take = |name: String| {
            let path = self.path.join(name);
            // A pipe of that name would never end.
            let small =
                fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= ENVIRONMENT_MAX_BYTES);
            let content = if small { fs::read(&path).ok() } else { None };
            remove(&path);
            content
        };
        match (take(format!("env.{id}.before")), take(format!("env.{id}"))) {
            (Some(before), Some(after)) => env_delta(&before, &after),
            _ => Vec::new(),
        }
    }
}

impl Drop for RelayDir {
    fn drop(&mut self) {
        // It may be gone already, with the whole runtime directory.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// What our script adds to prompts. It shows where the user exports them.
const PROMPT_REFERENCES: [&str; 3] = [r"\[${__cohab_b-}\]", r"\[${__cohab_p2-}\]", "${__cohab_c-}"];

/// Prompts as the user wrote them.
fn without_references(mut variables: BTreeMap<String, String>) -> BTreeMap<String, String> {
    for prompt in ["PS0", "PS1", "PS2"] {
        if let Some(value) = variables.get_mut(prompt) {
            *value = PROMPT_REFERENCES.iter().fold(std::mem::take(value), |value, part| value.replace(part, ""));
        }
    }
    variables
}

/// What changed between two listings of exported variables; nothing if either cannot be read.
fn env_delta(before: &[u8], after: &[u8]) -> Vec<EnvChange> {
    let parse = |listing| exported::parse(listing).map(without_references);
    let (Some(before), Some(mut after)) = (parse(before), parse(after)) else { return Vec::new() };
    let gone = before.keys().filter(|name| !after.contains_key(*name));
    let mut changes: Vec<EnvChange> = gone.map(|name| EnvChange { name: name.clone(), value: None }).collect();
    after.retain(|name, value| before.get(name) != Some(value));
    changes.extend(after.into_iter().map(|(name, value)| EnvChange { name, value: Some(value) }));
    changes.retain(|change| !NOT_REPORTED.contains(&change.name.as_str()));
    changes.sort_by(|a, b| a.name.cmp(&b.name));
    changes
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// Absent is as good as removed.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn the_delta_names_what_was_set_changed_and_unset() {
        let before = b"declare -x A=\"1\"\ndeclare -x B=\"2\"\ndeclare -x C=\"x\"\ndeclare -x PWD=\"/\"\n";
        let after = b"declare -x A=\"1\"\ndeclare -x B=$'3\\nmore'\ndeclare -x D=\"\"\ndeclare -x PWD=\"/tmp\"\n";
        let change = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
        assert_eq!(env_delta(before, after), [change("B", Some("3\nmore")), change("C", None), change("D", Some(""))]);
    }

    #[test]
    fn an_exported_prompt_is_told_without_our_references() {
        let before = br#"declare -x PS1="\\$ \\[\${__cohab_b-}\\]"
"#;
        let changed = br#"declare -x PS1="(v) \\$ \\[\${__cohab_b-}\\]"
"#;
        let told = env_delta(before, changed);
        assert_eq!(told, [EnvChange { name: "PS1".into(), value: Some(r"(v) \$ ".into()) }]);
        assert_eq!(env_delta(before, b"declare -x PS1=\"\\\\$ \"\n"), []);
    }

    #[test]
    fn directory_and_files_are_private_and_go_with_their_owner() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = RelayDir::create(runtime.path(), Shell::Bash, false, "00").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let script = dir.startup_file().unwrap().to_owned();
        assert_eq!((mode(&dir.path), mode(&script)), (0o700, 0o600));

        let mut effects = Effects::default();
        let content = b"ab\necho hi".to_vec();
        effects.command_file =
            Some(CommandFile { id: "ab".into(), content: content.clone(), wants_env_delta: true, keys_from: 0 });
        effects.events.push(LiveEvent::PromptReady);
        dir.apply(&mut effects).unwrap();
        assert!(!script.exists());
        assert_eq!(mode(&dir.path.join("cmd")), 0o600);
        assert_eq!(fs::read(dir.path.join("cmd")).unwrap(), content);

        effects.events = vec![LiveEvent::CommandStarted { id: "ab".into() }];
        dir.apply(&mut effects).unwrap();
        assert!(!dir.path.join("cmd").exists());
        let path = dir.path.clone();
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn no_key_is_sent_for_a_command_that_could_not_be_written() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = RelayDir::create(runtime.path(), Shell::Bash, false, "00").unwrap();
        fs::remove_dir_all(&dir.path).unwrap();
        let file = CommandFile { id: "ab".into(), content: Vec::new(), wants_env_delta: false, keys_from: 5 };
        let mut effects = Effects { pty: b"typedkey".to_vec(), command_file: Some(file), ..Effects::default() };
        assert!(dir.apply(&mut effects).is_err());
        assert_eq!(effects.pty, b"typed");
    }
}
