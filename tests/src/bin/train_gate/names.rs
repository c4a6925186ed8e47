//! Collects names of programs from the commands.

use std::collections::BTreeMap;

use cohab_line_classifier::first_word::is_assignment;

use crate::data::{NameSet, Sample, Source};

const WRAPPERS: &[&str] = &["sudo", "env", "time", "doas", "nohup", "xargs", "command", "exec"];
/// A first word with this many times more sentences than commands is a word, not a name.
const SENTENCES_AGAINST: usize = 20;
/// Names although they are also words.
const KEPT: &[&str] = &["open", "w"];
/// Words although a command in the data begins with them.
const WORDS: &[&str] = &["away", "from", "hello", "most", "next", "now", "on", "whatever"];

/// The first words of all commands, words that sentences begin with as well.
pub(crate) fn first_words(samples: &[Sample<'_>]) -> NameSet {
    let commands = samples.iter().filter(|sample| !sample.is_language() && sample.source == Source::Corpus);
    commands.map(|sample| sample.first_word().to_owned()).collect()
}

/// The names of programs: first words of all commands, also behind operators and wrappers, except those that are rather words.
pub(crate) fn collect(samples: &[Sample<'_>]) -> NameSet {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sentences: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        if sample.source != Source::Corpus {
            continue;
        }
        if sample.is_language() {
            *sentences.entry(sample.first_word()).or_default() += 1;
            continue;
        }
        for name in heads(sample.text) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let is_word = |name: &str, count: usize| {
        name.len() == 1 || WORDS.contains(&name) || sentences.get(name).is_some_and(|n| *n >= count * SENTENCES_AGAINST)
    };
    counts
        .into_iter()
        .filter(|(name, count)| KEPT.contains(name) || !is_word(name, *count))
        .map(|(name, _)| name.to_owned())
        .collect()
}

fn heads(line: &str) -> Vec<&str> {
    let mut heads = Vec::new();
    let mut is_head = true;
    for word in line.split_whitespace() {
        if matches!(word, "|" | "||" | "&&" | ";" | "&" | "|&") {
            is_head = true;
        } else if is_head && !is_assignment(word) {
            is_head = WRAPPERS.contains(&word);
            if is_name(word) {
                heads.push(word);
            }
        } else if word.ends_with(';') {
            is_head = true;
        }
    }
    heads
}

/// Whether a program may have this name.
fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+:@".contains(&byte))
        && !word.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read;

    #[test]
    fn names_stand_at_the_head_of_each_command() {
        assert_eq!(heads("sudo A=b make -j2 | sort && wc -l; date"), ["sudo", "make", "sort", "wc", "date"]);
        assert_eq!(heads("./run.sh 'x | y'"), Vec::<&str>::new());
    }

    #[test]
    fn what_sentences_begin_with_is_a_word() {
        let sentences = "ai\tdisplay it\n".repeat(40);
        let text = format!("shell\tdisplay a.png\nshell\tmake\nshell\tq now\n{sentences}");
        let samples: Vec<_> = read(&text, Source::Corpus).collect();
        assert_eq!(collect(&samples), NameSet::from(["make".to_owned()]));
        assert!(first_words(&samples).contains("display"));
    }
}
