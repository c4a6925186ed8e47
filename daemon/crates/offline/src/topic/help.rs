//! Intents for help on commands, and on the assistant itself.

use super::super::{
    answer::{block, code, list},
    fallback::overview,
    intent::{Intent, Topic},
    run::{Reply, Run, Step},
    shell_line::{is_plain_name, word},
    slots::Slots,
};

/// Commands of the shell itself, which have no separate manual.
const BUILTINS: &[&str] = &[
    "alias", "bg", "bind", "cd", "declare", "dirs", "disown", "eval", "exec", "export", "fg", "getopts", "hash",
    "history", "jobs", "let", "local", "popd", "pushd", "read", "set", "shift", "shopt", "source", "trap", "type",
    "ulimit", "umask", "unalias", "unset", "wait",
];
/// Lines fetched of a manual.
const MANUAL_LINES: usize = 120;

pub(super) const INTENTS: &[Intent] = &[
    Intent {
        name: "help.command",
        topic: Topic::Help,
        example: "how do I use tar?",
        patterns: &[
            "help <program> ?command ?show ?use",
            "how use <program> ?command",
            "explain <program> ?command",
            "man|manual <name> ?command ?show",
            "help|explain command <name> ?use ?show",
            "how use command <name>",
            "what command <name> ?do ?it",
            "options|flags <program> ?command ?show",
            "how <program> work|works ?command",
            "man page <program> ?show",
            "manual <program> ?show",
            "how <program> ?use ?command work|works",
            "help <program>",
            "usage|use of <program> ?command ?show",
        ],
        plan: command,
    },
    Intent {
        name: "help.option",
        topic: Topic::Help,
        example: "what does tar -x do?",
        patterns: &[
            "<program> <flag> what|mean|means|explain|do|does|help ?mean ?command ?option ?flag ?it",
            "<program> <flag> mean|explain|what|option|flag ?command",
            "mean <program> <flag>",
            "option|flag <flag> <program> ?what ?do ?mean ?command",
            "<program> <flag> do|does|mean ?what",
        ],
        plan: option,
    },
    Intent {
        name: "help.whatis",
        topic: Topic::Help,
        example: "what does grep do?",
        patterns: &[
            "what do|does <program> ?command -ip",
            "what is <program> -where -my -ip",
            "what <program> -where -my -free -ip",
            "whatis <name> -ip",
            "was macht|ist <program> -ip",
            "what command <program> ?for -ip",
            "explain <program> -how ?command -ip",
            "what <program> for ?command -ip",
            "explain <program> ?command -how -ip",
        ],
        plan: whatis,
    },
    Intent {
        name: "help.apropos",
        topic: Topic::Help,
        example: "which command can convert images?",
        patterns: &[
            "where|what|find|is command <text> -last -wrong -fix ?it ?use ?show ?<ext>",
            "command for <text> -last -wrong -fix ?show",
            "apropos <text>",
        ],
        plan: apropos,
    },
    Intent {
        name: "help.overview",
        topic: Topic::Help,
        example: "what can you do?",
        patterns: &[
            "capabilities ?show",
            "help",
            "help me",
            "hello",
            "hello ?it",
            "who you",
            "what you",
            "hello ?you",
            "capabilities ?show ?command",
        ],
        plan: |_, _| Ok(Reply::new(overview())),
    },
];

fn command(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    if !is_plain_name(name) {
        return Ok(Reply::new(format!("{} is not the name of a command.", code(name))));
    }
    if BUILTINS.contains(&name) {
        let help = run.attempt(&format!("help {name}"))?;
        if !help.failed {
            return Ok(Reply::new(format!("{} is part of the shell:\n\n{}", code(name), block(&help.lines(), "text"))));
        }
    }
    let manual = run.attempt(&format!("man {name} 2> /dev/null | head -n {MANUAL_LINES}"))?;
    if !manual.failed && manual.lines().len() > 3 {
        return Ok(Reply::new(from_manual(name, &manual.text)));
    }
    let help = run.attempt(&format!("{name} --help"))?;
    let lines = help.lines();
    Ok(Reply::new(if help.failed || lines.is_empty() {
        format!("I found neither a manual nor `--help` for {}.", code(name))
    } else {
        format!("{} says about itself:\n\n{}", code(name), block(&lines, "text"))
    }))
}

