//! Measures the cost of an idle cohab.

use std::{thread, time::Duration};

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::{
    contestants::{self, COHAB},
    process::{pss_mib, switches},
    pty::Pty,
    report::Report,
};

/// Timers and pooled buffers of a question have ended by then.
const SETTLE: Duration = Duration::from_secs(3);
const WATCHED: Duration = Duration::from_secs(5);
const CLIENT_MIB: f64 = 5.0;
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
    let daemon = crate::process::daemon_pid(home);
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
