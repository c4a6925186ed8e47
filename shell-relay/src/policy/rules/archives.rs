//! Archives and compressed files that are listed or tested.

use super::{
    super::{Context, options::Arguments, paths},
    Refusal, ask, check_path, danger,
};

/// Judges the operands of the program that `rule` names.
pub(super) fn assess(rule: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let read = |count: usize| {
        arguments.operands.iter().take(count).try_for_each(|word| check_path(word, context, paths::read_risk))
    };
    match rule {
        "tar" => assess_tar(arguments, context),
        "unzip" if !arguments.has(&["l", "v", "Z"]) => ask("`unzip` that does more than list"),
        "inspect" if !arguments.has(&["l", "list", "t", "test"]) => ask("does more than list or test"),
        "inspect" => read(usize::MAX),
        // To some, `@` in front makes a list of archives of a file.
        "zipinfo" if arguments.operands.iter().any(|word| word.text.starts_with('@')) => {
            ask("takes the names of archives from a file")
        }
        // Behind the archive stand names within it.
        _ => read(1),
    }
}

fn assess_tar(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    if !arguments.has(&["t", "list"]) {
        return ask("`tar` that does more than list");
    }
    if arguments.paths.iter().any(|(path, _)| path.contains(':')) {
        return danger("`tar` takes an archive name with `:` for another host");
    }
    arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::list_risk))
}
