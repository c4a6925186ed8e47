//! What commands of the agent changed about the user's shell that decides what later, harmless looking lines do. As long as the
//! user has not seen the list, nothing runs there unasked. Pure.

use cohab_shell_relay::{
    policy::decides_what_runs,
    state::{AliasKind, Item, StateChange},
};

/// Changes that are named one by one; more are counted.
const NAMED_MAX: usize = 8;

/// The changes of one shell that the user has not confirmed.
#[derive(Clone, Debug, Default)]
pub struct ShellTaint {
    changes: StateChange,
    /// A command after which the shell did not tell what it is like.
    unknown: Option<String>,
}

impl ShellTaint {
    /// A command of the agent changed this. What is again as it was is forgotten.
    pub fn saw(&mut self, change: StateChange) {
        self.changes.then(change);
    }

    /// The shell did not tell what `command` changed.
    pub fn lost_track(&mut self, command: String) {
        self.unknown.get_or_insert(command);
    }

    /// The user has seen the list and goes on.
    pub fn confirm(&mut self) {
        *self = Self::default();
    }

    /// Why nothing runs unasked, for people; nothing if all is as the user made it.
    #[must_use]
    pub fn reason(&self) -> Option<String> {
        let names: Vec<String> = self.changes.steps.keys().filter_map(name).collect();
        let more = names.len().saturating_sub(NAMED_MAX);
        let mut listed = names.into_iter().take(NAMED_MAX).collect::<Vec<_>>().join(", ");
        if more > 0 {
            listed += &format!(" and {more} more");
        }
        match (&self.unknown, listed.is_empty()) {
            (None, true) => None,
            (None, false) => Some(format!("commands of the assistant changed what this shell runs: {listed}")),
            (Some(command), true) => Some(format!("what `{command}` changed about this shell is not known")),
            (Some(command), false) => Some(format!(
                "commands of the assistant changed what this shell runs: {listed}; what `{command}` changed is not known"
            )),
        }
    }
}

/// Whether any of it decides what runs.
#[must_use]
pub fn matters(change: &StateChange) -> bool {
    change.steps.keys().any(|item| name(item).is_some())
}

/// What a change is called if it decides what runs.
fn name(item: &Item) -> Option<String> {
    match item {
        Item::Exported(name) | Item::Variable(name) if decides_what_runs(name) => Some(format!("`{name}`")),
        Item::Prompt(name) => Some(format!("`{name}`")),
        Item::Alias(AliasKind::Command, name) => Some(format!("alias `{name}`")),
        Item::Alias(AliasKind::Global, name) => Some(format!("global alias `{name}`")),
        Item::Alias(AliasKind::Suffix, name) => Some(format!("suffix alias `{name}`")),
        Item::Function(name) => Some(format!("function `{name}`")),
        Item::Abbreviation(name) => Some(format!("abbreviation `{name}`")),
        Item::Option(_, name) => Some(format!("option `{name}`")),
        Item::Exported(_) | Item::Variable(_) | Item::Folder | Item::Umask | Item::DirectoryStack | Item::Job(_) => {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use cohab_shell_relay::state::{OptionKind, Step};

    use super::*;

    fn change(items: &[(Item, bool)]) -> StateChange {
        let step = |is_new: bool| match is_new {
            true => Step { before: None, after: Some(vec![b"x".to_vec()]) },
            false => Step { before: Some(vec![b"x".to_vec()]), after: None },
        };
        StateChange { steps: items.iter().map(|(item, is_new)| (item.clone(), step(*is_new))).collect() }
    }

    #[test]
    fn what_decides_what_runs_is_told_until_it_is_confirmed() {
        let mut taint = ShellTaint::default();
        taint.saw(change(&[
            (Item::Exported("PATH".into()), true),
            (Item::Exported("COLOR".into()), true),
            (Item::Folder, true),
            (Item::Alias(AliasKind::Command, "ls".into()), true),
            (Item::Function("deactivate".into()), true),
            (Item::Option(OptionKind::Shopt, "extglob".into()), true),
        ]));
        let reason = taint.reason().expect("it is tainted");
        assert_eq!(
            reason,
            "commands of the assistant changed what this shell runs: `PATH`, alias `ls`, option `extglob`, function `deactivate`"
        );
        taint.confirm();
        assert_eq!(taint.reason(), None);
    }

    #[test]
    fn harmless_changes_and_those_that_were_taken_back_are_none() {
        let mut taint = ShellTaint::default();
        taint.saw(change(&[(Item::Exported("RUST_LOG".into()), true), (Item::Folder, true), (Item::Umask, true)]));
        assert_eq!(taint.reason(), None);
        taint.saw(change(&[(Item::Alias(AliasKind::Global, "L".into()), true)]));
        assert!(taint.reason().is_some());
        taint.saw(change(&[(Item::Alias(AliasKind::Global, "L".into()), false)]));
        assert_eq!(taint.reason(), None);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut taint = ShellTaint::default();
        taint.lost_track("source x".into());
        assert_eq!(taint.reason().as_deref(), Some("what `source x` changed about this shell is not known"));
        let many: Vec<_> = (0..12).map(|number| (Item::Function(format!("f{number}")), true)).collect();
        taint.saw(change(&many));
        let reason = taint.reason().expect("it is tainted");
        assert!(reason.contains(" and 4 more; what `source x`"), "{reason}");
    }
}
