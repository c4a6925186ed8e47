//! Git intents that change something. Each reads first, and asks for one line.

use super::super::{
    answer::{block, code, counted, list},
    intent::{Intent, Topic},
    references::{MAX_ACTED, too_many},
    run::{Reply, Run, Step},
    shell_line::{is_host, path, paths, word},
    slots::Slots,
};

/// Branches that a cleanup never removes.
const KEPT_BRANCHES: [&str; 6] = ["main", "master", "develop", "dev", "trunk", "release"];

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "git.add-all",
        topic: Topic::Git,
        example: "stage all changes",
        patterns: &[
            "stage all ?changed ?file ?git",
            "git make all ?file",
            "make all git ?file ?changed",
            "stage all ?git ?file ?changed",
        ],
        plan: |_, run| act(run, "git add -A", "Everything is staged."),
    },
    Intent {
        name: "git.stage",
        topic: Topic::Git,
        example: "stage main.rs",
        patterns: &["stage <names> ?file ?git -show", "add|stage <names> git ?file ?commit", "make <names> git ?file"],
        plan: |slots, run| act(run, &format!("git add -- {}", paths(&slots.names)), "It is staged."),
    },
    Intent {
        name: "git.commit",
        topic: Topic::Git,
        example: "commit with message 'fix typo'",
        patterns: &[
            "commit message <text> ?git ?changed ?stage -all",
            "git commit <text> ?message -undo -find -last -log -all",
            "commit <quote> ?it ?stage ?message ?changed ?make -all",
            "make commit <quote> ?message ?name ?git",
            "commit make <quote> ?message ?name",
        ],
        plan: commit,
    },
    Intent {
        name: "git.commit-all",
        topic: Topic::Git,
        example: "commit everything with the message 'fix typo'",
        patterns: &[
            "git|commit all <text> ?commit ?message ?changed ?file ?work ?it -undo -find -last -log -show -count",
            "stage|make all commit <text> ?message ?changed ?file ?git ?it",
            "commit all ?changed ?file ?git ?it ?work -show -count -log -find -last -<date>",
            "stage|make all commit ?changed ?file ?git ?it",
            "keep work|changed git <text> ?message ?all",
        ],
        plan: commit_all,
    },
    Intent {
        name: "git.delete-merged",
        topic: Topic::Git,
        example: "delete the merged branches",
        patterns: &["delete|cleanup|prune merged branch ?git ?all ?old ?it"],
        plan: delete_merged,
    },
    Intent {
        name: "git.delete-branch",
        topic: Topic::Git,
        example: "delete the branch fix-typo",
        patterns: &["delete branch <name> ?git -merged -remote"],
        plan: delete_branch,
    },
    Intent {
        name: "git.merge",
        topic: Topic::Git,
        example: "merge the branch fix-typo",
        patterns: &[
            "merge branch <name> ?git ?my ?current ?into",
            "git merge <name> ?branch",
            "merge <name> ?my branch",
            "merge <path> ?branch ?git ?go",
            "merge branch <name2>",
        ],
        plan: |slots, run| {
            let Some(name) = branch_name(slots) else { return no_branch(slots) };
            act(run, &format!("git merge {}", word(name)), &format!("{} is merged.", code(name)))
        },
    },
    Intent {
        name: "git.fetch",
        topic: Topic::Git,
        example: "git fetch",
        patterns: &[
            "git fetch ?all ?remote ?newest ?changed",
            "fetch remote ?git ?newest ?changed ?commit ?all",
            "remote newest|changed ?commit ?changed without merge",
            "fetch ?news remote ?git",
            "git fetch",
        ],
        plan: |_, run| act(run, "git fetch", "The changes of the remote are fetched; your files are unchanged."),
    },
    Intent {
        name: "git.clone",
        topic: Topic::Git,
        example: "clone https://example.org/app.git",
        patterns: &["clone <path> ?git ?place"],
        plan: clone,
    },
    Intent {
        name: "git.undo-commit",
        topic: Topic::Git,
        example: "undo the last commit",
        patterns: &[
            "undo commit ?last ?git ?newest",
            "undo commit ?last ?git ?newest ?keep ?changed ?file",
            "undo last commit ?it ?changed ?file ?but",
        ],
        plan: undo_commit,
    },
    Intent {
        name: "git.restore",
        topic: Topic::Git,
        example: "undo changes in main.rs",
        patterns: &[
            "undo changed|diff <target> ?file ?git",
            "undo file <name> ?git ?changed",
            "discard changed <target> ?file ?git",
            "undo|discard <path> ?file ?git ?changed",
            "undo <path> ?changed ?git ?file",
            "delete changed <place> ?file ?git",
            "delete changed <path> ?file ?git",
        ],
        plan: |slots, run| {
            act(
                run,
                &format!("git restore -- {}", path(slots.target())),
                &format!("{} is as in the last commit.", code(slots.target())),
            )
        },
    },
    Intent {
        name: "git.stash",
        topic: Topic::Git,
        example: "stash my changes",
        patterns: &[
            "stash ?changed ?git ?all -show -pop -delete",
            "stash ?changed ?git ?all ?it ?work ?away -show -pop -delete -what -back",
            "stash ?my ?away ?changed ?work ?it -show -pop -delete -what -back",
        ],
        plan: |_, run| act(run, "git stash", "Your changes are stashed; `git stash pop` brings them back."),
    },
    Intent {
        name: "git.stash-pop",
        topic: Topic::Git,
        example: "bring back the stash",
        patterns: &["stash pop|back|apply ?git ?last ?changed"],
        plan: |_, run| act(run, "git stash pop", "The stash is back in your files."),
    },
    Intent {
        name: "git.new-branch",
        topic: Topic::Git,
        example: "create a branch named fix-typo",
        patterns: &["make branch <name> ?git ?name ?go", "new branch <name>"],
        plan: |slots, run| branch(slots, run, "git switch -c", "You are on the new branch"),
    },
    Intent {
        name: "git.switch",
        topic: Topic::Git,
        example: "switch to branch main",
        patterns: &[
            "go branch <name> ?git",
            "checkout <name> ?branch ?git",
            "git go <name>",
            "change branch <name> ?git",
            "git go <name> ?branch",
            "go <name> branch ?git",
            "go <branch> ?branch ?git ?to",
        ],
        plan: |slots, run| branch(slots, run, "git switch", "You are on branch"),
    },
    Intent {
        name: "git.pull",
        topic: Topic::Git,
        example: "git pull",
        patterns: &[
            "pull ?git ?newest ?changed ?branch ?remote ?commit",
            "update git ?it ?remote",
            "newest commit|code|changed remote ?get",
            "pull ?newest ?changed ?git ?remote ?commit",
        ],
        plan: |_, run| act(run, "git pull --ff-only", "Pulled."),
    },
    Intent {
        name: "git.push",
        topic: Topic::Git,
        example: "git push",
        patterns: &[
            "push ?git ?changed ?branch ?remote ?commit ?it -force",
            "push ?git ?all ?changed ?branch ?remote ?commit ?it ?my -force",
        ],
        plan: |_, run| act(run, "git push", "Pushed."),
    },
    Intent {
        name: "git.init",
        topic: Topic::Git,
        example: "make this a git repository",
        patterns: &[
            "initialise git ?<place> ?make",
            "make git ?<place> ?it -forget -ignore -about",
            "make git folder|<place> ?it -forget -ignore -about",
            "turn git <place>",
            "initialise git ?make ?it ?<place> ?git",
        ],
        plan: |slots, run| act(run, &format!("git init {}", path(slots.folder())), "It is a git repository now."),
    },
];

