//! Spans of days in the calendar, by their names. Pure.

use jiff::{
    Span, ToSpan as _,
    civil::{Date, DateTime, Weekday},
};

/// A span of local time, half open; without a beginning or an end it is unbounded there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Days {
    pub from: Option<DateTime>,
    pub until: Option<DateTime>,
}

/// Weekdays, with the short forms that people type.
const WEEKDAYS: [(Weekday, [&str; 3]); 7] = [
    (Weekday::Monday, ["monday", "mon", "mondays"]),
    (Weekday::Tuesday, ["tuesday", "tue", "tues"]),
    (Weekday::Wednesday, ["wednesday", "wed", "wednesdays"]),
    (Weekday::Thursday, ["thursday", "thu", "thurs"]),
    (Weekday::Friday, ["friday", "fri", "fridays"]),
    (Weekday::Saturday, ["saturday", "sat", "saturdays"]),
    (Weekday::Sunday, ["sunday", "sun", "sundays"]),
];
const MONTHS: [[&str; 2]; 12] = [
    ["january", "jan"],
    ["february", "feb"],
    ["march", "mar"],
    ["april", "apr"],
    ["may", "may"],
    ["june", "jun"],
    ["july", "jul"],
    ["august", "aug"],
    ["september", "sep"],
    ["october", "oct"],
    ["november", "nov"],
    ["december", "dec"],
];
/// Seasons, with the month in which they begin.
const SEASONS: [(&str, i8); 5] = [("spring", 3), ("summer", 6), ("autumn", 9), ("fall", 9), ("winter", 12)];
/// Days with a name: month and day.
const FEASTS: [(&str, i8, i8); 4] = [("christmas", 12, 25), ("xmas", 12, 25), ("halloween", 10, 31), ("newyear", 1, 1)];
/// Months of a season.
const SEASON_MONTHS: i32 = 3;

impl Days {
    /// From the start of one day to the start of another.
    pub fn between(from: Date, until: Date) -> Option<Self> {
        (from <= until).then(|| Self { from: Some(start(from)), until: Some(start(until)) })
    }

    /// One day.
    pub fn of(day: Date) -> Option<Self> {
        Self::between(day, day.tomorrow().ok()?)
    }

    /// The time from this long before `now` until now.
    pub fn back(now: DateTime, span: Span) -> Option<Self> {
        Some(Self { from: Some(now.checked_sub(span).ok()?), until: Some(now) })
    }

    /// The same with this much more time on both sides.
    pub fn wider(self, days: i32) -> Option<Self> {
        let from = self.from.map(|from| from.checked_sub(days.days())).transpose().ok()?;
        let until = self.until.map(|until| until.checked_add(days.days())).transpose().ok()?;
        Some(Self { from, until })
    }
}

/// The first moment of a day.
pub(super) fn start(day: Date) -> DateTime {
    day.at(0, 0, 0, 0)
}

/// The newest such day before this one.
pub(super) fn weekday_before(day: Date, weekday: Weekday) -> Option<Date> {
    day.nth_weekday(-1, weekday).ok()
}

/// The Monday of the week of this day.
pub(super) fn monday(day: Date) -> Option<Date> {
    day.checked_sub(i32::from(day.weekday().to_monday_zero_offset()).days()).ok()
}

/// The weekday of this name.
pub(super) fn weekday(word: &str) -> Option<Weekday> {
    WEEKDAYS.iter().find(|(_, names)| names.contains(&word)).map(|(weekday, _)| *weekday)
}

/// The number of the month of this name.
pub(super) fn month(word: &str) -> Option<i8> {
    let index = MONTHS.iter().position(|names| names.contains(&word))?;
    i8::try_from(index + 1).ok()
}

/// A month of a year.
pub(super) fn month_of(year: i16, month: i8) -> Option<Days> {
    let first = Date::new(year, month, 1).ok()?;
    Days::between(first, first.checked_add(1.month()).ok()?)
}

/// The newest month of this number that has begun.
pub(super) fn newest_month(today: Date, month: i8) -> Option<Days> {
    let year = if month > today.month() { today.year().checked_sub(1)? } else { today.year() };
    month_of(year, month)
}

/// The season of this name that begins in this year.
pub(super) fn season_of(word: &str, year: i16) -> Option<Days> {
    let (_, month) = *SEASONS.iter().find(|(name, _)| *name == word)?;
    let first = Date::new(year, month, 1).ok()?;
    Days::between(first, first.checked_add(SEASON_MONTHS.months()).ok()?)
}

/// The newest season of this name that has begun, or the one before if it still lasts and the `last` is meant.
pub(super) fn season(today: Date, word: &str, is_last: bool) -> Option<Days> {
    let of_year = |year: i16| season_of(word, year);
    let is_wanted = |days: &Days| {
        let limit = if is_last { days.until } else { days.from };
        limit.is_some_and(|limit| limit <= start(today))
    };
    (0..3_i16).filter_map(|back| of_year(today.year().checked_sub(back)?)).find(is_wanted)
}

/// The newest feast of this name that is over.
pub(super) fn feast(today: Date, word: &str) -> Option<Days> {
    let of_year = |year: i16| match FEASTS.iter().find(|(name, ..)| *name == word) {
        Some((_, month, day)) => Date::new(year, *month, *day).ok(),
        None => (word == "easter").then(|| easter(year)).flatten(),
    };
    let this_year = of_year(today.year())?;
    Days::of(if this_year < today { this_year } else { of_year(today.year().checked_sub(1)?)? })
}

/// Easter Sunday, by the rule of Meeus, Jones and Butcher for the Gregorian calendar.
fn easter(year: i16) -> Option<Date> {
    let y = i32::from(year);
    let (a, b, c) = (y % 19, y / 100, y % 100);
    let h = (19 * a + b - b / 4 - (b - (b + 8) / 25 + 1) / 3 + 15) % 30;
    let l = (32 + 2 * (b % 4) + 2 * (c / 4) - h - c % 4) % 7;
    let n = h + l - 7 * ((a + 11 * h + 22 * l) / 451) + 114;
    Date::new(year, i8::try_from(n / 31).ok()?, i8::try_from(n % 31 + 1).ok()?).ok()
}

/// The newest such day of the month that is not in the future.
pub(super) fn day_of(today: Date, month: i8, day: i8) -> Option<Days> {
    let of_year = |year: i16| Date::new(year, month, day).ok();
    let newest = (0..5_i16).filter_map(|back| of_year(today.year().checked_sub(back)?)).find(|date| *date <= today)?;
    Days::of(newest)
}

/// The Saturday and Sunday before today; on a weekend the one before.
pub(super) fn weekend(today: Date) -> Option<Days> {
    let saturday = monday(today)?.checked_sub(2.days()).ok()?;
    Days::between(saturday, saturday.checked_add(2.days()).ok()?)
}
