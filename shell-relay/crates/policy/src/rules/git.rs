//! Allows `git` subcommands that only read. The text does not show whether a repository's configuration would start programs on them;
//! the caller that types the line checks that.

use std::{
    cell::Cell,
    path::{Path, PathBuf},
};

use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        options::{self, Arguments, Operands},
        paths::{self, PlainPath},
    },
    Place, Refusal, ask, check_hoard, check_links, check_literal, check_path, check_path_text, danger, purposes, split,
};

const STARTS_SIGNATURE_PROGRAM: &str = "a format with `%G` starts the signature program of the repository";

pub(super) fn assess(words: &[Word], place: Place<'_>) -> Result<(), Refusal> {
    let context = place.context;
    let Invocation { directory, words } = invocation(words);
    let directory = match directory {
        Some(target) => {
            check_path(target, context, paths::list_risk)?;
            let Some(path) = PlainPath::resolve(&target.text, target.has_tilde, context) else {
                return ask("`git -C` with another user's home");
            };
            path.to_path_buf()
        }
        None => context.cwd.to_path_buf(),
    };
    // The settings of a folder above are checked like those of the shell's own folder.
    let is_above = place.context.cwd == place.origin && place.origin.starts_with(&directory);
    // Only the shell knows the result of `cd` to a folder above: it may have come through a link.
    let is_another = !place.origin.starts_with(&directory) && is_plainly_at_home(&directory, context);
    if !(directory.starts_with(place.origin) || is_above || is_another) {
        return ask("runs git in another directory, whose configuration may start programs");
    }
    if is_in_planted_repository(&directory, place) {
        return ask("runs git in a repository inside the folder, whose configuration may start programs");
    }
    let Some((subcommand, words)) = words.split_first() else { return Ok(()) };
    let looks_into_others = |word: &Word| ["--dirty", "--broken"].iter().any(|option| word.text.starts_with(option));
    if subcommand.text == "describe"
        && words.iter().any(looks_into_others)
        && holds_another_repository(&directory, place)
    {
        return ask("looks into the repositories below, whose configuration may start programs");
    }
    assess_subcommand(subcommand, words, context.at(&directory))
}

/// Whether a folder is one that the user has at home, and not a program's: lines that run unasked there are checked against its settings,
/// too, and git itself refuses repositories of others.
fn is_plainly_at_home(directory: &Path, context: Context<'_>) -> bool {
    let mut names = directory.strip_prefix(context.home).into_iter().flatten().peekable();
    names.peek().is_some() && names.all(|name| !name.as_encoded_bytes().starts_with(b"."))
}

/// Whether git would find a repository that others may have put into this one: a bare repository, which a clone can bring along, or
/// another one below the shell's own folder.
fn is_in_planted_repository(directory: &Path, place: Place<'_>) -> bool {
    let Some(files) = place.context.files else { return false };
    let exists = |path: PathBuf| files.targets(&path).is_some_and(|found| !found.is_empty());
    for folder in directory.ancestors() {
        if exists(folder.join("HEAD")) && exists(folder.join("objects")) {
            return true;
        }
        if exists(folder.join(".git")) {
            return folder != place.origin && folder.starts_with(place.origin);
        }
    }
    false
}

/// Whether another repository may lie below the one of `directory`; no setting keeps `git describe --dirty` out of it.
fn holds_another_repository(directory: &Path, place: Place<'_>) -> bool {
    let Some(files) = place.context.files else { return false };
    let has_repository = |folder: &&Path| files.targets(&folder.join(".git")).is_some_and(|found| !found.is_empty());
    let Some(top) = directory.ancestors().find(has_repository) else { return false };
    // The first one is the repository's own.
    let seen = Cell::new(0_usize);
    files.has_names_below(top, &|name| name == ".git" && seen.replace(seen.get() + 1) > 0)
}

/// Settings for one call that keep git from starting programs that a repository names.
pub(crate) const HARMLESS_SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "diff.submodule=short",
    "log.showSignature=false",
];

/// The words behind `git`.
pub(crate) struct Invocation<'a> {
    /// The value of `-C`.
    pub directory: Option<&'a Word>,
    /// The subcommand and what follows it.
    pub words: &'a [Word],
}

