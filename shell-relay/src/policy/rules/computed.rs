//! Words that are known only when a line runs. The second lock keeps a program harmless whatever it is told; what the shell runs by
//! itself is not behind it, and what a program shows of files may be secret all the same.

use std::ops::Range;

use super::{
    super::{
        command::{Join, SimpleCommand, Word},
        structure::{Computed, Kind},
        typed,
    },
    Place, Refusal, ask, check_hoard, check_path,
    fed::{self, Feed},
    paths, printf,
};
use crate::shell::Shell;

/// These print any text, or tell what a name is. The shell runs them itself.
const TELLS: &[&str] = &["echo", "type", "whence", "true", ":"];
/// They run the program that their words name.
const STARTERS: &[&str] =
    &["chrt", "env", "ionice", "nice", "nohup", "setsid", "stdbuf", "taskset", "time", "timeout", "watch", "xargs"];
/// What these print of their own accord names nothing that is secret.
const TELLS_PLACES: &[&str] = &["command", "pgrep", "pidof", "pwd", "type", "whence", "which"];
/// They ask a service, and tell nothing else of what it knows by the names that it gives.
const ASK_SERVICES: &[&str] = &["docker", "kubectl", "nerdctl", "podman", "systemctl"];
/// Their operands are no files.
const NO_FILES: &[&str] = &[
    "apt-cache",
    "arch",
    "dpkg",
    "dpkg-query",
    "findmnt",
    "free",
    "getconf",
    "getent",
    "groups",
    "id",
    "ldconfig",
    "locale",
    "lsblk",
    "lscpu",
    "nproc",
    "numfmt",
    "pgrep",
    "ps",
    "rpm",
    "seq",
    "tput",
    "tty",
    "uname",
    "users",
    "w",
    "which",
    "who",
    "whoami",
];
/// Options of git whose value is nothing but a text.
const VALUES_OF_GIT: &[&str] = &["--author=", "--since=", "--until=", "--after=", "--before=", "--grep=", "--format="];
/// Subcommands of git that print names of its own, or of files that it keeps.
const GIT_NAMES: &[&str] =
    &["branch", "describe", "for-each-ref", "log", "merge-base", "rev-list", "rev-parse", "stash", "tag"];
const GIT_FILES: &[&str] = &["diff", "diff-tree", "ls-files", "ls-tree", "show"];

/// Judges the word number `at` of a command, which is `computed`. `printer` is what prints its value, if that is known.
pub(in crate::policy) fn assess(
    command: &SimpleCommand,
    at: usize,
    computed: &Computed,
    printer: &[SimpleCommand],
    place: Place<'_>,
) -> Result<(), Refusal> {
    let Some((name, words)) = command.words.split_first() else { return ask("runs a command that is not told") };
    let name = name.text.as_str();
    if computed.kind == Kind::Number
        || (computed.kind == Kind::Known && !computed.is_split && is_one_word_harmless(name, place.context.shell))
    {
        return Ok(());
    }
    let is_of_same = |printer: &[SimpleCommand]| {
        let producer = printer.first().is_some_and(|first| first.words[0].text == name);
        producer && printer.iter().skip(1).all(|filter| filter.join == Join::Pipe && fed::is_filter(filter))
    };
    if ASK_SERVICES.contains(&name) && is_of_same(printer) {
        return Ok(());
    }
    if !typed::holds(command, at, place.context.shell) {
        return check_of_the_shell(name, words, at, computed, place.context.shell);
    }
    let text = command.words.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    if computed.kind == Kind::Known && !computed.is_split && text != "./x" {
        // The pattern itself stands there, and is judged.
        return Ok(());
    }
    if place.context.lock.is_none() {
        return ask("what it computes is harmless only where programs are kept from writing");
    }
    if computed.kind == Kind::Known {
        return Ok(());
    }
    if STARTERS.contains(&name) || (name == "find" && words.iter().any(|word| word.text.starts_with("-exec"))) {
        return ask(format!("`{name}` runs a command on what is not known beforehand"));
    }
    if !fed::shows_contents(name) || NO_FILES.contains(&name) {
        return Ok(());
    }
    let is_plain = |word: &&Word| !word.text.starts_with('-');
    let is_searched_for = matches!(name, "grep" | "egrep" | "fgrep" | "rg")
        && words.iter().take(at).filter(is_plain).count() == 1
        && words.iter().filter(is_plain).count() > 1
        && !words.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--regexp" | "--file"));
    let is_value = match name {
        "awk" | "gawk" | "mawk" => {
            words.get(at.wrapping_sub(2)).is_some_and(|before| before.text == "-v") && text.contains('=')
        }
        "git" => VALUES_OF_GIT.iter().any(|option| text.starts_with(option)),
        "date" => text.starts_with('@') || words.get(at.wrapping_sub(2)).is_some_and(|before| before.text == "-d"),
        _ => false,
    };
    if is_searched_for || is_value {
        return Ok(());
    }
    check_printed(name, computed, printer, place)
}

