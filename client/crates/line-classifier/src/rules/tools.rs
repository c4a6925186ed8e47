//! The rule for tools with subcommands or file names as operands, if no word of a sentence is in their place.

use super::{Case, Opinion, has_predicate, shell_for};
use crate::{
    first_word::head_at,
    line::{Shape, Token},
};

/// Tools with names as operands. Sorted.
pub(super) const OPERANDS: &[&str] = &[
    "adduser",
    "bat",
    "bzip2",
    "cal",
    "chgrp",
    "chmod",
    "chown",
    "cmp",
    "code",
    "cp",
    "createdb",
    "dropdb",
    "emacs",
    "gcc",
    "gunzip",
    "gzip",
    "hx",
    "id",
    "journalctl",
    "killall",
    "ln",
    "ls",
    "mkdir",
    "mv",
    "nano",
    "nvim",
    "pgrep",
    "pkill",
    "popd",
    "pushd",
    "rm",
    "rmdir",
    "rsync",
    "scp",
    "stat",
    "subl",
    "tee",
    "umount",
    "unzip",
    "useradd",
    "vi",
    "vim",
    "xz",
];

/// Tools and their subcommands.
const SUB_COMMANDS: &[(&str, &[&str])] = &[
    (
        "cargo",
        &[
            "add", "bench", "build", "check", "clean", "clippy", "doc", "fmt", "init", "install", "nextest", "new",
            "publish", "run", "test", "tree", "update",
        ],
    ),
    (
        "docker",
        &[
            "build",
            "compose",
            "container",
            "cp",
            "exec",
            "image",
            "images",
            "inspect",
            "kill",
            "login",
            "logs",
            "network",
            "ps",
            "pull",
            "push",
            "restart",
            "rm",
            "rmi",
            "run",
            "start",
            "stop",
            "tag",
            "volume",
        ],
    ),
    (
        "git",
        &[
            "add",
            "bisect",
            "blame",
            "branch",
            "checkout",
            "cherry-pick",
            "clean",
            "clone",
            "config",
            "diff",
            "fetch",
            "init",
            "log",
            "merge",
            "mv",
            "pull",
            "push",
            "rebase",
            "remote",
            "reset",
            "restore",
            "revert",
            "rm",
            "show",
            "stash",
            "status",
            "submodule",
            "switch",
            "tag",
            "worktree",
        ],
    ),
    ("go", &["build", "clean", "env", "fmt", "generate", "get", "install", "mod", "run", "test", "vet", "work"]),
    (
        "kubectl",
        &[
            "apply", "config", "create", "delete", "describe", "edit", "exec", "explain", "get", "label", "logs",
            "rollout", "scale", "top",
        ],
    ),
    (
        "npm",
        &[
            "add",
            "audit",
            "ci",
            "exec",
            "i",
            "init",
            "install",
            "link",
            "list",
            "ls",
            "outdated",
            "pack",
            "publish",
            "run",
            "start",
            "test",
            "uninstall",
            "update",
        ],
    ),
    (
        "systemctl",
        &[
            "cat",
            "daemon-reload",
            "disable",
            "enable",
            "is-active",
            "list-units",
            "mask",
            "reload",
            "restart",
            "show",
            "start",
            "status",
            "stop",
        ],
    ),
    ("terraform", &["apply", "destroy", "fmt", "import", "init", "output", "plan", "state", "validate", "workspace"]),
    (
        "tmux",
        &[
            "attach",
            "detach",
            "kill-server",
            "kill-session",
            "ls",
            "new",
            "new-session",
            "new-window",
            "send-keys",
            "split-window",
        ],
    ),
    ("yarn", &["add", "build", "init", "install", "remove", "run", "start", "test", "upgrade"]),
];

pub(super) fn opinion(case: &Case<'_>) -> Opinion {
    let at = head_at(case.line);
    let head = case.line.tokens.get(at)?;
    let rest = case.line.tokens.get(at + 1..).unwrap_or_default();
    let speaks =
        has_predicate(case) || rest.iter().any(Token::is_strong) || case.line.is_question() || case.line.signs.comma;
    if speaks || rest.is_empty() {
        return None;
    }
    if OPERANDS.binary_search(&head.text).is_ok() {
        return shell_for(head.text, "is a command, and the rest reads as names");
    }
    let (_, known) = SUB_COMMANDS.iter().find(|(tool, _)| *tool == head.text)?;
    let sub = rest.iter().find(|token| token.shape != Shape::Flag)?;
    let is_terse = rest.iter().filter(|token| token.is_stop()).count() == 0;
    if known.contains(&sub.text) && is_terse { shell_for(head.text, "is a command, with a sub-command") } else { None }
}
