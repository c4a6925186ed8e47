//! Checks lines that a separate shell runs. That shell can write nothing; of the user's shell it has only the folder and the
//! environment.

use cohab_shell_state::state::{AliasKind, Item, Snapshot};

use super::{Context, caveat::Caveat, command::SimpleCommand, hardening, names::why_not_itself, structure::Structure};

/// Commands that report on the shell that runs them.
const TELL_OF_THE_SHELL: &[&str] = &[
    "abbr",
    "alias",
    "autoload",
    "bg",
    "bind",
    "bindkey",
    "builtin",
    "compgen",
    "complete",
    "declare",
    "dirh",
    "dirs",
    "disown",
    "emulate",
    "enable",
    "fc",
    "fg",
    "functions",
    "hash",
    "history",
    "jobs",
    "kill",
    "limit",
    "nextd",
    "prevd",
    "sched",
    "set",
    "setopt",
    "shopt",
    "status",
    "times",
    "trap",
    "ttyctl",
    "typeset",
    "ulimit",
    "unsetopt",
    "wait",
    "zle",
    "zmodload",
    "zstyle",
];

/// They wait for keys unless they are typed in another way, which a separate shell does not do.
const WAIT_FOR_KEYS: &[&str] = &["less"];

/// The reason why a separate shell cannot run all of these; `None` if it can.
pub(super) fn why_not(commands: &[SimpleCommand]) -> Option<&'static str> {
    let names = || commands.iter().map(|command| command.words[0].text.as_str());
    if names().any(|name| TELL_OF_THE_SHELL.contains(&name)) {
        return Some("asks the shell about itself from a loop, condition or substitution");
    }
    if names().any(|name| WAIT_FOR_KEYS.contains(&name)) {
        return Some("pages from a loop, condition or substitution");
    }
    if names().any(hardening::needs_more) {
        return Some("asks a service or another host from a loop, condition or substitution");
    }
    None
}

/// Commands that report the meaning of a name.
const TELL_OF_NAMES: &[&str] = &["command", "type", "whence", "where", "which"];

/// The reason why the output of a separate shell is not true of the user's shell.
pub(super) fn why_differs(
    structure: &Structure,
    commands: &[SimpleCommand],
    shell: &Snapshot,
    context: Context<'_>,
) -> Vec<Caveat> {
    let is_hidden = |name: &&String| shell.contains_key(&Item::Variable((*name).clone()));
    let of_variables = structure.environment.iter().filter(is_hidden);
    let of_variables = of_variables.map(|name| Caveat::NotExported(name.clone()));
    let is_of_the_shell = |name: &&str| {
        shell.contains_key(&Item::Function((*name).to_owned()))
            || shell.contains_key(&Item::Alias(AliasKind::Command, (*name).to_owned()))
    };
    let told = commands.iter().filter(|command| TELL_OF_NAMES.contains(&command.words[0].text.as_str()));
    let told = told.flat_map(|command| &command.words[1..]).map(|word| word.text.as_str()).filter(is_of_the_shell);
    let of_names = told.map(|name| Caveat::NotInSeparateShell(name.to_owned()));
    // The user's shell changes the folder.
    let folder = (structure.behind_cd > 0).then(|| {
        let path = shell.contains_key(&Item::Exported("CDPATH".into()))
            || shell.contains_key(&Item::Variable("CDPATH".into()));
        why_not_itself("cd", shell, context).or_else(|| path.then_some(Caveat::CdPath))
    });
    of_variables.chain(of_names).chain(folder.flatten()).collect()
}
