//! Messages of git, and their meanings.

use super::{Look, Message};

pub(super) const MESSAGES: &[Message] = &[
    (
        &[
            "merge conflict",
            "automatic merge failed",
            "unmerged files",
            "unresolved conflict",
            "could not apply",
            "needs merge",
        ],
        "Two changes touch the same lines. Resolve the marked places, then stage and commit the files.",
        Look::Conflict,
    ),
    (&["not a git repository"], "This folder is not inside a git repository; go to the project first.", Look::Nothing),
    (
        &["would be overwritten by"],
        "Git protects changes that are not committed: commit or stash them first.",
        Look::Nothing,
    ),
    (
        &["has no upstream branch"],
        "The branch has no counterpart on the remote yet.",
        Look::Remedy("git push --set-upstream"),
    ),
    (
        &["failed to push some refs", "non-fast-forward", "fetch first"],
        "The remote has commits that you do not have: `git pull` first.",
        Look::Nothing,
    ),
    (
        &["divergent branches"],
        "Both sides have new commits: choose how to join them, `git pull --rebase` or `git pull --no-rebase`.",
        Look::Nothing,
    ),
    (&["unrelated histories"], "The two sides have no commit in common; are these the same project?", Look::Nothing),
    (
        &["please tell me who you are", "empty ident name"],
        "Git needs your name: `git config --global user.name \"...\"` and `user.email`.",
        Look::Nothing,
    ),
    (
        &["index.lock"],
        "Another git process runs here, or one was killed. If no git runs, delete the file `index.lock` that the \
         message names.",
        Look::Nothing,
    ),
    (
        &["dubious ownership"],
        "The repository belongs to another user, so git does not trust it.",
        Look::Remedy("git config --global --add safe.directory"),
    ),
    (
        &["no configured push destination", "does not appear to be a git repository"],
        "There is no such remote: `git remote add origin ADDRESS`.",
        Look::Nothing,
    ),
    (
        &[
            "authentication failed",
            "could not read username",
            "password authentication was removed",
            "http basic: access denied",
            "invalid username or",
        ],
        "The server did not accept your name or token. Most hosts want a token or an SSH key instead of a password.",
        Look::Nothing,
    ),
    (
        &["repository not found"],
        "There is no such repository, or you may not see it: check the address and your permissions.",
        Look::Nothing,
    ),
    (
        &["did not match any file(s) known to git", "invalid reference", "unknown revision or path"],
        "Git knows neither a branch nor a file of that name. `list the branches` shows them; `git fetch` gets the \
         branches of the remote.",
        Look::Nothing,
    ),
    (
        &["nothing to commit", "nothing added to commit"],
        "No change is staged, so there was nothing to commit.",
        Look::Nothing,
    ),
];
