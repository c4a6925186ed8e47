//! Keeps what the assistant is going to change, so that `cohab undo` can restore it: the file of `write` and `edit`, and what a command
//! changes as far as that is known before it runs.

use std::{
    collections::BTreeMap,
    io,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use async_trait::async_trait;
use cohab_agent::{Denial, Fact, Middleware, PlannedCall, TurnObserver, port::Effect};
use cohab_impact::{
    changes::{Changes, changes},
    listing,
    plan::{Known, plan},
};
use cohab_policy::{Context, Level, Lock, assess_line};
use cohab_shell_state::shell::Shell;
use cohab_store::backups::{Backups, CommandChanges, Pending};
use cohab_text::sanitize::one_line;

/// Longest question and command that are noted, in characters.
const TITLE_MAX_CHARS: usize = 80;
/// A command waits at most this long for its files to be copied.
const COPY_LIMIT: Duration = Duration::from_secs(2);

/// The turn whose changes are kept.
#[derive(Clone, Debug)]
pub struct KeptTurn {
    /// All backups.
    pub backups: Backups,
    /// The name of the session.
    pub session: String,
    /// The turn.
    pub turn: String,
    /// What the user asked in it.
    pub question: String,
    /// The user's home.
    pub home: PathBuf,
    /// The shell that reads commands.
    pub shell: Shell,
    /// The lock on what runs unasked: behind it no file changes.
    pub lock: Option<Lock<'static>>,
}

impl KeptTurn {
    fn keep_file(&self, path: &Path) -> Result<(), String> {
        let question = one_line(&self.question, TITLE_MAX_CHARS);
        self.backups.keep(&self.session, &self.turn, &question, path).map_err(|error| error.to_string())
    }

    /// `None` if the command changes no file, for all that is known.
    fn keep_for_command(&self, command: &str, cwd: &Path) -> io::Result<Option<Pending>> {
        let context = Context { lock: self.lock, ..Context::new(cwd, &self.home) }.in_shell(self.shell);
        if assess_line(command, context).level == Level::Allow {
            return Ok(None);
        }
        let deadline = Instant::now() + COPY_LIMIT;
        let mut found = changes(&plan(command, &Known::of(self.home.clone(), cwd.to_owned())), deadline);
        listing::list(&mut found, deadline);
        if found.is_empty() {
            return Ok(None);
        }
        let Changes { paths, attributes, moves, uncovered, .. } = found;
        let line = one_line(command, TITLE_MAX_CHARS);
        let changes = CommandChanges { line, paths, attributes, moves, uncovered };
        let question = one_line(&self.question, TITLE_MAX_CHARS);
        self.backups.keep_for_command((&self.session, &self.turn), &question, &changes, deadline).map(Some)
    }
}

/// What a call that runs is about to change.
#[derive(Debug)]
enum Open {
    File(PathBuf),
    Command(Pending),
}

/// Keeps what the calls of one turn change.
pub struct KeepFiles {
    turn: KeptTurn,
    /// By the ids of the calls.
    open: Mutex<BTreeMap<String, Open>>,
}

impl KeepFiles {
    /// For this turn.
    #[must_use]
    pub fn new(turn: KeptTurn) -> Self {
        Self { turn, open: Mutex::default() }
    }

    fn open(&self, call_id: &str, open: Open) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(call_id.to_owned(), open);
    }

    async fn on_disk<T: Send + 'static>(
        &self,
        work: impl FnOnce(&KeptTurn) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let turn = self.turn.clone();
        tokio::task::spawn_blocking(move || work(&turn)).await.map_err(|error| error.to_string())?
    }
}

#[async_trait]
impl Middleware for KeepFiles {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        match &call.intent.effect {
            Effect::Write { path, .. } => {
                let kept = path.clone();
                self.on_disk(move |turn| turn.keep_file(&kept)).await.map_err(|error| Denial::Refused {
                    reason: format!(
                        "nothing was written: the file's content could not be saved for `cohab undo`: {error}"
                    ),
                })?;
                self.open(&call.call_id, Open::File(path.clone()));
            }
            Effect::RunCommand { command } => {
                let (command, cwd) = (command.clone(), call.cwd.clone());
                let kept =
                    self.on_disk(move |turn| turn.keep_for_command(&command, &cwd).map_err(|error| error.to_string()));
                match kept.await {
                    Ok(Some(pending)) => self.open(&call.call_id, Open::Command(pending)),
                    Ok(None) => {}
                    // The user agreed to the command, not to a copy.
                    Err(error) => tracing::warn!(error, "what a command changes could not be kept"),
                }
            }
            Effect::Read { .. } | Effect::Internal | Effect::Foreign { .. } => {}
        }
        Ok(())
    }
}

