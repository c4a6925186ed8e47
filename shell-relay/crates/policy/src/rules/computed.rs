//! Judges words that are known only when a line runs. Such a line runs in a shell that can write nothing, so no word can do harm; but
//! the contents of a file that a program shows may still be secret. The places of secrets are hidden from the program; other secret
//! files are recognized by their names.

use cohab_shell_syntax::{Computed, ComputedKind, SimpleCommand, Word};

use super::{
    super::{danger, launchable},
    Place, Refusal, ask, code, xargs,
};

/// Judges the word number `at` of a command, which is `computed`.
pub(crate) fn assess(command: &SimpleCommand, at: usize, computed: &Computed, place: Place<'_>) -> Result<(), Refusal> {
    let Some((name, words)) = command.words.split_first() else { return ask("runs a command that is not told") };
    let name = name.text.as_str();
    let runs_another = danger::is_wrapper(name)
        || danger::is_shell(name)
        || (name == "find" && words.iter().any(|word| word.text.starts_with("-exec")))
        || (name == "command" && at == 1);
    if runs_another {
        return ask(format!("`{name}` runs a command on what is not known beforehand"));
    }
    if at > 0 && code::is_program(name, words, at - 1) {
        return ask(format!("`{name}` runs code that is formed by an expansion"));
    }
    let shows_files = launchable::holds(command, at, place.context.shell) && xargs::shows_any_file(name);
    // A known word is judged as it is written.
    if !shows_files || computed.kind != ComputedKind::Any || is_value(name, words, at) {
        return Ok(());
    }
    xargs::check_any_file(place.context)
}

/// Whether a word, with any value, can only be a text or a value of an option to this program.
fn is_value(name: &str, words: &[Word], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|at| words.get(at)).map(|word| word.text.as_str()).unwrap_or_default();
    let is_operand = |word: &&Word| !word.text.starts_with('-');
    match name {
        "grep" | "egrep" | "fgrep" | "rg" => {
            words.iter().take(at).filter(is_operand).count() == 1
                && words.iter().filter(is_operand).count() > 1
                && !words.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--regexp" | "--file"))
        }
        "awk" | "gawk" | "mawk" => before == "-v",
        "date" => before == "-d",
        "journalctl" => matches!(before, "-u" | "--since" | "--until"),
        _ => false,
    }
}
