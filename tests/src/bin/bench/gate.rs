//! Measures the gate on a usual line and on a line of a megabyte.

use std::{hint::black_box, time::Instant};

use cohab_line_classifier::{Names, judge};

use crate::report::{Report, Samples};

const MEASURE: &str = "gate";
const LINES: &str = include_str!("../../../../client/crates/line-classifier/src/fixtures/held_out.tsv");
const LINE_US: f64 = 50.0;
const HUGE_MS: f64 = 10.0;
const HUGE_BYTES: usize = 1_000_000;

/// A machine on which few words are commands; a look at the disk is not the gate's own time.
struct Few;

impl Names for Few {
    fn resolves(&self, name: &str) -> bool {
        matches!(name, "find" | "sort" | "git" | "ls" | "cat" | "grep" | "make" | "sudo" | "test")
    }

    fn exists(&self, _: &str) -> bool {
        false
    }
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let lines: Vec<&str> = LINES.lines().filter_map(|row| row.split_once('\t')).map(|(_, line)| line).collect();
    let _ = black_box(judge("warm up", &Few));
    let mut samples = Samples::default();
    for _ in 0..rounds {
        for line in &lines {
            let started = Instant::now();
            let _ = black_box(judge(line, &Few));
            samples.push_value(started.elapsed().as_secs_f64() * 1e6);
        }
    }
    report.samples(MEASURE, "a line", "us", &samples);
    report.at_most(MEASURE, "a line, p99", samples.quantile(0.99), LINE_US, "us");
    for unit in ["what is this ", "a'", "x"] {
        let huge = unit.repeat(HUGE_BYTES / unit.len());
        let started = Instant::now();
        let _ = black_box(judge(&huge, &Few));
        let subject = format!("a megabyte of {:?}", unit.trim());
        report.at_most(MEASURE, &subject, started.elapsed().as_secs_f64() * 1e3, HUGE_MS, "ms");
    }
}
