//! Builds desktop notifications (OSC 9, OSC 777). Pure.

use cohab_text::sanitize;

use crate::capability::{Notifier, Passage};

/// Longest text of a notification, in characters.
const MAX_CHARS: usize = 120;

/// For the terminal: a notification in the form that it knows, and its bell. The text may be anybody's.
#[must_use]
pub fn notification(text: &str, notifier: Notifier, passage: Passage) -> Vec<u8> {
    let text = sanitize::one_line(text, MAX_CHARS);
    let sequence = match notifier {
        Notifier::BellOnly => String::new(),
        // The name first also keeps a text that begins like `4;1` from meaning something else: a bar of progress.
        Notifier::Osc9 => format!("\x1b]9;cohab: {text}\x07"),
        Notifier::Osc777 => format!("\x1b]777;notify;cohab;{text}\x07"),
    };
    let mut bytes = if sequence.is_empty() { Vec::new() } else { passage.wrap(sequence.as_bytes()).into_owned() };
    // A multiplexer marks the window by the bell.
    bytes.push(0x07);
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_is_one_sequence_and_a_bell_whatever_it_says() {
        for (notifier, begin) in [(Notifier::Osc9, "\x1b]9;cohab: "), (Notifier::Osc777, "\x1b]777;notify;cohab;")] {
            for text in ["answered: why", "4;1", "a\x07b\x1b]52;c;aGk=\x07", "\u{9c}\u{9d}\r\n\u{202e}x", "", "\0"] {
                let bytes = String::from_utf8(notification(text, notifier, Passage::Direct)).expect("it is text");
                let inner = bytes.strip_prefix(begin).and_then(|rest| rest.strip_suffix("\x07\x07"));
                let inner = inner.unwrap_or_else(|| panic!("{bytes:?}"));
                assert!(!inner.chars().any(char::is_control), "{inner:?}");
            }
        }
        let plain = notification("answered: why", Notifier::Osc9, Passage::Direct);
        assert_eq!(plain, b"\x1b]9;cohab: answered: why\x07\x07");
    }

    #[test]
    fn a_terminal_that_would_print_it_gets_the_bell_alone() {
        for passage in [Passage::Direct, Passage::Tmux, Passage::Screen] {
            assert_eq!(notification("answered: why", Notifier::BellOnly, passage), b"\x07");
        }
    }

    #[test]
    fn in_tmux_the_bell_stays_outside_of_the_wrapping() {
        let bytes = notification("done", Notifier::Osc9, Passage::Tmux);
        assert_eq!(bytes, b"\x1bPtmux;\x1b\x1b]9;cohab: done\x07\x1b\\\x07");
    }

    #[test]
    fn a_long_text_is_cut() {
        assert!(notification(&"x".repeat(10_000), Notifier::Osc9, Passage::Direct).len() < 4 * MAX_CHARS);
    }
}
