//! Measures the path from the model server through the daemon to a client. The client is `cohab ask --json`, which writes each event as
//! it comes.

use std::{
    io::{BufRead, BufReader},
    process::{Child, ChildStdout, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire};

use super::MEASURE;
use crate::{
    contestants::{self, COHAB},
    process::{cpu_seconds, own_memory_kib},
    report::{Report, Samples},
};

const FIRST_MS: f64 = 1.0;
const STREAMS: usize = 20;
const WORDS: usize = 300;
/// 100 words a second and stream.
const PACE: Duration = Duration::from_millis(10);
const CORES: f64 = 1.0;
const STREAM_KIB: f64 = 256.0;

pub(super) fn measure(report: &mut Report, rounds: usize) {
    if !contestants::has_cohab() {
        report.unmeasured(MEASURE, COHAB, "it was not built");
        return;
    }
    first_delta(report, rounds);
    many_streams(report);
    open_streams(report);
}

/// A question on its way, asked by a separate process.
struct Asking {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Asking {
    fn new(home: &Home, question: &str) -> Self {
        let mut command = home.cohab_process(&["ask", "--json", question]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("cohab starts");
        let lines = BufReader::new(child.stdout.take().expect("a pipe"));
        Self { child, lines }
    }

    /// The next piece of the answer's text; `None` at its end.
    fn delta(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).expect("the pipe can be read") == 0 {
                return None;
            }
            let event: serde_json::Value = serde_json::from_str(&line).expect("an event is JSON");
            if event["type"] == "text" {
                return event["delta"].as_str().map(str::to_owned);
            }
        }
    }

    /// The rest of the text.
    fn text(mut self) -> String {
        let text = std::iter::from_fn(|| self.delta()).collect();
        let _ = self.child.wait();
        text
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The first piece of an answer, written at the server, to the client's output.
fn first_delta(report: &mut Report, rounds: usize) {
    let sent = Arc::new(Mutex::new(None));
    let for_server = Arc::clone(&sent);
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| {
        let sent = Arc::clone(&for_server);
        let make = move |index: usize| {
            *sent.lock().expect("no thread panics with it") = Some(Instant::now());
            format!("w{index} ")
        };
        Answer::generated(1, make).paced(PACE)
    });
    let home = Home::with_model(&server);
    let mut samples = Samples::default();
    // The first question starts the daemon.
    for round in 0..=rounds {
        let mut asking = Asking::new(&home, "what");
        let delta = asking.delta();
        let seen = Instant::now();
        let sent = sent.lock().expect("no thread panics with it").take();
        match (delta, sent) {
            (Some(_), Some(sent)) if round > 0 => samples.push(seen.saturating_duration_since(sent)),
            (Some(_), Some(_)) => {}
            _ => return report.unmeasured(MEASURE, "first piece to the client", "no text came"),
        }
        asking.text();
    }
    report.samples(MEASURE, "first piece to the client", "ms", &samples);
    report.at_most(MEASURE, "first piece to the client, p50", samples.p50(), FIRST_MS, "ms");
}

fn word(stream: usize, index: usize) -> String {
    format!("s{stream:02}w{index:04} ")
}

fn question(stream: usize) -> String {
    format!("question-{stream:02}.")
}

/// Answers the question of a stream with the words of that stream.
fn serve(make: impl Fn(usize) -> Answer + Send + 'static) -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        let conversation = request.conversation();
        let asked = (0..STREAMS).find(|stream| conversation.contains(&question(*stream)));
        asked.map_or_else(|| Answer::text("Ready."), &make)
    })
}

fn daemon_of(home: &Home) -> Option<u32> {
    crate::process::daemon_pid(home)
}

/// Many answers at once: their cost, and whether each client gets its own answer.
fn many_streams(report: &mut Report) {
    let server = serve(|stream| Answer::generated(WORDS, move |index| word(stream, index)).paced(PACE));
    let home = Home::with_model(&server);
    Asking::new(&home, "warm up").text();
    let Some(daemon) = daemon_of(&home) else {
        return report.unmeasured(MEASURE, "20 streams", "the daemon does not run");
    };
    let (before, start) = (cpu_seconds(daemon), Instant::now());
    let asking: Vec<_> = (0..STREAMS).map(|stream| Asking::new(&home, &question(stream))).collect();
    let reading: Vec<_> = asking.into_iter().map(|asking| thread::spawn(move || asking.text())).collect();
    let texts: Vec<String> = reading.into_iter().map(|thread| thread.join().unwrap_or_default()).collect();
    let cores = (cpu_seconds(daemon) - before) / start.elapsed().as_secs_f64();
    let expected = |stream| (0..WORDS).map(|index| word(stream, index)).collect::<String>();
    let wrong = texts.iter().enumerate().filter(|(stream, text)| **text != expected(*stream)).count();
    report.at_most(MEASURE, "20 streams, answers with a word wrong", wrong as f64, 0.0, "answers");
    report.at_most(MEASURE, "20 streams, the daemon's CPU", cores, CORES, "cores");
}

/// The cost of an answer that has begun and not ended.
fn open_streams(report: &mut Report) {
    let server = serve(|stream| Answer::generated(2, move |index| word(stream, index)).stall_after(2));
    let home = Home::with_model(&server);
    Asking::new(&home, "warm up").text();
    let Some(daemon) = daemon_of(&home) else {
        return report.unmeasured(MEASURE, "open streams", "the daemon does not run");
    };
    let before = own_memory_kib(daemon);
    let mut asking: Vec<_> = (0..STREAMS).map(|stream| Asking::new(&home, &question(stream))).collect();
    let begun = asking.iter_mut().filter_map(Asking::delta).count();
    if begun < STREAMS {
        return report.unmeasured(MEASURE, "open streams", "not all began");
    }
    let each = (own_memory_kib(daemon) - before) / STREAMS as f64;
    report.at_most(MEASURE, "an open stream with its session", each, STREAM_KIB, "KiB");
}
