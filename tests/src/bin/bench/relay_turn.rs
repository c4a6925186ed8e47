//! Measures a relayed command as the user's settings have it: from the model's tool call to the next request at the model server, the
//! processor time that daemon, client and shell use for it, and the system calls of client and daemon.

use std::{
    collections::BTreeMap,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use cohab_e2e::{Answer, Home, ModelServer, Request, Wire, binaries, home::PROMPT};
use cohab_shell_state::shell::Shell;
use rustix::process::{Pid, Signal, kill_process};

use crate::{
    contestants,
    process::{children, cpu_seconds},
    pty::Pty,
    relay::shells::{self, Measured},
    report::{Report, Samples},
};

const MEASURE: &str = "relay-turn";
/// Calls of a turn before the first one that counts.
const WARM_UP: usize = 4;
/// Calls that count, in each turn.
const CALLS: usize = 16;
/// The daemon's system calls for a relayed command.
const DAEMON_CALLS: f64 = 80.0;
/// Longest time that strace needs to attach.
const ATTACHES: Duration = Duration::from_secs(5);

/// Bars of a shell, in milliseconds: call to request; then processor time of daemon, client and shell.
fn bars(shell: &Measured) -> [f64; 4] {
    match shell.kind {
        Shell::Zsh => [2.5, 0.8, 0.5, 0.8],
        Shell::Fish => [4.0, 0.8, 0.5, 3.0],
        _ => [2.0, 0.8, 0.5, 0.8],
    }
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    if !contestants::has_cohab() {
        report.unmeasured(MEASURE, contestants::COHAB, "it was not built");
        return;
    }
    let mut measured: Vec<(Measured, Turns)> = Vec::new();
    for shell in shells::all() {
        match shell {
            Ok(shell) => measured.push((shell.clone(), Turns::start(&shell))),
            Err(name) => report.unmeasured(MEASURE, name, "it is not installed"),
        }
    }
    // Interleaved: what the machine does meanwhile hits all shells alike.
    for _ in 0..rounds {
        measured.iter_mut().for_each(|(_, turns)| turns.turn());
    }
    for (shell, turns) in &mut measured {
        let of = |what: &str| format!("{}: {what}", shell.name);
        let [time, daemon, client, own] = bars(shell);
        report.samples(MEASURE, &of("call to request"), "ms", &turns.times);
        report.at_most(MEASURE, &of("call to request, p50"), turns.times.p50(), time, "ms");
        for (who, seconds, bar) in
            [("daemon", turns.cpu[0], daemon), ("client", turns.cpu[1], client), ("shell", turns.cpu[2], own)]
        {
            let ms = seconds * 1_000.0 / (rounds * (WARM_UP + CALLS)) as f64;
            report.at_most(MEASURE, &of(&format!("CPU a command, {who}")), ms, bar, "ms");
        }
        turns.system_calls(report, shell);
    }
}

/// A shell under cohab, in which a scripted model makes calls of `echo`.
struct Turns {
    _server: ModelServer,
    home: Home,
    pty: Pty,
    /// When the model had each request, and when it had its answer ready.
    moments: Arc<Mutex<Vec<(Instant, Instant)>>>,
    times: Samples,
    /// Processor time of daemon, client and shell so far, in seconds.
    cpu: [f64; 3],
    pids: [u32; 3],
}

impl Turns {
    fn start(shell: &Measured) -> Self {
        let moments = Arc::new(Mutex::new(Vec::new()));
        let (for_server, mut count) = (Arc::clone(&moments), 0_usize);
        let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
            // The name of the conversation is asked for without tools.
            let Some(done) = calls_done(request) else { return Answer::text("A name") };
            count += 1;
            // Each command is another one: a model that repeats itself is told so.
            let is_done = done == WARM_UP + CALLS;
            let answer = if is_done { Answer::text("all-is-done.") } else { Answer::bash(&format!("echo {count}")) };
            for_server.lock().expect("no thread panics with it").push((request.received_at, Instant::now()));
            answer
        });
        let home = Home::with_model(&server).env("SHELL", &shell.program.display().to_string());
        shells::furnish(&home);
        // The length of a conversation is measured by `long`; no model is asked to shorten it.
        home.write_config("[context]\nstrategy = \"sliding\"\ncompact_over_messages = 200\n");
        let pty = contestants::cohab().at_prompt(&home);
        let mut made =
            Self { _server: server, home, pty, moments, times: Samples::default(), cpu: [0.0; 3], pids: [0; 3] };
        made.ask();
        let daemon = crate::process::daemon_pid(&made.home).unwrap_or(0);
        let client = made.pty.pid();
        let shell = children(client).into_iter().find(|child| *child != daemon).unwrap_or(0);
        made.pids = [daemon, client, shell];
        made
    }

    fn ask(&mut self) {
        self.pty.send("? go\r");
        self.pty.read_until("all-is-done.");
        self.pty.read_until(PROMPT);
    }

    fn turn(&mut self) {
        let before = self.pids.map(cpu_seconds);
        self.moments.lock().expect("no thread panics with it").clear();
        self.ask();
        for ((sum, pid), before) in self.cpu.iter_mut().zip(self.pids).zip(before) {
            *sum += cpu_seconds(pid) - before;
        }
        let moments = self.moments.lock().expect("no thread panics with it");
        for pair in moments.windows(2).skip(WARM_UP) {
            self.times.push(pair[1].0 - pair[0].1);
        }
    }

    /// The system calls of one turn, counted by strace.
    fn system_calls(&mut self, report: &mut Report, shell: &Measured) {
        for (who, pid, bar) in [("daemon", self.pids[0], Some(DAEMON_CALLS)), ("client", self.pids[1], None)] {
            let subject = format!("{}: system calls a command, {who}", shell.name);
            let Some(strace) = Strace::of(pid) else {
                report.note(&format!("{subject}: strace cannot attach"));
                continue;
            };
            self.ask();
            let counts = strace.end();
            let calls = counts.values().sum::<u64>() as f64 / (WARM_UP + CALLS) as f64;
            match bar {
                Some(bar) => report.at_most(MEASURE, &subject, calls, bar, ""),
                None => report.figure(MEASURE, &subject, calls, ""),
            }
            let mut most: Vec<(&String, &u64)> = counts.iter().collect();
            most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let list: Vec<String> = most
                .iter()
                .take(12)
                .map(|(name, count)| format!("{name} {:.1}", **count as f64 / (WARM_UP + CALLS) as f64))
                .collect();
            report.note(&format!("{subject}: {}", list.join(", ")));
        }
    }
}

