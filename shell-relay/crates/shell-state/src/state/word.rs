//! Reads words that a shell has quoted for its own input. Pure.

/// Reads a word; returns it and the rest. The word ends before a blank, a line end or the end of the text. `None` if a quote is not
/// closed or an escape is unknown.
pub(super) fn word(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    loop {
        text = match text {
            [] | [b' ' | b'\n', ..] => return Some((word, text)),
            [b'\'', rest @ ..] => single_quoted(rest, &mut word)?,
            [b'"', rest @ ..] => double_quoted(rest, &mut word)?,
            [b'$', b'\'', rest @ ..] => ansi_quoted(rest, &mut word)?,
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
        };
    }
}

fn single_quoted<'a>(text: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    let end = memchr::memchr(b'\'', text)?;
    word.extend_from_slice(&text[..end]);
    Some(&text[end + 1..])
}

fn double_quoted<'a>(mut text: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        match text {
            [b'"', rest @ ..] => return Some(rest),
            [b'\\', byte, rest @ ..] | [byte, rest @ ..] => {
                word.push(*byte);
                text = rest;
            }
            [] => return None,
        }
    }
}

fn ansi_quoted<'a>(mut text: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        text = match text {
            [b'\'', rest @ ..] => return Some(rest),
            [b'\\', rest @ ..] => {
                let (byte, rest) = ansi_escape(rest)?;
                word.push(byte);
                rest
            }
            [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
            [] => return None,
        };
    }
}

/// bash's escapes after a backslash within `$'...'`.
fn ansi_escape(text: &[u8]) -> Option<(u8, &[u8])> {
    Some(match text {
        [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
            ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), rest)
        }
        [letter, rest @ ..] => (letter_escape(*letter)?, rest),
        [] => return None,
    })
}

fn letter_escape(letter: u8) -> Option<u8> {
    Some(match letter {
        b'E' | b'e' => 0x1b,
        b'a' => 0x07,
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 0x0b,
        b'0' => 0,
        b'\\' | b'\'' | b'"' | b'?' => letter,
        _ => return None,
    })
}

/// The same for fish, which writes `\Xff` for bytes and other escapes outside of quotes only.
pub(super) fn fish_word(mut text: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut word = Vec::new();
    loop {
        text = match text {
            [] | [b' ' | b'\n', ..] => return Some((word, text)),
            [quote @ (b'\'' | b'"'), rest @ ..] => fish_quoted(*quote, rest, &mut word)?,
            [b'\\', b'x' | b'X', a, b, rest @ ..] => {
                let digits = [*a, *b];
                word.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
                rest
            }
            [b'\\', b'c', byte @ b'a'..=b'z', rest @ ..] => {
                word.push(byte & 0x1f);
                rest
            }
            // Letters have a meaning; every other character stands for itself.
            [b'\\', byte, rest @ ..] => {
                word.push(if byte.is_ascii_alphanumeric() { letter_escape(*byte)? } else { *byte });
                rest
            }
            [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
        };
    }
}

fn fish_quoted<'a>(quote: u8, mut text: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        text = match text {
            [byte, rest @ ..] if *byte == quote => return Some(rest),
            [b'\\', byte, rest @ ..] if *byte == b'\\' || *byte == quote => {
                word.push(*byte);
                rest
            }
            [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
            [] => return None,
        };
    }
}
