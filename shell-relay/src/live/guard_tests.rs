use proptest::prelude::*;

use super::*;

/// The bytes that pass if they come in pieces of `cut`, and the bytes written behind the command.
fn passed(bytes: &[u8], cut: usize, in_use: bool, raw: bool) -> (Vec<u8>, Vec<u8>) {
    let (mut modes, mut out, mut behind) = (Modes::default(), Vec::new(), Vec::new());
    let mut filter = GuardFilter::new(&modes);
    bytes.chunks(cut).for_each(|chunk| filter.push(chunk, in_use, || raw, &mut modes, &mut out));
    filter.end(&mut modes, &mut behind);
    (out, behind)
}

fn guarded(bytes: &[u8], in_use: bool, raw: bool) -> String {
    String::from_utf8_lossy(&passed(bytes, 3, in_use, raw).0).into_owned()
}

fn behind(bytes: &str, raw: bool) -> String {
    String::from_utf8_lossy(&passed(bytes.as_bytes(), 3, false, raw).1).into_owned()
}

/// Sequences that terminals obey beyond drawing, one row for each kind of harm, with the rest that passes.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("title reports", "\x1b[20t\x1b[21t\x1b[14t\x1b[22;2t", ""),
    ("status string request", "\x1bP$qm\x1b\\", ""),
    ("font query", "\x1b]50;?\x07", ""),
    ("colour queries", "\x1b]4;1;?\x07\x1b]10;?\x07\x1b]11;?\x1b\\\x1b]12;?\x07", ""),
    ("device reports", "\x1b[c\x1b[>c\x1b[=c\x1b[0c\x1b[5n\x1b[6n\x1b[?6n\x1b[x\x1b[>q\x1b[1;1;1;1;1;1*y", ""),
    ("mode reports", "\x1b[?2004$p\x1b[4$p\x1b[?u\x1b[?4m\x1b[?1;1;0S\x1b[1$w", ""),
    ("terminfo query", "\x1bP+q544e\x1b\\", ""),
    ("old queries", "\x1bZ\x05", ""),
    ("clipboard", "\x1b]52;c;aGk=\x07\x1b]52;c;?\x1b\\", ""),
    ("link", "\x1b]8;;file:///etc/passwd\x1b\\good.example\x1b]8;;\x1b\\", "good.example"),
    ("titles", "\x1b]0;t\x07\x1b]1;t\x07\x1b]2;t\x1b\\", ""),
    ("folder", "\x1b]7;file:///x\x07", ""),
    ("notifications", "\x1b]9;n\x07\x1b]99;;n\x1b\\\x1b]777;notify;n;n\x07", ""),
    ("files", "\x1b]1337;File=name=eA==:x\x07", ""),
    ("prompt marks of others", "\x1b]133;A\x07\x1b]133;D;0\x1b\\\x1b]633;E;x\x07", ""),
    ("pictures", "\x1bPq#0;2;0;0;0\x1b\\\x1b_Ga=T;AAAA\x1b\\", ""),
    ("programmed keys", "\x1bP0;1|17/x\x1b\\", ""),
    ("private messages", "\x1b^x\x1b\\\x1bXx\x1b\\", ""),
    ("pastes", "\x1b[?2004h\x1b[?2004l\x1b[201~\x1b[?5522h", ""),
    ("rows that have left the screen", "\x1b[3J\x1b[0;3J\x1b[03J", ""),
    ("reset", "\x1bc\x1b[!p\x1b[61\"p", ""),
    ("second screen", "\x1b[?1049h\x1b[?47h\x1b[?1047h\x1b[?1049l", ""),
    (
        "mouse and focus",
        "\x1b[?9h\x1b[?1000h\x1b[?1002;1003h\x1b[?1005h\x1b[?1006h\x1b[?1016h\x1b[?1004h\x1b[1;2;3;4;5T",
        "",
    ),
    ("keyboard", "\x1b[?1h\x1b=\x1b[>1u\x1b[=5u\x1b[<1u\x1b[>4;2m\x1b[?9001h\x1b[2h\x1b[?66h", ""),
    ("reports by themselves", "\x1b[?2031h\x1b[?2048h\x1b[?2026h", ""),
    ("printer", "\x1b[5i\x1b[?5i\x1b[i", ""),
    ("other letters", "\x1b(0\x1b)0\x1b*0\x1b%@\x1bn\x1bN\x0e\x0f\x1b#6\x1b F", ""),
    ("other places", "\x1b[4h\x1b[20h\x1b[?6h\x1b[?7l\x1b[?69h\x1b[1;2s\x1bH\x1b[3g\x1b[5 @\x1b[?2l", ""),
    ("filled rectangles", "\x1b[88;1;1;9;9$x\x1b[1;1;9;9$z\x1b[1\"q\x1b[2 q", ""),
    ("C1 in UTF-8", "\u{9b}6n\u{9d}0;t\u{9c}\u{90}q\u{9c}\u{85}", "6n0;tq"),
];

