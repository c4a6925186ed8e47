//! The section on the user's folder and shell.

use crate::{
    git_state::GitState,
    query::{Query, one_line, one_line_path},
};

const ZSH: &str = "zsh. What the `bash` tool runs is read by zsh, not bash: `$name` is not split into words, a pattern that \
matches no file is an error unless it is quoted, and arrays begin at 1";

const FISH: &str = "fish. What the `bash` tool runs is read by fish, not bash: `&&`, `||`, `$(...)`, `NAME=value command` and \
`export NAME=value` work, but write `set name value` for `name=value`, `$status` for `$?`, `if ...; end` and `for ...; end` \
without `then`, `do`, `done` or `fi`, and `bash -c '...'` for here-documents, `[[ ]]`, `${...}` and subshells";

pub(super) fn text(query: &Query<'_>) -> String {
    let environment = &query.environment;
    let shell = match environment.shell.as_deref() {
        Some("zsh") => ZSH,
        Some("fish") => FISH,
        Some(name) => name,
        None => "none, commands run in a shell of their own, bash or sh",
    };
    let mut lines = vec![
        format!("cwd: {}", one_line_path(&environment.cwd)),
        format!("shell: {shell}"),
        format!("os: {}", one_line(&environment.os)),
        format!("date: {}", environment.date),
        format!("columns: {}", environment.columns),
    ];
    lines.extend(environment.git.as_ref().map(|git| format!("git: {}", git_line(git))));
    if !environment.project.is_empty() {
        lines.push(format!("project: {}", environment.project.join(", ")));
    }
    lines.join("\n")
}

fn git_line(git: &GitState) -> String {
    let head = match (&git.branch, &git.commit) {
        (Some(branch), Some(commit)) => format!("branch `{}` at {commit}", one_line(branch)),
        (Some(branch), None) => format!("branch `{}`, no commit known", one_line(branch)),
        (None, Some(commit)) => format!("detached at {commit}"),
        (None, None) => "no branch known".to_owned(),
    };
    let activity = git.activity.map(|activity| format!(", a {activity} is under way")).unwrap_or_default();
    format!("{head}{activity}, root {}", one_line_path(&git.root))
}
