//! Reads the time that a question names: "last week", "yesterday", "in March". Pure.

mod calendar;
mod read;

use jiff::{Timestamp, Zoned, civil::DateTime};

use self::calendar::Days;

/// Most words of a question that are looked at.
const MAX_WORDS: usize = 256;

/// A period of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Period {
    /// Its first moment; `None` for no beginning.
    pub from: Option<Timestamp>,
    /// The first moment behind it; `None` for no end.
    pub until: Option<Timestamp>,
}

impl Period {
    /// Whether a moment is in it.
    #[must_use]
    pub fn holds(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.until.is_none_or(|until| at < until)
    }
}

/// The first period that these words name, seen from `now`, and where its words are. The words are separated by blanks; marks of
/// punctuation around them do not count.
#[must_use]
pub fn find(question: &str, now: &Zoned) -> Option<(Period, std::ops::Range<usize>)> {
    let words: Vec<String> = question.split_whitespace().take(MAX_WORDS).map(plain).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    (0..words.len()).find_map(|start| {
        let (days, length) = read::period(&words[start..], now.datetime())?;
        Some((days.period(now), start..start + length))
    })
}

/// A word in lower case, without the marks around it.
pub(super) fn plain(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let owner = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s"));
    // "This year's report" is not a time.
    owner.filter(|owner| !matches!(*owner, "year" | "month" | "week")).map_or(word.clone(), str::to_owned)
}

impl Days {
    fn period(self, now: &Zoned) -> Period {
        let moment = |at: DateTime| at.to_zoned(now.time_zone().clone()).ok().map(|at| at.timestamp());
        Period { from: self.from.and_then(moment), until: self.until.and_then(moment) }
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;

    /// Saturday.
    fn now() -> Zoned {
        "2026-11-28T18:00:00".parse::<DateTime>().unwrap().to_zoned(TimeZone::UTC).unwrap()
    }

    fn found(question: &str) -> String {
        let Some((period, words)) = find(question, &now()) else { return "none".to_owned() };
        let day = |at: Option<Timestamp>| at.map_or(String::new(), |at| at.to_string().replace(":00Z", ""));
        let named: Vec<&str> = question.split_whitespace().skip(words.start).take(words.len()).collect();
        format!("{}..{} {}", day(period.from), day(period.until), named.join(" ")).replace("T00:00", "")
    }

    #[test]
    fn days_and_weeks_are_read() {
        for (question, expected) in [
            ("what did I do today?", "2026-11-28..2026-11-29 today?"),
            ("this morning", "2026-11-28..2026-11-29 this morning"),
            ("what ran yesterday, and why", "2026-11-27..2026-11-28 yesterday,"),
            ("yesterday evening", "2026-11-27..2026-11-28 yesterday evening"),
            ("the day before yesterday", "2026-11-26..2026-11-27 the day before yesterday"),
            ("last night", "2026-11-27T18:00..2026-11-28T06:00 last night"),
            ("last week", "2026-11-16..2026-11-23 last week"),
            ("in the last week", "2026-11-21T18:00..2026-11-28T18:00 in the last week"),
            ("this week", "2026-11-23..2026-11-28T18:00 this week"),
            ("on monday", "2026-11-23..2026-11-24 on monday"),
            ("last Saturday", "2026-11-21..2026-11-22 last Saturday"),
            ("at the weekend", "2026-11-21..2026-11-23 at the weekend"),
            ("3 days ago", "2026-11-25..2026-11-26 3 days ago"),
            ("two weeks ago", "2026-11-10..2026-11-19 two weeks ago"),
            ("about a month ago", "2026-10-12..2026-11-14 about a month ago"),
            ("a few days ago", "2026-11-21..2026-11-27 a few days ago"),
            ("a couple of hours ago", "2026-11-28T14:00..2026-11-28T17:00 a couple of hours ago"),
            ("in the past 3 days", "2026-11-25T18:00..2026-11-28T18:00 in the past 3 days"),
            ("recently", "2026-11-14T18:00..2026-11-28T18:00 recently"),
        ] {
            assert_eq!(found(question), expected, "{question}");
        }
    }

    #[test]
    fn months_seasons_and_dates_are_read() {
        for (question, expected) in [
            ("last month", "2026-10-01..2026-11-01 last month"),
            ("in march", "2026-03-01..2026-04-01 in march"),
            ("in december", "2025-12-01..2026-01-01 in december"),
            ("in march 2025", "2025-03-01..2025-04-01 in march 2025"),
            ("at the end of september", "2026-09-20..2026-10-01 at the end of september"),
            ("around the start of october", "2026-09-26..2026-10-16 around the start of october"),
            ("in early may", "2026-05-01..2026-05-11 in early may"),
            ("on 3 november", "2026-11-03..2026-11-04 on 3 november"),
            ("on the 3rd of november", "2026-11-03..2026-11-04 on the 3rd of november"),
            ("on november 3rd", "2026-11-03..2026-11-04 on november 3rd"),
            ("on 2026-02-14", "2026-02-14..2026-02-15 on 2026-02-14"),
            ("last spring", "2026-03-01..2026-06-01 last spring"),
            ("this autumn", "2026-09-01..2026-12-01 this autumn"),
            ("last autumn", "2025-09-01..2025-12-01 last autumn"),
            ("in the winter", "2025-12-01..2026-03-01 in the winter"),
            ("last year", "2025-01-01..2026-01-01 last year"),
            ("in 2025", "2025-01-01..2026-01-01 in 2025"),
            ("since monday", "2026-11-23..2026-11-28T18:00 since monday"),
            ("before christmas", "..2025-12-25 before christmas"),
            ("after the 20th of october", "2026-10-21..2026-11-28T18:00 after the 20th of october"),
            ("in july last year", "2025-07-01..2025-08-01 in july last year"),
            ("in autumn of last year", "2025-09-01..2025-12-01 in autumn of last year"),
            ("half a year ago", "2026-05-12..2026-06-14 half a year ago"),
            ("at the beginning of the year", "2026-01-01..2026-01-11 at the beginning of the year"),
            ("around easter", "2026-03-31..2026-04-11 around easter"),
            ("between march and may", "2026-03-01..2026-06-01 between march and may"),
        ] {
            assert_eq!(found(question), expected, "{question}");
        }
    }

    #[test]
    fn other_uses_of_the_words_are_no_time() {
        for question in [
            "may I see the march of time",
            "what was the last command",
            "the second line",
            "spring boot start",
            "in the folder",
            "port 2025",
            "after the upgrade",
            "the tables of this year's report",
            "the song for the spring",
            "which post did I start here",
            "since forever",
            "on 2026-99-99",
            "99999999999999999999 days ago",
            "",
        ] {
            assert_eq!(found(question), "none", "{question}");
        }
    }

    proptest! {
        #[test]
        fn any_question_has_a_period_in_order_or_none(
            words in prop::collection::vec(
                prop::sample::select(vec![
                    "last", "the", "in", "on", "week", "month", "ago", "3", "99999", "may", "march", "spring", "since", "before",
                    "between", "and", "2025", "31", "february", "end", "of", "early", "weekend", "friday", "yesterday", "9999-12-31",
                ]),
                0..8,
            ),
        ) {
            let question = words.join(" ");
            if let Some((period, range)) = find(&question, &now()) {
                prop_assert!(range.start < range.end && range.end <= words.len());
                if let (Some(from), Some(until)) = (period.from, period.until) {
                    prop_assert!(from <= until, "{question}: {period:?}");
                }
            }
        }
    }
}
