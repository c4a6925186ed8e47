//! Tracks the agent's changes to the user's shell that affect what later, harmless looking lines do. Until the user has seen the list
//! of changes, no command runs there unasked. Pure.

use cohab_policy::decides_what_runs;
use cohab_shell_state::state::{AliasKind, Item, StateChange, Step};
use cohab_text::sanitize;

/// Changes that are named one by one; more are counted.
const NAMED_MAX: usize = 8;
/// Of each.
const NAME_MAX_CHARS: usize = 40;

/// The changes of one shell that the user has not confirmed.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShellDrift {
    changes: StateChange,
    /// A command after which the shell did not report its state.
    unknown: Option<String>,
}

impl ShellDrift {
    /// A command of the agent changed this. What is again as it was is forgotten.
    pub(crate) fn saw(&mut self, change: StateChange) {
        self.changes.then(change);
    }

    /// The shell did not report what `command` changed.
    pub(crate) fn lost_track(&mut self, command: String) {
        self.unknown.get_or_insert(command);
    }

    /// The user has seen the list and continues.
    pub(crate) fn confirm(&mut self) {
        *self = Self::default();
    }

    /// Why nothing runs unasked, for people; nothing if all is as the user made it.
    #[must_use]
    pub(crate) fn reason(&self) -> Option<String> {
        let names: Vec<String> = self.changes.steps.iter().filter_map(|(item, step)| name(item, step)).collect();
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
pub(crate) fn matters(change: &StateChange) -> bool {
    change.steps.iter().any(|(item, step)| name(item, step).is_some())
}

/// What a change is called if it decides what runs.
fn name(item: &Item, step: &Step) -> Option<String> {
    Some(match item {
        Item::Exported(name) if decides_what_runs(name) => quoted(name),
        Item::Variable(name) if decides_what_runs(name) || has_value(step) => quoted(name),
        Item::Prompt(name) => quoted(name),
        Item::Alias(AliasKind::Command, name) => format!("alias {}", quoted(name)),
        Item::Alias(AliasKind::Global, name) => format!("global alias {}", quoted(name)),
        Item::Alias(AliasKind::Suffix, name) => format!("suffix alias {}", quoted(name)),
        Item::Function(name) => format!("function {}{}", quoted(name), how(step)),
        Item::Abbreviation(name) => format!("abbreviation {}", quoted(name)),
        Item::Option(_, name) => format!("option {}", quoted(name)),
        Item::Trap(name) => format!("trap {}{}", quoted(name), how(step)),
        Item::Handler(name) => format!("event handler {}", quoted(name)),
        Item::Hashed(name) => format!("where {} leads", quoted(name)),
        Item::Builtin(name) => format!("builtin {}", quoted(name)),
        Item::Keys => "key bindings".to_owned(),
        Item::Widget(name) => format!("widget {}", quoted(name)),
        Item::Completion(name) => format!("completion of {}", quoted(name)),
        Item::NamedFolder(name) => format!("named folder {}", quoted(name)),
        Item::Exported(_) | Item::Variable(_) | Item::Folder | Item::Umask | Item::DirectoryStack | Item::Job(_) => {
            return None;
        }
    })
}

/// Names are the shell's, and so may be anything.
fn quoted(name: &str) -> String {
    format!("`{}`", sanitize::one_line(name, NAME_MAX_CHARS))
}

/// Values are kept of variables by which a shell itself decides what runs.
fn has_value(step: &Step) -> bool {
    [&step.before, &step.after].into_iter().flatten().any(|value| !value.is_empty())
}

/// What else than being made may have become of it.
fn how(step: &Step) -> &'static str {
    match (&step.before, &step.after) {
        (Some(_), Some(_)) => " (changed)",
        (Some(_), None) => " (removed)",
        (None, _) => "",
    }
}

#[cfg(test)]
mod tests {
    use cohab_shell_state::state::OptionKind;

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
        let mut drift = ShellDrift::default();
        drift.saw(change(&[
            (Item::Exported("PATH".into()), true),
            (Item::Exported("COLOR".into()), true),
            (Item::Folder, true),
            (Item::Alias(AliasKind::Command, "ls".into()), true),
            (Item::Function("deactivate".into()), true),
            (Item::Option(OptionKind::Shopt, "extglob".into()), true),
        ]));
        let reason = drift.reason().expect("it is tainted");
        assert_eq!(
            reason,
            "commands of the assistant changed what this shell runs: `PATH`, alias `ls`, option `extglob`, function `deactivate`"
        );
        drift.confirm();
        assert_eq!(drift.reason(), None);
    }

