//! Checks that the daemon runs and fits this client, and reports its memory and uptime.

use std::{fs, os::unix::fs::MetadataExt, path::Path};

use cohab_daemon_link::{
    connection::ConnectError,
    daemon_control::{duration, look},
};
use cohab_protocol::{BUILD, DaemonStatus, PROTOCOL_VERSION};
use cohab_text::sanitize::one_line;

use super::context::Context;
use crate::shell_check::finding::{Finding, FindingVerdict, finding};

/// More memory than this is reported, in kibibytes.
const MUCH_MEMORY_KIB: u64 = 512 * 1024;

/// Looks and judges. It is not started.
pub(super) async fn check(context: &Context) -> Vec<Finding> {
    let status = look(&context.paths, false).await;
    let pid = status.as_ref().ok().map(|status| status.pid);
    let (memory, program) = (pid.and_then(memory_kib), pid.map_or(Program::Unknown, program_of));
    vec![judge(&status, memory, program)]
}

/// What has become of the file that a process was started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// It is where it was.
    There,
    /// Another file has its name now.
    Replaced,
    /// It was removed.
    Removed,
    /// The system does not report it.
    Unknown,
}

/// What the kernel writes behind the name of a file that is gone.
const DELETED: &str = " (deleted)";

/// Looks in `/proc`, which only Linux has.
fn program_of(pid: u32) -> Program {
    let link = format!("/proc/{pid}/exe");
    let Ok(name) = fs::read_link(&link) else { return Program::Unknown };
    let id = |path: &Path| fs::metadata(path).map(|metadata| (metadata.dev(), metadata.ino())).ok();
    // The link leads to the file itself, even if it has no name any more.
    let Some(running) = id(Path::new(&link)) else { return Program::Unknown };
    if id(&name) == Some(running) {
        return Program::There;
    }
    let name = name.to_string_lossy();
    let name = Path::new(name.strip_suffix(DELETED).unwrap_or(&name));
    if name.exists() { Program::Replaced } else { Program::Removed }
}

fn judge(status: &Result<DaemonStatus, ConnectError>, memory_kib: Option<u64>, program: Program) -> Finding {
    match status {
        Err(ConnectError::NotRunning) => {
            finding("daemon", FindingVerdict::Ok, "not running; the first question starts it")
        }
        Err(error) => finding("daemon", FindingVerdict::Fail, one_line(&error.to_string(), 200))
            .hint(one_line(&error.hint(), 200)),
        Ok(status) => {
            let sessions = match status.sessions {
                1 => "1 session".to_owned(),
                count => format!("{count} sessions"),
            };
            let memory = memory_kib.map(|kib| format!(", {} MB", kib / 1024)).unwrap_or_default();
            let build = one_line(&status.build, 80);
            let text = format!(
                "cohabd {build} runs, protocol {PROTOCOL_VERSION}, up {}, {sessions}{memory}",
                duration(status.uptime_ms)
            );
            if status.build != BUILD {
                return finding("daemon", FindingVerdict::Warn, format!("{text}; this is cohab {BUILD}"))
                    .hint("`cohab daemon restart` starts the new one");
            }
            let fate = match program {
                Program::Replaced => Some("its program was replaced since it started"),
                Program::Removed => Some("its program was removed since it started"),
                Program::There | Program::Unknown => None,
            };
            if let Some(fate) = fate {
                return finding("daemon", FindingVerdict::Warn, format!("{text}; {fate}"))
                    .hint("`cohab daemon restart` starts the one that is installed");
            }
            if memory_kib.is_some_and(|kib| kib > MUCH_MEMORY_KIB) {
                return finding("daemon", FindingVerdict::Warn, text)
                    .hint("that is much; `cohab daemon restart` frees it");
            }
            finding("daemon", FindingVerdict::Ok, text)
        }
    }
}

/// What the process holds in memory; nothing where the kernel does not report it.
fn memory_kib(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

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
        assert_eq!(judge(&Err(ConnectError::NotRunning), None, Program::Unknown).verdict, FindingVerdict::Ok);
        let hung = judge(&Err(ConnectError::NoAnswer), None, Program::Unknown);
        assert!(hung.verdict == FindingVerdict::Fail && hung.hint.is_some(), "{hung:?}");
    }

    #[test]
    fn another_release_and_much_memory_are_told() {
        let own = judge(&Ok(status(BUILD)), Some(30 * 1024), Program::There);
        assert_eq!(
            (own.verdict, own.text.contains("up 1 min, 1 session, 30 MB")),
            (FindingVerdict::Ok, true),
            "{own:?}"
        );
        assert_eq!(judge(&Ok(status("0.0.1")), None, Program::There).verdict, FindingVerdict::Warn);
        assert_eq!(judge(&Ok(status(BUILD)), Some(900 * 1024), Program::Unknown).verdict, FindingVerdict::Warn);
    }

    #[test]
    fn a_program_that_was_replaced_or_removed_is_told() {
        for (program, word) in [(Program::Replaced, "was replaced"), (Program::Removed, "was removed")] {
            let found = judge(&Ok(status(BUILD)), None, program);
            assert!(
                found.verdict == FindingVerdict::Warn && found.text.contains(word) && found.hint.is_some(),
                "{found:?}"
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_file_of_a_process_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a (deleted)");
        fs::copy("/bin/cat", &file).unwrap();
        let mut child = Command::new(&file).stdin(Stdio::piped()).spawn().unwrap();
        let look = || program_of(child.id());
        assert_eq!(look(), Program::There);
        fs::copy("/bin/cat", folder.path().join("new")).unwrap();
        fs::rename(folder.path().join("new"), &file).unwrap();
        assert_eq!(look(), Program::Replaced);
        fs::remove_file(&file).unwrap();
        assert_eq!(look(), Program::Removed);
        assert_eq!(program_of(u32::MAX), Program::Unknown);
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
