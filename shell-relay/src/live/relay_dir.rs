//! Manages the private directory through which commands reach the shell.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
};

use cohab_confine::names::{self, Server};
use cohab_shell_state::{
    shell::{Shell, startup_files},
    state::{Item, Listing, StateChange, Value},
};
use cohab_types::command::EnvChange;

use super::{CommandFile, Effects, LiveEvent, redact};
use crate::leftovers::{self, FOLDER_PREFIX};

/// The prefix of the names of the files in which a shell reports its state.
const LISTING: &str = "env.";
/// The command on its way, and the text shown in its place.
const COMMAND: &str = "cmd";
const COMMAND_NEW: &str = "cmd.new";
const SHOWN: &str = "shown";
/// Reserved space, so that a command can be handed over while the file system is full.
const SPARE: &str = "spare";
const SPARE_BYTES: usize = 64 * 1024 + 4096;
/// The socket of the server for names.
const NAME_SERVER: &str = "services";
/// A shell's report of its state beyond this size is not read.
const LISTING_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A directory of mode 0700 for one shell; it is removed with its owner.
#[derive(Debug)]
pub struct RelayDir {
    shell: Shell,
    path: PathBuf,
    secure_parent: fn(&Path) -> io::Result<()>,
    /// The shell reads the first one.
    startup_files: Vec<PathBuf>,
    nonce: String,
    /// A command was reported finished or refused before the shell reported its state: a later report is of no use.
    expects_leftovers: bool,
    /// The id of the command whose text is here.
    on_its_way: Option<String>,
    /// The server of names for programs behind the lock.
    name_server: Option<Server>,
    /// Its lock shows others that the folder still has an owner. Without locks no other client removes it.
    owner: Option<File>,
}

impl RelayDir {
    /// Makes a fresh directory below `runtime_dir` with the start-up files for `shell`. `nonce` is the one of
    /// [`LiveSetup`](super::LiveSetup). `secure_parent` makes `runtime_dir` if it is missing, and fails unless it is private; it is
    /// called again if the directory was removed.
    ///
    /// # Errors
    /// If the directory cannot be made.
    pub fn create(
        runtime_dir: &Path,
        secure_parent: fn(&Path) -> io::Result<()>,
        shell: Shell,
        login: bool,
        nonce: &str,
    ) -> io::Result<Self> {
        let path = runtime_dir.join(format!("{FOLDER_PREFIX}{}", uuid::Uuid::new_v4().simple()));
        make_directory(&path, secure_parent)?;
        let mut made = Self {
            shell,
            name_server: None,
            owner: None,
            path,
            secure_parent,
            startup_files: Vec::new(),
            nonce: nonce.to_owned(),
            expects_leftovers: false,
            on_its_way: None,
        };
        for (name, content) in startup_files(shell, login, nonce, &made.path) {
            let file = made.path.join(name);
            write_private(&file, &content)?;
            made.startup_files.push(file);
        }
        made.keep_spare();
        Ok(made)
    }

    /// Lets a later client remove this if the owner is killed. To be called when the shell has started: the lock needs one more
    /// descriptor, and its failure must not cost the shell.
    pub fn claim(&mut self) {
        self.owner = self.owner.take().or_else(|| leftovers::claim(&self.path).ok());
    }

    /// Keeps the server that `start` starts at a path in this directory: programs behind the lock ask it for users' names. Returns
    /// the variable that the shell's environment must have.
    pub fn serve_names(&mut self, start: impl FnOnce(&Path) -> Option<Server>) -> Option<(&'static str, PathBuf)> {
        self.name_server = start(&self.path.join(NAME_SERVER));
        self.name_server.as_ref().map(|server| (names::VARIABLE, server.file().to_owned()))
    }

