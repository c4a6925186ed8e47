//! Keeps the screen as it is while bash repaints its line at Enter.
//!
//! bash clears the line and paints it again around every `bind -x` function, also around the one that reports the line at Enter. That
//! would erase text to the left of the prompt, such as output without a final newline. The line is on the screen already, so
//! the whole repaint is dropped, and only bash's output when it accepts the line is shown. Output that does not look like such a
//! repaint is shown as it is. Pure.

use std::time::{Duration, Instant};

use memchr::memmem;

/// The function reports soon after the line was cleared; output that only looks like it is shown after this time.
const REPORT_TIME: Duration = Duration::from_millis(50);
/// The same for a long line whose report has begun.
const LONG_REPORT_TIME: Duration = Duration::from_secs(5);
/// A repaint longer than this is shown.
const HELD_MAX_BYTES: usize = 256 * 1024;
/// The bytes with which clearing of a line begins.
const CLEAR: &[u8] = b"\r\x1b[K";
/// readline's output when it accepts a line, with and without marked pastes.
const NEW_ROW: &[u8] = b"\r\n";
const PASTES_UNMARKED: &[u8] = b"\x1b[?2004l";
/// From an empty last row readline goes up before it goes to a new row.
const ROW_UP: &[u8] = b"\x1b[A";

/// bash's output since Enter was passed to it, or since a prompt that reads lines typed ahead.
#[derive(Debug)]
pub(super) struct EnterPaint {
    /// Held output; at first only bytes that may clear a line.
    held: Vec<u8>,
    held_since: Option<Instant>,
    step: PaintStep,
}

#[derive(Debug, PartialEq, Eq)]
enum PaintStep {
    /// A line may be about to be cleared.
    Watching,
    /// Cleared: the function has reported the line, which is painted again from here.
    Painting { from: usize, line: LineShape },
}

/// The known shape of the line when Enter is pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LineShape {
    /// The line holds line breaks.
    pub has_rows: bool,
    /// The cursor is at its end.
    pub is_at_end: bool,
}

impl EnterPaint {
    pub fn new() -> Self {
        Self { held: Vec::new(), held_since: None, step: PaintStep::Watching }
    }

    /// The latest time to show the held output, if bash reports nothing.
    pub fn deadline(&self) -> Option<Instant> {
        self.held_since.filter(|_| self.step == PaintStep::Watching).map(|since| since + REPORT_TIME)
    }

    /// The function has begun to report the line, which takes long for a long one.
    pub fn wait_for_report(&mut self, now: Instant) {
        self.held_since = self.held_since.map(|_| now + LONG_REPORT_TIME - REPORT_TIME);
    }

    /// Records that the function has reported the line; a second report changes nothing. `false` if the line was not cleared for the
    /// report, or the clearing is on the screen already, so that everything is shown.
    #[must_use]
    pub fn reported(&mut self, line: LineShape) -> bool {
        if self.step == PaintStep::Watching {
            self.step = PaintStep::Painting { from: self.held.len(), line };
        }
        !self.held.is_empty()
    }

    /// Takes bash's output and appends the shown part to `shown`. Returns whether the repaint is over.
    pub fn push(&mut self, bytes: &[u8], now: Instant, shown: &mut Vec<u8>) -> bool {
        self.held.extend_from_slice(bytes);
        match self.step {
            PaintStep::Watching => {
                let is_new = self.held.len() == bytes.len();
                shown.extend(self.held.drain(..clear_at_end(&self.held)));
                if is_new || self.held.is_empty() {
                    self.held_since = (!self.held.is_empty()).then_some(now);
                }
                return false;
            }
            PaintStep::Painting { .. } if self.held.len() > HELD_MAX_BYTES => shown.append(&mut self.held),
            PaintStep::Painting { from, line } => match memmem::find(&self.held[from..], PASTES_UNMARKED) {
                Some(at) => shown.extend_from_slice(self.accepted(from, from + at, line)),
                None => return false,
            },
        }
        true
    }

