//! Git intents that only read. The changing ones are in `git_changes`.

use super::{
    super::{
        answer::{block, code, counted, list, table},
        intent::{Intent, Topic},
        run::{Output, Reply, Run, Step},
        shell_line::{path, word},
        slots::Slots,
    },
    git_changes::is_conflict,
    show,
};

const COMMITS: usize = 10;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "git.status",
        topic: Topic::Git,
        example: "git status",
        patterns: &[
            "git status ?show",
            "uncommitted ?changed ?file ?it ?git ?show ?diff",
            "git changed|clean ?file",
            "commit changed ?uncommitted ?file not|need",
            "git commit what|anything ?it ?changed",
            "git file changed ?where ?show ?uncommitted",
            "status git ?it",
            "commit anything ?it -<text>",
            "modified file git ?show",
        ],
        plan: status,
    },
    Intent {
        name: "git.log",
        topic: Topic::Git,
        example: "show the last 5 commits",
        patterns: &[
            "commit ?last ?newest ?show ?<num> ?<date> ?git ?log ?all ?history -undo -count -author -find -make -first",
            "git log|history ?<num> ?<date> ?show",
            "log git|commit ?last ?<num> ?<date>",
        ],
        plan: log,
    },
    Intent {
        name: "git.last-commit",
        topic: Topic::Git,
        example: "what was in the last commit?",
        patterns: &[
            "last|newest commit ?content ?diff ?what ?changed ?file -undo in|diff|changed",
            "diff last commit ?show",
            "show last|newest commit -commits",
            "was last commit ?it",
        ],
        plan: |_, run| git_show(run, "git show --stat", "The last commit:"),
    },
    Intent {
        name: "git.file-history",
        topic: Topic::Git,
        example: "git history of main.rs",
        patterns: &[
            "git|commit log|history <target> file|of|for ?show ?file",
            "who changed <path> ?last ?file",
            "show log <target> ?git ?file",
            "history <sure> ?file ?git -command -shell",
            "history <place> file|git -command -shell",
            "blame|author <sure> ?file ?last ?git ?line",
            "commit <path> ?changed ?git ?last ?file",
            "blame|author file <target> ?last ?git ?line",
        ],
        plan: file_history,
    },
    Intent {
        name: "git.authors",
        topic: Topic::Git,
        example: "who committed the most?",
        patterns: &[
            "author ?git ?commit ?show ?all ?most ?count ?<date> ?it",
            "author commit ?most ?all",
            "who commit ?most ?<date>",
            "who work git ?it",
            "author git ?top ?first ?show",
            "top|first author",
            "who worked|work git|on ?it",
        ],
        plan: authors,
    },
    Intent {
        name: "git.commit-count",
        topic: Topic::Git,
        example: "how many commits are there?",
        patterns: &["count commit ?git ?<date> ?all ?it"],
        plan: commit_count,
    },
    Intent {
        name: "git.branches",
        topic: Topic::Git,
        example: "list the branches",
        patterns: &[
            "branch exist|exists ?where",
            "branch ?show ?all ?git ?remote -go -make -delete -merge -current",
            "branch ?git",
            "remote branch ?show ?all",
            "what branch exist|there ?all ?git",
        ],
        plan: |_, run| {
            let output = run.shell("git branch -a")?;
            Ok(Reply::new(format!(
                "{}; `*` marks yours:\n\n{}",
                counted(output.lines().len(), "branch", "branches"),
                block(&output.lines(), "text")
            )))
        },
    },
    Intent {
        name: "git.current-branch",
        topic: Topic::Git,
        example: "which branch am i on?",
        patterns: &[
            "where|what|current branch ?git ?it -show -all -list",
            "branch it where|what -exist",
            "name branch ?my ?git ?current",
        ],
        plan: current_branch,
    },
    Intent {
        name: "git.diff",
        topic: Topic::Git,
        example: "show the diff",
        patterns: &[
            "diff ?show ?git ?<name> ?<place> ?file -stage -last -commit",
            "git diff ?file",
            "my changed ?show ?git",
            "diff <path> ?git ?show ?file",
        ],
        plan: |slots, run| diff(slots, run, "", "Changes that are not staged"),
    },
    Intent {
        name: "git.staged",
        topic: Topic::Git,
        example: "show staged changes",
        patterns: &["stage ?show ?diff ?changed ?git ?file -make -all", "stage file|what ?show ?have -make -all"],
        plan: |slots, run| diff(slots, run, " --cached", "Staged changes"),
    },
    Intent {
        name: "git.stashes",
        topic: Topic::Git,
        example: "list stashes",
        patterns: &["show stash ?git ?all", "stash what|which"],
        plan: |_, run| show(run, "git stash list", "Stashes:", "There are no stashes."),
    },
    Intent {
        name: "git.remotes",
        topic: Topic::Git,
        example: "list the git remotes",
        patterns: &[
            "remote ?git ?show ?all ?address ?where -branch -push -pull",
            "remote url|address ?git ?show ?it",
            "url git ?remote",
        ],
        plan: |_, run| show(run, "git remote -v", "Remotes:", "This repository has no remotes."),
    },
    Intent {
        name: "git.tags",
        topic: Topic::Git,
        example: "list tags",
        patterns: &["tag ?git ?show ?all ?newest"],
        plan: |_, run| show(run, "git tag -l --sort=-creatordate", "Tags, newest first:", "There are no tags."),
    },
    Intent {
        name: "git.conflicts",
        topic: Topic::Git,
        example: "which files are in conflict?",
        patterns: &["conflict ?merge ?file ?show ?git ?where ?find ?all -fix"],
        plan: conflicts,
    },
    Intent {
        name: "git.search",
        topic: Topic::Git,
        example: "find commits about 'login'",
        patterns: &[
            "find commit <text> ?git ?message ?all ?contain ?about",
            "commit contain|mention|about <quote> ?where ?find ?message ?git",
            "where commit <quote> ?find ?contain",
            "commit find <quote>",
        ],
        plan: search,
    },
];

