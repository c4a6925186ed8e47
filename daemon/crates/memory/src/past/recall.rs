//! Reads a question about the past: which words it looks for, and in which time. Pure.

use std::{collections::HashSet, sync::LazyLock};

use jiff::Zoned;

use super::{
    period,
    phrases::{WordPart, is},
    store::{PastQuery, WordGroup},
    terms,
};
use crate::words::{self, MAX_WORDS};

/// Words that frame a question about the past and say nothing about what was done.
static FRAME: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    include_str!("frame.table").lines().filter(|line| !line.starts_with('#')).flat_map(str::split_whitespace).collect()
});

/// The search that a question asks for, seen from `now`. Every text asks for one; whether it is about the past is decided by
/// [`is_about_past`](super::about_past::is_about_past).
#[must_use]
pub fn query(question: &str, now: &Zoned) -> PastQuery {
    let found = period::find(question, now);
    let all: Vec<&str> = question.split_whitespace().collect();
    let (period, rest) = match found {
        Some((period, range)) => {
            let kept = all.iter().enumerate().filter(|(at, _)| !range.contains(at)).map(|(_, word)| *word);
            (Some(period), kept.collect::<Vec<_>>().join(" "))
        }
        None => (None, question.to_owned()),
    };
    PastQuery { groups: groups(&rest), period, has_succeeded: outcome(&rest), ..PastQuery::default() }
}

/// The groups of a text: each word that says something.
#[must_use]
pub fn groups(text: &str) -> Vec<WordGroup> {
    let telling = words::content(text).into_iter().filter(|word| !FRAME.contains(word.as_str()));
    let mut groups = Vec::<WordGroup>::new();
    for term in telling.flat_map(|word| terms::of(&word)) {
        if groups.len() < MAX_WORDS && groups.iter().all(|group| group.term != term) {
            groups.push(WordGroup { term, others: Vec::new() });
        }
    }
    groups
}

/// Whether the question wants only what went well, or only what failed.
fn outcome(text: &str) -> Option<bool> {
    let has = |part| text.split_whitespace().map(period::plain).any(|word| is(part, &word));
    match (has(WordPart::Succeeded), has(WordPart::Failed)) {
        (true, false) => Some(true),
        (false, true) => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use jiff::{civil::date, tz::TimeZone};
    use proptest::prelude::*;

    use super::*;

    fn recall(question: &str) -> PastQuery {
        query(question, &date(2026, 11, 28).at(18, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap())
    }

    fn terms_of(question: &str) -> Vec<String> {
        recall(question).groups.into_iter().map(|group| group.term).collect()
    }

    #[test]
    fn the_words_of_the_frame_and_of_the_time_are_left_out() {
        assert_eq!(terms_of("what was the ffmpeg line I used for the trailer last month"), ["ffmpeg", "trailer"]);
        assert_eq!(terms_of("which command fixed the permissions of the upload folder"), ["permiss", "upload"]);
        assert_eq!(terms_of("what did I do yesterday"), Vec::<String>::new());
        assert!(recall("what did I do yesterday").period.is_some());
    }

    #[test]
    fn the_outcome_is_read() {
        assert_eq!(recall("which command fixed the permissions").has_succeeded, Some(true));
        assert_eq!(recall("which migration failed").has_succeeded, Some(false));
        assert_eq!(recall("what did I do about nginx").has_succeeded, None);
    }

    proptest! {
        #[test]
        fn any_question_is_read(question in "(?s).{0,200}") {
            prop_assert!(recall(&question).groups.len() <= MAX_WORDS);
        }
    }
}
