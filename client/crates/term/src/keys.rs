//! Parses the bytes of a terminal in raw mode into keys. Pure and chunk-safe: any cut of the bytes gives the same keys, except that a lone
//! `ESC` needs [`KeyReader::flush_escape`] to be distinguished from the start of a sequence.

/// Longest control sequence; a longer one is dropped.
const MAX_SEQUENCE_BYTES: usize = 64;
/// Largest paste; the rest of a larger one is dropped.
pub const MAX_PASTE_BYTES: usize = 256 * 1024;
/// Longest reply of the terminal; what follows are keys again.
const MAX_REPLY_BYTES: usize = 4 * 1024;
const PASTE_END: &[u8] = b"\x1b[201~";

/// A key of the keyboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyCode {
    /// A letter, digit or sign, as typed with Shift.
    Char(char),
    /// Return or Enter.
    Enter,
    /// Tab.
    Tab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Insert.
    Insert,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Home.
    Home,
    /// End.
    End,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Escape.
    Escape,
    /// F1 and so on.
    Function(u8),
}

/// A key with the modifiers held down with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyPress {
    /// The key.
    pub key: KeyCode,
    /// Shift; not reported for letters of terminals without the kitty protocol.
    pub has_shift: bool,
    /// Alt or Option.
    pub has_alt: bool,
    /// Control; the key is then the lower-case letter.
    pub has_ctrl: bool,
}

impl KeyPress {
    /// A key alone.
    #[must_use]
    pub const fn plain(key: KeyCode) -> Self {
        Self { key, has_shift: false, has_alt: false, has_ctrl: false }
    }

    /// A key with Control.
    #[must_use]
    pub const fn ctrl(letter: char) -> Self {
        Self { has_ctrl: true, ..Self::plain(KeyCode::Char(letter)) }
    }

    /// A key with Alt.
    #[must_use]
    pub const fn alt(key: KeyCode) -> Self {
        Self { has_alt: true, ..Self::plain(key) }
    }
}

/// What the user did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Input {
    /// Pressed a key.
    Key(KeyPress),
    /// Pasted text; line ends are LF. Other controls are still in it.
    Paste(String),
}

#[derive(Debug, Default)]
enum ReaderState {
    #[default]
    Ground,
    Letter(Vec<u8>),
    Escape,
    Csi(Vec<u8>),
    Ss3,
    /// A string from the terminal (OSC, DCS, APC, PM, SOS): a reply to a query, no key.
    Reply {
        introducer: u8,
        length: usize,
        is_after_escape: bool,
    },
    Paste(Vec<u8>),
}

/// The reader's state between chunks.
#[derive(Debug, Default)]
pub struct KeyReader {
    state: ReaderState,
    has_alt: bool,
}

