//! Finds private keys, from their first line to their last. Pure.

/// Longest block, in bytes; the rest of a longer one is dropped as long as it looks like one.
pub const MOST_BLOCK_BYTES: usize = 64 * 1024;
/// Longest line that begins or ends a key, in bytes.
const MOST_MARK_BYTES: usize = 80;
/// Least length of base64 without an end line that counts as a key that was cut, in bytes.
const LEAST_CUT_KEY: usize = 48;
/// Length of a piece of a key, except for the last line, in bytes.
const FULL_PIECE: usize = 24;

/// A key whose end is not known yet.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) start: usize,
    pub(super) kind: &'static str,
    pub(super) order: usize,
    is_putty: bool,
    /// The bytes before this place were examined.
    at: usize,
    /// Base64 seen so far, in bytes, and the end of the last of it.
    base64: usize,
    base64_end: usize,
    short_pieces: usize,
    in_header: bool,
}

/// The known end of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// More bytes have to come first.
    Unknown,
    /// The block is no key.
    None,
    /// The block ends before this offset.
    At(usize),
    /// The block is longer than the bound.
    TooLong(usize),
}

impl Block {
    /// A block that begins with the literal at `start`, if the line continues as required. `bytes` reaches behind that line or to the end
    /// of the stream.
    pub(super) fn begin(bytes: &[u8], start: usize, kind: &'static str, order: usize) -> Option<Self> {
        let line = &bytes[start..bytes.len().min(start + MOST_MARK_BYTES)];
        let is_putty = !line.starts_with(b"-----");
        let head = if is_putty {
            let digits =
                line.iter().skip(b"Private-Lines:".len()).take_while(|byte| byte.is_ascii_digit() || **byte == b' ');
            b"Private-Lines:".len() + digits.count()
        } else {
            let end = memchr::memmem::find(&line[5..], b"-----")? + 5;
            let name = &line[5..end];
            let is_private = name.starts_with(b"BEGIN ")
                && (name.ends_with(b"PRIVATE KEY") || name.ends_with(b"PRIVATE KEY BLOCK"))
                && name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b' ');
            is_private.then_some(end + 5)?
        };
        // A putty file describes its lines in front of them: only the lines are secret.
        let at = start + head;
        let start = if is_putty { at } else { start };
        Some(Self { start, kind, order, is_putty, at, base64: 0, base64_end: at, short_pieces: 0, in_header: false })
    }

    /// The buffer lost its first `bytes`.
    pub(super) fn shift(&mut self, bytes: usize) {
        self.start -= bytes;
        self.at -= bytes;
        self.base64_end -= bytes;
    }

    /// Examines the bytes since the last time. `is_end` if nothing will come behind `bytes`.
    pub(super) fn look(&mut self, bytes: &[u8], is_end: bool) -> Ending {
        loop {
            if self.at >= self.start + MOST_BLOCK_BYTES {
                return Ending::TooLong(self.start + MOST_BLOCK_BYTES);
            }
            let rest = &bytes[self.at..];
            let piece = rest.iter().position(|byte| is_between(*byte)).unwrap_or(rest.len());
            // The kind of a piece depends on the bytes behind it; a piece of unlimited length is no key.
            if !is_end && rest.len() < (piece + 2).min(MOST_BLOCK_BYTES) {
                return Ending::Unknown;
            }
            if piece == 0 {
                if rest.is_empty() {
                    return self.cut();
                }
                self.step_over(rest);
                continue;
            }
            if let Some(ending) = self.take(&rest[..piece], rest) {
                if ending == Ending::Unknown && is_end {
                    return self.cut();
                }
                return ending;
            }
            self.at += piece;
        }
    }

    fn step_over(&mut self, rest: &[u8]) {
        let is_line_end = rest[0] == b'\n' || rest.starts_with(b"\\n") || rest.starts_with(b"\\r");
        self.in_header &= !is_line_end;
        self.at +=
            if rest[0] == b'\\' && matches!(rest.get(1), Some(b'n' | b'r' | b't' | b'/' | b'"')) { 2 } else { 1 };
    }

    /// Judges a piece between blanks and the like.
    fn take(&mut self, piece: &[u8], rest: &[u8]) -> Option<Ending> {
        if self.in_header {
            return None;
        }
        let place = place_of(piece);
        let (piece, rest) = (&piece[place..], &rest[place..]);
        if piece.is_empty() {
            return None;
        }
        self.look_into(piece, rest, self.at + place)
    }

    /// Judges a piece at `at` without the place in front of it.
    fn look_into(&mut self, piece: &[u8], rest: &[u8], at: usize) -> Option<Ending> {
        if self.is_putty && piece.starts_with(b"Private-MAC:") {
            return Some(Ending::At(self.base64_end));
        }
        if piece.starts_with(b"-----END") {
            let line = &rest[..rest.len().min(MOST_MARK_BYTES)];
            let Some(end) = line.get(8..).and_then(|name| memchr::memmem::find(name, b"-----")) else {
                return Some(if rest.len() < MOST_MARK_BYTES { Ending::Unknown } else { self.cut() });
            };
            return Some(if self.base64 == 0 { Ending::None } else { Ending::At(at + 8 + end + 5) });
        }
        if self.base64 == 0 && piece.ends_with(b":") {
            self.in_header = true;
            return None;
        }
        let is_base64 = piece.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+/=-".contains(byte));
        let is_short = piece.len() < FULL_PIECE;
        self.short_pieces = if is_short { self.short_pieces + 1 } else { 0 };
        // Marks before the lines of a quotation or a difference are short, too, but one by one.
        if !is_base64 || self.short_pieces > 2 {
            return Some(self.cut());
        }
        self.base64 += piece.len();
        self.base64_end = at + piece.len();
        None
    }

    fn cut(&self) -> Ending {
        if self.base64 >= LEAST_CUT_KEY { Ending::At(self.base64_end) } else { Ending::None }
    }
}

/// The length of the prefix of a piece that names the place of its line, as a search writes it: `file:12:`, `12:`, `file-12-`, `file:`.
fn place_of(piece: &[u8]) -> usize {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    if let Some(at) = memchr::memrchr(b':', piece) {
        let before = piece[..at].rsplit(|byte| *byte == b':').next().unwrap_or_default();
        // A header of the key has a name in front of the sign, and blanks behind it.
        return if at + 1 < piece.len() || is_number(before) { at + 1 } else { 0 };
    }
    let dashes = memchr::memchr_iter(b'-', piece).collect::<Vec<_>>();
    let numbered = dashes.windows(2).find(|pair| is_number(&piece[pair[0] + 1..pair[1]]));
    let is_path = |head: &[u8]| head.iter().any(|byte| b"./_".contains(byte));
    numbered.filter(|pair| is_path(&piece[..pair[0]])).map_or(0, |pair| pair[1] + 1)
}

/// Whether a byte stands between the pieces of a key: blanks, ends of lines, and signs added by quoting.
fn is_between(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\\\"'`,>|*#;()".contains(&byte)
}

/// Whether `byte` could belong to a block that was longer than the bound.
pub(super) fn is_of_block(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte.is_ascii_whitespace() || b"+/=\\".contains(&byte)
}
