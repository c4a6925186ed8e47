//! Splits the user's input into keys that matter to the relay and the rest. Pure.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// Enter at the end of a line.
    Enter,
    /// Ctrl-Z.
    Suspend,
    /// The key that asks the assistant.
    Hotkey,
    /// Ctrl-C.
    Interrupt,
    /// Escape alone.
    Escape,
    /// Ctrl-R or Ctrl-S: a search begins.
    Search,
    /// Ctrl-O: accept the line as Enter does.
    Accept,
    /// The terminal's answer to a query: never to be held.
    Reply,
    /// The terminal got the focus, or lost it.
    Focus,
    /// Anything else.
    Other,
}

/// A run of bytes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub kind: TokenKind,
    pub bytes: &'a [u8],
}

const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// Alt-Enter with the kitty keyboard protocol.
const KITTY_ALT_ENTER: &[u8] = b"\x1b[13;3u";
pub(super) const ALT_ENTER: &[u8] = b"\x1b\r";

/// Largest number of keys in one piece from a person whose line was held up.
const HELD_UP_MAX_BYTES: usize = 16;

/// Whether these keys are one line or its end, and nothing else: letters and one Enter. If pastes come without marks, only a few letters
/// count as typed.
pub(super) fn end_a_line(input: &[u8], pastes_are_marked: bool) -> bool {
    let Some((b'\r' | b'\n', letters)) = input.split_last() else { return false };
    (pastes_are_marked || input.len() <= HELD_UP_MAX_BYTES) && letters.iter().all(|byte| *byte >= b' ')
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Keys,
    /// In a bracketed paste; this many bytes of its end have come.
    Paste(usize),
    /// In an OSC or DCS reply; whether the last byte was ESC.
    Reply {
        escaped: bool,
    },
}

#[derive(Debug)]
pub(super) struct KeyScanner {
    state: State,
    hotkey: Vec<u8>,
}

impl KeyScanner {
    pub fn new() -> Self {
        Self { state: State::Keys, hotkey: ALT_ENTER.to_vec() }
    }

    /// Sets the bytes of the key that asks the assistant; empty bytes disable the key.
    pub fn set_hotkey(&mut self, hotkey: &[u8]) {
        self.hotkey = hotkey.to_vec();
    }

    /// The next token of `input`, which shrinks from its front; `None` when it is used up.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Option<Token<'a>> {
        if input.is_empty() {
            return None;
        }
        // No answer of a terminal holds them: text that began like one was typed.
        if matches!(self.state, State::Reply { .. }) && ends_any_reply(input[0]) {
            self.state = State::Keys;
        }
        let (kind, length) = match self.state {
            State::Paste(matched) => (TokenKind::Other, self.paste(matched, input)),
            State::Reply { escaped } => (TokenKind::Reply, self.reply(escaped, input)),
            State::Keys => self.key(input),
        };
        let (bytes, rest) = input.split_at(length);
        *input = rest;
        Some(Token { kind, bytes })
    }

    fn key(&mut self, input: &[u8]) -> (TokenKind, usize) {
        if let Some(found) = self.special(input) {
            return found;
        }
        // A run of ordinary keys, up to the next byte that may be special.
        let may_be_special = |byte: &u8| {
            matches!(byte, 0x03 | b'\n' | b'\r' | 0x0f | 0x12 | 0x13 | 0x1a | 0x1b) || Some(byte) == self.hotkey.first()
        };
        let run = input[1..].iter().position(may_be_special).map_or(input.len(), |at| at + 1);
        (TokenKind::Other, run)
    }

    fn special(&mut self, input: &[u8]) -> Option<(TokenKind, usize)> {
        if !self.hotkey.is_empty() && input.starts_with(&self.hotkey) {
            return Some((TokenKind::Hotkey, self.hotkey.len()));
        }
        match input[0] {
            0x03 => Some((TokenKind::Interrupt, 1)),
            b'\r' | b'\n' => Some((TokenKind::Enter, 1)),
            0x0f => Some((TokenKind::Accept, 1)),
            0x1a => Some((TokenKind::Suspend, 1)),
            0x12 | 0x13 => Some((TokenKind::Search, 1)),
            0x1b => Some(self.escape(input)),
            _ => None,
        }
    }

    fn escape(&mut self, input: &[u8]) -> (TokenKind, usize) {
        if input.starts_with(PASTE_BEGIN) {
            self.state = State::Paste(0);
            return (TokenKind::Other, PASTE_BEGIN.len());
        }
        match input.get(1) {
            None => (TokenKind::Escape, 1),
            Some(b'[') => {
                let Some(end) = input[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                    return (TokenKind::Other, input.len());
                };
                let sequence = &input[..end + 3];
                (self.control_sequence(sequence), sequence.len())
            }
            Some(b']' | b'P' | b'_') if input.len() > 2 => {
                self.state = State::Reply { escaped: false };
                (TokenKind::Reply, 2)
            }
            Some(0x1b) => (TokenKind::Escape, 1),
            Some(b'O') if input.len() > 2 => (TokenKind::Other, 3),
            Some(_) => (TokenKind::Other, 2),
        }
    }

    fn control_sequence(&self, sequence: &[u8]) -> TokenKind {
        let parameters = &sequence[2..sequence.len() - 1];
        let private = matches!(parameters.first(), Some(b'?' | b'>' | b'='));
        match sequence[sequence.len() - 1] {
            b'u' if self.hotkey == ALT_ENTER && sequence == KITTY_ALT_ENTER => TokenKind::Hotkey,
            b'u' if sequence == b"\x1b[99;5u" => TokenKind::Interrupt,
            b'u' if sequence == b"\x1b[27u" => TokenKind::Escape,
            b'c' | b'n' | b't' => TokenKind::Reply,
            b'I' | b'O' if parameters.is_empty() => TokenKind::Focus,
            b'R' if parameters.contains(&b';') => TokenKind::Reply,
            b'y' if parameters.ends_with(b"$") => TokenKind::Reply,
            b'u' | b'q' if private => TokenKind::Reply,
            _ => TokenKind::Other,
        }
    }

    fn paste(&mut self, mut matched: usize, input: &[u8]) -> usize {
        for (at, &byte) in input.iter().enumerate() {
            matched = match byte {
                _ if byte == PASTE_END[matched] => matched + 1,
                0x1b => 1,
                _ => 0,
            };
            if matched == PASTE_END.len() {
                self.state = State::Keys;
                return at + 1;
            }
        }
        self.state = State::Paste(matched);
        input.len()
    }

    fn reply(&mut self, mut escaped: bool, input: &[u8]) -> usize {
        for (at, &byte) in input.iter().enumerate() {
            if byte == 0x07 || (escaped && byte == b'\\') {
                self.state = State::Keys;
                return at + 1;
            }
            if ends_any_reply(byte) {
                self.state = State::Keys;
                return at;
            }
            escaped = byte == 0x1b;
        }
        self.state = State::Reply { escaped };
        input.len()
    }
}

