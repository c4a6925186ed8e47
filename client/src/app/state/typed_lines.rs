//! Lines of the last turn as they were typed.

use cohab_protocol::TurnId;

/// Lines that are kept to be shown as they were typed.
const KEPT_LINES: usize = 20;

/// Lines of one turn as they were typed, where words were put in.
#[derive(Debug, Default)]
pub struct TypedLines {
    turn: Option<TurnId>,
    pub lines: Vec<String>,
}

impl TypedLines {
    /// Keeps a line; true for the first one of its turn.
    pub fn keep(&mut self, turn: TurnId, line: &str) -> bool {
        if self.turn != Some(turn) {
            *self = Self { turn: Some(turn), lines: Vec::new() };
        }
        if self.lines.len() < KEPT_LINES {
            self.lines.push(line.to_owned());
        }
        self.lines.len() == 1
    }
}
