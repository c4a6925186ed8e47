//! Intents about file permissions and owners.

use super::super::{
    answer::{block, code},
    intent::{Intent, Topic},
    references::pointed_file,
    run::{Reply, Run, Step},
    shell_line::path,
    slots::Slots,
};

/// Most files with public write permission that are shown.
const MAX_OPEN: usize = 100;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "permissions.owner",
        topic: Topic::Permissions,
        example: "who owns main.rs?",
        patterns: &[
            "own <target> ?file ?folder ?who ?user -make",
            "who own <target> ?file ?folder",
            "who own it ?file ?folder",
            "own it who",
        ],
        plan: owner,
    },
    Intent {
        name: "permissions.show",
        topic: Topic::Permissions,
        example: "permissions of notes.txt",
        patterns: &[
            "who can read|write|permission <target> ?file",
            "permission <target> ?show ?file ?folder -denied",
            "rights|permission have <path> ?file",
            "what permission <path> ?file ?have",
        ],
        plan: show_permissions,
    },
    Intent {
        name: "permissions.open",
        topic: Topic::Permissions,
        example: "find files with too open permissions",
        patterns: &[
            "open permission file|folder ?find ?show ?all ?<place> ?with -denied",
            "loose|lax|insecure|unsafe permission file|folder ?find ?show ?all ?<place> ?with -denied",
            "world-writable|world-writeable file ?find ?show ?all ?<place>",
        ],
        plan: open_to_all,
    },
    Intent {
        name: "permissions.may-write",
        topic: Topic::Permissions,
        example: "can I write to /etc?",
        patterns: &[
            "can write <target> ?file ?folder -who -why",
            "write access|permission <target> ?file ?folder -who",
            "can write|change|edit <target> ?file ?folder -who -why -you",
            "writable <path> ?file ?me ?it",
        ],
        plan: |slots, run| may(slots, run, "-w", "write to"),
    },
    Intent {
        name: "permissions.may-read",
        topic: Topic::Permissions,
        example: "can I read /etc/passwd?",
        patterns: &["can read <path> ?file ?folder -who -why", "can read|open <path> ?file ?folder -who -why -you"],
        plan: |slots, run| may(slots, run, "-r", "read"),
    },
    Intent {
        name: "permissions.of-number",
        topic: Topic::Permissions,
        example: "what does chmod 755 mean?",
        patterns: &[
            "permission <num> what|explain|mean|does|do -file",
            "what|explain permission <num>",
            "permission mean <num>",
            "mean permission <num> ?what ?explain",
        ],
        plan: |slots, _| Ok(Reply::new(explain_number(slots.number.unwrap_or_default()))),
    },
    Intent {
        name: "permissions.make-executable",
        topic: Topic::Permissions,
        example: "make run.sh executable",
        patterns: &[
            "make|set executable <target> ?file ?it",
            "executable <target> make",
            "make run <path> ?file",
            "permission run <path> ?file",
            "make executable <target> ?file ?it",
            "run <path> make|allow|let|able|can ?file",
            "executable <path> ?make",
            "make executable it ?file",
        ],
        plan: |slots, run| change(slots, run, "u+x", "is executable now"),
    },
    Intent {
        name: "permissions.set-mode",
        topic: Topic::Permissions,
        example: "set the permissions of run.sh to 755",
        patterns: &[
            "permission <num> <path> ?set ?file ?change ?make",
            "set|change|make permission <num> <target> ?file ?folder",
        ],
        plan: set_mode,
    },
    Intent {
        name: "permissions.make-readonly",
        topic: Topic::Permissions,
        example: "make notes.txt read-only",
        patterns: &["make read-only|readonly <target> ?file", "make readonly|read-only <target> ?file ?write"],
        plan: |slots, run| change(slots, run, "a-w", "is read-only now"),
    },
    Intent {
        name: "permissions.make-private",
        topic: Topic::Permissions,
        example: "make notes.txt private",
        patterns: &[
            "make private <target> ?file ?folder",
            "make accessible|readable|private <target> only|private|me ?file",
            "nobody|else read <path> ?file",
        ],
        plan: |slots, run| change(slots, run, "go-rwx", "can only be used by you now"),
    },
    Intent {
        name: "permissions.denied",
        topic: Topic::Permissions,
        example: "why is permission denied for data.db?",
        patterns: &[
            "permission denied <target> ?why ?file ?folder ?read ?write ?open",
            "why can't|cannot read|write|open|execute|delete <target> ?file",
            "why cannot|can't <target> read|write|open|run|delete|access|permission ?file ?folder",
            "permission denied <target> ?why ?file ?folder ?on ?it",
        ],
        plan: denied,
    },
    Intent {
        name: "permissions.executables",
        topic: Topic::Permissions,
        example: "which files here are executable?",
        patterns: &[
            "executable file ?find ?show ?all ?<place> ?where -make",
            "executable file ?run ?where ?<place>",
            "file run|executed can|where ?<place> -<name>",
        ],
        plan: |slots, run| {
            super::list_files(
                run,
                &format!("find {} -type f -perm -u+x -not -path '*/.git/*'", path(slots.folder())),
                "that are executable",
            )
        },
    },
];

/// Fields of `ls -l -d`: mode, owner, group.
pub(super) fn details(line: &str) -> Option<(&str, &str, &str)> {
    let mut words = line.split_whitespace();
    let mode = words.next()?;
    words.next()?;
    Some((mode, words.next()?, words.next()?))
}

