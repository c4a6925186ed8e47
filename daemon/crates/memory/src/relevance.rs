//! Chooses the facts that are relevant to a question. Pure.

use crate::{
    record::Memory,
    store::{FoundFacts, Hit},
    words,
};

/// Most facts for one question.
pub const MAX_FACTS: usize = 5;
/// Longest text of all of them together, in bytes: about 1,200 tokens.
const MAX_BYTES: usize = 4_800;
/// What a common word counts, where another one counts 1.
const COMMON_WEIGHT: f64 = 0.5;
/// A fact that scores less than this share of the best one is left out.
const LEAST_SHARE: f64 = 0.6;

/// The facts for a question with these `words`, the most relevant first, with the newer first where two are as relevant. One word that
/// is not common makes a fact relevant, or two common ones. A rare word counts more than a frequent one, and a trusted fact more than
/// a doubtful one.
#[must_use]
pub fn chosen(words: &[String], found: FoundFacts) -> Vec<Memory> {
    let is_common: Vec<bool> = words.iter().map(|word| words::is_common(word)).collect();
    let weights: Vec<f64> =
        is_common.iter().enumerate().map(|(index, is_common)| weight(*is_common, index, &found)).collect();
    let is_relevant = |hit: &Hit| {
        let common = hit.words.iter().filter(|index| is_common.get(**index).is_none_or(|is_common| *is_common)).count();
        common >= 2 || common < hit.words.len()
    };
    let score = |hit: &Hit| {
        let words: f64 = hit.words.iter().filter_map(|index| weights.get(*index)).sum();
        words * hit.memory.trust
    };
    let relevant = found.hits.into_iter().filter(|hit| hit.memory.is_sound && is_relevant(hit));
    let mut scored: Vec<(f64, Memory)> = relevant.map(|hit| (score(&hit), hit.memory)).collect();
    scored
        .sort_by(|(a, one), (b, other)| b.total_cmp(a).then(other.stated.cmp(&one.stated)).then(other.id.cmp(&one.id)));
    let least = scored.first().map_or(0.0, |(best, _)| best * LEAST_SHARE);
    let mut bytes = 0;
    let fitting = scored.into_iter().take(MAX_FACTS).take_while(|(score, memory)| {
        bytes += memory.text.len();
        *score >= least && bytes <= MAX_BYTES
    });
    fitting.map(|(_, memory)| memory).collect()
}

/// What a match of this word says: more, the fewer facts hold it.
#[expect(clippy::cast_precision_loss, reason = "counts of facts are far below 2^52")]
fn weight(is_common: bool, index: usize, found: &FoundFacts) -> f64 {
    let with_word = found.with_word.get(index).copied().unwrap_or_default().max(1);
    let rarity = (1.0 + found.total as f64 / with_word as f64).ln();
    if is_common { rarity * COMMON_WEIGHT } else { rarity }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::conformance;

    fn memory(id: u64, text: &str) -> Memory {
        Memory { stated: conformance::at(id.cast_signed()), ..conformance::memory(id, text) }
    }

    /// What a store with these facts finds, words compared as they are.
    fn found(words: &[String], facts: &[&str]) -> FoundFacts {
        let holds = |fact: &str, word: &String| words::content(fact).contains(word);
        let count = |word| facts.iter().filter(|fact| holds(fact, word)).count() as u64;
        let hits = facts.iter().enumerate().filter_map(|(index, fact)| {
            let words: Vec<usize> = (0..words.len()).filter(|at| holds(fact, &words[*at])).collect();
            (!words.is_empty()).then(|| Hit { memory: memory(index as u64 + 1, fact), words })
        });
        FoundFacts { total: facts.len() as u64, with_word: words.iter().map(count).collect(), hits: hits.collect() }
    }

    fn texts(question: &str, facts: &[&str]) -> Vec<String> {
        let words = words::content(question);
        chosen(&words, found(&words, facts)).into_iter().map(|memory| memory.text).collect()
    }

    const FACTS: [&str; 4] = [
        "staging is on host blue",
        "production is on host red",
        "I prefer ripgrep to search files",
        "the default branch of the shop is trunk",
    ];

    #[test]
    fn a_fact_is_relevant_by_one_telling_word() {
        assert_eq!(texts("deploy to staging", &FACTS), ["staging is on host blue"]);
        assert_eq!(texts("how many cores has the blue machine?", &FACTS), ["staging is on host blue"]);
    }

    #[test]
    fn a_common_word_alone_connects_nothing() {
        assert!(texts("list the files here", &FACTS).is_empty());
        assert!(texts("which host am I on?", &FACTS).is_empty());
        assert_eq!(texts("search all files for TODO", &FACTS), ["I prefer ripgrep to search files"]);
    }

    #[test]
    fn nothing_is_relevant_to_a_question_about_something_else() {
        assert!(texts("how is the weather", &FACTS).is_empty());
        assert!(texts("", &FACTS).is_empty());
        assert!(texts("deploy", &[]).is_empty());
    }

    #[test]
    fn the_rarer_word_and_the_newer_fact_come_first() {
        let facts = ["shop runs on port 80", "shop runs nginx", "shop uses postgres"];
        assert_eq!(texts("does the shop use nginx", &facts), ["shop runs nginx"]);
        assert_eq!(
            texts("tell me about shop", &facts),
            ["shop uses postgres", "shop runs nginx", "shop runs on port 80"]
        );
    }

    #[test]
    fn a_doubtful_fact_does_not_outrank_a_trusted_one() {
        let words = words::content("where is staging");
        let mut both = found(&words, &["staging is on host evil", "staging is on host blue"]);
        both.hits[0].memory.trust = 0.3;
        let chosen: Vec<String> = chosen(&words, both).into_iter().map(|memory| memory.text).collect();
        assert_eq!(chosen, ["staging is on host blue"]);
    }

    #[test]
    fn a_fact_in_quarantine_is_not_given() {
        let words = words::content("where is staging");
        let mut both = found(&words, &["staging is on host evil", "staging is on host blue"]);
        both.hits[0].memory.is_sound = false;
        let chosen: Vec<String> = chosen(&words, both).into_iter().map(|memory| memory.text).collect();
        assert_eq!(chosen, ["staging is on host blue"]);
    }

    #[test]
    fn few_and_short_facts_are_given() {
        let long = "staging ".repeat(120);
        let facts = vec![long.as_str(); 20];
        let given = texts("staging", &facts);
        assert!(
            given.len() <= MAX_FACTS && given.iter().map(String::len).sum::<usize>() <= MAX_BYTES,
            "{}",
            given.len()
        );
    }

    proptest! {
        #[test]
        fn any_found_facts_are_chosen_from_within_the_bounds(
            question in "[a-z ]{0,40}",
            hits in prop::collection::vec((0_u64..9, prop::collection::vec(0_usize..9, 0..4)), 0..20),
            total in any::<u64>(),
        ) {
            let hits = hits.into_iter().map(|(id, words)| Hit { memory: memory(id, "x y"), words }).collect();
            let words = words::content(&question);
            let chosen = chosen(&words, FoundFacts { total, with_word: vec![0; 2], hits });
            prop_assert!(chosen.len() <= MAX_FACTS);
        }
    }
}