fn status(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("git status --short --branch")?;
    let lines: Vec<&str> = output.text.lines().filter(|line| !line.trim().is_empty()).collect();
    let (heads, files): (Vec<&str>, Vec<&str>) = lines.iter().partition(|line| line.starts_with("## "));
    let branch = heads.first().map_or("?", |line| line[3..].trim());
    if files.is_empty() {
        return Ok(Reply::new(format!("Nothing is uncommitted on {}.", code(branch))));
    }
    let rows: Vec<Vec<String>> = files
        .iter()
        .filter_map(|line| Some(vec![state_words(line.get(..2)?).to_owned(), line.get(3..)?.to_owned()]))
        .collect();
    let head = format!("{} on {}:", counted(rows.len(), "uncommitted file", "uncommitted files"), code(branch));
    Ok(Reply::new(format!("{head}\n\n{}", table(&["State", "File"], &rows))))
}

fn state_words(letters: &str) -> &'static str {
    match letters.as_bytes() {
        b"??" => "new, not tracked",
        [b'U', _] | [_, b'U'] | b"AA" | b"DD" => "in conflict",
        [b' ', b'M'] => "changed",
        [b' ', b'D'] => "deleted",
        [b'M', b' '] => "changed, staged",
        [b'A', b' '] => "new, staged",
        [b'D', b' '] => "deleted, staged",
        [b'R', _] => "renamed, staged",
        _ => "changed, partly staged",
    }
}

fn log_line(slots: &Slots) -> String {
    let when = slots.span.as_ref().map(super::super::dates::Span::git_options).unwrap_or_default();
    format!("git log --date=short --format='%h %ad %an: %s' -n {}{when}", slots.count_or(COMMITS))
}

fn log(slots: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell(&log_line(slots))?;
    Ok(Reply::new(commits(&output, "commit")))
}

