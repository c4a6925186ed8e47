//! Puts the hooks of the user around turns and runs of flows, and has them hear when a conversation ends.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    PlannedCall, TurnError,
    builtin_tools::LIVE,
    port::{Effect, EventSink, Intent, TurnEvent},
};
use cohab_context::trust::TrustedFolders;
use cohab_guard::{provenance::UserPlaces, taint::Taint};
use cohab_hooks::{
    consent::AllowedFiles,
    event::HookEvent,
    hook_set::{HookSet, Moment, SetError, Spoken},
    input::Occasion,
    own_tools::Guides,
    places::HookPlaces,
    program_prints::ProgramPrints,
    sessions::KnownSessions,
    turn::{HookReport, HookedTurn, TurnHooks},
};
use cohab_model_api::{JsonObject, ToolCall};
use cohab_policy_io::files::FileSystem;
use cohab_protocol::Paths;
use cohab_runtime::middleware::audit::Audit;
use cohab_session::{Accounted, TurnPart, TurnParts, session::Session};
use cohab_shell_state::shell::Shell;
use tokio::time::timeout;

use super::Assembly;

/// A question waits at most this long for the files of hooks: a disk may hang.
const LOOK_WAIT: Duration = Duration::from_millis(500);
/// The hooks of the end of a conversation take no longer: the user waits for the next one.
const END_WAIT: Duration = Duration::from_secs(5);
/// Advice for the user.
const HINT: &str = "`cohab hooks` shows what is wrong";

/// Where files of hooks are, for a user with this home.
#[must_use]
pub fn hook_places(paths: &Paths, home: PathBuf) -> HookPlaces {
    HookPlaces {
        settings: paths.config_dir.clone(),
        trust: TrustedFolders::new(paths.trusted_folders_file(), home.clone()),
        allowed: AllowedFiles::at(paths.allowed_hooks_file()),
        home,
    }
}

/// The hooks of all sessions, and what own tools say of themselves.
#[derive(Default)]
pub(super) struct Hooks {
    pub known: Arc<KnownSessions>,
    pub guides: Guides,
    pub prints: Arc<ProgramPrints>,
}

/// Passes on what hooks did: to the user, to the audit log, and to what watches for untrusted text.
struct TurnReport {
    sink: Arc<dyn EventSink>,
    audit: Option<Arc<Audit>>,
    taint: Taint,
    place: UserPlaces,
}

#[async_trait]
impl HookReport for TurnReport {
    async fn notice(&self, text: String) {
        self.sink.emit(TurnEvent::Notice(text)).await;
    }

    fn blocked(&self, event: HookEvent, tool: &str, by: &Spoken) {
        if let Some(audit) = &self.audit {
            audit.hook_objected(event.name(), tool, &by.hook, &by.text);
        }
    }

    /// The text counts as the output of the hook's command would, had the model run it.
    fn spoke(&self, command: &str, cwd: &Path) {
        let call = ToolCall { id: String::new(), name: LIVE.to_owned(), args: Ok(Arc::default()) };
        let intent = Intent { title: String::new(), effect: Effect::RunCommand { command: command.into() } };
        let label = self.place.of_planned(&PlannedCall::new(&call, JsonObject::new(), intent, cwd.to_owned()));
        if label.is_foreign() {
            self.taint.raise(&label.source);
        }
    }
}

/// Whose hooks these are, and who hears of them.
pub(super) struct HookUser {
    pub sink: Arc<dyn EventSink>,
    pub audit: Option<Arc<Audit>>,
    pub taint: Taint,
    pub workspace: PathBuf,
    pub shell: Shell,
}

