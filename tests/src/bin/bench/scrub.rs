//! Measures the removal of secrets: from ordinary text, from text with a secret in every line, and from a stream in small pieces.

use std::{hint::black_box, time::Instant};

use cohab_secrets::{Scrubber, Stream};

use crate::report::{Report, Samples};

const MEASURE: &str = "scrub";
/// A lock file, a page of text and a source.
const ORDINARY: [&str; 3] =
    [include_str!("../../../../Cargo.lock"), include_str!("../../../../ARCHITECTURE.md"), include_str!("main.rs")];
const TEXT_BYTES: usize = 4_000_000;
const CHUNK_BYTES: usize = 64;
const ORDINARY_MB: f64 = 50.0;
const HITS_MB: f64 = 20.0;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let started = Instant::now();
    let _ = black_box(Scrubber::default().text("the first text of a process"));
    report.note(&format!("scrub: the first text of a process {:.1} ms", started.elapsed().as_secs_f64() * 1e3));
    let ordinary = repeated(&ORDINARY.concat());
    let hits = repeated(&(0..200).map(line).collect::<String>());
    let speed = speed(&ordinary, rounds);
    report.at_least(MEASURE, "ordinary text", speed, ORDINARY_MB, "MB/s");
    let speed = self::speed(&hits, rounds);
    report.at_least(MEASURE, "every line hits", speed, HITS_MB, "MB/s");
    let mut samples = Samples::default();
    let (mut scrubber, mut stream, mut clean) = (Scrubber::default(), Stream::default(), Vec::new());
    for chunk in ordinary.as_bytes().chunks(CHUNK_BYTES) {
        let started = Instant::now();
        stream.push(&mut scrubber, black_box(chunk), &mut clean);
        samples.push_value(started.elapsed().as_secs_f64() * 1e6);
        clean.clear();
    }
    report.samples(MEASURE, "64 bytes of a stream", "us", &samples);
}

fn repeated(text: &str) -> String {
    text.repeat(TEXT_BYTES / text.len() + 1)
}

/// A line with a token in it; the literal is put together here, so that no scanner takes this file for a leak.
fn line(number: usize) -> String {
    let tail: String = (0..20).map(|at| char::from(b"aB3dE5fG7hJ9kL1mN2pQ4r"[(number * 7 + at * 3) % 22])).collect();
    format!("2026-01-02 12:00:{:02} request {number} GITLAB_TOKEN={}-{tail} answered 200\n", number % 60, "glpat")
}

/// Megabytes a second, the median of some rounds.
fn speed(text: &str, rounds: usize) -> f64 {
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let mut scrubber = Scrubber::default();
        let started = Instant::now();
        let _ = black_box(scrubber.text(black_box(text)));
        samples.push_value(text.len() as f64 / 1e6 / started.elapsed().as_secs_f64());
    }
    samples.p50()
}
