//! What of the shell's output reaches the terminal while it is not simply passed. Pure.

use super::{
    directory::DirectoryReport,
    sequences::{Piece, SequenceScanner},
};

/// Lets nothing through but changes of the editor's modes: bracketed paste, cursor, kitty keyboard, keypad.
#[derive(Debug, Default)]
pub(super) struct HideFilter {
    scanner: SequenceScanner,
}

impl HideFilter {
    /// What is hidden goes to `hidden`, if anybody wants it.
    pub fn push(&mut self, bytes: &[u8], out: &mut Vec<u8>, mut hidden: Option<&mut Vec<u8>>) {
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            match piece {
                Piece::Sequence(sequence) if is_mode_change(sequence) && !distorts_later_text(sequence) => {
                    out.extend_from_slice(sequence);
                }
                Piece::Text(bytes) | Piece::Sequence(bytes) | Piece::String(bytes) | Piece::Control(bytes) => {
                    if let Some(hidden) = &mut hidden {
                        hidden.extend_from_slice(bytes);
                    }
                }
            }
        }
    }
}

fn is_mode_change(sequence: &[u8]) -> bool {
    match sequence {
        b"\x1b=" | b"\x1b>" => true,
        [0x1b, b'[', b'?' | b'>' | b'<' | b'=', numbers @ .., b'h' | b'l' | b'u' | b'm' | b'p' | b'q'] => {
            numbers.iter().all(|byte| byte.is_ascii_digit() || *byte == b';')
        }
        _ => false,
    }
}

/// Takes what could answer, forge or smuggle out of an agent's command's output: strings (OSC, DCS, APC, PM, SOS), requests that
/// make the terminal type an answer, C1 controls, and what would change how later text looks or where it lands and is not undone
/// afterwards. Text, colours, cursor movements and tracked mode changes pass. A program that reads single keys itself (`raw`) may
/// ask: it is the one that reads the answers; one that the user is typing into gets everything.
#[derive(Debug, Default)]
pub(super) struct GuardFilter {
    scanner: SequenceScanner,
    /// What of the dropped strings may pass later.
    pub dropped: DirectoryReport,
}

impl GuardFilter {
    /// `raw` is asked at most once, and only if something would be dropped; `in_use` says whether the user types into the program.
    pub fn push(&mut self, bytes: &[u8], in_use: bool, raw: impl Fn() -> bool, out: &mut Vec<u8>) {
        let mut known_raw = None;
        let mut rest = bytes;
        while let Some(piece) = self.scanner.next(&mut rest) {
            let string = matches!(piece, Piece::String(_));
            let (piece, harmless, may_pass) = match piece {
                Piece::Text(text) => (text, true, true),
                Piece::Sequence(sequence) => (sequence, !is_request(sequence) && !distorts_later_text(sequence), true),
                Piece::String(bytes) | Piece::Control(bytes) => (bytes, false, in_use),
            };
            if harmless || (may_pass && *known_raw.get_or_insert_with(&raw)) {
                out.extend_from_slice(piece);
            } else if string {
                self.dropped.push(piece);
            }
        }
    }
}

/// Whether a terminal answers this sequence by typing.
fn is_request(sequence: &[u8]) -> bool {
    match sequence {
        b"\x1bZ" => true,
        [0x1b, b'[', parameters @ .., action] => match action {
            b'c' | b'n' | b't' | b'x' => true,
            b'p' => parameters.ends_with(b"$"),
            b'y' => parameters.ends_with(b"*"),
            b'w' => parameters.ends_with(b"$"),
            b'q' => parameters.starts_with(b">"),
            b'u' => parameters.starts_with(b"?"),
            _ => false,
        },
        _ => false,
    }
}

/// Whether text behind this sequence shows in other letters or in other places, also that of a question for consent.
fn distorts_later_text(sequence: &[u8]) -> bool {
    match sequence {
        // Character sets, their shifts, 8-bit modes, and double-size rows.
        [0x1b, b'%' | b'(' | b')' | b'*' | b'+' | b'-' | b'.' | b'/' | b'#' | b' ', ..] => true,
        [0x1b, b'N' | b'O' | b'n' | b'o' | b'|' | b'}' | b'~'] => true,
        [0x1b, b'[', b'?', numbers @ .., b'h' | b'l'] => numbers.split(|&byte| byte == b';').any(is_distorting_mode),
        // Insert mode and its like, and a scroll to the side.
        [0x1b, b'[', _, .., b'h' | b'l'] => true,
        [0x1b, b'[', .., b' ', b'@' | b'A'] => true,
        _ => false,
    }
}

