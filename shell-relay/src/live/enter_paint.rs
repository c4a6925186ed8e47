//! Keeps the screen as it is while bash repaints its line at Enter.
//!
//! bash clears the line and paints it again around every `bind -x` function, also around the one that reports the line at Enter. What
//! stands left of the prompt, such as output without a final newline, would be lost by that. The line is on the screen already, so
//! the whole repaint is dropped, and only what bash writes when it accepts the line is shown. Whatever does not look like such a
//! repaint is shown as it is. Pure.

use std::time::{Duration, Instant};

use memchr::memmem;

/// What clears the line comes at once; other output that looks like it is shown after this time.
const CLEAR_TIME: Duration = Duration::from_millis(50);
/// A repaint longer than this is shown.
const HELD_MAX_BYTES: usize = 64 * 1024;
/// What readline writes when it accepts a line, with and without marked pastes.
const NEW_ROW: &[u8] = b"\r\n";
const PASTES_UNMARKED: &[u8] = b"\x1b[?2004l";

/// What bash has written since Enter was passed to it.
#[derive(Debug)]
pub(super) struct EnterPaint {
    held: Vec<u8>,
    passed_at: Instant,
    step: Step,
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// The line may be about to be cleared.
    Clearing,
    /// Cleared: the function has reported the line, which is painted again from here.
    Painting { from: usize, has_rows: bool },
}

/// What becomes of the bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Painted {
    /// It is not over.
    Held,
    /// These are to be shown.
    Shown(Vec<u8>),
}

impl EnterPaint {
    /// Enter is on its way to bash.
    pub fn new(now: Instant) -> Self {
        Self { held: Vec::new(), passed_at: now, step: Step::Clearing }
    }

    /// When what is held is shown at the latest, if bash reports nothing.
    pub fn deadline(&self) -> Option<Instant> {
        (self.step == Step::Clearing).then_some(self.passed_at + CLEAR_TIME)
    }

    /// The function has reported the line. `has_rows`: it holds line breaks, and the cursor is at its end.
    pub fn reported(&mut self, has_rows: bool) {
        self.step = Step::Painting { from: self.held.len(), has_rows };
    }

    /// Takes what bash writes.
    pub fn push(&mut self, bytes: &[u8]) -> Painted {
        self.held.extend_from_slice(bytes);
        match self.step {
            Step::Clearing if clears(&self.held) => Painted::Held,
            Step::Clearing => Painted::Shown(self.all()),
            Step::Painting { .. } if self.held.len() > HELD_MAX_BYTES => Painted::Shown(self.all()),
            Step::Painting { from, .. } => match memmem::find(&self.held[from..], PASTES_UNMARKED) {
                Some(at) => Painted::Shown(self.accepted(from + at)),
                None => Painted::Held,
            },
        }
    }

    /// Whether the cursor has left the line that was painted again.
    pub fn is_behind_line(&self) -> bool {
        matches!(self.step, Step::Painting { from, .. } if self.held[from..].ends_with(NEW_ROW))
    }

    /// A mark says that the line was accepted, or there is nothing to wait for any more: what is to be shown.
    pub fn finish(mut self) -> Vec<u8> {
        match self.step {
            Step::Clearing => self.all(),
            Step::Painting { .. } => self.accepted(self.held.len()),
        }
    }

    /// Everything that is held, for a line that was not accepted.
    pub fn all(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.held)
    }

    /// The repaint ends at `end`, with what takes the cursor below the line.
    fn accepted(&mut self, end: usize) -> Vec<u8> {
        let Step::Painting { from, has_rows } = self.step else { return self.all() };
        if from == end {
            // The terminal does not echo: readline paints nothing.
            return self.held.split_off(from);
        }
        let Some(painted) = self.held[from..end].strip_suffix(NEW_ROW) else { return self.all() };
        let line_feeds = painted.iter().rev().take_while(|byte| **byte == b'\n').count();
        let rows_below = if has_rows { 0 } else { line_feeds };
        // A line of several rows, or output that came in between.
        if !has_rows && painted[..painted.len() - rows_below].contains(&b'\n') {
            return self.all();
        }
        let shown = from + painted.len() - rows_below;
        self.held.split_off(shown)
    }
}

/// Whether these bytes only clear the rows of a line: returns, moves to other rows, and erasures to the end of the row.
fn clears(mut bytes: &[u8]) -> bool {
    while let Some((first, rest)) = bytes.split_first() {
        bytes = match first {
            b'\r' | b'\n' => rest,
            0x1b => match rest {
                [] | [b'['] => return true,
                [b'[', b'K' | b'A', rest @ ..] => rest,
                _ => return false,
            },
            _ => return false,
        };
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is shown of what bash writes before and after its report, and behind that.
    fn shown(before: &str, after: &[&str]) -> String {
        shown_of(before, false, after)
    }

    fn shown_of(before: &str, has_rows: bool, after: &[&str]) -> String {
        let mut paint = EnterPaint::new(Instant::now());
        assert_eq!(paint.push(before.as_bytes()), Painted::Held);
        paint.reported(has_rows);
        for bytes in after {
            if let Painted::Shown(bytes) = paint.push(bytes.as_bytes()) {
                return String::from_utf8(bytes).unwrap();
            }
        }
        String::from_utf8(paint.finish()).unwrap()
    }

    #[test]
    fn a_repaint_is_dropped_and_the_acceptance_shown() {
        let clear = "\r\x1b[K\r";
        assert_eq!(shown(clear, &["ps> echo a", "bc", "\r\n\x1b[?2004l\r"]), "\r\n\x1b[?2004l\r");
        assert_eq!(shown(clear, &["ps> \x1b[1mx\x08\x08\n\n\r\n", "\x1b[?2004l\r"]), "\n\n\r\n\x1b[?2004l\r");
        assert_eq!(shown("\r\x1b[K\r\x1b[A\x1b[K\r", &["ps> x\r\n"]), "\r\n", "pastes are not marked");
        assert_eq!(shown(clear, &["\x1b[?2004l\r"]), "\x1b[?2004l\r", "no echo");
        assert_eq!(shown_of(clear, true, &["ps> a\nb\r\n\x1b[?2004l\r"]), "\r\n\x1b[?2004l\r");
    }

    #[test]
    fn what_is_no_such_repaint_is_shown_as_it_is() {
        let clear = "\r\x1b[K\r";
        for after in ["ps> a\nb\r\n\x1b[?2004l\r", "ps> a", "job done\r\nps> a\r\n\x1b[?2004l\r"] {
            assert_eq!(shown(clear, &[after]), format!("{clear}{after}"));
        }
        let mut paint = EnterPaint::new(Instant::now());
        assert_eq!(paint.push(b"\r\x1b[K(reverse"), Painted::Shown(b"\r\x1b[K(reverse".to_vec()));
    }

    #[test]
    fn a_cut_sequence_is_held() {
        let mut paint = EnterPaint::new(Instant::now());
        for byte in b"\r\x1b[K\r\x1b[A\x1b[K" {
            assert_eq!(paint.push(&[*byte]), Painted::Held);
        }
    }
}
