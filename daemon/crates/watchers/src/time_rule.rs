//! Rules for when a time comes.

use std::fmt;

use jiff::{
    ToSpan as _, Zoned,
    civil::{DateTime, Time},
};

use crate::cron::{Cron, zoned};

/// Longest span, in seconds: 366 days.
const MAX_SPAN_S: u64 = 366 * 86_400;
/// Units of a span, the largest first, with their seconds.
const UNITS: [(char, u64); 4] = [('d', 86_400), ('h', 3_600), ('m', 60), ('s', 1)];

/// When a time comes. Times are those of the zone in which they are computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeRule {
    /// The next time that it is this time of day; each day if repeated.
    Daily(Time),
    /// At this date and time.
    Once(DateTime),
    /// So many seconds after the watcher was made.
    In(u64),
    /// Each time that so many seconds are over.
    Every(u64),
    /// By a cron expression.
    Cron(Cron),
}

impl TimeRule {
    /// The next time after `after`; `None` if there is none.
    #[must_use]
    pub fn next(&self, after: &Zoned) -> Option<Zoned> {
        match self {
            Self::Daily(time) => {
                let dates = [after.date(), after.date().tomorrow().ok()?];
                let mut times = dates.into_iter().filter_map(|date| zoned(date.to_datetime(*time), after));
                times.find(|next| next > after)
            }
            Self::Once(time) => zoned(*time, after).filter(|next| next > after),
            Self::In(seconds) | Self::Every(seconds) => after.checked_add(i64::try_from(*seconds).ok()?.seconds()).ok(),
            Self::Cron(cron) => cron.next(after),
        }
    }

    /// What is the case when it has come.
    pub(crate) fn past(&self) -> String {
        match self {
            Self::Daily(_) | Self::Once(_) | Self::Cron(_) => format!("it is time ({self})"),
            Self::In(seconds) => format!("{} are over", written(*seconds)),
            Self::Every(seconds) => format!("every {}", written(*seconds)),
        }
    }
}

impl fmt::Display for TimeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Daily(time) => write!(f, "at {:02}:{:02}", time.hour(), time.minute()),
            Self::Once(time) => write!(f, "at {} {:02}:{:02}", time.date(), time.hour(), time.minute()),
            Self::In(seconds) => write!(f, "in {}", written(*seconds)),
            Self::Every(seconds) => write!(f, "every {}", written(*seconds)),
            Self::Cron(cron) => write!(f, "cron '{cron}'"),
        }
    }
}

/// Reads `14:30` and `2026-12-01 09:00`.
pub(crate) fn at(text: &str) -> Option<TimeRule> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words[..] {
        [time] => clock(time).map(TimeRule::Daily),
        [date, time] => {
            let is_date = date.len() == 10 && date.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            let date: jiff::civil::Date = date.parse().ok().filter(|_| is_date)?;
            Some(TimeRule::Once(date.to_datetime(clock(time)?)))
        }
        _ => None,
    }
}

fn clock(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |text: &str| matches!(text.len(), 1..=2) && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(hour) || !is_number(minute) || minute.len() != 2 {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// Reads a span such as `90s`, `10m`, `1h30m` or `2d`, in seconds.
pub(crate) fn span(text: &str) -> Option<u64> {
    let (mut seconds, mut number, mut units) = (0_u64, None, UNITS.iter());
    for letter in text.chars() {
        if let Some(digit) = letter.to_digit(10) {
            number = Some(number.unwrap_or(0_u64).checked_mul(10)?.checked_add(u64::from(digit))?);
        } else {
            // Each unit once, the larger ones first.
            let (_, length) = units.by_ref().find(|(unit, _)| *unit == letter)?;
            seconds = seconds.checked_add(number.take()?.checked_mul(*length)?)?;
        }
    }
    (number.is_none() && (1..=MAX_SPAN_S).contains(&seconds)).then_some(seconds)
}

/// The span in its largest unit that leaves no rest.
fn written(seconds: u64) -> String {
    let unit = UNITS.into_iter().find(|(_, length)| seconds.is_multiple_of(*length));
    let (unit, length) = unit.unwrap_or(('s', 1));
    format!("{}{unit}", seconds / length)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn time(text: &str) -> Zoned {
        text.parse().expect(text)
    }

    fn next(rule: &str, after: &str) -> Option<String> {
        let rule = at(rule).expect(rule);
        rule.next(&time(after)).map(|next| next.datetime().to_string())
    }

    #[test]
    fn a_time_of_day_comes_today_or_tomorrow() {
        let now = "2026-11-29T14:00:00+01:00[Europe/Berlin]";
        assert_eq!(next("14:30", now).as_deref(), Some("2026-11-29T14:30:00"));
        assert_eq!(next("14:00", now).as_deref(), Some("2026-11-30T14:00:00"));
        assert_eq!(next("2026-12-01 09:00", now).as_deref(), Some("2026-12-01T09:00:00"));
        assert_eq!(next("2026-11-29 13:59", now), None);
    }

    #[test]
    fn a_skipped_time_comes_after_the_gap() {
        let before = "2026-03-29T01:00:00+01:00[Europe/Berlin]";
        assert_eq!(next("02:30", before).as_deref(), Some("2026-03-29T03:30:00"));
    }

    #[test]
    fn spans_are_real_time_also_over_a_change_of_the_clocks() {
        let before = time("2026-03-29T01:59:50+01:00[Europe/Berlin]");
        let after = TimeRule::In(20).next(&before).expect("a time");
        assert_eq!(after.to_string(), "2026-03-29T03:00:10+02:00[Europe/Berlin]");
    }

    proptest! {
        #[test]
        fn spans_are_read_back(seconds in 1..=MAX_SPAN_S) {
            prop_assert_eq!(span(&written(seconds)), Some(seconds));
        }

        #[test]
        fn a_rule_comes_later_than_asked(seconds in 0_i64..4_000_000_000, hour in 0_i8..24, minute in 0_i8..60) {
            let after = jiff::Timestamp::from_second(seconds).unwrap().in_tz("Europe/Berlin").unwrap();
            let rule = TimeRule::Daily(Time::new(hour, minute, 0, 0).unwrap());
            prop_assert!(rule.next(&after).unwrap() > after);
        }
    }
}