/// Runs a line that changes something; git's output is shown below the outcome.
fn act(run: &mut Run<'_>, line: &str, outcome: &str) -> Step {
    let output = run.shell(line)?;
    let said = output.lines();
    Ok(Reply::new(if said.is_empty() { outcome.to_owned() } else { format!("{outcome}\n\n{}", block(&said, "text")) }))
}

fn branch(slots: &Slots, run: &mut Run<'_>, verb: &str, outcome: &str) -> Step {
    let name = slots.name();
    if name.starts_with('-') {
        return Ok(Reply::new(format!("{} cannot be the name of a branch.", code(name))));
    }
    run.shell(&format!("{verb} {}", word(name)))?;
    Ok(Reply::new(format!("{outcome} {}.", code(name))))
}

fn commit(slots: &Slots, run: &mut Run<'_>) -> Step {
    let staged = run.shell("git diff --cached --name-only")?;
    let files: Vec<String> = staged.lines().iter().map(|&line| line.to_owned()).collect();
    if files.is_empty() {
        return Ok(Reply::new("Nothing is staged, so nothing was committed. Say `stage all changes` first."));
    }
    let text = slots.text.as_deref().unwrap_or_default();
    run.shell(&format!("git commit -m {}", word(text)))?;
    Ok(Reply::new(format!("I committed {}:\n\n{}", counted(files.len(), "file", "files"), list(&files))))
}