/// Takes off the options in front of a subcommand, if they are harmless.
pub(crate) fn invocation(words: &[Word]) -> Invocation<'_> {
    match without_harmless_options(words) {
        [option, target, rest @ ..] if option.text == "-C" && !target.has_glob => {
            Invocation { directory: Some(target), words: without_harmless_options(rest) }
        }
        words => Invocation { directory: None, words },
    }
}

fn without_harmless_options(mut words: &[Word]) -> &[Word] {
    loop {
        words = match words {
            [option, rest @ ..] if matches!(option.text.as_str(), "-P" | "--no-pager" | "--no-optional-locks") => rest,
            [option, setting, rest @ ..]
                if option.text == "-c" && HARMLESS_SETTINGS.contains(&setting.text.as_str()) =>
            {
                rest
            }
            _ => return words,
        }
    }
}

fn assess_subcommand(subcommand: &Word, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let name = subcommand.text.as_str();
    if matches!(name, "--version" | "--help") && words.is_empty() {
        return Ok(());
    }
    if !subcommand.is_bare {
        return ask("the git subcommand is quoted");
    }
    let Some(spec) = options::git_subcommand(name) else {
        return ask(purposes::of_git(name));
    };
    // `git stash list` and `git stash show` take the options of `git log` and `git diff`.
    if let Operands::Rule("stash") = spec.operands {
        return assess_stash(words, context);
    }
    let is_format = |text: &str| text.starts_with("--format=") || text.starts_with("--pretty=");
    if words.iter().any(|word| is_format(&word.text) && shows_signature(&word.text)) {
        return danger(STARTS_SIGNATURE_PROGRAM);
    }
    let arguments = split(spec, words)?;
    if arguments.values_of(&["format", "pretty"]).any(shows_signature) || names_signature(&arguments) {
        return danger(STARTS_SIGNATURE_PROGRAM);
    }
    // The inserted word for the same setting would lose against it.
    if arguments
        .options
        .iter()
        .any(|(name, value)| *name == "ignore-submodules" && value.is_some_and(|value| value != "all"))
    {
        return ask("looks into submodules, whose settings may start programs");
    }
    let operands: Vec<&str> = arguments.operands.iter().map(|word| word.text.as_str()).collect();
    let is_listing = arguments.has(&["list", "merged", "no-merged", "contains", "points-at", "l", "n"]);
    match (spec.operands, &operands[..]) {
        (Operands::Paths | Operands::Rule("revisions"), [first, ..])
            if name == "reflog" && matches!(*first, "expire" | "delete" | "drop" | "write") =>
        {
            ask(format!("`git reflog {first}` changes the history"))
        }
        (Operands::Rule("revisions"), _) if arguments.has(&["no-index"]) && name != "check-ignore" => {
            assess_files(name, &arguments, context)
        }
        (Operands::Paths | Operands::Rule("revisions"), _) => {
            arguments.operands.iter().try_for_each(|word| check_revision(word, context))
        }
        (Operands::Rule("refs"), _) => arguments.operands.iter().try_for_each(|word| check_branch_pattern(word)),
        (Operands::Rule("listing"), []) => Ok(()),
        (Operands::Rule("listing"), _) if is_listing => {
            arguments.operands.iter().try_for_each(|word| check_branch_pattern(word))
        }
        (Operands::Rule("pattern"), _) => assess_grep(&arguments, context),
        (Operands::OneText, [name]) if name.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_') => Ok(()),
        (Operands::Rule("archives"), []) if arguments.has(&["l", "list"]) => Ok(()),
        (Operands::OneText, [])
        | (Operands::Rule("submodule"), [] | ["status"] | ["status", ..])
        | (Operands::Rule("notes"), [] | ["list"] | ["list" | "show", _])
        | (Operands::Rule("sparse"), ["list"])
        | (Operands::Rule("bisect"), ["log"])
        | (Operands::Rule("rerere"), ["status" | "remaining"]) => Ok(()),
        (Operands::Texts, _) => arguments.operands.iter().try_for_each(|word| check_literal(word)),
        // `git remote show -n` asks no host.
        (Operands::Rule("remote"), ["show", _]) if arguments.has(&["n"]) => Ok(()),
        (Operands::Rule("remote"), [] | ["get-url", _] | ["show"])
        | (Operands::Rule("worktree"), ["list"])
        | (Operands::Rule("one"), [_]) => Ok(()),
        (Operands::Rule("config"), _) => assess_config(&arguments, &operands),
        _ => ask(format!("`git {name}` with these operands may change something")),
    }
}

