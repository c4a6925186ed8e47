//! The hooks that are in force in a place, and what they say together about an event.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    sync::Arc,
};

use cohab_model_api::JsonObject;
use cohab_system::private_file::PrivateFileError;
use cohab_types::{approval_mode::ApprovalMode, environment::Variables};
use futures::{StreamExt as _, stream};
use tokio::{task::spawn_blocking, time::timeout};

use crate::{
    consented::ConsentedFile,
    event::HookEvent,
    file::Hook,
    input::{Circumstances, MAX_INPUT_BYTES, Occasion},
    output::{self, HookEnd, Objection, Reply},
    places::{Consent, FoundFile, HookPlaces, PROJECT_VARIABLES, Scope},
    process::{self, HookRun},
};

/// Hooks of one event that run at the same time, at most.
const MAX_AT_ONCE: usize = 4;

/// The reason why the hooks of a place cannot be used. `Display` is a sentence for the user.
#[derive(Debug, thiserror::Error)]
pub enum SetError {
    /// The list of allowed files.
    #[error(transparent)]
    List(#[from] PrivateFileError),
    /// A file that the user wants to be in force.
    #[error("the hooks in {} cannot be read: {reason}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// A phrase.
        reason: String,
    },
}

/// A hook in force.
#[derive(Clone, Debug)]
pub struct HookInForce {
    /// The hook.
    pub hook: Hook,
    /// What the user agreed to, where that is needed. It is compared again whenever the hook runs.
    pub consented: Option<Arc<ConsentedFile>>,
}

/// The hooks in force.
#[derive(Clone, Debug, Default)]
pub struct HookSet {
    hooks: Vec<HookInForce>,
    project: PathBuf,
    waiting: Vec<(PathBuf, Consent)>,
}

/// When and where hooks run.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Name of the session.
    pub session: String,
    /// Its folder.
    pub cwd: PathBuf,
    /// Its environment; empty if it is unknown.
    pub environment: Variables,
    /// Its approval mode.
    pub mode: ApprovalMode,
}

/// Text of a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spoken {
    /// The hook's name.
    pub hook: String,
    /// The text.
    pub text: String,
}

/// What all hooks of an event said.
#[derive(Clone, Debug, Default)]
pub struct HookOutcome {
    /// The strictest objection, and the name of its hook.
    pub objection: Objection,
    /// Name of the hook that objects.
    pub by: String,
    /// The reason to end the turn.
    pub stop: Option<Spoken>,
    /// The arguments that the call should have.
    pub updated_input: Option<(String, JsonObject)>,
    /// Texts for the model.
    pub contexts: Vec<Spoken>,
    /// Texts for the user.
    pub messages: Vec<Spoken>,
    /// Faults of hooks.
    pub faults: Vec<Spoken>,
    /// The commands of the hooks that said anything that the model may read, or that changed a call.
    pub speakers: Vec<String>,
    /// Number of hooks that ran.
    pub ran: usize,
    /// The turn was cancelled before all of them ended.
    pub is_cancelled: bool,
}

impl HookSet {
    /// The hooks in force for a project. Blocks.
    ///
    /// # Errors
    /// A file that should be in force cannot be read: then nothing that it guards may happen.
    pub fn load(places: &HookPlaces, root: Option<&Path>) -> Result<Self, SetError> {
        let mut set = Self { project: root.unwrap_or(&places.home).to_owned(), ..Self::default() };
        for FoundFile { path, consent, content, scope, consented, .. } in places.find(root)? {
            match (consent, content) {
                (Consent::Given, Ok(file)) => {
                    let consented = consented.map(Arc::new);
                    let hooks = file.hooks.into_iter();
                    set.hooks.extend(hooks.map(|hook| HookInForce { hook, consented: consented.clone() }));
                }
                (Consent::Given, Err(reason)) => return Err(SetError::File { path, reason }),
                // It is theirs to say so; a file with nothing to run needs no answer.
                (consent, content) => {
                    let is_empty = content.is_ok_and(|file| file.hooks.is_empty());
                    if !is_empty || scope == Scope::User {
                        set.waiting.push((path, consent));
                    }
                }
            }
        }
        Ok(set)
    }

