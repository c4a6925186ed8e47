//! The daemon: whether it runs, fits this client, and what it takes.

use cohab_protocol::{BUILD, DaemonStatus, PROTOCOL_VERSION};
use cohab_shell_relay::sanitize::one_line;

use super::Context;
use crate::{
    connection::ConnectError,
    daemon_control::{duration, look},
    shell_check::findings::{Finding, Verdict, finding},
};

/// More memory than this is told, in kibibytes.
const MUCH_MEMORY_KIB: u64 = 512 * 1024;

/// Looks and judges. It is not started.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let status = look(&context.paths, false).await;
    let memory = status.as_ref().ok().and_then(|status| memory_kib(status.pid));
    vec![judge(&status, memory)]
}

fn judge(status: &Result<DaemonStatus, ConnectError>, memory_kib: Option<u64>) -> Finding {
    match status {
        Err(ConnectError::NotRunning) => finding("daemon", Verdict::Ok, "not running; the first question starts it"),
        Err(error) => {
            finding("daemon", Verdict::Fail, one_line(&error.to_string(), 200)).hint(one_line(&error.hint(), 200))
        }
        Ok(status) => {
            let sessions = match status.sessions {
                1 => "1 session".to_owned(),
                count => format!("{count} sessions"),
            };
            let memory = memory_kib.map(|kib| format!(", {} MB", kib / 1024)).unwrap_or_default();
            let build = one_line(&status.build, 40);
            let text = format!(
                "cohabd {build} runs, protocol {PROTOCOL_VERSION}, up {}, {sessions}{memory}",
                duration(status.uptime_ms)
            );
            if status.build != BUILD {
                return finding("daemon", Verdict::Warn, format!("{text}; this is cohab {BUILD}"))
                    .hint("`cohab daemon restart` starts the new one");
            }
            if memory_kib.is_some_and(|kib| kib > MUCH_MEMORY_KIB) {
                return finding("daemon", Verdict::Warn, text).hint("that is much; `cohab daemon restart` frees it");
            }
            finding("daemon", Verdict::Ok, text)
        }
    }
}

/// What the process holds in memory; nothing where the kernel does not tell.
fn memory_kib(pid: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn status(build: &str) -> DaemonStatus {
        DaemonStatus {
            pid: 1,
            build: build.into(),
            uptime_ms: 61_000,
            clients: 1,
            sessions: 1,
            turns_running: 0,
            commands_running: 0,
            commands_waiting: 0,
            log_dir: Path::new("/log").into(),
            config_path: Path::new("/config").into(),
        }
    }

    #[test]
    fn one_that_does_not_run_is_no_fault_one_that_does_not_answer_is() {
        assert_eq!(judge(&Err(ConnectError::NotRunning), None).verdict, Verdict::Ok);
        let hung = judge(&Err(ConnectError::NoAnswer), None);
        assert!(hung.verdict == Verdict::Fail && hung.hint.is_some(), "{hung:?}");
    }

    #[test]
    fn another_release_and_much_memory_are_told() {
        let own = judge(&Ok(status(BUILD)), Some(30 * 1024));
        assert_eq!((own.verdict, own.text.contains("up 1 min, 1 session, 30 MB")), (Verdict::Ok, true), "{own:?}");
        assert_eq!(judge(&Ok(status("0.0.1")), None).verdict, Verdict::Warn);
        assert_eq!(judge(&Ok(status(BUILD)), Some(900 * 1024)).verdict, Verdict::Warn);
    }
}
