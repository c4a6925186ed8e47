//! Finds the files that a command reads or writes, by its words and the links in them.

use std::path::PathBuf;

use cohab_shell_syntax::{LooseRedirect, LooseWord};

use super::super::{
    Context, Level,
    findings::Findings,
    paths::{self, LastLink, PlainPath},
    rules,
};

/// Programs whose words are texts, not files.
const TEXT_ONLY: &[&str] = &[
    "echo", "printf", "basename", "dirname", "which", "type", "whereis", "man", "whatis", "apropos", "test", "[",
    "true", "false", "alias", "export", "string",
];
/// The first operand of these is no file.
const WITH_PATTERN: &[&str] =
    &["grep", "egrep", "fgrep", "rg", "sed", "awk", "gawk", "mawk", "jq", "fd", "fdfind", "ag", "ack"];
/// Programs that write their last operand.
const WRITE_LAST: &[&str] = &["cp", "mv", "ln", "install", "rsync", "scp", "gcp", "gmv", "uniq"];
/// Programs that write or remove all their operands.
const WRITE_ALL: &[&str] = &[
    "rm", "tee", "touch", "truncate", "shred", "unlink", "rmdir", "mkdir", "chmod", "chown", "chgrp", "sponge",
    "patch", "mkfifo", "mknod", "chattr",
];
/// A link that is named to these is removed or moved itself.
const TAKES_LINKS: &[&str] = &["rm", "rmdir", "unlink", "mv", "gmv"];
/// Options whose value is written, by program.
const OUTPUT_OPTIONS: &[(&[&str], &[&str])] = &[
    (&["cp", "mv", "install", "ln", "gcp", "gmv"], &["-t", "--target-directory"]),
    (&["curl"], &["-o", "--output", "--output-dir"]),
    (&["wget"], &["-O", "-o", "-P", "--output-document", "--output-file", "--directory-prefix"]),
    (&["tar"], &["-C", "--directory"]),
    (&["unzip"], &["-d"]),
    (&["gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ld"], &["-o"]),
    (&["sort", "git"], &["-o", "--output"]),
    (&["openssl"], &["-out"]),
];
/// Words that only credential hunters look for.
const CREDENTIAL_PATTERNS: &[&str] = &[
    "password",
    "passwd",
    "secret",
    "token",
    "api_key",
    "api-key",
    "apikey",
    "private key",
    "akia",
    "aws_",
    "bearer",
    "credential",
    "id_rsa",
    "ghp_",
    "sk-",
];
/// Folders of configuration files.
const CONFIGURATION_ROOTS: &[&str] = &["/etc", "/root", "/home", "/var", "/opt", "/proc", "/"];

/// The places in which the files of a line may lie.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'a> {
    /// The context of the line, with the folder in which it begins.
    pub context: Context<'a>,
    /// The folders in which a command of the line may run, the likeliest last.
    pub folders: &'a [PathBuf],
}

impl<'a> Places<'a> {
    /// The possible meanings of `text`, if it is a known path.
    pub(super) fn paths(self, text: &str) -> impl Iterator<Item = PlainPath> {
        let text = text.strip_prefix("file://").unwrap_or(text);
        let from_home = ["$HOME", "${HOME}"].iter().find_map(|name| text.strip_prefix(name));
        let text = from_home.map_or_else(|| text.to_owned(), |rest| format!("~{rest}"));
        let is_everywhere = text.starts_with(['/', '~']);
        let folders = if is_everywhere { &self.folders[..1] } else { self.folders };
        folders
            .iter()
            .filter_map(move |folder| PlainPath::resolve(&text, text.starts_with('~'), self.context.at(folder)))
    }
}

