//! Answers a question about the past from a store. Pure but for the store.

use std::{collections::BTreeMap, path::PathBuf};

use jiff::Zoned;

use super::{
    period::Period,
    place,
    ranking::{Ranked, ranked, sort},
    recall,
    record::PastId,
    store::{PastQuery, PastStore},
};

/// What speaks for a hit, and how much: one with it counts so many times as one without.
const IN_TIME: f64 = 2.0;
const IN_PLACE: f64 = 1.25;
const WITH_OUTCOME: f64 = 1.4;

/// What is looked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastLookup {
    /// A question or words. A time that it names counts unless `period` is given.
    pub question: String,
    /// The time.
    pub period: Option<Period>,
    /// The folder, or one below it.
    pub folder: Option<PathBuf>,
    /// Whether it went well.
    pub has_succeeded: Option<bool>,
    /// Most hits.
    pub limit: usize,
    /// Hits with less than this share of the best score are left out.
    pub least_share: f64,
}

/// What was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recalled {
    /// The most relevant first; without words the newest first.
    pub ranked: Vec<Ranked>,
    /// Nothing was found in the time of the question: these are of other times.
    pub is_of_another_time: bool,
    /// Nothing was found, and the store has no command of the user at all.
    pub lacks_commands: bool,
}

/// Searches the store. A time, a folder and an outcome that the question names speak for a hit; they exclude none, since people err
/// and much is not known of what was imported.
///
/// # Errors
/// The store cannot be read.
pub fn search<S: PastStore>(store: &S, lookup: &PastLookup, now: &Zoned) -> Result<Recalled, S::Error> {
    let PastQuery { mut groups, period, has_succeeded, .. } = recall::query(&lookup.question, now);
    for group in &mut groups {
        group.others = store.slips(&group.term)?;
    }
    let folder = if lookup.folder.is_none() { place::named(&groups, &store.folders()?) } else { None };
    let (folder_of_lookup, has_words) = (lookup.folder.clone(), !groups.is_empty());
    let base =
        PastQuery { groups, period: lookup.period, folder: folder_of_lookup, has_succeeded: lookup.has_succeeded };
    let wishes = [
        period.filter(|_| base.period.is_none()).map(Wish::Period),
        folder.map(Wish::Folder),
        has_succeeded.filter(|_| base.has_succeeded.is_none()).map(Wish::Outcome),
    ];
    let wishes: Vec<Wish> = wishes.into_iter().flatten().collect();
    let (mut hits, mut is_in_time) = (Hits::default(), false);
    for set in 0..1_usize << wishes.len() {
        let chosen = || wishes.iter().enumerate().filter(|(bit, _)| set >> bit & 1 == 1).map(|(_, wish)| wish);
        let has_period = chosen().any(|wish| matches!(wish, Wish::Period(_)));
        // Without words only the time says what is meant.
        if !has_words && !has_period && wishes.iter().any(|wish| matches!(wish, Wish::Period(_))) {
            continue;
        }
        let query = chosen().fold(base.clone(), |query, wish| wish.of(query));
        let found = ranked(&query, store.search(&query)?, now.timestamp(), lookup.limit);
        is_in_time |= has_period && !found.is_empty();
        hits.add(found, chosen().map(Wish::weight).product());
    }
    let ranked = hits.ranked(lookup);
    let is_of_another_time =
        wishes.iter().any(|wish| matches!(wish, Wish::Period(_))) && !is_in_time && !ranked.is_empty();
    let lacks_commands = ranked.is_empty() && store.counts()?.lines == 0;
    Ok(Recalled { ranked, is_of_another_time, lacks_commands })
}

/// Something that speaks for a hit.
enum Wish {
    Period(Period),
    Folder(PathBuf),
    Outcome(bool),
}

impl Wish {
    /// The query for hits that have it.
    fn of(&self, query: PastQuery) -> PastQuery {
        match self {
            Self::Period(period) => PastQuery { period: Some(*period), ..query },
            Self::Folder(folder) => PastQuery { folder: Some(folder.clone()), ..query },
            Self::Outcome(has_succeeded) => PastQuery { has_succeeded: Some(*has_succeeded), ..query },
        }
    }

    fn weight(&self) -> f64 {
        match self {
            Self::Period(_) => IN_TIME,
            Self::Folder(_) => IN_PLACE,
            Self::Outcome(_) => WITH_OUTCOME,
        }
    }
}

/// The hits of several searches, each record once with its best score.
#[derive(Default)]
struct Hits(BTreeMap<PastId, Ranked>);

impl Hits {
    fn add(&mut self, ranked: Vec<Ranked>, weight: f64) {
        for Ranked { item, score } in ranked {
            let score = score * weight;
            let is_better = self.0.get(&item.id()).is_none_or(|known| known.score < score);
            if is_better {
                self.0.insert(item.id(), Ranked { item, score });
            }
        }
    }

    /// The best first; those as good as each other, the newer first.
    fn ranked(self, lookup: &PastLookup) -> Vec<Ranked> {
        let mut ranked: Vec<Ranked> = self.0.into_values().collect();
        sort(&mut ranked);
        ranked.truncate(lookup.limit);
        let least = ranked.first().map_or(0.0, |best| best.score * lookup.least_share);
        ranked.retain(|ranked| ranked.score >= least);
        ranked
    }
}
