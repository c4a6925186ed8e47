//! Words that are known only when a line runs. The second lock keeps a program harmless whatever it is told; what the shell runs by
//! itself is not behind it, and what a program shows of files may be secret all the same.

use std::ops::Range;

use super::{
    super::{
        command::{Join, SimpleCommand, Word},
        danger,
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
/// What these print of their own accord names nothing that is secret.
const TELLS_PLACES: &[&str] = &["command", "pgrep", "pidof", "pwd", "type", "whence", "which"];
/// They ask a service, and tell nothing else of what it knows by the names that it gives.
const ASK_SERVICES: &[&str] = &["docker", "kubectl", "nerdctl", "podman"];
/// Their operands are no files, and no option shows any.
const NO_FILES: &[&str] = &["apt-cache", "getent", "groups", "id", "numfmt", "seq", "tput", "which"];
/// Options of git whose value is nothing but a text.
const VALUES_OF_GIT: &[&str] = &["--author=", "--since=", "--until=", "--after=", "--before=", "--grep=", "--format="];
/// Options of `print` that only change how texts are set.
const PLAIN_OPTIONS_OF_PRINT: &[&str] = &["--", "-", "-l", "-lr", "-n", "-nr", "-r", "-rl", "-rn"];

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
    let shell = place.context.shell;
    let text = command.words.get(at).map(|word| word.text.as_str()).unwrap_or_default();
    // What may be empty must not stand behind the letter of an option, which would take the next word.
    let is_number = computed.kind == Kind::Number || (computed.kind == Kind::Count && !text.starts_with('-'));
    if is_number && !computed.is_split && is_plain_number(text, computed) {
        return Ok(());
    }
    if computed.kind == Kind::Known && !computed.is_split {
        // The pattern itself stands there, and is judged; or it is one file that is a text, or a value.
        if text != "./x" || is_one_word_harmless(name, shell) {
            return Ok(());
        }
    }
    if ASK_SERVICES.contains(&name) && names_are_printed(name, printer) {
        return Ok(());
    }
    if !typed::holds(command, at, shell) {
        return check_of_the_shell(name, words, at, computed, shell);
    }
    if place.context.lock.is_none() {
        return ask("what it computes is harmless only where programs are kept from writing");
    }
    if danger::is_wrapper(name) || (name == "find" && words.iter().any(|word| word.text.starts_with("-exec"))) {
        return ask(format!("`{name}` runs a command on what is not known beforehand"));
    }
    let is_number = matches!(computed.kind, Kind::Number | Kind::Count);
    if computed.kind == Kind::Known || (is_number && is_plain_number(text, computed)) {
        return Ok(());
    }
    if fed::HARMLESS_WITH_ANY_OPTION.contains(&name) || (!computed.is_split && is_value(name, words, at, text)) {
        return Ok(());
    }
    check_printed(name, computed, text, printer, place)
}

/// Whether a word with a number in it is no name of a file but for the number: `2p`, `HEAD~2`, `-n2`.
fn is_plain_number(text: &str, computed: &Computed) -> bool {
    let is_short = text.len() <= 4 && !text.contains(['.', '/', '_']);
    computed.is_whole || is_short || text.starts_with("HEAD") || (text.starts_with('-') && !text.contains(['.', '/']))
}

/// Whether a word can be nothing but a text or a value of an option to this program, whatever it says.
fn is_value(name: &str, words: &[Word], at: usize, text: &str) -> bool {
    let before = at.checked_sub(2).and_then(|at| words.get(at)).map(|word| word.text.as_str()).unwrap_or_default();
    let is_operand = |word: &&Word| !word.text.starts_with('-');
    match name {
        "grep" | "egrep" | "fgrep" | "rg" => {
            words.iter().take(at).filter(is_operand).count() == 1
                && words.iter().filter(is_operand).count() > 1
                && !words.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--regexp" | "--file"))
        }
        "awk" | "gawk" | "mawk" => before == "-v" && text.contains('='),
        "git" => VALUES_OF_GIT.iter().any(|option| text.starts_with(option)),
        "date" => text.starts_with('@') || before == "-d",
        "ps" => matches!(before, "-o" | "-p" | "-u" | "-C" | "-t" | "-g" | "-U"),
        "pgrep" | "journalctl" => before == "-u",
        _ => NO_FILES.contains(&name),
    }
}

/// Whether names come from the service that is asked about them, and nothing else does.
fn names_are_printed(name: &str, printer: &[SimpleCommand]) -> bool {
    let Some((producer, filters)) = printer.split_first() else { return false };
    let texts: Vec<&str> = producer.words.iter().map(|word| word.text.as_str()).collect();
    let has = |wanted: &[&str]| texts.iter().any(|word| wanted.contains(word));
    let only_names = match name {
        "kubectl" => {
            let forms = ["-o", "--output", "--template"];
            let count = texts.iter().filter(|word| forms.iter().any(|form| word.starts_with(form))).count();
            count == 1 && (texts.windows(2).any(|pair| pair == ["-o", "name"]) || has(&["-o=name", "--output=name"]))
        }
        _ => {
            has(&["-q", "-aq", "-qa", "-lq", "-ql", "--quiet"])
                && !texts.iter().any(|word| word.starts_with("--format"))
        }
    };
    texts[0] == name && only_names && filters.iter().all(|filter| filter.join == Join::Pipe && fed::is_filter(filter))
}

/// Builtins: they must do the same whatever the word says.
fn check_of_the_shell(name: &str, words: &[Word], at: usize, computed: &Computed, shell: Shell) -> Result<(), Refusal> {
    let first = words.first().map(|word| word.text.as_str()).unwrap_or_default();
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    let is_harmless = match name {
        _ if TELLS.contains(&name) => true,
        "command" => at > 1 && matches!(first, "-v" | "-V" | "-s"),
        // Nothing that fish computes with is code.
        "contains" | "count" | "math" | "path" | "realpath" | "[" | "test" if shell == Shell::Fish => true,
        "string" => is_harmless_of_string(words, at),
        "printf" => at > 1 && (shell != Shell::Zsh || printf::prints_texts(first)) && only_colours(first),
        // An option of its own would stand in front.
        "print" => {
            let is_plain = |word: &Word| PLAIN_OPTIONS_OF_PRINT.contains(&word.text.as_str());
            let options = words.iter().take(at - 1).take_while(|word| word.text.starts_with('-')).count();
            let begins = words.get(at - 1).is_some_and(|word| !word.text.starts_with(['1', 'x', '.']));
            words[..options].iter().all(is_plain)
                && (begins || words[..options].iter().any(|word| matches!(word.text.as_str(), "--" | "-")))
        }
        // Some shells evaluate a number; more words than are written could be an operator.
        "[" | "test" => {
            let are_texts = !has(&["-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"]);
            !computed.is_split && (are_texts || shell == Shell::Bash)
        }
        _ => false,
    };
    if is_harmless { Ok(()) } else { ask(format!("`{name}` gets what is not known beforehand")) }
}

/// fish's `string`: a pattern may name a variable that it sets, so it must be written out.
fn is_harmless_of_string(words: &[Word], at: usize) -> bool {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let (Some(first), Some(before)) = (texts.first(), texts.get(1..at - 1)) else { return false };
    let is_plain_option = |word: &str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        word == "--" || (!letters.is_empty() && letters.chars().all(|letter| "qraievn".contains(letter)))
    };
    let options = before.iter().take_while(|word| is_plain_option(word)).count();
    // An option may have a value, which is no pattern.
    if before[options..].iter().any(|word| word.starts_with('-') && *word != "--") {
        return false;
    }
    let literal =
        before[options..].iter().filter(|word| !word.starts_with('-') && !matches!(**word, "x" | "1" | "./x")).count();
    match *first {
        "match" => literal >= 1,
        "replace" => literal >= 2,
        _ => at > 1 && *first != "repeat",
    }
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
fn check_printed(
    name: &str,
    computed: &Computed,
    text: &str,
    printer: &[SimpleCommand],
    place: Place<'_>,
) -> Result<(), Refusal> {
    let unknown = || ask(format!("`{name}` may show a file that is not known beforehand"));
    let is_one_pipe = printer.iter().skip(1).all(|command| command.join == Join::Pipe);
    if !is_one_pipe || text.contains("..") {
        return unknown();
    }
    let mut commands = printer.iter().rev().skip_while(|command| fed::is_filter(command));
    let Some(producer) = commands.next().filter(|_| commands.next().is_none()) else { return unknown() };
    let Some((first, words)) = producer.words.split_first() else { return unknown() };
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let first = first.text.as_str();
    let here = Word { text: ".".into(), is_bare: true, ..Word::default() };
    let is_plain_option =
        |word: &&str| !word.starts_with('-') || matches!(*word, "-n" | "-o" | "-x" | "-s" | "-f" | "-v" | "-p");
    let starts_path = computed.is_whole || text.starts_with("x/") || text.starts_with("1/");
    if (TELLS_PLACES.contains(&first) && starts_path && texts.iter().all(is_plain_option))
        || (first == "date" && texts.iter().all(|word| is_plain_format(word)))
    {
        return Ok(());
    }
    // What it names is not known either.
    if words.iter().any(|word| matches!(word.text.as_str(), "x" | "1" | "./x")) {
        return unknown();
    }
    match first {
        "git" => {
            let told = super::git::invocation(words).words;
            let told: Vec<&str> = told.iter().map(|word| word.text.as_str()).collect();
            let tells = |wanted: &[&str]| told.iter().any(|word| wanted.contains(word));
            let is_here = !texts
                .iter()
                .any(|word| *word == "-C" || word.starts_with("--git-dir") || word.starts_with("--work-tree"))
                && !told.iter().any(|word| word.contains("..") || word.starts_with(['/', '~']));
            let names_files = is_here
                && (told.first() == Some(&"ls-files")
                    || (matches!(told.first(), Some(&("diff" | "diff-tree"))) && tells(&["--name-only"])));
            let names_revisions = match told.first() {
                Some(&("merge-base" | "rev-parse" | "rev-list" | "describe")) => true,
                Some(&("branch" | "for-each-ref" | "tag")) => {
                    !told.iter().any(|word| word.starts_with("--format") && *word != "--format=%(refname:short)")
                }
                Some(&"log") => {
                    tells(&["--format=%h", "--format=%H", "--pretty=format:%h", "--pretty=%h", "--pretty=%H"])
                }
                _ => false,
            };
            let is_top = told == ["rev-parse", "--show-toplevel"] && starts_path;
            if (is_top && name != "git") || (name == "git" && (names_files || names_revisions)) {
                Ok(())
            } else if computed.is_whole && names_files {
                check_roots(&[here], place)
            } else {
                unknown()
            }
        }
        "ls" if computed.is_whole && words.iter().all(|word| is_plain_for_ls(&word.text)) => {
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

/// An operand, or letters by which `ls` only sorts names without hidden ones.
fn is_plain_for_ls(word: &str) -> bool {
    word.strip_prefix('-').is_none_or(|letters| letters.chars().all(|letter| "1rtSdX".contains(letter)))
}

/// A format of `date` that makes no name but of digits and names of days.
fn is_plain_format(word: &str) -> bool {
    let Some(format) = word.strip_prefix('+') else {
        return !word.starts_with("-f") && !word.starts_with("--f") && !word.starts_with("-r");
    };
    let mut chars = format.chars();
    while let Some(c) = chars.next() {
        let is_plain = match c {
            '%' => chars.next().is_some_and(|c| c.is_ascii_alphabetic() && c != 'Z'),
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
