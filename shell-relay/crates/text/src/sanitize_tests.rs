use proptest::prelude::*;

use super::*;
use crate::terminal_attack_fixtures::HOSTILE;

#[test]
fn every_harmful_sequence_leaves_only_its_text() {
    for row in HOSTILE {
        let (text, left) = (format!("a{}b", row.bytes), format!("a{}b", row.left));
        assert_eq!(sanitize(&text), left, "{}", row.name);
        assert_eq!(one_line(&text, 80), left, "{} in a title", row.name);
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
fn emoji_in_names_lose_their_joiners_and_keep_their_members() {
    assert_eq!(sanitize("👩\u{200d}👧 ❤\u{fe0f}"), "👩👧 ❤");
    assert_eq!(one_line("👩\u{200d}👧 ❤\u{fe0f}", 80), "👩👧 ❤");
}

#[test]
fn prose_keeps_joiners_where_spelling_and_emoji_need_them() {
    for text in [
        "می\u{200c}خواهم",
        "क\u{94d}\u{200d}ष र\u{94d}\u{200c}क",
        "👩\u{200d}👩\u{200d}👧\u{200d}👦",
        "👩🏽\u{200d}💻",
        "🏳\u{fe0f}\u{200d}🌈",
        "⚠\u{fe0f} ☎\u{fe0e}",
    ] {
        assert_eq!(sanitize_prose(text), text);
    }
}

#[test]
fn prose_loses_joiners_everywhere_else() {
    for (text, left) in [
        ("r\u{200c}m r\u{200d}m r\u{fe0f}m 1\u{fe0f}", "rm rm rm 1"),
        ("\u{200d}می\u{200c} خ\u{200c}", "می خ"),
        ("می\u{200c}\u{200d}\u{200c}خ", "می\u{200c}خ"),
        ("۱\u{200c}۲ م\u{200c}، م\u{200c}a", "۱۲ م، مa"),
        ("👩\u{200c}👧 👩\u{200d}a 👍\u{fe0f}", "👩👧 👩a 👍"),
        ("⚠\u{fe0f}\u{fe0f}\u{fe0e}\u{fe01}", "⚠\u{fe0f}"),
        ("م\u{200b}خ \u{202e}\u{e0041}", "مخ "),
    ] {
        assert_eq!(sanitize_prose(text), left, "{text:?}");
    }
    for row in HOSTILE {
        assert_eq!(sanitize_prose(&format!("a{}b", row.bytes)), format!("a{}b", row.left), "{}", row.name);
    }
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
            "\u{200c}",
            "\u{fe0f}",
            "م",
            "⚠",
            "👩",
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
    fn clean_prose_stays_and_hides_nothing_in_a_word(text in hostile_text()) {
        let clean = sanitize_prose(&text);
        prop_assert_eq!(sanitize_prose(&clean), &*clean);
        prop_assert_eq!(sanitize(&clean), sanitize(&text));
        let chars: Vec<char> = clean.chars().collect();
        for around in chars.windows(2) {
            let [first, second] = around else { unreachable!() };
            prop_assert!(!(is_invisible(*first) && second.is_ascii()) || *first == '\u{fe0f}', "{:?}", clean);
            prop_assert!(!(first.is_ascii() && is_invisible(*second)), "{:?}", clean);
        }
    }

    #[test]
    fn any_chunking_gives_the_same_as_the_whole(text in hostile_text(), sizes in prop::collection::vec(1usize..9, 1..40)) {
        for (mut sanitizer, whole) in [(Sanitizer::default(), sanitize(&text)), (Sanitizer::for_prose(), sanitize_prose(&text))] {
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
            prop_assert_eq!(joined, whole);
        }
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
