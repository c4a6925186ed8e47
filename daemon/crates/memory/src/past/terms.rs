//! Splits text into the terms by which questions and records are compared. Pure.

use std::{borrow::Cow, path::Path};

use rust_stemmers::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Longest term, in bytes; longer ones are left out.
const MAX_TERM_BYTES: usize = 64;
/// Names of a path that count: those at its end.
const MAX_NAMES: usize = 3;
/// Most terms of a text; further ones are left out.
pub const MAX_TERMS: usize = 2_000;

/// The terms of a text in their order, each as often as it occurs: lower case, without accents, in the stem of an English word. A name
/// with digits or underscores gives its parts, too.
///
/// ```
/// let terms = cohab_memory::past::terms::of("Tests of Größe in ~/src/my_upload");
/// assert_eq!(terms, ["test", "of", "gross", "in", "src", "my_upload", "my", "upload"]);
/// ```
#[must_use]
pub fn of(text: &str) -> Vec<String> {
    let stemmer = stemmer();
    let mut terms = Vec::new();
    visit(text, &mut |word| {
        if terms.len() < MAX_TERMS {
            terms.push(stemmer.stem(word).into_owned());
        }
    });
    terms
}

/// The terms of the names at the end of a folder's path.
#[must_use]
pub fn of_folder(path: &Path) -> Vec<String> {
    names(path).flat_map(|name| of(&name)).collect()
}

/// The names at the end of a folder's path.
pub(super) fn names(path: &Path) -> impl Iterator<Item = Cow<'_, str>> {
    path.iter().rev().take(MAX_NAMES).map(|name| name.to_string_lossy())
}

/// What makes terms of words.
pub(super) fn stemmer() -> Stemmer {
    Stemmer::create(Algorithm::English)
}

/// Calls `take` with each word of a text before its stem is taken.
pub(super) fn visit(text: &str, take: &mut dyn FnMut(&str)) {
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        if word.is_empty() || word.len() > MAX_TERM_BYTES {
            continue;
        }
        let word = plain(word);
        let name = word.trim_matches('_');
        if !name.is_empty() {
            take(name);
        }
        if name.contains('_') {
            name.split('_').filter(|part| !part.is_empty()).for_each(&mut *take);
        }
    }
}

/// Whether one term is the other with a slip of the fingers: a letter too many, too few, wrong, or two swapped. Terms of fewer than five
/// letters are too short to tell; in longer ones than eight two slips are allowed.
#[must_use]
pub fn is_slip(term: &str, other: &str) -> bool {
    let length = term.chars().count();
    let allowed = match length {
        0..5 => 0,
        5..9 => 1,
        _ => 2,
    };
    term != other && length.abs_diff(other.chars().count()) <= allowed && strsim::osa_distance(term, other) <= allowed
}

/// A word in lower case without accents.
fn plain(word: &str) -> Cow<'_, str> {
    if word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
        return Cow::Borrowed(word);
    }
    let word = word.to_lowercase().replace('ß', "ss");
    Cow::Owned(if word.is_ascii() { word } else { word.nfd().filter(|c| !is_combining_mark(*c)).collect() })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_are_one_term() {
        assert_eq!(of("permissions permission"), ["permiss", "permiss"]);
        assert_eq!(of("converted converting convert"), ["convert"; 3]);
        assert_eq!(of("café CAFÉ"), ["cafe", "cafe"]);
    }

    #[test]
    fn a_command_gives_its_words() {
        let line = "ffmpeg -i trailer.mov -c:v libx264 out/trailer-final.mp4";
        let expected = ["ffmpeg", "i", "trailer", "mov", "c", "v", "libx264", "out", "trailer", "final", "mp4"];
        assert_eq!(of(line), expected);
        assert_eq!(of("__init__ a__b _ "), ["init", "a__b", "a", "b"]);
    }

    #[test]
    fn slips_are_recognized_in_long_terms_only() {
        for (term, other, is) in [
            ("chekcing", "checking", true),
            ("lsptat", "lpstat", true),
            ("permision", "permission", true),
            ("sort", "port", false),
            ("nginx", "nginx", false),
            ("docker", "ducks", false),
        ] {
            assert_eq!(is_slip(term, other), is, "{term} {other}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_bounded_terms(text in "(?s).{0,400}") {
            let terms = of(&text);
            prop_assert!(terms.len() <= MAX_TERMS);
            prop_assert!(terms.iter().all(|term| !term.is_empty() && !term.chars().any(char::is_whitespace)));
        }
    }
}
