//! Looks up words: synonyms, fillers, kinds of files, and names of programs. The data is in the tables of `words/`. Patterns of intents are
//! not here.

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

macro_rules! table {
    ($name:literal) => {
        rows(include_str!(concat!("../words/", $name, ".table")))
    };
}

/// Expressions of several words, and the words that replace them, in the order in which they are tried.
pub(super) static PHRASES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| table!("phrases").collect());

static CONCEPTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| table!("concepts").collect());
/// The endings of files, and the words that mean them.
static EXTENSIONS: LazyLock<Vec<(Vec<&str>, &str)>> =
    LazyLock::new(|| table!("extensions").map(|(endings, words)| (endings.split(' ').collect(), words)).collect());
static KINDS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| table!("kinds").collect());
static OPPOSITES: LazyLock<Vec<Vec<&str>>> = LazyLock::new(|| {
    let groups = include_str!("../words/opposites.table").lines().filter(|line| !line.starts_with('#'));
    groups.map(|group| group.split(' ').collect()).collect()
});
static LISTS: LazyLock<HashMap<&str, HashSet<&str>>> = LazyLock::new(|| {
    let mut lists: HashMap<&str, HashSet<&str>> = HashMap::new();
    for (list, words) in table!("lists") {
        lists.entry(list).or_default().extend(words.split(' '));
    }
    lists
});
static FILLERS: LazyLock<HashSet<&str>> = LazyLock::new(|| LISTS.get("filler").cloned().unwrap_or_default());

static WORD_CONCEPTS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = CONCEPTS.iter().flat_map(|(concept, words)| words.split_whitespace().map(move |word| (word, *concept)));
    pairs.chain(CONCEPTS.iter().map(|(concept, _)| (*concept, *concept))).collect()
});
/// The words long enough for typos, by their first letter; a typo never changes the first letter.
static TYPO_WORDS: LazyLock<HashMap<char, Vec<(&str, &str)>>> = LazyLock::new(|| {
    let mut words: HashMap<char, Vec<(&str, &str)>> = HashMap::new();
    for (concept, known) in
        CONCEPTS.iter().flat_map(|(concept, words)| words.split_whitespace().map(move |w| (*concept, w)))
    {
        if let Some(first) = known.chars().next().filter(|_| known.chars().count() >= MIN_TYPO_CHARS) {
            words.entry(first).or_default().push((known, concept));
        }
    }
    words
});
static SHORT_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    table!("abbreviations").flat_map(|(word, short)| short.split(' ').map(move |short| (short, word))).collect()
});

/// The rows of a table, each a key and a text.
fn rows(table: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = table.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    rows.filter_map(|row| row.split_once(':')).map(|(key, text)| (key, text.trim()))
}

/// Shortest word in which a typo is forgiven.
const MIN_TYPO_CHARS: usize = 5;
/// Most bytes by which a word with a typo may be longer or shorter.
const MAX_TYPO_BYTES: usize = 4;

/// The concept of a lower-case word, by an exact match, a plural or one typo.
pub(super) fn concept_of(word: &str) -> Option<&'static str> {
    if let Some(concept) = WORD_CONCEPTS.get(word) {
        return Some(concept);
    }
    if let Some(concept) = word.strip_suffix("'s").and_then(|stem| WORD_CONCEPTS.get(stem)) {
        return Some(concept);
    }
    if is_filler(word) || is_program(word) || holds("no-typo", word) || !word.chars().all(char::is_alphabetic) {
        return None;
    }
    if word.chars().count() < MIN_TYPO_CHARS {
        return None;
    }
    let alike = |(known, _): &&(&str, &'static str)| {
        known.len().abs_diff(word.len()) <= MAX_TYPO_BYTES && is_one_typo_away(word, known)
    };
    TYPO_WORDS.get(&word.chars().next()?)?.iter().find(alike).map(|(_, concept)| *concept)
}

/// Whether a concept is free to ignore.
pub(super) fn is_weak(concept: &str) -> bool {
    holds("weak", concept)
}

/// Whether a lower-case word is without meaning here.
pub(super) fn is_filler(word: &str) -> bool {
    FILLERS.contains(word)
}

/// Whether a lower-case word tells how, whose or how many.
pub(super) fn is_manner(word: &str) -> bool {
    holds("manner", word)
}

/// Whether a lower-case word says how much or which.
pub(super) fn is_narrowing(word: &str) -> bool {
    holds("narrowing", word)
}

