//! Judges whether one simple command is plainly read-only.
//!
//! These rules do not judge the structure of a line or search it for known harm.

mod archives;
mod awk;
mod clouds;
mod code;
pub(super) mod computed;
mod deep;
mod find;
mod find_words;
pub(super) mod git;
mod input;
mod jq;
mod kubectl;
mod list_only;
mod media;
pub(super) mod misc_programs;
mod operands;
pub(super) mod option_table;
mod packages;
mod pattern;
mod printf;
mod processes;
mod purposes;
mod search;
mod sed;
mod shells;
mod timeout;
mod unknown;
pub(super) mod version_queries;
pub(super) mod xargs;

use std::path::PathBuf;

use cohab_shell_syntax::{Join, Redirect, RedirectKind, SimpleCommand, Word};

use super::{
    Context,
    findings::Findings,
    lookups,
    options::{self, Arguments, Operands, Spec},
    paths::{self, PathRisk, PlainPath},
    verdict::Objection,
};

/// The longest wait that needs no question, in seconds.
const MAX_WAIT_SECONDS: f64 = 30.0;

/// The place of a command.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) context: Context<'a>,
    /// Directory of the shell before the line.
    pub(super) origin: &'a std::path::Path,
    /// The command's output goes into a pipe, never to the terminal.
    pub(super) feeds_pipe: bool,
    /// The commands in front of it in its pipe.
    pub(super) fed_by: &'a [SimpleCommand],
}

/// Programs that show only the names of files, even of a file with secret contents.
const LISTERS: &[&str] = &[
    "[",
    "blkid",
    "btrfs",
    "count",
    "df",
    "dir",
    "du",
    "dumpe2fs",
    "dust",
    "exa",
    "eza",
    "fd",
    "fdfind",
    "fdisk",
    "find",
    "gdisk",
    "getfacl",
    "hdparm",
    "ls",
    "lsattr",
    "lsd",
    "lsof",
    "mdadm",
    "mountpoint",
    "namei",
    "nvme",
    "parted",
    "path",
    "readlink",
    "realpath",
    "sfdisk",
    "sgdisk",
    "smartctl",
    "stat",
    "test",
    "tree",
    "tune2fs",
    "udevadm",
];

/// Whether a program shows names and properties of files, never their contents.
pub(crate) fn lists_names(name: &str) -> bool {
    LISTERS.contains(&name)
}

/// Whether `openssl` shows only certificates of the files that it reads.
pub(crate) fn shows_certificates<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
    name == "openssl" && matches!(words.next(), Some("x509" | "crl" | "verify"))
}

/// Programs to which a file named like an option does no harm.
const HARMLESS_WITH_ANY_OPTION: &[&str] = &[
    "ls", "dir", "cat", "tac", "head", "nl", "cut", "paste", "stat", "df", "cmp", "basename", "dirname", "od",
    "readlink", "realpath", "echo", "count", "path",
];
/// Programs that are typed with a `--` in front of a pattern that may match a file named like an option.
const ENDS_OPTIONS: &[&str] = &[
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "du",
    "diff",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "cksum",
    "hexdump",
    "hd",
    "tail",
    "print",
];

/// Judges one command of a plain line.
pub(super) fn assess(command: &SimpleCommand, place: Place<'_>, findings: &mut Findings) {
    for redirect in &command.redirects {
        let reads_nothing = command.words.first().is_some_and(|name| name.text == "true");
        assess_redirect(redirect, reads_nothing, place.context, findings);
    }
    let Some((name, words)) = command.words.split_first() else { return };
    if !is_plain_name(name) {
        findings.ask("the command's name is quoted, spliced or a path");
        return;
    }
    let has_input =
        command.join == Join::Pipe || command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read);
    if name.text == "xargs" && command.redirects.iter().any(|redirect| redirect.kind == RedirectKind::Read) {
        findings.ask("`xargs` runs a command on what is not known");
    }
    if let Some(reason) = input::why_it_never_ends(&name.text, words, has_input) {
        findings.ask(reason);
    }
    let outcome = assess_words(&name.text, words, place, has_input)
        .and_then(|()| deep::check(&name.text, words, place.context))
        .and_then(|()| operands::check_matches(&name.text, words, place.context));
    if let Err(objection) = outcome {
        findings.add(objection);
    }
}

/// The directories to which a `cd` may lead; `None` if the command is not a `cd` or its target is not known.
pub(super) fn cd_target(command: &SimpleCommand, context: Context<'_>) -> Option<PathBuf> {
    // `-P` leads to the targets of links, which the text does not show.
    if command.words.iter().any(|word| matches!(word.text.as_str(), "-" | "--") || is_physical(&word.text)) {
        return None;
    }
    let target = command.words.iter().skip(1).find(|word| !word.text.starts_with('-'));
    match target {
        Some(word) => PlainPath::resolve(&word.text, word.has_tilde, context).map(|path| path.to_path_buf()),
        None => Some(context.home.to_path_buf()),
    }
}

fn is_physical(option: &str) -> bool {
    option.starts_with('-') && option.contains('P')
}

fn is_plain_name(name: &Word) -> bool {
    let is_word = name.text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.+-".contains(&byte));
    name.is_bare && !name.text.is_empty() && (is_word || name.text == "[")
}