    #[test]
    fn whatever_decides_what_runs_has_its_words() {
        let name = str::to_owned;
        for (item, is_new, words) in [
            (Item::Trap(name("DEBUG")), true, "trap `DEBUG`"),
            (Item::Trap(name("DEBUG")), false, "trap `DEBUG` (removed)"),
            (Item::Handler(name("on_cd")), true, "event handler `on_cd`"),
            (Item::Hashed(name("ls")), true, "where `ls` leads"),
            (Item::Builtin(name("test")), true, "builtin `test`"),
            (Item::Keys, true, "key bindings"),
            (Item::Widget(name("accept-line")), true, "widget `accept-line`"),
            (Item::Completion(name("git")), true, "completion of `git`"),
            (Item::NamedFolder(name("src")), true, "named folder `src`"),
            (Item::Abbreviation(name("gco")), true, "abbreviation `gco`"),
            (Item::Variable(name("precmd_functions")), true, "`precmd_functions`"),
            (Item::Function(name("a\u{1b}[31m")), false, "function `a` (removed)"),
        ] {
            let mut drift = ShellDrift::default();
            drift.saw(change(&[(item, is_new)]));
            let expected = format!("commands of the assistant changed what this shell runs: {words}");
            assert_eq!(drift.reason(), Some(expected));
        }
    }

    #[test]
    fn a_definition_that_was_replaced_counts_until_it_is_the_old_one_again() {
        let step = |before: &[u8], after: &[u8]| {
            let step = Step { before: Some(vec![before.to_vec()]), after: Some(vec![after.to_vec()]) };
            StateChange { steps: [(Item::Function("ls".into()), step)].into() }
        };
        let mut drift = ShellDrift::default();
        drift.saw(step(b"1", b"2"));
        assert!(drift.reason().is_some_and(|reason| reason.ends_with("function `ls` (changed)")));
        drift.saw(step(b"2", b"1"));
        assert_eq!(drift.reason(), None);
        let unset = Step { before: None, after: Some(Vec::new()) };
        drift.saw(StateChange { steps: [(Item::Variable("count".into()), unset)].into() });
        assert_eq!(drift.reason(), None, "of other variables it is only known that they are there");
    }

    #[test]
    fn harmless_changes_and_those_that_were_taken_back_are_none() {
        let mut drift = ShellDrift::default();
        drift.saw(change(&[(Item::Exported("RUST_LOG".into()), true), (Item::Folder, true), (Item::Umask, true)]));
        assert_eq!(drift.reason(), None);
        drift.saw(change(&[(Item::Alias(AliasKind::Global, "L".into()), true)]));
        assert!(drift.reason().is_some());
        drift.saw(change(&[(Item::Alias(AliasKind::Global, "L".into()), false)]));
        assert_eq!(drift.reason(), None);
    }

    #[test]
    fn what_is_not_known_is_said() {
        let mut drift = ShellDrift::default();
        drift.lost_track("source x".into());
        assert_eq!(drift.reason().as_deref(), Some("what `source x` changed about this shell is not known"));
        let many: Vec<_> = (0..12).map(|number| (Item::Function(format!("f{number}")), true)).collect();
        drift.saw(change(&many));
        let reason = drift.reason().expect("it is tainted");
        assert!(reason.contains(" and 4 more; what `source x`"), "{reason}");
    }
}
