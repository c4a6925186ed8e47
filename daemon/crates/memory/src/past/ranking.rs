//! Orders what a search found, the most relevant first. Pure.

use std::{collections::BTreeMap, ops::Bound};

use jiff::Timestamp;

use super::{
    reading::{Reader, Reading, TermReading},
    record::PastItem,
    store::{PastFound, PastQuery, Wish, WordGroup},
};
use crate::record::LEAST_TRUST;

/// How soon more occurrences of a term stop to count (BM25).
const SATURATION: f64 = 1.2;
/// How much a long text counts less (BM25).
const LENGTH_SHARE: f64 = 0.6;
/// What a term counts in place of a mistyped one, where the word itself counts 1.
const OTHER_WEIGHT: f64 = 0.8;
/// What a term of what the command does counts, where a word of the line itself counts 1.
const ABOUT_WEIGHT: f64 = 0.6;
/// What a term of the folder counts, where a word of the line itself counts 1.
const PLACE_WEIGHT: f64 = 0.6;
/// What the best neighbour in the conversation adds to a turn.
const NEIGHBOUR_SHARE: f64 = 0.3;
/// What the newest counts more than the oldest.
const RECENCY: f64 = 0.15;
/// Days after which the newest has lost most of it.
const RECENCY_DAYS: f64 = 60.0;
/// What a line that failed counts, where another one counts 1, if the question does not ask for failures.
const FAILED_WEIGHT: f64 = 0.8;
/// What a turn counts that had read text of strangers.
const DOUBTFUL_WEIGHT: f64 = 0.7;

/// Something that was done, with its score: higher is more relevant.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranked {
    /// What was done.
    pub item: PastItem,
    /// Its score; comparable within one search only.
    pub score: f64,
}

/// The `limit` most relevant hits, the best first; of hits as relevant as each other the newer first. Without groups, the newest first.
#[must_use]
pub fn ranked(query: &PastQuery, found: PastFound, now: Timestamp, limit: usize) -> Vec<Ranked> {
    let scores = scores(query, &found, now);
    let mut ranked: Vec<Ranked> =
        found.hits.into_iter().zip(scores).map(|(item, score)| Ranked { item, score }).collect();
    sort(&mut ranked);
    ranked.truncate(limit);
    ranked
}

fn sort(ranked: &mut [Ranked]) {
    ranked.sort_by(|a, b| {
        let newer = b.item.at().cmp(&a.item.at()).then_with(|| b.item.id().cmp(&a.item.id()));
        b.score.total_cmp(&a.score).then(newer)
    });
}

fn scores(query: &PastQuery, found: &PastFound, now: Timestamp) -> Vec<f64> {
    let wished = |item: &PastItem| query.wishes.iter().filter(|wish| wish.is_of(item)).map(Wish::weight).product();
    if query.groups.is_empty() {
        return found.hits.iter().map(wished).collect();
    }
    let (wanted, weights) = Weights::of(&query.groups, found.total, &found.with_term);
    let reader = Reader::of(&wanted);
    let readings: Vec<Reading> = found.hits.iter().map(|item| reader.read(item)).collect();
    let mean = mean_length(&readings);
    let mut scores: Vec<f64> = readings.iter().map(|reading| weights.score(reading, mean)).collect();
    add_neighbours(&mut scores, found, |item| weights.score(&reader.read(item), mean));
    for (score, item) in scores.iter_mut().zip(&found.hits) {
        *score *= circumstances(item, query, now) * wished(item);
    }
    scores
}

