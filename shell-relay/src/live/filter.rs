//! Filters the shell's output while the shell is hidden. Pure.

use super::sequences::{Piece, SequenceScanner};

/// Lets nothing through but changes of the editor's modes: bracketed paste, cursor, kitty keyboard, keypad.
#[derive(Debug, Default)]
pub(super) struct HideFilter {
    scanner: SequenceScanner,
}

impl HideFilter {
    /// Filters `bytes`. Hidden text goes to `hidden`, if present.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>, mut hidden: Option<&mut Vec<u8>>) {
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            match piece {
                Piece::Sequence(sequence) if is_mode_change(sequence) && !distorts_later_text(sequence) => {
                    out.extend_from_slice(sequence);
                }
                Piece::Text(bytes) | Piece::Sequence(bytes) | Piece::String(bytes) | Piece::Control(bytes) => {
                    if let Some(hidden) = &mut hidden {
                        hidden.extend_from_slice(bytes);
                    }
                }
            }
        }
    }
}

/// Whether `sequence` changes modes of the screen or the keyboard.
pub(super) fn is_mode_change(sequence: &[u8]) -> bool {
    match sequence {
        b"\x1b=" | b"\x1b>" => true,
        [0x1b, b'[', b'?' | b'>' | b'<' | b'=', numbers @ .., b'h' | b'l' | b'u' | b'm' | b'p' | b'q'] => {
            numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
        }
        _ => false,
    }
}

/// Whether text behind this sequence shows in other letters or in other places, also that of a question for consent.
pub(super) fn distorts_later_text(sequence: &[u8]) -> bool {
    match sequence {
        // Character sets, their shifts, 8-bit modes, and double-size rows.
        [0x1b, b'%' | b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'#' | b' ', ..] => true,
        [0x1b, b'N' | b'O' | b'n' | b'o' | b'|' | b'}' | b'~'] => true,
        [0x1b, b'[', b'?', numbers @ .., b'h' | b'l'] => numbers.split(|&byte| byte == b';').any(is_distorting_mode),
        // Insert mode and its like, and a scroll to the side.
        [0x1b, b'[', _, .., b'h' | b'l'] => true,
        [0x1b, b'[', .., b' ', b'@' | b'A'] => true,
        _ => false,
    }
}

/// 132 columns, reversed screen, origin at the margin, no wrapping, left and right margins.
fn is_distorting_mode(number: &[u8]) -> bool {
    matches!(number, b"3" | b"5" | b"6" | b"7" | b"40" | b"42" | b"45" | b"69" | b"95")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::live::guard::tests::output;

    fn hidden(bytes: &[u8], cut: usize) -> Vec<u8> {
        let (mut filter, mut out) = (HideFilter::default(), Vec::new());
        bytes.chunks(cut).for_each(|chunk| filter.push(chunk, &mut out, None));
        out
    }

    #[test]
    fn only_mode_changes_pass_a_hide_window() {
        let bytes = b"$ stub\r\n\x1b[?2004l\x1b]0;stub\x07\x1b[<1u\x1b=\x1b[31m\x1b[2J\x1b>\x1b[>4;1m\x1b[4h\x1b[?7l";
        assert_eq!(String::from_utf8_lossy(&hidden(bytes, 2)), "\x1b[?2004l\x1b[<1u\x1b=\x1b>\x1b[>4;1m");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_pieces_in_which_hidden_output_comes_change_nothing(bytes in output(), cut in 1usize..9) {
            prop_assert_eq!(hidden(&bytes, bytes.len().max(1)), hidden(&bytes, cut));
        }
    }
}
