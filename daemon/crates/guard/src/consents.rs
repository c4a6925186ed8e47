//! The consents of a session.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use cohab_agent::port::Effect;
use cohab_policy::Caveat;

use crate::{pipeline::reading::Suspicions, taint::Taint};

/// Consents that one session remembers; the oldest goes when there are more.
pub(crate) const MAX_REMEMBERED: usize = 256;

/// What the user agreed to for the life of a session: exactly these effects, in exactly this folder; for a change of a file
/// further changes of just that file, and for an action of another program further ones of that name, in any folder. What was agreed to before a text from elsewhere came is suspended from then on.
#[derive(Clone, Debug, Default)]
pub struct Consents {
    pub(crate) agreed: Arc<Mutex<Vec<Consent>>>,
    taint: Taint,
    suspicions: Suspicions,
    /// Facts that a yes has settled.
    settled: Arc<Mutex<HashSet<Caveat>>>,
}

#[derive(Debug)]
pub(crate) struct Consent {
    effect: Effect,
    cwd: PathBuf,
    approval: Option<String>,
    /// The user knew of a text from elsewhere.
    is_under_taint: bool,
}

impl Consent {
    fn covers(&self, effect: &Effect, cwd: &Path) -> bool {
        match (&self.effect, effect) {
            (Effect::Write { path: agreed, .. }, Effect::Write { path, .. }) => agreed == path,
            (Effect::Foreign { by: agreed_by, action: agreed_action, .. }, Effect::Foreign { by, action, .. }) => {
                (agreed_by, agreed_action) == (by, action)
            }
            (agreed, effect) => agreed == effect && self.cwd == cwd,
        }
    }
}

impl Consents {
    /// The same consents for another conversation of the session, which nothing has touched so far.
    #[must_use]
    pub fn for_new_conversation(&self) -> Self {
        Self { taint: Taint::default(), suspicions: Suspicions::default(), ..self.clone() }
    }

    /// No consents, for the conversation of a subagent: it is touched by what this one was touched by.
    #[must_use]
    pub fn for_subagent(&self) -> Self {
        Self { taint: self.taint.for_subagent(), ..Self::default() }
    }

    /// What the conversation was touched by.
    #[must_use]
    pub fn taint(&self) -> &Taint {
        &self.taint
    }

    /// What of the conversation read like instructions to the model.
    #[must_use]
    pub fn suspicions(&self) -> &Suspicions {
        &self.suspicions
    }

    /// Whether the user has said yes to just this already.
    #[must_use]
    pub fn is_settled(&self, caveat: &Caveat) -> bool {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner).contains(caveat)
    }

    /// The user knows of these and agrees, as long as the session lives.
    pub fn settle(&self, caveats: Vec<Caveat>) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_REMEMBERED.saturating_sub(settled.len());
        settled.extend(caveats.into_iter().filter(Caveat::can_be_settled).take(room));
    }

    pub(crate) fn recall(&self, effect: &Effect, cwd: &Path) -> Option<Option<String>> {
        let is_tainted = self.taint.source().is_some();
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        let holds = |one: &&Consent| one.covers(effect, cwd) && (one.is_under_taint || !is_tainted);
        agreed.iter().find(holds).map(|one| one.approval.clone())
    }

    pub(crate) fn remember(&self, mut effect: Effect, cwd: PathBuf, approval: Option<String>) {
        // They may be long, and are not what was agreed to.
        if let Effect::Write { diff: shown, .. } | Effect::Foreign { details: shown, .. } = &mut effect {
            *shown = Arc::default();
        }
        let is_under_taint = self.taint.source().is_some();
        let mut agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        if agreed.len() == MAX_REMEMBERED {
            agreed.remove(0);
        }
        agreed.push(Consent { effect, cwd, approval, is_under_taint });
    }

    /// Whether the user agreed to this, and a text from elsewhere suspends that.
    pub(crate) fn is_suspended(&self, effect: &Effect, cwd: &Path) -> bool {
        let agreed = self.agreed.lock().unwrap_or_else(PoisonError::into_inner);
        self.taint.source().is_some() && agreed.iter().any(|one| one.covers(effect, cwd))
    }
}
