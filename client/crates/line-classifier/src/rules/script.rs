//! The rule for lines in a non-Latin script: names of programs are Latin.

use super::{Case, Opinion, assistant};
use crate::{
    line::{Shape, Token},
    words::asks_in_another_script,
};

/// Words in such a script behind a command that make a sentence.
const SENTENCE: usize = 3;

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    if case.line.text.is_ascii() {
        return None;
    }
    let tokens = &case.line.tokens;
    let first = tokens.first()?;
    let spoken = || {
        tokens
            .iter()
            .filter(|token| token.shape != Shape::Quoted && token.shape != Shape::Path && token.shape != Shape::Flag)
    };
    let letters: usize = spoken().map(|token| foreign_letters(token.text)).sum();
    if letters < letters_needed(case.line.text) {
        return None;
    }
    let reason = "is written in a script that commands are not";
    if !case.standing.is_known() || foreign_letters(first.text) > 0 && !case.standing.resolves {
        return assistant(reason);
    }
    let has_flags = tokens.iter().any(|token| token.shape == Shape::Flag);
    let asks = spoken().any(|token| asks_in_another_script(token.text));
    let words: usize = tokens.iter().skip(1).map(words_in).sum();
    let needed = if has_flags { SENTENCE + 1 } else { SENTENCE };
    let is_question = (asks || case.line.is_question()) && (!has_flags || words > 0);
    if is_question || words >= needed { assistant(reason) } else { None }
}

/// Number of words in a script that commands are not, guessed for scripts without blanks.
pub(super) fn words_in(token: &Token<'_>) -> usize {
    let letters = if token.shape == Shape::Plain { foreign_letters(token.text) } else { 0 };
    match letters_needed(token.text) {
        needed if letters < needed => 0,
        2 => letters.div_ceil(3),
        _ => 1,
    }
}

/// Letters that are neither Latin nor signs.
pub(super) fn foreign_letters(text: &str) -> usize {
    text.chars().filter(|char| *char > '\u{24f}' && char.is_alphabetic() && !is_latin_extension(*char)).count()
}

/// Number of such letters that make a word: two in scripts with a syllable per letter.
pub(super) fn letters_needed(text: &str) -> usize {
    if text.chars().any(|char| matches!(char, '\u{2e80}'..='\u{d7ff}' | '\u{20000}'..='\u{3ffff}')) { 2 } else { 3 }
}

fn is_latin_extension(char: char) -> bool {
    matches!(char, '\u{250}'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' | '\u{2c60}'..='\u{2c7f}' | '\u{a720}'..='\u{a7ff}' | '\u{fb00}'..='\u{fb06}' | '\u{ff21}'..='\u{ff5a}')
}
