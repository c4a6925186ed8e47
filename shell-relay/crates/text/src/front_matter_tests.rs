use proptest::prelude::*;

use super::*;

#[test]
fn heads_of_other_programs_are_read() {
    let text = "\u{feff}---\r\nname: pdf  # tools\r\ndescription: |-\r\n  Reads: PDFs.\r\n\r\n  Use it often.\r\nallowed-tools:\r\n- Read\r\n- Bash(git add:*)\r\nlicense: x\r\n---\r\nBody.\r\n";
    let (head, body) = split(text).unwrap();
    assert_eq!(body, "Body.\r\n");
    assert_eq!(field(head, "name").as_deref(), Some("pdf"));
    assert_eq!(field(head, "description").as_deref(), Some("Reads: PDFs. Use it often."));
    assert_eq!(list(head, "allowed-tools").unwrap(), ["Read", "Bash(git add:*)"]);
    assert_eq!(field(head, "license").as_deref(), Some("x"));
}

#[test]
fn quotes_and_comments_are_no_part_of_a_value() {
    for (value, read) in [
        ("\"a \\\"b\\\" \\\\ c\"", Some("a \"b\" \\ c")),
        ("'it''s'", Some("it's")),
        ("'a' # why", Some("a")),
        ("C# is one word", Some("C# is one word")),
        ("a #b", Some("a")),
        ("# only a comment", None),
        ("\"not closed", Some("\"not closed")),
        ("'a' or 'b'", Some("'a' or 'b'")),
        (">2-\n  folded", Some("folded")),
        ("> quoted", Some("> quoted")),
        ("\"\"", None),
        ("", None),
    ] {
        assert_eq!(field(&format!("x: 1\na: {value}\nb: 2"), "a").as_deref(), read, "{value}");
    }
}

#[test]
fn lists_come_in_four_forms() {
    for value in
        ["[Read, \"Grep\"]", "Read, Grep", "Read Grep", "\n  - Read\n  - 'Grep'", "\n- Read\n- Grep", "\"Read, Grep\""]
    {
        assert_eq!(list(&format!("a: {value}\nb: 2"), "a").unwrap(), ["Read", "Grep"], "{value}");
    }
    assert_eq!(list("a:\nb: 2", "a").unwrap(), Vec::<String>::new());
    assert_eq!(list("b: 2", "a"), None);
    assert_eq!(list(&format!("a: {}", "x ".repeat(1_000)), "a").unwrap().len(), MAX_ITEMS);
}

#[test]
fn a_text_without_a_closed_head_has_none() {
    for text in ["", "---", "----\na: 1\n---\n", "text\n---\n---\n", "---\na: 1\n", " ---\n---\n"] {
        assert_eq!(split(text), None, "{text:?}");
    }
    assert_eq!(split("---\n---"), Some(("", "")));
    assert_eq!(split("---\na: 1\n---"), Some(("a: 1", "")));
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "(---\r?\n)?(a:|- |[\"'\\\\#>|(),\\[\\] ]|\n|.){0,60}(\n---\n)?.{0,9}") {
        if let Some((head, _)) = split(&text) {
            let _ = (field(head, "a"), list(head, "a"));
        }
        let _ = (field(&text, "a"), list(&text, "a"));
    }
}
