//! Determines the input of `xargs` from the text of the commands before it: names of files below some places, numbers, or words.

use cohab_shell_syntax::{RedirectKind, SimpleCommand, Word};

use super::super::{super::options, find_words};

/// Programs that with these options print only lines that they read.
const FILTERS: &[(&[&str], &[&str])] = &[
    (&["head", "tail"], &["#", "n", "q", "lines", "quiet"]),
    (
        &["sort"],
        &[
            "u",
            "r",
            "n",
            "V",
            "f",
            "h",
            "k",
            "t",
            "s",
            "b",
            "d",
            "g",
            "i",
            "M",
            "R",
            "unique",
            "reverse",
            "numeric-sort",
            "version-sort",
            "ignore-case",
            "human-numeric-sort",
            "key",
            "field-separator",
        ],
    ),
    (&["uniq"], &["d", "u", "i", "repeated", "unique", "ignore-case"]),
    (&["tac"], &[]),
    (&["shuf"], &["n", "head-count"]),
    (
        &["grep", "egrep", "fgrep"],
        &[
            "e",
            "E",
            "F",
            "G",
            "P",
            "i",
            "v",
            "w",
            "x",
            "m",
            "a",
            "regexp",
            "extended-regexp",
            "fixed-strings",
            "ignore-case",
            "invert-match",
            "word-regexp",
            "line-regexp",
            "max-count",
        ],
    ),
];
/// Options with which searches print names in another form, or more than names.
const CHANGES_NAMES: &[&str] = &[
    "color",
    "colour",
    "colors",
    "json",
    "p",
    "path-separator",
    "pretty",
    "stats",
    "vimgrep",
    "heading",
    "r",
    "replace",
    "c",
    "count",
    "count-matches",
    "hyperlink-format",
    "context-separator",
    "field-match-separator",
];

/// The input of `xargs` from its pipe.
pub(in crate::rules) enum Feed {
    /// Names of files below these places; exact if they are separated by a sign that no name has.
    Files {
        roots: Vec<Word>,
        is_exact: bool,
        is_chosen: bool,
        has_links: bool,
    },
    /// Numbers of processes.
    Processes,
    /// Just these words, separated by this sign.
    Words {
        words: Vec<Word>,
        separator: char,
    },
    Unknown,
}

/// The output of the commands in front of `xargs`.
pub(in crate::rules) fn feed(fed_by: &[SimpleCommand]) -> Feed {
    let mut commands = fed_by.iter().rev().skip_while(|command| is_filter(command));
    let Some(producer) = commands.next().filter(|_| commands.next().is_none()) else { return Feed::Unknown };
    let Some((name, words)) = producer.words.split_first() else { return Feed::Unknown };
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    match name.text.as_str() {
        "pgrep" if !words.iter().any(|word| word.text.starts_with('-') && word.text.contains(['a', 'l', 'd'])) => {
            Feed::Processes
        }
        "pidof" => Feed::Processes,
        "echo" => echoed(words, ' ').unwrap_or(Feed::Unknown),
        "printf" => printed(words).unwrap_or(Feed::Unknown),
        "find" if !has(&["-printf", "-ls", "-exec"]) => Feed::Files {
            roots: or_here(find_words::roots(words).to_vec()),
            is_exact: has(&["-print0"]),
            is_chosen: has(&["-name", "-iname", "-type", "-path"]),
            has_links: find_words::finds_links(words),
        },
        "fd" | "fdfind" | "rg" | "grep" => searched(&name.text, words),
        _ => Feed::Unknown,
    }
}

/// Whether each line that a command prints is one that it reads from the pipe.
pub(in crate::rules) fn is_filter(command: &SimpleCommand) -> bool {
    let Some((name, words)) = command.words.split_first() else { return false };
    let Some((_, kept)) = FILTERS.iter().find(|(filters, _)| filters.contains(&name.text.as_str())) else {
        return false;
    };
    let Some(Ok(arguments)) = options::verb(&name.text).map(|spec| spec.split(words)) else { return false };
    let is_search = name.text.ends_with("grep");
    // The pattern of a search.
    let patterns = usize::from(is_search && !arguments.has(&["e", "regexp"]));
    arguments.operands.len() == patterns
        && arguments.operands.iter().all(|word| !word.has_glob)
        && arguments.options.iter().all(|(option, _)| kept.contains(option))
        && command.redirects.iter().all(|redirect| redirect.kind != RedirectKind::Read)
}

/// The names that `rg --files`, `rg -l`, `grep -rl` and `fd` print.
fn searched(name: &str, words: &[Word]) -> Feed {
    let Some(Ok(arguments)) = options::verb(name).map(|spec| spec.split(words)) else { return Feed::Unknown };
    let lists = name.starts_with("fd")
        || arguments.has(&["l", "files-with-matches", "files-without-match"])
        || (name == "rg" && arguments.has(&["files"]));
    // `-r` and `-c` mean a search through folders, and a choice of colours, in all programs but `rg`.
    let changes = arguments
        .options
        .iter()
        .any(|(option, _)| CHANGES_NAMES.contains(option) && !(*option == "r" && name == "grep"));
    if !lists || changes {
        return Feed::Unknown;
    }
    let pattern = usize::from(!arguments.has(&["e", "regexp", "f", "file", "files"]));
    let roots = arguments.operands.iter().skip(pattern).map(|word| (*word).clone()).collect();
    Feed::Files {
        roots: or_here(roots),
        is_exact: arguments.has(&["0", "null", "print0"]),
        is_chosen: true,
        // `fd` names links, too; a search of contents follows none.
        has_links: name.starts_with("fd"),
    }
}

fn or_here(roots: Vec<Word>) -> Vec<Word> {
    if roots.is_empty() { vec![Word { text: ".".into(), is_bare: true, ..Word::default() }] } else { roots }
}

/// The output of `echo`; `None` if a sign of it may stand for another.
fn echoed(words: &[Word], separator: char) -> Option<Feed> {
    let plain = words.iter().position(|word| word.text != "-n").map_or(&[][..], |at| &words[at..]);
    let is_plain = |word: &Word| {
        !word.has_glob && !word.has_tilde && !word.text.contains(|c: char| c.is_control() || "\\%'\"".contains(c))
    };
    // Behind other options a backslash has a special meaning.
    let is_option = |word: &Word| {
        word.text.strip_prefix('-').is_some_and(|letters| letters.chars().all(|letter| "neE".contains(letter)))
    };
    if !plain.iter().all(is_plain) || plain.first().is_some_and(is_option) {
        return None;
    }
    let has_blanks = plain.iter().any(|word| word.text.contains(' ') || word.text.is_empty());
    if separator != ' ' && has_blanks {
        return None;
    }
    let parts = plain.iter().flat_map(|word| word.text.split_whitespace());
    let words = parts.map(|text| Word { text: text.to_owned(), is_bare: true, ..Word::default() }).collect();
    Some(Feed::Words { words, separator })
}

/// The output of `printf` with a format that puts each of its words into a line.
fn printed(words: &[Word]) -> Option<Feed> {
    let (format, words) = words.split_first()?;
    let separator = match format.text.as_str() {
        "%s\\n" => '\n',
        "%s\\0" => '\0',
        "%s " => ' ',
        _ => return None,
    };
    let starts_with_option = words.first().is_some_and(|word| word.text.starts_with('-'));
    if starts_with_option { None } else { echoed(words, separator) }
}