#[async_trait]
impl TurnObserver for KeepFiles {
    async fn observe(&self, fact: Fact<'_>) {
        let Fact::CallEnded(call, ..) = fact else { return };
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&call.id);
        let Some(open) = open else { return };
        let noted = self.on_disk(move |KeptTurn { backups, session, turn, .. }| match open {
            Open::File(path) => backups.changed(session, turn, &path).map_err(|error| error.to_string()),
            Open::Command(pending) => backups.command_ended(session, turn, &pending).map_err(|error| error.to_string()),
        });
        if let Err(error) = noted.await {
            tracing::warn!(error, "a change cannot be undone");
        }
    }
}

#[cfg(test)]
#[path = "backups_session_tests.rs"]
mod session_tests;
#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_agent::port::{Intent, StepResult};
    use cohab_model_api::{JsonObject, ToolCall, ToolResult};

    use super::*;

    fn call(effect: Effect, cwd: &Path) -> PlannedCall {
        let call = ToolCall { id: "1".into(), name: "a tool".into(), args: Ok(JsonObject::new().into()) };
        let intent = Intent { title: String::new(), effect };
        PlannedCall::new(&call, JsonObject::new(), intent, cwd.to_owned())
    }

    async fn ends(keep: &KeepFiles) {
        let call = ToolCall { id: "1".into(), name: "a tool".into(), args: Ok(JsonObject::new().into()) };
        let result = ToolResult { call_id: "1".into(), tool: "a tool".into(), content: String::new(), is_error: false };
        keep.observe(Fact::CallEnded(&call, StepResult::Done, &result)).await;
    }

    fn keep_files(backups: &Backups, home: &Path) -> KeepFiles {
        KeepFiles::new(KeptTurn {
            backups: backups.clone(),
            session: "shell:1".into(),
            turn: "t".into(),
            question: "tidy up".into(),
            home: home.to_owned(),
            shell: Shell::Bash,
            lock: None,
        })
    }

    #[test]
    fn the_card_names_what_is_left_out_by_the_limits_of_the_backups() {
        use cohab_impact::left_out::{MAX_KEPT_BYTES, MAX_KEPT_PATHS};
        use cohab_store::backups::{MAX_CHANGES, MAX_TURN_BYTES};
        assert_eq!((MAX_KEPT_BYTES, MAX_KEPT_PATHS), (MAX_TURN_BYTES, MAX_CHANGES));
    }

    #[tokio::test]
    async fn a_change_is_kept_around_the_call_and_refused_where_it_cannot_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let file = root.join("f");
        fs::write(&file, "old").expect("written");
        let write = || Effect::Write { path: file.clone(), diff: "".into() };
        let backups = Backups::at(&root.join("state"));
        let keep = keep_files(&backups, &root);
        keep.before_tool(&mut call(write(), &root)).await.expect("it is kept");
        fs::write(&file, "new").expect("written");
        ends(&keep).await;
        let restored = backups.restore(Some("t")).expect("read").expect("something to restore");
        assert_eq!(restored.question, "tidy up");
        assert_eq!(fs::read_to_string(&file).expect("text"), "old");

        let keep = keep_files(&Backups::at(&file), &root);
        let Err(Denial::Refused { reason }) = keep.before_tool(&mut call(write(), &root)).await else {
            panic!("it is kept")
        };
        assert!(reason.starts_with("nothing was written: the file's content could not be saved"), "{reason}");
    }

    #[tokio::test]
    async fn what_a_command_removes_is_kept_and_what_only_reads_leaves_no_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let file = root.join("todo.txt");
        fs::write(&file, "old").expect("written");
        let run = |command: &str| call(Effect::RunCommand { command: command.into() }, &root);
        let backups = Backups::at(&root.join("state"));
        let keep = keep_files(&backups, &root);
        keep.before_tool(&mut run("ls -l; cat todo.txt")).await.expect("it may run");
        ends(&keep).await;
        assert_eq!(backups.turns().expect("read"), []);
        keep.before_tool(&mut run("touch two.txt && rm -f todo.txt && make")).await.expect("it may run");
        fs::write(root.join("two.txt"), "").expect("written");
        fs::remove_file(&file).expect("removed");
        ends(&keep).await;
        let restored = backups.restore(None).expect("read").expect("a turn");
        assert_eq!(restored.commands[0].uncovered, ["what `make` changes in files"]);
        assert_eq!(fs::read_to_string(&file).expect("text"), "old");
        assert!(!root.join("two.txt").exists());

        // A command runs although nothing can be kept.
        let keep = keep_files(&Backups::at(&file), &root);
        keep.before_tool(&mut run("rm todo.txt")).await.expect("it may run");
    }
}
