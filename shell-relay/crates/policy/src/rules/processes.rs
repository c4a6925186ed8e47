//! Allows `ps` lines that show no environment. `ps` reads its words in one of three styles; if one style fails, it reads all of them
//! again in the old style, in which `e` shows the environments of processes.

use cohab_shell_syntax::Word;

use super::{super::options, Refusal, ask, check_literal, split};

/// Columns of `ps` in the old style that show no environment.
const PLAIN_COLUMNS: &[&str] = &[
    "%cpu",
    "%mem",
    "args",
    "cmd",
    "comm",
    "command",
    "cputime",
    "etime",
    "etimes",
    "euser",
    "group",
    "lstart",
    "nice",
    "ni",
    "nlwp",
    "pcpu",
    "pgid",
    "pid",
    "pmem",
    "ppid",
    "pri",
    "psr",
    "rss",
    "ruser",
    "s",
    "sess",
    "sid",
    "start",
    "start_time",
    "stat",
    "state",
    "stime",
    "sz",
    "tid",
    "time",
    "tty",
    "ucmd",
    "uid",
    "user",
    "vsize",
    "vsz",
    "wchan",
];
const SHOWS_ENVIRONMENT: &str = "`ps` that may show the environments of processes";
/// Letters of the old style except `e`.
const OLD_STYLE: &str = "aCfghjlLmMrsSTuUvwxX";
/// Letters of the old style that take the rest of their word, or the next one.
const OLD_WITH_VALUE: &str = "kNOopqtU";
/// Letters that no old style has: with one of them it fails.
const NOT_OLD: &str = "bdiyzBDEFGIJKPQRWY-";
/// Flags that combine with `-e` in any order: with them the words are never read again.
const ONE_STYLE: &str = "eAadfFlLwHj";

pub(super) fn assess(words: &[Word]) -> Result<(), Refusal> {
    words.iter().try_for_each(check_literal)?;
    let is_style = |text: &str| !text.is_empty() && text.chars().all(|letter| OLD_STYLE.contains(letter));
    let options = match words {
        // Two columns stay asked: an unchanged list of lines holds such a line.
        [style, columns, rest @ ..]
            if style.text.strip_suffix('o').is_some_and(is_style) && are_plain_columns(&columns.text) =>
        {
            rest
        }
        [first, rest @ ..] if is_style(&first.text) => rest,
        _ => words,
    };
    let texts: Vec<&str> = options.iter().map(|word| word.text.as_str()).collect();
    let is_mixed = options.len() < words.len();
    let names_it = words.iter().any(|word| word.text.contains("environ"));
    if names_it || (may_show_environment(&texts) && (is_mixed || !is_of_one_style(&texts))) {
        return ask(SHOWS_ENVIRONMENT);
    }
    let Some(spec) = options::verb("ps") else { return ask("not known to be read-only: `ps`") };
    let arguments = split(spec, options)?;
    let are_processes = arguments.operands.iter().all(|word| word.text.bytes().all(|byte| byte.is_ascii_digit()));
    if are_processes { Ok(()) } else { ask(SHOWS_ENVIRONMENT) }
}

fn are_plain_columns(list: &str) -> bool {
    list.split(',').count() > 2 && list.split(',').all(|name| PLAIN_COLUMNS.contains(&name.trim_end_matches('=')))
}

/// Whether `e` is a flag when all words are read in the old style, dashes left out.
fn may_show_environment(words: &[&str]) -> bool {
    let mut shows = false;
    let mut words = words.iter();
    while let Some(word) = words.next() {
        if word.starts_with("--") {
            continue;
        }
        for (at, letter) in word.strip_prefix('-').unwrap_or(word).char_indices() {
            if NOT_OLD.contains(letter) {
                return false;
            }
            if OLD_WITH_VALUE.contains(letter) {
                if word.strip_prefix('-').unwrap_or(word).len() == at + 1 {
                    words.next();
                }
                break;
            }
            shows |= letter == 'e';
        }
    }
    shows
}

/// Whether all words are read in the style of `-e`, without a mistake in them and without two formats.
fn is_of_one_style(words: &[&str]) -> bool {
    let mut flags = String::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let is_known = match word.strip_prefix('-') {
            Some("-no-headers" | "-no-heading" | "-no-headings" | "-headers" | "-forest") => true,
            Some(long) if long.starts_with('-') => long.starts_with("-sort="),
            Some("p" | "q") => words.next().is_some_and(|value| is_list_of_numbers(value)),
            Some(letters) => {
                let columns = letters.strip_suffix('o').filter(|_| words.next().is_some());
                flags.push_str(letters);
                !letters.is_empty() && columns.unwrap_or(letters).chars().all(|letter| ONE_STYLE.contains(letter))
            }
            None => false,
        };
        if !is_known {
            return false;
        }
    }
    !flags.contains('o') || !flags.contains(['f', 'F', 'l', 'j'])
}

fn is_list_of_numbers(text: &str) -> bool {
    text.split(',')
        .all(|number| !number.is_empty() && number.len() <= 7 && number.bytes().all(|byte| byte.is_ascii_digit()))
}