/// 132 columns, reversed screen, origin at the margin, no wrapping, left and right margins.
fn is_distorting_mode(number: &[u8]) -> bool {
    matches!(number, b"3" | b"5" | b"6" | b"7" | b"40" | b"42" | b"45" | b"69" | b"95")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn hidden(bytes: &[u8]) -> String {
        let mut out = Vec::new();
        let mut filter = HideFilter::default();
        bytes.chunks(2).for_each(|chunk| filter.push(chunk, &mut out, None));
        String::from_utf8_lossy(&out).into_owned()
    }

    fn guarded(bytes: &[u8], in_use: bool, raw: bool) -> String {
        let mut out = Vec::new();
        let mut filter = GuardFilter::default();
        bytes.chunks(3).for_each(|chunk| filter.push(chunk, in_use, || raw, &mut out));
        String::from_utf8_lossy(&out).into_owned()
    }

    #[test]
    fn only_mode_changes_pass_a_hide_window() {
        let shown = hidden(b"$ stub\r\n\x1b[?2004l\x1b]0;stub\x07\x1b[<1u\x1b=\x1b[31m\x1b[2J\x1b>\x1b[>4;1m");
        assert_eq!(shown, "\x1b[?2004l\x1b[<1u\x1b=\x1b>\x1b[>4;1m");
    }

    #[test]
    fn dangerous_sequences_of_an_agents_command_are_dropped() {
        let dangerous = "\x1b]52;c;aGk=\x07\x1b]0;t\x1b\\\x1bP$qm\x1b\\\x1b_x\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\\x1b[c\x1b[>c\x1b[6n\x1b[21t\
            \x1b[?25$p\x1b[>q\x1b[?u\x1bZ\x05\u{9b}6n";
        assert_eq!(guarded(dangerous.as_bytes(), true, false), "6n");
        assert_eq!(guarded(dangerous.as_bytes(), true, true), dangerous);
        assert_eq!(guarded(b"\x1b[6n\x1b]52;c;aGk=\x07", false, true), "\x1b[6n");
    }

    #[test]
    fn a_void_sequence_cannot_smuggle_the_beginning_of_another() {
        let smuggling = "\x1b\x1bPx\x1b\\]52;c;aGk=\x07|\x1b[\x1b]x\x076n|\x1b[\x05m|\x1b[\x0em";
        assert_eq!(guarded(smuggling.as_bytes(), false, false), "]52;c;aGk=\x07|6n|m|m");
        assert_eq!(guarded(smuggling.as_bytes(), true, true), smuggling);
    }

    #[test]
    fn an_unterminated_string_ends_at_the_next_sequence() {
        assert_eq!(guarded(b"a\x1b]0;title\x1b[1mshown", false, false), "a\x1b[1mshown");
    }

    #[test]
    fn what_would_garble_a_later_question_is_dropped() {
        let garbling = "\x1b(0\x1b)0\x1b%@\x1bn\x1b#6\x1b[4h\x1b[20h\x1b[?6h\x1b[?25;69h\x1b[?7l\x1b[5 @\x0e\x0f";
        assert_eq!(guarded(garbling.as_bytes(), false, false), "");
        assert_eq!(guarded(garbling.as_bytes(), true, true), garbling);
    }

    #[test]
    fn text_colours_movements_and_full_screen_modes_pass() {
        let harmless =
            "a\té°\r\n\x1b[1;31mred\x1b[0m\x1b[2K\x1b[3A\x1b[H\x1b[J\x1b[?1049h\x1b[?25l\x1b[2;9r\x1b7\x1b8\x08\x07";
        assert_eq!(guarded(harmless.as_bytes(), false, false), harmless);
    }

    /// Any bytes, and many of what a filter looks for.
    fn output() -> impl Strategy<Value = Vec<u8>> {
        let known = proptest::sample::select(vec![
            "\x1b[\x05m",
            "6n",
            "]52;c;aGk=\x07",
            "\x1b[?2004h",
            "\x1b[6n",
            "\x1b]52;c;aGk=",
            "\x07",
            "\x1b\\",
            "\x1bP",
            "\x1b[",
            "\x1b",
            "\u{9b}",
            "\x1b(0",
            "text\r\n",
        ]);
        let piece = prop_oneof![
            2 => known.prop_map(|known| known.as_bytes().to_vec()),
            1 => proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn the_pieces_in_which_output_comes_change_nothing(bytes in output(), cut in 1usize..9, in_use: bool, raw: bool) {
            let hide = |cut: usize| {
                let (mut filter, mut out) = (HideFilter::default(), Vec::new());
                bytes.chunks(cut).for_each(|chunk| filter.push(chunk, &mut out, None));
                out
            };
            let guard = |cut: usize| {
                let (mut filter, mut out) = (GuardFilter::default(), Vec::new());
                bytes.chunks(cut).for_each(|chunk| filter.push(chunk, in_use, || raw, &mut out));
                out
            };
            prop_assert_eq!(hide(bytes.len().max(1)), hide(cut));
            prop_assert_eq!(guard(bytes.len().max(1)), guard(cut));
        }

        /// What is left could otherwise join to what was taken out.
        #[test]
        fn what_a_guard_lets_through_gives_a_terminal_nothing_to_answer_or_to_store(bytes in output()) {
            let shown = guarded(&bytes, false, false);
            let mut terminal = StrictTerminal::default();
            vte::Parser::new().advance(&mut terminal, shown.as_bytes());
            prop_assert!(terminal.obeyed.is_empty(), "{:?} in {:?}", terminal.obeyed, shown);
        }
    }

    /// Another reading of the same bytes.
    #[derive(Default)]
    struct StrictTerminal {
        obeyed: Vec<String>,
    }

    impl vte::Perform for StrictTerminal {
        fn execute(&mut self, byte: u8) {
            if matches!(byte, 0x05 | 0x0e | 0x0f) {
                self.obeyed.push(format!("control {byte:x}"));
            }
        }

        fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
            self.obeyed.push(format!("DCS {action}"));
        }

        fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
            self.obeyed.push(format!("OSC {params:?}"));
        }

        fn csi_dispatch(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
            if matches!(action, 'c' | 'n' | 't' | 'x') {
                self.obeyed.push(format!("request {action}"));
            }
        }

        fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
            if matches!((intermediates, byte), ([], b'Z') | ([b'(' | b')' | b'%' | b'#'], _)) {
                self.obeyed.push(format!("ESC {intermediates:?} {byte:x}"));
            }
        }
    }
}
