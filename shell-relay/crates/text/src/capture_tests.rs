use proptest::prelude::*;

use super::*;

fn text(bytes: &[u8]) -> String {
    render(&[bytes])
}

#[test]
fn carriage_returns_backspaces_and_colours_end_in_what_is_seen() {
    assert_eq!(text(b"a\rb\x1b[31mred\x1b[0m\r\n10%\r100%\r\n"), "bred\n100%\n");
    assert_eq!(text(b"abc\x08\x08X\r\n"), "aXc\n");
    assert_eq!(text(b"long line\r\x1b[Kshort\r\n"), "short\n");
    assert_eq!(text(b"one\r\ntwo\r\n\x1b[2A\x1b[Knew\r\n\r\n"), "new\ntwo\n");
}

#[test]
fn the_alternate_screen_is_cut_out_and_named() {
    assert_eq!(text(b"a\r\n\x1b[?1049hSECRET\x1b[2J\x1b[?1049lb\r\n"), "a\n[full-screen program ran]\nb\n");
    assert_eq!(text(b"\x1b[?1049hnever left"), "[full-screen program ran]\n");
    // Its cursor moves do not belong to the page.
    assert_eq!(text(b"waits for vim ...\x1b[?1049hx\r\n\x1b[?1049l"), "waits for vim ...\n[full-screen program ran]\n");
}

#[test]
fn control_and_invalid_bytes_are_replaced() {
    assert_eq!(text(b"a\0b\x07c\xff\xe2\x82\xac\r\n"), "a\u{2400}b\u{2407}c\u{fffd}\u{20ac}\n");
    assert_eq!(text(b"\x1b]0;title\x07\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\t."), "link\t.");
}

#[test]
fn a_repainted_screen_leaves_its_last_state_after_what_came_before() {
    let frame = |n: u8| format!("\x1b[H\x1b[2Jframe {n}\r\nrow\r\n");
    assert_eq!(text(format!("before\r\n{}{}", frame(1), frame(2)).as_bytes()), "before\nframe 2\nrow\n");
}

#[test]
fn the_way_of_zsh_to_its_prompt_is_no_output() {
    let cut = |bytes: String| {
        let mut capture = Capture::new(8, 4096);
        capture.push(bytes.as_bytes());
        capture.cut_way_to_next_row();
        (capture.render().0, capture.total_bytes())
    };
    let blanks = " ".repeat(79);
    for mark in ["\x1b[1m\x1b[7m%\x1b[27m\x1b[1m\x1b[0m", "#", "\x1b[2m⏎\x1b[m"] {
        for output in ["", "x", "end  \x1b[31m%", "line\r\n"] {
            let told = output.replace("\x1b[31m", "").replace('\r', "");
            assert_eq!(cut(format!("{output}{mark}{blanks}\r \r")).0, told);
        }
    }
    assert_eq!(cut(format!("{}%{blanks}\r \r", "long line\r\n")), ("long line\n".into(), 11));
    assert_eq!(cut(format!("no mark{blanks}\r\r")), ("no mark".into(), 7));
    assert_eq!(cut(format!("wide🎉{blanks}\r  \r")), ("wide".into(), 4));
    for other in ["", "\r", "a\r\r", "a\r \r", " \r \r", "\u{301} \r \r"] {
        assert_eq!(cut(other.into()).1, other.len() as u64, "{other:?}");
    }
}

#[test]
fn short_output_is_kept_whole() {
    let mut capture = Capture::new(8, 8);
    capture.push(b"0123456789abcde\n");
    assert_eq!(capture.render(), ("0123456789abcde\n".into(), 0));
    assert_eq!(capture.total_bytes(), 16);
}

#[test]
fn long_output_keeps_head_tail_and_count() {
    let mut capture = Capture::new(4, 8);
    for _ in 0..1000 {
        capture.push(b"abc\n");
    }
    assert_eq!(capture.render(), ("abc\n[3992 bytes left out]\nabc\n".into(), 3992));
    assert!(capture.tail.len() <= 16);
}

#[test]
fn the_end_of_a_line_is_known_from_the_last_bytes() {
    for (bytes, in_mid_line) in [
        (&b""[..], false),
        (b"a\r\n", false),
        (b"a\r\nb", true),
        (b"50%\r", true),
        (b"a\r\n\x1b[0m", false),
        (b"\x1b[?1049hdrawn\x1b[?1049l\x1b[23;0;0t", false),
        (b"drawn\x1b[?1049l", false),
    ] {
        assert_eq!(ends_in_mid_line(bytes), in_mid_line, "{bytes:?}");
    }
}