impl KeyReader {
    /// A reader at the start of the stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The inputs that are complete with these bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<Input> {
        let mut out = Vec::new();
        for &byte in bytes {
            self.byte(byte, &mut out);
        }
        out
    }

    /// Whether the last bytes may be a key of their own: `ESC` the Escape key, `ESC [` Alt-`[`. Then call
    /// [`flush_escape`](Self::flush_escape) if nothing follows within some 30 ms.
    #[must_use]
    pub fn is_escape_pending(&self) -> bool {
        self.pending_key().is_some()
    }

    /// Nothing followed: the pending bytes are a key.
    pub fn flush_escape(&mut self) -> Option<Input> {
        let press = self.pending_key()?;
        *self = Self::default();
        Some(Input::Key(press))
    }

    fn pending_key(&self) -> Option<KeyPress> {
        match &self.state {
            ReaderState::Escape => Some(KeyPress { has_alt: self.has_alt, ..KeyPress::plain(KeyCode::Escape) }),
            ReaderState::Csi(parameters) if parameters.is_empty() => Some(KeyPress::alt(KeyCode::Char('['))),
            ReaderState::Ss3 => Some(KeyPress::alt(KeyCode::Char('O'))),
            ReaderState::Reply { introducer, length: 0, .. } => {
                Some(KeyPress::alt(KeyCode::Char(char::from(*introducer))))
            }
            _ => None,
        }
    }

    fn byte(&mut self, byte: u8, out: &mut Vec<Input>) {
        match std::mem::take(&mut self.state) {
            ReaderState::Ground => self.ground(byte, out),
            ReaderState::Letter(letter) => self.letter(letter, byte, out),
            ReaderState::Escape => self.escape(byte, out),
            ReaderState::Csi(parameters) => self.csi(parameters, byte, out),
            ReaderState::Ss3 => {
                if let Some(key) = letter_key(byte) {
                    self.key(KeyPress::plain(key), out);
                }
            }
            ReaderState::Reply { introducer, length, is_after_escape } => {
                self.reply(byte, introducer, length, is_after_escape, out);
            }
            ReaderState::Paste(text) => self.paste(text, byte, out),
        }
    }

    fn ground(&mut self, byte: u8, out: &mut Vec<Input>) {
        let press = match byte {
            0x1b => {
                self.state = ReaderState::Escape;
                return;
            }
            b'\r' => KeyPress::plain(KeyCode::Enter),
            b'\t' => KeyPress::plain(KeyCode::Tab),
            0x08 | 0x7f => KeyPress::plain(KeyCode::Backspace),
            0x00 => KeyPress::ctrl(' '),
            0x01..=0x1a => KeyPress::ctrl(char::from(byte - 1 + b'a')),
            0x1c..=0x1f => KeyPress::ctrl(char::from(byte + 0x40)),
            0x20..=0x7e => KeyPress::plain(KeyCode::Char(char::from(byte))),
            0xc2..=0xf4 => {
                self.state = ReaderState::Letter(vec![byte]);
                return;
            }
            // No start of a letter in UTF-8.
            _ => return,
        };
        self.key(press, out);
    }

    fn letter(&mut self, mut letter: Vec<u8>, byte: u8, out: &mut Vec<Input>) {
        if !(0x80..=0xbf).contains(&byte) {
            self.has_alt = false;
            self.ground(byte, out);
            return;
        }
        letter.push(byte);
        match std::str::from_utf8(&letter).map(|text| text.chars().next()) {
            Ok(Some(letter)) => self.key(KeyPress::plain(KeyCode::Char(letter)), out),
            Err(error) if error.error_len().is_none() => self.state = ReaderState::Letter(letter),
            _ => self.has_alt = false,
        }
    }

    fn escape(&mut self, byte: u8, out: &mut Vec<Input>) {
        match byte {
            b'[' => self.state = ReaderState::Csi(Vec::new()),
            b'O' => self.state = ReaderState::Ss3,
            b']' | b'P' | b'_' | b'^' | b'X' => {
                self.state = ReaderState::Reply { introducer: byte, length: 0, is_after_escape: false };
            }
            0x1b if self.has_alt => {
                self.key(KeyPress::plain(KeyCode::Escape), out);
                self.state = ReaderState::Escape;
            }
            0x1b => {
                self.has_alt = true;
                self.state = ReaderState::Escape;
            }
            _ => {
                self.has_alt = true;
                self.ground(byte, out);
            }
        }
    }

    fn csi(&mut self, mut parameters: Vec<u8>, byte: u8, out: &mut Vec<Input>) {
        match byte {
            0x20..=0x3f => {
                if parameters.len() < MAX_SEQUENCE_BYTES {
                    parameters.push(byte);
                }
                self.state = ReaderState::Csi(parameters);
            }
            0x40..=0x7e if parameters == b"200" && byte == b'~' => self.state = ReaderState::Paste(Vec::new()),
            0x40..=0x7e => {
                if let Some(press) = csi_key(&parameters, byte) {
                    self.key(press, out);
                }
                self.has_alt = false;
            }
            // A control ends the sequence and counts for itself.
            _ => {
                self.has_alt = false;
                self.ground(byte, out);
            }
        }
    }

    fn reply(&mut self, byte: u8, introducer: u8, length: usize, is_after_escape: bool, out: &mut Vec<Input>) {
        match byte {
            b'\\' if is_after_escape => self.has_alt = false,
            _ if is_after_escape => self.escape(byte, out),
            0x07 => self.has_alt = false,
            // Any other control is a key: what looked like a reply was Alt and a letter.
            0x00..=0x1a | 0x1c..=0x1f | 0x7f => {
                self.has_alt = false;
                self.ground(byte, out);
            }
            _ if length >= MAX_REPLY_BYTES => self.has_alt = false,
            _ => self.state = ReaderState::Reply { introducer, length: length + 1, is_after_escape: byte == 0x1b },
        }
    }

    fn paste(&mut self, mut text: Vec<u8>, byte: u8, out: &mut Vec<Input>) {
        if text.len() >= MAX_PASTE_BYTES + PASTE_END.len() {
            // Only the last bytes are still needed, to see the end.
            text.remove(MAX_PASTE_BYTES);
        }
        text.push(byte);
        if text.ends_with(PASTE_END) {
            text.truncate(text.len() - PASTE_END.len());
            let text = String::from_utf8_lossy(&text).replace("\r\n", "\n").replace('\r', "\n");
            out.push(Input::Paste(text));
            self.has_alt = false;
        } else {
            self.state = ReaderState::Paste(text);
        }
    }

    fn key(&mut self, press: KeyPress, out: &mut Vec<Input>) {
        let has_alt = press.has_alt | std::mem::take(&mut self.has_alt);
        out.push(Input::Key(KeyPress { has_alt, ..press }));
    }
}

