//! Builds desktop notifications (OSC 9). Pure.

use cohab_text::sanitize;

/// Longest text of a notification, in characters.
const MAX_CHARS: usize = 120;

/// For the terminal: a notification (OSC 9) where it knows them, and its bell. The text may be anybody's.
#[must_use]
pub fn notification(text: &str) -> Vec<u8> {
    // The name first also keeps a text that begins like `4;1` from meaning something else: a bar of progress.
    format!("\x1b]9;cohab: {}\x07\x07", sanitize::one_line(text, MAX_CHARS)).into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_sequence_and_a_bell_whatever_it_says() {
        for text in ["answered: why", "4;1", "a\x07b\x1b]52;c;aGk=\x07", "\u{9c}\u{9d}\r\n\u{202e}x", "", "\0"] {
            let bytes = String::from_utf8(notification(text)).expect("it is text");
            let inner = bytes.strip_prefix("\x1b]9;cohab: ").and_then(|rest| rest.strip_suffix("\x07\x07"));
            let inner = inner.unwrap_or_else(|| panic!("{bytes:?}"));
            assert!(!inner.chars().any(char::is_control), "{inner:?}");
        }
        assert_eq!(notification("answered: why"), b"\x1b]9;cohab: answered: why\x07\x07");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert!(notification(&"x".repeat(10_000)).len() < 4 * MAX_CHARS);
    }
}
