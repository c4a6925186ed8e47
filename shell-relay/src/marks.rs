//! Finds the shell's private marks in its output. Pure.
//!
//! A mark is `ESC ] 7391 ; <nonce> ; <pid> ; <verb> [; field]* BEL` (or `ESC \` for BEL). Everything else, a mark with another nonce
//! or pid included, is ordinary output and comes out byte for byte.

use std::{ffi::OsString, os::unix::ffi::OsStringExt, path::PathBuf};

use memchr::memchr;

/// A mark longer than this is no mark.
pub const MARK_MAX_BYTES: usize = 64 * 1024;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;

/// A report of the shell, apart from its output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mark {
    /// `B`: the line editor is ready at the primary prompt. Repeated at each repaint.
    PromptReady,
    /// `P`: the line editor waits for the rest of a command.
    Continuation,
    /// `S`: the user's line is put aside, the buffer is empty.
    Stashed {
        /// Characters put aside.
        length: usize,
    },
    /// `X`: the line editor is not at a primary prompt.
    Refused,
    /// `L`: the command with this id has been read from its file.
    Loaded {
        /// The command's id.
        id: String,
    },
    /// `C`: a command starts, the user's or ours.
    Started {
        /// The line, of one that looks like a question. Only fish reports it: there, no key is asked about that was typed ahead.
        line: Option<String>,
    },
    /// `O`: the next byte is the command's own output.
    OutputBegins {
        /// The command's id.
        id: String,
    },
    /// `E`: our command ended.
    Ended(Ended),
    /// `D`: a command ended; an empty id means the user's.
    Finished(Ended),
    /// `Q`: the line in the editor.
    Line(ReportedLine),
    /// `W`: Enter was pressed on a line that the shell accepts by itself.
    AcceptedUnasked,
    /// `R`: bash has begun to report a long line.
    ReportBegins,
    /// `F`: another line editor reads the keys, so the script stays away.
    ForeignEditor {
        /// The editor's name.
        name: String,
    },
    /// `K`: whether Enter is bound to a function of the user's.
    EnterOwner {
        /// Whether it is.
        is_users: bool,
    },
    /// `V`: the meaning of the keys from now on, in fish.
    Letters(Letters),
    /// `N`: Enter was pressed on this line, nothing is accepted yet.
    EnterPressed(ReportedLine),
}

/// The meaning of a letter to the line editor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Letters {
    /// Plain text.
    #[default]
    Text,
    /// A command of vi.
    Commands,
    /// The letter by which vi replaces another one; Enter is one, too.
    Replacement,
}

/// The line in the editor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReportedLine {
    /// Cursor, in characters.
    pub cursor: usize,
    /// The text; absent if too long.
    pub text: Option<String>,
    /// Whether the shell knows the line's first word as a command; absent if it did not report it.
    pub is_command: Option<bool>,
    /// Whether a mode of vi reads the keys.
    pub is_vi: bool,
    /// The cursor is at the end of the whole line, of which `text` may be the beginning. Only bash reports this.
    pub is_at_end: bool,
}

/// The fields of `E` and `D`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The command's id; empty for the user's.
    pub id: String,
    /// Exit status.
    pub status: i32,
    /// Working directory afterwards, any bytes.
    pub cwd: PathBuf,
    /// Whether a job was left stopped.
    pub stopped: bool,
}

/// A piece of what the shell wrote.
#[derive(Debug, PartialEq, Eq)]
pub enum Item<'a> {
    /// Ordinary output.
    Bytes(&'a [u8]),
    /// A mark of our shell.
    Mark(Mark),
}

/// Splits the shell's output into marks and the rest; any chunking gives the same. Holds back at most [`MARK_MAX_BYTES`].
#[derive(Debug, Default)]
pub struct MarkParser {
    prefix: Vec<u8>,
    held: Vec<u8>,
    /// Number of bytes of `held` that were given out as ordinary output and are to be forgotten at the next call.
    given_out: usize,
}

impl MarkParser {
    /// Believes marks with this nonce and this process id only.
    #[must_use]
    pub fn new(nonce: &str, pid: u32) -> Self {
        Self { prefix: format!("\x1b]7391;{nonce};{pid};").into_bytes(), held: Vec::new(), given_out: 0 }
    }

    /// The next piece of `input`, which shrinks from its front; `None` when it is used up.
    pub fn next<'s, 'a: 's>(&'s mut self, input: &mut &'a [u8]) -> Option<Item<'s>> {
        self.held.drain(..std::mem::take(&mut self.given_out));
        if self.held.is_empty() {
            if input.is_empty() {
                return None;
            }
            let start = memchr(ESC, input).unwrap_or(input.len());
            if start > 0 {
                let (plain, rest) = input.split_at(start);
                *input = rest;
                return Some(Item::Bytes(plain));
            }
        }
        while let Some((&byte, rest)) = input.split_first() {
            match self.take(byte) {
                Taken::Held => *input = rest,
                Taken::Mark(mark) => {
                    *input = rest;
                    self.held.clear();
                    return Some(Item::Mark(mark));
                }
                Taken::MalformedMark => {
                    *input = rest;
                    self.given_out = self.held.len();
                    return Some(Item::Bytes(&self.held));
                }
                Taken::NotAMark { keep } => {
                    self.given_out = self.held.len() - keep;
                    return Some(Item::Bytes(&self.held[..self.given_out]));
                }
            }
        }
        None
    }

