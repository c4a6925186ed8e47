//! Keeps the content of a file before `write` or `edit` changes it, so that `cohab undo` can restore it.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{Denial, Middleware, PlannedCall, port::Effect};
use cohab_model_api::ToolResult;
use cohab_store::backups::{BackupError, Backups};

/// Keeps the files that one turn changes.
pub struct KeepFiles {
    backups: Backups,
    session: String,
    turn: String,
    /// Files that are being changed, by the ids of their calls.
    open: Mutex<BTreeMap<String, PathBuf>>,
}

impl KeepFiles {
    /// For this turn of the session with this name.
    #[must_use]
    pub fn new(backups: Backups, session: String, turn: String) -> Self {
        Self { backups, session, turn, open: Mutex::default() }
    }

    async fn on_disk(
        &self,
        path: PathBuf,
        work: fn(&Backups, &str, &str, &std::path::Path) -> Result<(), BackupError>,
    ) -> Result<(), String> {
        let (backups, session, turn) = (self.backups.clone(), self.session.clone(), self.turn.clone());
        let done = tokio::task::spawn_blocking(move || work(&backups, &session, &turn, &path)).await;
        done.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
    }
}

#[async_trait]
impl Middleware for KeepFiles {
    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let Effect::Write { path, .. } = &call.intent.effect else { return Ok(()) };
        self.on_disk(path.clone(), Backups::keep).await.map_err(|error| Denial::Refused {
            reason: format!("nothing was written: the file's content could not be saved for `cohab undo`: {error}"),
        })?;
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(call.call_id.clone(), path.clone());
        Ok(())
    }

    async fn after_tool(&self, result: &mut ToolResult) {
        let path = self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&result.call_id);
        let Some(path) = path else { return };
        if let Err(error) = self.on_disk(path, Backups::changed).await {
            tracing::warn!(error, "a changed file cannot be undone");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_agent::port::Intent;
    use cohab_model_api::{JsonObject, ToolCall};

    use super::*;

    fn call(path: PathBuf) -> PlannedCall {
        let call = ToolCall { id: "1".into(), name: "write".into(), args: Ok(JsonObject::new().into()) };
        let intent = Intent { title: String::new(), effect: Effect::Write { path, diff: "".into() } };
        PlannedCall::new(&call, JsonObject::new(), intent, "/".into())
    }

    #[tokio::test]
    async fn a_change_is_kept_around_the_call_and_refused_where_it_cannot_be() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let file = root.join("f");
        fs::write(&file, "old").expect("written");
        let backups = Backups::at(&root.join("state"));
        let keep = KeepFiles::new(backups.clone(), "shell:1".into(), "t".into());
        keep.before_tool(&mut call(file.clone())).await.expect("it is kept");
        fs::write(&file, "new").expect("written");
        let (call_id, tool) = ("1".to_owned(), "write".to_owned());
        keep.after_tool(&mut ToolResult { call_id, tool, content: String::new(), is_error: false }).await;
        backups.restore(Some("t")).expect("read").expect("something to restore");
        assert_eq!(fs::read_to_string(&file).expect("text"), "old");

        let keep = KeepFiles::new(Backups::at(&file), "shell:1".into(), "t".into());
        let Err(Denial::Refused { reason }) = keep.before_tool(&mut call(file)).await else { panic!("it is kept") };
        assert!(reason.starts_with("nothing was written: the file's content could not be saved"), "{reason}");
    }
}