/// Final letters of cursor and function keys.
fn letter_key(byte: u8) -> Option<KeyCode> {
    Some(match byte {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::Function(byte - b'P' + 1),
        _ => return None,
    })
}

/// Numbers before `~`.
fn tilde_key(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::Function(u8::try_from(number - 10).ok()?),
        17..=21 => KeyCode::Function(u8::try_from(number - 11).ok()?),
        23 | 24 => KeyCode::Function(u8::try_from(number - 12).ok()?),
        _ => return None,
    })
}

/// Code points of the kitty protocol and of `modifyOtherKeys`.
fn code_key(code: u32) -> Option<KeyCode> {
    Some(match code {
        9 => KeyCode::Tab,
        13 | 57_414 => KeyCode::Enter,
        27 => KeyCode::Escape,
        8 | 127 => KeyCode::Backspace,
        57_399..=57_408 => KeyCode::Char(char::from_digit(code - 57_399, 10)?),
        57_417 => KeyCode::Left,
        57_418 => KeyCode::Right,
        57_419 => KeyCode::Up,
        57_420 => KeyCode::Down,
        57_421 => KeyCode::PageUp,
        57_422 => KeyCode::PageDown,
        57_423 => KeyCode::Home,
        57_424 => KeyCode::End,
        57_425 => KeyCode::Insert,
        57_426 => KeyCode::Delete,
        // The private use area holds keys without a meaning here.
        0xe000..=0xf8ff => return None,
        _ => KeyCode::Char(char::from_u32(code).filter(|letter| !letter.is_control())?),
    })
}

