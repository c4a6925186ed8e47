//! Names of programs, as the commands show them.

use std::collections::{BTreeMap, BTreeSet};

use cohab::gate::standing::is_assignment;

use crate::data::Sample;

/// Names of programs.
pub(crate) type NameSet = BTreeSet<String>;

const WRAPPERS: &[&str] = &["sudo", "env", "time", "doas", "nohup", "xargs", "command", "exec"];
/// A name in one command only that so many sentences begin with is a slip of the data.
const SENTENCES_AGAINST: usize = 15;

/// The first words of all commands, behind operators and wrappers, too.
pub(crate) fn collect(samples: &[Sample<'_>]) -> NameSet {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sentences: BTreeMap<&str, usize> = BTreeMap::new();
    for sample in samples {
        if sample.is_language() {
            *sentences.entry(sample.first_word()).or_default() += 1;
            continue;
        }
        for name in heads(sample.text) {
            *counts.entry(name).or_default() += 1;
        }
    }
    let is_slip = |name: &str, count: usize| count <= 1 && sentences.get(name).is_some_and(|n| *n >= SENTENCES_AGAINST);
    counts.into_iter().filter(|(name, count)| !is_slip(name, *count)).map(|(name, _)| name.to_owned()).collect()
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

/// Whether a program may be called so.
fn is_name(word: &str) -> bool {
    word.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.+:@".contains(&byte))
        && !word.bytes().all(|byte| byte.is_ascii_digit())
}