/// Builtins: they must do the same whatever the word says.
fn check_of_the_shell(name: &str, words: &[Word], at: usize, computed: &Computed, shell: Shell) -> Result<(), Refusal> {
    let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let is_harmless = match name {
        _ if TELLS.contains(&name) => true,
        "command" => matches!(first, "-v" | "-V" | "-s"),
        // Nothing that fish computes with is code.
        "contains" | "count" | "math" | "path" | "realpath" | "[" | "test" if shell == Shell::Fish => true,
        "printf" if shell == Shell::Fish => at > 1 && only_colours(first),
        "string" => {
            let literal = |word: &&Word| !word.text.starts_with('-') && !matches!(word.text.as_str(), "x" | "1");
            let before = words.iter().take(at - 1).skip(1).filter(literal).count();
            // A pattern may name a variable that it sets.
            match first {
                "match" => before >= 1,
                "replace" => before >= 2,
                _ => at > 1 && first != "repeat",
            }
        }
        "printf" => at > 1 && (shell == Shell::Bash || printf::prints_texts(first)) && only_colours(first),
        // Some shells evaluate a number; more words than are written could be an operator.
        "print" => {
            // An option of its own would stand in front.
            let begins = |word: &Word| word.text.starts_with(['1', 'x', '.']);
            words.iter().take(at).any(|word| matches!(word.text.as_str(), "--" | "-"))
                || words.get(at - 1).is_some_and(|word| !begins(word))
        }
        "[" | "test" => {
            let are_texts =
                !words.iter().any(|word| matches!(word.text.as_str(), "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge"));
            !computed.is_split && (are_texts || shell == Shell::Bash)
        }
        _ => false,
    };
    if is_harmless { Ok(()) } else { ask(format!("`{name}` gets what is not known beforehand")) }
}

/// Builtins that do the same whatever name of a file one of their words is.
fn is_one_word_harmless(name: &str, shell: Shell) -> bool {
    matches!(name, "echo" | "[" | "test") || (name == "printf" && shell == Shell::Bash)
}

/// Whether no escape in a format begins more than a colour: what stands behind it would be the terminal's.
fn only_colours(format: &str) -> bool {
    let escapes = ["\\033", "\\e", "\\E", "\\x1b", "\\x1B", "\\33", "\\0033"];
    let is_colour = |behind: &str| behind.starts_with('[') || behind.starts_with("33[");
    escapes.iter().all(|escape| format.match_indices(escape).all(|(at, _)| is_colour(&format[at + escape.len()..])))
}

/// Judges showing what `printer` names.
fn check_printed(name: &str, computed: &Computed, printer: &[SimpleCommand], place: Place<'_>) -> Result<(), Refusal> {
    let unknown = || ask(format!("`{name}` may show a file that is not known beforehand"));
    let is_one_pipe = printer.iter().skip(1).all(|command| command.join == Join::Pipe);
    if !is_one_pipe {
        return unknown();
    }
    let mut commands = printer.iter().rev().skip_while(|command| fed::is_filter(command));
    let Some(producer) = commands.next().filter(|_| commands.next().is_none()) else { return unknown() };
    let Some((first, words)) = producer.words.split_first() else { return unknown() };
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let is_below = !computed.is_whole && computed.kind != Kind::Any;
    let here = Word { text: ".".into(), is_bare: true, ..Word::default() };
    match first.text.as_str() {
        producer if TELLS_PLACES.contains(&producer) => Ok(()),
        "date" if texts.iter().all(|word| is_plain_format(word)) => Ok(()),
        "git" => {
            let subcommand =
                super::git::invocation(words).words.first().map(|word| word.text.as_str()).unwrap_or_default();
            let is_top = super::git::invocation(words).words.get(1).is_some_and(|word| word.text == "--show-toplevel");
            if is_below && subcommand == "rev-parse" && is_top {
                return Ok(());
            }
            if name == "git" && (GIT_NAMES.contains(&subcommand) || GIT_FILES.contains(&subcommand)) {
                Ok(())
            } else if computed.is_whole && GIT_FILES.contains(&subcommand) {
                check_roots(&[here], place)
            } else {
                unknown()
            }
        }
        "ls" if computed.is_whole
            && !texts.iter().any(|word| word.starts_with('-') && word.contains(['a', 'A', 'R'])) =>
        {
            let roots: Vec<Word> = words.iter().filter(|word| !word.text.starts_with('-')).cloned().collect();
            if roots.is_empty() {
                return check_roots(&[here], place);
            }
            roots.iter().try_for_each(|root| check_path(root, place.context, paths::read_risk))?;
            check_roots(&roots.into_iter().filter(|root| !root.has_glob).collect::<Vec<_>>(), place)
        }
        _ => match fed::feed(printer) {
            Feed::Files { roots, .. } if computed.is_whole => check_roots(&roots, place),
            _ => unknown(),
        },
    }
}

/// A format of `date` that makes no name but of digits and names of days.
fn is_plain_format(word: &str) -> bool {
    let Some(format) = word.strip_prefix('+') else {
        return !word.starts_with("-f") && !word.starts_with("--f") && !word.starts_with("-r");
    };
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let is_plain = match c {
            '%' => chars.next().is_some_and(|c| c.is_ascii_alphabetic()),
            c => matches!(c, '-' | '_' | ':' | ' '),
        };
        if !is_plain {
            return false;
        }
    }
    true
}

fn check_roots(roots: &[Word], place: Place<'_>) -> Result<(), Refusal> {
    roots.iter().try_for_each(|root| {
        if root.has_glob {
            return ask("runs a command on what is found in places that a pattern names");
        }
        check_path(root, place.context, paths::search_risk)?;
        check_hoard(&root.text, root.has_tilde, true, place.context)
    })
}

/// Which of `commands` stand at these bytes, where `places` are those of their words.
pub(in crate::policy) fn at<'a>(
    commands: &'a [SimpleCommand],
    places: &[Vec<Range<usize>>],
    range: &Range<usize>,
) -> &'a [SimpleCommand] {
    let is_inside = |places: &Vec<Range<usize>>| places.first().is_some_and(|word| range.contains(&word.start));
    let start = places.iter().position(is_inside).unwrap_or(places.len());
    let count = places[start..].iter().take_while(|places| is_inside(places)).count();
    commands.get(start..start + count).unwrap_or_default()
}
