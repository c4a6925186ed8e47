//! Allows programs that can do much else if their options restrict them to listing.

use cohab_shell_syntax::Word;

use super::{
    super::{Context, inline_code, options::Arguments, paths},
    Refusal, ask, check_hoard, check_literal, check_path,
};

/// Settings of macOS that hold no secret.
const PLAIN_DOMAINS: &[&str] = &[
    "-g",
    "NSGlobalDomain",
    "com.apple.dock",
    "com.apple.finder",
    "com.apple.screencapture",
    "com.apple.SoftwareUpdate",
    "com.apple.menuextra.clock",
    "com.apple.trackpad",
    "com.apple.universalaccess",
    "com.apple.WindowManager",
];

/// Judges the operands of the program `name` by `rule`.
pub(super) fn assess(name: &str, rule: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let operands: Vec<&str> = arguments.operands.iter().map(|word| word.text.as_str()).collect();
    match (rule, &operands[..]) {
        ("schema", _) => assess_schema(arguments, context),
        ("defaults", [domain, ..]) if PLAIN_DOMAINS.contains(domain) => Ok(()),
        (
            "pmset",
            [] | ["batt" | "ps" | "cap" | "custom" | "live" | "assertions" | "sched" | "therm" | "systemstate"],
        ) if arguments.has(&["g"]) => Ok(()),
        ("iw", [] | [_, "link" | "info" | "channels"] | [_, "station" | "survey", "dump"]) => Ok(()),
        ("service", [name, "status"]) if !name.contains('/') => Ok(()),
        // A file with that ending is code.
        ("names", _) if operands.iter().all(|name| !name.contains(['/', ':']) && !name.ends_with(".rb")) => Ok(()),
        // `scterc,70,70` changes a setting.
        ("smart", _) if arguments.values_of(&["l", "log"]).any(|log| log.contains(',')) => {
            ask("`smartctl` with a log that may set or erase something")
        }
        ("smart", _) => arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::list_risk)),
        ("sub", _) => ask("reads what to do from its input"),
        ("place", [_, _, ..]) => assess_search(arguments, context),
        _ => ask(format!("not known to be read-only: `{name}` with these operands")),
    }
}

/// Allows the program only with one of the options in `wanted`, between commas.
pub(super) fn assess_needed(wanted: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    // Many programs read no option behind an operand.
    if !wanted.split(',').any(|name| arguments.has_in_front(&[name])) {
        return ask("does more than list");
    }
    arguments.operands.iter().try_for_each(|word| check_path(word, context, paths::read_risk))
}

/// Allows tables and their columns. Queries may call functions that write and run.
fn assess_schema(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let [file, command] = &arguments.operands[..] else { return ask("`sqlite3` without a database and one command") };
    if context.confines("sqlite3")
        && inline_code::only_asks(&command.text)
        && !command.text.trim_start().starts_with('.')
    {
        check_literal(command)?;
        return check_path(file, context, paths::read_risk);
    }
    let mut words = command.text.split_whitespace();
    let lists =
        matches!(words.next(), Some(".tables" | ".schema" | ".indexes" | ".indices" | ".databases" | ".fullschema"));
    let is_name = |word: &str| word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_%.-".contains(&byte));
    if !lists || !words.all(is_name) || file.text.contains(':') {
        return ask("`sqlite3` that does more than tell its tables");
    }
    check_path(file, context, paths::read_risk)?;
    let is_there = |suffix: &str| {
        let path = paths::PlainPath::resolve(&format!("{}{suffix}", file.text), file.has_tilde, context);
        let found = path.zip(context.files).map(|(path, files)| files.targets(path.written()));
        found.map(|found| found.is_none_or(|found| !found.is_empty()))
    };
    if ["-journal", "-wal"].into_iter().any(|suffix| is_there(suffix) == Some(true)) {
        return ask("`sqlite3` would put the database back into order, by a journal that lies beside it");
    }
    match paths::PlainPath::resolve(&file.text, file.has_tilde, context) {
        Some(_) if is_there("") != Some(false) => Ok(()),
        _ => ask("`sqlite3` would make the database"),
    }
}

/// `ag PATTERN PLACE...`: without a place it may read its input.
fn assess_search(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let with_hidden = arguments.has(&["u", "hidden"]);
    for place in &arguments.operands[1..] {
        check_path(place, context, paths::search_risk)?;
        check_hoard(&place.text, place.has_tilde, with_hidden, context)?;
    }
    Ok(())
}

/// `lsof FILE...`, `lsof +D FOLDER`, `lsof +L1`.
pub(super) fn assess_lsof(operands: &[&Word], context: Context<'_>) -> Result<(), Refusal> {
    let mut words = operands.iter();
    while let Some(word) = words.next() {
        match word.text.as_str() {
            "+D" | "+d" => {
                let Some(folder) = words.next() else { return ask("`lsof +D` without a folder") };
                check_path(folder, context, paths::search_risk)?;
            }
            "+L" | "+L1" => {}
            text if text.starts_with('+') => return ask("an option of `lsof` that is not known to be read-only"),
            _ => check_path(word, context, paths::list_risk)?,
        }
    }
    Ok(())
}