pub(super) fn judge_redirect(redirect: &LooseRedirect, places: Places<'_>, findings: &mut Findings) {
    let target = &redirect.target.text;
    if redirect.target.runs_code && redirect.writes {
        findings.danger("feeds its output to a command");
    }
    if target.starts_with("/dev/tcp/") || target.starts_with("/dev/udp/") {
        findings.danger("opens a raw connection");
    }
    if !redirect.writes {
        places.paths(target).for_each(|path| add_danger(paths::read_risk(&path, places.context), findings));
        return;
    }
    if matches!(target.as_str(), "/dev/null" | "/dev/stdout" | "/dev/stderr" | "/dev/tty")
        || target.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    {
        return;
    }
    let risk = |path: PlainPath| paths::write_risk(&path, LastLink::Followed, places.context);
    let risks: Vec<_> = places.paths(target).map(risk).collect();
    if let Some(risk) = risks.last().cloned() {
        findings.add(risk);
    }
    risks.into_iter().for_each(|risk| add_danger(Some(risk), findings));
}

fn add_danger(risk: paths::PathRisk, findings: &mut Findings) {
    if let Some(risk) = risk.filter(|risk| risk.level == Level::Danger) {
        findings.add(risk);
    }
}

/// Whether its operands are written or removed.
pub(super) fn is_there_to_write(verb: &str) -> bool {
    WRITE_ALL.contains(&verb) || WRITE_LAST.contains(&verb)
}

pub(super) fn judge_arguments(verb: &str, arguments: &[LooseWord], places: Places<'_>, findings: &mut Findings) {
    if !TEXT_ONLY.contains(&verb) {
        judge_reads(verb, arguments, places, findings);
    }
    judge_writes(verb, arguments, places, findings);
    judge_search(verb, arguments, places, findings);
}

/// Judges every word, and every part of one, that may be a path.
fn judge_reads(verb: &str, arguments: &[LooseWord], places: Places<'_>, findings: &mut Findings) {
    let risk = if rules::lists_names(verb) { paths::list_risk } else { paths::read_risk };
    let context = if TAKES_LINKS.contains(&verb) { places.context.without_files() } else { places.context };
    let is_of_certificate = rules::shows_certificates(verb, arguments.iter().map(|word| word.text.as_str()));
    let mut pattern_expected = WITH_PATTERN.contains(&verb);
    let mut is_condition = false;
    for word in arguments {
        let text = word.text.as_str();
        let was_condition = std::mem::replace(&mut is_condition, is_text_option(verb, text));
        if was_condition {
            pattern_expected &= verb == "find";
            continue;
        }
        if pattern_expected && !text.starts_with('-') {
            pattern_expected = false;
            continue;
        }
        for part in path_parts(text) {
            let part = part.strip_suffix(".pem").filter(|_| is_of_certificate).unwrap_or(part);
            places.paths(part).for_each(|path| add_danger(risk(&path, context), findings));
        }
    }
}

/// Whether the next word is a pattern or text, even if it looks like a file.
fn is_text_option(verb: &str, option: &str) -> bool {
    match verb {
        "find" => option.starts_with('-') && option.contains("name") || matches!(option, "-path" | "-ipath" | "-regex"),
        "git" => matches!(option, "-m" | "--message" | "--grep" | "--author" | "-S" | "-G"),
        "grep" | "egrep" | "fgrep" | "rg" => {
            matches!(option, "-e" | "--regexp" | "-g" | "--glob" | "--exclude" | "--exclude-dir" | "--include")
        }
        "ls" | "tree" => option == "-I",
        _ => false,
    }
}

fn path_parts(text: &str) -> impl Iterator<Item = &str> {
    let is_exclusion = ["--exclude", "--ignore", "--include", "--glob", "--grep", "--message"]
        .iter()
        .any(|option| text.starts_with(option));
    let whole = (!text.starts_with('-')).then_some(text);
    let is_option_with_path = text.starts_with('-') && text.len() > 2 && !text.starts_with("--");
    let attached = if is_option_with_path { text.get(2..) } else { None };
    let pieces = text.split(['=', '@', ':', ',', '<']).skip(1).filter(|piece| !piece.is_empty());
    let from_url = text.split_once("file://").map(|(_, path)| path);
    whole.into_iter().chain(attached).chain(pieces).chain(from_url).filter(move |part| !is_exclusion && part.len() > 1)
}

