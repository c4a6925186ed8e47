use proptest::prelude::*;

use super::*;

const NONCE: &str = "0123456789abcdef0123456789abcdef";

fn split(chunks: &[&[u8]]) -> (Vec<u8>, Vec<Mark>) {
    let mut parser = MarkParser::new(NONCE, 42);
    let (mut plain, mut marks) = (Vec::new(), Vec::new());
    for chunk in chunks {
        let mut rest = *chunk;
        while let Some(item) = parser.next(&mut rest) {
            match item {
                Item::Bytes(bytes) => plain.extend_from_slice(bytes),
                Item::Mark(mark) => marks.push(mark),
            }
        }
    }
    plain.extend(parser.finish());
    (plain, marks)
}

fn mark(body: &str) -> String {
    format!("\x1b]7391;{NONCE};42;{body}\x07")
}

fn line(cursor: usize, text: Option<String>, is_command: Option<bool>) -> ReportedLine {
    ReportedLine { cursor, text, is_command, is_vi: false, is_at_end: false }
}

#[test]
fn marks_are_taken_out_and_the_rest_passes() {
    let stream = format!("a{}b{}c", mark("B"), mark("D;;0;/tmp"));
    let (plain, marks) = split(&[stream.as_bytes()]);
    assert_eq!(plain, b"abc");
    let ended = Ended { id: String::new(), status: 0, cwd: "/tmp".into(), stopped: false };
    assert_eq!(marks, [Mark::PromptReady, Mark::Finished(ended)]);
}

#[test]
fn every_verb_is_understood() {
    let ended = |stopped| Ended { id: "ab".into(), status: 130, cwd: "/ä b".into(), stopped };
    for (body, expected) in [
        ("P", Mark::Continuation),
        ("S;12", Mark::Stashed { length: 12 }),
        ("X;cont", Mark::Refused),
        ("L;ab", Mark::Loaded { id: "ab".into() }),
        ("C", Mark::Started { line: None }),
        ("C;%3F%2B%20only%20in%20src", Mark::Started { line: Some("?+ only in src".into()) }),
        ("O;ab", Mark::OutputBegins { id: "ab".into() }),
        ("E;ab;130;/%C3%A4%20b", Mark::Ended(ended(false))),
        ("E;ab;130;/%C3%A4%20b;stopped", Mark::Ended(ended(true))),
        ("Q;3;a%0Ab", Mark::Line(line(3, Some("a\nb".into()), None))),
        ("Q;3;abc;1", Mark::Line(line(3, Some("abc".into()), Some(true)))),
        ("Q;0;", Mark::Line(line(0, Some(String::new()), None))),
        ("Q;5000", Mark::Line(line(5000, None, None))),
        ("N;1;x", Mark::EnterPressed(line(1, Some("x".into()), None))),
        ("N;1;x;0;end", Mark::EnterPressed(ReportedLine { is_at_end: true, ..line(1, Some("x".into()), Some(false)) })),
        ("N;1;x;0;vi", Mark::EnterPressed(ReportedLine { is_vi: true, ..line(1, Some("x".into()), Some(false)) })),
        ("W", Mark::AcceptedUnasked),
        ("R", Mark::ReportBegins),
        ("K;1", Mark::EnterOwner { is_users: true }),
        ("V;1", Mark::Letters(Letters::Commands)),
        ("F;ble.sh", Mark::ForeignEditor { name: "ble.sh".into() }),
        ("N;1;x;0", Mark::EnterPressed(line(1, Some("x".into()), Some(false)))),
    ] {
        assert_eq!(split(&[mark(body).as_bytes()]), (Vec::new(), vec![expected]), "{body}");
    }
}

#[test]
fn the_other_terminator_is_taken_too() {
    let stream = format!("\x1b]7391;{NONCE};42;B\x1b\\x");
    assert_eq!(split(&[stream.as_bytes()]), (b"x".to_vec(), vec![Mark::PromptReady]));
}

