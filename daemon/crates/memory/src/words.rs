//! Splits text into the words by which facts and questions are compared. Pure.

use std::{collections::HashSet, sync::LazyLock};

/// Most words of a question; further ones are ignored.
pub const MAX_WORDS: usize = 24;
/// Longest word, in bytes; longer ones are ignored.
const MAX_WORD_BYTES: usize = 64;

/// Words that say nothing about a subject.
static EMPTY: LazyLock<HashSet<&str>> = LazyLock::new(|| table(include_str!("empty.table")));
/// Words that many questions at a terminal contain.
static COMMON: LazyLock<HashSet<&str>> = LazyLock::new(|| table(include_str!("common.table")));

/// The words of a question that can say what it is about: in lower case, each once, in their order. Words without a meaning such as
/// "the" are left out.
///
/// ```
/// assert_eq!(cohab_memory::words::content("Deploy to staging, then test Staging"), ["deploy", "staging", "test"]);
/// ```
#[must_use]
pub fn content(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if words.len() == MAX_WORDS {
            break;
        }
        if word.is_empty() || word.len() > MAX_WORD_BYTES {
            continue;
        }
        let word = word.to_lowercase();
        let is_letter = word.chars().count() == 1 && !word.chars().all(char::is_numeric);
        if !is_letter && !EMPTY.contains(word.as_str()) && !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

/// Whether many questions contain this word, so that it alone connects nothing.
#[must_use]
pub fn is_common(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit()) || COMMON.contains(word)
}

fn table(text: &str) -> HashSet<&str> {
    text.lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn words_are_lower_case_and_stand_once() {
        assert_eq!(content("The NGINX of nginx runs in /srv/www_data."), ["nginx", "runs", "srv", "www_data"]);
        assert_eq!(content("what is it? and why... a b 7"), ["7"]);
        assert_eq!(content("wo läuft der Größenrechner"), ["wo", "läuft", "der", "größenrechner"]);
        assert!(content("").is_empty());
    }

    #[test]
    fn common_words_are_known_in_their_usual_forms() {
        for word in ["file", "files", "list", "show", "docker", "folder", "run", "8080"] {
            assert!(is_common(word), "{word}");
        }
        for word in ["staging", "nextest", "nas", "blue"] {
            assert!(!is_common(word), "{word}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_few_short_words(text in "\\PC{0,400}") {
            let words = content(&text);
            prop_assert!(words.len() <= MAX_WORDS);
            // A letter can grow in lower case.
            prop_assert!(words.iter().all(|word| !word.is_empty() && word.len() <= 3 * MAX_WORD_BYTES));
        }
    }
}
