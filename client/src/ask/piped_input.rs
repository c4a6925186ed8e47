//! Text piped into `cohab ask`: head and tail of it, the middle counted.

use std::{
    collections::VecDeque,
    io::{self, IsTerminal, Read},
};

use cohab_protocol::MAX_PIPED_INPUT_BYTES;

/// Room for the line that says how much was left out.
const NOTE_BYTES: usize = 64;
/// How much of each end is kept.
const HALF_BYTES: usize = (MAX_PIPED_INPUT_BYTES - NOTE_BYTES) / 2;

/// More is not read: a program that writes without end, like `yes`, gets a broken pipe.
const MAX_READ_BYTES: usize = 512 * 1024 * 1024;

/// What standard input holds, unless it is a terminal. Invalid UTF-8 is replaced.
pub(super) fn read() -> io::Result<Option<String>> {
    if io::stdin().is_terminal() {
        return Ok(None);
    }
    let text = read_ends(io::stdin().lock(), HALF_BYTES, MAX_READ_BYTES)?;
    Ok((!text.trim().is_empty()).then_some(text))
}

/// Reads to the end, or `max_bytes`, in bounded memory and keeps at most `half_bytes` of the beginning and of the end.
fn read_ends(mut input: impl Read, half_bytes: usize, max_bytes: usize) -> io::Result<String> {
    let mut head = Vec::new();
    input.by_ref().take(half_bytes as u64).read_to_end(&mut head)?;
    let mut tail: VecDeque<u8> = VecDeque::new();
    let mut left_out = 0;
    let mut buffer = [0; 64 * 1024];
    loop {
        let count = match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        tail.extend(&buffer[..count]);
        let excess = tail.len().saturating_sub(half_bytes);
        tail.drain(..excess);
        left_out += excess;
        if left_out >= max_bytes {
            break;
        }
    }
    if left_out > 0 {
        let rest = if left_out >= max_bytes { "; the rest was not read" } else { "" };
        head.extend_from_slice(format!("\n[{left_out} bytes left out{rest}]\n").as_bytes());
    }
    head.extend(tail);
    Ok(String::from_utf8_lossy(&head).into_owned())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn short_input_is_kept_whole() {
        assert_eq!(read_ends(&b"abc"[..], 10, 100).unwrap(), "abc");
        assert_eq!(read_ends(&b"0123456789abcdefghij"[..], 10, 100).unwrap(), "0123456789abcdefghij");
    }

    #[test]
    fn the_middle_of_long_input_is_counted() {
        assert_eq!(read_ends(&b"0123456789"[..], 3, 100).unwrap(), "012\n[4 bytes left out]\n789");
    }

    #[test]
    fn input_without_end_is_not_awaited() {
        let text = read_ends(io::repeat(b'y'), 3, 1000).unwrap();
        assert!(text.starts_with("yyy\n[") && text.ends_with("the rest was not read]\nyyy"), "{text}");
    }

    proptest! {
        #[test]
        fn any_bytes_become_bounded_text(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
            let text = read_ends(&bytes[..], 50, 1000).unwrap();
            // A replaced byte takes three.
            prop_assert!(text.len() <= 300 + NOTE_BYTES);
        }
    }
}