/// The key of a control sequence; `None` for anything else, such as a reply or the release of a key.
fn csi_key(parameters: &[u8], last: u8) -> Option<KeyPress> {
    let text = std::str::from_utf8(parameters).ok()?;
    let mut fields =
        text.split(';').map(|field| field.split(':').map(|part| part.parse::<u32>().ok()).collect::<Vec<_>>());
    let first = fields.next()?;
    let second = fields.next().unwrap_or_default();
    let number = first.first().copied().flatten();
    let modifiers = second.first().copied().flatten().unwrap_or(1);
    let third = fields.next().and_then(|field| field.first().copied().flatten());
    let is_release = second.get(1).copied().flatten() == Some(3);
    if is_release || (!text.is_empty() && number.is_none()) {
        return None;
    }
    let (key, modifiers) = match (last, number) {
        (b'Z', _) => return Some(KeyPress { has_shift: true, ..KeyPress::plain(KeyCode::Tab) }),
        (b'~', Some(27)) => (code_key(third?)?, modifiers),
        (b'~', Some(number)) => (tilde_key(number)?, modifiers),
        (b'u', Some(code)) => (shifted(code_key(code)?, &first, modifiers, third), modifiers),
        // `CSI M` is a mouse report and `CSI R` a cursor report.
        (b'A'..=b'H' | b'P' | b'Q' | b'S', None | Some(1)) => (letter_key(last)?, modifiers),
        _ => return None,
    };
    let bits = modifiers.saturating_sub(1);
    Some(KeyPress { key, has_shift: bits & 1 != 0, has_alt: bits & 2 != 0, has_ctrl: bits & 4 != 0 })
}

