//! Reads spans of time in a question.

use super::{shell_line::word, words::Token};

/// The time of a change or an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Span {
    /// Within the last `n` units.
    Within(u64, Unit),
    /// Longer ago than `n` units.
    OlderThan(u64, Unit),
    /// Between the last two midnights.
    Yesterday,
    /// Since a moment that `date -d` and git read the same way.
    Since(String),
    /// Before such a moment.
    Before(String),
}

/// Units of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Minute,
    Hour,
    Day,
    Week,
    Month,
    Year,
}

impl Unit {
    fn read(word: &str) -> Option<Self> {
        Some(match word {
            "min" | "mins" | "minute" | "minutes" | "minuten" => Self::Minute,
            "hour" | "hours" | "h" | "hrs" | "stunde" | "stunden" => Self::Hour,
            "day" | "days" | "d" | "tag" | "tage" | "tagen" => Self::Day,
            "week" | "weeks" | "woche" | "wochen" => Self::Week,
            "month" | "months" | "monat" | "monate" | "monaten" => Self::Month,
            "year" | "years" | "jahr" | "jahre" | "jahren" => Self::Year,
            _ => return None,
        })
    }

    fn minutes(self) -> u64 {
        const DAY: u64 = 24 * 60;
        match self {
            Self::Minute => 1,
            Self::Hour => 60,
            Self::Day => DAY,
            Self::Week => 7 * DAY,
            Self::Month => 30 * DAY,
            Self::Year => 365 * DAY,
        }
    }