/// The paragraphs of the manual that begin with the option.
fn option(slots: &Slots, run: &mut Run<'_>) -> Step {
    const LINES_OF_ONE: usize = 6;
    const MAX_LINES: usize = 40;
    let (name, flag) = (slots.target(), slots.flag.as_deref().unwrap_or_default());
    if !is_plain_name(name) {
        return Ok(Reply::new(format!("{} is not the name of a command.", code(name))));
    }
    let pattern = format!("^ *(-.*[ ,/])?({})([],:;=[ ]|$)", spellings(flag).join("|"));
    let find = format!("grep -A {LINES_OF_ONE} -E -e {} | head -n {MAX_LINES}", word(&pattern));
    let output = run.attempt(&format!("man {name} 2> /dev/null | {find}"))?;
    let lines = output.lines();
    if lines.is_empty() {
        return command(slots, run);
    }
    let asked = code(&format!("{name} {flag}"));
    Ok(Reply::new(format!("The manual of {} on {asked}:\n\n{}", code(name), block(&lines, "text"))))
}

/// The spellings of an option: `-xz` may be one option or two.
fn spellings(flag: &str) -> Vec<String> {
    const MAX_JOINED: usize = 5;
    let letters =
        flag.strip_prefix('-').filter(|rest| !rest.starts_with('-') && rest.len() > 1 && rest.len() <= MAX_JOINED);
    let each =
        letters.unwrap_or_default().chars().filter(char::is_ascii_alphanumeric).map(|letter| format!("-{letter}"));
    [flag.to_owned()].into_iter().chain(each).collect()
}

/// Extracts name, synopsis and the start of the description.
fn from_manual(name: &str, text: &str) -> String {
    const DESCRIPTION_LINES: usize = 14;
    let lines: Vec<&str> = text.lines().collect();
    let section = |title: &str, most: usize| -> Vec<&str> {
        let Some(start) = lines.iter().position(|line| line.trim_end() == title) else { return Vec::new() };
        let body = lines[start + 1..].iter().take_while(|line| line.is_empty() || line.starts_with([' ', '\t']));
        body.map(|line| line.trim_end()).filter(|line| !line.is_empty()).take(most).collect()
    };
    let summary = section("NAME", 2).iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    let synopsis = section("SYNOPSIS", DESCRIPTION_LINES);
    let description = section("DESCRIPTION", DESCRIPTION_LINES);
    if synopsis.is_empty() && description.is_empty() {
        return format!("The manual of {}:\n\n{}", code(name), block(&lines, "text"));
    }
    format!(
        "From the manual of {}: {}\n\n{}\n\n{}\n\nAll of it: {}",
        code(name),
        code(&summary),
        block(&synopsis, "text"),
        block(&description, "text"),
        code(&format!("man {name}"))
    )
}

fn whatis(slots: &Slots, run: &mut Run<'_>) -> Step {
    let name = slots.target();
    if !is_plain_name(name) {
        return Ok(Reply::new(format!("{} is not the name of a command.", code(name))));
    }
    let output = run.attempt(&format!("whatis {name}"))?;
    let lines: Vec<&str> = output.lines().into_iter().filter(|line| line.contains(" - ")).collect();
    if !lines.is_empty() && !output.failed {
        return Ok(Reply::new(format!("{}, in a line:\n\n{}", code(name), list(&lines))));
    }
    command(slots, run)
}

/// Removes the ending of a plural or a third person, which manuals seldom use.
fn stem(word: &str) -> String {
    let stem = word.strip_suffix("ies").map(|stem| format!("{stem}y"));
    stem.unwrap_or_else(|| {
        word.strip_suffix('s').filter(|stem| stem.len() > 2 && !stem.ends_with('s')).unwrap_or(word).to_owned()
    })
}

fn apropos(slots: &Slots, run: &mut Run<'_>) -> Step {
    const MAX_WORDS: usize = 3;
    let text = slots.text.as_deref().unwrap_or_default();
    let words: Vec<String> = text
        .split_whitespace()
        .filter(|part| part.chars().count() > 2 && !super::super::vocabulary::is_filler(&part.to_lowercase()))
        .filter(|part| part.chars().all(|letter| letter.is_alphanumeric() || letter == '-') && !part.starts_with('-'))
        .take(MAX_WORDS)
        .map(|part| stem(&part.to_lowercase()))
        .collect();
    if words.is_empty() {
        return Ok(Reply::new("Please say in a word or two what the command should do."));
    }
    const MAX_FOUND: usize = 20;
    let mut output = run.attempt(&format!("apropos -a {}", words.join(" ")))?;
    if words.len() > 1 && !output.text.contains(" - ") {
        output = run.attempt(&format!("apropos {}", words.join(" ")))?;
    }
    let mut lines: Vec<&str> = output.lines().into_iter().filter(|line| line.contains(" - ")).collect();
    // Lines that mention more of the words come first.
    lines
        .sort_by_key(|line| std::cmp::Reverse(words.iter().filter(|word| line.to_lowercase().contains(*word)).count()));
    lines.truncate(MAX_FOUND);
    Ok(Reply::new(if lines.is_empty() {
        format!("No manual page mentions {}.", code(&words.join(" ")))
    } else {
        format!("Commands whose manual mentions {}:\n\n{}", code(&words.join(" ")), list(&lines))
    }))
}
