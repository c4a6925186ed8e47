//! Mends spelling errors of a request: a word that no table has becomes the nearest one that a table has.

use super::{
    super::vocabulary::abbreviated,
    model::Model,
    vectors::Vector,
    words::{Word, words as words_of},
};

/// Shortest word that is mended.
const SHORTEST: usize = 4;
/// From this length on two errors are mended.
const LONG: usize = 7;

/// Replaces words with spelling errors. Names and numbers stay.
pub(super) fn mend(model: &Model, words: &mut [Word]) {
    for word in words.iter_mut().filter(|word| !word.is_quoted) {
        if let Some(full) = abbreviated(&word.raw.to_lowercase()) {
            *word = Word { raw: word.raw.clone(), ..words_of(full).swap_remove(0) };
        }
    }
    for word in words.iter_mut().filter(|word| !word.is_name && !word.is_filler()) {
        if model.knows(word) || word.form.chars().count() < SHORTEST || !word.form.chars().all(char::is_alphabetic) {
            continue;
        }
        if let Some(known) = nearest(model, &word.form) {
            word.vector = Vector::of(&known);
            word.form = known;
        }
    }
}

fn nearest(model: &Model, form: &str) -> Option<String> {
    let length = form.chars().count();
    let most = if length >= LONG { 2 } else { 1 };
    let alike = model.words().filter(|known| {
        known.chars().all(char::is_alphabetic)
            && known.chars().count().abs_diff(length) <= most
            && known.chars().next() == form.chars().next()
    });
    let same_start = |known: &str| form.chars().zip(known.chars()).take_while(|(one, other)| one == other).count();
    let distances = alike.map(|known| (strsim::osa_distance(form, known), known)).filter(|(errors, _)| *errors <= most);
    // Errors stand late in a word rather than early.
    let best = distances.min_by_key(|(errors, known)| (*errors, std::cmp::Reverse(same_start(known)), *known));
    best.map(|(_, known)| known.to_owned())
}
