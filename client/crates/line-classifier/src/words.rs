//! Looks up the words that make a sentence: function words of English and a few other languages, words that open a question or a request,
//! chat.

use std::{collections::BTreeMap, sync::LazyLock};

/// The longest word that is looked up, in bytes.
const MAX_WORD_BYTES: usize = 24;

/// A word in lower case, without an allocation; only ASCII letters are converted.
#[derive(Clone, Copy, Debug)]
pub struct Lower {
    bytes: [u8; MAX_WORD_BYTES],
    len: usize,
}

impl Lower {
    /// Converts a word to lower case; empty if it is longer than all known words.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let mut bytes = [0; MAX_WORD_BYTES];
        let len = if word.len() <= MAX_WORD_BYTES { word.len() } else { 0 };
        bytes[..len].copy_from_slice(&word.as_bytes()[..len]);
        bytes.make_ascii_lowercase();
        Self { bytes, len }
    }

    /// Its text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

/// The role of a word in a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A word with its own meaning.
    Content,
    /// A function word that occurs in commands now and then, too.
    Stop,
    /// A determiner, a pronoun, a form of "be": words that commands rarely have.
    Strong,
}

/// Returns the role of a word in a sentence.
#[must_use]
pub fn class_of(word: &Lower) -> Class {
    let word = word.as_str();
    let roles = roles(word);
    if roles & STRONG != 0 || is_contraction(word) {
        Class::Strong
    } else if roles & STOP != 0 {
        Class::Stop
    } else {
        Class::Content
    }
}

/// Whether a word is a contraction: `what's`, `don't`, `I'm`.
#[must_use]
pub fn is_contraction(word: &str) -> bool {
    let (Some(at), true) = (word.find(['\'', '’']), word.len() > 2) else { return false };
    let tail = word[at..].trim_start_matches(['\'', '’']);
    matches!(tail, "s" | "t" | "re" | "ve" | "ll" | "d" | "m") && at > 0
}

/// Whether a word opens a question or a request: what, how, please, show.
#[must_use]
pub fn opens_request(word: &Lower) -> bool {
    roles(word.as_str()) & OPENER != 0
}

/// Whether a word is a verb of requests: delete, rename, explain.
#[must_use]
pub fn asks_for_work(word: &Lower) -> bool {
    roles(word.as_str()) & VERB != 0
}

/// Whether a word that is the name of a program here may begin a request all the same: `convert`, `show`.
#[must_use]
pub fn may_ask(word: &Lower) -> bool {
    roles(word.as_str()) & (VERB | OPENER | TASK) != 0
}

/// Whether a word is a predicate of the name before it: `is`, `says`, `fails`.
#[must_use]
pub fn is_predicate(word: &str) -> bool {
    roles(word) & PREDICATE != 0
}

/// Whether a word asks about the rest of its line: `difference`, `meaning`, `vs`.
#[must_use]
pub fn asks_about_rest(word: &str) -> bool {
    roles(word) & ASKING != 0
}

/// Whether a word tells what a program does or did, although it may be a name as well: `hangs`, `points`, `vanished`.
#[must_use]
pub fn tells_what_happens(word: &str) -> bool {
    roles(word) & (HAPPENS | PREDICATE) != 0
}

/// Whether a text is chat by itself: greetings, thanks, agreement.
#[must_use]
pub fn is_chat(word: &str) -> bool {
    word.len() <= MAX_CHAT_BYTES && roles(&word.to_lowercase()) & CHAT != 0
}

/// Whether a text has who, why or what in a non-Latin script.
#[must_use]
pub fn asks_in_another_script(text: &str) -> bool {
    WORDS.iter().any(|(word, roles)| roles & INTERROGATIVE != 0 && text.contains(word))
}

/// Length of the longest chat, in bytes.
const MAX_CHAT_BYTES: usize = 48;

/// A role of a word; several are added up.
type Roles = u32;

/// Declares a role for each section of `words.txt`, with its bit.
macro_rules! roles {
    ($($role:ident $bit:literal $section:literal)+) => {
        $(pub(super) const $role: Roles = 1 << $bit;)+
        const SECTIONS: &[(&str, Roles)] = &[$(($section, $role)),+];
    };
}

