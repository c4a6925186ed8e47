//! `cohab doctor --latency`: measures times on this machine and compares them with their budgets.
//!
//! Keys, start and answers are measured with the user's kind of shell, but with start-up files and a daemon of its own in a private
//! folder, and a model server in this process: nothing of the user's is touched and nothing leaves the machine. Relayed commands
//! are measured as `cohab shell-check` does, in a hidden shell with the user's own start-up files.

mod hidden;
mod model_server;
mod streams;
mod typing;
mod world;

use std::{
    io::{self, IsTerminal, Write},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use cohab_daemon_link::daemon_control::{self, DaemonCommand};
use cohab_process::surroundings::Surroundings;
use cohab_shell_state::shell::Shell;
use world::World;

use crate::shell_check::{
    self, Start,
    facts::{Facts, median, milliseconds},
    finding::FindingVerdict,
};

/// A key may take this much longer than without cohab.
const ECHO_BUDGET_MS: f64 = 0.5;
/// From a piece of an answer at the model server to its letters on the terminal.
const GLYPH_BUDGET_MS: f64 = 1.5;
/// A command in the live shell, prompt to prompt.
const RELAY_BUDGET_MS: f64 = 3.0;
/// The same in fish, whose own prompt takes longer.
const FISH_RELAY_BUDGET_MS: f64 = 9.0;
/// The first prompt may come this much later than without cohab.
const START_BUDGET_MS: f64 = 5.0;

/// One figure next to its budget, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// For programs.
    pub id: &'static str,
    /// What was measured, for people.
    pub text: String,
    /// The median; absent if it could not be measured.
    pub value_ms: Option<f64>,
    /// The 99th percentile, where there are enough samples.
    pub p99_ms: Option<f64>,
    /// What the median may be.
    pub budget_ms: f64,
}

impl Measured {
    /// A slow machine is no fault, so nothing here fails.
    pub fn verdict(&self) -> FindingVerdict {
        if self.value_ms.is_some_and(|value| value <= self.budget_ms) {
            FindingVerdict::Ok
        } else {
            FindingVerdict::Warn
        }
    }
}

/// The user does not want to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stopped;

/// Measures everything, within 20 s.
///
/// # Errors
/// The user stopped it.
pub(super) async fn measure(start: Start) -> Result<Vec<Measured>, Stopped> {
    let stop = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&stop);
    let mut measuring = tokio::task::spawn_blocking(move || {
        progress("measuring commands in your shell");
        let facts = shell_check::probe::examine(&start, &Surroundings::of_this_process(), &seen).ok();
        let program = facts.as_ref().map_or_else(|| "/bin/bash".into(), |facts| facts.shell.path.clone());
        let world = World::new(&program, seen).ok();
        let mut measured = world.as_ref().map_or_else(|| figures(None, None, None, None), in_world);
        measured.insert(2, relayed(facts.as_ref()));
        progress("");
        (measured, world)
    });
    let finished = tokio::select! {
        finished = &mut measuring => finished,
        _ = tokio::signal::ctrl_c() => {
            stop.store(true, Ordering::Relaxed);
            measuring.await
        }
    };
    let Ok((measured, world)) = finished else { return Ok(figures(None, None, None, None)) };
    if let Some(world) = &world {
        // Its own daemon, which is no more use. What it says about its end is of none either.
        let _ = daemon_control::run(DaemonCommand::Stop, &world.paths, &mut io::sink(), &mut io::sink()).await;
    }
    if stop.load(Ordering::Relaxed) { Err(Stopped) } else { Ok(measured) }
}

fn in_world(world: &World) -> Vec<Measured> {
    progress("measuring keys and starts");
    let (keys, starts) = (typing::echoes(world), typing::starts(world));
    progress("measuring an answer");
    let glyphs = streams::glyphs(world);
    figures(added(&keys), added(&starts), quantile(&glyphs, 50), quantile(&glyphs, 99))
}

fn figures(echo: Option<f64>, start: Option<f64>, glyph: Option<f64>, glyph_p99: Option<f64>) -> Vec<Measured> {
    let plain =
        |id, text: &str, value_ms, budget_ms| Measured { id, text: text.into(), value_ms, p99_ms: None, budget_ms };
    vec![
        plain("echo", "a key to its echo, added by cohab", echo, ECHO_BUDGET_MS),
        Measured { p99_ms: glyph_p99, ..plain("glyph", "a piece of an answer to the screen", glyph, GLYPH_BUDGET_MS) },
        plain("start", "the start to the first prompt, added", start, START_BUDGET_MS),
    ]
}

fn relayed(facts: Option<&Facts>) -> Measured {
    let is_fish = facts.is_some_and(|facts| facts.shell.kind == Shell::Fish);
    let times = facts.and_then(|facts| facts.relay.as_ref()).map(|relay| relay.relayed.as_slice()).unwrap_or_default();
    Measured {
        id: "relay",
        text: "a command in your shell, prompt to prompt".into(),
        value_ms: median(times).map(milliseconds),
        p99_ms: None,
        budget_ms: if is_fish { FISH_RELAY_BUDGET_MS } else { RELAY_BUDGET_MS },
    }
}

/// Times of the same thing without cohab and with it.
#[derive(Debug, Default)]
struct Pair {
    plain: Vec<Duration>,
    ours: Vec<Duration>,
}

/// What cohab adds to the median.
fn added(pair: &Pair) -> Option<f64> {
    Some(quantile(&pair.ours, 50)? - quantile(&pair.plain, 50)?)
}

/// The `percent` quantile in milliseconds; nothing of nothing.
fn quantile(times: &[Duration], percent: usize) -> Option<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    let at = (sorted.len() * percent / 100).min(sorted.len().checked_sub(1)?);
    sorted.get(at).copied().map(milliseconds)
}

/// One line that the next one takes the place of; only where somebody looks.
fn progress(what: &str) {
    let mut errors = io::stderr();
    if errors.is_terminal() {
        let _ = write!(errors, "\r\x1b[K{what}");
        let _ = errors.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_and_what_is_added() {
        let times: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!((quantile(&times, 50), quantile(&times, 99)), (Some(51.0), Some(100.0)));
        assert_eq!(quantile(&[], 50), None);
        let pair = Pair { plain: vec![Duration::from_millis(2)], ours: vec![Duration::from_millis(3)] };
        assert_eq!(added(&pair), Some(1.0));
    }

    #[test]
    fn what_is_slow_or_unknown_is_a_warning() {
        let verdicts: Vec<FindingVerdict> =
            figures(Some(0.2), Some(9.0), None, None).iter().map(Measured::verdict).collect();
        assert_eq!(verdicts, [FindingVerdict::Ok, FindingVerdict::Warn, FindingVerdict::Warn]);
    }
}
