//! Turns the words of a search into conditions of a query. Pure.

use std::fmt::Write as _;

/// Words beyond are not looked for.
const MAX_WORDS: usize = 16;

/// Of a word that is nearly everywhere, the newest events.
const MAX_MATCHES: usize = 20_000;

/// Stands for every session if there are no words.
const EVERY: &str = "TRUE";

/// A condition on `sessions` and the values of its parameters `?1`, `?2`, ...: every word is in the title or begins a word of what
/// is indexed. The words are data, whatever they hold.
pub(super) fn condition(words: &[String]) -> (String, Vec<String>) {
    let (mut sql, mut values) = (String::new(), Vec::new());
    for word in words.iter().map(|word| word.replace('\0', "")).filter(|word| !word.trim().is_empty()).take(MAX_WORDS) {
        if !sql.is_empty() {
            sql.push_str(" AND ");
        }
        values.push(format!("%{}%", word.trim().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_")));
        // Writing to a String cannot fail.
        let _ = write!(sql, "(title LIKE ?{} ESCAPE '\\'", values.len());
        // A phrase without letters has no tokens to look for.
        if word.chars().any(char::is_alphanumeric) {
            values.push(format!("\"{}\" *", word.trim().replace('"', "\"\"")));
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
