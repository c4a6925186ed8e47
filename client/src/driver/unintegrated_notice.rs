//! Informs the user once that the shell runs without the assistant, between the line that they entered and its output.

use cohab_conversation::ui::status;
use cohab_term::ansi::{ColorSupport, write_line};

/// As a terminal sends it.
const ENTER: u8 = b'\r';
const NEXT_ROW: &[u8] = b"\r\n";

/// What is still to be said about it.
#[derive(Debug)]
pub(super) struct UnintegratedNotice {
    colors: ColorSupport,
    untold: Option<String>,
    is_entered: bool,
}

impl UnintegratedNotice {
    /// Nothing is known yet.
    pub fn new(colors: ColorSupport) -> Self {
        Self { colors, untold: None, is_entered: false }
    }

    /// The relay has found out, for this reason.
    pub fn found(&mut self, reason: String) {
        self.untold = Some(reason);
    }

    /// The user typed this.
    pub fn typed(&mut self, keys: &[u8]) {
        self.is_entered = keys.last() == Some(&ENTER);
    }

    /// What is to be said now: at Enter, where rows follow one another.
    fn take_due(&mut self, in_full_screen: bool) -> Option<String> {
        let is_entered = std::mem::take(&mut self.is_entered);
        self.untold.take_if(|_| is_entered && !in_full_screen)
    }

    /// The rows that say it, if it is to be said now. The shell itself ends the last one.
    pub fn take_rows(&mut self, in_full_screen: bool, columns: usize) -> Option<Vec<u8>> {
        let reason = self.take_due(in_full_screen)?;
        let mut rows = Vec::new();
        for line in &status::remark(&reason, columns) {
            rows.extend_from_slice(NEXT_ROW);
            write_line(line, self.colors, &mut rows);
        }
        Some(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_once_at_enter_and_not_over_a_full_screen_program() {
        let mut shell = UnintegratedNotice::new(ColorSupport::None);
        shell.typed(b"\r");
        assert_eq!(shell.take_due(false), None, "nothing was found");
        shell.found("why".to_owned());
        assert_eq!(shell.take_due(false), None, "that Enter is over");
        for (keys, in_full_screen, said) in
            [(&b"ls"[..], false, false), (b"\r", true, false), (b"ls\r", false, true), (b"\r", false, false)]
        {
            shell.typed(keys);
            assert_eq!(shell.take_due(in_full_screen).is_some(), said, "{keys:?}");
        }
    }
}
