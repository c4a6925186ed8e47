use proptest::prelude::*;

use super::*;

fn split_by(
    mut splitter: ThinkSplitter,
    chunks: impl IntoIterator<Item = String>,
    has_other: bool,
) -> (String, String) {
    let mut pieces: Vec<Piece> = chunks.into_iter().flat_map(|chunk| splitter.push(&chunk)).collect();
    pieces.extend(splitter.finish(has_other));
    let (mut reasoning, mut text) = (String::new(), String::new());
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(&piece),
            Piece::Reasoning(piece) => reasoning.push_str(&piece),
        }
    }
    (reasoning, text)
}

fn split(chunks: impl IntoIterator<Item = String>) -> (String, String) {
    split_by(ThinkSplitter::default(), chunks, false)
}

fn per_character(text: &str) -> impl Iterator<Item = String> {
    text.chars().map(String::from)
}

#[test]
fn tags_are_found_in_one_piece_and_in_many() {
    let cases = [
        ("\n<think>a < b</think>\n\nAnswer", "a < b", "Answer"),
        ("<think></think>Answer", "", "Answer"),
        ("<think>never closed", "never closed", ""),
        ("lost opening\n</think>\nAnswer", "", "lost opening\nAnswer"),
        ("Answer about <think> and </think>.", "", "Answer about <think> and </think>."),
        ("<thin", "", "<thin"),
        ("<thing>x", "", "<thing>x"),
        ("a\n</thin", "", "a\n</thin"),
        ("<think>x</think>a\n</think>\nb", "x", "a\n</think>\nb"),
    ];
    for (input, reasoning, text) in cases {
        let expected = (reasoning.to_owned(), text.to_owned());
        assert_eq!(split([input.to_owned()]), expected, "{input:?}");
        assert_eq!(split(per_character(input)), expected, "{input:?}");
    }
}

#[test]
fn tags_that_are_shown_or_quoted_stay_text() {
    for input in [
        "Put it like this:\n<think>\nreasons\n</think>\nand go on",
        "Like this:\n```\nreasons\n</think>\nanswer\n```\n",
        "  ~~~xml\n</think>\n  ~~~\n",
        "`<think>`\n</think>\n",
    ] {
        assert_eq!(split([input.to_owned()]), (String::new(), input.to_owned()));
        assert_eq!(split(per_character(input)), (String::new(), input.to_owned()));
    }
    let after_code = "```\nx\n```\nreasons\n</think>\n\nAnswer";
    assert_eq!(split(per_character(after_code)).1, "```\nx\n```\nreasons\nAnswer");
}

#[test]
fn a_swallowed_opening_tag_is_found_out_and_then_assumed() {
    let input = "reasons < all\n</think>\n\nAnswer";
    let mut first = ThinkSplitter::default();
    assert_eq!(first.push("reasons"), [Piece::Text("reasons".to_owned())]);
    assert!(!first.has_bare_close());
    first.push("\n</think>\n\nAnswer");
    assert!(first.has_bare_close());
    for chunks in [vec![input.to_owned()], per_character(input).collect()] {
        let (reasoning, text) = split_by(ThinkSplitter::without_opening_tag(), chunks, false);
        assert_eq!((reasoning.as_str(), text.as_str()), ("reasons < all\n", "Answer"));
    }
    let tagged = "<think>a</think>b".to_owned();
    assert_eq!(split_by(ThinkSplitter::without_opening_tag(), [tagged], false), ("a".to_owned(), "b".to_owned()));
}

#[test]
fn an_assumed_reasoning_without_its_end_was_the_answer() {
    let (reasoning, text) = split_by(ThinkSplitter::without_opening_tag(), per_character("Just an answer <"), false);
    assert_eq!((reasoning.as_str(), text.as_str()), ("Just an answer ", "Just an answer <"));
    let (reasoning, text) = split_by(ThinkSplitter::without_opening_tag(), per_character("then a call"), true);
    assert_eq!((reasoning.as_str(), text.as_str()), ("then a call", ""));
    let mut splitter = ThinkSplitter::without_opening_tag();
    splitter.leave_to_service();
    assert_eq!(splitter.push("Answer"), [Piece::Text("Answer".to_owned())]);
}

#[test]
fn ordinary_text_is_not_held_back() {
    let mut splitter = ThinkSplitter::default();
    for piece in ["Hello", " you\n", "and ", "`code`", "\n\n", "x"] {
        assert_eq!(
            splitter.push(piece),
            piece.split_inclusive('\n').map(|line| Piece::Text(line.to_owned())).collect::<Vec<_>>()
        );
    }
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same(text in "(<think>|</think>|```|[a<>/\n ]|\u{e9}){0,12}", assumes: bool) {
        let splitter = || if assumes { ThinkSplitter::without_opening_tag() } else { ThinkSplitter::default() };
        let slowly = split_by(splitter(), per_character(&text), false);
        prop_assert_eq!(slowly, split_by(splitter(), [text], false));
    }
}
