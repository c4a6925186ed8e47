use super::*;

#[test]
fn a_line_is_split_with_its_quotes() {
    let words: Vec<_> = Lexer::new("a'b c'\"d\\\"\" 2>x;e\\ f").collect();
    assert_eq!(
        words,
        [
            Token::Word(RawWord {
                raw: "a'b c'\"d\\\"\"",
                parts: vec![WordPart::Bare("a"), WordPart::Single("b c"), WordPart::Double("d\\\"")]
            }),
            Token::Word(RawWord { raw: "2", parts: vec![WordPart::Bare("2")] }),
            Token::Redirect { text: ">", before: "2", after: Some('x') },
            Token::Word(RawWord { raw: "x", parts: vec![WordPart::Bare("x")] }),
            Token::Separator,
            Token::Word(RawWord { raw: "e\\ f", parts: vec![WordPart::Bare("e\\ f")] }),
        ]
    );
    assert_eq!(Lexer::new("a 'b").last(), Some(Token::Unknown));
    assert_eq!(Lexer::new("a (b)").last(), Some(Token::Unknown));
}