/// Undoes only a commit that is on no remote; its changes stay.
fn undo_commit(_: &Slots, run: &mut Run<'_>) -> Step {
    let last = run.shell("git log --oneline --decorate -n 1")?;
    let title = last.first().unwrap_or_default().to_owned();
    let elsewhere = run.shell("git branch --remotes --contains HEAD")?;
    if let Some(remote) = elsewhere.first() {
        return Ok(Reply::new(format!(
            "The last commit is already on {}, so undoing it would rewrite what others have. `git revert HEAD` makes \
             a new commit that reverts it.",
            code(remote)
        )));
    }
    run.shell("git reset --soft HEAD~1")?;
    Ok(Reply::new(format!("I undid {}; its changes are staged.", code(&title))))
}

fn branch_name(slots: &Slots) -> Option<&str> {
    let name = slots.name();
    (!name.is_empty() && !name.starts_with('-')).then_some(name)
}

fn no_branch(slots: &Slots) -> Step {
    Ok(Reply::new(format!("{} cannot be the name of a branch.", code(slots.name()))))
}

fn commit_all(slots: &Slots, run: &mut Run<'_>) -> Step {
    let status = run.shell("git status --short")?;
    let changed: Vec<&str> =
        status.text.lines().filter_map(|line| line.get(3..)).filter(|name| !name.is_empty()).collect();
    if changed.is_empty() {
        return Ok(Reply::new("Nothing has changed since the last commit, so there is nothing to commit."));
    }
    let conflicts: Vec<&str> =
        status.text.lines().filter(|line| is_conflict(line)).filter_map(|line| line.get(3..)).collect();
    if !conflicts.is_empty() {
        return Ok(Reply::new(format!("Nothing was committed; these files are in conflict:\n\n{}", list(&conflicts))));
    }
    let Some(text) = slots.text.as_deref().filter(|text| !text.is_empty()) else {
        return Ok(Reply::new(format!(
            "These would be committed, but with which message? Say `commit everything with the message '...'`:\n\n{}",
            list(&changed)
        )));
    };
    run.shell(&format!("git add -A && git commit -m {}", word(text)))?;
    Ok(Reply::new(format!("I committed {}:\n\n{}", counted(changed.len(), "file", "files"), list(&changed))))
}

/// Whether a line of `git status --short` marks a conflict.
pub(super) fn is_conflict(line: &str) -> bool {
    matches!(line.as_bytes(), [b'U', _, ..] | [_, b'U', ..] | [b'A', b'A', ..] | [b'D', b'D', ..])
}

fn delete_merged(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("git branch --merged")?;
    // `*` marks the current branch, `+` one that is checked out in another folder.
    let merged: Vec<&str> = output
        .text
        .lines()
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|name| !KEPT_BRANCHES.contains(name) && !name.starts_with(['(', '-']))
        .collect();
    match merged.len() {
        0 => return Ok(Reply::new("No other branch is merged into this one, so nothing was deleted.")),
        count if count > MAX_ACTED => return Err(too_many(count)),
        _ => {}
    }
    let words: Vec<String> = merged.iter().map(|name| word(name)).collect();
    run.shell(&format!("git branch -d {}", words.join(" ")))?;
    let head =
        format!("I deleted {} that are merged into the current one", counted(merged.len(), "branch", "branches"));
    Ok(Reply::new(format!("{head}:\n\n{}", list(&merged))))
}

fn delete_branch(slots: &Slots, run: &mut Run<'_>) -> Step {
    let Some(name) = branch_name(slots) else { return no_branch(slots) };
    let output = run.shell(&format!("git branch --list {}", word(name)))?;
    match output.text.lines().find(|line| line.get(2..).is_some_and(|rest| rest == name)) {
        None => Ok(Reply::new(format!("There is no branch {} here, so nothing was deleted.", code(name)))),
        Some(line) if !line.starts_with("  ") => {
            Ok(Reply::new(format!("You are on {}; switch to another branch before you delete it.", code(name))))
        }
        Some(_) => act(run, &format!("git branch -d {}", word(name)), &format!("The branch {} is gone.", code(name))),
    }
}

fn clone(slots: &Slots, run: &mut Run<'_>) -> Step {
    let address = slots.name();
    let host = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => rest.split(['/', ':']).next(),
        Some(_) => None,
        None => address.split_once(':').map(|(host, _)| host),
    };
    let is_address = host.is_some_and(|host| is_host(host.rsplit('@').next().unwrap_or(host)))
        && !address.starts_with('-')
        && !address.contains(|letter: char| letter.is_whitespace() || letter.is_control());
    if !is_address {
        return Ok(Reply::new(format!("{} is not the address of a repository.", code(address))));
    }
    let folder = address.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
    run.shell(&format!("git clone {}", word(address)))?;
    Ok(Reply::about(folder, format!("{} is cloned into {}.", code(address), code(folder))))
}
