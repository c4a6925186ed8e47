//! A command that the agent runs in the live shell, against the same command typed.

use std::time::Instant;

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants::{self, COHAB},
    pty::Pty,
    report::{Report, Samples},
};

/// Calls in one answer of the model: they run one after the other, and the steps between them are what is measured.
const CALLS: usize = 16;
const ADDED_MS: f64 = 2.0;

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    if !contestants::has_cohab() {
        report.unmeasured("relay", COHAB, "it was not built");
        return;
    }
    let rounds = rounds.min(10);
    let answers = (0..rounds).flat_map(|round| [batch(round), Answer::text(&format!("end-of-{round}."))]);
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let mut pty = contestants::cohab().at_prompt(&home);
    let (mut typed, mut relayed) = (Samples::default(), Samples::default());
    for round in 0..rounds {
        for number in 0..CALLS {
            let line = command(round, number);
            pty.send(&line);
            pty.read_until(&line);
            let start = Instant::now();
            pty.send("\r");
            // The output first: the prompt may be drawn again before the command runs.
            pty.read_until(&output(round, number));
            typed.push(pty.read_until(PROMPT) - start);
        }
        relayed_round(&mut pty, round, &mut relayed);
    }
    report.samples("relay", "typed: Enter to prompt", "ms", &typed);
    report.samples("relay", "relayed: output to output", "ms", &relayed);
    report.at_most("relay", "relayed over typed, p50", relayed.p50() - typed.p50(), ADDED_MS, "ms");
}

/// `true`, and a word that stands in the output but not in the text of the command, which is shown in several places.
fn command(round: usize, number: usize) -> String {
    format!("true; echo out-{round}-$((100+{number})).")
}

fn output(round: usize, number: usize) -> String {
    format!("out-{round}-{}.", 100 + number)
}

fn batch(round: usize) -> Answer {
    (0..CALLS).fold(Answer::text("go. "), |answer, number| {
        answer.and_call("bash", &serde_json::json!({ "command": command(round, number) }))
    })
}

/// The time from the output of one command to the output of the next: one whole relay, prompt to prompt.
fn relayed_round(pty: &mut Pty, round: usize, relayed: &mut Samples) {
    pty.send("? relay\r");
    let mut last = pty.read_until(&output(round, 0));
    for number in 1..CALLS {
        let seen = pty.read_until(&output(round, number));
        relayed.push(seen - last);
        last = seen;
    }
    pty.read_until(&format!("end-of-{round}."));
    pty.read_until(PROMPT);
}
