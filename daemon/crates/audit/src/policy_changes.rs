//! Records changes of what may be done unasked, by comparing it with what was last seen.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cohab_policy::remembered::{Rule, Rules};
use cohab_protocol::ApprovalMode;

use super::record::{Event, text};

/// Sessions whose modes, and folders whose rules are remembered; with more, all are forgotten.
const MAX_SESSIONS: usize = 256;

/// Rules and modes as they were last seen.
#[derive(Debug, Default)]
pub struct PolicySeen(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// By folder: a project may have rules of its own.
    rules: BTreeMap<PathBuf, Vec<String>>,
    modes: BTreeMap<String, ApprovalMode>,
}

impl PolicySeen {
    /// What has changed since it was asked last; nothing the first time.
    pub fn changes(&self, session: &str, mode: ApprovalMode, cwd: &Path, rules: &Rules) -> Vec<Event> {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut changes = Vec::new();
        if seen.modes.len() == MAX_SESSIONS && !seen.modes.contains_key(session) {
            seen.modes.clear();
        }
        if let Some(from) = seen.modes.insert(session.to_owned(), mode).filter(|from| *from != mode) {
            changes.push(Event::ModeChanged { from: from.to_string(), to: mode.to_string() });
        }
        let now: Vec<String> = rules.all().iter().map(rule_shown).collect();
        if seen.rules.len() == MAX_SESSIONS && !seen.rules.contains_key(cwd) {
            seen.rules.clear();
        }
        if seen.rules.get(cwd) == Some(&now) {
            return changes;
        }
        if let Some(before) = seen.rules.get(cwd) {
            let stored = now.iter().filter(|rule| !before.contains(rule));
            changes.extend(stored.map(|rule| Event::RuleStored { rule: rule.clone() }));
            let removed = before.iter().filter(|rule| !now.contains(rule));
            changes.extend(removed.map(|rule| Event::RuleRemoved { rule: rule.clone() }));
        }
        seen.rules.insert(cwd.to_owned(), now);
        changes
    }
}

/// A rule as a record names it.
#[must_use]
pub fn rule_shown(rule: &Rule) -> String {
    let folder = rule.folder.as_ref().map(|folder| format!(" (in {})", folder.display())).unwrap_or_default();
    text(&format!("{}{folder}", rule.line()))
}
