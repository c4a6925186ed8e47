//! Checks lines that a separate shell runs. That shell can write nothing; of the user's shell it has only the folder and the
//! environment.

use cohab_shell_syntax::SimpleCommand;

use super::{launchable, rules::version_queries};

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
    // A program that tells its version asks nobody for it.
    let acts = |command: &&SimpleCommand| !version_queries::is_plain(&command.words[0].text, &command.words[1..]);
    if commands.iter().filter(acts).any(|command| launchable::needs_more(&command.words[0].text)) {
        return Some("asks a service or another host from a loop, condition or substitution");
    }
    None
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Context, Level, Lock, assess_line};

    #[test]
    fn a_separate_shell_asks_no_service_but_every_program_for_its_version() {
        let level = |line| {
            let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
            assess_line(line, Context { lock: Some(Lock::UNNAMED), ..context }).level
        };
        for line in [
            "if command -v docker >/dev/null; then docker --version; fi",
            "for f in a b; do cargo --version; wc -l $f; done",
            "echo \"$(npm --version)\"",
        ] {
            assert_eq!(level(line), Level::Allow, "{line}");
        }
        for line in [
            "if command -v docker >/dev/null; then docker ps; fi",
            "for f in --version; do docker $f x; done",
            "for f in --version; do docker $f; done; docker rm x",
            "echo \"$(cargo --version --list)\"",
            "for f in a b; do docker ps; done; docker --version",
        ] {
            assert_ne!(level(line), Level::Allow, "{line}");
        }
    }
}
