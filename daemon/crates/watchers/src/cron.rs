//! A cron expression: minute, hour, day of the month, month, day of the week.

use std::fmt;

use jiff::{
    ToSpan as _, Zoned,
    civil::{Date, DateTime},
};

/// The days that are looked at for the next time: February 29 comes within eight years.
const MAX_DAYS: usize = 8 * 366;

/// A field of an expression.
struct Field {
    name: &'static str,
    first: u32,
    last: u32,
    /// Names of its values, from the first one on.
    names: &'static [&'static str],
}

const FIELDS: [Field; 5] = [
    Field { name: "minute", first: 0, last: 59, names: &[] },
    Field { name: "hour", first: 0, last: 23, names: &[] },
    Field { name: "day", first: 1, last: 31, names: &[] },
    Field {
        name: "month",
        first: 1,
        last: 12,
        names: &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    },
    // 7 is Sunday, too.
    Field { name: "weekday", first: 0, last: 7, names: &["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
];
// The places of the fields.
const MINUTE: usize = 0;
const HOUR: usize = 1;
const DAY: usize = 2;
const MONTH: usize = 3;
const WEEKDAY: usize = 4;

/// A cron expression. `Display` writes its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cron {
    text: String,
    /// A bit for each value of each field.
    values: [u64; 5],
}

impl Cron {
    /// Reads an expression: `*`, numbers, names, ranges, lists and steps.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.len() != FIELDS.len() {
            return Err("a cron expression has 5 fields: minute, hour, day, month, weekday".to_owned());
        }
        let mut values = [0; 5];
        for ((value, word), field) in values.iter_mut().zip(&words).zip(&FIELDS) {
            *value = field.values(word)?;
        }
        values[WEEKDAY] |= (values[WEEKDAY] >> 7) & 1;
        let cron = Self { text: words.join(" ").to_lowercase(), values };
        if cron.days().all(|date| !cron.is_day(date)) {
            return Err("that date never comes".to_owned());
        }
        Ok(cron)
    }

    fn has(&self, field: usize, value: impl TryInto<u32>) -> bool {
        value.try_into().is_ok_and(|value: u32| (self.values[field] >> value) & 1 == 1)
    }

    /// Days enough for any date that exists.
    fn days(&self) -> impl Iterator<Item = Date> + use<> {
        Date::constant(2024, 1, 1).series(1.day()).take(MAX_DAYS)
    }

    /// Whether it is one of its days. If both the day of the month and the weekday are limited, one of them is enough.
    fn is_day(&self, date: Date) -> bool {
        let (is_day, is_weekday) =
            (self.has(DAY, date.day()), self.has(WEEKDAY, date.weekday().to_sunday_zero_offset()));
        let is_open = |field: usize| self.text.split(' ').nth(field).is_some_and(|word| word.starts_with('*'));
        let fits = if is_open(DAY) || is_open(WEEKDAY) { is_day && is_weekday } else { is_day || is_weekday };
        fits && self.has(MONTH, date.month())
    }

    /// The next time after `after`.
    pub(crate) fn next(&self, after: &Zoned) -> Option<Zoned> {
        let days = after.date().series(1.day()).take(MAX_DAYS).filter(|date| self.is_day(*date));
        for date in days {
            let hours = (0..24).filter(|hour| self.has(HOUR, *hour));
            let times = hours.flat_map(|hour| {
                let minutes = (0..60).filter(|minute| self.has(MINUTE, *minute));
                minutes.map(move |minute| date.at(hour, minute, 0, 0))
            });
            if let Some(next) = times.filter_map(|time| zoned(time, after)).find(|next| next > after) {
                return Some(next);
            }
        }
        None
    }
}

