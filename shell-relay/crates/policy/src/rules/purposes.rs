//! Says in words for people why a program is asked about: what it does, if that is known.

/// The table, which is searched where a program is asked about: that happens seldom, and an index would cost memory all the time.
const TABLE: &str = include_str!("purposes.table");

/// The reason to ask about a program that is not known to only read: `changes files: \`mkdir\``.
pub(super) fn of_program(name: &str) -> String {
    format!("{}: `{name}`", purpose(name))
}

/// The same of a subcommand of git.
pub(super) fn of_git(subcommand: &str) -> String {
    format!("{}: `git {subcommand}`", purpose(&format!("git:{subcommand}")))
}

fn purpose(name: &str) -> &'static str {
    rows().find(|(_, names)| names.split(' ').any(|known| known == name)).map_or(UNKNOWN, |(words, _)| words)
}

/// What programs do, and their names.
fn rows() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLE.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split_once(" ; "))
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
        let mut names: Vec<&str> = rows().flat_map(|(_, names)| names.split(' ')).collect();
        let all = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all);
    }
}