/// Whether two lower-case words exclude each other, although they are used alike: "start" and "stop".
pub(super) fn are_opposites(one: &str, other: &str) -> bool {
    OPPOSITES.iter().any(|group| {
        let place = |word: &str| group.iter().position(|root| word.starts_with(root));
        matches!((place(one), place(other)), (Some(one), Some(other)) if one != other)
    })
}

/// Whether the word behind a lower-case word is a name.
pub(super) fn is_announcing(word: &str) -> bool {
    holds("announcing", word)
}

/// Whether the words behind a lower-case word are a text as it is.
pub(super) fn announces_text(word: &str) -> bool {
    holds("text", word)
}

/// Whether a lower-case word says of what a number counts, or since when.
pub(super) fn is_unit(word: &str) -> bool {
    holds("unit", word)
}

/// Whether a lower-case word of another subject is also one of files and tables.
pub(super) fn is_of_data(word: &str) -> bool {
    holds("data", word)
}

/// Whether many people have a folder of this lower-case name.
pub(super) fn is_usual_folder(word: &str) -> bool {
    holds("folder", word)
}

/// Whether a lower-case word is a verb that asks for something new.
pub(super) fn is_making(word: &str) -> bool {
    holds("making", word)
}

fn holds(list: &str, word: &str) -> bool {
    LISTS.get(list).is_some_and(|words| words.contains(word))
}

/// Whether a lower-case word belongs to a question that the assistant cannot answer.
pub(super) fn is_foreign(word: &str) -> bool {
    holds("foreign", word)
}

/// Whether a word is the name of a well-known program.
pub(super) fn is_program(word: &str) -> bool {
    holds("program", word)
}

/// Whether one letter was added, left out or changed, or two neighbours swapped; the first letter is right.
fn is_one_typo_away(word: &str, known: &str) -> bool {
    let (word, known): (Vec<char>, Vec<char>) = (word.chars().collect(), known.chars().collect());
    if known.len() < MIN_TYPO_CHARS || word.len().abs_diff(known.len()) > 1 || word.first() != known.first() {
        return false;
    }
    let same = word.iter().zip(&known).take_while(|(a, b)| a == b).count();
    let (word, known) = (&word[same..], &known[same..]);
    match word.len().cmp(&known.len()) {
        std::cmp::Ordering::Greater => word[1..] == *known,
        std::cmp::Ordering::Less => *word == known[1..],
        std::cmp::Ordering::Equal => {
            word.is_empty()
                || word[1..] == known[1..]
                || (word.len() > 1 && word[0] == known[1] && word[1] == known[0] && word[2..] == known[2..])
        }
    }
}

/// File name extensions meant by a word: `rust` files, `images`.
pub(super) fn extensions_of(word: &str) -> Option<&'static [&'static str]> {
    let is_meant = |(_, words): &&(Vec<&str>, &str)| words.split(' ').any(|known| known == word);
    EXTENSIONS.iter().find(is_meant).map(|(endings, _)| endings.as_slice())
}

/// The word that a lower-case word abbreviates.
pub(super) fn abbreviated(word: &str) -> Option<&'static str> {
    SHORT_WORDS.get(word).copied()
}

/// The kind of file that an ending means, as requests name it: `image` for `jpg`.
pub(super) fn kind_of_file(ending: &str) -> Option<&'static str> {
    let ending = ending.to_lowercase();
    KINDS.iter().find(|(_, endings)| endings.split(' ').any(|known| known == ending)).map(|(kind, _)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_stands_under_one_concept_only() {
        let mut seen: HashMap<&str, &str> = HashMap::new();
        for (concept, words) in CONCEPTS.iter() {
            for word in words.split_whitespace() {
                let before = seen.insert(word, concept);
                assert!(before.is_none_or(|before| before == *concept), "{word} means {concept} and {before:?}");
            }
        }
    }

    #[test]
    fn words_that_exclude_each_other_are_opposites() {
        assert!(are_opposites("start", "stopped") && are_opposites("weekly", "month"));
        assert!(!are_opposites("start", "started") && !are_opposites("start", "month"));
    }

    #[test]
    fn one_typo_is_forgiven_two_are_not() {
        for word in ["foldr", "folderr", "fodler", "folfer", "biggst", "memroy"] {
            assert!(concept_of(word).is_some(), "{word}");
        }
        for word in ["fodlre", "bg", "posts", "dolfer", "monads"] {
            assert_eq!(concept_of(word), None, "{word}");
        }
    }
}