#[test]
fn of_what_is_not_drawing_nothing_passes_wherever_it_is_cut() {
    for (name, bytes, left) in HOSTILE {
        let text = format!("a{bytes}b");
        let expected = format!("a{left}b");
        for cut in 0..=text.len() {
            let (mut modes, mut out) = (Modes::default(), Vec::new());
            let mut filter = GuardFilter::new(&modes);
            for piece in [&text.as_bytes()[..cut], &text.as_bytes()[cut..]] {
                filter.push(piece, true, || false, &mut modes, &mut out);
            }
            assert_eq!(String::from_utf8_lossy(&out), expected, "{name}, cut at {cut}");
            let mut behind = Vec::new();
            filter.end(&mut modes, &mut behind);
            assert_eq!(behind, b"", "{name}: nothing was changed");
        }
        assert_eq!(guarded(text.as_bytes(), true, true), text, "{name}: who reads keys and is typed into gets all");
    }
}

#[test]
fn a_program_that_reads_keys_gets_sequences_and_strings_only_when_it_is_typed_into() {
    assert_eq!(guarded(b"\x1b[6n\x1b[?1049h\x1b]52;c;aGk=\x07\x1b(0", false, true), "\x1b[6n\x1b[?1049h\x1b(0");
    assert_eq!(guarded(b"\x1b]52;c;aGk=\x07", true, true), "\x1b]52;c;aGk=\x07");
    assert_eq!(guarded(b"\x1b]52;c;aGk=\x07", true, false), "");
}

#[test]
fn c1_controls_of_one_byte_are_dropped_and_letters_with_such_bytes_stay() {
    assert_eq!(guarded(b"a\x9b6n\x9d0;t\x9c\x85b", false, true), "a6n0;tb");
    assert_eq!(guarded("⛄ \u{9b}日\x1b[m本😀".as_bytes(), false, false), "⛄ 日\x1b[m本😀");
    assert_eq!(passed(b"a\x9b6n\xe2", 1, true, true).0, b"a\x9b6n\xe2");
}

#[test]
fn a_void_sequence_cannot_smuggle_the_beginning_of_another() {
    let smuggling = "\x1b\x1bPx\x1b\\]52;c;aGk=\x07|\x1b[\x1b]x\x076n|\x1b[\x05m|\x1b[\x0em";
    assert_eq!(guarded(smuggling.as_bytes(), false, false), "]52;c;aGk=\x07|6n|m|m");
    assert_eq!(guarded(smuggling.as_bytes(), true, true), smuggling);
}

#[test]
fn an_unterminated_string_ends_at_the_next_sequence_or_at_the_end_of_a_line_beyond_4_kib() {
    assert_eq!(guarded(b"a\x1b]0;title\x1b[1mshown", false, false), "a\x1b[1mshown");
    let line = "x".repeat(1000) + "\n";
    for begin in ["\x1b]0;", "\x1bP", "\x1b_", "\x1b^", "\x1bX"] {
        let text = format!("a{begin}{}b\nc", line.repeat(6));
        assert_eq!(guarded(text.as_bytes(), false, false), format!("a\n{line}b\nc"), "{begin:?}");
    }
    let picture = format!("a\x1b_Ga=T;{}\x1b\\b", "A".repeat(100_000));
    assert_eq!(guarded(picture.as_bytes(), false, false), "ab", "a picture is no text");
}

#[test]
fn text_colours_movements_and_erasures_pass() {
    let drawing = "a\té°\r\n\x1b[1;31mred\x1b[38:2::1:2:3m\x1b[0m\x1b[2K\x1b[3A\x1b[H\x1b[J\x1b[2J\x1b[?25l\x1b[2;9r\x1b7\x1b8\x1b[s\
        \x1b[u\x1bM\x1b[2L\x1b[5X\x1b[4@\x1b[S\x1b[T\x08\x07\x1b[?25h";
    assert_eq!(guarded(drawing.as_bytes(), false, false), drawing);
}

#[test]
fn what_a_command_leaves_changed_is_changed_back() {
    for (left, raw, back) in [
        ("\x1b[31mred", false, "\x1b[m"),
        ("\x1b[8m\x1b7\x1b[m\x1b8", false, "\x1b[m"),
        ("\x1b[31mred\x1b[0m", false, ""),
        ("\x1b[?25l", false, "\x1b[?25h"),
        ("\x1b[2;9r", false, "\x1b7\x1b[r\x1b8"),
        ("\x1b[?25l\x1b[2;9r\x1b[?25h\x1b[r", false, ""),
        ("\x1b(0\x1b[4h\x1b[?7l", true, "\x1b[?7h\x1b(B\x0f\x1b[4l\x1b[m"),
        ("\x1b[?1049h\x1b[?1000;1006h", true, "\x1b[?1000l\x1b[?1006l\x1b[?1049l\x1b(B\x0f\x1b[4l\x1b[m"),
        ("\x1b[?2004h\x1b[>1u\x1b=", true, "\x1b[?2004l\x1b>\x1b[<1u\x1b(B\x0f\x1b[4l\x1b[m"),
    ] {
        assert_eq!(behind(left, raw), back, "{left:?}");
    }
}