/// What speaks for an item beside its words and the wishes.
fn circumstances(item: &PastItem, query: &PastQuery, now: Timestamp) -> f64 {
    let days = item.at().map(|at| as_f64_seconds(now, at) / 86_400.0);
    let recency = days.map_or(0.0, |days| RECENCY * (-days.max(0.0) / RECENCY_DAYS).exp());
    let wants_failures = query.has_succeeded == Some(false) || query.wishes.contains(&Wish::Outcome(false));
    let doubt = match item {
        PastItem::Line(line) if !wants_failures && line.last.exit_code.is_some_and(|code| code != 0) => FAILED_WEIGHT,
        PastItem::Turn(turn) if turn.turn.trust < LEAST_TRUST => DOUBTFUL_WEIGHT,
        _ => 1.0,
    };
    (1.0 + recency) * doubt
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[expect(clippy::cast_precision_loss, reason = "seconds of some centuries are far below 2^52")]
fn as_f64_seconds(now: Timestamp, at: Timestamp) -> f64 {
    now.as_second().saturating_sub(at.as_second()) as f64
}

/// The mean length of these, which is 1 at least.
pub(crate) fn mean_length(readings: &[Reading]) -> f64 {
    let lengths: usize = readings.iter().map(|reading| reading.length).sum();
    as_f64(lengths).max(1.0) / as_f64(readings.len()).max(1.0)
}

/// How much each term says: more, the fewer records have it.
pub(crate) struct Weights {
    /// For each group its terms by their numbers, with their weights.
    groups: Vec<Vec<(usize, f64)>>,
}

impl Weights {
    /// All terms of these groups, and their weights in a store with `total` records; `with_term` is [`PastFound::with_term`].
    pub(crate) fn of<'a>(groups: &'a [WordGroup], total: u64, with_term: &[(u64, Vec<u64>)]) -> (Vec<&'a str>, Self) {
        let mut wanted = Vec::new();
        let mut number = |term: &'a str| {
            wanted.iter().position(|known| *known == term).unwrap_or_else(|| {
                wanted.push(term);
                wanted.len() - 1
            })
        };
        let mut weighed = Vec::new();
        for (index, group) in groups.iter().enumerate() {
            let (with_term, with_others) = with_term.get(index).cloned().unwrap_or_default();
            let mut terms = vec![(number(&group.term), rarity(total, with_term))];
            for (at, other) in group.others.iter().enumerate() {
                let count = with_others.get(at).copied().unwrap_or_default();
                terms.push((number(other), OTHER_WEIGHT * rarity(total, count)));
            }
            weighed.push(terms);
        }
        (wanted, Self { groups: weighed })
    }

    pub(crate) fn score(&self, reading: &Reading, mean_length: f64) -> f64 {
        let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * as_f64(reading.length) / mean_length;
        let of_term = |(number, weight): &(usize, f64)| {
            let term = reading.terms[*number];
            let count = as_f64(term.count);
            let share = match term {
                TermReading { count: 1.., .. } => count * (SATURATION + 1.0) / (count + SATURATION * length),
                TermReading { is_about: true, .. } => ABOUT_WEIGHT,
                TermReading { is_place: true, .. } => PLACE_WEIGHT,
                _ => 0.0,
            };
            weight * share
        };
        self.groups.iter().map(|terms| terms.iter().map(of_term).fold(0.0, f64::max)).sum()
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^52")]
fn rarity(total: u64, count: u64) -> f64 {
    let (total, count) = (total.max(count) as f64, count as f64);
    (1.0 + (total - count + 0.5) / (count + 0.5)).ln()
}

/// Adds to each turn a share of its best neighbour: an answer is found by the words of the question before it.
fn add_neighbours(scores: &mut [f64], found: &PastFound, score: impl Fn(&PastItem) -> f64) {
    let mut turns = BTreeMap::new();
    let of_hits = found.hits.iter().zip(scores.iter().copied());
    let of_neighbours = found.neighbours.iter().map(|item| (item, score(item)));
    turns.extend(of_hits.chain(of_neighbours).filter_map(|(item, score)| Some((place(item)?, score))));
    for (score, item) in scores.iter_mut().zip(&found.hits) {
        let Some(place) = place(item) else { continue };
        let before = turns.range(..place).next_back();
        let after = turns.range((Bound::Excluded(place), Bound::Unbounded)).next();
        let of_session = [before, after].into_iter().flatten().filter(|((session, _), _)| *session == place.0);
        *score += NEIGHBOUR_SHARE * of_session.map(|(_, score)| *score).fold(0.0, f64::max);
    }
}

/// Where a turn is: its session, and its number in it.
fn place(item: &PastItem) -> Option<(&str, u64)> {
    match item {
        PastItem::Turn(turn) => Some((turn.turn.session.as_str(), turn.id)),
        PastItem::Line(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::{
        period::Period,
        recall::groups,
        record::{NewRun, NewTurn, PastLine, PastTurn, RunSource},
    };

    fn line(id: u64, line: &str) -> PastItem {
        let at = Timestamp::from_second(id.cast_signed()).ok();
        let (folder, duration, output_tail) = (None, None, String::new());
        let last = NewRun {
            line: line.into(),
            at,
            folder,
            exit_code: Some(0),
            duration,
            output_tail,
            source: RunSource::Shell,
        };
        PastItem::Line(PastLine { id, last, runs: 1 })
    }

    fn turn(id: u64, session: &str, question: &str) -> PastItem {
        let turn = NewTurn {
            turn: id.to_string(),
            session: session.into(),
            at: Timestamp::from_second(id.cast_signed()).unwrap(),
            folder: "/".into(),
            question: question.into(),
            answer: String::new(),
            commands: Vec::new(),
            trust: 0.7,
        };
        PastItem::Turn(PastTurn { id, turn })
    }

    fn query(words: &str) -> PastQuery {
        PastQuery { groups: groups(words), ..PastQuery::default() }
    }

    /// What a store with these records finds.
    fn found(query: &PastQuery, items: Vec<PastItem>) -> PastFound {
        let has = |item: &PastItem, term: &String| Reader::of(&[term.as_str()]).read(item).terms[0].count > 0;
        let count = |term: &String| items.iter().filter(|item| has(item, term)).count() as u64;
        let with_term =
            query.groups.iter().map(|group| (count(&group.term), group.others.iter().map(count).collect())).collect();
        PastFound { total: items.len() as u64, with_term, hits: items, neighbours: Vec::new() }
    }

    fn best(words: &str, items: Vec<PastItem>) -> Vec<String> {
        let query = query(words);
        let ranked = ranked(&query, found(&query, items), Timestamp::from_second(9_000_000).unwrap(), 3);
        ranked.into_iter().map(|ranked| ranked.item.id().to_string()).collect()
    }

    #[test]
    fn the_word_itself_counts_more_than_another_with_its_meaning() {
        let items = vec![line(1, "ffmpeg -i a.mov b.mp4"), line(2, "convert-video a b"), line(3, "ls")];
        assert_eq!(best("convert the video", items), ["c2", "c1", "c3"]);
    }

    #[test]
    fn more_words_and_rarer_ones_come_first() {
        let items = vec![line(1, "git status"), line(2, "git rebase main"), line(3, "git push"), line(4, "make")];
        assert_eq!(best("git rebase", items)[0], "c2");
    }

    #[test]
    fn what_failed_and_what_strangers_wrote_comes_behind() {
        let mut failed = line(1, "mount /dev/sdb1 /mnt");
        let PastItem::Line(inner) = &mut failed else { panic!() };
        inner.last.exit_code = Some(32);
        assert_eq!(best("mount", vec![failed, line(2, "mount /dev/sdb1 /mnt")]), ["c2", "c1"]);
        let mut doubtful = turn(1, "s", "how to mount a disk");
        let PastItem::Turn(inner) = &mut doubtful else { panic!() };
        inner.turn.trust = 0.3;
        assert_eq!(best("mount", vec![doubtful, turn(2, "s2", "how to mount a disk")]), ["t2", "t1"]);
    }

    #[test]
    fn an_answer_is_found_by_the_question_before_it() {
        let items =
            vec![turn(1, "a", "nginx on staging"), turn(2, "a", "it is the blue one"), turn(3, "b", "it is old")];
        assert_eq!(best("nginx", items)[..2], ["t1", "t2"]);
    }

    #[test]
    fn without_words_the_newest_comes_first() {
        let items = vec![line(1, "a"), line(3, "c"), line(2, "b")];
        assert_eq!(best("", items), ["c3", "c2", "c1"]);
    }

    #[test]
    fn a_wish_speaks_for_a_hit_and_excludes_none() {
        let items = || vec![line(1, "make a"), line(3, "make c"), line(2, "make b")];
        let until = Timestamp::from_second(2).unwrap();
        let wishes = vec![Wish::Period(Period { from: None, until: Some(until) })];
        for words in ["make", ""] {
            let query = PastQuery { wishes: wishes.clone(), ..query(words) };
            let ranked = ranked(&query, found(&query, items()), Timestamp::from_second(9_000_000).unwrap(), 3);
            assert_eq!(
                ranked.iter().map(|ranked| ranked.item.id().to_string()).collect::<Vec<_>>(),
                ["c1", "c3", "c2"]
            );
        }
    }
}
