//! How long things took: counts in buckets of fixed bounds, so that any number of them takes the same room.

/// Upper bounds of the buckets but the last, in milliseconds; each includes its bound.
pub const BOUNDS_MS: [u64; 19] = [
    1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000,
];

/// Durations, by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    counts: [u64; BOUNDS_MS.len() + 1],
    max_ms: u64,
}

impl Histogram {
    /// Adds one.
    pub fn add(&mut self, took_ms: u64) {
        let bucket = BOUNDS_MS.partition_point(|bound| *bound < took_ms);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        }
        self.max_ms = self.max_ms.max(took_ms);
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The longest, in milliseconds.
    #[must_use]
    pub fn max_ms(&self) -> u64 {
        self.max_ms
    }

    /// What `percent` of them did not exceed, in milliseconds, estimated within its bucket. `None` if there are none.
    #[must_use]
    pub fn percentile_ms(&self, percent: u64) -> Option<u64> {
        let rank = (self.count() * percent.min(100)).div_ceil(100).max(1);
        let mut below = 0;
        for (index, count) in self.counts.iter().enumerate() {
            if below + count >= rank {
                let from = index.checked_sub(1).and_then(|before| BOUNDS_MS.get(before)).copied().unwrap_or(0);
                let to = BOUNDS_MS.get(index).copied().unwrap_or(self.max_ms).min(self.max_ms);
                return Some(from + to.saturating_sub(from) * (rank - below) / count);
            }
            below += count;
        }
        None
    }

    /// Buckets that are not empty: their upper bound, `None` for the last, and how many are in them.
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
    fn percentiles_lie_in_the_bucket_of_their_rank_and_never_beyond_the_longest() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.percentile_ms(50), None);
        (1..=100).for_each(|took| histogram.add(took * 10));
        let about = |percent| histogram.percentile_ms(percent).expect("there are some");
        assert!((450..=550).contains(&about(50)), "{}", about(50));
        assert!((900..=1_000).contains(&about(95)), "{}", about(95));
        assert_eq!((about(100), histogram.max_ms(), histogram.count()), (1_000, 1_000, 100));
        histogram.add(u64::MAX);
        histogram.add(0);
        assert_eq!((about_max(&histogram), histogram.buckets().last()), (u64::MAX, Some((None, 1))));
    }

    fn about_max(histogram: &Histogram) -> u64 {
        histogram.percentile_ms(100).expect("there are some")
    }

    #[test]
    fn a_single_one_is_every_percentile() {
        let mut histogram = Histogram::default();
        histogram.add(7);
        assert_eq!((histogram.percentile_ms(1), histogram.percentile_ms(95)), (Some(7), Some(7)));
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(Some(10), 1)]);
    }
}
