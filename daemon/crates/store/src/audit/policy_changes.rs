//! Records changes of the policy on unasked actions since the last look, no matter who made them.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cohab_policy::user_rules::{Rule, Rules};
use cohab_protocol::ApprovalMode;

use super::record::{Event, text};

/// Sessions with known modes, and folders with known rules; with more, all are forgotten.
const MAX_SESSIONS: usize = 256;

/// The last seen rules and modes.
#[derive(Debug, Default)]
pub struct PolicySeen(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    /// By folder: a project may have separate rules.
    rules: BTreeMap<PathBuf, Vec<String>>,
    modes: BTreeMap<String, ApprovalMode>,
}

impl PolicySeen {
    /// The changes since the last call; none the first time.
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
