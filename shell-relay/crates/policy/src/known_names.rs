//! Names that the policy knows, for the reader of lines: variables of the environment, and commands by what their words are to them.

use cohab_policy_data::VARIABLES;
use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{Reading, Vocabulary};

use super::{danger::decides_what_runs, launchable};

/// Variables that a line may set for one program: its language, its sorting order, and its time zone.
const OF_A_PROGRAM: &[&str] =
    &["COLUMNS", "LANG", "LC_ALL", "LC_COLLATE", "LC_CTYPE", "LC_MESSAGES", "LC_NUMERIC", "LC_TIME", "NO_COLOR", "TZ"];
/// Programs that without an operand only wait for text, or list the working directory. Others would search everything below it.
const MAY_LACK_OPERANDS: &[&str] = &[
    "cat",
    "cksum",
    "dir",
    "du",
    "echo",
    "file",
    "head",
    "ls",
    "md5sum",
    "nl",
    "print",
    "sha1sum",
    "sha256sum",
    "sort",
    "stat",
    "tac",
    "tail",
    "wc",
];
/// Programs to which all their words are texts.
const TEXTS: &[&str] = &["[", "basename", "dirname", "echo", "print", "printf", "test"];
/// Programs that report the place or kind of a program; a path in the place of a name means nothing else to them.
const TELLS_OF_PROGRAMS: &[&str] = &["echo", "file", "ls", "md5sum", "readlink", "realpath", "sha256sum", "stat"];
/// Programs with words that make them print one number, and the largest number of further words.
const PRINT_NUMBERS: &[(&str, usize)] = &[
    ("count", 9),
    ("date +%s", 0),
    ("id -u", 0),
    ("math", 9),
    ("nproc", 0),
    ("seq", 3),
    ("wc -c", 0),
    ("wc -l", 0),
    ("wc -m", 0),
    ("wc -w", 0),
];

/// The policy's tables of names.
#[derive(Clone, Copy, Debug)]
struct KnownNames;

/// `line` as plain commands in bash syntax, as far as that is known for sure.
pub(crate) fn reading(shell: Shell, line: &str) -> Reading {
    cohab_shell_syntax::reading(shell, line, &KnownNames)
}

pub(crate) fn may_lack_operands(command: &str) -> bool {
    MAY_LACK_OPERANDS.contains(&command)
}

/// Whether a row of the table of variables has this name.
fn is_in(row: &str, name: &str) -> bool {
    let rows = VARIABLES.lines().filter_map(|line| line.split_once(" | ")).filter(|(how, _)| *how == row);
    rows.flat_map(|(_, names)| names.split(' ')).any(|known| known == name)
}

impl Vocabulary for KnownNames {
    fn may_be_shown(&self, variable: &str) -> bool {
        is_in("harmless", variable) || is_in("own", variable)
    }

    fn is_number(&self, variable: &str) -> bool {
        is_in("number", variable)
    }

    fn is_set_by_the_shell(&self, variable: &str) -> bool {
        is_in("own", variable)
    }

    fn is_free(&self, variable: &str, shell: Shell) -> bool {
        let is_taken = || {
            ["harmless", "own", "given", "special", "elsewhere"].iter().any(|row| is_in(row, variable))
                || decides_what_runs(variable)
        };
        (shell == Shell::Bash && is_in("elsewhere", variable)) || !is_taken()
    }

    fn may_be_set_for_a_program(&self, variable: &str) -> bool {
        OF_A_PROGRAM.contains(&variable)
    }

    fn is_program(&self, name: &str, shell: Shell) -> bool {
        launchable::confines(name, shell)
    }

    fn may_lack_operands(&self, command: &str) -> bool {
        may_lack_operands(command)
    }

    fn takes_texts(&self, command: &str) -> bool {
        TEXTS.contains(&command)
    }

    fn reports_programs(&self, command: &str) -> bool {
        TELLS_OF_PROGRAMS.contains(&command)
    }

    fn prints_number(&self, words: &[String], shell: Shell) -> bool {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        // In bash these two words can be anything.
        let is_of_fish = |start: &str| !matches!(start, "count" | "math") || shell == Shell::Fish;
        PRINT_NUMBERS.iter().filter(|(start, _)| is_of_fish(start)).any(|(start, more)| {
            let start: Vec<&str> = start.split(' ').collect();
            let is_plain = |word: &&str| start[0] != "seq" || word.bytes().all(|byte| byte.is_ascii_digit());
            words.starts_with(&start) && words.len() <= start.len() + more && words[start.len()..].iter().all(is_plain)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

    #[test]
    fn a_line_sets_only_names_that_nothing_else_reads() {
        for name in ["PATH", "HOME", "IFS", "LD_PRELOAD", "GLOBIGNORE", "http_proxy", "npm_config_prefix", "UID"] {
            assert!(!SHELLS.iter().any(|shell| KnownNames.is_free(name, *shell)), "{name}");
        }
        for name in ["options", "path", "status", "version"] {
            let is_free = SHELLS.map(|shell| KnownNames.is_free(name, shell));
            assert_eq!(is_free, [true, false, false], "{name}");
        }
        assert_eq!(SHELLS.map(|shell| KnownNames.is_free("file", shell)), [true; 3]);
    }

    #[test]
    fn a_line_shows_no_variable_that_is_not_listed() {
        for name in ["PATH", "UID", "version"] {
            assert!(KnownNames.may_be_shown(name), "{name}");
        }
        for name in ["AWS_SECRET_ACCESS_KEY", "HOME", "options", "a", "#"] {
            assert!(!KnownNames.may_be_shown(name), "{name}");
        }
        assert!(KnownNames.is_number("UID") && !KnownNames.is_number("PATH"));
        assert!(KnownNames.is_set_by_the_shell("UID") && !KnownNames.is_set_by_the_shell("PATH"));
    }

    #[test]
    fn only_listed_words_print_a_number() {
        let prints = |line: &str, shell| {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            KnownNames.prints_number(&words, shell)
        };
        for line in ["wc -l", "seq 1 2 3", "date +%s"] {
            assert!(prints(line, Shell::Bash), "{line}");
        }
        for line in ["wc -l a", "wc", "seq a", "seq 1 2 3 4", "date", "count a"] {
            assert!(!prints(line, Shell::Bash), "{line}");
        }
        assert!(prints("count a", Shell::Fish));
    }
}
