//! The line at the prompt as it is known from the keys alone. Pure.

use cohab_shell_state::shell::Shell;

/// A longer line is not followed.
const LINE_MAX_BYTES: usize = 4 * 1024;
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
const ESC: u8 = 0x1b;

/// What the user has typed since the prompt came. A key whose work only the line editor knows (completion, history, a binding) makes it
/// unknown until the line is emptied or the next prompt comes.
#[derive(Debug)]
pub struct TypedLine {
    shell: Shell,
    /// `None`: unknown.
    line: Option<Known>,
    /// In a bracketed paste; so many bytes of its end have come.
    paste: Option<usize>,
    /// The beginning of a letter.
    partial: Vec<u8>,
}

#[derive(Debug, Default)]
struct Known {
    text: String,
    /// In bytes.
    cursor: usize,
}

impl TypedLine {
    /// Unknown, for the line editor of `shell`.
    #[must_use]
    pub fn new(shell: Shell) -> Self {
        Self { shell, line: None, paste: None, partial: Vec::new() }
    }

    /// A prompt stands with this line and the cursor at its end.
    pub fn begin(&mut self, line: &str) {
        self.line = Some(Known { text: line.to_owned(), cursor: line.len() });
        self.paste = None;
        self.partial.clear();
    }

    /// Something else reads the keys, or their effect is unknown.
    pub fn forget(&mut self) {
        self.line = None;
        self.partial.clear();
    }

    /// The line, if it is known.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.line.as_ref().map(|known| known.text.as_str()).filter(|_| self.paste.is_none() && self.partial.is_empty())
    }

    /// If these keys end in one that ends the line (Enter, Alt-Enter), and have no other such key: what comes before it.
    #[must_use]
    pub fn before_enter<'a>(&self, keys: &'a [u8]) -> Option<&'a [u8]> {
        let is_enter = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let enters = [&b"\x1b\r"[..], b"\x1b[13;3u", b"\r", b"\n"];
        let before = enters.iter().find_map(|enter| keys.strip_suffix(*enter))?;
        (self.paste.is_none() && !before.iter().any(is_enter) && !before.ends_with(b"\x1b")).then_some(before)
    }

    /// Takes keys that go to the line editor, none of them Enter outside a paste.
    pub fn push(&mut self, keys: &[u8]) {
        let mut rest = keys;
        while !rest.is_empty() {
            let used = match self.paste {
                Some(matched) => self.paste(matched, rest),
                None => self.key(rest),
            };
            rest = &rest[used.clamp(1, rest.len())..];
        }
        if self.line.as_ref().is_some_and(|known| known.text.len() > LINE_MAX_BYTES) {
            self.forget();
        }
    }

    /// Takes the first key, gives its length.
    fn key(&mut self, keys: &[u8]) -> usize {
        match keys[0] {
            ESC => self.escape(keys),
            byte @ (b' '..=b'~' | 0x80..) => {
                self.letter(byte);
                1
            }
            control => {
                self.control(control);
                1
            }
        }
    }

    fn letter(&mut self, byte: u8) {
        self.partial.push(byte);
        match std::str::from_utf8(&self.partial) {
            Ok(letter) => {
                if let Some(known) = &mut self.line {
                    known.text.insert_str(known.cursor, letter);
                    known.cursor += letter.len();
                }
                self.partial.clear();
            }
            Err(error) if error.error_len().is_some() => self.forget(),
            Err(_) => {}
        }
    }

    fn control(&mut self, key: u8) {
        self.partial.clear();
        match key {
            0x03 => return self.begin(""),
            // Also a line that is not known is gone now: wherever the keys led, its cursor stands at its end.
            0x15 if self.line.is_none() => return self.begin(""),
            _ => {}
        }
        let takes_suggestions = self.shell != Shell::Bash;
        let Some(known) = &mut self.line else { return };
        let is_at_end = known.cursor == known.text.len();
        let is_known = match key {
            0x01 => known.go_to(0),
            0x02 => known.go_left(),
            0x05 | 0x06 if is_at_end => !takes_suggestions,
            0x05 => known.go_to(known.text.len()),
            0x06 => known.go_right(),
            0x04 => !is_at_end && known.delete(),
            0x08 | 0x7f => known.rub_out(),
            0x0b => known.kill(known.cursor, known.text.len()),
            0x0c => true,
            0x15 if self.shell == Shell::Zsh => known.kill(0, known.text.len()),
            0x15 => known.kill(0, known.cursor),
            0x17 => known.rub_out_word(),
            _ => false,
        };
        if !is_known {
            self.forget();
        }
    }

    fn escape(&mut self, keys: &[u8]) -> usize {
        if keys.starts_with(PASTE_BEGIN) {
            self.paste = Some(0);
            return PASTE_BEGIN.len();
        }
        match keys.get(1) {
            Some(b'[') => {
                let Some(end) = keys[2..].iter().position(|byte| (0x40..=0x7e).contains(byte)) else {
                    self.forget();
                    return keys.len();
                };
                self.control_sequence(&keys[2..end + 2], keys[end + 2]);
                end + 3
            }
            Some(b'O') if keys.len() > 2 => {
                self.control_sequence(b"", keys[2]);
                3
            }
            // The answer of the terminal to a query: no key.
            Some(b']' | b'P' | b'_') => {
                let Some(end) = keys.iter().position(|byte| matches!(byte, 0x07 | b'\\')) else {
                    self.forget();
                    return keys.len();
                };
                end + 1
            }
            _ => {
                self.forget();
                keys.len().min(2)
            }
        }
    }

    fn control_sequence(&mut self, parameters: &[u8], end: u8) {
        match (parameters, end) {
            (b"" | b"1", b'D') => self.control(0x02),
            (b"" | b"1", b'C') => self.control(0x06),
            (b"" | b"1", b'H') | (b"1" | b"7", b'~') => self.control(0x01),
            (b"" | b"1", b'F') | (b"4" | b"8", b'~') => self.control(0x05),
            (b"3", b'~') => self.control(0x04),
            (b"127", b'u') => self.control(0x7f),
            // The kitty keyboard protocol: Ctrl with a letter.
            ([.., b';', b'5'], b'u') => {
                match std::str::from_utf8(&parameters[..parameters.len() - 2]).map(str::parse) {
                    Ok(Ok(letter @ b'a'..=b'z')) => self.control(letter & 0x1f),
                    _ => self.forget(),
                }
            }
            // Answers of the terminal, and its focus.
            (_, b'c' | b'n' | b't' | b'R' | b'y') | (b"", b'I' | b'O') | ([b'?', ..], b'u') => {}
            _ => self.forget(),
        }
    }

    /// Takes text of a paste, gives its length.
    fn paste(&mut self, mut matched: usize, keys: &[u8]) -> usize {
        for (at, &byte) in keys.iter().enumerate() {
            let before = matched;
            matched = match byte {
                _ if byte == PASTE_END[matched] => matched + 1,
                ESC => 1,
                _ => 0,
            };
            if before >= matched && before > 0 {
                self.forget();
            }
            match (matched, byte) {
                (0, b'\r' | b'\n') => self.letter(b'\n'),
                (0, b'\t' | b' '..=b'~' | 0x80..) => self.letter(byte),
                // Controls in a paste: every line editor has its own way with them.
                (0, _) => self.forget(),
                _ => {}
            }
            if matched == PASTE_END.len() {
                self.paste = None;
                return at + 1;
            }
        }
        self.paste = Some(matched);
        keys.len()
    }
}

