//! Measures the conversion of bytes to events, without a network.

use std::time::{Duration, Instant};

use cohab_model_api::ModelEvent;
use cohab_models::replay::{self, Replay};

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
/// Size of one read of a TLS connection.
const CHUNK_BYTES: usize = 4096;
const TINY_LINE_BYTES: usize = 64 * 1024;
const TINY_MS: f64 = 200.0;
/// A word of an event just below the limit of a line.
const LONG_WORD_BYTES: usize = 8 * 1024 * 1024 - 1024;
const LONG_MS: f64 = 1_000.0;
/// Ten times the line: it passes from form to form, is kept for the history, and the last wire's buffers may still exist.
const LONG_MIB: f64 = 80.0;
const MANY_EVENTS: usize = 100_000;
const MANY_MS: f64 = 1_000.0;

pub(super) fn measure(report: &mut Report, rounds: usize) {
    let forms: Vec<&Form> = replay::wires().filter_map(|wire| FORMS.iter().find(|form| form.wire == wire)).collect();
    if forms.len() != replay::wires().count() {
        report.unmeasured(MEASURE, "bytes to events", "a wire has no answer written down here");
    }
    // First the cases that need memory, before the allocator keeps any from other measures.
    let before = resident_mib(std::process::id());
    forms.iter().for_each(|form| long_lines(report, form, before));
    forms.iter().for_each(|form| speed(report, form, rounds));
    let events = "data: {\"choices\":[]}\n\n".repeat(MANY_EVENTS);
    let took = read("openai-chat", events.as_bytes(), events.len()).0;
    report.at_most(MEASURE, "100,000 events in one chunk", ms(took), MANY_MS, "ms");
}

fn of(form: &Form, what: &str) -> String {
    format!("{}: {what}", form.wire)
}

fn long_lines(report: &mut Report, form: &Form, before_mib: f64) {
    let long = form.of_word(&"x".repeat(LONG_WORD_BYTES));
    reset_peak(std::process::id());
    let (took, seen) = read(form.wire, long.as_bytes(), CHUNK_BYTES);
    assert_eq!(seen, LONG_WORD_BYTES, "{} was read wrong", form.wire);
    report.at_most(MEASURE, &of(form, "8 MiB line"), ms(took), LONG_MS, "ms");
    // The line itself exists twice: as written, and as the source of the chunks.
    let own_mib = 2.0 * LONG_WORD_BYTES as f64 / f64::from(1 << 20);
    report.at_most(
        MEASURE,
        &of(form, "8 MiB line, memory"),
        peak_mib(std::process::id()) - before_mib - own_mib,
        LONG_MIB,
        "MiB",
    );
    drop(long);

    let tiny = form.of_word(&"x".repeat(TINY_LINE_BYTES));
    let took = read(form.wire, tiny.as_bytes(), 1).0;
    report.at_most(MEASURE, &of(form, "64 KiB line by the byte"), ms(took), TINY_MS, "ms");
}

fn speed(report: &mut Report, form: &Form, rounds: usize) {
    let (answer, text_bytes) = form.of_bytes(ANSWER_BYTES);
    let (mut speed, mut framing) = (Samples::default(), Samples::default());
    for _ in 0..rounds {
        let (took, seen) = read(form.wire, answer.as_bytes(), CHUNK_BYTES);
        assert_eq!(seen, text_bytes, "{} was read wrong", form.wire);
        speed.push_value(megabytes(&answer) / took.as_secs_f64());
        let chunks = chunks(answer.as_bytes(), CHUNK_BYTES);
        let start = Instant::now();
        let payloads = of_wire(form.wire).payloads(chunks);
        framing.push_value(megabytes(&answer) / start.elapsed().as_secs_f64());
        drop(payloads);
    }
    report.samples(MEASURE, &of(form, "bytes to payloads"), "MB/s", &framing);
    report.at_least(MEASURE, &of(form, "bytes to events, p50"), speed.p50(), MB_PER_S, "MB/s");
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

/// Chunks that are made on demand, as from a connection.
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
