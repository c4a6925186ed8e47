//! Says in words for people why a program is asked about: what it does, if that is known.

use std::sync::LazyLock;

/// Programs and what they do, sorted by program.
static PURPOSES: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = include_str!("purposes.table").lines().filter(|row| !row.starts_with('#'));
    let split = rows.filter_map(|row| row.split_once(" ; "));
    let mut purposes: Vec<_> =
        split.flat_map(|(words, names)| names.split(' ').map(move |name| (name, words))).collect();
    purposes.sort_unstable();
    purposes
});

/// The reason to ask about a program that is not known to only read: `changes files: \`mkdir\``.
pub(super) fn of_program(name: &str) -> String {
    format!("{}: `{name}`", purpose(name))
}

/// The same of a subcommand of git.
pub(super) fn of_git(subcommand: &str) -> String {
    format!("{}: `git {subcommand}`", purpose(&format!("git:{subcommand}")))
}

fn purpose(name: &str) -> &'static str {
    PURPOSES.binary_search_by_key(&name, |(known, _)| *known).map_or(UNKNOWN, |at| PURPOSES[at].1)
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
        assert!(PURPOSES.windows(2).all(|two| two[0].0 < two[1].0));
    }
}
