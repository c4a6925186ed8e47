//! Paces frames: draws at once while few changes arrive, and at most 60 times a second while many do. Pure: the caller has the clock.
//!
//! A frame that comes too early waits for the next reason to draw rather than for its own time, as long as it is not late. When text
//! comes faster than frames, most pieces are then on the screen the moment they arrive, and the others with the next piece.

use std::time::{Duration, Instant};

/// Time for one frame: 60 a second.
pub const FRAME_INTERVAL: Duration = Duration::from_micros(16_667);

/// The frames so far.
#[derive(Debug, Default)]
pub struct FramePace {
    /// When the frames drawn so far would be through at 60 a second. One frame may be drawn ahead of it.
    paid_until: Option<Instant>,
    waits_since: Option<Instant>,
}

impl FramePace {
    /// Something is to be drawn now. Whether it may be; if not, it waits until [`deadline`](Self::deadline).
    pub fn begin_frame(&mut self, now: Instant) -> bool {
        if self.earliest().is_some_and(|earliest| now < earliest) {
            self.waits_since.get_or_insert(now);
            return false;
        }
        self.waits_since = None;
        self.paid_until = Some(self.paid_until.unwrap_or(now).max(now) + FRAME_INTERVAL);
        true
    }

    /// When what waits is drawn even if nothing else happens. At once if nothing is known to wait.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        let late = self.waits_since.map(|since| since + FRAME_INTERVAL);
        self.earliest().max(late).or(self.paid_until)
    }

    fn earliest(&self) -> Option<Instant> {
        self.paid_until.and_then(|paid| paid.checked_sub(FRAME_INTERVAL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When each of the chunks is drawn that come at these times, in microseconds.
    fn drawn(chunks: &[u64]) -> (usize, Vec<u64>) {
        let start = Instant::now();
        let at = |us: u64| start + Duration::from_micros(us);
        let (mut pace, mut frames, mut drawn, mut waiting) = (FramePace::default(), 0, Vec::new(), 0);
        let mut draw = |pace: &mut FramePace, now: Instant, waiting: &mut usize| {
            if pace.begin_frame(now) {
                frames += 1;
                let us = u64::try_from((now - start).as_micros()).expect("small");
                drawn.extend(std::iter::repeat_n(us, std::mem::take(waiting)));
            }
        };
        for (index, &chunk) in chunks.iter().enumerate() {
            waiting += 1;
            draw(&mut pace, at(chunk), &mut waiting);
            let next = chunks.get(index + 1).map_or(at(u64::MAX / 1_000_000), |&next| at(next));
            if let Some(deadline) = pace.deadline().filter(|deadline| waiting > 0 && *deadline < next) {
                draw(&mut pace, deadline, &mut waiting);
            }
        }
        (frames, drawn)
    }

    fn delays(chunks: &[u64]) -> Vec<u64> {
        let (_, drawn) = drawn(chunks);
        assert_eq!(drawn.len(), chunks.len(), "all of them are drawn");
        let mut delays: Vec<u64> = drawn.iter().zip(chunks).map(|(drawn, came)| drawn - came).collect();
        delays.sort_unstable();
        delays
    }

    #[test]
    fn what_comes_alone_is_drawn_at_once() {
        let slow: Vec<u64> = (0..50).map(|index| index * 17_000).collect();
        assert!(delays(&slow).iter().all(|&delay| delay == 0));
    }

    #[test]
    fn a_burst_is_drawn_sixty_times_a_second() {
        let chunks: Vec<u64> = (0..10_000).map(|index| index * 200).collect();
        let (frames, _) = drawn(&chunks);
        assert!((115..=122).contains(&frames), "{frames} in two seconds");
        assert!(delays(&chunks).last().is_some_and(|&longest| longest <= 17_000));
    }

    #[test]
    fn of_a_hundred_chunks_a_second_most_are_drawn_at_once_and_all_within_a_frame() {
        let chunks: Vec<u64> = (0..1_000).map(|index| index * 10_000).collect();
        let (frames, _) = drawn(&chunks);
        assert!(frames <= 602, "{frames} in ten seconds");
        let delays = delays(&chunks);
        assert!(delays[580] == 0 && delays[999] <= 16_667, "{} {}", delays[580], delays[999]);
    }

    #[test]
    fn the_last_piece_is_not_forgotten() {
        assert_eq!(delays(&[0, 1, 2, 3]).len(), 4);
    }
}
