//! Remembers hooks between the turns of a session: its hooks, whether they know of its start, and what was reported to the user.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

use crate::hook_set::HookSet;

/// Most sessions that are remembered, unless more have a turn that runs. Beyond, one without is forgotten.
const MAX_SESSIONS: usize = 512;
/// Most texts of a session that are reported once.
const MAX_REPORTED: usize = 64;

/// The sessions with hooks.
#[derive(Debug, Default)]
pub struct KnownSessions(Mutex<Sessions>);

#[derive(Debug, Default)]
struct Sessions {
    by_name: HashMap<String, Known>,
    /// The hooks of turns that run, by the turn. A subagent has those of the turn that it works for.
    turns: HashMap<String, Weak<HookSet>>,
}

#[derive(Debug, Default)]
struct Known {
    set: Arc<HookSet>,
    has_begun: bool,
    was_cleared: bool,
    reported: HashSet<String>,
}

impl Known {
    /// A turn holds its hooks as long as it runs.
    fn is_running(&self) -> bool {
        Arc::strong_count(&self.set) > 1
    }
}

impl Sessions {
    /// What is known of a session, from now on at the latest. Others make room.
    fn entry(&mut self, session: &str) -> &mut Known {
        if self.by_name.len() >= MAX_SESSIONS && !self.by_name.contains_key(session) {
            let idle = self.by_name.iter().filter(|(_, known)| !known.is_running());
            // One whose end no hook waits for goes first.
            let other = idle.min_by_key(|(_, known)| known.has_begun).map(|(name, _)| name.clone());
            other.and_then(|other| self.by_name.remove(&other));
        }
        self.by_name.entry(session.to_owned()).or_default()
    }

    fn task_begins(&mut self, turn: &str, set: &Arc<HookSet>) {
        self.turns.retain(|_, set| set.strong_count() > 0);
        self.turns.insert(turn.to_owned(), Arc::downgrade(set));
    }
}

impl KnownSessions {
    fn lock(&self) -> MutexGuard<'_, Sessions> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A turn of the session begins with these hooks: those that it had before no longer run.
    pub fn turn_begins(&self, session: &str, turn: &str, set: &Arc<HookSet>) {
        let mut all = self.lock();
        if let Some(known) = all.by_name.get_mut(session) {
            known.set = Arc::clone(set);
        } else if !set.is_empty() {
            all.entry(session).set = Arc::clone(set);
        }
        all.task_begins(turn, set);
    }

    /// Something that works for no turn of a session begins with these hooks.
    pub fn task_begins(&self, turn: &str, set: &Arc<HookSet>) {
        self.lock().task_begins(turn, set);
    }

    /// The hooks of a turn that runs and has some.
    #[must_use]
    pub fn of_turn(&self, turn: &str) -> Option<Arc<HookSet>> {
        self.lock().turns.get(turn)?.upgrade()
    }

    /// The hooks of the session's last turn.
    #[must_use]
    pub fn of(&self, session: &str) -> Option<Arc<HookSet>> {
        self.lock().by_name.get(session).map(|known| Arc::clone(&known.set))
    }

