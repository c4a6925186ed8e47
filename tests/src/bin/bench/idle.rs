//! What cohab costs while nobody does anything.

use std::{fs, path::Path, thread, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants::{self, COHAB},
    pty::Pty,
    report::Report,
};

/// What ends after a question (timers, pooled buffers) has ended by then.
const SETTLE: Duration = Duration::from_secs(3);
const WATCHED: Duration = Duration::from_secs(5);
const CLIENT_MIB: f64 = 6.0;
const DAEMON_MIB: f64 = 15.0;

pub(crate) fn measure(report: &mut Report) {
    if !contestants::has_cohab() {
        report.unmeasured("idle", COHAB, "it was not built");
        return;
    }
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("A **first** answer.")]);
    let home = Home::with_model(&server);
    let mut pty = contestants::cohab().at_prompt(&home);
    figures(report, &home, &pty, "fresh");
    pty.send("? warm up\r");
    pty.read_until("answer.");
    pty.read_until(PROMPT);
    figures(report, &home, &pty, "after a question");
}

fn figures(report: &mut Report, home: &Home, pty: &Pty, when: &str) {
    thread::sleep(SETTLE);
    let daemon = home.daemon_pids().first().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    let before = (switches(pty.pid()), daemon.map(switches));
    thread::sleep(WATCHED);
    let after = (switches(pty.pid()), daemon.map(switches));
    report.at_most("idle", &format!("client wakeups, {when}"), after.0 - before.0, 0.0, "in 5 s");
    report.at_most("idle", &format!("client PSS, {when}"), pss_mib(pty.pid()), CLIENT_MIB, "MiB");
    let (Some(daemon), Some(before), Some(after)) = (daemon, before.1, after.1) else {
        report.unmeasured("idle", &format!("daemon, {when}"), "it does not run");
        return;
    };
    report.at_most("idle", &format!("daemon wakeups, {when}"), after - before, 0.0, "in 5 s");
    report.at_most("idle", &format!("daemon PSS, {when}"), pss_mib(daemon), DAEMON_MIB, "MiB");
}

/// Voluntary context switches of all threads so far: each is a wait that ended.
fn switches(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| number(&task.path().join("status"), "voluntary_ctxt_switches:")).sum()
}

fn pss_mib(pid: u32) -> f64 {
    number(Path::new(&format!("/proc/{pid}/smaps_rollup")), "Pss:") / 1024.0
}

/// The first number after `key` at the start of a line; NaN if there is none.
fn number(file: &Path, key: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key)).and_then(|rest| rest.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_waits_and_needs_memory() {
        let pid = std::process::id();
        let before = switches(pid);
        thread::sleep(Duration::from_millis(1));
        assert!(switches(pid) > before);
        assert!(pss_mib(pid) > 0.1);
        assert!(number(Path::new("/proc/self/status"), "NoSuchKey:").is_nan());
    }
}
