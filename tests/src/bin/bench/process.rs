//! Reads the system's figures about a process.

use std::{fs, path::Path};

use cohab_e2e::Home;

/// Voluntary context switches of all its threads so far: each is a wait that ended.
pub(crate) fn switches(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.map(|task| number(&task.path().join("status"), "voluntary_ctxt_switches:")).sum()
}

/// Its memory, shared pages counted by their share, in MiB.
pub(crate) fn pss_mib(pid: u32) -> f64 {
    number(Path::new(&format!("/proc/{pid}/smaps_rollup")), "Pss:") / 1024.0
}

/// Its heap, stacks and other memory without a file, in KiB: memory shared with other processes, or given up by them, does not count.
pub(crate) fn own_memory_kib(pid: u32) -> f64 {
    number(Path::new(&format!("/proc/{pid}/smaps_rollup")), "Anonymous:")
}

/// Processor time that its threads have used so far, in seconds.
pub(crate) fn cpu_seconds(pid: u32) -> f64 {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let nanoseconds = tasks.filter_map(|task| {
        let text = fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<f64>().ok()
    });
    nanoseconds.sum::<f64>() / 1e9
}

/// Memory of a process, in MiB.
pub(crate) fn resident_mib(pid: u32) -> f64 {
    number(Path::new(&format!("/proc/{pid}/status")), "VmRSS:") / 1024.0
}

/// The most that a process had since [`reset_peak`], in MiB.
pub(crate) fn peak_mib(pid: u32) -> f64 {
    number(Path::new(&format!("/proc/{pid}/status")), "VmHWM:") / 1024.0
}

/// Lets [`peak_mib`] start again. Where that is forbidden the peak is too high.
pub(crate) fn reset_peak(pid: u32) {
    let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
}

/// Its open descriptors; NaN if it is gone.
pub(crate) fn descriptors(pid: u32) -> f64 {
    fs::read_dir(format!("/proc/{pid}/fd")).map_or(f64::NAN, |entries| entries.count() as f64)
}

/// The id of the daemon that serves this home, if it runs.
pub(crate) fn daemon_pid(home: &Home) -> Option<u32> {
    home.daemon_pids().first().map(|pid| pid.as_raw_nonzero().get().unsigned_abs())
}

/// The processes that it started and that still run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.flat_map(|list| list.split_whitespace().filter_map(|word| word.parse().ok()).collect::<Vec<_>>()).collect()
}

/// Whether all its threads are traced.
pub(crate) fn is_traced(pid: u32) -> bool {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut tracers = tasks.map(|task| number(&task.path().join("status"), "TracerPid:"));
    tracers.all(|tracer| tracer > 0.0)
}

/// The first number after `key` at the start of a line; NaN if there is no such line.
fn number(file: &Path, key: &str) -> f64 {
    let text = fs::read_to_string(file).unwrap_or_default();
    let value = text.lines().find_map(|line| line.strip_prefix(key)).and_then(|rest| rest.split_whitespace().next());
    value.and_then(|value| value.parse().ok()).unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use std::{thread, time::Duration};

    use super::*;

    #[test]
    fn this_process_waits_needs_memory_and_has_descriptors() {
        let pid = std::process::id();
        let before = switches(pid);
        thread::sleep(Duration::from_millis(1));
        assert!(switches(pid) > before);
        assert!(pss_mib(pid) > 0.1);
        assert!(own_memory_kib(pid) > 16.0);
        assert!(descriptors(pid) >= 3.0);
        assert!(cpu_seconds(pid) >= 0.0 && cpu_seconds(pid) < 600.0);
        reset_peak(pid);
        assert!(peak_mib(pid) >= 0.1 && resident_mib(pid) >= 0.1);
        assert!(number(Path::new("/proc/self/status"), "NoSuchKey:").is_nan());
    }
}
