//! The rule for `cohab` with one of its subcommands: a command, however the rest reads.

use super::{Case, Opinion, shell_for};

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let [program, subcommand, ..] = case.line.tokens.as_slice() else { return None };
    let is_own = program.text == "cohab" && case.names.subcommands_of_cohab().contains(&subcommand.text);
    is_own.then(|| shell_for(subcommand.text, "is a command of cohab's")).flatten()
}
