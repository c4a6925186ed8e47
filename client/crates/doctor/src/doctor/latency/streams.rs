//! Measures the time from a piece of an answer at the model server to its letters on the terminal.

use std::{
    sync::PoisonError,
    time::{Duration, Instant},
};

use super::{
    hidden::Hidden,
    model_server,
    world::{PROMPT, World},
};

const WORDS: usize = 250;
/// For the whole answer: its pace makes it 2.5 s.
const LIMIT: Duration = Duration::from_secs(8);

/// The delay of each word; empty if there was no answer.
pub(super) fn glyphs(world: &World) -> Vec<Duration> {
    let Ok((port, sent)) = model_server::start(WORDS) else { return Vec::new() };
    let variables = [
        ("COHAB_PROVIDER", "openai-chat".to_owned()),
        ("COHAB_BASE_URL", format!("http://127.0.0.1:{port}/v1")),
        ("COHAB_MODEL", "m".to_owned()),
        ("COHAB_API_KEY", "none".to_owned()),
    ];
    let Ok(mut shell) = Hidden::start(world, world.arguments(true, &variables)) else { return Vec::new() };
    if shell.until(PROMPT).is_none() || shell.keys(b"? go").is_none() {
        return Vec::new();
    }
    if shell.until("go").is_none() || shell.keys(b"\r").is_none() {
        return Vec::new();
    }
    let seen = watch(&mut shell);
    let sent = sent.lock().unwrap_or_else(PoisonError::into_inner);
    sent.iter().zip(&seen).map(|(sent, seen)| seen.saturating_duration_since(*sent)).collect()
}

/// When each word first came. They come in order; one that came with a later one came with it.
fn watch(shell: &mut Hidden) -> Vec<Instant> {
    let end = Instant::now() + LIMIT;
    let (mut seen, mut tail) = (Vec::with_capacity(WORDS), Vec::new());
    while seen.len() < WORDS {
        let Some(bytes) = shell.read(end) else { break };
        let now = Instant::now();
        tail.extend_from_slice(&bytes);
        let newest = newest_word(&tail);
        if newest.is_some_and(|newest| newest >= seen.len()) {
            seen.resize(newest.map_or(0, |newest| newest + 1).min(WORDS), now);
        }
        // A word may come in two reads.
        let useless = tail.len().saturating_sub(model_server::word(0).len() - 1);
        tail.drain(..useless);
    }
    seen
}

/// The greatest number of a word in these bytes.
fn newest_word(bytes: &[u8]) -> Option<usize> {
    let length = model_server::word(0).len();
    let number = |at: usize| {
        let digits = bytes.get(at + 1..at + length).filter(|digits| digits.iter().all(u8::is_ascii_digit))?;
        std::str::from_utf8(digits).ok()?.parse().ok()
    };
    memchr::memchr_iter(b'w', bytes).filter_map(number).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_word_is_found_between_other_bytes() {
        assert_eq!(newest_word(b"\x1b[2K w00007 w00012w 1 wait w0001"), Some(12));
        assert_eq!(newest_word(b"w"), None);
        assert_eq!(newest_word(b""), None);
    }
}
