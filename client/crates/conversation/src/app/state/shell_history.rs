//! What the last turns of this shell changed in it, for a rewind.

use std::collections::VecDeque;

use cohab_protocol::TurnId;
use cohab_shell_state::state::{Item, StateChange};

/// Turns that are remembered. The list goes to `cohab rewind` as an argument.
const MAX_TURNS: usize = 64;

/// The last turns of this shell, the newest at the end.
#[derive(Debug, Default)]
pub(crate) struct ShellHistory {
    turns: VecDeque<ShellTurn>,
}

#[derive(Debug)]
struct ShellTurn {
    turn: TurnId,
    change: StateChange,
    /// A command of it may have changed more.
    is_partial: bool,
}

impl ShellHistory {
    /// A turn begins.
    pub(crate) fn begin(&mut self, turn: TurnId) {
        if !self.turns.iter().any(|known| known.turn == turn) {
            self.turns.push_back(ShellTurn { turn, change: StateChange::default(), is_partial: false });
            if self.turns.len() > MAX_TURNS {
                self.turns.pop_front();
            }
        }
    }

    /// A command of the turn has changed this.
    pub(crate) fn record(&mut self, turn: TurnId, change: &StateChange, is_whole: bool) {
        if let Some(known) = self.turns.iter_mut().find(|known| known.turn == turn) {
            known.change.then(change.clone());
            known.is_partial |= !is_whole;
        }
    }

    /// What the turn changed was taken back.
    pub(crate) fn taken_back(&mut self, turn: TurnId) {
        if let Some(known) = self.turns.iter_mut().find(|known| known.turn == turn) {
            (known.change, known.is_partial) = (StateChange::default(), false);
        }
    }

    /// Takes out what this turn and all later ones changed, but for the folder, and whether they may have changed more. `None` if the turn
    /// is not known.
    pub(crate) fn take_since(&mut self, turn: &str) -> Option<(StateChange, bool)> {
        let first = self.turns.iter().position(|known| known.turn.to_string() == turn)?;
        let (mut all, mut is_partial) = (StateChange::default(), false);
        for known in self.turns.iter_mut().skip(first) {
            all.then(std::mem::take(&mut known.change));
            is_partial |= std::mem::take(&mut known.is_partial);
        }
        all.steps.remove(&Item::Folder);
        Some((all, is_partial))
    }

    /// The turns for `cohab rewind --shell`: their ids, with `*` behind those that changed the shell.
    pub(crate) fn listed(&self) -> String {
        let one = |known: &ShellTurn| {
            let is_changed = known.is_partial || known.change.steps.keys().any(|item| *item != Item::Folder);
            format!("{}{}", known.turn, if is_changed { "*" } else { "" })
        };
        self.turns.iter().map(one).collect::<Vec<_>>().join(",")
    }
}

#[cfg(test)]
mod tests {
    use cohab_shell_state::state::Step;

    use super::*;

    fn change(name: &str, before: Option<&str>, after: Option<&str>) -> StateChange {
        let value = |text: &str| vec![text.as_bytes().to_vec()];
        let step = Step { before: before.map(value), after: after.map(value) };
        StateChange { steps: [(Item::Exported(name.to_owned()), step)].into() }
    }

    #[test]
    fn changes_of_several_turns_are_taken_as_one() {
        let mut history = ShellHistory::default();
        let turns = [TurnId::fresh(), TurnId::fresh(), TurnId::fresh()];
        turns.iter().for_each(|turn| history.begin(*turn));
        history.record(turns[0], &change("A", None, Some("0")), true);
        history.record(turns[1], &change("A", Some("0"), Some("1")), true);
        history.record(turns[2], &change("A", Some("1"), Some("2")), false);
        assert_eq!(history.listed(), format!("{}*,{}*,{}*", turns[0], turns[1], turns[2]));
        let since = history.take_since(&turns[1].to_string());
        assert_eq!(since, Some((change("A", Some("0"), Some("2")), true)));
        assert_eq!(history.listed(), format!("{}*,{},{}", turns[0], turns[1], turns[2]), "only once");
        assert_eq!(history.take_since("another shell's"), None);
        history.taken_back(turns[0]);
        assert_eq!(history.take_since(&turns[0].to_string()), Some((StateChange::default(), false)));
    }

    #[test]
    fn only_the_last_turns_are_remembered() {
        let mut history = ShellHistory::default();
        let first = TurnId::fresh();
        history.begin(first);
        history.begin(first);
        (1..MAX_TURNS).for_each(|_| history.begin(TurnId::fresh()));
        assert!(history.take_since(&first.to_string()).is_some());
        history.begin(TurnId::fresh());
        assert_eq!(history.take_since(&first.to_string()), None);
    }
}