/// The results in a request behind its last question; `None` if it allows no tools.
fn calls_done(request: &Request) -> Option<usize> {
    request.body.get("tools")?;
    let roles = request.body["messages"].as_array()?.iter().rev().filter_map(|message| message["role"].as_str());
    Some(roles.take_while(|role| *role != "user").filter(|role| *role == "tool").count())
}

/// strace, attached to all threads of a process.
struct Strace {
    child: Child,
    table: std::path::PathBuf,
    _folder: tempfile::TempDir,
}

impl Strace {
    /// `None` if it is not installed or must not attach.
    fn of(pid: u32) -> Option<Self> {
        if !binaries::is_installed("strace") {
            return None;
        }
        let folder = tempfile::tempdir().ok()?;
        let table = folder.path().join("calls");
        let child = Command::new("strace")
            .args(["-f", "-c", "-U", "name,calls", "-o"])
            .arg(&table)
            .args(["-p", &pid.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let strace = Self { child, table, _folder: folder };
        let give_up = Instant::now() + ATTACHES;
        while !crate::process::is_traced(pid) {
            if Instant::now() > give_up {
                return None;
            }
            thread::sleep(Duration::from_millis(5));
        }
        Some(strace)
    }

    /// Detaches. Returns how often each system call was made.
    fn end(mut self) -> BTreeMap<String, u64> {
        let _ = kill_process(Pid::from_child(&self.child), Signal::INT);
        let _ = self.child.wait();
        counts(&std::fs::read_to_string(&self.table).unwrap_or_default())
    }
}

/// Reads strace's table: a name and a number a line.
fn counts(table: &str) -> BTreeMap<String, u64> {
    let rows = table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let (name, count) = (words.next()?, words.next()?.parse().ok()?);
        (name != "total").then(|| (name.to_owned(), count))
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_strace_is_read_without_its_frame_and_sum() {
        let table = "syscall          calls\n---------------- ---------\nfutex                  12\nread                    3\n---------------- ---------\ntotal                  15\n";
        assert_eq!(counts(table), BTreeMap::from([("futex".to_owned(), 12), ("read".to_owned(), 3)]));
    }
}
