//! Commands that the sandbox would not let write where they write: the user agrees to run them without it, before they fail.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use cohab_agent::{
    PlannedCall,
    builtin_tools::{LIVE, UNCONFINED},
    port::Effect,
};
use cohab_impact::{
    changes::changes,
    plan::{Known, plan},
};
use cohab_policy::{Level, Verdict};
use cohab_protocol::ApprovalMode;

use super::Gate;

/// The disk is looked at for so long.
const LOOK_LIMIT: Duration = Duration::from_millis(100);
/// The note for the model.
const NOTE: &str = "it ran without the sandbox, which would not have let it write there; the user agreed";

/// The folders in which a session's sandbox lets commands write.
#[derive(Clone, Debug)]
pub struct SandboxReach {
    /// With links resolved.
    pub writable: Vec<PathBuf>,
    /// The user's home.
    pub home: PathBuf,
}

impl SandboxReach {
    /// A path that the command is known to write, and that the sandbox keeps it from writing.
    fn kept_from(&self, command: &str, cwd: &Path) -> Option<PathBuf> {
        let plan = plan(command, &Known::of(self.home.clone(), cwd.to_owned()));
        let found = changes(&plan, Instant::now() + LOOK_LIMIT);
        let moved = found.moves.into_iter().flat_map(|(from, to)| [from, to]);
        let paths = found.paths.into_iter().chain(moved).chain(found.attributes.into_iter().map(|(path, _)| path));
        paths.into_iter().find(|path| !self.allows(path))
    }

    fn allows(&self, path: &Path) -> bool {
        let existing = path.ancestors().find_map(|folder| folder.canonicalize().ok());
        let is_below = |existing: &PathBuf| self.writable.iter().any(|folder| existing.starts_with(folder));
        path.starts_with("/dev") || existing.as_ref().is_some_and(is_below)
    }
}

impl Gate {
    /// Sends a call that the sandbox would stop to the tool that runs it without, if the user is asked about it anyway. The card says so.
    pub(super) fn leave_sandbox(&self, call: &mut PlannedCall, verdict: &mut Verdict) {
        let Some(reason) = self.stopped_by_sandbox(call, verdict.level) else { return };
        verdict.reasons.push(reason);
        call.tool = UNCONFINED.to_owned();
        call.note = Some(NOTE.to_owned());
    }

    /// The reason to run a call without the sandbox.
    pub(super) fn stopped_by_sandbox(&self, call: &PlannedCall, level: Level) -> Option<String> {
        let is_asked = matches!(level, Level::Ask | Level::Danger)
            && matches!((self.mode)(), ApprovalMode::Ask | ApprovalMode::Auto);
        let (Some(reach), Effect::RunCommand { command }) = (&self.reach, &call.intent.effect) else { return None };
        if !is_asked || call.tool != LIVE {
            return None;
        }
        let path = reach.kept_from(command, &call.cwd)?;
        let place = match path.parent() {
            Some(folder) if path.starts_with(&call.cwd) || folder == call.cwd => "here".to_owned(),
            Some(folder) => format!("in {}", folder.display()),
            None => "there".to_owned(),
        };
        Some(format!("the sandbox will not let it write {place}: y runs it without the sandbox"))
    }
}