    /// How the conversation starts, if it does with this turn. `has_history`: something was said before.
    pub fn start(&self, session: &str, has_history: bool) -> Option<&'static str> {
        let mut all = self.lock();
        let known = all.entry(session);
        if std::mem::replace(&mut known.has_begun, true) {
            return None;
        }
        Some(match (std::mem::take(&mut known.was_cleared), has_history) {
            (true, _) => "clear",
            (false, true) => "resume",
            (false, false) => "startup",
        })
    }

    /// Whether this was not reported in the session before.
    pub fn is_new(&self, session: &str, text: &str) -> bool {
        let mut all = self.lock();
        let reported = &mut all.entry(session).reported;
        reported.len() < MAX_REPORTED && reported.insert(text.to_owned())
    }

    /// The conversation is over, the session is not. Returns its hooks, if they know of its start.
    pub fn cleared(&self, session: &str) -> Option<Arc<HookSet>> {
        let mut all = self.lock();
        let known = all.by_name.get_mut(session)?;
        known.was_cleared = true;
        std::mem::take(&mut known.has_begun).then(|| Arc::clone(&known.set))
    }

    /// The session is over. Returns its hooks, if they know of its start.
    pub fn ended(&self, session: &str) -> Option<Arc<HookSet>> {
        self.lock().by_name.remove(session).filter(|known| known.has_begun).map(|known| known.set)
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Duration};

    use super::*;
    use crate::{event::HookEvent, file::Hook, matcher::Matcher};

    fn set() -> Arc<HookSet> {
        let hook = Hook {
            event: HookEvent::SessionEnd,
            matcher: Matcher::All,
            command: "true".into(),
            limit: Duration::from_secs(1),
            source: Path::new("/h").into(),
        };
        Arc::new(HookSet::of(vec![hook], "/".into()))
    }

    #[test]
    fn hooks_that_are_gone_do_not_run_at_the_end() {
        let known = KnownSessions::default();
        known.turn_begins("a", "1", &set());
        known.start("a", false);
        assert!(!known.of("a").unwrap().is_empty());
        known.turn_begins("a", "2", &Arc::default());
        assert!(known.ended("a").unwrap().is_empty());
        known.turn_begins("b", "3", &Arc::default());
        assert!(known.of("b").is_none(), "a session without hooks is not remembered");
    }

    #[test]
    fn a_turn_has_hooks_for_its_subagents_as_long_as_it_runs() {
        let (known, hooks) = (KnownSessions::default(), set());
        known.turn_begins("a", "1", &hooks);
        assert!(known.of_turn("1").is_some_and(|found| Arc::ptr_eq(&found, &hooks)));
        known.turn_begins("a", "2", &Arc::default());
        assert!(
            known.of_turn("1").is_some_and(|found| !found.is_empty()),
            "another turn does not change those of this one"
        );
        drop(hooks);
        assert!(known.of_turn("1").is_none());
    }

    #[test]
    fn idle_sessions_make_room_and_running_ones_stay() {
        let (known, running) = (KnownSessions::default(), set());
        known.turn_begins("running", "1", &running);
        known.start("begun", false);
        for n in 0..2 * MAX_SESSIONS {
            known.turn_begins(&format!("turn {n}"), &n.to_string(), &set());
            known.is_new(&format!("notice {n}"), "x");
        }
        assert_eq!(known.lock().by_name.len(), MAX_SESSIONS);
        assert!(known.lock().turns.len() <= MAX_SESSIONS + 1, "turns that are over are forgotten");
        assert!(known.of("running").is_some_and(|set| Arc::ptr_eq(&set, &running)));
        assert_eq!(known.start("begun", true), None, "it is known that it began");
        for n in 0..2 * MAX_SESSIONS {
            known.start(&format!("start {n}"), true);
        }
        assert_eq!(known.lock().by_name.len(), MAX_SESSIONS);
    }

    #[test]
    fn a_conversation_starts_once_and_again_after_it_was_cleared() {
        let known = KnownSessions::default();
        assert!(known.ended("a").is_none() && known.cleared("a").is_none());
        assert_eq!([known.start("a", false), known.start("a", true)], [Some("startup"), None]);
        assert!(known.cleared("a").is_some() && known.cleared("a").is_none());
        assert_eq!([known.start("a", false), known.start("b", true)], [Some("clear"), Some("resume")]);
        assert!(known.ended("a").is_some() && known.ended("a").is_none());
        assert_eq!(known.start("a", false), Some("startup"));
    }

    #[test]
    fn a_text_is_new_once_in_each_session() {
        let known = KnownSessions::default();
        assert_eq!(["a", "a", "b"].map(|session| known.is_new(session, "x")), [true, false, true]);
        let reported = (0..1_000).filter(|n| known.is_new("a", &n.to_string())).count();
        assert_eq!(reported, MAX_REPORTED - 1);
        assert!(!known.is_new("a", "another"), "it is bounded");
    }
}
