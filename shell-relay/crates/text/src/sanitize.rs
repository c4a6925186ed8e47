//! Turns untrusted text into harmless text. Pure.
//!
//! [`sanitize`] judges each character without its neighbours. So clean text stays clean when it is cut, joined or cleaned again, and
//! two names that look alike are equal. [`sanitize_prose`] is for sentences that a person reads: it keeps the joiners and variation
//! selectors that spelling and emoji need, which `joiners` decides by the neighbours.

mod joiners;

use std::fmt::Write as _;

use unicode_width::UnicodeWidthChar;

use self::joiners::Joiners;

/// Longest escape sequence; a longer one ends there, and text follows again.
pub const MAX_SEQUENCE_BYTES: usize = 4096;

/// Text without width (accents upon accents) beyond this many bytes a column is cut from titles.
const MAX_BYTES_PER_COLUMN: usize = 16;

/// Escapes characters that JSON permits in a string but a terminal would obey or hide. `json` keeps its value.
#[must_use]
pub fn escaped_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if c.is_control() || is_invisible(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Removes everything from `text` that a terminal would obey or hide: escape sequences with their payload, C0 except TAB and LF,
/// DEL, C1, bidi controls, zero-width and tag characters.
#[must_use]
pub fn sanitize(text: &str) -> String {
    let mut sanitizer = Sanitizer::default();
    let mut out = sanitizer.push(text);
    out.push_str(&sanitizer.finish());
    out
}

/// As [`sanitize`], but keeps joiners and variation selectors in their usual places: for answers and questions, never for commands and
/// names.
///
/// ```
/// use cohab_text::sanitize::{sanitize, sanitize_prose};
/// assert_eq!(sanitize_prose("می\u{200c}خواهم r\u{200d}m"), "می\u{200c}خواهم rm");
/// assert_eq!(sanitize("می\u{200c}خواهم r\u{200d}m"), "میخواهم rm");
/// ```
#[must_use]
pub fn sanitize_prose(text: &str) -> String {
    let mut sanitizer = Sanitizer::for_prose();
    let mut out = sanitizer.push(text);
    out.push_str(&sanitizer.finish());
    out
}

/// Clean text on one line of at most `max_columns` terminal columns, for titles and step lines: each LF and TAB becomes a space; a longer
/// text is cut and ends with `…`.
#[must_use]
pub fn one_line(text: &str, max_columns: usize) -> String {
    let mut clean = sanitize(text).replace(['\n', '\t'], " ");
    let mut columns = 0;
    let mut fitting_bytes = 0;
    for (start, c) in clean.char_indices() {
        columns += c.width().unwrap_or(0);
        if columns > max_columns || start >= max_columns.saturating_mul(MAX_BYTES_PER_COLUMN) {
            clean.truncate(fitting_bytes);
            if max_columns > 0 {
                clean.push('…');
            }
            return clean;
        }
        // One column is kept free for the mark of the cut.
        if columns < max_columns {
            fitting_bytes = start + c.len_utf8();
        }
    }
    clean
}

/// Formats a command for an approval: nothing is dropped, and characters that a person cannot see or could mistake are shown as
/// `\u{hex}`. LF stays a line break. Beyond ASCII only letters that look like no ASCII character stay.
#[must_use]
pub fn visible_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\n' | ' '..='~') || is_unmistakable_letter(c) {
            out.push(c);
        } else {
            write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a String never fails");
        }
    }
    out
}

/// Letters beyond ASCII that no reader takes for an ASCII character.
fn is_unmistakable_letter(c: char) -> bool {
    match c {
        '×' | '÷' => false,
        // Strokes and boxes that look like `- | ' / o`.
        '一' | '丨' | '丶' | '丿' | '口' | '囗' => false,
        // Kana that look like `/ = - . o | ,`.
        'へ' | 'べ' | 'ぺ' | 'く' | 'し' | 'ノ' | 'ニ' | 'ハ' | 'ロ' | 'エ' | 'ソ' | 'ン' | 'ト' | 'ヘ' | 'ミ' => {
            false
        }
        '\u{c0}'..='\u{ff}' => true,
        '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' => true,
        '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => true,
        _ => false,
    }
}

/// Whether a character is invisible but changes the display, or carries hidden text.
#[must_use]
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Counts the characters of `text` that could carry invisible words, or turn the order of others: all invisible ones except a mark at its
/// beginning, soft hyphens, and the parts of emoji.
#[must_use]
pub fn hidden_chars(text: &str) -> usize {
    let is_usual = |c: &char| matches!(c, '\u{ad}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}');
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.chars().filter(|c| is_invisible(*c) && !is_usual(c)).count()
}

/// The note for a model in place of this many hidden characters; `None` if there were none.
#[must_use]
pub fn note_of_hidden(count: usize) -> Option<String> {
    let what = match count {
        0 => return None,
        1 => "1 character that nobody can see was".to_owned(),
        count => format!("{count} characters that nobody can see were"),
    };
    Some(format!("[{what} taken out of this text]"))
}

