//! Splits a question into tokens.

use std::{collections::HashMap, sync::LazyLock};

use super::{
    shell_line::is_variable_name,
    vocabulary::{PHRASES, concept_of, is_filler, is_foreign, is_weak},
};

/// More tokens than any everyday request has.
const MAX_TOKENS: usize = 80;

/// The expressions by their first word, the longest first.
static PHRASES_BY_START: LazyLock<HashMap<&str, Vec<(&str, &str)>>> = LazyLock::new(|| {
    let mut phrases: HashMap<&str, Vec<(&str, &str)>> = HashMap::new();
    for (phrase, meaning) in PHRASES.iter() {
        phrases.entry(phrase.split(' ').next().unwrap_or_default()).or_default().push((phrase, meaning));
    }
    for alike in phrases.values_mut() {
        alike.sort_by_key(|(phrase, _)| std::cmp::Reverse(phrase.split(' ').count()));
    }
    phrases
});

/// One word of a question, or one quoted text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    /// As written, without quotes and the punctuation of the sentence.
    pub(super) raw: String,
    /// In lower case.
    pub(super) norm: String,
    /// Its concept.
    pub(super) concept: Option<&'static str>,
    /// Certainly a name: quoted, with a slash, a dot, a digit or an underscore in it, or announced by "named".
    pub(super) is_name: bool,
    /// Was in quotes.
    pub(super) is_quoted: bool,
    /// A comma, semicolon or full stop follows.
    pub(super) ends_clause: bool,
}

impl Token {
    /// Whether the meaning stays the same without it.
    pub(super) fn is_idle(&self) -> bool {
        !self.is_name && self.concept.map_or_else(|| is_filler(&self.norm), is_weak)
    }

    /// Whether it belongs to a subject other than this machine, if it is not a name.
    pub(super) fn is_foreign(&self) -> bool {
        !self.is_name && is_foreign(&self.norm)
    }

    /// Whether it can be a name without an announcement: neither filler nor known word.
    pub(super) fn is_unknown(&self) -> bool {
        self.is_name || (self.concept.is_none() && !is_filler(&self.norm))
    }

    /// Whether it can be the name of a file without an announcement: a quoted sentence or a number cannot.
    pub(super) fn looks_like_path(&self) -> bool {
        self.is_name
            && !self.raw.strip_prefix('$').is_some_and(is_variable_name)
            && !self.norm.trim_start_matches([':', '#']).bytes().all(|byte| byte.is_ascii_digit())
            && (!self.is_quoted || looks_like_name(&self.raw))
    }

    fn word(raw: &str, is_quoted: bool, ends_clause: bool) -> Self {
        let norm = raw.to_lowercase();
        let is_name = is_quoted || looks_like_name(raw);
        let concept = if is_name { None } else { concept_of(&norm) };
        Self { raw: raw.to_owned(), norm, concept, is_name, is_quoted, ends_clause }
    }
}

/// Splits a question. Quotes hold words together; "named X" makes X a name; phrases become one word.
pub(super) fn tokenize(text: &str) -> Vec<Token> {
    let mut tokens = split(text);
    tokens.truncate(MAX_TOKENS);
    let greetings = tokens.iter().take_while(|token| token.concept == Some("hello")).count();
    if tokens[greetings..].iter().any(|token| !token.is_idle()) {
        tokens.drain(..greetings);
    }
    let mut tokens = join_phrases(&tokens);
    for index in 1..tokens.len() {
        let announces = ["named", "called", "namens", "genannt"].contains(&tokens[index - 1].norm.as_str());
        if announces && !tokens[index - 1].is_quoted {
            tokens[index].is_name = true;
            tokens[index].concept = None;
        }
    }
    tokens.retain(|token| token.is_quoted || !["named", "called", "namens", "genannt"].contains(&token.norm.as_str()));
    tokens
}

pub(super) fn split(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some((inside, after)) = quoted(first, rest) {
            let ends_clause = after.starts_with([',', ';']);
            tokens.push(Token::word(inside, true, ends_clause));
            rest = after.trim_start_matches(['?', '!', '.', ',', ';', ':']).trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        if let Some((assignment, after)) = quoted_assignment(rest, end) {
            tokens.push(Token { is_quoted: false, ..Token::word(&assignment, true, after.starts_with([',', ';'])) });
            rest = after.trim_start_matches([',', ';', '?']).trim_start();
            continue;
        }
        let piece = &rest[..end];
        rest = rest[end..].trim_start();
        let bare = strip_punctuation(piece);
        if !bare.is_empty() {
            tokens.push(Token::word(bare, false, piece.ends_with([',', ';', '.']) && piece != bare));
        }
    }
    tokens
}