/// This time in the zone of `like`. One that the clocks skip comes when they have skipped it.
pub(crate) fn zoned(time: DateTime, like: &Zoned) -> Option<Zoned> {
    time.to_zoned(like.time_zone().clone()).ok()
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Field {
    fn values(&self, word: &str) -> Result<u64, String> {
        word.split(',').try_fold(0, |values, part| Ok(values | self.part(part)?))
    }

    /// `*`, `5`, `1-5`, each perhaps with a step behind a slash.
    fn part(&self, part: &str) -> Result<u64, String> {
        let (range, step) = match part.split_once('/') {
            Some((range, step)) => (range, Some(step)),
            None => (part, None),
        };
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (self.first, if self.names.len() == 7 { 6 } else { self.last }),
            Some((first, last)) => (self.value(first)?, self.value(last)?),
            None if step.is_some() => (self.value(range)?, self.last),
            None => (self.value(range)?, self.value(range)?),
        };
        let step = step.map_or(Some(1), |step| step.parse().ok().filter(|step| (1..60).contains(step)));
        let Some(step) = step else { return Err(format!("\"{part}\" has no step from 1 to 59")) };
        if first > last {
            return Err(format!("\"{range}\" ends before it begins"));
        }
        Ok((first..=last).step_by(step).fold(0, |values, value| values | 1 << value))
    }

    fn value(&self, word: &str) -> Result<u32, String> {
        let by_name = || {
            let index = self.names.iter().position(|name| name.eq_ignore_ascii_case(word))?;
            Some(self.first + u32::try_from(index).ok()?)
        };
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        let value = if is_number { word.parse().ok() } else { by_name() };
        let value = value.filter(|value| (self.first..=self.last).contains(value));
        value.ok_or_else(|| format!("\"{word}\" is no {} from {} to {}", self.name, self.first, self.last))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn nexts(cron: &str, after: &str) -> Vec<String> {
        let cron = Cron::parse(cron).expect(cron);
        let mut now: Zoned = after.parse().expect(after);
        let mut found = Vec::new();
        for _ in 0..3 {
            now = cron.next(&now).expect("a time");
            found.push(now.datetime().strftime("%a %d %b %H:%M").to_string());
        }
        found
    }

    #[test]
    fn the_next_times_follow_the_expression() {
        let now = "2026-11-29T14:07:30+00:00[UTC]";
        for (cron, times) in [
            ("*/15 * * * *", ["Sun 29 Nov 14:15", "Sun 29 Nov 14:30", "Sun 29 Nov 14:45"]),
            ("0 9 * * mon-fri", ["Mon 30 Nov 09:00", "Tue 01 Dec 09:00", "Wed 02 Dec 09:00"]),
            ("30 8 1 * *", ["Tue 01 Dec 08:30", "Fri 01 Jan 08:30", "Mon 01 Feb 08:30"]),
            ("0 0 29 2 *", ["Tue 29 Feb 00:00", "Sun 29 Feb 00:00", "Fri 29 Feb 00:00"]),
            ("0 12 1 * 7", ["Tue 01 Dec 12:00", "Sun 06 Dec 12:00", "Sun 13 Dec 12:00"]),
            ("7,8 14 * Nov 0", ["Sun 29 Nov 14:08", "Sun 07 Nov 14:07", "Sun 07 Nov 14:08"]),
            ("0 22-23/1 * * *", ["Sun 29 Nov 22:00", "Sun 29 Nov 23:00", "Mon 30 Nov 22:00"]),
        ] {
            assert_eq!(nexts(cron, now), times, "{cron}");
        }
    }

    #[test]
    fn a_date_that_never_comes_is_a_fault() {
        assert_eq!(Cron::parse("0 0 31 2 *"), Err("that date never comes".to_owned()));
        assert_eq!(Cron::parse("5-1 * * * *"), Err("\"5-1\" ends before it begins".to_owned()));
        assert_eq!(Cron::parse("*/0 * * * *"), Err("\"*/0\" has no step from 1 to 59".to_owned()));
    }

    #[test]
    fn a_time_in_the_gap_of_the_clocks_comes_behind_it() {
        let times = nexts("30 2 * * *", "2026-03-28T12:00:00+01:00[Europe/Berlin]");
        assert_eq!(times, ["Sun 29 Mar 03:30", "Mon 30 Mar 02:30", "Tue 31 Mar 02:30"]);
    }

    proptest! {
        #[test]
        fn the_next_time_is_later_and_fits(
            seconds in 0_i64..4_000_000_000,
            minute in 0_u32..60,
            hour in prop::option::of(0_u32..24),
            day in prop::option::of(1_u32..29),
        ) {
            let shown = |value: Option<u32>| value.map_or("*".to_owned(), |value| value.to_string());
            let cron = Cron::parse(&format!("{minute} {} {} * *", shown(hour), shown(day))).unwrap();
            let after = jiff::Timestamp::from_second(seconds).unwrap().in_tz("UTC").unwrap();
            let next = cron.next(&after).unwrap();
            prop_assert!(next > after);
            prop_assert_eq!(u32::try_from(next.minute()).unwrap(), minute);
            prop_assert!(hour.is_none_or(|hour| u32::try_from(next.hour()) == Ok(hour)));
            prop_assert!(day.is_none_or(|day| u32::try_from(next.day()) == Ok(day)));
        }

        #[test]
        fn any_text_is_read_without_a_panic(text in "[0-9*/, a-z-]{0,24}") {
            let _ = Cron::parse(&text);
        }
    }
}
