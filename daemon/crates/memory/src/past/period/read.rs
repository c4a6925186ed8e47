//! Reads a period at the start of some words. Pure.

use jiff::{
    Span, ToSpan as _,
    civil::{Date, DateTime},
};

use super::calendar::{self, Days};

/// Words that may stand before a period: "in the", "at the".
const LEADS: [&str; 13] =
    ["in", "on", "at", "the", "over", "during", "within", "from", "for", "about", "around", "roughly", "some"];
/// Those of them behind which "march" and "spring" are times: "the march" and "for the spring" are other things.
const STRONG_LEADS: [&str; 8] = ["in", "on", "at", "over", "during", "within", "around", "since"];
/// Parts of a day, which are read as the whole day.
const DAY_PARTS: [&str; 5] = ["morning", "afternoon", "evening", "night", "noon"];
/// Longest count of units.
const MAX_COUNT: i32 = 1_000;
/// Days of the start and of the end of a month.
const PART_DAYS: i32 = 10;
/// Days by which "around" widens.
const AROUND_DAYS: i32 = 5;
/// Days of "recently".
const RECENT_DAYS: i32 = 14;

/// A unit of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

/// The period at the start of these words, and the number of its words.
pub(super) fn period(words: &[&str], now: DateTime) -> Option<(Days, usize)> {
    let reader = Reader { words, now };
    reader.bounded().or_else(|| reader.led())
}

struct Reader<'a> {
    words: &'a [&'a str],
    now: DateTime,
}