fn assess_redirect(redirect: &Redirect, reads_nothing: bool, context: Context<'_>, findings: &mut Findings) {
    let target = &redirect.target;
    let is_allowed = match redirect.kind {
        RedirectKind::Read if redirect.fd.is_none() => match check_path(target, context, paths::read_risk) {
            // Only one file can be read; which file makes no difference to a program that reads none.
            Ok(()) => !target.has_glob || reads_nothing,
            Err(objection) => return findings.add(objection),
        },
        RedirectKind::Write | RedirectKind::Append | RedirectKind::WriteAll => target.text == "/dev/null",
        RedirectKind::Duplicate => {
            matches!((redirect.fd, target.text.as_str()), (None | Some(1), "2") | (Some(2), "1")) && target.is_bare
        }
        RedirectKind::Read => false,
    };
    if !is_allowed {
        findings.ask(format!("redirects to or from `{}`", target.text));
    }
}

/// The reason why a command is not allowed, and its level.
type Refusal = Objection;

fn ask<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Objection::ask(reason))
}

fn danger<T>(reason: impl Into<String>) -> Result<T, Refusal> {
    Err(Objection::danger(reason))
}

/// Judges the words. With `has_input` a pipe or a file feeds the command.
fn assess_words(name: &str, words: &[Word], place: Place<'_>, has_input: bool) -> Result<(), Refusal> {
    let is_paged = !place.feeds_pipe && misc_programs::pages_help(name, words);
    if !has_input && !is_paged && version_queries::is_plain(name, words) {
        return Ok(());
    }
    if let Some((spec, words)) = options::own(place.context.shell, name, words) {
        return shells::assess(name, spec, words, place.context);
    }
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if let Some(asked) = lookups::name_asked(name, &texts) {
        return ask(format!("`{name}` asks a name server or another host for `{asked}`"));
    }
    match name {
        "find" => return find::assess(words, place),
        "timeout" if place.context.confines(name) => return timeout::assess(words, place, has_input),
        "xargs" => return xargs::assess_xargs(words, place, has_input),
        "sed" => return sed::assess(words, place.context),
        "awk" | "gawk" | "mawk" => return awk::assess(words, place.context),
        "git" => return git::assess(words, place),
        "ip" => return misc_programs::assess_ip(words),
        "ps" => return processes::assess(words),
        "man" if misc_programs::is_search_of_pages(words) => return Ok(()),
        // `man` is typed in front of a program that prints, so that it starts no pager.
        "man" => return misc_programs::assess_man(words),
        _ if misc_programs::may_start_pager(name, words, place.feeds_pipe) => {
            return ask(format!("takes over the whole screen: `{name}`"));
        }
        _ => {}
    }
    if let Some(outcome) = code::assess(name, words, place.context) {
        return outcome;
    }
    match options::subcommand(name, words) {
        Ok(Some((spec, words))) => return option_table::assess(name, spec, words, place.context),
        Ok(None) => {}
        Err(reason) => return ask(reason),
    }
    let Some(spec) = options::verb(name) else { return unknown::assess(name, words, place.context) };
    let is_question = matches!(words, [only] if matches!(only.text.as_str(), "--help" | "--version"));
    if is_question && !matches!(spec.operands, Operands::Rule("any" | "printf" | "test" | "cd")) {
        return Ok(());
    }
    option_table::assess(name, spec, words, place.context)
}

fn split<'a>(spec: &Spec, words: &'a [Word]) -> Result<Arguments<'a>, Refusal> {
    spec.split(words).map_err(Objection::ask)
}

/// Judges a path by `risk`, [`paths::read_risk`] or a similar function.
fn check_path(word: &Word, context: Context<'_>, risk: fn(&PlainPath, Context<'_>) -> PathRisk) -> Result<(), Refusal> {
    check_path_text(&word.text, word.has_tilde, context, risk)
}

fn check_path_text(
    text: &str,
    has_tilde: bool,
    context: Context<'_>,
    risk: fn(&PlainPath, Context<'_>) -> PathRisk,
) -> Result<(), Refusal> {
    let Some(path) = PlainPath::resolve(text, has_tilde, context) else {
        return ask(format!("names another user's home: `{text}`"));
    };
    risk(&path, context).map_or(Ok(()), Err)
}

/// Judges reading everything below `root`, a plain place.
fn check_hoard(root: &str, has_tilde: bool, with_hidden: bool, context: Context<'_>) -> Result<(), Refusal> {
    let Some(path) = PlainPath::resolve(root, has_tilde, context) else { return Ok(()) };
    paths::hoard_risk(&path, with_hidden, &|_| true, context).map_or(Ok(()), Err)
}

/// Asks if a link below `root` leads to a place that is not read unasked: a program that gets its name reads its target.
fn check_links(root: &Word, context: Context<'_>, advice: &str) -> Result<(), Refusal> {
    let path = PlainPath::resolve(&root.text, root.has_tilde, context);
    let Some((path, files)) = path.zip(context.files) else { return Ok(()) };
    let is_risky = |target: &std::path::Path| paths::assess_read(target, context).is_some();
    match files.link_below(&path.to_path_buf(), &is_risky) {
        Some(link) => {
            ask(format!("a link that is found may lead to what is not read unasked: {}{advice}", link.display()))
        }
        None => Ok(()),
    }
}

/// Checks that operands that are texts are literal: a pattern turns into names of files.
fn check_literal(word: &Word) -> Result<(), Refusal> {
    if word.has_glob { ask(format!("a pattern of file names where a text belongs: `{}`", word.text)) } else { Ok(()) }
}