    /// A set of these hooks, which need no consent.
    #[must_use]
    pub fn of(hooks: Vec<Hook>, project: PathBuf) -> Self {
        let hooks = hooks.into_iter().map(|hook| HookInForce { hook, consented: None });
        Self { hooks: hooks.collect(), project, waiting: Vec::new() }
    }

    /// Whether nothing runs, and nothing waits for the user's consent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hooks.is_empty() && self.waiting.is_empty()
    }

    /// Whether a hook may run at any of these events.
    #[must_use]
    pub fn has(&self, events: &[HookEvent]) -> bool {
        self.hooks.iter().any(|known| events.contains(&known.hook.event))
    }

    /// The files that wait for the user's consent, as sentences.
    pub fn notices(&self) -> impl Iterator<Item = String> {
        self.waiting.iter().map(|(path, consent)| {
            let path = cohab_text::sanitize::one_line(&path.to_string_lossy(), 200);
            match consent {
                Consent::NoTrust => {
                    format!("The hooks in {path} do not run: you do not trust this project (`cohab trust`).")
                }
                Consent::Changed => {
                    format!(
                        "The hooks in {path} do not run: they changed since you allowed them (`cohab hooks allow`)."
                    )
                }
                Consent::Missing | Consent::Given => {
                    format!("The hooks in {path} do not run until you allow them: `cohab hooks allow`.")
                }
            }
        })
    }

    /// The hooks that an event starts. A command that several files name runs once in a folder.
    pub fn matching<'a>(&'a self, occasion: &Occasion) -> Vec<&'a HookInForce> {
        let (event, subjects) = (occasion.event(), occasion.subjects());
        let mut matching: Vec<&HookInForce> = Vec::new();
        for known in &self.hooks {
            let HookInForce { hook, .. } = known;
            let is_same = |other: &&HookInForce| other.hook.command == hook.command && other.root() == known.root();
            if hook.event == event && hook.matcher.matches(&subjects) && !matching.iter().any(is_same) {
                matching.push(known);
            }
        }
        matching
    }

    /// Runs the hooks of an event. All of them are killed if the future is dropped.
    pub async fn run(&self, occasion: &Occasion, moment: &Moment) -> HookOutcome {
        let hooks = self.matching(occasion);
        if hooks.is_empty() {
            return HookOutcome::default();
        }
        let Moment { session, cwd, environment, mode } = moment;
        let mode = mode_name(*mode);
        let input = occasion.json(&Circumstances { session, cwd, mode });
        let environment = self.environment(environment);
        let (input, environment) = (Arc::new(input), Arc::new(environment));
        let runs = hooks.iter().map(|hook| {
            let (input, environment) = (Arc::clone(&input), Arc::clone(&environment));
            async move {
                let Some(input) = input.as_deref() else {
                    let limit = MAX_INPUT_BYTES / 1024 / 1024;
                    return HookEnd::NotRun(format!("what it should judge is larger than {limit} MiB"));
                };
                hook.run(cwd, &environment, input).await
            }
        });
        let ends: Vec<HookEnd> = stream::iter(runs.collect::<Vec<_>>()).buffered(MAX_AT_ONCE).collect().await;
        let replies = ends.iter().map(|end| output::read(occasion.event(), end));
        HookOutcome::of(occasion.event(), hooks.iter().map(|known| &known.hook).zip(replies))
    }

    /// The variables of a hook.
    fn environment(&self, variables: &Variables) -> Vec<(OsString, OsString)> {
        let mut all = process::environment(variables);
        all.extend(PROJECT_VARIABLES.map(|name| (name.into(), self.project.clone().into_os_string())));
        all
    }
}

impl HookInForce {
    /// The root of the project whose hook it is.
    fn root(&self) -> Option<&Path> {
        self.consented.as_ref()?.root.as_deref()
    }