impl<'a> Reader<'a> {
    fn word(&self, at: usize) -> &'a str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn behind(&self, count: usize) -> Self {
        Self { words: self.words.get(count..).unwrap_or_default(), now: self.now }
    }

    fn today(&self) -> Date {
        self.now.date()
    }

    /// "since monday", "before christmas", "between march and may".
    fn bounded(&self) -> Option<(Days, usize)> {
        let (days, length) = self.behind(1).named(true)?;
        let rest = self.behind(1 + length);
        let days = match self.word(0) {
            "since" => Days { from: days.from, until: Some(self.now) },
            "after" => Days { from: days.until, until: Some(self.now) },
            "before" => Days { from: None, until: days.from },
            "until" | "till" => Days { from: None, until: days.until },
            "between" | "from" if matches!(rest.word(0), "and" | "to" | "until" | "till") => {
                let (end, more) = rest.behind(1).named(true)?;
                let days = Days { from: days.from, until: end.until };
                return (days.from <= days.until).then_some((days, 2 + length + more));
            }
            _ => return None,
        };
        (days.from.is_none() || days.until.is_none() || days.from <= days.until).then_some((days, 1 + length))
    }

    /// A period behind "in the" and the like.
    fn led(&self) -> Option<(Days, usize)> {
        let leads = self.leads();
        let (days, length) = self.named(false)?;
        let is_around = self.words.iter().take(leads).any(|word| matches!(*word, "around" | "about" | "roughly"));
        // "About a month ago" is wide already.
        let is_exact = !self.words.iter().take(length).any(|word| *word == "ago");
        let days = if is_around && is_exact { days.wider(AROUND_DAYS)? } else { days };
        Some((days, length))
    }

    /// Number of words such as "in the" before a period.
    fn leads(&self) -> usize {
        self.words.iter().take(3).take_while(|word| LEADS.contains(word)).count()
    }

    /// A period, behind a word such as "since" if `is_led`.
    fn named(&self, is_led: bool) -> Option<(Days, usize)> {
        let leads = self.leads();
        let rest = self.behind(leads);
        let is_led = is_led || self.words.iter().take(leads).any(|word| STRONG_LEADS.contains(word));
        let (days, length) = rest
            .ago()
            .or_else(|| rest.rolling(leads > 0))
            .or_else(|| rest.simple())
            .or_else(|| rest.date())
            .or_else(|| rest.part_of_month())
            .or_else(|| rest.month_or_season(is_led))?;
        Some((days, leads + length))
    }

    /// "today", "last week", "this morning", "monday".
    fn simple(&self) -> Option<(Days, usize)> {
        let today = self.today();
        let with_part =
            |days: Days, length: usize| Some((days, length + usize::from(DAY_PARTS.contains(&self.word(length)))));
        match (self.word(0), self.word(1)) {
            ("today", _) => with_part(Days::of(today)?, 1),
            ("yesterday", _) => with_part(Days::of(today.yesterday().ok()?)?, 1),
            ("day", "before") if self.word(2) == "yesterday" => {
                with_part(Days::of(today.checked_sub(2.days()).ok()?)?, 3)
            }
            ("earlier", "today") => Some((Days::of(today)?, 2)),
            ("tonight", _) => Some((Days::of(today)?, 1)),
            ("recently" | "lately", _) => Some((Days::back(self.now, RECENT_DAYS.days())?, 1)),
            ("weekend", _) => Some((calendar::weekend(today)?, 1)),
            ("new", "year" | "years") => Some((calendar::feast(today, "newyear")?, 2)),
            ("last" | "previous" | "this" | "past", _) => self.relative(),
            (word, _) => {
                let weekday = calendar::weekday(word);
                let day = weekday.and_then(|weekday| Days::of(calendar::weekday_before(today, weekday)?));
                match day {
                    // "Sun" and "mon" are other words, too.
                    Some(day) if word.len() > 3 => with_part(day, 1),
                    _ => Some((calendar::feast(today, word)?, 1)),
                }
            }
        }
    }

    /// "last week", "this month", "last friday", "last night".
    fn relative(&self) -> Option<(Days, usize)> {
        let today = self.today();
        let is_last = match self.word(0) {
            "this" => false,
            "last" | "previous" | "past" => true,
            _ => return None,
        };
        let word = self.word(1);
        let of = |from: Date, span: Span| Days::between(from, from.checked_add(span).ok()?);
        let until_now = |from: Date| Some(Days { from: Some(calendar::start(from)), until: Some(self.now) });
        let (monday, first) = (calendar::monday(today)?, today.first_of_month());
        let days = match (word, is_last) {
            ("week", true) => of(monday.checked_sub(1.week()).ok()?, 1.week()),
            ("week", false) => until_now(monday),
            ("month", true) => of(first.checked_sub(1.month()).ok()?, 1.month()),
            ("month", false) => until_now(first),
            ("year", true) => of(today.first_of_year().checked_sub(1.year()).ok()?, 1.year()),
            ("year", false) => until_now(today.first_of_year()),
            ("weekend", _) => calendar::weekend(today),
            ("night", true) => {
                let evening = today.yesterday().ok()?.at(18, 0, 0, 0);
                Some(Days { from: Some(evening), until: Some(today.at(6, 0, 0, 0)) })
            }
            ("hour", true) => Days::back(self.now, 1.hour()),
            (part, false) if DAY_PARTS.contains(&part) => Days::of(today),
            _ => match calendar::weekday(word) {
                Some(weekday) => Days::of(calendar::weekday_before(today, weekday)?),
                None => match calendar::month(word) {
                    Some(month) => calendar::newest_month(today, month),
                    None => calendar::season(today, word, is_last).or_else(|| calendar::feast(today, word)),
                },
            },
        };
        Some((days?, 2))
    }

    /// "3 days ago", "a couple of weeks ago".
    fn ago(&self) -> Option<(Days, usize)> {
        let (amount, unit, length) = self.amount()?;
        if !matches!(self.word(length), "ago" | "back" | "earlier") {
            return None;
        }
        let (least, most) = amount;
        let today = self.today();
        let days = match unit {
            Unit::Minute | Unit::Hour => {
                let from = self.now.checked_sub(unit.times(most.checked_add(1)?)).ok()?;
                let until = self.now.checked_sub(unit.times((least - 1).max(0))).ok()?;
                Days { from: Some(from), until: Some(until) }
            }
            _ => {
                let from = today.checked_sub(unit.times(most)).ok()?;
                let until = today.checked_sub(unit.times(least)).ok()?.tomorrow().ok()?;
                Days::between(from, until)?.wider(unit.slack())?
            }
        };
        Some((Days { until: days.until.map(|until| until.min(self.now)), ..days }, length + 1))
    }

    /// "the last 3 days", "the past week". "Last week" alone is the week in the calendar.
    fn rolling(&self, has_lead: bool) -> Option<(Days, usize)> {
        if !matches!(self.word(0), "last" | "past" | "previous") {
            return None;
        }
        let rest = self.behind(1);
        let ((_, most), unit, length) = rest.amount().or_else(|| {
            let unit = Unit::of(rest.word(0)).filter(|_| has_lead || self.word(0) == "past")?;
            Some(((1, 1), unit, 1))
        })?;
        Some((Days::back(self.now, unit.times(most))?, 1 + length))
    }

    /// A count with its unit: at least and at most so many, and the number of words.
    fn amount(&self) -> Option<((i32, i32), Unit, usize)> {
        let (amount, length) = match (self.word(0), self.word(1)) {
            ("half", "a" | "an") => return self.half(),
            ("a", "few") => ((2, 7), 2),
            ("few" | "several", _) => ((2, 7), 1),
            ("a", "couple") => ((2, 3), 2 + usize::from(self.word(2) == "of")),
            ("couple", next) => ((2, 3), 1 + usize::from(next == "of")),
            ("a" | "an" | "one", _) => ((1, 1), 1),
            (word, _) => {
                let count = number(word)?;
                ((count, count), 1)
            }
        };
        Some((amount, Unit::of(self.word(length))?, length + 1))
    }

    /// "half a year".
    fn half(&self) -> Option<((i32, i32), Unit, usize)> {
        let (count, unit) = match Unit::of(self.word(2))? {
            Unit::Year => (6, Unit::Month),
            Unit::Month => (2, Unit::Week),
            Unit::Week => (3, Unit::Day),
            Unit::Day => (12, Unit::Hour),
            Unit::Hour => (30, Unit::Minute),
            Unit::Minute => return None,
        };
        Some(((count, count), unit, 3))
    }

    /// `2026-03-14`, "3 november", "november 3rd", "3rd of november 2025", "in 2025".
    fn date(&self) -> Option<(Days, usize)> {
        let today = self.today();
        if let Ok(date) = self.word(0).parse::<Date>() {
            return Some((Days::of(date)?, 1));
        }
        let dated = |month: i8, day: i8, length: usize| match year(self.word(length)) {
            Some(year) => Some((Days::of(Date::new(year, month, day).ok()?)?, length + 1)),
            None => Some((calendar::day_of(today, month, day)?, length)),
        };
        if let Some(day) = day_number(self.word(0)) {
            let of = usize::from(self.word(1) == "of");
            return dated(calendar::month(self.word(1 + of))?, day, 2 + of);
        }
        dated(calendar::month(self.word(0))?, day_number(self.word(1))?, 2)
    }

    /// "the end of march", "early may", "beginning of last month", "start of the year".
    fn part_of_month(&self) -> Option<(Days, usize)> {
        let (word, of) = (self.word(0), usize::from(self.word(1) == "of"));
        let is_end = word == "late" || word == "end" && of == 1;
        let is_start = word == "early" || matches!(word, "start" | "beginning") && of == 1;
        let is_middle = word == "mid" || word == "middle" && of == 1;
        if !(is_end || is_start || is_middle) {
            return None;
        }
        let rest = self.behind(1 + of);
        let (days, length) = rest.month_or_season(true).or_else(|| rest.relative()).or_else(|| rest.current())?;
        let (from, until) = (days.from?, days.until?);
        let days = if is_start {
            Days { until: Some(from.checked_add(PART_DAYS.days()).ok()?), ..days }
        } else if is_end {
            Days { from: Some(until.checked_sub((PART_DAYS + 1).days()).ok()?), ..days }
        } else {
            days.wider(-PART_DAYS)?
        };
        (days.from <= days.until).then_some((days, 1 + of + length))
    }

    /// "the year", "the month", behind "start of".
    fn current(&self) -> Option<(Days, usize)> {
        let words = ["this", self.word(1)];
        let days = Reader { words: &words, now: self.now }.relative()?.0;
        (self.word(0) == "the").then_some((days, 2))
    }

    /// "march", "march 2025", "2025", "spring". Words with another meaning only behind "in" and the like.
    fn month_or_season(&self, is_led: bool) -> Option<(Days, usize)> {
        let (word, today) = (self.word(0), self.today());
        if let Some(month) =
            calendar::month(word).filter(|_| is_led || !matches!(word, "may" | "march" | "mar" | "sep"))
        {
            return match self.year_behind() {
                Some((year, length)) => Some((calendar::month_of(year, month)?, 1 + length)),
                None => Some((calendar::newest_month(today, month)?, 1)),
            };
        }
        if !is_led {
            return None;
        }
        if let Some(year) = year(word) {
            let first = Date::new(year, 1, 1).ok()?;
            return Some((Days::between(first, first.checked_add(1.year()).ok()?)?, 1));
        }
        match self.year_behind() {
            Some((year, length)) => Some((calendar::season_of(word, year)?, 1 + length)),
            None => Some((calendar::season(today, word, false)?, 1)),
        }
    }

    /// The year that the words behind the first one name: "2025", "last year", "of this year".
    fn year_behind(&self) -> Option<(i16, usize)> {
        let of = usize::from(self.word(1) == "of");
        let this_year = self.today().year();
        match (self.word(1 + of), self.word(2 + of)) {
            ("last", "year") => Some((this_year.checked_sub(1)?, 2 + of)),
            ("this", "year") => Some((this_year, 2 + of)),
            (word, _) => Some((year(word)?, 1 + of)),
        }
    }
}

