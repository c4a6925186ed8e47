//! Decodes keyboard bytes into keys. Pure.

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PromptKey {
    Char(char),
    Enter,
    Escape,
    Interrupt,
    Up,
    Down,
    PageUp,
    PageDown,
    First,
    Last,
    Backspace,
    EraseLine,
    /// Ctrl-D, which ends input.
    EndOfInput,
    Delete,
    /// No key: the terminal has another size.
    Resized,
}

/// The keys in `bytes`, and the number of bytes at the end that begin another key.
pub(super) fn decode(bytes: &[u8]) -> (Vec<PromptKey>, usize) {
    let mut keys = Vec::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let length = match first {
            0x1b => match escape(rest) {
                Some((key, length)) => {
                    keys.extend(key);
                    length
                }
                None => return (keys, rest.len()),
            },
            0x80.. => match letter(rest) {
                Some((letter, length)) => {
                    keys.extend(letter.map(PromptKey::Char));
                    length
                }
                None => return (keys, rest.len()),
            },
            control => {
                keys.extend(plain(control));
                1
            }
        };
        rest = &rest[length..];
    }
    (keys, 0)
}

fn plain(byte: u8) -> Option<PromptKey> {
    Some(match byte {
        b'\r' | b'\n' => PromptKey::Enter,
        0x03 => PromptKey::Interrupt,
        0x04 => PromptKey::EndOfInput,
        0x08 | 0x7f => PromptKey::Backspace,
        0x15 | 0x17 => PromptKey::EraseLine,
        0x0e => PromptKey::Down,
        0x10 => PromptKey::Up,
        b' '..=b'~' => PromptKey::Char(char::from(byte)),
        _ => return None,
    })
}

/// The key of an escape sequence and its length; an unknown sequence is no key. `None` if more bytes may belong to it.
fn escape(bytes: &[u8]) -> Option<(Option<PromptKey>, usize)> {
    let introducer = *bytes.get(1)?;
    if !matches!(introducer, b'[' | b'O') {
        return Some((Some(PromptKey::Escape), 1));
    }
    let last = 2 + bytes.get(2..)?.iter().position(|byte| matches!(byte, b'@'..=b'~'))?;
    let key = match (&bytes[2..last], bytes[last]) {
        (_, b'A') => Some(PromptKey::Up),
        (_, b'B') => Some(PromptKey::Down),
        (_, b'H') | (b"1" | b"7", b'~') => Some(PromptKey::First),
        (_, b'F') | (b"4" | b"8", b'~') => Some(PromptKey::Last),
        (b"3", b'~') => Some(PromptKey::Delete),
        (b"5", b'~') => Some(PromptKey::PageUp),
        (b"6", b'~') => Some(PromptKey::PageDown),
        _ => None,
    };
    Some((key, last + 1))
}

/// The letter at the start and its length in bytes; no letter if it is invalid. `None` if it is incomplete.
fn letter(bytes: &[u8]) -> Option<(Option<char>, usize)> {
    let head = &bytes[..bytes.len().min(4)];
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 => {
            return error.error_len().map(|length| (None, length));
        }
        Err(error) => std::str::from_utf8(&head[..error.valid_up_to()]).unwrap_or_default(),
    };
    let letter = valid.chars().next()?;
    Some((Some(letter).filter(|letter| !letter.is_control()), letter.len_utf8()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn keys_are_what_terminals_send_for_them() {
        let all = |bytes: &str| decode(bytes.as_bytes()).0;
        assert_eq!(
            all("\x1b[A\x1bOB\x1b[5~\x1b[1;5B"),
            [PromptKey::Up, PromptKey::Down, PromptKey::PageUp, PromptKey::Down]
        );
        assert_eq!(
            all("é\r\x7f\x15\x03"),
            [PromptKey::Char('é'), PromptKey::Enter, PromptKey::Backspace, PromptKey::EraseLine, PromptKey::Interrupt]
        );
        assert_eq!(all("\x04\x1b[3~"), [PromptKey::EndOfInput, PromptKey::Delete]);
        assert_eq!(all("\x1bx"), [PromptKey::Escape, PromptKey::Char('x')]);
        assert_eq!(
            all("\x1b[200~ab\x1b[201~"),
            [PromptKey::Char('a'), PromptKey::Char('b')],
            "the marks of a paste are no keys"
        );
    }

    #[test]
    fn what_may_go_on_waits() {
        assert_eq!(decode(b"a\x1b"), (vec![PromptKey::Char('a')], 1));
        assert_eq!(decode(b"\x1b[1"), (vec![], 3));
        assert_eq!(decode(&"é".as_bytes()[..1]), (vec![], 1));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_bytes_are_keys_or_a_beginning(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let (keys, waiting) = decode(&bytes);
            prop_assert!(keys.len() + waiting <= bytes.len());
        }
    }
}
