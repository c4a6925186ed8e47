//! Looks up words: synonyms, fillers, and names of programs. The data is in the submodules, by kind. Patterns of intents are not here.

mod abbreviations;
mod concepts;
mod foreign;
mod kinds;
mod phrases;
mod plain;

use std::{
    collections::{HashMap, HashSet},
    sync::LazyLock,
};

pub(super) use self::phrases::PHRASES;
use self::{
    abbreviations::ABBREVIATIONS,
    concepts::{CONCEPTS, WEAK},
    foreign::FOREIGN,
    kinds::{EXTENSIONS, KINDS},
    plain::{FILLERS, MAKING, MANNER, NARROWING, NO_TYPOS, PROGRAMS},
};

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
static FILLER_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FILLERS.split_whitespace().collect());
static PROGRAM_NAMES: LazyLock<HashSet<&str>> = LazyLock::new(|| PROGRAMS.split_whitespace().collect());
static TYPO_EXEMPT: LazyLock<HashSet<&str>> = LazyLock::new(|| NO_TYPOS.split_whitespace().collect());
static FOREIGN_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| FOREIGN.split_whitespace().collect());
static WEAK_CONCEPTS: LazyLock<HashSet<&str>> = LazyLock::new(|| WEAK.split_whitespace().collect());

static SHORT_WORDS: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let pairs = ABBREVIATIONS.iter().flat_map(|(word, short)| short.split(' ').map(move |short| (short, *word)));
    pairs.collect()
});

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
    if is_filler(word) || is_program(word) || TYPO_EXEMPT.contains(word) || !word.chars().all(char::is_alphabetic) {
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
    WEAK_CONCEPTS.contains(concept)
}

/// Whether a lower-case word is without meaning here.
pub(super) fn is_filler(word: &str) -> bool {
    FILLER_WORDS.contains(word)
}

/// Whether a lower-case word tells how, whose or how many.
pub(super) fn is_manner(word: &str) -> bool {
    holds(MANNER, word)
}

/// Whether a lower-case word says how much or which.
pub(super) fn is_narrowing(word: &str) -> bool {
    holds(NARROWING, word)
}

/// Whether a lower-case word is a verb that asks for something new.
pub(super) fn is_making(word: &str) -> bool {
    holds(MAKING, word)
}

fn holds(words: &str, word: &str) -> bool {
    words.split_whitespace().any(|known| known == word)
}

/// Whether a lower-case word belongs to a question that the assistant cannot answer.
pub(super) fn is_foreign(word: &str) -> bool {
    FOREIGN_WORDS.contains(word)
}

/// Whether a word is the name of a well-known program.
pub(super) fn is_program(word: &str) -> bool {
    PROGRAM_NAMES.contains(word)
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
    EXTENSIONS.iter().find(|(words, _)| words.split(' ').any(|known| known == word)).map(|(_, extensions)| *extensions)
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
        for (concept, words) in CONCEPTS {
            for word in words.split_whitespace() {
                let before = seen.insert(word, concept);
                assert!(before.is_none_or(|before| before == *concept), "{word} means {concept} and {before:?}");
            }
        }
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