fn commits(output: &Output, noun: &str) -> String {
    let rows: Vec<Vec<String>> = output
        .text
        .lines()
        .filter_map(|line| {
            let (hash, rest) = super::split_first(line)?;
            let (date, what) = super::split_first(rest)?;
            Some(vec![hash.to_owned(), date.to_owned(), what.to_owned()])
        })
        .collect();
    if rows.is_empty() {
        return format!("There is no such {noun}.");
    }
    format!(
        "{}, newest first:\n\n{}",
        counted(rows.len(), noun, &format!("{noun}s")),
        table(&["Commit", "Date", "What"], &rows)
    )
}

fn file_history(slots: &Slots, run: &mut Run<'_>) -> Step {
    let target = slots.target();
    let output = run.shell(&format!("{} -- {}", log_line(slots), path(target)))?;
    Ok(Reply::new(format!("{}: {}", code(target), commits(&output, "commit"))))
}

fn search(slots: &Slots, run: &mut Run<'_>) -> Step {
    let text = slots.text.as_deref().unwrap_or_default();
    let output = run.shell(&format!("{} -i -F --grep={}", log_line(slots), word(text)))?;
    Ok(Reply::new(commits(&output, "commit")))
}

fn authors(slots: &Slots, run: &mut Run<'_>) -> Step {
    let when = slots.span.as_ref().map(super::super::dates::Span::git_options).unwrap_or_default();
    let output = run.shell(&format!("git shortlog -s{when} HEAD | sort -rn"))?;
    let rows: Vec<Vec<String>> = output
        .text
        .lines()
        .filter_map(super::split_first)
        .map(|(count, name)| vec![count.to_owned(), name.to_owned()])
        .collect();
    Ok(Reply::new(match rows.first() {
        None => "There are no commits.".to_owned(),
        Some(first) => format!(
            "{} has the most commits, {}:\n\n{}",
            code(&first[1]),
            first[0],
            table(&["Commits", "Author"], &rows)
        ),
    }))
}

fn commit_count(slots: &Slots, run: &mut Run<'_>) -> Step {
    let when = slots.span.as_ref().map(super::super::dates::Span::git_options).unwrap_or_default();
    let output = run.shell(&format!("git log --oneline{when} | wc -l"))?;
    Ok(Reply::new(format!("There are **{}** commits.", output.first().unwrap_or("?"))))
}

fn current_branch(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("git branch --show-current")?;
    Ok(Reply::new(match output.first() {
        Some(name) => format!("You are on branch {}.", code(name)),
        None => "You are on no branch (detached HEAD).".to_owned(),
    }))
}

fn diff(slots: &Slots, run: &mut Run<'_>, option: &str, what: &str) -> Step {
    let target =
        slots.names.first().or(slots.place.as_ref()).map(|name| format!(" -- {}", path(name))).unwrap_or_default();
    let files = run.shell(&format!("git diff{option} --stat{target}"))?;
    let names = files.lines();
    if names.is_empty() {
        return Ok(Reply::new(format!("{what}: none.")));
    }
    let summary = names.last().map_or("", |line| line.trim()).to_owned();
    let output = run.shell(&format!("git diff{option}{target}"))?;
    Ok(Reply::new(format!("{what}: {summary}.\n\n{}", block(&output.lines(), "diff"))))
}

fn git_show(run: &mut Run<'_>, line: &str, head: &str) -> Step {
    show(run, line, head, "There is no commit.")
}

fn conflicts(_: &Slots, run: &mut Run<'_>) -> Step {
    let output = run.shell("git status --short")?;
    let names: Vec<&str> =
        output.text.lines().filter(|line| is_conflict(line)).filter_map(|line| line.get(3..)).collect();
    if names.is_empty() {
        return Ok(Reply::new("No file is in conflict."));
    }
    let head = counted(names.len(), "file is in conflict", "files are in conflict");
    Ok(Reply::new(format!(
        "{head}:\n\n{}\n\nResolve the places between `<<<<<<<` and `>>>>>>>`, then stage and commit them.",
        list(&names)
    )))
}
