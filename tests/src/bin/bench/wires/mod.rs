//! Measures the reading of answers: bytes to events in this process, and from the model server to the client through the daemon.

mod answers;
mod live;
mod reading;

use crate::report::Report;

const MEASURE: &str = "wires";

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    reading::measure(report, rounds.div_ceil(4));
    live::measure(report, rounds);
}
