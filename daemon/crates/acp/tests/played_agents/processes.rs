//! Waits for the ends of processes.

use std::{
    path::Path,
    time::{Duration, Instant},
};

/// Waits until no process of the fake agent with this number runs.
pub async fn gone(pid: &str) {
    one_gone(&[pid.to_owned()]).await;
}

/// Waits until one of these processes of the fake agent does not run any more.
pub async fn one_gone(pids: &[String]) {
    let began = Instant::now();
    while !pids.iter().any(|pid| is_gone(pid)) {
        assert!(began.elapsed() < Duration::from_secs(20), "still running: {pids:?}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn is_gone(pid: &str) -> bool {
    let is_zombie = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| stat.contains(") Z "));
    is_zombie || !Path::new("/proc").join(pid).join("stat").exists()
}
