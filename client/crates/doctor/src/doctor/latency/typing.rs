//! Measures a key to its echo and a start to its prompt, without cohab and with it, in turns.

use super::{
    Pair,
    hidden::Hidden,
    world::{PROMPT, World},
};

/// Letters that occur in no escape sequence of a prompt.
const LETTERS: [&str; 4] = ["Q", "W", "V", "Y"];
const ROUNDS: usize = 8;
const KEYS_PER_ROUND: usize = 24;
const STARTS: usize = 10;
/// An empty line again.
const CTRL_U: &[u8] = b"\x15";

/// Keys and their echoes; empty if one of the two shells did not come up.
pub(super) fn echoes(world: &World) -> Pair {
    let mut pair = Pair::default();
    let shells = (prompt(world, false), prompt(world, true));
    if let (Some(mut plain), Some(mut ours)) = shells {
        for _ in 0..ROUNDS {
            for (shell, times) in [(&mut plain, &mut pair.plain), (&mut ours, &mut pair.ours)] {
                for letter in LETTERS.iter().cycle().take(KEYS_PER_ROUND) {
                    let Some(before) = shell.keys(letter.as_bytes()) else { return Pair::default() };
                    let Some(echo) = shell.until(letter) else { return Pair::default() };
                    times.push(echo - before);
                }
                if shell.keys(CTRL_U).is_none() {
                    return Pair::default();
                }
            }
        }
    }
    pair
}

/// Starts to their prompts. The daemon is up by now, as it is for every shell but the first.
pub(super) fn starts(world: &World) -> Pair {
    let mut pair = Pair::default();
    for _ in 0..STARTS {
        for (is_ours, times) in [(false, &mut pair.plain), (true, &mut pair.ours)] {
            let Ok(mut shell) = Hidden::start(world, world.arguments(is_ours, &[])) else { break };
            let started = shell.started();
            let Some(prompt) = shell.until(PROMPT) else { break };
            times.push(prompt - started);
        }
    }
    pair
}

fn prompt(world: &World, is_ours: bool) -> Option<Hidden> {
    let mut shell = Hidden::start(world, world.arguments(is_ours, &[])).ok()?;
    shell.until(PROMPT)?;
    Some(shell)
}