    /// Whether the cursor has left the line that was painted again.
    pub fn is_behind_line(&self) -> bool {
        matches!(self.step, PaintStep::Painting { from, .. } if self.held[from..].ends_with(NEW_ROW))
    }

    /// A mark reports that the line was accepted, or nothing is awaited any more: returns the output to show.
    pub fn finish(&self) -> &[u8] {
        match self.step {
            PaintStep::Watching => &self.held,
            PaintStep::Painting { from, line } => self.accepted(from, self.held.len(), line),
        }
    }

    /// All held output, for a line that was not accepted.
    pub fn all(&self) -> &[u8] {
        &self.held
    }

    /// The shown part of the repaint from `from` to `end`, which ends with a move of the cursor below the line.
    fn accepted(&self, from: usize, end: usize, line: LineShape) -> &[u8] {
        if from == end {
            // The terminal does not echo: readline paints nothing.
            return &self.held[from..];
        }
        let Some(painted) = self.held[from..end].strip_suffix(NEW_ROW) else { return &self.held };
        let rows_below =
            if line.has_rows { 0 } else { painted.iter().rev().take_while(|byte| **byte == b'\n').count() };
        let painted = &painted[..painted.len() - rows_below];
        // The cursor is within a line of several rows, or other output came in between.
        if painted.contains(&b'\n') && !(line.has_rows && line.is_at_end) {
            return &self.held;
        }
        let painted = painted.strip_suffix(ROW_UP).filter(|_| line.has_rows).unwrap_or(painted);
        &self.held[from + painted.len()..]
    }
}

