//! Lines of the last turn as they were typed.

use cohab_protocol::TurnId;

/// Lines that are kept to be shown as they were typed.
const KEPT_LINES: usize = 20;

/// Lines of one turn as they were typed, where words were put in.
#[derive(Debug, Default)]
pub(crate) struct TypedLines {
    turn: Option<TurnId>,
    pub lines: Vec<String>,
    /// The user was told once that lines are modified.
    is_told: bool,
}

impl TypedLines {
    /// Keeps a line; true for the first one of all turns.
    pub(crate) fn keep(&mut self, turn: TurnId, line: &str) -> bool {
        if self.turn != Some(turn) {
            *self = Self { turn: Some(turn), lines: Vec::new(), is_told: self.is_told };
        }
        if self.lines.len() < KEPT_LINES {
            self.lines.push(line.to_owned());
        }
        !std::mem::replace(&mut self.is_told, true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_are_those_of_the_last_turn_and_the_first_of_all_is_told() {
        let mut lines = TypedLines::default();
        let [first, second] = [1, 2].map(|number| TurnId(uuid::Uuid::from_u128(number)));
        assert!(lines.keep(first, "a"));
        assert!(!lines.keep(first, "b") && !lines.keep(second, "c"));
        assert_eq!(lines.lines, ["c"]);
    }
}
