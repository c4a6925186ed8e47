//! Marks on an axis of time. Pure.

/// Distances between marks, in milliseconds.
const STEPS_MS: [u64; 26] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 30_000, 60_000, 120_000, 300_000, 600_000,
    1_200_000, 1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 86_400_000,
];

/// Marks at round times from 0 to `total_ms`: at most `most` and the 0. Beyond many days there is only the 0.
#[must_use]
pub fn time_axis(total_ms: u64, most: u64) -> Vec<(f64, String)> {
    let zero = (0.0, "0".to_owned());
    let Some(step) = STEPS_MS.into_iter().find(|step| total_ms / step <= most) else { return vec![zero] };
    let mark = |index: u64| ((index * step) as f64 / total_ms.max(1) as f64, time(index * step));
    std::iter::once(zero).chain((1..=total_ms / step).map(mark)).collect()
}

/// A duration as few letters as its precision allows: `500 ms`, `20 s`, `1 min`, `1 min 30 s`, `2 h`.
#[must_use]
pub fn time(ms: u64) -> String {
    let (seconds, minutes) = (ms / 1_000, ms / 60_000);
    match (ms, seconds % 60, minutes % 60) {
        (0..1_000, ..) => format!("{ms} ms"),
        (1_000..60_000, ..) => format!("{seconds} s"),
        (60_000..3_600_000, 0, _) => format!("{minutes} min"),
        (60_000..3_600_000, rest, _) => format!("{minutes} min {rest} s"),
        (_, _, 0) => format!("{} h", minutes / 60),
        (_, _, rest) => format!("{} h {rest} min", minutes / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(total_ms: u64, most: u64) -> Vec<String> {
        time_axis(total_ms, most).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn marks_are_round_and_few() {
        assert_eq!(words(63_000, 4), ["0", "20 s", "40 s", "1 min"]);
        assert_eq!(words(63_000, 2), ["0", "30 s", "1 min"]);
        assert_eq!(words(1_250, 3), ["0", "500 ms", "1 s"]);
        assert_eq!(words(3, 4), ["0", "1 ms", "2 ms", "3 ms"]);
        assert_eq!(words(0, 4), ["0"]);
        assert_eq!(words(u64::MAX, 4), ["0"]);
    }

    #[test]
    fn marks_stand_where_their_time_is() {
        let axis = time_axis(40_000, 4);
        let places: Vec<f64> = axis.iter().map(|(place, _)| *place).collect();
        assert_eq!(places, [0.0, 0.25, 0.5, 0.75, 1.0]);
    }

    #[test]
    fn times_have_no_needless_part() {
        let told = [999, 20_000, 60_000, 90_000, 7_200_000, 5_400_000].map(time);
        assert_eq!(told, ["999 ms", "20 s", "1 min", "1 min 30 s", "2 h", "1 h 30 min"]);
    }
}
