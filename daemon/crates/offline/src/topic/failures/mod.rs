//! Explains failed commands: reads the last failed command of the shell's history, inspects what its message names, and proposes a remedy
//! if there is a certain one.

mod look;
mod messages;
mod nearest;
mod package;
mod read;
mod seen;

use self::{
    messages::{Look, MESSAGES, status_meaning},
    seen::Seen,
};
use super::super::{
    answer::{block_tail, code, table},
    context::PastCommand,
    intent::{Intent, Topic},
    run::{Reply, Run, Step},
    slots::Slots,
    words::tokenize,
};

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "failures.explain",
        topic: Topic::Help,
        example: "what went wrong?",
        patterns: &[
            "wrong ?last ?command ?it ?fail ?why ?explain",
            "fix it|command|fail|error ?last ?command ?fail",
            "why fail ?last ?command ?it",
            "explain fail ?last ?command ?it ?why",
            "fix",
            "last fail ?command ?show ?explain",
            "help fix it",
            "fail what|mean ?it ?last ?why ?command",
            "why command not|fail ?it ?last",
            "fail explain|why|what|help|mean ?it ?last ?about",
            "wrong it|last|command|what|why ?fail",
            "what problem ?it",
            "fail it",
            "explain fail",
            "fix ?it ?fail",
            "how fix ?it ?fail ?command",
        ],
        plan: explain,
    },
    Intent {
        name: "failures.history",
        topic: Topic::Help,
        example: "what were my last commands?",
        patterns: &[
            "last command ?show ?<num> ?history",
            "command history ?show ?last ?<num>",
            "history ?show ?shell ?last ?<num>",
            "command type|typed|entered|ran|used ?last ?<num> i",
            "where|what command enter|run|type|typed ?last ?<num>",
            "last command ?<num> ?show",
            "command enter|type i ?where",
        ],
        plan: history,
    },
];

/// A recognized message.
struct Finding<'a> {
    line: &'a str,
    advice: &'static str,
    look: Look,
}

fn explain(_: &Slots, run: &mut Run<'_>) -> Step {
    let question = run.question;
    let Some(failed) = question.last_failure() else {
        return Ok(Reply::new("There is no failed command in the latest history of this shell."));
    };
    let finding = finding(failed);
    let seen = match &finding {
        Some(finding) => look::look(finding.look, finding.line, failed, run)?,
        None => Seen::default(),
    };
    let mut text = describe(failed, finding.as_ref());
    text.push_str(&seen.text);
    let lines: Vec<&str> = failed.output.iter().map(String::as_str).collect();
    if !lines.is_empty() {
        text.push_str(&format!("\n\nThe end of its output:\n\n{}", block_tail(&lines)));
    }
    let wants_fix = tokenize(&question.text).iter().any(|token| token.concept == Some("fix"));
    if let Some(remedy) = seen.remedy {
        if wants_fix {
            let output = run.shell(&remedy.line)?;
            text.push_str(&format!("\n\n{}", remedy.done));
            let lines = output.lines();
            if !lines.is_empty() {
                text.push_str(&format!("\n\n{}", block_tail(&lines)));
            }
        } else {
            text.push_str(&format!("\n\nSay `fix it`, and I will ask to run {}.", code(&remedy.line)));
        }
    }
    Ok(Reply { text, subject: seen.subject })
}

/// The first output line with a known message; of several messages in one line the most specific.
fn finding(failed: &PastCommand) -> Option<Finding<'_>> {
    let known = |line: &str| {
        let lower = line.to_lowercase();
        MESSAGES.iter().position(|(parts, ..)| parts.iter().any(|part| lower.contains(part)))
    };
    let found: Vec<(usize, &String)> = failed.output.iter().filter_map(|line| Some((known(line)?, line))).collect();
    // "Error" and "no such file" occur in many outputs that have a better message in another line.
    let is_vague = |row: usize| matches!(MESSAGES[row].2, Look::Code | Look::Missing);
    let (row, line) =
        found.iter().find(|(row, _)| !is_vague(*row)).or_else(|| found.iter().min_by_key(|(row, _)| *row))?;
    let (_, advice, look) = &MESSAGES[*row];
    Some(Finding { line, advice, look: *look })
}

fn describe(failed: &PastCommand, finding: Option<&Finding<'_>>) -> String {
    let status = failed.exit.unwrap_or_default();
    let mut text = format!("{} failed with status {status}", code(&failed.line));
    if let Some(cwd) = &failed.cwd {
        text.push_str(&format!(" in {}", code(cwd)));
    }
    text.push('.');
    match finding {
        Some(Finding { line, advice, .. }) => {
            let line = code(line.trim().trim_end_matches('.'));
            text.push_str(&format!("\n\nThe error is in this line: {line}. {advice}"));
        }
        None => {
            let meaning = status_meaning(status).unwrap_or("I do not recognise its message.");
            text.push_str(&format!("\n\n{meaning}"));
        }
    }
    text
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