/// Lists what every user may write, except links, whose own mode means nothing.
fn open_to_all(slots: &Slots, run: &mut Run<'_>) -> Step {
    let folder = slots.folder();
    let line = format!("find {} -not -type l -perm -2 2> /dev/null | head -n {}", path(folder), MAX_OPEN + 1);
    let output = run.attempt(&line)?;
    let lines = output.lines();
    if lines.is_empty() {
        return Ok(Reply::new(format!("Nothing below {} is writable by everyone.", code(folder))));
    }
    let more = if lines.len() > MAX_OPEN { ", the first of them" } else { "" };
    let shown = block(&lines[..lines.len().min(MAX_OPEN)], "text");
    Ok(Reply::new(format!("Everyone may write to these{more}:\n\n{shown}")))
}

fn owner(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = pointed_file(slots, run)?;
    let name = name.as_str();
    let output = run.shell(&format!("ls -l -d {}", path(name)))?;
    Ok(match output.first().and_then(details) {
        Some((mode, owner, group)) => Reply::about(
            name,
            format!("{} belongs to **{owner}**, group **{group}** (mode {}).", code(name), code(mode)),
        ),
        None => Reply::new(output.failure()),
    })
}

fn show_permissions(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    let output = run.shell(&format!("ls -l -d {}", path(name)))?;
    Ok(match output.first().and_then(details) {
        Some((mode, owner, group)) => {
            Reply::about(name, format!("{} has mode {}:\n\n{}", code(name), code(mode), rights(mode, owner, group)))
        }
        None => Reply::new(output.failure()),
    })
}

fn may(slots: &Slots, run: &mut Run<'_>, test: &str, verb: &str) -> Step {
    let name = slots.target();
    let output = run.attempt(&format!("test {test} {}", path(name)))?;
    let answer = if output.failed { "**No**, you may not" } else { "**Yes**, you may" };
    Ok(Reply::about(name, format!("{answer} {verb} {}.", code(name))))
}

/// Explains a mode like `755`.
fn explain_number(number: u64) -> String {
    let digits = format!("{number:03}");
    if digits.len() != 3 || digits.contains(['8', '9']) {
        return format!("{} is not a mode of three digits from 0 to 7.", code(&digits));
    }
    let letters: String = digits
        .bytes()
        .flat_map(|digit| {
            [(4, 'r'), (2, 'w'), (1, 'x')].map(|(bit, letter)| if (digit - b'0') & bit == 0 { '-' } else { letter })
        })
        .collect();
    let all = rights(&format!("-{letters}"), "", "").replace("owner :", "owner:").replace("group :", "group:");
    format!("Mode {} is {} and allows:\n\n{all}", code(&digits), code(&letters))
}

fn rights(mode: &str, owner: &str, group: &str) -> String {
    let who = [format!("the owner {owner}"), format!("the group {group}"), "everyone else".to_owned()];
    let lines: Vec<String> = who
        .iter()
        .enumerate()
        .map(|(index, who)| {
            let letters = mode.get(1 + 3 * index..4 + 3 * index).unwrap_or_default();
            let allowed: Vec<&str> = [('r', "read"), ('w', "write"), ('x', "run or enter")]
                .into_iter()
                .filter(|(letter, _)| letters.contains(*letter) || (*letter == 'x' && letters.contains(['s', 't'])))
                .map(|(_, word)| word)
                .collect();
            format!("- {who}: {}", if allowed.is_empty() { "nothing".to_owned() } else { allowed.join(", ") })
        })
        .collect();
    lines.join("\n")
}

fn change(slots: &Slots, run: &mut Run<'_>, mode: &str, outcome: &str) -> Step {
    let name = pointed_file(slots, run)?;
    let name = name.as_str();
    if name == "." {
        return Ok(Reply::new("Please name the file."));
    }
    run.shell(&format!("chmod {mode} {}", path(name)))?;
    Ok(Reply::about(name, format!("{} {outcome}.", code(name))))
}

fn set_mode(slots: &Slots, run: &mut Run<'_>) -> Step {
    let mode = format!("{:03}", slots.number.unwrap_or_default());
    if !(3..=4).contains(&mode.len()) || mode.contains(['8', '9']) {
        return Ok(Reply::new(format!("{} is not a mode of three digits from 0 to 7.", code(&mode))));
    }
    change(slots, run, &mode, &format!("has mode {} now", code(&mode)))
}

fn denied(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    let me = run.shell("id")?;
    let output = run.attempt(&format!("ls -l -d {}", path(name)))?;
    let Some((mode, owner, group)) = output.first().and_then(details).filter(|_| !output.failed) else {
        return Ok(Reply::new(format!("{} cannot even be seen: {}", code(name), output.failure())));
    };
    let identity = me.first().unwrap_or_default();
    let kind = if mode.starts_with('d') { "folder" } else { "file" };
    Ok(Reply::about(
        name,
        format!(
            "The {kind} {} belongs to **{owner}**, group **{group}**, and allows:\n\n{}\n\nYou are:\n\n{}\n\nTo reach it you also need the right to enter every folder above it.",
            code(name),
            rights(mode, owner, group),
            block(&[identity], "text")
        ),
    ))
}
