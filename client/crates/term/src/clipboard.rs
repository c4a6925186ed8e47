//! Text for the system's clipboard, by way of the terminal (OSC 52). Only ever on an explicit action of the user's: nothing that
//! a model or a program says may lead here.

use crate::capability::Passage;

/// Largest text that is sent, in bytes: as base64 with its frame it stays below the 100,000 bytes that terminals take.
pub const MAX_CLIPBOARD_BYTES: usize = 74_994;

const BASE64: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Why text cannot be copied.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClipboardError {
    /// There is no text.
    #[error("there is nothing to copy")]
    Empty,
    /// More than terminals take; they would drop it, or keep its beginning.
    #[error("{bytes} bytes are too much for the terminal's clipboard, which takes {MAX_CLIPBOARD_BYTES}")]
    TooLong {
        /// How long it is.
        bytes: usize,
    },
}

/// The bytes that put `text` on the clipboard. They hold nothing of the text but base64, so it cannot break out of them.
///
/// # Errors
/// If the text is empty or longer than [`MAX_CLIPBOARD_BYTES`].
pub fn copy_sequence(text: &str, passage: Passage) -> Result<Vec<u8>, ClipboardError> {
    match text.len() {
        0 => return Err(ClipboardError::Empty),
        bytes if bytes > MAX_CLIPBOARD_BYTES => return Err(ClipboardError::TooLong { bytes }),
        _ => {}
    }
    let sequence = [b"\x1b]52;c;".as_slice(), &base64(text.as_bytes()), b"\x07"].concat();
    Ok(passage.wrap(&sequence).into_owned())
}

fn base64(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let value =
            (0..3).fold(0usize, |value, index| value << 8 | usize::from(group.get(index).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_padding = digit > group.len();
            out.push(if is_padding { b'=' } else { BASE64[value >> (18 - 6 * digit) & 0x3f] });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_goes_as_base64() {
        for (text, encoded) in [("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy"), ("é\n", "w6kK")]
        {
            let sequence = copy_sequence(text, Passage::Direct).expect("short");
            assert_eq!(String::from_utf8(sequence).expect("ASCII"), format!("\x1b]52;c;{encoded}\x07"));
        }
    }

    #[test]
    fn what_terminals_would_drop_is_not_sent() {
        assert_eq!(copy_sequence("", Passage::Direct), Err(ClipboardError::Empty));
        let largest = "x".repeat(MAX_CLIPBOARD_BYTES);
        let sequence = copy_sequence(&largest, Passage::Direct).expect("it just fits");
        assert!(sequence.len() <= 100_000, "{}", sequence.len());
        let bytes = MAX_CLIPBOARD_BYTES + 1;
        assert_eq!(copy_sequence(&(largest + "x"), Passage::Direct), Err(ClipboardError::TooLong { bytes }));
    }

    #[test]
    fn multiplexers_get_it_in_their_wrapping() {
        let tmux = copy_sequence("f", Passage::Tmux).expect("short");
        assert_eq!(tmux, b"\x1bPtmux;\x1b\x1b]52;c;Zg==\x07\x1b\\");
        let screen = copy_sequence(&"f".repeat(3_000), Passage::Screen).expect("short");
        let longest = screen.split(|&byte| byte == b'\\').map(<[u8]>::len).max();
        assert!(longest.is_some_and(|longest| longest <= 512 + 3), "{longest:?}");
    }

    proptest! {
        #[test]
        fn no_text_breaks_out_of_the_sequence(text in any::<String>().prop_filter("not empty", |text| !text.is_empty())) {
            let sequence = copy_sequence(&text, Passage::Direct).expect("short");
            let payload = &sequence[7..sequence.len() - 1];
            prop_assert!(payload.iter().all(|byte| BASE64.contains(byte) || *byte == b'='));
            prop_assert_eq!(payload.len(), text.len().div_ceil(3) * 4);
        }
    }
}
