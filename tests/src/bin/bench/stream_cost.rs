//! Measures the cost of an answer: processor time of client and daemon together, bytes for the terminal.

use std::{
    io,
    process::{Command, Stdio},
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries, home::PROMPT};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

use crate::{
    contestants,
    process::cpu_seconds,
    pty::Pty,
    report::Report,
    stream_chunks::{PACE, chunk, word},
};

const MEASURE: &str = "stream";
/// Chunks at 100 a second.
const PACED_CHUNKS: usize = 1_000;
const PACED_CPU_MS: f64 = 60.0;
/// Processor time of client and daemon together, compared with that of curl for the same stream.
const OVER_CURL: f64 = 1.8;
const BYTES_PER_BYTE: f64 = 2.0;
/// Chunks as fast as they can come, and a quarter of them: how the time grows.
const FLOOD_CHUNKS: usize = 64_000;
const PART_OF_FLOOD: usize = 4;
const FLOOD_CPU_S: f64 = 2.0;
const FLOOD_EXPONENT: f64 = 1.1;

pub(crate) fn measure(report: &mut Report) {
    let paced = answer(PACED_CHUNKS, true);
    let (client, daemon) = (paced.client_s * 1_000.0, paced.daemon_s * 1_000.0);
    report.at_most(MEASURE, "CPU of 1,000 chunks at 100/s, both", client + daemon, PACED_CPU_MS, "ms");
    report.at_most(MEASURE, "  of it the client", client, PACED_CPU_MS, "ms");
    match curl_cpu_seconds(PACED_CHUNKS) {
        Some(curl) => {
            report.figure(MEASURE, "CPU of 1,000 chunks at 100/s, curl", curl * 1_000.0, "ms");
            report.at_most(MEASURE, "CPU of 1,000 chunks, both beside curl", paced.cpu_s() / curl, OVER_CURL, "x");
        }
        None => report.note("curl is not installed: the stream's CPU has nothing to be compared with"),
    }
    report.at_most(MEASURE, "bytes to the terminal a byte, at 100/s", paced.bytes_per_byte, BYTES_PER_BYTE, "");
    let part = answer(FLOOD_CHUNKS / PART_OF_FLOOD, false);
    let flood = answer(FLOOD_CHUNKS, false);
    let exponent = (flood.cpu_s() / part.cpu_s()).ln() / (PART_OF_FLOOD as f64).ln();
    report.at_most(MEASURE, "CPU of 64,000 chunks at once, both", flood.cpu_s(), FLOOD_CPU_S, "s");
    report.at_most(MEASURE, "  of it the client", flood.client_s, FLOOD_CPU_S, "s");
    report.at_most(MEASURE, "exponent from 16,000 to 64,000 chunks", exponent, FLOOD_EXPONENT, "");
    report.at_most(MEASURE, "bytes to the terminal a byte, at once", flood.bytes_per_byte, BYTES_PER_BYTE, "");
}

/// The cost of one answer.
struct Cost {
    client_s: f64,
    daemon_s: f64,
    bytes_per_byte: f64,
}

impl Cost {
    fn cpu_s(&self) -> f64 {
        self.client_s + self.daemon_s
    }
}

fn answer(count: usize, is_paced: bool) -> Cost {
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
        if !request.conversation().contains("stream") {
            return Answer::text("Ready.");
        }
        let answer = Answer::generated(count, chunk);
        if is_paced { answer.paced(PACE) } else { answer }
    });
    let home = Home::with_model(&server);
    let mut pty = contestants::cohab().at_prompt(&home);
    // The first question starts the daemon, and both then have loaded all they need.
    pty.send("? hello\r");
    pty.read_until("Ready.");
    pty.read_until(PROMPT);
    let client = pty.pid();
    let daemon = crate::process::daemon_pid(&home).unwrap_or(0);
    let before = (cpu_seconds(client), cpu_seconds(daemon));
    pty.send("? stream\r");
    let shown = shown_bytes(&mut pty, &word(count - 1));
    let client_s = cpu_seconds(client) - before.0;
    let daemon_s = cpu_seconds(daemon) - before.1;
    let answer_bytes: usize = (0..count).map(|index| chunk(index).len()).sum();
    Cost { client_s, daemon_s, bytes_per_byte: shown as f64 / answer_bytes as f64 }
}

/// The processor time that curl uses for the same chunks at the same pace; `None` if it is not installed.
fn curl_cpu_seconds(count: usize) -> Option<f64> {
    if !binaries::is_installed("curl") {
        return None;
    }
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| Answer::generated(count, chunk).paced(PACE));
    let question = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"stream"}]}"#;
    let mut curl = Command::new("curl")
        .args(["-sN", "-H", "content-type: application/json", "-d", question])
        .arg(format!("{}/chat/completions", server.base_url()))
        .stdout(Stdio::piped())
        .spawn()
        .ok()?;
    io::copy(curl.stdout.as_mut()?, &mut io::sink()).ok()?;
    // It is read before its figures go with it.
    let pid = Pid::from_child(&curl);
    let has_ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).is_ok();
    let seconds = cpu_seconds(curl.id());
    curl.wait().ok().filter(|status| has_ended && status.success()).map(|_| seconds)
}

/// Reads until `last` is on the terminal. Returns the number of bytes.
fn shown_bytes(pty: &mut Pty, last: &str) -> usize {
    let (mut count, mut end) = (0, Vec::new());
    loop {
        let bytes = pty.read();
        count += bytes.len();
        end.extend_from_slice(&bytes);
        if memchr::memmem::find(&end, last.as_bytes()).is_some() {
            return count;
        }
        let useless = end.len().saturating_sub(last.len());
        end.drain(..useless);
    }
}