/// The start of bytes at the end that only clear a line; without such bytes the length. Clearing returns to the row's start, erases, and
/// goes up or down for each further row.
fn clear_at_end(bytes: &[u8]) -> usize {
    let mut from = None;
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'\r' | b'\n', ..] => 1,
            [0x1b, b'[', b'K' | b'A', ..] => 3,
            [0x1b] | [0x1b, b'['] => rest.len(),
            _ => {
                from = None;
                at += 1 + memchr::memchr3(b'\r', b'\n', 0x1b, &rest[1..]).unwrap_or(rest.len() - 1);
                continue;
            }
        };
        if from.is_none() && (rest.starts_with(CLEAR) || CLEAR.starts_with(rest)) {
            from = Some(at);
        }
        at += length;
    }
    from.unwrap_or(bytes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ONE_ROW: LineShape = LineShape { has_rows: false, is_at_end: true };
    const ROWS: LineShape = LineShape { has_rows: true, is_at_end: true };
    const WITHIN_ROWS: LineShape = LineShape { has_rows: true, is_at_end: false };

    /// The shown part of bash's output before and after its report.
    fn shown(before: &str, line: LineShape, after: &[&str]) -> String {
        let mut paint = EnterPaint::new();
        let mut shown = Vec::new();
        let now = Instant::now();
        assert!(!paint.push(before.as_bytes(), now, &mut shown));
        assert!(paint.reported(line));
        if !after.iter().any(|bytes| paint.push(bytes.as_bytes(), now, &mut shown)) {
            shown.extend_from_slice(paint.finish());
        }
        String::from_utf8(shown).unwrap()
    }

    #[test]
    fn a_repaint_is_dropped_and_the_acceptance_shown() {
        let clear = "\r\x1b[K\r";
        for (before, line, after, expected) in [
            (clear, ONE_ROW, &["ps> echo a", "bc", "\r\n\x1b[?2004l\r"][..], "\r\n\x1b[?2004l\r"),
            (clear, ONE_ROW, &["ps> \x1b[1mx\x08\x08\n\n\r\n", "\x1b[?2004l\r"], "\n\n\r\n\x1b[?2004l\r"),
            // Pastes are not marked.
            ("\r\x1b[K\r\x1b[A\x1b[K\r", ONE_ROW, &["ps> x\r\n"], "\r\n"),
            // The terminal does not echo.
            (clear, ONE_ROW, &["\x1b[?2004l\r"], "\x1b[?2004l\r"),
            (clear, ROWS, &["ps> a\r\n\rb\r\n\x1b[?2004l\r"], "\r\n\x1b[?2004l\r"),
            // The line ends with a line break.
            (clear, ROWS, &["ps> a\r\n\r\x1b[A\r\n\x1b[?2004l\r"], "\x1b[A\r\n\x1b[?2004l\r"),
            // The paste is no longer marked on the screen; then the line is cleared.
            ("\x1b[A\x08a\r\n\r\r\x1b[K\r", ROWS, &["ps> a\r\n\r\r\n"], "\x1b[A\x08a\r\n\r\r\n"),
            // The end of another prompt, and a line that was typed ahead.
            ("ps> x\r\x1b[K\r", ONE_ROW, &["ps> x\r\x1b[K\rps> x\r\n"], "ps> x\r\n"),
        ] {
            assert_eq!(shown(before, line, after), expected, "{before:?} {after:?}");
        }
    }

    #[test]
    fn what_is_no_such_repaint_is_shown_as_it_is() {
        let clear = "\r\x1b[K\r";
        for after in ["ps> a\nb\r\n\x1b[?2004l\r", "ps> a", "job done\r\nps> a\r\n\x1b[?2004l\r"] {
            for line in [ONE_ROW, WITHIN_ROWS] {
                assert_eq!(shown(clear, line, &[after]), format!("{clear}{after}"));
            }
        }
    }

    #[test]
    fn a_line_that_was_not_cleared_just_before_is_not_taken_for_painted_again() {
        for before in ["", "ps> x", "\r\x1b[K\r\r\n{ what `set -v` echoes }\r\n"] {
            let mut paint = EnterPaint::new();
            paint.push(before.as_bytes(), Instant::now(), &mut Vec::new());
            assert!(!paint.reported(ONE_ROW), "{before:?}");
        }
    }

    #[test]
    fn a_report_that_has_begun_is_waited_for() {
        let mut paint = EnterPaint::new();
        let mut shown = Vec::new();
        let now = Instant::now();
        paint.push(CLEAR, now, &mut shown);
        paint.wait_for_report(now);
        assert_eq!(paint.deadline(), Some(now + LONG_REPORT_TIME));
        assert!(paint.reported(ONE_ROW));
        // A report that was interrupted.
        let mut paint = EnterPaint::new();
        paint.push(CLEAR, now, &mut shown);
        paint.wait_for_report(now);
        paint.push(b"^C", Instant::now(), &mut shown);
        assert_eq!((shown.as_slice(), paint.all()), (&b"\r\x1b[K^C"[..], &b""[..]));
    }

    #[test]
    fn only_what_may_clear_a_line_is_held_and_not_for_long() {
        let now = Instant::now();
        for (written, held) in [
            ("a\r\nb", ""),
            ("a\r\n", ""),
            ("\r\x1b[K(reverse", ""),
            ("a\r", "\r"),
            ("a\r\x1b[", "\r\x1b["),
            ("a\r\n\r\r\x1b[K\r\x1b[A\x1b[K", "\r\x1b[K\r\x1b[A\x1b[K"),
        ] {
            let (mut whole, mut by_byte) = (EnterPaint::new(), EnterPaint::new());
            let mut shown = Vec::new();
            whole.push(written.as_bytes(), now, &mut shown);
            assert_eq!(shown, written.strip_suffix(held).unwrap().as_bytes(), "{written:?}");
            assert_eq!((whole.all(), whole.deadline().is_some()), (held.as_bytes(), !held.is_empty()), "{written:?}");
            for byte in written.as_bytes() {
                by_byte.push(&[*byte], now, &mut Vec::new());
            }
            assert_eq!(by_byte.all(), held.as_bytes(), "{written:?}");
        }
    }
}
