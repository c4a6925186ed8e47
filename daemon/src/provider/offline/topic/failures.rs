//! "What went wrong?" and "fix it": reads the last failed command of the shell's history.

use super::super::{
    answer::{block_tail, code, table},
    context::PastCommand,
    intent::{Intent, Topic},
    run::{Reply, Run, Step},
    shell_line::path,
    slots::Slots,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "failures.explain",
        topic: Topic::Help,
        example: "what went wrong?",
        patterns: &[
            "wrong ?last ?command ?it ?fail ?why",
            "fix it|command|fail|error ?last ?command ?fail",
            "why fail ?last ?command ?it",
            "explain fail ?last ?command ?it",
            "fix",
            "last fail ?command ?show ?explain",
            "help fix it",
            "fail what|mean ?it ?last",
        ],
        plan: explain,
    },
    Intent {
        name: "failures.history",
        topic: Topic::Help,
        example: "what were my last commands?",
        patterns: &["last command ?show ?<num> ?history", "command history ?show ?last", "history ?show ?shell ?last"],
        plan: history,
    },
];

/// What a complaint means: part of the message (lower case), and advice.
const COMPLAINTS: &[(&str, &str)] = &[
    (
        "permission denied",
        "You lack the right to do that with this file. `permissions of FILE` shows who may; a script needs `make FILE executable`.",
    ),
    ("operation not permitted", "Only the owner or root may do that."),
    (
        "no such file or directory",
        "A file or folder of that name is not there. Check the spelling and the folder you are in.",
    ),
    ("command not found", "The shell knows no program of that name. Check the spelling, or install it."),
    ("no space left on device", "The disk is full. Ask `what is big here?`."),
    ("address already in use", "Another program listens on that port. Ask `what listens on port N?`."),
    ("connection refused", "The machine answers, but nothing listens on that port."),
    ("could not resolve host", "The name has no address: a typo, or no network."),
    ("name or service not known", "The name has no address: a typo, or no network."),
    ("network is unreachable", "There is no network to that address."),
    ("connection timed out", "The other side does not answer: it is down, or a firewall is between."),
    ("is a directory", "A file was expected where there is a folder."),
    ("not a directory", "A folder was expected where there is a file."),
    ("file exists", "Something of that name is already there."),
    ("directory not empty", "The folder still holds files."),
    ("not a git repository", "This folder is not inside a git repository; go to the project first."),
    ("merge conflict", "Two changes touch the same lines. Mend the marked files, `git add` them, and commit."),
    ("would be overwritten by", "Git protects changes that are not committed: commit or stash them first."),
    ("failed to push some refs", "The remote has commits you lack: `git pull` first."),
    ("authentication failed", "The other side did not accept your name or key."),
    ("publickey", "The other side did not accept your SSH key."),
    ("syntax error near", "The shell could not read the line: look for an unmatched quote, bracket or `do`/`then`."),
    ("unexpected eof", "A quote or bracket is not closed."),
    ("modulenotfounderror", "A Python module is missing: install it into the environment you use."),
    ("cannot find module", "A Node module is missing: `npm install`."),
    ("error[e", "The Rust compiler rejects the code; `rustc --explain CODE` tells more about the first error."),
    ("could not compile", "The compiler rejects the code; begin with the first error it names."),
    ("test failed", "A test failed; its name and message stand above."),
    ("test result: failed", "A test failed; its name and message stand above."),
    ("segmentation fault", "The program touched memory it must not: a bug in it."),
    ("out of memory", "Memory ran out."),
    ("undefined reference", "The linker misses a library or object file."),
    ("invalid option", "The program does not know that option; its `--help` lists those it knows."),
    ("unrecognized option", "The program does not know that option; its `--help` lists those it knows."),
    ("unknown option", "The program does not know that option; its `--help` lists those it knows."),
];

/// What an exit status means by convention.
fn status_meaning(status: i32) -> Option<&'static str> {
    Some(match status {
        2 => "Status 2 often means a wrong use of the command.",
        126 => "Status 126: the file was found but may not be run.",
        127 => "Status 127: there is no such command.",
        130 => "Status 130: it was interrupted with Ctrl-C.",
        137 => "Status 137: it was killed, often because memory ran out.",
        139 => "Status 139: it crashed (segmentation fault).",
        143 => "Status 143: it was asked to end.",
        _ => return None,
    })
}

fn explain(_: &Slots, run: &mut Run<'_>) -> Step {
    let question = run.question;
    let Some(failed) = question.last_failure() else {
        return Ok(Reply::new("I see no failed command in the latest history of this shell."));
    };
    let mut text = describe(failed);
    if let Some(program) = missing_program(failed) {
        text.push_str(&format!("\n\nAsk `install {program}` if the spelling is right."));
    } else if let Some(script) = script_to_permit(failed) {
        run.shell(&format!("chmod u+x {}", path(&script)))?;
        text.push_str(&format!("\n\nI made {} executable; run the line again.", code(&script)));
    }
    Ok(Reply::new(text))
}

fn describe(failed: &PastCommand) -> String {
    let status = failed.exit.unwrap_or_default();
    let mut text = format!("{} failed with status {status}", code(&failed.line));
    if let Some(cwd) = &failed.cwd {
        text.push_str(&format!(" in {}", code(cwd)));
    }
    text.push('.');
    if let Some((line, advice)) = complaint(failed) {
        text.push_str(&format!("\n\nThe line that tells is {}. {advice}", code(line.trim())));
    } else {
        let meaning = status_meaning(status).unwrap_or("I do not recognise its message.");
        text.push_str(&format!("\n\n{meaning}"));
    }
    let lines: Vec<&str> = failed.output.iter().map(String::as_str).collect();
    if !lines.is_empty() {
        text.push_str(&format!("\n\nIts last output:\n\n{}", block_tail(&lines)));
    }
    text
}

/// The first known complaint in the output, by line.
fn complaint(failed: &PastCommand) -> Option<(&str, &'static str)> {
    failed.output.iter().find_map(|line| {
        let lower = line.to_lowercase();
        COMPLAINTS.iter().find(|(part, _)| lower.contains(part)).map(|(_, advice)| (line.as_str(), *advice))
    })
}

fn missing_program(failed: &PastCommand) -> Option<String> {
    let program = shlex::split(&failed.line)?.into_iter().next()?;
    (failed.exit == Some(127) && super::super::shell_line::is_plain_name(&program)).then_some(program)
}

/// The script of `./script`, when it only lacks the right to be run.
fn script_to_permit(failed: &PastCommand) -> Option<String> {
    let first = shlex::split(&failed.line)?.into_iter().next()?;
    let is_denied = failed.output.iter().any(|line| line.to_lowercase().contains("permission denied"));
    (failed.exit == Some(126) && first.contains('/') && is_denied).then_some(first)
}

fn history(slots: &Slots, run: &mut Run<'_>) -> Step {
    let past = &run.question.history;
    let count = slots.count_or(10).min(past.len());
    let rows: Vec<Vec<String>> = past[past.len() - count..]
        .iter()
        .map(|entry| vec![entry.exit.map_or_else(|| "?".to_owned(), |status| status.to_string()), entry.line.clone()])
        .collect();
    Ok(Reply::new(if rows.is_empty() {
        "I have seen no commands in this shell yet.".to_owned()
    } else {
        format!("Your last commands, oldest first:\n\n{}", table(&["Status", "Command"], &rows))
    }))
}
