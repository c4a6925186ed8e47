//! Bytes to events, without a network.

use std::time::{Duration, Instant};

use cohabd::{
    agent::port::ModelEvent,
    provider::replay::{self, Replay},
};

use super::{
    MEASURE,
    answers::{FORMS, Form},
};
use crate::{
    process::{peak_mib, reset_peak, resident_mib},
    report::{Report, Samples},
};

const ANSWER_BYTES: usize = 16 * 1024 * 1024;
const MB_PER_S: f64 = 100.0;
/// What a read of a TLS connection gives.
const CHUNK_BYTES: usize = 4096;
const TINY_LINE_BYTES: usize = 64 * 1024;
const TINY_MS: f64 = 200.0;
/// A word of an event just below the limit of a line.
const LONG_WORD_BYTES: usize = 8 * 1024 * 1024 - 1024;
const LONG_MS: f64 = 1_000.0;
const MANY_EVENTS: usize = 100_000;
const MANY_MS: f64 = 1_000.0;

pub(super) fn measure(report: &mut Report, rounds: usize) {
    for wire in replay::wires() {
        match FORMS.iter().find(|form| form.wire == wire) {
            Some(form) => measure_form(report, form, rounds),
            None => report.unmeasured(MEASURE, wire, "no answer of it is written down here"),
        }
    }
    let events = "data: {\"choices\":[]}\n\n".repeat(MANY_EVENTS);
    let took = read("openai-chat", events.as_bytes(), events.len()).0;
    report.at_most(MEASURE, "100,000 events in one chunk", ms(took), MANY_MS, "ms");
}

fn measure_form(report: &mut Report, form: &Form, rounds: usize) {
    let of = |what: &str| format!("{}: {what}", form.wire);
    let (answer, text_bytes) = form.of_bytes(ANSWER_BYTES);
    let (mut speed, mut framing) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let (took, seen) = read(form.wire, answer.as_bytes(), CHUNK_BYTES);
        assert_eq!(seen, text_bytes, "{} was read wrong", form.wire);
        speed.push_value(megabytes(&answer) / took.as_secs_f64());
        let start = Instant::now();
        let payloads = of_wire(form.wire).payloads(chunks(answer.as_bytes(), CHUNK_BYTES));
        framing.push_value(megabytes(&answer) / start.elapsed().as_secs_f64());
        drop(payloads);
    }
    report.samples(MEASURE, &of("bytes to payloads"), "MB/s", &framing);
    report.at_least(MEASURE, &of("bytes to events, p50"), speed.p50(), MB_PER_S, "MB/s");

    let tiny = form.of_word(&"x".repeat(TINY_LINE_BYTES));
    let took = read(form.wire, tiny.as_bytes(), 1).0;
    report.at_most(MEASURE, &of("64 KiB line by the byte"), ms(took), TINY_MS, "ms");

    let long = form.of_word(&"x".repeat(LONG_WORD_BYTES));
    let before = resident_mib();
    reset_peak();
    let (took, seen) = read(form.wire, long.as_bytes(), CHUNK_BYTES);
    assert_eq!(seen, LONG_WORD_BYTES, "{} was read wrong", form.wire);
    report.at_most(MEASURE, &of("8 MiB line"), ms(took), LONG_MS, "ms");
    report.figure(MEASURE, &of("8 MiB line, peak memory above it"), peak_mib() - before, "MiB");
}

/// The time it takes to read an answer, and how much text it has.
fn read(wire: &str, answer: &[u8], chunk_bytes: usize) -> (Duration, usize) {
    let chunks = chunks(answer, chunk_bytes);
    let start = Instant::now();
    let events = of_wire(wire).events(chunks);
    let took = start.elapsed();
    let text = events.iter().map(|event| if let ModelEvent::TextDelta(text) = event { text.len() } else { 0 });
    (took, text.sum())
}

fn of_wire(wire: &str) -> Replay {
    Replay::of(wire).expect("it is in the list of wires")
}

/// Chunks that are made when they are asked for, as a connection does.
fn chunks(answer: &[u8], bytes: usize) -> impl Iterator<Item = Vec<u8>> + Send + Unpin + use<> {
    let answer = answer.to_vec();
    let count = answer.len().div_ceil(bytes);
    (0..count).map(move |index| answer[index * bytes..answer.len().min((index + 1) * bytes)].to_vec())
}

fn megabytes(answer: &str) -> f64 {
    answer.len() as f64 / 1e6
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1_000.0
}
