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
use cohab_shell_state::shell::Shell;
use cohab_system::process::surroundings::Surroundings;
use world::World;

use crate::shell_check::{
    self, Start,
    facts::{Facts, milliseconds},
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

/// Most further rounds of measuring commands.
const MORE_ROUNDS: usize = 2;

/// One figure next to its budget, in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    /// For programs.
    pub id: &'static str,
    /// What was measured, for people.
    pub text: String,
    /// The median; absent if it could not be measured.
    pub value_ms: Option<f64>,
    /// The 10th and the 90th percentile: how far the measurements lie apart.
    pub spread_ms: Option<(f64, f64)>,
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
        let surroundings = Surroundings::of_this_process();
        let examine = || shell_check::probe::examine(&start, &surroundings, &seen).ok();
        let facts = examine();
        let relay = relayed(facts.as_ref(), || examine().and_then(|facts| facts.relay).map(|relay| relay.relayed));
        let program = facts.as_ref().map_or_else(|| "/bin/bash".into(), |facts| facts.shell.path.clone());
        let world = World::new(&program, Arc::clone(&seen)).ok();
        let mut measured = world.as_ref().map_or_else(|| figures([None; 3], None), in_world);
        measured.insert(2, relay);
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
    let Ok((measured, world)) = finished else { return Ok(figures([None; 3], None)) };
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
    figures([added(&keys), Figure::of(&glyphs, 0.0), added(&starts)], quantile(&glyphs, 99))
}

/// A median with its spread, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Figure {
    median: f64,
    spread: (f64, f64),
}

impl Figure {
    /// The figure of these times, less `base`; nothing of nothing.
    fn of(times: &[Duration], base: f64) -> Option<Self> {
        let [low, median, high] = [10, 50, 90].map(|percent| quantile(times, percent).map(|value| value - base));
        Some(Self { median: median?, spread: (low?, high?) })
    }
}

fn measured(id: &'static str, text: &str, figure: Option<Figure>, budget_ms: f64) -> Measured {
    let (value_ms, spread_ms) = (figure.map(|figure| figure.median), figure.map(|figure| figure.spread));
    Measured { id, text: text.into(), value_ms, spread_ms, p99_ms: None, budget_ms }
}

fn figures([echo, glyph, start]: [Option<Figure>; 3], glyph_p99: Option<f64>) -> Vec<Measured> {
    let glyph = measured("glyph", "a piece of an answer to the screen", glyph, GLYPH_BUDGET_MS);
    vec![
        measured("echo", "a key to its echo, added by cohab", echo, ECHO_BUDGET_MS),
        Measured { p99_ms: glyph_p99, ..glyph },
        measured("start", "the start to the first prompt, added", start, START_BUDGET_MS),
    ]
}

/// Commands in the shell of these facts. A machine that is busy for a moment is no fault: a median over the budget is taken again, with
/// the times of further rounds.
fn relayed(facts: Option<&Facts>, again: impl Fn() -> Option<Vec<Duration>>) -> Measured {
    let is_fish = facts.is_some_and(|facts| facts.shell.kind == Shell::Fish);
    let budget_ms = if is_fish { FISH_RELAY_BUDGET_MS } else { RELAY_BUDGET_MS };
    let relay = facts.and_then(|facts| facts.relay.as_ref());
    let times = relay.map(|relay| relay.relayed.clone()).unwrap_or_default();
    measured("relay", "a command in your shell, prompt to prompt", settled(times, budget_ms, again), budget_ms)
}

fn settled(mut times: Vec<Duration>, budget_ms: f64, again: impl Fn() -> Option<Vec<Duration>>) -> Option<Figure> {
    let mut figure = Figure::of(&times, 0.0)?;
    for _ in 0..MORE_ROUNDS {
        if figure.median <= budget_ms {
            break;
        }
        times.extend(again()?);
        figure = Figure::of(&times, 0.0)?;
    }
    Some(figure)
}

/// Times of the same thing without cohab and with it.
#[derive(Debug, Default)]
struct Pair {
    plain: Vec<Duration>,
    ours: Vec<Duration>,
}

/// What cohab adds to the median without it.
fn added(pair: &Pair) -> Option<Figure> {
    Figure::of(&pair.ours, quantile(&pair.plain, 50)?)
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
        assert_eq!(added(&pair), Some(Figure { median: 1.0, spread: (1.0, 1.0) }));
        assert_eq!(Figure::of(&times, 1.0), Some(Figure { median: 50.0, spread: (10.0, 90.0) }));
    }

    #[test]
    fn a_moment_of_load_is_measured_again() {
        let times = |ms: &[u64]| ms.iter().map(|ms| Duration::from_millis(*ms)).collect::<Vec<_>>();
        let median =
            |first: &[u64], next: &[u64]| settled(times(first), 3.0, || Some(times(next))).map(|figure| figure.median);
        assert_eq!(median(&[1, 2, 9], &[100]), Some(2.0), "one round is enough");
        assert_eq!(median(&[7, 8, 9], &[1, 2, 2, 2]), Some(2.0), "the load was over in the next one");
        assert_eq!(median(&[7, 8, 9], &[7, 7]), Some(7.0), "it is really slow");
        assert_eq!(median(&[], &[1]), None);
    }

    #[test]
    fn what_is_slow_or_unknown_is_a_warning() {
        let figure = |median| Some(Figure { median, spread: (0.0, 99.0) });
        let verdicts: Vec<FindingVerdict> =
            figures([figure(0.2), None, figure(9.0)], None).iter().map(Measured::verdict).collect();
        assert_eq!(verdicts, [FindingVerdict::Ok, FindingVerdict::Warn, FindingVerdict::Warn]);
    }
}