    fn noun(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

impl Span {
    /// The test of `find` for files last changed in the span.
    pub(super) fn find_test(&self) -> String {
        match self {
            Self::Within(count, unit) => age_test('-', *count, *unit),
            Self::OlderThan(count, unit) => age_test('+', *count, *unit),
            Self::Yesterday => "-newermt 'yesterday 0:00' -not -newermt 'today 0:00'".to_owned(),
            Self::Since(moment) => format!("-newermt {}", word(moment)),
            Self::Before(moment) => format!("-not -newermt {}", word(moment)),
        }
    }

    /// The options of `git log`, each with a space before it.
    pub(super) fn git_options(&self) -> String {
        match self {
            Self::Within(count, unit) => format!(" --since='{count} {} ago'", unit.noun()),
            Self::OlderThan(count, unit) => format!(" --until='{count} {} ago'", unit.noun()),
            Self::Yesterday => " --since='yesterday 0:00' --until='today 0:00'".to_owned(),
            Self::Since(moment) => format!(" --since={}", word(moment)),
            Self::Before(moment) => format!(" --until={}", word(moment)),
        }
    }

    /// The span in a sentence: "in the last 2 days".
    pub(super) fn words(&self) -> String {
        let plural = |count: u64, unit: Unit| format!("{count} {}{}", unit.noun(), if count == 1 { "" } else { "s" });
        match self {
            Self::Within(count, unit) => format!("in the last {}", plural(*count, *unit)),
            Self::OlderThan(count, unit) => format!("more than {} ago", plural(*count, *unit)),
            Self::Yesterday => "yesterday".to_owned(),
            Self::Since(moment) => format!("since {}", moment.trim_end_matches(" 0:00")),
            Self::Before(moment) => format!("before {}", moment.trim_end_matches(" 0:00")),
        }
    }
}

fn age_test(sign: char, count: u64, unit: Unit) -> String {
    let minutes = count.saturating_mul(unit.minutes());
    match unit {
        Unit::Minute | Unit::Hour => format!("-mmin {sign}{minutes}"),
        _ => format!("-mtime {sign}{}", minutes / Unit::Day.minutes()),
    }
}

/// Reads a span at the start of the tokens; returns the span and the number of its tokens.
pub(super) fn read_span(tokens: &[Token]) -> Option<(Span, usize)> {
    let norm = |at: usize| tokens.get(at).filter(|token| !token.is_quoted).map_or("", |token| token.norm.as_str());
    let lead = lead_length(tokens);
    let word = norm(lead);
    match word {
        "today" | "heute" => Some((Span::Since("today 0:00".to_owned()), lead + 1)),
        "yesterday" | "gestern" => Some((Span::Yesterday, lead + 1)),
        "last" | "past" | "previous" | "letzte" | "letzten" | "letzter" => {
            let (count, length) = read_amount(tokens.get(lead + 1..)?)?;
            Some((Span::Within(count.0, count.1), lead + 1 + length))
        }
        "this" | "diese" | "diesen" => {
            let unit = Unit::read(norm(lead + 1)).filter(|unit| *unit != Unit::Minute)?;
            Some((
                if unit == Unit::Day { Span::Since("today 0:00".to_owned()) } else { Span::Within(1, unit) },
                lead + 2,
            ))
        }
        "since" | "after" | "seit" | "nach" => read_since(tokens, lead),
        "before" | "vor" => Some((Span::Before(read_moment(norm(lead + 1))?), lead + 2)),
        "older" | "älter" if ["than", "als"].contains(&norm(lead + 1)) => {
            let (count, length) = read_amount(tokens.get(lead + 2..)?)?;
            Some((Span::OlderThan(count.0, count.1), lead + 2 + length))
        }
        "newer" | "younger" | "neuer" if ["than", "als"].contains(&norm(lead + 1)) => {
            let (count, length) = read_amount(tokens.get(lead + 2..)?)?;
            Some((Span::Within(count.0, count.1), lead + 2 + length))
        }
        _ => {
            let (count, length) = read_amount(tokens.get(lead..)?)?;
            let is_ago = norm(lead + length) == "ago";
            // "For 3 months", "in a year".
            let is_led = tokens[..lead].iter().any(|token| ["for", "in", "since"].contains(&token.norm.as_str()));
            (is_ago || is_led).then_some((Span::Within(count.0, count.1), lead + length + usize::from(is_ago)))
        }
    }
}

/// Number of tokens in "in the", "within the", "during", "from" before a span.
fn lead_length(tokens: &[Token]) -> usize {
    const LEADS: [&str; 13] =
        ["for", "in", "within", "during", "the", "from", "on", "over", "den", "der", "die", "im", "of"];
    tokens.iter().take(3).take_while(|token| !token.is_quoted && LEADS.contains(&token.norm.as_str())).count()
}

fn read_since(tokens: &[Token], lead: usize) -> Option<(Span, usize)> {
    let next = tokens.get(lead + 1)?.norm.as_str();
    if next == "last" || next == "letztem" {
        let after = tokens.get(lead + 2)?.norm.as_str();
        if let Some(moment) = read_moment(after) {
            return Some((Span::Since(moment), lead + 3));
        }
        return Some((Span::Within(1, Unit::read(after)?), lead + 3));
    }
    if let Some(moment) = read_moment(next) {
        return Some((Span::Since(moment), lead + 2));
    }
    let ((count, unit), length) = read_amount(&tokens[lead + 1..])?;
    let has_ago = tokens.get(lead + 1 + length).is_some_and(|token| token.norm == "ago");
    Some((Span::Within(count, unit), lead + 1 + length + usize::from(has_ago)))
}

/// Reads a weekday, "yesterday" or `2024-01-31` and returns it in the form that `date -d` reads.
fn read_moment(word: &str) -> Option<String> {
    const DAYS: [(&str, &str); 7] = [
        ("monday", "montag"),
        ("tuesday", "dienstag"),
        ("wednesday", "mittwoch"),
        ("thursday", "donnerstag"),
        ("friday", "freitag"),
        ("saturday", "samstag"),
        ("sunday", "sonntag"),
    ];
    if let Some((day, _)) = DAYS.iter().find(|(english, german)| word == *english || word == *german) {
        return Some(format!("last {day}"));
    }
    match word {
        "today" | "heute" => Some("today 0:00".to_owned()),
        "yesterday" | "gestern" => Some("yesterday 0:00".to_owned()),
        _ => word.parse::<jiff::civil::Date>().ok().map(|date| date.to_string()),
    }
}

/// Reads "2 days", "an hour", "week"; returns count, unit and the number of tokens.
fn read_amount(tokens: &[Token]) -> Option<((u64, Unit), usize)> {
    let first = tokens.first().filter(|token| !token.is_quoted)?.norm.as_str();
    if let Some(unit) = Unit::read(first) {
        return Some(((1, unit), 1));
    }
    let count = match first {
        "a" | "an" | "one" | "ein" | "eine" | "einer" | "einem" => 1,
        "couple" | "few" => 3,
        _ => match super::values::read_number(first) {
            Some(count) => count,
            None => {
                let split = first.find(|letter: char| !letter.is_ascii_digit())?;
                let unit = Unit::read(&first[split..])?;
                return Some(((first[..split].parse().ok()?, unit), 1));
            }
        },
    };
    let unit = Unit::read(tokens.get(1)?.norm.as_str())?;
    Some(((count, unit), 2))
}

#[cfg(test)]
mod tests {
    use super::super::words::tokenize;
    use super::*;

    #[test]
    fn spans_are_read_in_their_usual_forms() {
        for (text, expected) in [
            ("today", "-newermt 'today 0:00'"),
            ("yesterday", "-newermt 'yesterday 0:00' -not -newermt 'today 0:00'"),
            ("in the last 2 days", "-mtime -2"),
            ("last week", "-mtime -7"),
            ("within the past 3 hours", "-mmin -180"),
            ("this month", "-mtime -30"),
            ("since monday", "-newermt 'last monday'"),
            ("since last friday", "-newermt 'last friday'"),
            ("since 2024-01-31", "-newermt 2024-01-31"),
            ("older than 30 days", "-mtime +30"),
            ("10 minutes ago", "-mmin -10"),
            ("in den letzten 2 tagen", "-mtime -2"),
            ("last 24h", "-mmin -1440"),
        ] {
            let tokens = tokenize(text);
            let (span, length) = read_span(&tokens).unwrap_or_else(|| panic!("{text} is no span"));
            assert_eq!((span.find_test().as_str(), length), (expected, tokens.len()), "{text}");
        }
    }

    #[test]
    fn other_uses_of_the_words_are_no_spans() {
        for text in ["last 5 lines", "last commit", "in the folder", "since forever", "since 2024-99-99", "'today'", ""]
        {
            assert_eq!(read_span(&tokenize(text)), None, "{text}");
        }
    }
}
