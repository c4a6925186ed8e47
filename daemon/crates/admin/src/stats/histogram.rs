//! The histogram counts durations. Programs read counts in buckets with fixed bounds; the figures for people are computed from the
//! exact times.

/// Upper bounds of all buckets except the last, in milliseconds; each includes its bound.
pub const BOUNDS_MS: [u64; 19] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000,
];

/// Most times that percentiles are computed from: the newest.
const MAX_TIMES: usize = 500_000;

/// Durations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BOUNDS_MS.len() + 1],
    max_ms: u64,
    times_ms: Vec<u64>,
    /// Place of the next time when the list is full.
    oldest: usize,
}

impl Histogram {
    /// Adds a duration.
    pub fn add(&mut self, took_ms: u64) {
        let bucket = BOUNDS_MS.partition_point(|bound| *bound < took_ms);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.max_ms = self.max_ms.max(took_ms);
        if self.times_ms.len() < MAX_TIMES {
            self.times_ms.push(took_ms);
        } else if let Some(oldest) = self.times_ms.get_mut(self.oldest) {
            *oldest = took_ms;
            self.oldest = (self.oldest + 1) % MAX_TIMES;
        }
    }

    /// The number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The longest, in milliseconds; `None` if there are none.
    #[must_use]
    pub fn max_ms(&self) -> Option<u64> {
        (self.count() > 0).then_some(self.max_ms)
    }

    /// The times that these percentages did not exceed, in milliseconds: each is a measured time. `None` if there are none.
    #[must_use]
    pub fn percentiles_ms<const N: usize>(&self, percents: [usize; N]) -> [Option<u64>; N] {
        let mut sorted = self.times_ms.clone();
        sorted.sort_unstable();
        percents.map(|percent| {
            let rank = (sorted.len() * percent.min(100)).div_ceil(100).max(1);
            sorted.get(rank - 1).copied()
        })
    }

    /// The number of durations in each bucket, also in empty ones.
    #[must_use]
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The non-empty buckets: their upper bound, `None` for the last, and their count.
    pub fn buckets(&self) -> impl Iterator<Item = (Option<u64>, u64)> {
        self.counts
            .iter()
            .enumerate()
            .filter(|(_, count)| **count > 0)
            .map(|(index, count)| (BOUNDS_MS.get(index).copied(), *count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_times_that_really_were() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.percentiles_ms([50]), histogram.max_ms()), ([None], None));
        histogram.add(7);
        assert_eq!(histogram.percentiles_ms([1, 50, 99]), [Some(7); 3]);
        (1..100).for_each(|took| histogram.add(took * 10));
        assert_eq!(histogram.percentiles_ms([50, 95, 99, 100]), [Some(490), Some(940), Some(980), Some(990)]);
        assert_eq!((histogram.max_ms(), histogram.count()), (Some(990), 100));
    }

    #[test]
    fn each_is_in_the_bucket_that_holds_it() {
        let mut histogram = Histogram::default();
        [0, 1, 2, 1_000, 1_001, u64::MAX].into_iter().for_each(|took| histogram.add(took));
        let buckets: Vec<(Option<u64>, u64)> = histogram.buckets().collect();
        assert_eq!(buckets, [(Some(1), 2), (Some(2), 1), (Some(1_000), 1), (Some(2_000), 1), (None, 1)]);
    }

    #[test]
    fn of_more_than_there_is_room_for_the_newest_count() {
        let mut histogram = Histogram::default();
        (0..MAX_TIMES).for_each(|_| histogram.add(1));
        (0..MAX_TIMES).for_each(|_| histogram.add(2));
        assert_eq!(histogram.percentiles_ms([1]), [Some(2)]);
        assert_eq!((histogram.count(), histogram.times_ms.len()), (2 * MAX_TIMES as u64, MAX_TIMES));
    }
}
