//! What a command does, in the terms by which people ask for it. Pure.

use std::{
    collections::{BTreeSet, HashMap},
    sync::LazyLock,
};

use super::terms;
use crate::words;

/// Most words of a line that are looked at.
const MAX_WORDS: usize = 64;
/// Programs that run the one behind them.
const PREFIXES: [&str; 9] = ["sudo", "doas", "env", "time", "nice", "nohup", "command", "exec", "xargs"];

/// The terms by command, option or word. A word of any command has a `*` in front.
static ABOUT: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let mut about = HashMap::<String, Vec<String>>::new();
    for table in [include_str!("about.table"), include_str!("counted.table")] {
        for (key, words) in table.lines().filter_map(|row| row.split_once(" : ")) {
            let words = words.split_whitespace().flat_map(terms::of);
            about.entry(entry(key)).or_default().extend(words);
        }
    }
    about
});

/// A number that changes with the tables: what was indexed by other ones is to be indexed again.
#[must_use]
pub fn version() -> u32 {
    static VERSION: LazyLock<u32> = LazyLock::new(|| {
        let tables = [include_bytes!("about.table").as_slice(), include_bytes!("counted.table").as_slice()];
        // FNV-1a.
        tables.into_iter().flatten().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    });
    *VERSION
}

/// A key as it is looked up: a word of any command by its stem.
fn entry(key: &str) -> String {
    match key.strip_prefix('*').map(terms::of).as_deref() {
        Some([term]) => format!("*{term}"),
        _ => key.to_owned(),
    }
}

/// The keys of each term.
static KEYS: LazyLock<HashMap<&'static str, Vec<&'static str>>> = LazyLock::new(|| {
    let mut keys = HashMap::<&str, Vec<&str>>::new();
    for (key, terms) in &*ABOUT {
        terms.iter().for_each(|term| keys.entry(term).or_default().push(key));
    }
    keys
});

/// The keys with this term among theirs.
pub(super) fn keys(term: &str) -> &'static [&'static str] {
    KEYS.get(term).map_or(&[], Vec::as_slice)
}

/// The terms of what a line does; none that are in the line itself.
///
/// ```
/// let about = cohab_memory::past::about::of("sudo chmod -R g+w uploads");
/// assert!(about.contains("permiss") && !about.contains("upload"));
/// ```
#[must_use]
pub fn of(line: &str) -> BTreeSet<&'static str> {
    let own = terms::of(line);
    let mut about = BTreeSet::new();
    let mut look = |key: &str| about.extend(ABOUT.get(key).into_iter().flatten().map(String::as_str));
    own.iter().for_each(|term| look(&format!("*{term}")));
    visit_keys(line, &|_| true, &mut look);
    for term in &own {
        about.remove(term.as_str());
    }
    about
}

/// Calls `look` with each key of a line, without those of single words. Commands whose program is not `known` are left out.
pub(super) fn visit_keys(line: &str, known: &dyn Fn(&str) -> bool, look: &mut dyn FnMut(&str)) {
    let mut left = MAX_WORDS;
    for command in line.split(['|', ';', '&', '\n', '(', ')', '`', '{', '}']) {
        let words: Vec<&str> =
            command.split_whitespace().map(|word| word.trim_matches(['"', '\''])).take(left).collect();
        left -= words.len();
        let is_before = |word: &&&str| PREFIXES.contains(*word) || word.contains('=') || word.starts_with('-');
        let words: Vec<&str> = words.iter().skip_while(is_before).copied().collect();
        let Some((program, rest)) = words.split_first() else { continue };
        let program = program.rsplit('/').next().unwrap_or_default();
        if !known(program) {
            continue;
        }
        look(program);
        let is_option = |word: &&&str| word.starts_with(['-', '+']);
        let mut plain = rest.iter().filter(|word| !is_option(word));
        let (subcommand, next) = (plain.next(), plain.next());
        subcommand.iter().for_each(|word| look(&format!("{program} {word}")));
        subcommand.iter().zip(next).for_each(|(word, next)| look(&format!("{program} {word} {next}")));
        for option in rest.iter().filter(is_option).flat_map(|word| options(word)) {
            look(&format!("{program} {option}"));
            subcommand.iter().for_each(|word| look(&format!("{program} {word} {option}")));
        }
    }
}

/// Whether this is the name of a program that the tables know.
#[must_use]
pub fn is_program(word: &str) -> bool {
    ABOUT.contains_key(word) && !words::is_common(word) && !words::content(word).is_empty()
}

/// Whether the tables know this command: `git`, `git tag`, `docker compose up`.
pub(crate) fn has_entry(command: &str) -> bool {
    ABOUT.contains_key(command)
}

/// The options of a word: `--long` of `--long=value`; `-x` and `-z` of `-xz`, and the word itself.
fn options(word: &str) -> Vec<String> {
    let name = word.split('=').next().unwrap_or_default();
    let mut options = vec![name.to_owned()];
    let letters = name.strip_prefix('-').filter(|letters| !letters.starts_with('-') && letters.len() < 8);
    options.extend(
        letters.into_iter().flat_map(str::chars).map(|letter| format!("-{letter}")).filter(|option| option != name),
    );
    options
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_is_about_what_its_commands_and_options_do() {
        let has = |line: &str, term: &str| of(line).contains(term);
        assert!(has("ffmpeg -i trailer.mov out.mp4", "video"));
        assert!(has("cat a | sudo -n /usr/sbin/useradd ann", "user"));
        assert!(has("git reset --soft HEAD~3", "undo"));
        assert!(!has("echo xffmpeg", "video"));
        assert_eq!(of(""), BTreeSet::new());
    }

    #[test]
    fn options_are_read_one_by_one() {
        assert_eq!(options("-xzf"), ["-xzf", "-x", "-z", "-f"]);
        assert_eq!(options("--delete=1"), ["--delete"]);
        assert_eq!(options("-"), ["-"]);
    }

    #[test]
    fn every_row_of_the_tables_has_words() {
        for row in include_str!("about.table").lines().chain(include_str!("counted.table").lines()) {
            let is_row = row.split_once(" : ").is_some_and(|(key, words)| !key.is_empty() && !words.trim().is_empty());
            assert!(is_row || row.starts_with('#'), "{row}");
        }
    }

    proptest! {
        #[test]
        fn any_line_is_about_known_terms(line in "(?s).{0,300}") {
            let own = terms::of(&line);
            prop_assert!(of(&line).iter().all(|term| !own.contains(&(*term).to_owned())));
        }
    }
}
