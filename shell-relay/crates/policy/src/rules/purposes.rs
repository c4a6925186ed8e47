//! Says in words for people why a program is asked about: what it does, if that is known.

use std::{collections::HashMap, sync::LazyLock};

/// What each program does.
static PURPOSES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = include_str!("purposes.table").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once(" ; "))
        .flat_map(|(words, names)| names.split(' ').map(move |name| (name, words)))
        .collect()
});

/// The reason to ask about a program that is not known to only read: `changes files: \`mkdir\``.
pub(super) fn of_program(name: &str) -> String {
    let words = PURPOSES.get(name).copied().unwrap_or(UNKNOWN);
    format!("{words}: `{name}`")
}

/// The same of a subcommand of git.
pub(super) fn of_git(subcommand: &str) -> String {
    let words = PURPOSES.get(format!("git:{subcommand}").as_str()).copied().unwrap_or(UNKNOWN);
    format!("{words}: `git {subcommand}`")
}

const UNKNOWN: &str = "not known to be read-only";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_says_what_is_known_and_nothing_else() {
        assert_eq!(of_program("mkdir"), "changes files: `mkdir`");
        assert_eq!(of_program("cargo"), "may run code: `cargo`");
        assert_eq!(of_program("frobnicate"), "not known to be read-only: `frobnicate`");
        assert_eq!(of_git("push"), "reaches another host: `git push`");
        assert_eq!(of_git("frobnicate"), "not known to be read-only: `git frobnicate`");
    }

    #[test]
    fn each_program_stands_once() {
        let rows = include_str!("purposes.table").lines().filter_map(|row| row.split_once(" ; "));
        let names = rows.filter(|(words, _)| !words.starts_with('#')).flat_map(|(_, names)| names.split(' '));
        assert_eq!(names.count(), PURPOSES.len());
    }
}
