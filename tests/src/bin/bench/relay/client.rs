//! Measures the real client with daemon and model server: a command of the agent against a typed one, and endless output.

use std::{
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use super::{
    MEASURE, of,
    shells::{self, Measured},
};
use crate::{
    contestants,
    process::{descriptors, pss_mib},
    pty::Pty,
    report::{Report, Samples},
};

/// Calls in one answer of the model: they run one after the other, and the steps between them are measured.
const CALLS: usize = 16;
const ROUNDS: usize = 64;
/// After this many calls the client's buffers have their final size.
const WARM_UP: usize = 8;
const ADDED_MS: f64 = 2.0;
const GROWTH_KIB: f64 = 512.0;
/// Noise of the allocator.
const FLAT_KIB: f64 = 64.0;
/// The conversation of all rounds fits, so that nothing is summed up in between.
const ROOMY: &str = "[context]\ncompact_over_messages = 10000\n[model]\ncontext_window_tokens = 1000000\n";
const ENDLESS: Duration = Duration::from_secs(5);
const CTRL_C_MS: f64 = 50.0;

pub(crate) fn measure(report: &mut Report, shell: &Measured) {
    if contestants::has_cohab() {
        many_relays(report, shell);
        endless_output(report, shell);
    } else {
        report.unmeasured(MEASURE, &of(shell, "client"), "it was not built");
    }
}

fn at_prompt(shell: &Measured, server: &ModelServer) -> (Home, Pty) {
    let program = shell.program.display().to_string();
    let home = Home::with_model(server).env("COHAB_APPROVAL", "all").env("SHELL", &program);
    shells::furnish(&home);
    home.write_config(ROOMY);
    let pty = contestants::cohab().at_prompt(&home);
    (home, pty)
}

fn many_relays(report: &mut Report, shell: &Measured) {
    let answers = (0..ROUNDS).flat_map(|round| [batch(round), Answer::text(&format!("end-of-{round}."))]);
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let (_home, mut pty) = at_prompt(shell, &server);
    let (mut typed, mut relayed) = (Samples::default(), Samples::default());
    let mut before = (f64::NAN, f64::NAN);
    for round in 0..ROUNDS {
        if round == WARM_UP {
            before = (pss_mib(pty.pid()), descriptors(pty.pid()));
        }
        typed.push(typed_line(&mut pty, round));
        relayed_round(&mut pty, round, &mut relayed);
    }
    report.samples(MEASURE, &of(shell, "client, typed: Enter to prompt"), "ms", &typed);
    report.samples(MEASURE, &of(shell, "client, output to output"), "ms", &relayed);
    let over = relayed.p50() - typed.p50();
    report.at_most(MEASURE, &of(shell, "client, relayed over typed, p50"), over, ADDED_MS, "ms");
    let relays = (ROUNDS - WARM_UP) * CALLS;
    let grown = (pss_mib(pty.pid()) - before.0) * 1024.0;
    report.at_most(MEASURE, &of(shell, &format!("client, PSS after {relays} more")), grown, GROWTH_KIB, "KiB");
    let more = descriptors(pty.pid()) - before.1;
    report.at_most(MEASURE, &of(shell, "client, descriptors"), more, 0.0, "more");
}

/// A line of the user's with the same output as the agent's.
fn typed_line(pty: &mut Pty, round: usize) -> Duration {
    let line = command(round, CALLS);
    pty.send(&line);
    thread::sleep(Duration::from_millis(20));
    let start = Instant::now();
    pty.send("\r");
    // The output first: the prompt may be drawn again before the command runs.
    pty.read_until(&output(round, CALLS));
    pty.read_until(PROMPT) - start
}

/// A word that is in the output but not in the text of the command, which is shown in several places.
fn command(round: usize, number: usize) -> String {
    format!("true; echo out-{round}-''{}.", 100 + number)
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

/// The agent runs `yes`; after a while the user presses Ctrl-C.
fn endless_output(report: &mut Report, shell: &Measured) {
    let answer = Answer::text("go. ").and_call("bash", &serde_json::json!({ "command": "yes" }));
    let server = ModelServer::start(Wire::OpenAiChat, [answer]);
    let (_home, mut pty) = at_prompt(shell, &server);
    pty.send("? relay\r");
    pty.read_until("y\r\ny\r\ny\r\n");
    drain(&mut pty, ENDLESS / 5);
    let before = pss_mib(pty.pid());
    drain(&mut pty, ENDLESS);
    let grown = (pss_mib(pty.pid()) - before) * 1024.0;
    report.at_most(MEASURE, &of(shell, "client, 5 s of `yes`, PSS grows"), grown, FLAT_KIB, "KiB");
    let start = Instant::now();
    pty.send("\x03");
    let end = pty.read_until(PROMPT);
    let time = (end - start).as_secs_f64() * 1_000.0;
    report.at_most(MEASURE, &of(shell, "client, `yes`, Ctrl-C to prompt"), time, CTRL_C_MS, "ms");
}

/// Reads for this time, as fast as output comes.
fn drain(pty: &mut Pty, time: Duration) {
    let until = Instant::now() + time;
    while Instant::now() < until {
        pty.read();
    }
}