    /// Adds lines to the end of the integration script, before the shell is started. They are read as that script is: settings of the
    /// user must not break them, and they must break nothing.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn extend_script(&self, lines: &str) -> io::Result<()> {
        let Some(script) = self.startup_files.last() else { return Ok(()) };
        OpenOptions::new().append(true).open(script)?.write_all(lines.as_bytes())
    }

    /// 128 random bits in lower-case hexadecimal.
    #[must_use]
    pub fn fresh_nonce() -> String {
        // A version 4 id spends six bits on its version; two ids hold more than 128.
        let bits = uuid::Uuid::new_v4().as_u128() ^ uuid::Uuid::new_v4().as_u128().rotate_left(64);
        format!("{bits:032x}")
    }

    /// The file in which the shell writes the names of its builtins, aliases, functions and abbreviations, one a line: bash at its start,
    /// the others at prompts. It may lag behind the shell, and may not exist.
    #[must_use]
    pub fn names_file(&self) -> PathBuf {
        self.path.join("names")
    }

    /// The file that the shell reads at its start; absent for shells without integration.
    #[must_use]
    pub fn startup_file(&self) -> Option<&Path> {
        self.startup_files.first().map(PathBuf::as_path)
    }

    /// Does the part of `effects` that concerns files, and completes its events: writes the command file, removes it once the command
    /// runs, fills `env_delta` in and adds `ShellObserved`, removes the start-up files (they hold the nonce) at the first prompt, takes
    /// the nonce out of the events. To be called before anything else is done with `effects`.
    ///
    /// # Errors
    /// If the command file cannot be written: `pty` then holds no key that needs it, and `command_file` is still there.
    pub fn apply(&mut self, effects: &mut Effects) -> io::Result<()> {
        let mut is_prompt = effects.command_file.is_some();
        for index in (0..effects.events.len()).rev() {
            match &mut effects.events[index] {
                LiveEvent::PromptReady | LiveEvent::AnswerReady => {
                    self.startup_files.drain(..).for_each(|file| remove(&file));
                    is_prompt = true;
                }
                LiveEvent::CommandStarted { id } => {
                    let id = id.clone();
                    self.take_back(&id);
                }
                LiveEvent::CommandFinished { id, outcome } => {
                    if let Some((change, listing)) = self.take_observed(id) {
                        outcome.env_delta = env_delta(&change);
                        let id = id.clone();
                        effects.events.insert(index, LiveEvent::ShellObserved { id, change, listing });
                    } else {
                        self.expects_leftovers = true;
                    }
                }
                LiveEvent::CommandRefused { id, .. } => {
                    let id = id.clone();
                    self.take_back(&id);
                    self.expects_leftovers = true;
                }
                _ => {}
            }
        }
        if is_prompt && std::mem::take(&mut self.expects_leftovers) {
            self.remove_listings();
        }
        effects.events.iter_mut().for_each(|event| redact::redact(event, &self.nonce));
        if let Some(file) = effects.command_file.take()
            && let Err(error) = self.hand_over(&file)
        {
            effects.pty.truncate(file.keys_from);
            effects.command_file = Some(file);
            return Err(error);
        }
        Ok(())
    }

    /// Writes the command file; makes room for it, or the directory, if that is missing.
    fn hand_over(&mut self, file: &CommandFile) -> io::Result<()> {
        let written = match self.write_command(file) {
            Err(error) if is_without_space(&error) => {
                remove(&self.path.join(SPARE));
                self.write_command(file)
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make_directory(&self.path, self.secure_parent)?;
                self.owner = None;
                self.claim();
                self.write_command(file)
            }
            written => written,
        };
        if written.is_err() {
            // No leftover may be taken for a command, or take the space of the next one.
            [COMMAND, COMMAND_NEW, SHOWN].iter().for_each(|name| remove(&self.path.join(name)));
            self.on_its_way = None;
        }
        written
    }

    /// Whether there is space for it shows when it is written.
    fn keep_spare(&self) {
        let path = self.path.join(SPARE);
        if !path.exists() && write_private(&path, &[b' '; SPARE_BYTES]).is_err() {
            remove(&path);
        }
    }

    /// Removes listings; called only at a prompt, where no command writes one.
    fn remove_listings(&self) {
        let entries = fs::read_dir(&self.path).into_iter().flatten().flatten();
        let listings = entries.filter(|entry| entry.file_name().as_encoded_bytes().starts_with(LISTING.as_bytes()));
        listings.for_each(|entry| remove(&entry.path()));
    }

    /// The command was read, or never will be: its text is removed, as it may hold a secret.
    fn take_back(&mut self, id: &str) {
        if self.on_its_way.take_if(|on_its_way| on_its_way == id).is_some() {
            [COMMAND, SHOWN].iter().for_each(|name| remove(&self.path.join(name)));
            self.keep_spare();
        }
    }

    fn write_command(&mut self, file: &CommandFile) -> io::Result<()> {
        self.on_its_way = Some(file.id.clone());
        let wish = self.path.join("wantenv");
        // Without the file the change of the shell is unknown, but the command can still run.
        if !file.wants_env_delta || write_private(&wish, b"").is_err() {
            remove(&wish);
        }
        match &file.shown {
            Some(shown) => write_private(&self.path.join(SHOWN), shown.as_bytes())?,
            None => remove(&self.path.join(SHOWN)),
        }
        let new = self.path.join(COMMAND_NEW);
        write_private(&new, &file.content)?;
        fs::rename(new, self.path.join(COMMAND))
    }

    /// The changes of the command, and the state of the shell after it; `None` if the shell did not report them, or not readably.
    fn take_observed(&self, id: &str) -> Option<(StateChange, Listing)> {
        let take = |name: String| {
            let path = self.path.join(name);
            // Reading a pipe of that name would never end.
            let small = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= LISTING_MAX_BYTES);
            let bytes = if small { fs::read(&path).ok() } else { None };
            remove(&path);
            bytes.map(|bytes| Listing { shell: self.shell, bytes })
        };
        let (before, after) = (take(format!("{LISTING}{id}.before")), take(format!("{LISTING}{id}")));
        let (before, after) = (before?, after?);
        Some((before.change_until(&after)?, after))
    }
}

