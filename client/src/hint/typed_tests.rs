use super::*;

fn typed(shell: Shell, keys: &[&[u8]]) -> Option<String> {
    let mut line = TypedLine::new(shell);
    line.begin("");
    keys.iter().for_each(|keys| line.push(keys));
    line.text().map(str::to_owned)
}

#[test]
fn keys_that_every_line_editor_reads_alike_are_followed() {
    let table: [(&[u8], Option<&str>); 24] = [
        (b"what is new", Some("what is new")),
        ("日本 wörter".as_bytes(), Some("日本 wörter")),
        (b"lss\x7f", Some("ls")),
        (b"\x7f\x7fa", Some("a")),
        (b"abc\x15", Some("")),
        (b"abc\x1b[D\x1b[D\x1b[DX", Some("Xabc")),
        (b"abc\x1bODX", Some("abXc")),
        (b"abc\x01X\x05Y", Some("XabcY")),
        (b"abc\x1b[HX\x1b[FY", Some("XabcY")),
        (b"abc\x01\x1b[3~", Some("bc")),
        (b"abc\x01\x04", Some("bc")),
        (b"abc\x02\x0b", Some("ab")),
        (b"one two\x17", Some("one ")),
        (b"one two  \x17", Some("one ")),
        (b"one ./two\x17", None),
        (b"abc\x03d", Some("d")),
        (b"abc\x0c", Some("abc")),
        (b"ab\t", None),
        (b"ab\x1b[A", None),
        (b"ab\x12", None),
        (b"ab\x1b", None),
        (b"ab\x1bb", None),
        (b"\x1b[A\x15ls", Some("ls")),
        (b"ab\xff", None),
    ];
    for (keys, expected) in table {
        assert_eq!(typed(Shell::Bash, &[keys]).as_deref(), expected, "{:?}", String::from_utf8_lossy(keys));
        let bytewise: Vec<&[u8]> = if keys.contains(&0x1b) { vec![keys] } else { keys.chunks(1).collect() };
        assert_eq!(typed(Shell::Bash, &bytewise).as_deref(), expected, "{:?} by bytes", String::from_utf8_lossy(keys));
    }
}

#[test]
fn a_key_that_may_take_a_suggestion_makes_the_line_unknown_where_there_are_any() {
    for key in [&b"\x1b[C"[..], b"\x05", b"\x06", b"\x1b[F"] {
        assert_eq!(typed(Shell::Bash, &[b"ab", key]).as_deref(), Some("ab"));
        assert_eq!(typed(Shell::Fish, &[b"ab", key]), None);
        assert_eq!(typed(Shell::Zsh, &[b"ab", key]), None);
        assert_eq!(typed(Shell::Zsh, &[b"ab\x02", key]).as_deref(), Some("ab"), "inside the line");
    }
}

#[test]
fn the_key_that_empties_the_line_is_each_editors_own() {
    assert_eq!(typed(Shell::Bash, &[b"abc\x02\x15"]).as_deref(), Some("c"));
    assert_eq!(typed(Shell::Fish, &[b"abc\x02\x15"]).as_deref(), Some("c"));
    assert_eq!(typed(Shell::Zsh, &[b"abc\x02\x15"]).as_deref(), Some(""));
}

#[test]
fn a_paste_is_text_wherever_it_is_cut() {
    let keys = b"a\x1b[200~b\rc d\x1b[201~e";
    assert_eq!(typed(Shell::Bash, &[keys]).as_deref(), Some("ab\nc de"));
    for cut in 7..keys.len() {
        let (head, tail) = keys.split_at(cut);
        assert_eq!(typed(Shell::Bash, &[head, tail]).as_deref(), Some("ab\nc de"), "cut at {cut}");
    }
    assert_eq!(typed(Shell::Bash, &[b"\x1b[200~ab"]), None, "not before its end");
    assert_eq!(typed(Shell::Bash, &[b"\x1b[200~a\x1b[31mb\x1b[201~"]), None, "controls in it");
}

#[test]
fn the_end_of_a_line_is_found_behind_its_last_letters() {
    let mut line = TypedLine::new(Shell::Bash);
    line.begin("");
    for (keys, before) in [
        (&b"\r"[..], Some(&b""[..])),
        (b"ab\r", Some(b"ab")),
        (b"ab\x1b\r", Some(b"ab")),
        (b"\x1b[13;3u", Some(b"")),
        (b"a\rb\r", None),
        (b"ab", None),
    ] {
        assert_eq!(line.before_enter(keys), before, "{keys:?}");
    }
    line.push(b"\x1b[200~ab");
    assert_eq!(line.before_enter(b"cd\r"), None, "in a paste");
}

#[test]
fn what_the_terminal_answers_is_no_key() {
    for reply in [&b"\x1b[?62;4c"[..], b"\x1b[24;80R", b"\x1b]11;rgb:00/00/00\x07", b"\x1b[I", b"\x1b[?1u"] {
        assert_eq!(typed(Shell::Fish, &[b"a", reply, b"b"]).as_deref(), Some("ab"), "{reply:?}");
    }
}

#[test]
fn keys_as_the_kitty_protocol_says_them_are_the_same_keys() {
    assert_eq!(typed(Shell::Fish, &[b"abc\x1b[97;5uX"]).as_deref(), Some("Xabc"));
    assert_eq!(typed(Shell::Fish, &[b"abc\x1b[117;5u"]).as_deref(), Some(""));
    assert_eq!(typed(Shell::Fish, &[b"abc\x1b[127u"]).as_deref(), Some("ab"));
    assert_eq!(typed(Shell::Fish, &[b"abc\x1b[97;7u"]), None);
}

#[test]
fn a_very_long_line_is_not_followed() {
    let long = vec![b'x'; LINE_MAX_BYTES + 1];
    assert_eq!(typed(Shell::Bash, &[&long]), None);
    assert_eq!(typed(Shell::Bash, &[&long, b"\x15a"]).as_deref(), Some("a"));
}

#[test]
fn at_no_prompt_nothing_is_known() {
    let mut line = TypedLine::new(Shell::Bash);
    line.push(b"abc");
    assert_eq!(line.text(), None);
    line.begin("put back");
    line.push(b"!");
    assert_eq!(line.text(), Some("put back!"));
}

proptest::proptest! {
    #[test]
    fn any_keys_in_any_pieces_are_survived(
        keys in proptest::collection::vec(proptest::num::u8::ANY, 0..200),
        piece in 1usize..9,
        shell in proptest::sample::select(vec![Shell::Bash, Shell::Zsh, Shell::Fish]),
    ) {
        let mut line = TypedLine::new(shell);
        line.begin("é");
        keys.chunks(piece).for_each(|keys| line.push(keys));
        if let Some(text) = line.text() {
            proptest::prop_assert!(text.len() <= LINE_MAX_BYTES);
        }
    }
}