/// Each says whether the line is still known.
impl Known {
    fn go_to(&mut self, cursor: usize) -> bool {
        self.cursor = cursor;
        true
    }

    fn go_left(&mut self) -> bool {
        let step = self.text[..self.cursor].chars().next_back().map_or(0, char::len_utf8);
        self.go_to(self.cursor - step)
    }

    fn go_right(&mut self) -> bool {
        let step = self.text[self.cursor..].chars().next().map_or(0, char::len_utf8);
        self.go_to(self.cursor + step)
    }

    fn kill(&mut self, from: usize, to: usize) -> bool {
        self.text.replace_range(from..to, "");
        self.go_to(from)
    }

    fn delete(&mut self) -> bool {
        let letter = self.text[self.cursor..].chars().next();
        letter.is_none_or(|letter| is_one_key(letter) && self.kill(self.cursor, self.cursor + letter.len_utf8()))
    }

    fn rub_out(&mut self) -> bool {
        let letter = self.text[..self.cursor].chars().next_back();
        letter.is_none_or(|letter| is_one_key(letter) && self.kill(self.cursor - letter.len_utf8(), self.cursor))
    }

    /// What a word is the line editors agree on only for letters and digits between blanks.
    fn rub_out_word(&mut self) -> bool {
        let before = self.text[..self.cursor].trim_end_matches(' ');
        let start = before.rfind(' ').map_or(0, |blank| blank + 1);
        before[start..].bytes().all(|byte| byte.is_ascii_alphanumeric()) && self.kill(start, self.cursor)
    }
}

/// Whether every line editor deletes this letter, and only it, with one key: not what may be joined to its neighbours.
fn is_one_key(letter: char) -> bool {
    letter.is_ascii() || unicode_width::UnicodeWidthChar::width(letter).is_some_and(|width| width > 0)
}

#[cfg(test)]
#[path = "typed_tests.rs"]
mod tests;