impl Assembly {
    /// The hooks around a turn; `None` if there are none.
    pub(super) async fn hooks_of_turn(
        &self,
        parts: &TurnParts,
        audit: Option<Arc<Audit>>,
        shell: Shell,
    ) -> Result<Option<Arc<TurnHooks>>, TurnError> {
        let session = Arc::clone(&parts.session);
        let Accounted { session: whose, turn } = parts.accounted();
        let known = &self.hooks.known;
        let (set, cancel, subagent) = match &parts.part {
            TurnPart::Question => {
                let set = Arc::new(self.load_hooks(parts.surroundings.root.clone()).await?);
                known.turn_begins(&whose, &turn, &set);
                (set, session.turn_token().unwrap_or_default(), None)
            }
            // It works for a turn that has them, in a copy of the project perhaps. A background task works for none.
            TurnPart::Subagent(subagent) => {
                let set = match known.of_turn(&turn) {
                    Some(set) => set,
                    None => {
                        let set = Arc::new(self.load_hooks(subagent.project.clone()).await?);
                        known.task_begins(&turn, &set);
                        set
                    }
                };
                (set, subagent.cancel.clone(), Some(subagent.kind.name.clone()))
            }
        };
        if set.is_empty() {
            return Ok(None);
        }
        let root = parts.surroundings.git.as_ref().map(|git| git.root.clone());
        let user = HookUser {
            sink: Arc::clone(&parts.sink),
            audit,
            taint: parts.memory.consents.taint().clone(),
            workspace: root.unwrap_or_else(|| session.cwd()),
            shell,
        };
        let question = subagent.is_none().then(|| parts.question.clone());
        let (is_private, name) = (parts.memory.is_private, whose.clone());
        let moment = Box::new(move || moment(name.clone(), &session));
        let hooked = HookedTurn { session: whose, question, subagent, is_private, cancel, moment };
        let hooks = self.hooks_around(set, hooked, user);
        hooks.tell_waiting().await;
        Ok(Some(hooks))
    }

    /// The hooks of a set around a turn, or what is like one.
    pub(super) fn hooks_around(&self, set: Arc<HookSet>, turn: HookedTurn, user: HookUser) -> Arc<TurnHooks> {
        let HookUser { sink, audit, taint, workspace, shell } = user;
        let (home, files) = (self.parts.home.clone(), Some(&FileSystem as _));
        let place = UserPlaces { home, workspace, outputs: None, shell, files };
        let report = Arc::new(TurnReport { sink, audit, taint, place });
        Arc::new(TurnHooks::new(set, Arc::clone(&self.hooks.known), report, turn))
    }

    /// The hooks of a run of a flow, which is a session of its own. Blocks.
    pub(super) fn hooks_of_flow(
        &self,
        root: &Path,
        turn: HookedTurn,
        user: HookUser,
    ) -> Result<Option<Arc<TurnHooks>>, TurnError> {
        let set = HookSet::load(&self.hook_places(), Some(root)).map_err(|error| broken(&error))?;
        Ok((!set.is_empty()).then(|| self.hooks_around(Arc::new(set), turn, user)))
    }

    async fn load_hooks(&self, root: Option<PathBuf>) -> Result<HookSet, TurnError> {
        let places = self.hook_places();
        let looking = tokio::task::spawn_blocking(move || HookSet::load(&places, root.as_deref()));
        match timeout(LOOK_WAIT, looking).await {
            Ok(Ok(loaded)) => loaded.map_err(|error| broken(&error)),
            // What they guard must not happen without them.
            Ok(Err(_)) | Err(_) => {
                let message = "the files of your hooks could not be read in time".to_owned();
                Err(TurnError::Stopped { message, hint: Some(HINT.into()) })
            }
        }
    }

    fn hook_places(&self) -> HookPlaces {
        hook_places(&self.paths, self.parts.home.clone())
    }

    /// Has the hooks of a session hear of something between its turns.
    pub(super) async fn tell_hooks(&self, session: &Session, occasion: &Occasion) {
        let name = session.key().to_string();
        if let Some(set) = self.hooks.known.of(&name) {
            set.run(occasion, &moment(name, session)).await;
        }
    }

    /// The conversation of a session is over; so is the session, unless the conversation was only cleared.
    pub(super) async fn end_hooks(&self, session: &Session, is_cleared: bool) {
        let name = session.key().to_string();
        let known = &self.hooks.known;
        let (set, reason) = match is_cleared {
            true => (known.cleared(&name), "clear"),
            false => (known.ended(&name), "other"),
        };
        if let Some(set) = set {
            let (occasion, moment) = (Occasion::SessionEnd { reason }, moment(name, session));
            // What takes longer is killed.
            let _ = timeout(END_WAIT, set.run(&occasion, &moment)).await;
        }
    }
}

fn broken(error: &SetError) -> TurnError {
    TurnError::Settings { message: error.to_string(), hint: Some(HINT.into()) }
}

fn moment(name: String, session: &Session) -> Moment {
    Moment { session: name, cwd: session.cwd(), environment: session.environment(), mode: session.approval() }
}