#[test]
fn forged_malformed_and_unterminated_marks_are_ordinary_output() {
    let long = format!("\x1b]7391;{NONCE};42;Q;1;{}", "a".repeat(MARK_MAX_BYTES));
    for stream in [
        "\x1b]7391;00000000000000000000000000000000;42;B\x07".to_owned(),
        format!("\x1b]7391;{NONCE};43;B\x07"),
        mark("Z"),
        mark("S;x"),
        mark("E;ab;0"),
        mark("Q;1;%4"),
        format!("\x1b]7391;{NONCE};42;B\n\x07"),
        format!("\x1b]7391;{NONCE};42;B"),
        "\x1b]133;D;77\x07\x1b]633;D;77\x07".to_owned(),
        long,
    ] {
        assert_eq!(split(&[stream.as_bytes()]), (stream.clone().into_bytes(), Vec::new()));
    }
}

#[test]
fn a_mark_inside_a_broken_mark_is_found() {
    let broken = format!("\x1b]7391;{NONCE};42;Q;1;x");
    let stream = format!("{broken}{}", mark("B"));
    assert_eq!(split(&[stream.as_bytes()]), (broken.into_bytes(), vec![Mark::PromptReady]));
}

#[test]
fn a_mark_cut_anywhere_is_the_same_mark() {
    let stream = format!("a\x1b[1m{}b\x1b{}\x1b", mark("E;ab;130;/%C3%A4%20b"), mark("Q;0;%61"));
    let whole = split(&[stream.as_bytes()]);
    assert_eq!(whole.1.len(), 2);
    for first in 0..=stream.len() {
        for second in first..=stream.len() {
            let (a, rest) = stream.as_bytes().split_at(first);
            let (b, c) = rest.split_at(second - first);
            assert_eq!(split(&[a, b, c]), whole, "cut at {first} and {second}");
        }
    }
}

#[test]
fn one_wrong_byte_before_the_verb_makes_it_output() {
    let right = mark("E;ab;0;/");
    let prefix = right.find("E;").expect("it has a verb");
    for at in 0..prefix {
        for wrong in [b'0', b'9', b'f', b';', 0x1b, 0x07, b' ', 0xff] {
            let mut forged = right.clone().into_bytes();
            if forged[at] != wrong {
                forged[at] = wrong;
                assert_eq!(split(&[&forged]), (forged.clone(), Vec::new()), "byte {at} is {wrong}");
            }
        }
        let mut short = right.clone();
        short.remove(at);
        assert_eq!(split(&[short.as_bytes()]), (short.clone().into_bytes(), Vec::new()), "byte {at} is missing");
    }
}

#[test]
fn megabytes_without_a_terminator_pass_with_bounded_memory() {
    for opening in ["\x1b]0;", "\x1b]7391;", "\x1b]7391;0123", &format!("\x1b]7391;{NONCE};42;Q;1;")] {
        let mut parser = MarkParser::new(NONCE, 42);
        let mut passed = 0;
        let pieces = std::iter::once(opening.as_bytes()).chain(std::iter::repeat_n(&[b'a'; 4096][..], 1024));
        for piece in pieces {
            let mut rest = piece;
            while let Some(item) = parser.next(&mut rest) {
                match item {
                    Item::Bytes(bytes) => passed += bytes.len(),
                    Item::Mark(mark) => panic!("{mark:?} from nowhere"),
                }
            }
            assert!(parser.held.capacity() <= 4 * MARK_MAX_BYTES, "{} bytes", parser.held.capacity());
        }
        passed += parser.finish().len();
        assert_eq!(passed, opening.len() + 1024 * 4096, "{opening:?}");
    }
}

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        3 => proptest::collection::vec(any::<u8>(), 0..20),
        3 => prop_oneof![Just("B"), Just("C"), Just("D;;1;/x"), Just("S;4"), Just("Q;0;%61"), Just("bad;x")]
            .prop_map(|body| mark(body).into_bytes()),
        1 => Just(format!("\x1b]7391;{NONCE};42;").into_bytes()),
        1 => Just(b"\x1b]7391;".to_vec()),
        1 => Just(b"\x1b".to_vec()),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_chunking_gives_what_the_whole_gives(stream in stream(), cuts in proptest::collection::vec(1usize..9, 1..40)) {
        let mut chunks = Vec::new();
        let mut rest = stream.as_slice();
        for cut in cuts.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (chunk, tail) = rest.split_at((*cut).min(rest.len()));
            chunks.push(chunk);
            rest = tail;
        }
        prop_assert_eq!(split(&chunks), split(&[&stream]));
    }

    #[test]
    fn bytes_that_hold_no_mark_of_ours_pass_untouched(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        prop_assert_eq!(split(&[&bytes]), (bytes.clone(), Vec::new()));
    }
}
