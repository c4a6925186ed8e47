//! Allows `jq` and `yq` filters that read only their input.

use super::{
    super::{Context, options::Arguments, paths},
    Refusal, ask, check_literal, check_path,
};

pub(super) fn assess(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    // The two words behind `--arg` are among the operands, in front of or behind the filter, so all must be harmless as either.
    let named = 2 * arguments.options.iter().filter(|(name, _)| matches!(*name, "arg" | "argjson")).count();
    // Without a filter, and without options that would make one of nothing, it shows its input.
    let Some(filter) = arguments.operands.first() else {
        return if named == 0 { Ok(()) } else { ask("`jq` without a filter") };
    };
    check_literal(filter)?;
    let filters = if named == 0 { 1 } else { arguments.operands.len() };
    for word in &arguments.operands[..filters] {
        let mut names = word.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        if let Some(name) =
            names.find(|name| matches!(*name, "env" | "ENV" | "import" | "include" | "input_filename" | "modulemeta"))
        {
            return ask(format!("`jq` with `{name}` reads more than its input"));
        }
    }
    let files = usize::from(named == 0);
    arguments.operands[files..].iter().try_for_each(|word| check_path(word, context, paths::read_risk))
}

/// Both programs of that name: one hands its filter to `jq`, the other has additional operators that read files and variables, run
/// programs, or make filters of texts.
pub(super) fn assess_yq(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let operands = match &arguments.operands[..] {
        [verb, rest @ ..] if matches!(verb.text.as_str(), "e" | "eval" | "ea" | "eval-all") => rest,
        operands => operands,
    };
    let Some((filter, files)) = operands.split_first() else { return ask("`yq` without a filter") };
    check_literal(filter)?;
    let mut names = filter.text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let reads_more = |name: &str| {
        name.starts_with("load")
            || matches!(
                name,
                "env"
                    | "ENV"
                    | "strenv"
                    | "envsubst"
                    | "eval"
                    | "system"
                    | "import"
                    | "include"
                    | "input_filename"
                    | "modulemeta"
            )
    };
    if let Some(name) = names.find(|name| reads_more(name)) {
        return ask(format!("`yq` with `{name}` reads more than its input"));
    }
    files.iter().try_for_each(|word| check_path(word, context, paths::read_risk))
}
