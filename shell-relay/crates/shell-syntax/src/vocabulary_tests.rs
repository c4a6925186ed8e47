//! A vocabulary of a few names, for tests of the reader.

use cohab_shell_state::shell::Shell;

use super::Vocabulary;

#[derive(Debug)]
pub(crate) struct Sample;

pub(crate) static SAMPLE: Sample = Sample;

/// What the shells set themselves.
const OWN: &[&str] = &["BASH_REMATCH", "path", "version"];
/// Variables of the environment that hold nothing secret.
const HARMLESS: &[&str] = &["PATH"];
/// Variables that a program or a shell reads.
const TAKEN: &[&str] = &["GLOBIGNORE", "HOME", "IFS", "LD_PRELOAD", "http_proxy", "npm_config_prefix"];
/// The same of other shells than bash.
const TAKEN_ELSEWHERE: &[&str] = &["options", "path", "status", "version"];
/// Commands that no program has.
const BUILTINS: &[&str] = &["[", "cd", "command", "echo", "print", "printf", "pwd", "read", "test"];

impl Vocabulary for Sample {
    fn may_be_shown(&self, variable: &str) -> bool {
        HARMLESS.contains(&variable) || OWN.contains(&variable)
    }

    fn is_number(&self, variable: &str) -> bool {
        variable == "UID"
    }

    fn is_set_by_the_shell(&self, variable: &str) -> bool {
        OWN.contains(&variable)
    }

    fn is_free(&self, variable: &str, shell: Shell) -> bool {
        match TAKEN_ELSEWHERE.contains(&variable) {
            true => shell == Shell::Bash,
            false => !self.may_be_shown(variable) && !TAKEN.contains(&variable),
        }
    }

    fn may_be_set_for_a_program(&self, variable: &str) -> bool {
        variable == "LC_ALL"
    }

    fn is_program(&self, name: &str, _shell: Shell) -> bool {
        !BUILTINS.contains(&name)
    }

    fn may_lack_operands(&self, command: &str) -> bool {
        ["cat", "du", "echo", "ls", "print", "wc"].contains(&command)
    }

    fn takes_texts(&self, command: &str) -> bool {
        ["[", "echo", "print", "printf"].contains(&command)
    }

    fn reports_programs(&self, command: &str) -> bool {
        ["echo", "ls"].contains(&command)
    }

    fn prints_number(&self, words: &[String], shell: Shell) -> bool {
        match words.first().map(String::as_str) {
            Some("wc") => words.len() == 2,
            Some("count") => shell == Shell::Fish,
            _ => false,
        }
    }
}