#[test]
fn a_flood_of_cursor_movements_costs_bounded_memory() {
    let text = text(&b"\x1b[999999G.\n\x1b[9999;9999Hx\x1b[9999B\n".repeat(4000));
    assert!(text.len() < 2 * PADDING_MAX_CHARS + 100_000, "{}", text.len());
}

#[test]
fn a_secret_is_redacted_across_chunks() {
    for cut in 0..=12 {
        let (first, second) = b"x=secret y s".split_at(cut);
        let mut redactor = Redactor::new("secret");
        let mut out = Vec::new();
        redactor.push(first, &mut out);
        redactor.push(second, &mut out);
        redactor.finish(&mut out);
        assert_eq!(out, b"x=[redacted] y s", "cut at {cut}");
    }
}

#[test]
fn a_secret_is_redacted_from_text_where_no_raw_piece_held_it() {
    let redactor = Redactor::new("secret");
    for raw in [&b"sec\x1b[31mret"[..], b"secXX\x08\x08ret", b"xxxret\rsec\r\n", b"sec\x1b]0;t\x07ret"] {
        let seen = text(raw);
        assert!(seen.contains("secret"), "{seen:?}");
        assert_eq!(redactor.text(&seen), seen.replace("secret", "[redacted]"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_bytes_render_to_text_without_control_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        let clean = text(&bytes);
        prop_assert!(clean.chars().all(|c| c == '\n' || c == '\t' || !c.is_control()), "{:?}", clean);
    }

    #[test]
    fn a_redacted_stream_does_not_depend_on_chunking_and_holds_no_secret(
        words in proptest::collection::vec(
            prop_oneof![Just("abcabd"), Just("abc"), Just("ab"), Just("c"), Just("d"), Just("\x1b[m"), Just("x")],
            0..40,
        ),
        cut in 1usize..9,
    ) {
        let stream = words.concat();
        let redacted = |chunks: &[&[u8]]| {
            let mut redactor = Redactor::new("abcabd");
            let mut out = Vec::new();
            chunks.iter().for_each(|chunk| redactor.push(chunk, &mut out));
            redactor.finish(&mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        let whole = redacted(&[stream.as_bytes()]);
        prop_assert_eq!(&whole, &redacted(&stream.as_bytes().chunks(cut).collect::<Vec<_>>()));
        prop_assert_eq!(whole, stream.replace("abcabd", "[redacted]"));
    }

    #[test]
    fn the_capture_does_not_depend_on_chunking(bytes in proptest::collection::vec(any::<u8>(), 0..400), cut in 1usize..50) {
        let mut whole = Capture::new(32, 32);
        whole.push(&bytes);
        let mut pieces = Capture::new(32, 32);
        bytes.chunks(cut).for_each(|piece| pieces.push(piece));
        prop_assert_eq!(whole.render(), pieces.render());
        prop_assert_eq!(whole.total_bytes(), bytes.len() as u64);
    }
}

#[test]
fn the_end_of_a_users_output_holds_no_secret_and_no_large_part_of_one() {
    let secret = "0123456789abcdef";
    assert_eq!(redacted_tail("a 0123456789abcdef b", secret), "a [redacted] b");
    assert_eq!(redacted_tail("3456789abcdef b 0123456789abcdef", secret), " b [redacted]");
    assert_eq!(redacted_tail("cdef b", secret), "cdef b");
    assert_eq!(redacted_tail("", secret), "");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_secret_never_passes_however_the_stream_is_cut(
        parts in prop::collection::vec("(abab|aba|ab|b|x|abac){0,4}", 0..12),
        cuts in prop::collection::vec(1_usize..7, 1..20),
    ) {
        // The secret overlaps with itself, so that false beginnings are many.
        let secret = "ababac";
        let stream = parts.join(secret);
        let (mut redactor, mut out, mut rest) = (Redactor::new(secret), Vec::new(), stream.as_bytes());
        let mut sizes = cuts.iter().cycle();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            redactor.push(piece, &mut out);
            rest = after;
        }
        redactor.finish(&mut out);
        let out = String::from_utf8(out).unwrap();
        prop_assert!(!out.contains(secret), "{}", out);
        prop_assert_eq!(out, stream.replace(secret, "[redacted]"));
    }
}