    /// Ends the stream: held bytes are ordinary output after all.
    pub fn finish(&mut self) -> Vec<u8> {
        self.held.drain(..std::mem::take(&mut self.given_out));
        std::mem::take(&mut self.held)
    }

    fn take(&mut self, byte: u8) -> Taken {
        if let Some(&expected) = self.prefix.get(self.held.len()) {
            if byte != expected {
                return Taken::NotAMark { keep: 0 };
            }
            self.held.push(byte);
            return Taken::Held;
        }
        let after_escape = self.held.last() == Some(&ESC);
        match byte {
            b'\\' if after_escape => self.end(byte, self.held.len() - 1),
            // The escape ends no mark, but it may begin one.
            _ if after_escape => Taken::NotAMark { keep: 1 },
            BEL => self.end(byte, self.held.len()),
            ESC | b' '..=b'~' if self.held.len() < MARK_MAX_BYTES => {
                self.held.push(byte);
                Taken::Held
            }
            _ => Taken::NotAMark { keep: 0 },
        }
    }

    fn end(&mut self, byte: u8, body_end: usize) -> Taken {
        if let Some(mark) = parse(&self.held[self.prefix.len()..body_end]) {
            return Taken::Mark(mark);
        }
        self.held.push(byte);
        Taken::MalformedMark
    }
}

enum Taken {
    Held,
    Mark(Mark),
    /// The mark was held to its end, but is not one of ours.
    MalformedMark,
    /// The held bytes are output, except the last `keep`; the byte at hand has not been used.
    NotAMark {
        keep: usize,
    },
}

fn parse(body: &[u8]) -> Option<Mark> {
    let body = std::str::from_utf8(body).ok()?;
    let mut fields = body.split(';');
    let verb = fields.next()?;
    let fields: Vec<&str> = fields.collect();
    Some(match (verb, fields.as_slice()) {
        ("B", []) => Mark::PromptReady,
        ("P", []) => Mark::Continuation,
        ("C", []) => Mark::Started { line: None },
        ("C", [line]) => Mark::Started { line: Some(String::from_utf8_lossy(&percent_decoded(line)?).into_owned()) },
        ("R", []) => Mark::ReportBegins,
        ("W", []) => Mark::AcceptedUnasked,
        ("F", [name]) => Mark::ForeignEditor { name: (*name).to_owned() },
        ("K", ["1"]) => Mark::EnterOwner { is_users: true },
        ("K", ["0"]) => Mark::EnterOwner { is_users: false },
        ("V", ["0"]) => Mark::Letters(Letters::Text),
        ("V", ["1"]) => Mark::Letters(Letters::Commands),
        ("V", ["2"]) => Mark::Letters(Letters::Replacement),
        ("X", [_]) => Mark::Refused,
        ("S", [length]) => Mark::Stashed { length: length.parse().ok()? },
        ("L", [id]) => Mark::Loaded { id: (*id).to_owned() },
        ("O", [id]) => Mark::OutputBegins { id: (*id).to_owned() },
        ("E", fields) => Mark::Ended(parse_ended(fields)?),
        ("D", fields) => Mark::Finished(parse_ended(fields)?),
        ("Q", fields) => Mark::Line(parse_line(fields)?),
        ("N", fields) => Mark::EnterPressed(parse_line(fields)?),
        _ => return None,
    })
}

fn parse_ended(fields: &[&str]) -> Option<Ended> {
    let (id, status, cwd, stopped) = match fields {
        [id, status, cwd] => (id, status, cwd, false),
        [id, status, cwd, "stopped"] => (id, status, cwd, true),
        _ => return None,
    };
    let cwd = PathBuf::from(OsString::from_vec(percent_decoded(cwd)?));
    Some(Ended { id: (*id).to_owned(), status: status.parse().ok()?, cwd, stopped })
}

fn parse_line(fields: &[&str]) -> Option<ReportedLine> {
    let (fields, is_vi) = without_last(fields, "vi");
    let (fields, is_at_end) = without_last(fields, "end");
    let (cursor, text, is_command) = match fields {
        [cursor] => (cursor, None, None),
        [cursor, text] => (cursor, Some(text), None),
        [cursor, text, "0"] => (cursor, Some(text), Some(false)),
        [cursor, text, "1"] => (cursor, Some(text), Some(true)),
        _ => return None,
    };
    let text = match text {
        Some(text) => Some(String::from_utf8_lossy(&percent_decoded(text)?).into_owned()),
        None => None,
    };
    Some(ReportedLine { cursor: cursor.parse().ok()?, text, is_command, is_vi, is_at_end })
}

/// The fields without `last`, and whether it was there.
fn without_last<'a, 'b>(fields: &'a [&'b str], last: &str) -> (&'a [&'b str], bool) {
    match fields {
        [fields @ .., field] if *field == last => (fields, true),
        fields => (fields, false),
    }
}

fn percent_decoded(field: &str) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(field.len());
    let mut bytes = field.bytes();
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let high = char::from(bytes.next()?).to_digit(16)?;
            let low = char::from(bytes.next()?).to_digit(16)?;
            decoded.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            decoded.push(byte);
        }
    }
    Some(decoded)
}

#[cfg(test)]
#[path = "marks_tests.rs"]
mod tests;
