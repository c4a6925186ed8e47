//! Measures the time from a chunk at the model server to its glyph on the terminal, and from Enter to the request at the model server.

use std::{
    num::NonZeroU16,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants::{self, COHAB},
    pty::Pty,
    report::{Report, Samples},
    stream_chunks::{PACE, chunk},
    stream_cost,
};

const SHORT_CHUNKS: usize = 500;
const LONG_CHUNKS: usize = 8_000;
const FAST_PACE: Duration = Duration::from_millis(2);
const GLYPH_MS: f64 = 1.5;
const LATE_GLYPH_MS: f64 = 20.0;
const REQUEST_MS: f64 = 10.0;
/// A long answer may be slower than a short one, and its end slower than its start, by this factor and a tenth of a millisecond of
/// noise.
const GROWTH: f64 = 1.2;
const NOISE_MS: f64 = 0.1;
/// With the fast pace most pieces wait for a frame.
const FAST_GLYPH_MS: f64 = 17.0;

pub(crate) fn measure(report: &mut Report, rounds: usize, is_fast: bool) {
    if !contestants::has_cohab() {
        report.unmeasured("stream", COHAB, "it was not built");
        return;
    }
    let short = glyphs(SHORT_CHUNKS, PACE);
    report.samples("stream", "chunk to glyph, 500 chunks", "ms", &short);
    report.at_most("stream", "chunk to glyph, 500 chunks, p50", short.p50(), GLYPH_MS, "ms");
    report.at_most("stream", "chunk to glyph, 500 chunks, p99", short.quantile(0.99), LATE_GLYPH_MS, "ms");
    let long = glyphs(LONG_CHUNKS, if is_fast { FAST_PACE } else { PACE });
    report.samples("stream", "chunk to glyph, 8,000 chunks", "ms", &long);
    let bar = if is_fast { FAST_GLYPH_MS } else { short.p50() * GROWTH + NOISE_MS };
    report.at_most("stream", "chunk to glyph, 8,000 chunks, p50", long.p50(), bar, "ms");
    let (first, last) = (long.part(0, SHORT_CHUNKS).p50(), long.part(LONG_CHUNKS - SHORT_CHUNKS, SHORT_CHUNKS).p50());
    report.at_most("stream", "last 500 of 8,000, p50", last, first * GROWTH + NOISE_MS, "ms");
    stream_cost::measure(report);
    requests(report, rounds);
}

/// One answer of `count` chunks; the delay of each.
fn glyphs(count: usize, pace: Duration) -> Samples {
    let sent = Arc::new(Mutex::new(Vec::with_capacity(count)));
    let for_server = Arc::clone(&sent);
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| {
        let sent = Arc::clone(&for_server);
        let make = move |index: usize| {
            sent.lock().expect("no thread panics with it").push(Instant::now());
            chunk(index)
        };
        Answer::generated(count, make).paced(pace)
    });
    let home = Home::with_model(&server);
    let mut pty = contestants::cohab().at_prompt(&home);
    pty.send("? stream\r");
    let seen = watch(&mut pty, count);
    let sent = sent.lock().expect("no thread panics with it");
    let mut samples = Samples::default();
    sent.iter().zip(&seen).for_each(|(sent, seen)| samples.push(seen.saturating_duration_since(*sent)));
    samples
}

/// When each word was first on the screen. Words come in order, and one screen holds several.
fn watch(pty: &mut Pty, count: usize) -> Vec<Instant> {
    let size = |count| NonZeroU16::new(count).expect("above zero");
    let mut screen = vt100::Parser::new(size(24), size(80), 0);
    let mut seen = Vec::with_capacity(count);
    while seen.len() < count {
        let bytes = pty.read();
        let now = Instant::now();
        screen.process(&bytes);
        let Some(newest) = newest_word(&screen.screen().contents()) else { continue };
        // A word that scrolled by between two reads was there before the one that is still visible.
        if newest >= seen.len() {
            seen.resize(newest + 1, now);
        }
    }
    seen
}

/// The last word of the answer on a screen.
fn newest_word(text: &str) -> Option<usize> {
    text.rmatch_indices('w').find_map(|(at, _)| text.get(at + 1..at + 6)?.parse().ok())
}

/// From Enter to the request at the model server.
fn requests(report: &mut Report, rounds: usize) {
    let answers = (0..rounds).map(|round| Answer::text(&format!("reply-{round}.")));
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let mut pty = contestants::cohab().at_prompt(&home);
    let mut samples = Samples::default();
    for round in 0..rounds {
        let question = format!("? question-{round}.");
        pty.send(&question);
        pty.read_until(&question);
        let enter = Instant::now();
        pty.send("\r");
        let calls = server.wait_for_calls(round + 1);
        samples.push(calls[round].received_at - enter);
        pty.read_until(&format!("reply-{round}."));
        pty.read_until(PROMPT);
    }
    report.samples("stream", "Enter to request", "ms", &samples);
    report.at_most("stream", "Enter to request, p50", samples.p50(), REQUEST_MS, "ms");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream_chunks::word;

    #[test]
    fn the_newest_word_is_found_between_other_text() {
        assert_eq!(newest_word(&format!("{} {}\n waiting w 1234", word(7), word(8))), Some(8));
        assert_eq!(newest_word("w123 what w0000"), None);
    }
}