/// With the kitty protocol letters come without Shift; the text or the shifted letter may stand next to it.
fn shifted(key: KeyCode, codes: &[Option<u32>], modifiers: u32, text: Option<u32>) -> KeyCode {
    let KeyCode::Char(letter) = key else { return key };
    if modifiers.saturating_sub(1) & 1 == 0 {
        return key;
    }
    let told = text.or_else(|| codes.get(1).copied().flatten()).and_then(char::from_u32).filter(|c| !c.is_control());
    KeyCode::Char(told.unwrap_or_else(|| letter.to_uppercase().next().unwrap_or(letter)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(bytes: &[u8]) -> Vec<Input> {
        KeyReader::new().push(bytes)
    }

    fn key(key: KeyCode) -> Input {
        Input::Key(KeyPress::plain(key))
    }

    #[test]
    fn letters_and_controls() {
        assert_eq!(
            read("aé日".as_bytes()),
            [key(KeyCode::Char('a')), key(KeyCode::Char('é')), key(KeyCode::Char('日'))]
        );
        assert_eq!(
            read(b"\r\t\x7f\x03"),
            [key(KeyCode::Enter), key(KeyCode::Tab), key(KeyCode::Backspace), Input::Key(KeyPress::ctrl('c')),]
        );
    }

    #[test]
    fn cursor_keys_in_both_modes_and_with_modifiers() {
        assert_eq!(
            read(b"\x1b[D\x1bOC\x1b[H\x1b[4~\x1b[3~"),
            [key(KeyCode::Left), key(KeyCode::Right), key(KeyCode::Home), key(KeyCode::End), key(KeyCode::Delete),]
        );
        assert_eq!(read(b"\x1b[1;5C"), [Input::Key(KeyPress { has_ctrl: true, ..KeyPress::plain(KeyCode::Right) })]);
        assert_eq!(read(b"\x1b\x1b[D"), [Input::Key(KeyPress::alt(KeyCode::Left))]);
        assert_eq!(
            read(b"\x1bb\x1b\r"),
            [Input::Key(KeyPress::alt(KeyCode::Char('b'))), Input::Key(KeyPress::alt(KeyCode::Enter)),]
        );
        assert_eq!(read(b"\x1b[15~\x1bOP"), [key(KeyCode::Function(5)), key(KeyCode::Function(1))]);
    }

    #[test]
    fn a_lone_escape_needs_the_flush() {
        let mut reader = KeyReader::new();
        assert!(reader.push(b"\x1b").is_empty());
        assert!(reader.is_escape_pending());
        assert_eq!(reader.flush_escape(), Some(key(KeyCode::Escape)));
        assert_eq!(reader.flush_escape(), None);
        assert_eq!(reader.push(b"a"), [key(KeyCode::Char('a'))]);
        assert!(reader.push(b"\x1b[").is_empty());
        assert_eq!(reader.flush_escape(), Some(Input::Key(KeyPress::alt(KeyCode::Char('[')))));
    }

    #[test]
    fn kitty_keys_and_their_releases() {
        assert_eq!(
            read(b"\x1b[27u\x1b[13;2u"),
            [key(KeyCode::Escape), Input::Key(KeyPress { has_shift: true, ..KeyPress::plain(KeyCode::Enter) }),]
        );
        assert_eq!(read(b"\x1b[99;5u\x1b[99;5:3u"), [Input::Key(KeyPress::ctrl('c'))]);
        assert_eq!(
            read(b"\x1b[97:65;2u"),
            [Input::Key(KeyPress { has_shift: true, ..KeyPress::plain(KeyCode::Char('A')) })]
        );
        assert_eq!(read(b"\x1b[27;5;117~"), [Input::Key(KeyPress::ctrl('u'))]);
        assert!(read(b"\x1b[57441;2u").is_empty());
    }

    #[test]
    fn a_paste_is_one_input_whatever_it_holds() {
        assert_eq!(
            read(b"\x1b[200~a\rb\x1b[Dy\r\n\x1b[201~z"),
            [Input::Paste("a\nb\u{1b}[Dy\n".into()), key(KeyCode::Char('z')),]
        );
    }

    #[test]
    fn a_huge_paste_is_cut_and_still_ends() {
        let mut bytes = b"\x1b[200~".to_vec();
        bytes.resize(MAX_PASTE_BYTES * 2, b'x');
        bytes.extend_from_slice(b"\x1b[201~y");
        let inputs = read(&bytes);
        assert!(matches!(&inputs[0], Input::Paste(text) if text.len() <= MAX_PASTE_BYTES + PASTE_END.len()));
        assert_eq!(inputs[1], key(KeyCode::Char('y')));
    }

    #[test]
    fn replies_of_the_terminal_are_no_keys() {
        assert!(read(b"\x1b]11;rgb:0/0/0\x07\x1bP1$r0m\x1b\\\x1b[?62;c\x1b[1;4R\x1b[?1u\x1b[<0;1;1M\x1b[M").is_empty());
        assert_eq!(read(b"\xff\xc3a\x80b"), [key(KeyCode::Char('a')), key(KeyCode::Char('b'))]);
    }

    #[test]
    fn alt_and_a_letter_that_begins_a_reply_does_not_swallow_the_keyboard() {
        let mut reader = KeyReader::new();
        assert!(reader.push(b"\x1b]").is_empty());
        assert_eq!(reader.flush_escape(), Some(Input::Key(KeyPress::alt(KeyCode::Char(']')))));
        assert!(reader.push(b"\x1bPab").is_empty());
        assert_eq!(reader.push(b"\x03"), [Input::Key(KeyPress::ctrl('c'))]);
        assert!(reader.push(&[b"\x1b]".as_slice(), &[b'x'; MAX_REPLY_BYTES + 1]].concat()).is_empty());
        assert_eq!(reader.push(b"y"), [key(KeyCode::Char('y'))]);
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            prop::collection::vec(any::<u8>(), 1..4),
            prop::sample::select(vec![
                "\x1b[200~",
                "\x1b[201~",
                "\x1b",
                "\x1b[1;5C",
                "é",
                "日",
                "\x1b]0;",
                "\x1b[99;5u"
            ])
            .prop_map(|text| text.as_bytes().to_vec()),
        ];
        prop::collection::vec(part, 0..20).prop_map(|parts| parts.concat())
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_same_keys(bytes in bytes(), cut in 0usize..60) {
            let whole = read(&bytes);
            let (head, tail) = bytes.split_at(cut.min(bytes.len()));
            let mut reader = KeyReader::new();
            let mut parts = reader.push(head);
            parts.extend(reader.push(tail));
            prop_assert_eq!(parts, whole);
        }
    }
}