impl Drop for RelayDir {
    fn drop(&mut self) {
        // The folder may be gone already, with the whole runtime directory.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Changes of the exported variables, in order of name.
fn env_delta(change: &StateChange) -> Vec<EnvChange> {
    let exported = change.steps.iter().filter_map(|(item, step)| match item {
        Item::Exported(name) => Some(EnvChange { name: name.clone(), value: step.after.as_ref().map(as_exported) }),
        _ => None,
    });
    exported.collect()
}

/// The value as programs get it: only fish has lists, and lists of more than one element are mostly paths.
fn as_exported(value: &Value) -> String {
    String::from_utf8_lossy(&value.join(&b':')).into_owned()
}

/// Fails if another program has made the directory.
fn make_directory(path: &Path, secure_parent: fn(&Path) -> io::Result<()>) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        secure_parent(parent)?;
    }
    DirBuilder::new().mode(0o700).create(path)
}

fn is_without_space(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file: File = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
    file.write_all(content)
}

/// An absent file counts as removed.
fn remove(path: &Path) {
    let _ = fs::remove_file(path);
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::PermissionsExt, time::Duration};

    use cohab_types::command::{CommandOutcome, Ending, Mode, RelayError, StateAfter};
    use zeroize::Zeroizing;

    use super::*;

    fn create_in(runtime: &Path) -> io::Result<RelayDir> {
        RelayDir::create(runtime, |parent| fs::create_dir_all(parent), Shell::Bash, false, "00")
    }

    fn command(text: &str) -> CommandFile {
        let content = Zeroizing::new(format!("ab\n{text}").into_bytes());
        CommandFile { id: "ab".into(), content, wants_env_delta: true, keys_from: 5, shown: None }
    }

    #[test]
    fn what_the_shell_told_becomes_delta_and_observation() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = create_in(runtime.path()).unwrap();
        let listing = |exported: &str| [b"/\0\0\0\0\0", exported.as_bytes(), &[0; 12], b"."].concat();
        let before = "declare -x A=\"1\"\ndeclare -x B=\"2\"\ndeclare -x C=\"x\"\ndeclare -x PWD=\"/\"\n";
        let after = "declare -x A=\"1\"\ndeclare -x B=$'3\\nmore'\ndeclare -x D=\"\"\ndeclare -x PWD=\"/tmp\"\n";
        let outcome = CommandOutcome {
            ending: Ending::Exited,
            status: Some(0),
            cwd: "/".into(),
            output: String::new(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::ZERO,
            state_after: StateAfter::Prompt,
            mode: Mode::Live,
            env_delta: Vec::new(),
            first_run: None,
        };
        let mut finish = |before: &[u8], after: &[u8]| {
            fs::write(dir.path.join("env.ab.before"), before).unwrap();
            fs::write(dir.path.join("env.ab"), after).unwrap();
            let events = vec![LiveEvent::CommandFinished { id: "ab".into(), outcome: outcome.clone() }];
            let mut effects = Effects { events, ..Effects::default() };
            dir.apply(&mut effects).unwrap();
            assert!(!dir.path.join("env.ab").exists() && !dir.path.join("env.ab.before").exists());
            effects.events
        };
        let events = finish(&listing(before), &listing(after));
        let [LiveEvent::ShellObserved { change, .. }, LiveEvent::CommandFinished { outcome: told, .. }] = &events[..]
        else {
            panic!("{events:?}")
        };
        let change_of = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
        let expected = [change_of("B", Some("3\nmore")), change_of("C", None), change_of("D", Some(""))];
        assert_eq!((told.env_delta.as_slice(), change.steps.len()), (&expected[..], 3));
        let cut = listing(after);
        let events = finish(&listing(before), &cut[..cut.len() - 2]);
        assert_eq!(events, [LiveEvent::CommandFinished { id: "ab".into(), outcome: outcome.clone() }]);
    }

    #[test]
    fn directory_and_files_are_private_and_go_with_their_owner() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = create_in(runtime.path()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let script = dir.startup_file().unwrap().to_owned();
        assert_eq!((mode(&dir.path), mode(&script)), (0o700, 0o600));

        let mut effects = Effects::default();
        let content = Zeroizing::new(b"ab\necho hi".to_vec());
        effects.command_file =
            Some(CommandFile { content: content.clone(), keys_from: 0, shown: Some("echo it".into()), ..command("") });
        effects.events.push(LiveEvent::PromptReady);
        dir.apply(&mut effects).unwrap();
        assert!(!script.exists());
        assert_eq!((mode(&dir.path.join("cmd")), mode(&dir.path.join("shown"))), (0o600, 0o600));
        assert_eq!(fs::read(dir.path.join("cmd")).unwrap(), *content);
        assert_eq!(fs::read(dir.path.join("shown")).unwrap(), b"echo it");

        effects.events = vec![LiveEvent::CommandStarted { id: "ab".into() }];
        dir.apply(&mut effects).unwrap();
        assert!(!dir.path.join("cmd").exists() && !dir.path.join("shown").exists());
        let path = dir.path.clone();
        drop(dir);
        assert!(!path.exists());
    }

    #[test]
    fn the_text_of_a_command_that_is_refused_goes_at_once() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = create_in(runtime.path()).unwrap();
        dir.apply(&mut Effects { command_file: Some(command("echo a-secret")), ..Effects::default() }).unwrap();
        let refuse = |dir: &mut RelayDir, id: &str| {
            let event = LiveEvent::CommandRefused { id: id.into(), error: RelayError::ShellGone };
            dir.apply(&mut Effects { events: vec![event], ..Effects::default() }).unwrap();
            dir.path.join("cmd").exists()
        };
        assert!(refuse(&mut dir, "cd"), "another one");
        assert!(!refuse(&mut dir, "ab"));
    }

    #[test]
    fn no_key_is_sent_for_a_command_that_could_not_be_written() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = create_in(runtime.path()).unwrap();
        // A folder of that name, with something in it, is in the way of the file.
        fs::create_dir_all(dir.path.join("cmd/x")).unwrap();
        let file = Some(command("ls"));
        let mut effects = Effects { pty: b"typedkey".to_vec(), command_file: file.clone(), ..Effects::default() };
        assert!(dir.apply(&mut effects).is_err());
        assert_eq!((effects.pty.as_slice(), &effects.command_file), (&b"typed"[..], &file));
    }

    #[test]
    fn a_removed_directory_is_made_again_with_the_one_above() {
        let base = tempfile::tempdir().unwrap();
        let runtime = base.path().join("run");
        let mut dir = create_in(&runtime).unwrap();
        for gone in [dir.path.clone(), runtime] {
            fs::remove_dir_all(gone).unwrap();
            let mut effects = Effects { command_file: Some(command("ls")), ..Effects::default() };
            dir.apply(&mut effects).unwrap();
            assert_eq!(fs::read(dir.path.join("cmd")).unwrap(), b"ab\nls");
            assert_eq!(fs::metadata(&dir.path).unwrap().permissions().mode() & 0o777, 0o700);
        }
    }

    #[test]
    fn a_directory_that_somebody_else_put_there_is_not_used() {
        let base = tempfile::tempdir().unwrap();
        let mut dir = create_in(&base.path().join("run")).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::remove_dir_all(&dir.path).unwrap();
        std::os::unix::fs::symlink(elsewhere.path().join("missing"), &dir.path).unwrap();
        let mut effects = Effects { command_file: Some(command("ls")), ..Effects::default() };
        assert!(dir.apply(&mut effects).is_err());
        assert!(fs::read_dir(elsewhere.path()).unwrap().next().is_none());
    }

    #[test]
    fn space_is_kept_for_a_command_and_kept_again_after_it() {
        let runtime = tempfile::tempdir().unwrap();
        let mut dir = create_in(runtime.path()).unwrap();
        let spare = dir.path.join(SPARE);
        assert_eq!(fs::metadata(&spare).unwrap().len(), SPARE_BYTES as u64);
        fs::remove_file(&spare).unwrap();
        dir.apply(&mut Effects { command_file: Some(command("ls")), ..Effects::default() }).unwrap();
        let event = LiveEvent::CommandStarted { id: "ab".into() };
        dir.apply(&mut Effects { events: vec![event], ..Effects::default() }).unwrap();
        assert!(spare.exists());
    }
}