fn quoted(first: char, rest: &str) -> Option<(&str, &str)> {
    let close = match first {
        '\'' | '"' | '`' => first,
        '“' | '„' => '”',
        '‘' => '’',
        _ => return None,
    };
    let body = &rest[first.len_utf8()..];
    // A German closing quote equals the English opening one.
    let end = body.find(|letter| letter == close || (first == '„' && letter == '“'))?;
    let after = &body[end..];
    let after = &after[after.chars().next().map_or(0, char::len_utf8)..];
    let is_closed = after.chars().next().is_none_or(|next| !next.is_alphanumeric());
    (end > 0 && is_closed).then(|| (&body[..end], after))
}

/// Reads `NAME="a b"` as `NAME=a b`; returns it and the rest.
fn quoted_assignment(rest: &str, end: usize) -> Option<(String, &str)> {
    let equals = rest[..end].find('=')?;
    let value = &rest[equals + 1..];
    let (inside, after) = quoted(value.chars().next()?, value)?;
    Some((format!("{}={inside}", &rest[..equals]), after))
}

fn strip_punctuation(piece: &str) -> &str {
    if !piece.is_empty() && piece.chars().all(|letter| letter == '.') && piece.len() <= 2 {
        return piece;
    }
    let bare = piece.trim_start_matches(['(', '¿', '¡']).trim_end_matches(['?', '!', ',', ';', ')']);
    let bare = if bare.ends_with("/..") || bare.ends_with("/.") { bare } else { bare.trim_end_matches('.') };
    bare.trim_end_matches(':')
}

/// Whether a word resembles the name of a file, host or variable.
fn looks_like_name(raw: &str) -> bool {
    raw.contains(['/', '_', '=', '@', '*', '$', '~', '\\', '<', '>', '|', '&', '`'])
        || raw.starts_with('-')
        || raw.starts_with('.')
        || raw.split('.').filter(|part| !part.is_empty()).count() > 1
        || (raw.contains(|letter: char| letter.is_ascii_digit()) && concept_of(&raw.to_lowercase()).is_none())
}

fn join_phrases(tokens: &[Token]) -> Vec<Token> {
    let mut joined = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some(token) = rest.first() {
        let phrases = PHRASES_BY_START.get(token.norm.as_str()).map_or(&[][..], Vec::as_slice);
        // With options the text is a typed line, or a question about that line.
        let may_be = |phrase: &str| joined.is_empty() || !phrase.contains(" -");
        let found = phrases.iter().filter(|(phrase, _)| may_be(phrase));
        match found
            .map(|(phrase, meaning)| (phrase_length(phrase, rest), *meaning))
            .find_map(|(length, meaning)| Some((length?, meaning)))
        {
            Some((length, meaning)) => {
                let ends_clause = rest[length - 1].ends_clause;
                let words: Vec<&str> = meaning.split_whitespace().collect();
                for (index, word) in words.iter().enumerate() {
                    joined.push(Token::word(word, false, ends_clause && index + 1 == words.len()));
                }
                rest = &rest[length..];
            }
            None => {
                joined.push(token.clone());
                rest = &rest[1..];
            }
        }
    }
    joined
}

fn phrase_length(phrase: &str, tokens: &[Token]) -> Option<usize> {
    let mut length = 0;
    for word in phrase.split(' ') {
        let token = tokens.get(length)?;
        if token.is_quoted || token.norm != word {
            return None;
        }
        length += 1;
    }
    Some(length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raws(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|token| token.raw).collect()
    }

    #[test]
    fn quotes_hold_together_and_apostrophes_do_not_open_one() {
        assert_eq!(raws("what's in \"my file.txt\"?"), ["what", "in", "my file.txt"]);
        assert_eq!(raws("don't delete 'a b', ok"), ["don't", "delete", "a b", "ok"]);
        assert_eq!(raws("zeige „meine Datei“"), ["zeige", "meine Datei"]);
    }

    #[test]
    fn the_point_of_the_sentence_is_no_part_of_the_name() {
        assert_eq!(raws("show main.rs."), ["show", "main.rs"]);
        assert_eq!(raws("ls .."), ["ls", ".."]);
        assert_eq!(raws("cd ../.."), ["cd", "../.."]);
    }

    #[test]
    fn named_makes_a_name_of_a_known_word() {
        let tokens = tokenize("find the file named size");
        assert!(tokens.last().is_some_and(|token| token.is_name && token.concept.is_none()));
    }

    proptest! {
        #[test]
        fn any_text_becomes_tokens(text in "\\PC{0,200}") {
            prop_assert!(tokenize(&text).len() <= 2 * MAX_TOKENS);
        }
    }
}
