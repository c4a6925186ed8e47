//! The wait before a request is repeated, counted down on the screen. The only thing that ticks, and only while it is shown.

use std::time::{Duration, Instant};

use cohab_protocol::{Notice, NoticeKind};

/// A wait and what of it is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Countdown {
    notice: Notice,
    due: Instant,
}

impl Countdown {
    /// From `now` on for as long as `notice` says; `None` for another kind of notice.
    pub(crate) fn of(notice: &Notice, now: Instant) -> Option<Self> {
        let NoticeKind::Retry { after_ms } = notice.kind else { return None };
        let due = now.checked_add(Duration::from_millis(after_ms))?;
        Some(Self { notice: notice.clone(), due })
    }

    /// The notice with the time that is left.
    pub(crate) fn notice(&self) -> &Notice {
        &self.notice
    }

    /// When another number is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let NoticeKind::Retry { after_ms } = self.notice.kind else { return None };
        // What is shown is rounded up, so it changes when a whole second is left.
        let next_ms = after_ms.checked_sub(1)? / 1_000 * 1_000;
        self.due.checked_sub(Duration::from_millis(next_ms))
    }

    /// Returns whether another number is to be shown.
    pub(crate) fn tick(&mut self, now: Instant) -> bool {
        let is_due = self.deadline().is_some_and(|deadline| now >= deadline);
        if is_due {
            let left = self.due.saturating_duration_since(now);
            let left_ms = u64::try_from(left.as_millis()).unwrap_or(u64::MAX).div_ceil(1_000) * 1_000;
            self.notice.kind = NoticeKind::Retry { after_ms: left_ms };
        }
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(countdown: &Countdown) -> u64 {
        match countdown.notice().kind {
            NoticeKind::Retry { after_ms } => after_ms,
            kind => panic!("{kind:?}"),
        }
    }

    fn start(after_ms: u64, now: Instant) -> Countdown {
        let notice = Notice { turn_id: None, kind: NoticeKind::Retry { after_ms }, text: "busy".into() };
        Countdown::of(&notice, now).expect("it is a wait")
    }

    #[test]
    fn each_second_is_shown_once_and_then_nothing_ticks() {
        let start_at = Instant::now();
        let mut countdown = start(2_500, start_at);
        let mut seen = vec![shown(&countdown)];
        while let Some(deadline) = countdown.deadline() {
            assert!(!countdown.tick(deadline - Duration::from_millis(1)));
            assert!(countdown.tick(deadline));
            seen.push(shown(&countdown));
        }
        assert_eq!(seen, [2_500, 2_000, 1_000, 0]);
    }

    #[test]
    fn a_late_tick_shows_what_is_really_left() {
        let start_at = Instant::now();
        let mut countdown = start(60_000, start_at);
        assert!(countdown.tick(start_at + Duration::from_millis(57_300)));
        assert_eq!(shown(&countdown), 3_000);
        assert!(countdown.tick(start_at + Duration::from_secs(90)));
        assert_eq!((shown(&countdown), countdown.deadline()), (0, None));
    }
}
