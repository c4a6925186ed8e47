//! Allows listing and testing of archives and compressed files.

use super::{
    super::{Context, options::Arguments, paths},
    Refusal, ask, check_path, check_path_text, danger,
};

/// Judges the operands of the program that `rule` names.
pub(super) fn assess(rule: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let read = |count: usize| {
        arguments.operands.iter().take(count).try_for_each(|word| check_path(word, context, paths::read_risk))
    };
    match rule {
        "tar" => assess_tar(arguments, context),
        "unzip" if !arguments.has_in_front(&["l", "v", "Z", "t", "z", "p"]) || !arguments.behind.is_empty() => {
            ask("`unzip` that does more than list or print")
        }
        "inspect" if !only_inspects(arguments) => ask("does more than list, test or print"),
        "jar" | "unrar" => assess_letters(rule, arguments, context),
        "inspect" => read(usize::MAX),
        // Some programs take a file with `@` in front for a list of archives.
        "zipinfo" if arguments.operands.iter().any(|word| word.text.starts_with('@')) => {
            ask("takes the names of archives from a file")
        }
        // Names within the archive follow it.
        _ => read(1),
    }
}

fn assess_tar(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let prints = arguments.has_in_front(&["x", "extract", "get"]) && arguments.has_in_front(&["O", "to-stdout"]);
    let lists = arguments.has_in_front(&["t", "list"]) && !arguments.has(&["x", "extract", "get"]);
    if !lists && !prints {
        return ask("`tar` that does more than list or print");
    }
    if prints {
        arguments
            .paths
            .iter()
            .try_for_each(|(path, has_tilde)| check_path_text(path, *has_tilde, context, paths::read_risk))?;
    }
    if arguments.paths.iter().any(|(path, _)| path.contains(':')) {
        return danger("`tar` takes an archive name with `:` for another host");
    }
    arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::list_risk))
}

/// Whether the program only lists, tests or prints compressed data. Of two of these options the last one counts, also behind the
/// operands.
fn only_inspects(arguments: &Arguments<'_>) -> bool {
    const PRINTS: &[&str] = &["c", "stdout", "to-stdout"];
    const UNPACKS: &[&str] = &["d", "decompress"];
    if arguments.has_in_front(&["l", "list", "t", "test"]) {
        return !arguments.has(PRINTS) && !arguments.has(UNPACKS);
    }
    arguments.has_in_front(PRINTS) && arguments.has_in_front(UNPACKS)
}

/// Judges `jar tf x.jar`, `unrar l x.rar`: the first operand is the action.
fn assess_letters(program: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let Some((letters, operands)) = arguments.operands.split_first() else { return ask("does more than list") };
    let lists = match program {
        "jar" => matches!(letters.text.as_str(), "tf" | "tvf"),
        _ => matches!(letters.text.as_str(), "l" | "lb" | "lt" | "t" | "v" | "vb"),
    };
    if !lists || operands.iter().any(|word| word.text.starts_with('@')) {
        return ask("does more than list");
    }
    operands.first().map_or(Ok(()), |word| check_path(word, context, paths::read_risk))
}
