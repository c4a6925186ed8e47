//! Checks lines that a separate shell runs. That shell can write nothing; of the user's shell it has only the folder and the
//! environment.

use cohab_shell_syntax::SimpleCommand;

use super::launchable;

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
    if names().any(launchable::needs_more) {
        return Some("asks a service or another host from a loop, condition or substitution");
    }
    None
}
