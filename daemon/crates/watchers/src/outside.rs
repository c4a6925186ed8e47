//! Follows what no event of a file says: the end of a process, and a port of another machine.

use std::time::Duration;

use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinHandle,
    time::sleep,
};

use crate::{
    condition::{Condition, PortEvent},
    look, system,
    watch::{Watch, WatcherId},
};

/// Processes that are followed by a descriptor each; further ones are looked at now and then.
static DESCRIPTORS: Semaphore = Semaphore::const_new(256);
/// First and longest time between two looks at a process without a descriptor, or at a port of another machine.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));

/// A watcher is worth a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// The watcher.
    pub id: WatcherId,
    /// Whether its port is open, if that is what it is about.
    pub is_port_open: Option<bool>,
}

/// Follows something until it is dropped.
#[derive(Debug)]
pub struct OutsideTask(JoinHandle<()>);

impl Drop for OutsideTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Follows what this condition is about; `None` if events of files or a time say it.
#[must_use]
pub fn follow(id: WatcherId, watch: &Watch, hints: mpsc::Sender<Outside>) -> Option<OutsideTask> {
    match &watch.condition {
        Condition::ProcessEnds(_) => {
            let processes: Vec<(u32, u64)> = look::running(&watch.anchor).collect();
            Some(OutsideTask(tokio::spawn(async move {
                for process in processes {
                    process_ends(process).await;
                }
                // Closed when the daemon ends.
                let _ = hints.send(Outside { id, is_port_open: None }).await;
            })))
        }
        Condition::Port { host: None, .. } if system::is_port_table_known() => None,
        Condition::Port { host, port, event } => {
            let host = host.clone().unwrap_or_else(|| "127.0.0.1".to_owned());
            Some(OutsideTask(tokio::spawn(follow_port(id, host, *port, *event, hints))))
        }
        _ => None,
    }
}

async fn process_ends((id, start): (u32, u64)) {
    let permit = DESCRIPTORS.try_acquire();
    if permit.is_ok() && end_by_descriptor((id, start)).await.is_ok() {
        return;
    }
    drop(permit);
    let mut pause = PAUSES.0;
    while system::process_start(id) == Some(start) {
        sleep(pause).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}

/// Waits for the end of a process by a descriptor, which becomes readable then.
#[cfg(target_os = "linux")]
async fn end_by_descriptor((id, start): (u32, u64)) -> std::io::Result<()> {
    use rustix::process::{Pid, PidfdFlags, pidfd_open};
    use tokio::net::unix::pipe::Receiver;
    let id_there = i32::try_from(id).ok().and_then(Pid::from_raw).ok_or(std::io::ErrorKind::InvalidInput)?;
    let descriptor = match pidfd_open(id_there, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        opened => opened?,
    };
    // The id may be that of another process by now.
    if system::process_start(id) != Some(start) {
        return Ok(());
    }
    // Not a pipe, but waited for like one.
    Receiver::from_owned_fd_unchecked(descriptor)?.readable().await
}

#[cfg(not(target_os = "linux"))]
async fn end_by_descriptor(_: (u32, u64)) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

async fn follow_port(id: WatcherId, host: String, port: u16, event: PortEvent, hints: mpsc::Sender<Outside>) {
    let (mut pause, mut was_open) = (PAUSES.0, event == PortEvent::Closes);
    loop {
        let is_open = system::takes_connection(&host, port).await;
        if is_open != was_open {
            (pause, was_open) = (PAUSES.0, is_open);
            if hints.send(Outside { id, is_port_open: Some(is_open) }).await.is_err() {
                return;
            }
        }
        sleep(pause).await;
        pause = (pause * 2).min(PAUSES.1);
    }
}