impl Unit {
    fn of(word: &str) -> Option<Self> {
        Some(match word {
            "minute" | "minutes" | "min" | "mins" => Self::Minute,
            "hour" | "hours" => Self::Hour,
            "day" | "days" => Self::Day,
            "week" | "weeks" => Self::Week,
            "month" | "months" => Self::Month,
            "year" | "years" => Self::Year,
            _ => return None,
        })
    }

    fn times(self, count: i32) -> Span {
        match self {
            Self::Minute => count.minutes(),
            Self::Hour => count.hours(),
            Self::Day => count.days(),
            Self::Week => count.weeks(),
            Self::Month => count.months(),
            Self::Year => count.years(),
        }
    }

    /// Days by which "3 weeks ago" may be meant earlier or later.
    fn slack(self) -> i32 {
        match self {
            Self::Minute | Self::Hour | Self::Day => 0,
            Self::Week => 4,
            Self::Month => 16,
            Self::Year => 90,
        }
    }
}

fn number(word: &str) -> Option<i32> {
    const WORDS: [&str; 12] =
        ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"];
    let count = match WORDS.iter().position(|name| *name == word) {
        Some(index) => i32::try_from(index + 1).ok()?,
        None => word.parse().ok()?,
    };
    (1..=MAX_COUNT).contains(&count).then_some(count)
}

/// "3", "3rd", "21st".
fn day_number(word: &str) -> Option<i8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    (word.len() == 4).then(|| word.parse().ok()).flatten().filter(|year| (1990..=2100).contains(year))
}