/// `git diff --no-index FILE FILE`: compares any two files or folders.
fn assess_files(name: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let files = &arguments.operands;
    if name != "diff" || files.len() != 2 || files.iter().any(|word| word.has_glob) {
        return ask("`git --no-index` with something else than two files");
    }
    files.iter().try_for_each(|word| {
        check_path(word, context, paths::search_risk)?;
        check_hoard(&word.text, word.has_tilde, true, context)?;
        check_links(word, context, "")
    })
}

fn assess_stash(words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    match words.split_first() {
        Some((verb, rest)) if matches!(verb.text.as_str(), "list" | "show") && verb.is_bare => {
            let log = Word { text: "log".into(), is_bare: true, ..Word::default() };
            assess_subcommand(&log, rest, context)
        }
        _ => ask("`git stash` changes the working tree"),
    }
}

/// Whether a format has `%G`, also with the signs that git permits in between.
fn shows_signature(format: &str) -> bool {
    format.split('%').skip(1).any(|rest| rest.trim_start_matches(['+', '-', ' ']).starts_with('G'))
}

/// Whether a field that checks a signature is option_table, or decides the order.
fn names_signature(arguments: &Arguments<'_>) -> bool {
    arguments
        .values_of(&["format"])
        .any(|format| ["(signature", "(*signature"].iter().any(|field| format.contains(field)))
        || arguments.values_of(&["sort"]).any(|field| field.contains("signature"))
}

fn assess_config(arguments: &Arguments<'_>, operands: &[&str]) -> Result<(), Refusal> {
    if let Some(key) = operands.first().filter(|key| may_name_secret(key)) {
        return danger(format!("may show a password or token: `git config {key}`"));
    }
    // Git takes any text behind a name for its new value.
    if !arguments.behind.is_empty() {
        return ask("`git config` that may change settings");
    }
    // The words of newer versions.
    let operands = match operands {
        ["list"] => return Ok(()),
        ["get", key] if !may_name_secret(key) => return Ok(()),
        operands => operands,
    };
    let reads_one = arguments.has(&["get", "get-all", "get-regexp"]) && !operands.is_empty();
    let lists = arguments.has(&["l", "list"]) && operands.is_empty();
    let is_short_read = matches!(operands, [key] if key.contains('.')) && !arguments.has(&["l", "list"]);
    if reads_one || lists || is_short_read { Ok(()) } else { ask("`git config` that may change settings") }
}

/// Whether a variable of git's configuration may hold a secret, by its name.
fn may_name_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    ["extraheader", "token", "pass", "secret", "credential", "insteadof", "proxy"].iter().any(|part| key.contains(part))
}

fn assess_grep(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let operands =
        if arguments.has(&["e"]) { &arguments.operands[..] } else { arguments.operands.get(1..).unwrap_or_default() };
    arguments.operands.first().map_or(Ok(()), |pattern| check_literal(pattern))?;
    operands.iter().try_for_each(|word| check_revision(word, context))
}

/// A revision, a path, or `REVISION:PATH`.
fn check_revision(word: &Word, context: Context<'_>) -> Result<(), Refusal> {
    if word.has_glob && word.text.starts_with(['*', '?']) && !context.confines("git") {
        return ask("a pattern may match a file that is named like an option; `./` in front avoids it");
    }
    check_path(word, context, paths::list_risk)?;
    // A part that is left out only makes less of it.
    if let Some(rest) = [":!", ":^", ":(exclude)"].iter().find_map(|sign| word.text.strip_prefix(sign))
        && !rest.starts_with([':', '(', '!', '^'])
    {
        return Ok(());
    }
    if word.text.starts_with(':') && !word.text[1..].starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.') {
        return ask("a path with git's own pattern signs");
    }
    // Two folders are compared with all that is in them.
    check_path_text(&word.text, word.has_tilde, context, paths::search_risk)?;
    // `REVISION:PATH` and `:STAGE:PATH`.
    word.text
        .match_indices(':')
        .try_for_each(|(at, _)| check_path_text(&word.text[at + 1..], false, context, paths::read_risk))
}

/// Checks `git branch --list feature/*`: as a file pattern it gives names again.
fn check_branch_pattern(word: &Word) -> Result<(), Refusal> {
    if word.has_glob && word.text.starts_with(['*', '?']) {
        ask("an unquoted pattern may turn into an option")
    } else {
        Ok(())
    }
}
