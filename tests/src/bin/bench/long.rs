//! Measures a long conversation of plain questions: what the daemon uses for one, early and late, and how long it takes to the request.

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants,
    process::cpu_seconds,
    report::{Report, Samples},
};

const MEASURE: &str = "long";
/// Questions of the conversation, and of each part that is compared.
const QUESTIONS: usize = 2_000;
const PART: usize = 100;
/// Late questions may cost more than early ones by this factor.
const GROWTH: f64 = 1.2;
const CPU_MS: f64 = 8.0;
/// The conversation fits and is never summed up.
const ROOMY: &str = "[model]\ncontext_window_tokens = 1000000\n";

pub(crate) fn measure(report: &mut Report) {
    if !contestants::has_cohab() {
        report.unmeasured(MEASURE, contestants::COHAB, "it was not built");
        return;
    }
    let server = ModelServer::respond_with(Wire::OpenAiChat, |request| {
        let asked = request.body["messages"].as_array().and_then(|messages| messages.last()?["content"].as_str());
        // A request for a title has another end.
        let number = asked
            .and_then(|asked| asked.rsplit_once("some words, number ")?.1.split_once('.'))
            .map_or("0", |(number, _)| number);
        Answer::text(&format!("Here is the answer with number {number}, as long as a short answer is. reply-{number}."))
    });
    let home = Home::with_model(&server);
    home.write_config(ROOMY);
    let mut pty = contestants::cohab().at_prompt(&home);
    let (mut cpu, mut times) = (Samples::default(), Samples::default());
    let mut daemon = 0;
    for round in 1..=QUESTIONS {
        let question = format!("? a question of some words, number {round}.");
        pty.send(&question);
        pty.read_until(&question);
        let (before, enter) = (cpu_seconds(daemon), std::time::Instant::now());
        pty.send("\r");
        let answered = pty.read_until(&format!("reply-{round}."));
        pty.read_until(PROMPT);
        if daemon == 0 {
            daemon = crate::process::daemon_pid(&home).unwrap_or(0);
        }
        cpu.push_value((cpu_seconds(daemon) - before) * 1_000.0);
        times.push(answered - enter);
    }
    let parts =
        [PART, QUESTIONS / 2, QUESTIONS].map(|end| (end, cpu.part(end - PART, PART), times.part(end - PART, PART)));
    for (end, cpu, times) in &parts {
        report.samples(MEASURE, &format!("question {end}: Enter to answer"), "ms", times);
        report.at_most(MEASURE, &format!("question {end}: the daemon's CPU, p50"), cpu.p50(), CPU_MS, "ms");
    }
    let growth = parts[2].1.p50() / parts[0].1.p50();
    report.at_most(MEASURE, "the daemon's CPU, late over early", growth, GROWTH, "x");
}