roles! {
    STRONG 0 "[strong]"
    STOP 1 "[stop]"
    OPENER 2 "[opener]"
    VERB 3 "[verb]"
    TASK 4 "[task]"
    PREDICATE 5 "[predicate]"
    ASKING 6 "[asking]"
    HAPPENS 7 "[happens]"
    CHAT 8 "[chat]"
    OBJECT 9 "[object]"
    INTERROGATIVE 10 "[interrogative]"
    NOTES 11 "[notes]"
    DESTROYS 12 "[destroys]"
    SPEAKER 13 "[speaker]"
    RUNNER 14 "[runner]"
    OPERANDS 15 "[operands]"
    WRAPPER 16 "[wrapper]"
    KEYWORD 17 "[keyword]"
    BUILTIN 18 "[builtin]"
    ELSEWHERE 19 "[elsewhere]"
    EVERYWHERE 20 "[everywhere]"
}

/// All words with their roles, sorted.
static WORDS: LazyLock<Vec<(&'static str, Roles)>> = LazyLock::new(|| read(include_str!("words.txt")));
/// For each first byte the place of the first word that begins with it or a later one: each word of a line is looked up several times.
static BEGINS: LazyLock<[usize; 257]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        WORDS.partition_point(|(word, _)| word.bytes().next().is_some_and(|first| usize::from(first) < byte))
    })
});

/// Whether a word, as it is written, has this role, or one of these.
pub(super) fn has(word: &str, role: Roles) -> bool {
    roles(word) & role != 0
}

/// All words with this role, sorted.
pub(super) fn all_with(role: Roles) -> impl Iterator<Item = &'static str> {
    WORDS.iter().filter(move |(_, roles)| roles & role != 0).map(|(word, _)| *word)
}

fn roles(word: &str) -> Roles {
    let Some(first) = word.bytes().next().map(usize::from) else { return 0 };
    let begins = &*BEGINS;
    let alike = &WORDS[begins[first]..begins[first + 1]];
    alike.binary_search_by_key(&word, |(known, _)| *known).map_or(0, |at| alike[at].1)
}

fn read(file: &'static str) -> Vec<(&'static str, Roles)> {
    let mut words: BTreeMap<&str, Roles> = BTreeMap::new();
    let mut role = 0;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        match SECTIONS.iter().find(|(section, _)| *section == line) {
            Some((_, of_section)) => role = *of_section,
            None => line.split_whitespace().for_each(|word| *words.entry(word).or_default() |= role),
        }
    }
    words.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_have_the_roles_of_the_file() {
        assert_eq!(class_of(&Lower::of("The")), Class::Strong);
        assert_eq!(class_of(&Lower::of("don't")), Class::Strong);
        assert_eq!(class_of(&Lower::of("nicht")), Class::Strong);
        assert_eq!(class_of(&Lower::of("of")), Class::Stop);
        assert_eq!(class_of(&Lower::of("file")), Class::Content);
        assert!(opens_request(&Lower::of("Why")) && !opens_request(&Lower::of("ls")));
        assert!(asks_for_work(&Lower::of("delete")) && !asks_for_work(&Lower::of("rm")));
        assert!(is_predicate("fails") && !is_predicate("status"));
        assert!(is_chat("Danke") && is_chat("Привет") && !is_chat("make"));
        assert!(asks_in_another_script("构建为什么失败") && !asks_in_another_script("下载"));
    }

    #[test]
    fn every_section_is_known_and_no_word_is_left_without_a_role() {
        let sections = include_str!("words.txt").lines().filter(|line| line.starts_with('[') && line.ends_with(']'));
        let mut known: Vec<&str> = SECTIONS.iter().map(|(section, _)| *section).collect();
        let mut sections: Vec<&str> = sections.collect();
        known.sort_unstable();
        sections.sort_unstable();
        sections.dedup();
        assert_eq!(sections, known);
        let bits: Roles = SECTIONS.iter().map(|(_, role)| role).sum();
        assert_eq!(bits.count_ones() as usize, SECTIONS.len(), "each role has a bit of its own");
        assert!(WORDS.iter().all(|(_, roles)| *roles != 0));
    }

    #[test]
    fn what_is_too_long_is_no_word() {
        assert_eq!(Lower::of(&"x".repeat(100)).as_str(), "");
    }
}
