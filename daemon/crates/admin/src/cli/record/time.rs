//! Formats points in time and durations for people. Pure.

use jiff::{Timestamp, tz::TimeZone};

/// Days that are counted; for older times the date is printed.
const COUNTED_DAYS: i64 = 14;

/// A few words: `now`, `5 min ago`, `2 h ago`, `3 days ago`, `2026-03-01`.
#[must_use]
pub fn ago(at: Timestamp, now: Timestamp, zone: &TimeZone) -> String {
    let seconds = now.as_second() - at.as_second();
    match (seconds / 60, seconds / 3_600, seconds / (24 * 3_600)) {
        // A clock that was set back must not show the future.
        (..=0, ..) => "now".to_owned(),
        (minutes @ ..60, ..) => format!("{minutes} min ago"),
        (_, hours @ ..24, _) => format!("{hours} h ago"),
        (_, _, 1) => "1 day ago".to_owned(),
        (_, _, days @ ..COUNTED_DAYS) => format!("{days} days ago"),
        _ => at.to_zoned(zone.clone()).date().to_string(),
    }
}

/// By the clock on the wall: `2026-03-01 14:05`.
#[must_use]
pub fn clock(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// A duration.
#[must_use]
pub fn took(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_told_as_people_do() {
        let now: Timestamp = "2026-03-20T12:00:00Z".parse().expect("a time");
        for (at, expected) in [
            ("2026-03-20T12:00:30Z", "now"),
            ("2026-03-20T11:59:30Z", "now"),
            ("2026-03-20T11:55:00Z", "5 min ago"),
            ("2026-03-20T09:10:00Z", "2 h ago"),
            ("2026-03-19T09:10:00Z", "1 day ago"),
            ("2026-03-10T12:00:00Z", "10 days ago"),
            ("2026-03-01T23:30:00Z", "2026-03-02"),
        ] {
            let zone = TimeZone::get("Europe/Berlin").expect("a zone");
            assert_eq!(ago(at.parse().expect("a time"), now, &zone), expected, "{at}");
        }
    }

    #[test]
    fn durations_have_a_unit_that_fits() {
        assert_eq!([8, 1_250, 61_000].map(took), ["8 ms", "1.2 s", "1 min 1 s"]);
    }
}
