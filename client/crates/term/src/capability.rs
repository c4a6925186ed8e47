//! Names what terminals understand, by their name in `TERM`, and what stands between them and us. Pure.

use std::borrow::Cow;

/// Starts of the names of terminals that read strings (OSC) and ignore those that they do not know. Others print them as text.
const READS_STRINGS: [&str; 19] = [
    "alacritty",
    "contour",
    "foot",
    "ghostty",
    "gnome",
    "iterm",
    "kitty",
    "konsole",
    "mintty",
    "mlterm",
    "rio",
    "rxvt",
    "screen",
    "st-",
    "tmux",
    "vte",
    "wezterm",
    "xterm",
    "zellij",
];

/// A multiplexer between us and the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Passage {
    /// None, or one that takes the string itself.
    #[default]
    Direct,
    /// tmux, which passes on what is wrapped for it, if its user allows that (`allow-passthrough`), and drops it otherwise.
    Tmux,
    /// GNU screen.
    Screen,
}

/// GNU screen takes strings of at most this many bytes.
const MAX_SCREEN_PIECE_BYTES: usize = 512;

impl Passage {
    /// By the environment: whether `TMUX` and whether `STY` is set.
    #[must_use]
    pub fn detect(is_tmux: bool, is_screen: bool) -> Self {
        match (is_tmux, is_screen) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Direct,
        }
    }

    /// The sequence in the form in which it reaches the terminal.
    #[must_use]
    pub fn wrap(self, sequence: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Self::Direct => Cow::Borrowed(sequence),
            Self::Tmux => {
                let doubled =
                    sequence.iter().flat_map(|&byte| std::iter::repeat_n(byte, 1 + usize::from(byte == 0x1b)));
                Cow::Owned(b"\x1bPtmux;".iter().copied().chain(doubled).chain(*b"\x1b\\").collect())
            }
            Self::Screen => {
                let pieces = sequence.chunks(MAX_SCREEN_PIECE_BYTES);
                Cow::Owned(pieces.flat_map(|piece| [b"\x1bP".as_slice(), piece, b"\x1b\\"].concat()).collect())
            }
        }
    }
}

/// How a terminal shows a notification, next to its bell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notifier {
    /// It does not.
    #[default]
    BellOnly,
    /// By OSC 9, as iTerm2, kitty, WezTerm, Ghostty and foot do.
    Osc9,
    /// By OSC 777, as rxvt and the terminals of VTE do.
    Osc777,
}

impl Notifier {
    /// For the terminal's name, and whether `VTE_VERSION` is set.
    #[must_use]
    pub fn detect(term: &str, is_vte: bool) -> Self {
        match reads_strings(term) {
            false => Self::BellOnly,
            true if is_vte || ["rxvt", "vte", "gnome"].iter().any(|start| term.starts_with(start)) => Self::Osc777,
            true => Self::Osc9,
        }
    }
}

/// Whether a terminal of this name reads strings (OSC), also those that it does not know.
#[must_use]
pub fn reads_strings(term: &str) -> bool {
    let term = term.to_ascii_lowercase();
    READS_STRINGS.iter().any(|start| term.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_known_terminals_get_strings() {
        for term in ["xterm-256color", "tmux-256color", "xterm-kitty", "iTerm.app", "st-256color", "rxvt-unicode"] {
            assert!(reads_strings(term), "{term}");
        }
        for term in ["", "dumb", "linux", "vt100", "vt220", "cons25", "eterm-color", "ansi", "unknown"] {
            assert!(!reads_strings(term), "{term}");
        }
    }

    #[test]
    fn each_terminal_has_its_notification() {
        for (term, is_vte, expected) in [
            ("xterm-256color", false, Notifier::Osc9),
            ("xterm-256color", true, Notifier::Osc777),
            ("rxvt-unicode-256color", false, Notifier::Osc777),
            ("linux", true, Notifier::BellOnly),
            ("", false, Notifier::BellOnly),
        ] {
            assert_eq!(Notifier::detect(term, is_vte), expected, "{term}");
        }
    }

    #[test]
    fn multiplexers_get_the_sequence_wrapped() {
        let wrapped = |passage: Passage| passage.wrap(b"\x1b]9;a\x1b\\").into_owned();
        assert_eq!(wrapped(Passage::detect(false, false)), b"\x1b]9;a\x1b\\");
        assert_eq!(wrapped(Passage::detect(true, true)), b"\x1bPtmux;\x1b\x1b]9;a\x1b\x1b\\\x1b\\");
        let long = [b'x'; MAX_SCREEN_PIECE_BYTES + 1];
        assert_eq!(Passage::Screen.wrap(&long).windows(2).filter(|pair| pair == b"\x1bP").count(), 2);
    }
}
