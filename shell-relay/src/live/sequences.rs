//! Cuts terminal output into text and escape sequences. Pure; any chunking gives the same pieces, except that text may be cut elsewhere.

use memchr::{memchr2, memchr3};

/// Longest control sequence; a longer one is passed on as a string, piece by piece.
const SEQUENCE_MAX_BYTES: usize = 256;
/// Longest string without end; it then ends at the next control character, such as the end of its line, and text follows again. Pictures
/// are longer, but have no lines.
/// are longer, but have no lines.
const STRING_MAX_BYTES: usize = 4096;

const ESC: u8 = 0x1b;
const ENQ: u8 = 0x05;
/// Shifts to the second character set and back.
const SHIFT_OUT: u8 = 0x0e;
const SHIFT_IN: u8 = 0x0f;

/// Bytes and their kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// Bytes outside of escape sequences.
    Text(&'a [u8]),
    /// A whole `ESC [ .. final` or `ESC x`.
    Sequence(&'a [u8]),
    /// Some bytes of an OSC, DCS, APC, PM or SOS string or of an overlong sequence, its ends included.
    String(&'a [u8]),
    /// ENQ, a shift of the character set, a C1 control in UTF-8, or the beginning of a sequence that another byte has voided: the
    /// following bytes must not complete it.
    /// comes next must not complete it.
    Control(&'a [u8]),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Scan {
    #[default]
    Text,
    /// `carry` holds the beginning of a sequence.
    Sequence,
    /// In a string.
    String,
    /// In a string, ESC is in `carry`: `\` ends the string, any other byte begins a sequence, as in terminals.
    StringEscape,
    /// The lead byte C2 is in `carry`.
    Lead,
}

#[derive(Debug, Default)]
pub(super) struct SequenceScanner {
    state: Scan,
    carry: Vec<u8>,
    carry_given_out: bool,
    /// Bytes of the open string so far.
    string_bytes: usize,
}

impl SequenceScanner {
    /// Whether the next byte is plain text, so that bytes without ESC need no scanning for sequences.
    pub fn is_in_text(&self) -> bool {
        self.state == Scan::Text
    }

    /// The next piece of `input`, which shrinks from its front; `None` when it is used up.
    pub fn next<'s, 'a: 's>(&'s mut self, input: &mut &'a [u8]) -> Option<Piece<'s>> {
        if std::mem::take(&mut self.carry_given_out) {
            self.carry.clear();
        }
        loop {
            let (&byte, rest) = input.split_first()?;
            match self.state {
                Scan::Text => match byte {
                    ESC => self.begin(Scan::Sequence, byte),
                    0xc2 => self.begin(Scan::Lead, byte),
                    ENQ | SHIFT_OUT | SHIFT_IN => {
                        let (control, rest) = input.split_at(1);
                        *input = rest;
                        return Some(Piece::Control(control));
                    }
                    _ => {
                        let end = memchr3(ESC, 0xc2, ENQ, input).unwrap_or(input.len());
                        let end = memchr2(SHIFT_OUT, SHIFT_IN, &input[..end]).unwrap_or(end);
                        let (text, rest) = input.split_at(end);
                        *input = rest;
                        return Some(Piece::Text(text));
                    }
                },
                Scan::Lead => {
                    self.give_carry(Scan::Text);
                    if !(0x80..=0xbf).contains(&byte) {
                        return Some(Piece::Text(&self.carry));
                    }
                    *input = rest;
                    self.carry.push(byte);
                    return Some(if byte < 0xa0 { Piece::Control(&self.carry) } else { Piece::Text(&self.carry) });
                }
                Scan::String if byte == ESC => self.begin(Scan::StringEscape, byte),
                Scan::String => return Some(Piece::String(self.string(input))),
                Scan::StringEscape if byte == b'\\' => {
                    self.carry.push(byte);
                    *input = rest;
                    self.give_carry(Scan::Text);
                    return Some(Piece::String(&self.carry));
                }
                Scan::StringEscape => {
                    self.state = Scan::Sequence;
                    continue;
                }
                Scan::Sequence => {
                    if !(0x20..=0x7e).contains(&byte) {
                        self.give_carry(Scan::Text);
                        return Some(Piece::Control(&self.carry));
                    }
                    self.carry.push(byte);
                    *input = rest;
                    if let Some(next) = self.sequence_ends(byte) {
                        self.give_carry(next);
                        return Some(match next {
                            Scan::Text => Piece::Sequence(&self.carry),
                            _ => Piece::String(&self.carry),
                        });
                    }
                    continue;
                }
            }
            *input = rest;
        }
    }

    fn begin(&mut self, state: Scan, byte: u8) {
        self.state = state;
        self.carry.push(byte);
    }

    fn give_carry(&mut self, next: Scan) {
        if next == Scan::String {
            self.string_bytes = 0;
        }
        self.state = next;
        self.carry_given_out = true;
    }

    /// The state after the sequence in `carry`, if its last byte ends it.
    fn sequence_ends(&self, byte: u8) -> Option<Scan> {
        let string = Some(Scan::String);
        match (self.carry.len(), byte) {
            (2, b'[') => None,
            (2, b']' | b'P' | b'X' | b'^' | b'_') => string,
            (2, 0x20..=0x2f) => None,
            (2, _) => Some(Scan::Text),
            (SEQUENCE_MAX_BYTES.., _) => string,
            _ if self.carry[1] == b'[' => (0x40..=0x7e).contains(&byte).then_some(Scan::Text),
            _ => (0x30..=0x7e).contains(&byte).then_some(Scan::Text),
        }
    }

    /// Takes the string's bytes up to its end (BEL, CAN or SUB, or beyond the bound any control), an ESC, or the input's end.
    fn string<'a>(&mut self, input: &mut &'a [u8]) -> &'a [u8] {
        let bound = STRING_MAX_BYTES.saturating_sub(self.string_bytes);
        let stops =
            |(at, byte): (usize, &u8)| matches!(byte, 0x07 | 0x18 | 0x1a | &ESC) || (at >= bound && *byte < 0x20);
        let stop = input.iter().enumerate().position(stops).unwrap_or(input.len());
        let ender = input.get(stop).filter(|byte| **byte != ESC);
        let is_part = ender.is_some_and(|byte| matches!(byte, 0x07 | 0x18 | 0x1a));
        let (string, rest) = input.split_at(stop + usize::from(is_part));
        *input = rest;
        self.string_bytes = self.string_bytes.saturating_add(string.len());
        if ender.is_some() {
            self.state = Scan::Text;
        }
        string
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<(u8, Vec<u8>)> {
        let mut scanner = SequenceScanner::default();
        let mut all: Vec<(u8, Vec<u8>)> = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while let Some(piece) = scanner.next(&mut rest) {
                let (kind, bytes, joins) = match piece {
                    Piece::Text(bytes) => (b't', bytes, true),
                    Piece::Sequence(bytes) => (b's', bytes, false),
                    Piece::String(bytes) => (b'o', bytes, true),
                    Piece::Control(bytes) => (b'c', bytes, false),
                };
                match all.last_mut() {
                    Some((last, so_far)) if joins && *last == kind => so_far.extend_from_slice(bytes),
                    _ => all.push((kind, bytes.to_vec())),
                }
            }
        }
        all
    }

    #[test]
    fn sequences_strings_and_controls_are_told_apart() {
        let stream = "a\x1b[1;31mb\x1b]0;t\x07\x1b(0\x1b7é\u{9b}°\x05\x1bPq\x1b\\z";
        let expected: Vec<(u8, Vec<u8>)> = vec![
            (b't', b"a".into()),
            (b's', b"\x1b[1;31m".into()),
            (b't', b"b".into()),
            (b'o', b"\x1b]0;t\x07".into()),
            (b's', b"\x1b(0".into()),
            (b's', b"\x1b7".into()),
            (b't', "é".into()),
            (b'c', "\u{9b}".into()),
            (b't', "°".into()),
            (b'c', b"\x05".into()),
            (b'o', b"\x1bPq\x1b\\".into()),
            (b't', b"z".into()),
        ];
        assert_eq!(pieces(&[stream.as_bytes()]), expected);
    }

    #[test]
    fn what_voids_a_sequence_or_a_string_is_no_part_of_it() {
        let stream = "\x1b[1\x1b[2m\x1b\rx\x1b[\x05\x1b]a\x1b[3mb\x1bPq\x1b\x1b\\\x18";
        let expected: Vec<(u8, Vec<u8>)> = vec![
            (b'c', b"\x1b[1".into()),
            (b's', b"\x1b[2m".into()),
            (b'c', b"\x1b".into()),
            (b't', b"\rx".into()),
            (b'c', b"\x1b[".into()),
            (b'c', b"\x05".into()),
            (b'o', b"\x1b]a".into()),
            (b's', b"\x1b[3m".into()),
            (b't', b"b".into()),
            (b'o', b"\x1bPq".into()),
            (b'c', b"\x1b".into()),
            (b's', b"\x1b\\".into()),
            (b't', b"\x18".into()),
        ];
        assert_eq!(pieces(&[stream.as_bytes()]), expected);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn chunking_changes_nothing_and_no_byte_is_lost(
            bytes in proptest::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b']'), Just(0xc2), any::<u8>()], 0..300),
            cut in 1usize..9,
        ) {
            let whole = pieces(&[&bytes]);
            prop_assert_eq!(&whole, &pieces(&bytes.chunks(cut).collect::<Vec<_>>()));
            let joined: Vec<u8> = whole.into_iter().flat_map(|(_, bytes)| bytes).collect();
            prop_assert!(bytes.starts_with(&joined));
            prop_assert!(bytes.len() - joined.len() <= SEQUENCE_MAX_BYTES);
        }
    }
}