#[test]
fn a_program_may_take_its_modes_back_when_it_no_longer_reads_keys() {
    let (mut modes, mut out) = (Modes::default(), Vec::new());
    let mut filter = GuardFilter::new(&modes);
    filter.push(b"\x1b[?1049h\x1b[?1000;1006h\x1b[>1u\x1b=", false, || true, &mut modes, &mut out);
    out.clear();
    let back = "\x1b[?1000;1006l\x1b[?1049l\x1b[<1u\x1b>";
    filter.push(format!("{back}{back}").as_bytes(), false, || false, &mut modes, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), back, "once: what is not set is not taken back");
}

#[test]
fn what_was_set_before_the_command_stays_and_is_the_commands_neither_to_set_nor_to_undo_behind_it() {
    let mut modes = Modes::default();
    modes.feed(b"\x1b[?1004h\x1b=");
    let (mut filter, mut out) = (GuardFilter::new(&modes), Vec::new());
    filter.push(b"\x1b[?25l", false, || false, &mut modes, &mut out);
    out.clear();
    filter.end(&mut modes, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), "\x1b[?25h");
    assert!(modes.focus_reporting());
    out.clear();
    filter.push(b"\x1b[?2004h\x1b[4h", false, || false, &mut modes, &mut out);
    assert_eq!(String::from_utf8_lossy(&out), "\x1b[?2004h", "behind the command come the line editor's modes");
}

/// Any bytes, with many sequences that a filter looks for.
pub(in crate::live) fn output() -> impl Strategy<Value = Vec<u8>> {
    let known = proptest::sample::select(vec![
        "\x1b[\x05m",
        "6n",
        "]52;c;aGk=\x07",
        "\x1b[?2004h",
        "\x1b[?25l",
        "\x1b[6n",
        "\x1b]52;c;aGk=",
        "\x07",
        "\x1b\\",
        "\x1bP",
        "\x1b[",
        "\x1b",
        "\u{9b}",
        "\x1b(0",
        "\x1b[31m",
        "text\r\n",
    ]);
    let piece = prop_oneof![
        2 => known.prop_map(|known| known.as_bytes().to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

#[test]
fn a_letter_cut_by_what_is_dropped_does_not_become_a_control() {
    for dropped in ["\x1b[6n", "\x1b]0;t\x07", "\u{9b}"] {
        let bytes = [b"a\xc2", dropped.as_bytes(), b"\x80b"].concat();
        let (shown, _) = passed(&bytes, 3, false, false);
        assert_eq!(shown, b"a\xc2b", "{dropped:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_pieces_in_which_output_comes_change_nothing(bytes in output(), cut in 1usize..9, in_use: bool, raw: bool) {
        prop_assert_eq!(passed(&bytes, bytes.len().max(1), in_use, raw), passed(&bytes, cut, in_use, raw));
    }

    /// The rest could otherwise join to the removed part.
    #[test]
    fn what_a_guard_lets_through_gives_a_terminal_nothing_to_answer_or_to_keep(bytes in output()) {
        let (shown, behind) = passed(&bytes, 3, false, false);
        let mut terminal = StrictTerminal::default();
        vte::Parser::new().advance(&mut terminal, &shown);
        prop_assert!(terminal.obeyed.is_empty(), "{:?} in {:?}", terminal.obeyed, String::from_utf8_lossy(&shown));
        let mut after = Modes::default();
        after.feed(&shown);
        after.feed(&behind);
        prop_assert!(after.reset_all().is_empty());
    }
}

/// An independent reading of the same bytes: everything it records is not drawing.
#[derive(Default)]
struct StrictTerminal {
    obeyed: Vec<String>,
}

impl vte::Perform for StrictTerminal {
    fn execute(&mut self, byte: u8) {
        if matches!(byte, 0x05 | 0x0e | 0x0f | 0x80..=0x9f) {
            self.obeyed.push(format!("control {byte:x}"));
        }
    }

    fn hook(&mut self, _: &vte::Params, _: &[u8], _: bool, action: char) {
        self.obeyed.push(format!("DCS {action}"));
    }

    fn osc_dispatch(&mut self, params: &[&[u8]], _: bool) {
        self.obeyed.push(format!("OSC {params:?}"));
    }

    fn csi_dispatch(&mut self, params: &vte::Params, intermediates: &[u8], _: bool, action: char) {
        let is_cursor = intermediates == b"?" && matches!(action, 'h' | 'l') && params.iter().all(|one| one == [25]);
        let draws = intermediates.is_empty() && "ABCDEFGHIJKLMPSTXZ@`adefmrsu".contains(action);
        if !is_cursor && !draws {
            self.obeyed.push(format!("CSI {intermediates:?} {action}"));
        }
    }

    fn esc_dispatch(&mut self, intermediates: &[u8], _: bool, byte: u8) {
        // The end of a string that was taken out is nothing by itself.
        if !intermediates.is_empty() || !matches!(byte, b'7' | b'8' | b'D' | b'E' | b'M' | b'\\') {
            self.obeyed.push(format!("ESC {intermediates:?} {byte:x}"));
        }
    }
}
