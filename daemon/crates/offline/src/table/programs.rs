//! Finds the programs that a request may need, by their names and one-line descriptions in `intents/programs.table`. Does not look which of
//! them are installed.

use std::{cmp::Ordering, sync::LazyLock};

use super::{
    model::MODEL,
    words::{Word, words},
};

/// Most programs that are named.
const MOST: usize = 3;
/// What the words that request and description share must weigh together.
const LEAST: f32 = 4.0;

/// A program and what it does.
pub(crate) struct Program {
    /// Its name, as it is typed.
    pub(crate) name: &'static str,
    /// What it does, in the third person.
    pub(crate) about: &'static str,
    words: Vec<Word>,
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| {
    let rows = include_str!("../../intents/programs.table").lines().filter(|line| !line.starts_with('#'));
    let program = |row: &'static str| {
        let (name, about) = row.split_once(": ")?;
        Some(Program { name, about, words: telling(about) })
    };
    rows.filter_map(program).collect()
});

/// The programs whose descriptions are most like a request, the best first; none if they share too little.
pub(crate) fn nearest(request: &str) -> Vec<&'static Program> {
    let request = telling(request);
    let mut ranked: Vec<(f32, &Program)> =
        PROGRAMS.iter().map(|program| (shared(&request, program), program)).filter(|(score, _)| *score > 0.0).collect();
    ranked.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap_or(Ordering::Equal));
    ranked.into_iter().take(MOST).map(|(_, program)| program).collect()
}

/// A sentence about a program: "It packs and unpacks tar archives. "
pub(super) fn sentence(name: &str) -> Option<String> {
    let program = PROGRAMS.iter().find(|program| program.name == name)?;
    Some(format!("It {}. ", program.about))
}

fn telling(text: &str) -> Vec<Word> {
    words(text).into_iter().filter(|word| !word.is_filler()).collect()
}

/// What the words that a program shares with a request weigh, less for a long description; 0 if that is too little.
fn shared(request: &[Word], program: &Program) -> f32 {
    let is_shared = |word: &&Word| program.words.iter().any(|other| word.form == other.form);
    let weights: Vec<f32> = request.iter().filter(is_shared).map(|word| MODEL.rarity(word)).collect();
    let weight = weights.iter().sum::<f32>();
    if weights.len() > 1 && weight >= LEAST { weight / (3.0 + program.words.len() as f32).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_programs_are_found_by_what_they_do() {
        for (request, name) in [
            ("recover deleted photos from the sd card", "testdisk"),
            ("read the text in a scanned image", "tesseract"),
            ("make QR codes", "qrencode"),
            ("which program measures the speed of my internet", "speedtest-cli"),
            ("burn an ISO image of a folder", "mkisofs"),
        ] {
            let found: Vec<&str> = nearest(request).iter().map(|program| program.name).collect();
            assert!(found.contains(&name), "{request}: {found:?}");
        }
    }

    #[test]
    fn other_subjects_need_no_program() {
        for request in ["write me a poem", "why is the sky blue", "who are the Beatles", ""] {
            assert!(nearest(request).is_empty(), "{request}: {:?}", nearest(request).first().map(|found| found.name));
        }
    }

    #[test]
    fn a_sentence_says_what_a_program_does() {
        assert_eq!(sentence("rmdir").as_deref(), Some("It deletes empty folders. "));
        assert!(sentence("no-such-program").is_none());
    }

    #[test]
    fn names_are_unique_and_sorted() {
        assert!(PROGRAMS.len() >= 400);
        assert!(PROGRAMS.windows(2).all(|two| two[0].name < two[1].name));
    }
}