    /// Runs it, unless its content is no longer what the user agreed to. A hook of a project runs at the project's root: there its command names
    /// the files that the user saw.
    async fn run(&self, cwd: &Path, environment: &[(OsString, OsString)], input: &[u8]) -> HookEnd {
        let Hook { command, limit, .. } = &self.hook;
        if let Some(consented) = self.consented.clone() {
            let checked = timeout(*limit, spawn_blocking(move || consented.check())).await;
            let checked = checked.map_err(|_| "its files could not be read in time".to_owned());
            let checked = checked.and_then(|checked| checked.unwrap_or_else(|error| Err(error.to_string())));
            if let Err(reason) = checked {
                return HookEnd::NotRun(reason);
            }
        }
        let cwd = self.root().unwrap_or(cwd);
        process::run(HookRun { command, cwd, environment, input, limit: *limit }).await
    }
}

impl HookOutcome {
    /// Nothing ran to its end, since the turn was cancelled: a guard lets nothing pass.
    #[must_use]
    pub fn cancelled(event: HookEvent) -> Self {
        let text = "the turn was cancelled before your hooks answered".to_owned();
        let objection = if event.is_guard() { Objection::Block(text) } else { Objection::None };
        Self { objection, is_cancelled: true, ..Self::default() }
    }

    /// Puts together what the hooks said.
    pub fn of<'a>(event: HookEvent, replies: impl Iterator<Item = (&'a Hook, Reply)>) -> Self {
        let mut all = Self::default();
        for (hook, reply) in replies {
            all.ran += 1;
            all.add(event, hook, reply);
        }
        if matches!(all.objection, Objection::Block(_)) {
            all.updated_input = None;
        }
        all
    }

    fn add(&mut self, event: HookEvent, hook: &Hook, reply: Reply) {
        let Reply { objection, fault, context, message, stop, updated_input } = reply;
        let name = hook.name();
        let spoken = |text| Spoken { hook: name.clone(), text };
        let is_for_model = event.is_guard() || event.reports_to_model() || event.may_continue();
        // What a hook makes of a call is its text, too.
        if context.is_some() || updated_input.is_some() || is_for_model && objection != Objection::None {
            self.speakers.push(hook.command.clone());
        }
        self.contexts.extend(context.map(spoken));
        self.messages.extend(message.map(spoken));
        self.faults.extend(fault.map(spoken));
        if let (None, Some(text)) = (&self.stop, stop) {
            self.stop = Some(spoken(text));
        }
        match (&self.updated_input, updated_input) {
            (Some((other, input)), Some(own)) if *input != own => {
                let reason = format!("it and `{other}` want to change the call in different ways");
                self.object(Objection::Block(reason), &name);
            }
            (None, Some(own)) => self.updated_input = Some((name.clone(), own)),
            _ => {}
        }
        self.object(objection, &name);
    }

    /// The first of the strictest objections counts.
    fn object(&mut self, objection: Objection, name: &str) {
        let rank = |objection: &Objection| match objection {
            Objection::None => 0,
            Objection::Ask(_) => 1,
            Objection::Block(_) => 2,
        };
        if rank(&objection) > rank(&self.objection) {
            self.objection = objection;
            name.clone_into(&mut self.by);
        }
    }

    /// The reason of a hook that blocks, with its name.
    #[must_use]
    pub fn blocked(&self) -> Option<Spoken> {
        match &self.objection {
            Objection::Block(text) => Some(Spoken { hook: self.by.clone(), text: text.clone() }),
            Objection::None | Objection::Ask(_) => None,
        }
    }
}

/// The approval mode under the name that hooks know.
fn mode_name(mode: ApprovalMode) -> &'static str {
    match mode {
        ApprovalMode::ReadOnly => "plan",
        ApprovalMode::Ask => "default",
        ApprovalMode::Auto => "acceptEdits",
        ApprovalMode::All => "bypassPermissions",
    }
}

#[cfg(test)]
#[path = "hook_set_tests.rs"]
mod tests;
