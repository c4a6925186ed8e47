//! The meaning of names, which the text of a line does not show: the caller knows the variables and programs.

use std::fmt::Debug;

use cohab_shell_state::shell::Shell;

/// Answers what the names in a line stand for. A name that is not known gets the stricter answer, which is always `false`.
pub trait Vocabulary: Debug {
    /// Whether a line may use the value of this variable of the environment: it is not secret.
    fn may_be_shown(&self, variable: &str) -> bool;

    /// Whether such a variable holds a number in digits.
    fn is_number(&self, variable: &str) -> bool;

    /// Whether the shell itself sets this variable, so that its environment does not matter.
    fn is_set_by_the_shell(&self, variable: &str) -> bool;

    /// Whether a line of this shell may give the variable a value: no shell and no program reads it.
    fn is_free(&self, variable: &str, shell: Shell) -> bool;

    /// Whether a line may set this variable for one program, to a plain value.
    fn may_be_set_for_a_program(&self, variable: &str) -> bool;

    /// Whether a command of this name starts a program in this shell, and nothing of it runs inside the shell.
    fn is_program(&self, name: &str, shell: Shell) -> bool;

    /// Whether this command without an operand only waits for text, or lists the working directory. Others would search everything below
    /// it.
    fn may_lack_operands(&self, command: &str) -> bool;

    /// Whether all words are texts to this command: it opens none of them.
    fn takes_texts(&self, command: &str) -> bool;

    /// Whether this command reports the place or kind of a program: a path in the place of a name means nothing else to it.
    fn reports_programs(&self, command: &str) -> bool;

    /// Whether a command of these words prints one number, or nothing.
    fn prints_number(&self, words: &[String], shell: Shell) -> bool;
}

#[cfg(test)]
#[path = "vocabulary_tests.rs"]
pub(crate) mod sample;