/// The same for text that comes in pieces: any chunking gives the same result as the whole.
#[derive(Debug, Default)]
pub struct Sanitizer {
    state: State,
    /// Bytes of the open escape sequence so far.
    sequence_bytes: usize,
    /// Set for prose.
    joiners: Option<Joiners>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    /// After ESC.
    Escape,
    /// After ESC and an intermediate character: the next final character ends it.
    EscapeIntermediate,
    /// In `ESC [ ...`.
    Control,
    /// In OSC, DCS, APC, PM or SOS.
    Payload {
        /// Whether BEL ends it, as it does OSC.
        ends_at_bell: bool,
    },
    /// After ESC in a payload: `\` ends it, any other byte begins a separate sequence.
    PayloadEscape,
}

impl Sanitizer {
    /// A sanitizer that works as [`sanitize_prose`].
    #[must_use]
    pub fn for_prose() -> Self {
        Self { joiners: Some(Joiners::default()), ..Self::default() }
    }

    /// Takes a piece, returns the text that is surely harmless by now.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::with_capacity(piece.len());
        let mut rest = piece;
        while let Some(first) = rest.chars().next() {
            if self.state == State::Text {
                let plain_bytes = rest.bytes().position(|byte| IS_SUSPECT[usize::from(byte)]).unwrap_or(rest.len());
                let (plain, suspect) = rest.split_at(plain_bytes);
                self.keep(plain, &mut out);
                let Some(c) = suspect.chars().next() else { break };
                rest = &suspect[c.len_utf8()..];
                self.take_in_text(c, &mut out);
            } else {
                rest = &rest[first.len_utf8()..];
                self.take_in_sequence(first, &mut out);
            }
        }
        out
    }

    /// Ends the text; an unterminated sequence is dropped. The next piece begins a new text.
    pub fn finish(&mut self) -> String {
        *self = if self.joiners.is_some() { Self::for_prose() } else { Self::default() };
        String::new()
    }

    fn keep(&mut self, text: &str, out: &mut String) {
        if let Some(joiners) = &mut self.joiners {
            joiners.text(text, out);
        }
        out.push_str(text);
    }

    fn keep_char(&mut self, c: char, out: &mut String) {
        self.keep(c.encode_utf8(&mut [0; 4]), out);
    }

    fn take_in_text(&mut self, c: char, out: &mut String) {
        match c {
            '\u{1b}' => self.open(State::Escape),
            '\u{9b}' => self.open(State::Control),
            '\u{9d}' => self.open(State::Payload { ends_at_bell: true }),
            '\u{90}' | '\u{98}' | '\u{9e}' | '\u{9f}' => self.open(State::Payload { ends_at_bell: false }),
            '\u{2028}' | '\u{2029}' => self.keep_char('\n', out),
            '\t' | '\n' => self.keep_char(c, out),
            c if c.is_control() || is_invisible(c) => {
                if let Some(joiners) = &mut self.joiners {
                    joiners.invisible(c, out);
                }
            }
            c => self.keep_char(c, out),
        }
    }

    fn take_in_sequence(&mut self, c: char, out: &mut String) {
        self.sequence_bytes += c.len_utf8();
        if self.sequence_bytes > MAX_SEQUENCE_BYTES {
            self.state = State::Text;
            return self.take_in_text(c, out);
        }
        match (self.state, c) {
            (_, '\u{18}' | '\u{1a}' | '\u{9c}') => self.state = State::Text,
            (State::Payload { ends_at_bell: true }, '\u{7}') => self.state = State::Text,
            (State::Payload { .. }, '\u{1b}') => self.state = State::PayloadEscape,
            (State::Payload { .. }, _) | (State::Text, _) => {}
            (State::PayloadEscape, '\\') => self.state = State::Text,
            (State::PayloadEscape, _) => {
                self.open(State::Escape);
                self.take_after_escape(c, out);
            }
            (State::Escape, _) => self.take_after_escape(c, out),
            (State::EscapeIntermediate, ' '..='/') | (State::Control, ' '..='?') => {}
            (State::EscapeIntermediate, '0'..='~') | (State::Control, '@'..='~') => self.state = State::Text,
            (State::EscapeIntermediate | State::Control, _) => self.interrupt(c, out),
        }
    }

    fn take_after_escape(&mut self, c: char, out: &mut String) {
        match c {
            '[' => self.state = State::Control,
            ']' => self.state = State::Payload { ends_at_bell: true },
            'P' | 'X' | '^' | '_' => self.state = State::Payload { ends_at_bell: false },
            ' '..='/' => self.state = State::EscapeIntermediate,
            '0'..='~' => self.state = State::Text,
            _ => self.interrupt(c, out),
        }
    }

    /// Ends a sequence at a character that has no place in it; the character counts as text, so that no text is swallowed.
    fn interrupt(&mut self, c: char, out: &mut String) {
        self.state = State::Text;
        self.take_in_text(c, out);
    }

    fn open(&mut self, state: State) {
        self.state = state;
        self.sequence_bytes = 0;
    }
}

/// First bytes of characters that may not be plain text, so that plain runs are copied at once.
static IS_SUSPECT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = byte != b'\t' as usize && byte != b'\n' as usize;
        byte += 1;
    }
    let suspects = [0x7f, 0xc2, 0xcd, 0xd8, 0xe1, 0xe2, 0xe3, 0xef, 0xf0, 0xf3];
    let mut next = 0;
    while next < suspects.len() {
        table[suspects[next]] = true;
        next += 1;
    }
    table
};

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;
