//! Shows how far a command is that takes longer than a second: percent, rate and remaining time. It writes to standard error, only at a
//! terminal, and leaves nothing behind.

use std::{
    io::{self, IsTerminal as _, Stderr, Write},
    time::{Duration, Instant},
};

use cohab_picture::scale;

/// A command that ends within this time shows nothing.
const QUIET: Duration = Duration::from_secs(1);
/// Time between two repaints.
const EVERY: Duration = Duration::from_millis(200);

/// The progress of a command, in bytes. Dropping it clears its line.
pub struct Progress<W: Write> {
    what: &'static str,
    /// `None` where nobody looks.
    out: Option<W>,
    began: Instant,
    shown: Option<Instant>,
}

impl Progress<Stderr> {
    /// Begins now. `what` is what happens: `checking the audit log`.
    pub fn new(what: &'static str) -> Self {
        let out = Some(io::stderr()).filter(Stderr::is_terminal);
        Self { what, out, began: Instant::now(), shown: None }
    }
}

impl<W: Write> Progress<W> {
    /// So many of `total` bytes are done.
    pub fn bytes(&mut self, done: u64, total: u64) {
        self.bytes_at(done, total, Instant::now());
    }

    fn bytes_at(&mut self, done: u64, total: u64, now: Instant) {
        let Some(out) = &mut self.out else { return };
        let is_due = match self.shown {
            None => now.duration_since(self.began) >= QUIET,
            Some(shown) => now.duration_since(shown) >= EVERY,
        };
        if is_due {
            self.shown = Some(now);
            let line = line(self.what, done, total, now.duration_since(self.began));
            // Progress that cannot be shown is no reason to fail.
            let _ = write!(out, "\r{line}\x1b[K").and_then(|()| out.flush());
        }
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        if let (Some(out), Some(_)) = (&mut self.out, self.shown) {
            let _ = write!(out, "\r\x1b[K").and_then(|()| out.flush());
        }
    }
}

fn line(what: &str, done: u64, total: u64, took: Duration) -> String {
    let rate = done as f64 / took.as_secs_f64().max(0.001);
    let percent = done.saturating_mul(100) / total.max(1);
    let left = Duration::try_from_secs_f64((total.saturating_sub(done) as f64 / rate.max(1.0)).ceil());
    let left =
        left.map_or_else(|_| String::new(), |left| format!("  {} left", scale::time(left.as_secs().max(1) * 1_000)));
    format!("{what}  {percent} %  {:.1} MB/s{left}", rate / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_much_how_fast_and_how_long() {
        let line = |done, total, ms| line("checking", done, total, Duration::from_millis(ms));
        assert_eq!(line(30_000_000, 120_000_000, 3_000), "checking  25 %  10.0 MB/s  9 s left");
        assert_eq!(line(1_000_000, 151_000_000, 1_000), "checking  0 %  1.0 MB/s  2 min 30 s left");
        assert_eq!(line(5, 5, 1_000), "checking  100 %  0.0 MB/s  1 s left");
    }

    #[test]
    fn what_is_quick_shows_nothing_and_the_end_clears_the_line() {
        let mut written = Vec::new();
        let began = Instant::now();
        let mut progress = Progress { what: "checking", out: Some(&mut written), began, shown: None };
        for ms in [0, 500, 999, 1_000, 1_100, 1_199, 1_200, 1_300] {
            progress.bytes_at(ms * 1_000, 2_000_000, began + Duration::from_millis(ms));
        }
        drop(progress);
        assert_eq!(
            String::from_utf8(written).expect("text"),
            "\rchecking  50 %  1.0 MB/s  1 s left\x1b[K\rchecking  60 %  1.0 MB/s  1 s left\x1b[K\r\x1b[K"
        );
        let mut quick = Vec::new();
        drop(Progress { what: "checking", out: Some(&mut quick), began, shown: None });
        assert!(quick.is_empty());
    }
}
