//! Makes further lines from the training lines: sentences with other beginnings and ends, commands with short names for placeholders.

use std::collections::BTreeSet;

use cohab_line_classifier::{Decision, line::Line, weights::hash};

use crate::data::{NameSet, Sample};

/// Percent of the sentences that get another wording, too.
const SAID_PERCENT: u64 = 15;
/// Percent of the commands that get shorter names.
const NAMED_PERCENT: u64 = 15;

/// Usual beginnings and ends around the terse texts of the data; `@` stands for a command.
const WAYS: &[(&str, &str)] = &[
    ("how do I ", ""),
    ("how do I ", "?"),
    ("how can I ", ""),
    ("how to ", ""),
    ("can you ", ""),
    ("could you ", "?"),
    ("please ", ""),
    ("", " please"),
    ("", "?"),
    ("I want to ", ""),
    ("i need to ", ""),
    ("why can't I ", ""),
    ("help me ", ""),
    ("now ", ""),
    ("then ", ""),
    ("and ", ""),
    ("what is the command to ", ""),
    ("write a script to ", ""),
    ("@ how do I ", ""),
    ("@ how to ", ""),
    ("@ ", ""),
    ("use @ to ", ""),
    ("does @ ", "?"),
    ("is there a way to ", " with @"),
];

/// A made line.
pub(crate) struct Variant {
    pub(crate) text: String,
    pub(crate) decision: Decision,
    /// A number that depends on the line only.
    pub(crate) hash: u64,
}

/// All lines made from `samples`.
pub(crate) fn all(samples: &[Sample<'_>], names: &NameSet) -> Vec<Variant> {
    let commands: Vec<&str> = names.iter().map(String::as_str).collect();
    let nouns: BTreeSet<&str> = samples.iter().filter(|sample| sample.is_language()).filter_map(last_noun).collect();
    let nouns: Vec<&str> = nouns.into_iter().collect();
    samples.iter().filter_map(|sample| variant(sample, &commands, &nouns)).collect()
}

fn variant(sample: &Sample<'_>, commands: &[&str], nouns: &[&str]) -> Option<Variant> {
    let draw = |seed: u64| hash(&sample.hash.to_le_bytes(), 500 + seed);
    let text = if sample.is_language() {
        (draw(0) % 100 < SAID_PERCENT).then(|| {
            let (before, after) = pick(WAYS, draw(1)).copied().unwrap_or_default();
            let command = pick(commands, draw(2)).copied().unwrap_or_default();
            format!("{before}{}{after}", sample.text).replace('@', command)
        })
    } else {
        (draw(0) % 100 < NAMED_PERCENT && sample.text.contains("dir/")).then(|| {
            let words = sample.text.split(' ').enumerate().map(|(at, word)| match word.strip_prefix("dir/") {
                Some(_) => pick(nouns, draw(10 + at as u64)).copied().unwrap_or(word),
                None => word,
            });
            words.collect::<Vec<_>>().join(" ")
        })
    };
    text.map(|text| Variant { text, decision: sample.decision, hash: draw(3) })
}

fn pick<T>(from: &[T], draw: u64) -> Option<&T> {
    let len = from.len().max(1) as u64;
    from.get(usize::try_from(draw % len).unwrap_or_default())
}

/// The last word, if it could be the name of something.
fn last_noun<'a>(sample: &Sample<'a>) -> Option<&'a str> {
    let last = *Line::read(sample.text).tokens.last()?;
    let is_name = last.is_plain() && !last.is_stop() && last.text.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_name && last.text.len() > 2).then_some(last.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Source, read};

    #[test]
    fn some_lines_come_once_more_in_another_way_and_keep_their_kind() {
        let text: String =
            (0..400).map(|number| format!("ai\tlist file {number} of notes\nshell\tcat dir/a{number}\n")).collect();
        let samples: Vec<_> = read(&text, Source::Corpus).collect();
        let names = NameSet::from(["git".to_owned()]);
        let made = all(&samples, &names);
        assert!((60..200).contains(&made.len()), "{}", made.len());
        for variant in &made {
            let is_language = variant.text.contains("list file");
            assert_eq!(variant.decision == Decision::Assistant, is_language, "{}", variant.text);
            assert!(!variant.text.contains("dir/") && !variant.text.contains('@'), "{}", variant.text);
        }
        let again: Vec<_> = all(&samples, &names).into_iter().map(|variant| variant.text).collect();
        assert_eq!(made.into_iter().map(|variant| variant.text).collect::<Vec<_>>(), again);
    }
}
