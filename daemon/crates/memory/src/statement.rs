//! Reads what a user states: clean text, and the scope that its words name. Pure.

use cohab_text::sanitize::one_line;

/// Longest fact, in characters.
pub const MAX_CHARS: usize = 1_000;

/// A fault of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatementFault {
    /// It has no words.
    Empty,
    /// It is longer than [`MAX_CHARS`].
    TooLong,
}

/// Words of a fact that concern the project around the current folder.
const HERE: [&str; 9] = [
    "this project",
    "this repo",
    "this repository",
    "this folder",
    "this directory",
    "this codebase",
    "this crate",
    "this package",
    "this workspace",
];

/// Whether a fact concerns the project around the current folder: "this project is tested with `cargo nextest`".
#[must_use]
pub fn is_about_this_project(fact: &str) -> bool {
    let fact = fact.to_lowercase();
    HERE.into_iter().any(|here| fact.contains(here))
}

/// The text of a fact as it is stored: one line without control characters and other hidden ones.
///
/// # Errors
/// It is empty or too long.
pub fn clean(text: &str) -> Result<String, StatementFault> {
    let line = one_line(text.trim(), usize::MAX);
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.chars().count() {
        0 => Err(StatementFault::Empty),
        count if count > MAX_CHARS => Err(StatementFault::TooLong),
        _ => Ok(line),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fact_about_the_project_is_recognized_by_its_words() {
        assert!(is_about_this_project("This project is tested with cargo nextest"));
        assert!(is_about_this_project("the default branch of this repo is trunk"));
        assert!(!is_about_this_project("projects live in ~/src"));
    }

    #[test]
    fn text_is_stored_as_one_clean_line() {
        assert_eq!(clean("  two\n lines\t here "), Ok("two lines here".to_owned()));
        assert!(!clean("red \u{1b}[31mtext\u{202e}").unwrap().contains(['\u{1b}', '\u{202e}']));
        assert_eq!(clean(" \n "), Err(StatementFault::Empty));
        assert_eq!(clean(&"ab ".repeat(MAX_CHARS)), Err(StatementFault::TooLong));
    }

    proptest! {
        #[test]
        fn any_text_is_clean_afterwards(text in "(?s).{0,300}") {
            if let Ok(line) = clean(&text) {
                prop_assert!(!line.chars().any(char::is_control));
                prop_assert_eq!(clean(&line), Ok(line.clone()));
            }
            let _ = is_about_this_project(&text);
        }
    }
}
