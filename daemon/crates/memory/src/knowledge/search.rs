//! Answers a question from the user's documents. Pure but for the store.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use super::{
    record::{FoundPassage, Passage},
    store::{KnowledgeFound, KnowledgeStore},
    terms,
};
use crate::past::{
    ranking::{Weights, mean_length},
    reading::Reading,
    recall,
    store::WordGroup,
};

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KnowledgeLookup {
    /// A question or words.
    pub question: String,
    /// The folder from which it is asked; `None` searches the places of all projects.
    pub folder: Option<PathBuf>,
    /// Most hits.
    pub limit: usize,
    /// Hits with less than this share of the best score are left out.
    pub least_share: f64,
}

/// A passage with its score: higher is more relevant.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedPassage {
    /// The path of its file, absolute.
    pub file: PathBuf,
    /// The passage.
    pub passage: Passage,
    /// The line in it that has most of the words, from 1 in the file.
    pub line: u64,
    /// Its score; comparable within one search only.
    pub score: f64,
}

/// Searches the store. Without a word to look for nothing is found.
///
/// # Errors
/// The store cannot be read.
pub fn search<S: KnowledgeStore>(store: &S, lookup: &KnowledgeLookup) -> Result<Vec<RankedPassage>, S::Error> {
    let mut groups = recall::groups(&terms::with_parts(&lookup.question));
    for group in &mut groups {
        group.others = store.alternatives(&group.term)?;
    }
    if groups.is_empty() {
        return Ok(Vec::new());
    }
    let found = store.search(&groups, lookup.folder.as_deref())?;
    let mut ranked = ranked(&groups, found);
    ranked.truncate(lookup.limit);
    let least = ranked.first().map_or(0.0, |best| best.score * lookup.least_share);
    ranked.retain(|ranked| ranked.score >= least);
    Ok(ranked)
}

/// The best first; of passages as good as each other those of the shorter path, and the earlier in a file.
fn ranked(groups: &[WordGroup], found: KnowledgeFound) -> Vec<RankedPassage> {
    let (wanted, weights) = Weights::of(groups, found.total, &found.with_term);
    let readings: Vec<Reading> = found.hits.iter().map(|passage| read(passage, &wanted)).collect();
    let mean = mean_length(&readings);
    let scored = found.hits.into_iter().zip(&readings).map(|(FoundPassage { file, passage }, reading)| {
        let line = passage.line + best_line(&passage.text, &wanted);
        RankedPassage { file, line, score: weights.score(reading, mean), passage }
    });
    let mut ranked: Vec<RankedPassage> = scored.collect();
    let place = |one: &RankedPassage| (one.file.as_os_str().len(), one.file.clone(), one.passage.line);
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| place(a).cmp(&place(b))));
    ranked
}

/// The wanted terms in a passage; those of its headings and of its file's name are where it is.
fn read(found: &FoundPassage, wanted: &[&str]) -> Reading {
    let mut place = terms::of(&found.passage.headings);
    place.extend(found.file.file_name().map(|name| terms::of_path(Path::new(name))).unwrap_or_default());
    Reading::of(wanted, &terms::of(&found.passage.text), &place)
}

/// The line of a text with most of these terms, from 0; the first of several.
fn best_line(text: &str, wanted: &[&str]) -> u64 {
    let count = |line: &str| {
        let terms: BTreeSet<String> =
            terms::of(line).into_iter().filter(|term| wanted.contains(&term.as_str())).collect();
        terms.len()
    };
    let best = text.split('\n').map(count).zip(0..).max_by_key(|(count, index): &(usize, u64)| (*count, !*index));
    best.map_or(0, |(_, index)| index)
}