fn judge_writes<'w>(verb: &str, arguments: &'w [LooseWord], places: Places<'_>, findings: &mut Findings) {
    let operands: Vec<&'w str> = arguments
        .iter()
        .map(|word| word.text.as_str())
        .filter(|text| !text.starts_with('-') && !text.is_empty())
        .collect();
    let followed = |text: &'w str| (text, LastLink::Followed);
    let itself = |text: &'w str| (text, LastLink::Itself);
    let mut written = Vec::new();
    if WRITE_ALL.contains(&verb) {
        let how = if TAKES_LINKS.contains(&verb) { itself } else { followed };
        written.extend(operands.iter().copied().map(how));
    } else if WRITE_LAST.contains(&verb) && operands.len() > 1 {
        let (sources, last) = operands.split_at(operands.len() - 1);
        written.extend(last.iter().copied().map(followed));
        if TAKES_LINKS.contains(&verb) {
            written.extend(sources.iter().copied().map(itself));
        }
    } else if matches!(verb, "sed" | "perl" | "ruby") && arguments.iter().any(|word| is_in_place(&word.text)) {
        // The file is replaced by a new one.
        let follows = arguments.iter().any(|word| word.text.starts_with("--follow"));
        written.extend(operands.iter().copied().map(if follows { followed } else { itself }));
    } else if verb == "dd" {
        written.extend(operands.iter().filter_map(|text| text.strip_prefix("of=")).map(followed));
    }
    written.extend(outputs(verb, arguments).map(followed));
    let mut elsewhere = None;
    for (text, last) in written {
        for path in places.paths(text) {
            let risk = paths::write_risk(&path, last, places.context);
            elsewhere = elsewhere.or_else(|| paths::is_elsewhere(&risk).then(|| risk.clone()));
            add_danger(Some(risk), findings);
        }
    }
    // One of them is enough.
    if let Some(elsewhere) = elsewhere {
        findings.add(elsewhere);
    }
}

/// The outputs named by options of `verb`: in the next word, behind a `=`, or joined to a letter.
fn outputs<'w>(verb: &str, arguments: &'w [LooseWord]) -> impl Iterator<Item = &'w str> {
    let options =
        OUTPUT_OPTIONS.iter().find(|(verbs, _)| verbs.contains(&verb)).map_or(&[][..], |(_, options)| *options);
    arguments.iter().enumerate().filter_map(move |(index, word)| {
        options.iter().find_map(|option| match word.text.strip_prefix(option)? {
            "" => arguments.get(index + 1).map(|next| next.text.as_str()),
            rest if option.len() == 2 => Some(rest),
            rest => rest.strip_prefix('='),
        })
    })
}

fn is_in_place(text: &str) -> bool {
    text.starts_with("--in-place")
        || (text.starts_with('-')
            && !text.starts_with("--")
            && text[1..].split(|c: char| !c.is_ascii_alphabetic()).next().is_some_and(|flags| flags.contains('i')))
}

/// A search for credentials in places where configuration lies.
fn judge_search(verb: &str, arguments: &[LooseWord], places: Places<'_>, findings: &mut Findings) {
    if !matches!(verb, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "find" | "fd" | "locate") {
        return;
    }
    let names_credentials = arguments.iter().any(|word| {
        let lower = word.text.to_ascii_lowercase();
        CREDENTIAL_PATTERNS.iter().any(|pattern| lower.contains(pattern))
            && !lower.starts_with('/')
            && !lower.starts_with('~')
    });
    let is_recursive = !verb.ends_with("grep")
        || arguments.iter().any(|word| word.text.starts_with('-') && word.text.contains(['r', 'R']));
    let is_configuration = |word: &LooseWord| {
        let text = word.text.trim_end_matches('/');
        text.starts_with('~')
            || text.starts_with("$HOME")
            || CONFIGURATION_ROOTS.contains(&if text.is_empty() { "/" } else { text })
            || (word.text.starts_with('/')
                && places.paths(&word.text).any(|path| paths::is_wide(&path, places.context)))
    };
    if names_credentials && is_recursive && arguments.iter().any(is_configuration) {
        findings.danger("looks for credentials");
    }
}
