//! Answers a question about the past from a store. Pure but for the store.

use std::path::PathBuf;

use jiff::Zoned;

use super::{
    period::Period,
    place,
    ranking::{Ranked, ranked},
    recall,
    store::{PastQuery, PastStore, Wish},
};

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
    let period = period.filter(|_| lookup.period.is_none());
    // Without words only the time says what is meant.
    let (fixed, wished) = if groups.is_empty() { (period, None) } else { (None, period) };
    let wishes = [
        wished.map(Wish::Period),
        folder.map(Wish::Folder),
        has_succeeded.filter(|_| lookup.has_succeeded.is_none()).map(Wish::Outcome),
    ];
    let query = PastQuery {
        groups,
        period: lookup.period.or(fixed),
        folder: lookup.folder.clone(),
        has_succeeded: lookup.has_succeeded,
        wishes: wishes.into_iter().flatten().collect(),
    };
    let found = store.search(&query)?;
    let is_in_time = |period: Period| found.hits.iter().any(|item| Wish::Period(period).is_of(item));
    let is_of_another_time = !found.hits.is_empty() && wished.is_some_and(|period| !is_in_time(period));
    let mut ranked = ranked(&query, found, now.timestamp(), lookup.limit);
    let least = ranked.first().map_or(0.0, |best| best.score * lookup.least_share);
    ranked.retain(|ranked| ranked.score >= least);
    let lacks_commands = ranked.is_empty() && store.counts()?.lines == 0;
    Ok(Recalled { ranked, is_of_another_time, lacks_commands })
}
