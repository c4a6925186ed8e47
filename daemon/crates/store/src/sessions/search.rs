//! Turns a person's search words into conditions of a query. Pure.

use std::fmt::Write as _;

/// Most words; further ones are ignored.
const MAX_WORDS: usize = 16;

/// Most events of a very frequent word, the newest.
const MAX_MATCHES: usize = 20_000;

/// Matches every session if there are no words.
const EVERY: &str = "TRUE";

/// The words that are looked for, without NUL.
fn usable(words: &[String]) -> impl Iterator<Item = String> {
    words.iter().map(|word| word.replace('\0', "")).filter(|word| !word.trim().is_empty()).take(MAX_WORDS)
}

/// The start of an indexed word, as a query of the index. `None` for a word without letters: it has no tokens to look for.
fn token(word: &str) -> Option<String> {
    let has_letters = word.chars().any(char::is_alphanumeric);
    has_letters.then(|| format!("\"{}\" *", word.trim().replace('"', "\"\"")))
}

/// A query of the index for events with all of these words; empty if there are none.
pub(super) fn tokens(words: &[String]) -> String {
    usable(words).filter_map(|word| token(&word)).collect::<Vec<_>>().join(" AND ")
}

/// A condition on `sessions` and the values of its parameters `?1`, `?2`, ...: every word is in the title or begins an indexed word.
/// The words are data, with any characters in them.
pub(super) fn condition(words: &[String]) -> (String, Vec<String>) {
    let (mut sql, mut values) = (String::new(), Vec::new());
    for word in usable(words) {
        if !sql.is_empty() {
            sql.push_str(" AND ");
        }
        values.push(format!("%{}%", word.trim().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")));
        // Writing to a String cannot fail.
        let _ = write!(sql, "(title LIKE ?{} ESCAPE '\\'", values.len());
        if let Some(token) = token(&word) {
            values.push(token);
            let _ = write!(
                sql,
                " OR key IN (SELECT session FROM events WHERE number IN (SELECT rowid FROM search WHERE search MATCH ?{} \
                 ORDER BY rowid DESC LIMIT {MAX_MATCHES}))",
                values.len()
            );
        }
        sql.push(')');
    }
    if sql.is_empty() { (EVERY.to_owned(), values) } else { (sql, values) }
}
