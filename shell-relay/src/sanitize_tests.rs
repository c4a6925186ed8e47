use proptest::prelude::*;

use super::*;

/// Every row of the list of harmful sequences, with the text that must be left.
const HARMFUL: &[(&str, &str, &str)] = &[
    ("title report", "a\x1b[20t\x1b[21tb", "ab"),
    ("DECRQSS", "a\x1bP$qm\x1b\\b", "ab"),
    ("font query", "a\x1b]50;?\x07b", "ab"),
    ("colour query", "a\x1b]4;1;?\x07\x1b]10;?\x1b\\\x1b]11;?\x07\x1b]12;?\x07b", "ab"),
    ("device attributes", "a\x1b[c\x1b[>c\x1b[5n\x1b[6n\x1b[?2026$pb", "ab"),
    ("termcap query", "a\x1bP+q544e\x1b\\b", "ab"),
    ("DECID and ENQ", "a\x1bZ\x05b", "ab"),
    ("clipboard write", "a\x1b]52;c;cm0gLXJmIH4K\x07b", "ab"),
    ("clipboard read", "a\x1b]52;c;?\x1b\\b", "ab"),
    ("link", "a\x1b]8;;file:///etc/passwd\x1b\\text\x1b]8;;\x1b\\b", "atextb"),
    ("title", "a\x1b]0;x\x07\x1b]1;x\x07\x1b]2;x\x07b", "ab"),
    ("cwd", "a\x1b]7;file://h/x\x07b", "ab"),
    ("notification", "a\x1b]9;x\x07\x1b]99;;x\x1b\\\x1b]777;notify;t;b\x07b", "ab"),
    ("file write", "a\x1b]1337;File=name=eA==:AAAA\x07b", "ab"),
    ("prompt marks", "a\x1b]133;A\x07\x1b]133;D;0\x07\x1b]633;E;rm\x07b", "ab"),
    ("sixel", "a\x1bPq#0;2;0;0;0#0~~\x1b\\b", "ab"),
    ("user keys", "a\x1bP1;1|17/726d\x1b\\b", "ab"),
    ("APC PM SOS", "a\x1b_Gf=24;AAAA\x1b\\\x1b^x\x1b\\\x1bXx\x1b\\b", "ab"),
    ("bracketed paste", "a\x1b[?2004h\x1b[?2004l\x1b[201~b", "ab"),
    ("erase and move", "a\x1b[2J\x1b[3J\x1b[1;1H\x1b[5A\r\x08b", "ab"),
    ("conceal and colours", "a\x1b[8mhidden\x1b[30;40mx\x1b[0mb", "ahiddenxb"),
    ("reset, screens, mouse", "a\x1bc\x1b[?1049h\x1b[?1000h\x1b[?1006hb", "ab"),
    ("character sets", "a\x1b(0\x1b)B\x0e\x0fb", "ab"),
    ("C1 CSI", "a\u{9b}2Jb", "ab"),
    ("C1 OSC", "a\u{9d}52;c;?\u{9c}b", "ab"),
    ("C1 DCS APC PM SOS", "a\u{90}q\u{9c}\u{9f}x\u{9c}\u{9e}x\u{9c}\u{98}x\u{9c}b", "ab"),
    ("other C1", "a\u{84}\u{85}\u{8d}\u{9a}b", "ab"),
    ("bidi", "a\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}\u{200e}\u{200f}\u{61c}b", "ab"),
    ("zero width", "a\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}b", "ab"),
    ("variation selectors", "a\u{fe00}\u{fe0f}\u{e0100}\u{e01ef}\u{180b}b", "ab"),
    ("tags", "a\u{e0001}\u{e0072}\u{e006d}\u{e007f}b", "ab"),
    ("DEL and NUL", "a\x7f\0b", "ab"),
];

#[test]
fn every_harmful_sequence_leaves_only_its_text() {
    for (name, text, left) in HARMFUL {
        assert_eq!(sanitize(text), *left, "{name}");
        assert_eq!(one_line(text, 80), *left, "{name} in a title");
    }
}

#[test]
fn look_alikes_stay_in_text_and_are_escaped_on_an_approval() {
    let text = "p\u{430}ypal \u{ff0f}\u{2215}\u{2044}\u{a0}\u{3000}";
    assert_eq!(sanitize(text), text);
    assert_eq!(visible_controls(text), "p\\u{430}ypal \\u{ff0f}\\u{2215}\\u{2044}\\u{a0}\\u{3000}");
}

#[test]
fn an_approval_shows_every_character_of_the_command() {
    assert_eq!(
        visible_controls("rm\r\x1b[2K ok\u{200b}\n\tgrüße 文"),
        "rm\\u{d}\\u{1b}[2K ok\\u{200b}\n\\u{9}grüße 文"
    );
}

#[test]
fn an_unterminated_string_ends_at_its_limit() {
    let text = format!("a\x1b]0;{}tail", "x".repeat(MAX_SEQUENCE_BYTES));
    let clean = sanitize(&text);
    assert!(clean.ends_with("tail"), "{}", clean.len());
    assert!(clean.len() < 16);
    assert_eq!(sanitize("a\x1b]0;never ended"), "a");
}