/// Enter and Ctrl-C.
fn ends_any_reply(byte: u8) -> bool {
    matches!(byte, b'\r' | b'\n' | 0x03)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{TokenKind::*, *};

    fn tokens(chunks: &[&[u8]]) -> Vec<(TokenKind, Vec<u8>)> {
        let mut scanner = KeyScanner::new();
        let mut all = Vec::new();
        for chunk in chunks {
            let mut rest = *chunk;
            while let Some(token) = scanner.next(&mut rest) {
                all.push((token.kind, token.bytes.to_vec()));
            }
        }
        all
    }

    #[test]
    fn keys_are_told_apart() {
        for (bytes, kind) in [
            (&b"\r"[..], Enter),
            (b"\n", Enter),
            (b"\x0f", Accept),
            (b"\x03", Interrupt),
            (b"\x1b", Escape),
            (b"\x12", Search),
            (b"\x1b\r", Hotkey),
            (b"\x1b[13;3u", Hotkey),
            (b"\x1b[A", Other),
            (b"\x1bOA", Other),
            (b"\x1bb", Other),
            (b"\x1b[?62;4c", Reply),
            (b"\x1b[24;80R", Reply),
            (b"\x1b[?2026;2$y", Reply),
            (b"\x1b[?1u", Reply),
            (b"\x1b[I", Focus),
            (b"\x1b[O", Focus),
            (b"\x1b[2I", Other),
        ] {
            assert_eq!(tokens(&[bytes]), [(kind, bytes.to_vec())], "{bytes:?}");
        }
        assert_eq!(tokens(&[b"ls\rpwd"]), [(Other, b"ls".to_vec()), (Enter, b"\r".to_vec()), (Other, b"pwd".to_vec())]);
    }

    #[test]
    fn a_few_letters_and_enter_end_a_line() {
        for input in [&b"\r"[..], b"ng?\r", "日本\r".as_bytes()] {
            assert!(end_a_line(input, false), "{input:?}");
        }
        for input in [&b""[..], b"a", b"a\rb", b"a\rb\r", b"\x1b\r", b"sixteen letters!\r", b"\x1b[A\r"] {
            assert!(!end_a_line(input, false), "{input:?}");
            assert_eq!(end_a_line(input, true), input.len() > HELD_UP_MAX_BYTES, "{input:?}");
        }
    }

    #[test]
    fn enter_in_a_paste_is_no_enter_even_if_its_end_is_cut() {
        let chunks: [&[u8]; 3] = [b"\x1b[200~a\rb", b"\x1b[20", b"1~\r"];
        let kinds: Vec<TokenKind> = tokens(&chunks).into_iter().map(|(kind, _)| kind).collect();
        assert_eq!(kinds, [Other, Other, Other, Other, Enter]);
    }

    #[test]
    fn a_reply_is_one_even_if_cut() {
        let all = tokens(&[b"\x1b]11;rgb:0", b"0/00\x1b", b"\\x"]);
        let replies: Vec<u8> =
            all.iter().filter(|(kind, _)| *kind == Reply).flat_map(|(_, bytes)| bytes.clone()).collect();
        assert_eq!(replies, b"\x1b]11;rgb:00/00\x1b\\");
        assert_eq!(all.last(), Some(&(Other, b"x".to_vec())));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_byte_is_lost(bytes in proptest::collection::vec(any::<u8>(), 0..200), cut in 1usize..20) {
            let chunks: Vec<&[u8]> = bytes.chunks(cut).collect();
            let joined: Vec<u8> = tokens(&chunks).into_iter().flat_map(|(_, bytes)| bytes).collect();
            prop_assert_eq!(joined, bytes);
        }
    }
}
