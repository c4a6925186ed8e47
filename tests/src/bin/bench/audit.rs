//! Measures the wait of an action for its audit record, and the cost of recording its end.

use std::time::Instant;

use cohab_e2e::Home;
use cohab_store::audit::{
    AuditLog, Kept, Places,
    record::{Consent, Deed, Event, Note},
};
use jiff::Timestamp;

use crate::report::{Report, Samples};

const MEASURE: &str = "audit";
const ACTIONS: usize = 25;
const ACTION_MS: f64 = 2.0;

fn note(event: Event) -> Note {
    Note { at: Timestamp::now(), session: "s".into(), turn: "t".into(), keep_days: 30, event }
}

fn action(call: String) -> Event {
    Event::Action {
        call,
        tool: "bash".into(),
        does: Deed::Run,
        text: "cargo test --workspace -- --nocapture".into(),
        cwd: "/home/ann/shop".into(),
        verdict: "ask".into(),
        reasons: vec!["`cargo test` may run any program".into()],
        consent: Consent::Asked,
        rule: String::new(),
        typed: String::new(),
    }
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return report.unmeasured(MEASURE, "an action", &error.to_string()),
    };
    let home = Home::new();
    let log = AuditLog::at(Places::of(&home.paths()));
    let held = log.hold();
    let mut samples = Samples::default();
    for number in 0..rounds * ACTIONS {
        let call = number.to_string();
        let started = Instant::now();
        let kept = runtime.block_on(log.keep_now(note(action(call.clone()))));
        samples.push(started.elapsed());
        if kept != Kept::Yes {
            return report.unmeasured(MEASURE, "an action", "it could not be kept");
        }
        log.keep(note(Event::Done { call, outcome: "done".into() }));
    }
    drop(held);
    report.samples(MEASURE, "an action before it runs", "ms", &samples);
    report.at_most(MEASURE, "an action before it runs, p99", samples.quantile(0.99), ACTION_MS, "ms");
}