#[test]
fn a_sequence_does_not_reach_into_the_next_text() {
    let mut sanitizer = Sanitizer::default();
    assert_eq!(sanitizer.push("a\x1b]0;x"), "a");
    assert_eq!(sanitizer.finish(), "");
    assert_eq!(sanitizer.push("b"), "b");
}

#[test]
fn an_escape_inside_a_payload_cannot_smuggle_a_sequence_out() {
    assert_eq!(sanitize("a\x1b]0;x\x1b[2Jb"), "ab");
    assert_eq!(sanitize("a\x1b[3\x1b[2Jb"), "ab");
    assert_eq!(sanitize("a\x1b\x1b]52;c;x\x07b"), "ab");
}

#[test]
fn a_line_break_or_a_letter_ends_a_broken_sequence() {
    assert_eq!(sanitize("a\x1b[3\nb"), "a\nb");
    assert_eq!(sanitize("a\x1b[3äb"), "aäb");
}

#[test]
fn emoji_lose_their_joiners_and_keep_their_members() {
    assert_eq!(sanitize("👩\u{200d}👧 ❤\u{fe0f}"), "👩👧 ❤");
}

#[test]
fn hidden_characters_are_counted_and_usual_ones_are_not() {
    for (text, count) in [
        ("plain", 0),
        ("a\u{200b}\u{202e}\u{e0041}", 3),
        ("\u{feff}a\u{feff}", 1),
        ("👩\u{200d}👧 ⚠\u{fe0f} so\u{ad}ft", 0),
    ] {
        assert_eq!(hidden_chars(text), count, "{text:?}");
    }
    assert_eq!(note_of_hidden(0), None);
}

#[test]
fn one_line_fits_its_columns() {
    assert_eq!(one_line("a\nb\tc", 10), "a b c");
    assert_eq!(one_line("abcdef", 6), "abcdef");
    assert_eq!(one_line("abcdefg", 6), "abcde…");
    assert_eq!(one_line("文文文", 5), "文文…");
    assert_eq!(one_line("文文", 3), "文…");
    assert_eq!(one_line("ab", 1), "…");
    assert_eq!(one_line("ab", 0), "");
    assert!(one_line(&format!("a{}", "\u{301}".repeat(100_000)), 10).len() < 200);
}

#[test]
fn the_fast_path_knows_the_first_byte_of_every_character_that_is_not_text() {
    for c in '\0'..=char::MAX {
        let dropped =
            (c.is_control() && !matches!(c, '\t' | '\n')) || is_invisible(c) || matches!(c, '\u{2028}' | '\u{2029}');
        if dropped {
            let mut bytes = [0; 4];
            c.encode_utf8(&mut bytes);
            assert!(IS_SUSPECT[usize::from(bytes[0])], "{:x}", u32::from(c));
        }
    }
}

/// Text made of pieces that begin, continue and end sequences.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        any::<char>().prop_map(String::from),
        prop::sample::select(vec![
            "\x1b",
            "[",
            "]",
            "P",
            "\\",
            "\x07",
            "\u{9b}",
            "\u{9d}",
            "\u{9c}",
            "\x18",
            "m",
            ";",
            "52",
            "a",
            "\n",
            "\t",
            "\r",
            "\u{200d}",
            "\u{202e}",
            "\u{e0041}",
            "é",
            "文",
        ])
        .prop_map(String::from),
        Just("x".repeat(1500)),
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn clean_text_has_nothing_to_obey_or_to_hide(text in hostile_text()) {
        let clean = sanitize(&text);
        prop_assert!(clean.chars().all(|c| matches!(c, '\t' | '\n') || !(c.is_control() || is_invisible(c))));
        prop_assert_eq!(sanitize(&clean), clean);
    }

    #[test]
    fn any_chunking_gives_the_same_as_the_whole(text in hostile_text(), sizes in prop::collection::vec(1usize..9, 1..40)) {
        let mut sanitizer = Sanitizer::default();
        let mut joined = String::new();
        let chars: Vec<char> = text.chars().collect();
        let mut rest = &chars[..];
        for size in sizes.iter().cycle() {
            if rest.is_empty() { break; }
            let (piece, tail) = rest.split_at((*size).min(rest.len()));
            joined.push_str(&sanitizer.push(&piece.iter().collect::<String>()));
            rest = tail;
        }
        joined.push_str(&sanitizer.finish());
        prop_assert_eq!(joined, sanitize(&text));
    }

    #[test]
    fn any_bytes_become_clean_text(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let clean = sanitize(&String::from_utf8_lossy(&bytes));
        prop_assert!(clean.bytes().all(|byte| byte >= 0x20 && byte != 0x7f || matches!(byte, b'\t' | b'\n')));
    }

    #[test]
    fn a_title_is_never_wider_than_asked(text in hostile_text(), columns in 0usize..40) {
        let line = one_line(&text, columns);
        prop_assert!(unicode_width::UnicodeWidthStr::width(line.as_str()) <= columns);
        prop_assert!(!line.contains(['\n', '\t']));
    }

    #[test]
    fn an_approval_has_no_control_but_line_breaks(text in hostile_text()) {
        let shown = visible_controls(&text);
        prop_assert!(shown.chars().all(|c| c == '\n' || !(c.is_control() || is_invisible(c))));
    }
}
