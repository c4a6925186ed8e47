//! Reads times of the day, and how often something runs: `30 2 * * *` of "every night at 2:30".

/// Days of the week, as cron counts them. The first three letters are enough.
const DAYS: [&str; 7] = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];

/// Most words of a schedule.
pub(super) const MOST_WORDS: usize = 9;

/// `02:30` of "2:30", "2:30am", "0230", "2.30 am", "noon"; `None` for a number that may be anything else.
pub(super) fn clock(words: &[&str]) -> Option<String> {
    let (hour, minute) = time(&words.concat().to_lowercase(), false)?;
    Some(format!("{hour:02}:{minute:02}"))
}

/// The five fields of a crontab line, or `@reboot`. All words must belong to the schedule.
pub(super) fn schedule(words: &[&str]) -> Option<String> {
    let words: Vec<String> = words.iter().map(|word| word.to_lowercase()).collect();
    if matches!(words.concat().as_str(), "@reboot" | "atboot" | "onboot" | "atreboot" | "ateveryboot" | "atstartup") {
        return Some("@reboot".to_owned());
    }
    let mut read = Schedule::default();
    let mut rest = words.as_slice();
    while let [first, after @ ..] = rest {
        rest = read.take(first, after)?;
    }
    read.fields()
}

/// What was read of a schedule so far.
#[derive(Default)]
struct Schedule {
    /// Hour and minute.
    time: Option<(u8, u8)>,
    /// The unit that it repeats with, and how many of them.
    unit: Option<(Unit, u8)>,
    /// Days of the week, as cron writes them.
    days: Option<String>,
    /// Day of the month.
    day: Option<u8>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
}

impl Schedule {
    /// Reads the next word; returns the words behind it that are left. `None` if it does not belong to a schedule.
    fn take<'a>(&mut self, word: &str, after: &'a [String]) -> Option<&'a [String]> {
        match word {
            "every" | "each" | "on" | "the" | "of" | "at" | "a" | "o'clock" | "once" | "per" | "and" => {
                let may_be_hour = word == "at";
                return self.take_number(after, may_be_hour).or(Some(after));
            }
            "hourly" => self.repeat(Unit::Hour, 1)?,
            "daily" | "nightly" => self.repeat(Unit::Day, 1)?,
            "weekly" => self.repeat(Unit::Week, 1)?,
            "monthly" => self.repeat(Unit::Month, 1)?,
            "weekday" | "weekdays" | "mon-fri" | "workday" | "workdays" => self.on_days("1-5")?,
            "weekend" | "weekends" => self.on_days("0,6")?,
            "morning" | "night" | "evening" | "afternoon" => self.repeat(Unit::Day, 1)?,
            _ => {
                let is_day = |day: &&str| word == *day || word.strip_suffix('s') == Some(day) || word == &day[..3];
                let day = || DAYS.iter().position(is_day);
                if let Some(unit) = unit(word) {
                    self.repeat(unit, 1)?;
                } else if let Some(day) = day() {
                    self.on_days(&day.to_string())?;
                } else if let Some(day) = ordinal_day(word) {
                    self.day = Some(day);
                } else {
                    self.time = Some(time(word, false)?);
                }
            }
        }
        Some(after)
    }

    /// Reads "15 minutes" behind "every", "8" and "6 pm" behind "at".
    fn take_number<'a>(&mut self, words: &'a [String], may_be_hour: bool) -> Option<&'a [String]> {
        let (first, rest) = words.split_first()?;
        if let (Ok(count), Some(unit)) = (first.parse(), rest.first().and_then(|word| unit(word))) {
            self.repeat(unit, count)?;
            return Some(&rest[1..]);
        }
        let joined =
            rest.first().filter(|word| matches!(word.as_str(), "am" | "pm")).map(|half| format!("{first}{half}"));
        self.time = Some(time(joined.as_deref().unwrap_or(first), may_be_hour)?);
        Some(if joined.is_some() { &rest[1..] } else { rest })
    }

    fn repeat(&mut self, unit: Unit, count: u8) -> Option<()> {
        // "Every day of the month" is two units, of which the first counts.
        if self.unit.is_none() {
            self.unit = Some((unit, count));
        }
        (count > 0 && count < 60).then_some(())
    }

    fn on_days(&mut self, days: &str) -> Option<()> {
        self.days = Some(self.days.take().map_or_else(|| days.to_owned(), |before| format!("{before},{days}")));
        Some(())
    }

    fn fields(&self) -> Option<String> {
        let (hour, minute) = self.time.unwrap_or_default();
        let at = format!("{minute} {hour}");
        match (self.unit, &self.days, self.day) {
            (Some((Unit::Minute, 1)), None, None) => Some("* * * * *".to_owned()),
            (Some((Unit::Minute, count)), None, None) => Some(format!("*/{count} * * * *")),
            (Some((Unit::Hour, 1)), None, None) => Some(format!("{minute} * * * *")),
            (Some((Unit::Hour, count)), None, None) => Some(format!("{minute} */{count} * * *")),
            (_, Some(days), None) => Some(format!("{at} * * {days}")),
            (_, None, Some(day)) => Some(format!("{at} {day} * *")),
            (Some((Unit::Day, 1)), None, None) => Some(format!("{at} * * *")),
            (Some((Unit::Day, count)), None, None) => Some(format!("{at} */{count} * *")),
            (Some((Unit::Week, 1)), None, None) => Some(format!("{at} * * 1")),
            (Some((Unit::Month, 1)), None, None) => Some(format!("{at} 1 * *")),
            _ => None,
        }
    }
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "minute" | "minutes" | "min" | "mins" => Unit::Minute,
        "hour" | "hours" | "hrs" | "h" => Unit::Hour,
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        _ => return None,
    })
}

