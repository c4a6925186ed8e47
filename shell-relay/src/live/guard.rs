//! Filters the output of an agent's command on its way to the terminal. Pure.

use super::{
    directory::DirectoryReport,
    filter::{distorts_later_text, is_mode_change},
    letters::Letters,
    modes::{Modes, Settings},
    sequences::{Piece, SequenceScanner},
};

/// Passes text, colours, erasures, movements of the cursor and its visibility. Removes everything else: strings (OSC, DCS, APC, PM, SOS),
/// requests that make the terminal type an answer, C1 controls, modes, character sets. A program that reads single keys itself (`raw`)
/// gets all sequences: it reads the answers, and it draws whole screens. A program that the user is typing into gets everything. Changes
/// that such a program leaves are undone behind it.
#[derive(Debug, Default)]
pub(super) struct GuardFilter {
    scanner: SequenceScanner,
    letters: Letters,
    /// The part of the dropped strings that may pass later.
    pub dropped: DirectoryReport,
    /// The state of the terminal before.
    before: Settings,
    /// Later text may stand in colours, or be concealed.
    is_styled: bool,
    /// Sequences beyond drawing have passed.
    is_loose: bool,
    /// The command's own output has ended; the line editor will be next.
    is_ended: bool,
}

impl GuardFilter {
    /// A guard for a command that begins while the terminal has these `modes`.
    pub fn new(modes: &Modes) -> Self {
        Self { before: modes.settings(), ..Self::default() }
    }

    /// Filters `bytes`; `modes` record the sequences that pass. `raw` is asked at most once, and only if something would be dropped;
    /// `in_use` says whether the user types into the program.
    pub fn push(&mut self, bytes: &[u8], in_use: bool, raw: impl Fn() -> bool, modes: &mut Modes, out: &mut Vec<u8>) {
        let mut known_raw = None;
        let mut is_raw = || *known_raw.get_or_insert_with(&raw);
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            // A dropped piece also cuts a letter: its halves must not join to a control behind it.
            if !matches!(piece, Piece::Text(_)) {
                self.letters.end(out);
            }
            match piece {
                Piece::Text(text) if !in_use || text.is_ascii() || !is_raw() => self.letters.push(text, out),
                Piece::Text(text) => {
                    self.letters.end(out);
                    out.extend_from_slice(text);
                }
                Piece::Sequence(sequence) => {
                    let is_editors = self.is_ended && is_mode_change(sequence) && !distorts_later_text(sequence);
                    if is_drawing(sequence) || is_editors || modes.are_taken_back_by(sequence) {
                        self.is_styled = leaves_style(sequence).unwrap_or(self.is_styled);
                    } else if is_raw() {
                        self.is_loose = true;
                    } else {
                        continue;
                    }
                    modes.obey(sequence);
                    out.extend_from_slice(sequence);
                }
                Piece::String(bytes) | Piece::Control(bytes) if in_use && is_raw() => {
                    self.is_loose = true;
                    out.extend_from_slice(bytes);
                }
                Piece::String(string) => self.dropped.push(string),
                Piece::Control(_) => {}
            }
        }
    }

    /// The command has ended: appends the sequences that restore the terminal's earlier state.
    pub fn end(&mut self, modes: &mut Modes, out: &mut Vec<u8>) {
        self.is_ended = true;
        self.letters.end(out);
        out.extend_from_slice(&modes.reset_since(self.before));
        if std::mem::take(&mut self.is_loose) {
            out.extend_from_slice(PLAIN_LETTERS);
            self.is_styled = true;
        }
        if std::mem::take(&mut self.is_styled) {
            out.extend_from_slice(b"\x1b[m");
        }
    }
}

/// The usual letters, written over the present setting.
const PLAIN_LETTERS: &[u8] = b"\x1b(B\x0f\x1b[4l";

/// Whether a sequence only draws: it moves the cursor, erases, moves rows or letters, sets colours, or hides the cursor. Rows that have
/// left the screen stay (`CSI 3 J` would remove them).
fn is_drawing(sequence: &[u8]) -> bool {
    match sequence {
        [0x1b, b'7' | b'8' | b'D' | b'E' | b'M'] | b"\x1b[?25l" => true,
        [0x1b, b'[', numbers @ .., action] if numbers.iter().all(|byte| matches!(byte, b'0'..=b';')) => match action {
            b'A'..=b'I' | b'Z' | b'`' | b'a' | b'd' | b'e' | b'f' => true,
            b'K' | b'L' | b'M' | b'P' | b'S' | b'X' | b'@' | b'm' | b'r' => true,
            b'J' => !numbers.contains(&b'3'),
            // With more numbers it begins to follow the mouse.
            b'T' => !numbers.contains(&b';'),
            b's' | b'u' => numbers.is_empty(),
            _ => false,
        },
        _ => false,
    }
}

/// Whether later text has another style; `None` if the sequence has nothing to do with it.
fn leaves_style(sequence: &[u8]) -> Option<bool> {
    match sequence {
        b"\x1b[m" | b"\x1b[0m" => Some(false),
        // The saved state may have had a style.
        b"\x1b8" | b"\x1b[u" | [0x1b, b'[', .., b'm'] => Some(true),
        _ => None,
    }
}

#[cfg(test)]
#[path = "guard_tests.rs"]
pub(super) mod tests;