/// 15 of `15th`.
fn ordinal_day(word: &str) -> Option<u8> {
    let digits = ["st", "nd", "rd", "th"].iter().find_map(|ending| word.strip_suffix(ending));
    let digits = if word == "first" { Some("1") } else { digits };
    digits?.parse().ok().filter(|day| (1..=31).contains(day))
}

/// Hour and minute. A bare number is an hour only where it must be.
fn time(text: &str, may_be_hour: bool) -> Option<(u8, u8)> {
    match text {
        "noon" => return Some((12, 0)),
        "midnight" => return Some((0, 0)),
        _ => {}
    }
    let half = ["am", "pm"].iter().find_map(|half| Some((text.strip_suffix(half)?, *half)));
    let (digits, half) = half.map_or((text, None), |(digits, half)| (digits, Some(half)));
    let (hour, minute) = match digits.split_once([':', '.']) {
        Some((hour, minute)) if minute.len() == 2 => (hour.parse().ok()?, minute.parse().ok()?),
        Some(_) => return None,
        None if digits.len() == 4 && digits.starts_with('0') => (digits[..2].parse().ok()?, digits[2..].parse().ok()?),
        None if half.is_some() || may_be_hour => (digits.parse().ok()?, 0),
        None => return None,
    };
    let hour: u8 = match (half, hour) {
        (Some(_), 13..) => return None,
        (Some("am"), 12) => 0,
        (Some("pm"), 1..=11) => hour + 12,
        _ => hour,
    };
    (hour < 24 && minute < 60).then_some((hour, minute))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn schedules_become_fields_of_cron() {
        for (text, fields) in [
            ("every night at 2:30", "30 2 * * *"),
            ("every day at 3am", "0 3 * * *"),
            ("at 6 pm every day", "0 18 * * *"),
            ("daily at 17:45", "45 17 * * *"),
            ("every 15 min", "*/15 * * * *"),
            ("every minute", "* * * * *"),
            ("hourly", "0 * * * *"),
            ("every 6 hours", "0 */6 * * *"),
            ("every monday at 7", "0 7 * * 1"),
            ("on weekdays at 0630", "30 6 * * 1-5"),
            ("mon-fri 06:30", "30 6 * * 1-5"),
            ("every saturday and sunday at noon", "0 12 * * 6,0"),
            ("on the 1st of each month at midnight", "0 0 1 * *"),
            ("weekly", "0 0 * * 1"),
            ("at boot", "@reboot"),
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(schedule(&words).as_deref(), Some(fields), "{text}");
        }
    }

    #[test]
    fn what_is_no_schedule_is_none() {
        for text in
            ["at 3am", "every", "every file", "the 8 files", "in 5 minutes", "every 0 minutes", "at 25:00 daily"]
        {
            let words: Vec<&str> = text.split(' ').collect();
            assert_eq!(schedule(&words), None, "{text}");
        }
    }

    #[test]
    fn times_of_the_day_are_read() {
        for (text, time) in [("23:00", "23:00"), ("9pm", "21:00"), ("9:05 am", "09:05"), ("noon", "12:00")] {
            assert_eq!(clock(&text.split(' ').collect::<Vec<_>>()).as_deref(), Some(time), "{text}");
        }
        for text in ["17", "2300", "13pm", "24:00", "x"] {
            assert_eq!(clock(&[text]), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_words_are_a_schedule_or_none(words in prop::collection::vec("every|at|[0-9]{1,4}(am|pm)?|[0-9]{1,3}:[0-9]{2}|day|\\PC{0,6}", 0..9)) {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let is_plain = |fields: String| fields.bytes().all(|byte| b"0123456789*/,- @reboot".contains(&byte));
            prop_assert!(schedule(&words).is_none_or(is_plain));
            prop_assert!(clock(&words).is_none_or(|time| time.len() == 5));
        }
    }
}
