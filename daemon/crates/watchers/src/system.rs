//! Present facts of the system about files, processes and ports.

use std::{
    collections::BTreeSet,
    fs,
    hash::{DefaultHasher, Hash, Hasher},
    io,
    os::unix::fs::MetadataExt,
    path::Path,
    time::Duration,
};

use tokio::{net::TcpStream, time::timeout};

/// Entries of a folder that are compared.
const MAX_ENTRIES: usize = 10_000;
/// Time for a host to take a connection.
const CONNECT_WAIT: Duration = Duration::from_secs(2);
/// Stands for a file that is not there.
pub(crate) const ABSENT: &str = "-";

/// Which file is at a path, and which content it has, as a short text; [`ABSENT`] if there is none.
pub(crate) fn file_stamp(path: &Path) -> String {
    match fs::metadata(path) {
        Ok(file) => format!("{}:{}:{}.{:09}", file.ino(), file.size(), file.mtime(), file.mtime_nsec()),
        Err(_) => ABSENT.to_owned(),
    }
}

/// Which entries a folder has, and which content they have, as a short text.
///
/// # Errors
/// It cannot be read.
pub(crate) fn folder_stamp(path: &Path) -> io::Result<String> {
    let mut sum = 0_u64;
    for entry in fs::read_dir(path)?.take(MAX_ENTRIES).flatten() {
        let mut hasher = DefaultHasher::new();
        entry.file_name().hash(&mut hasher);
        if let Ok(entry) = entry.metadata() {
            // The time of a folder changes with what is in it.
            let time = (!entry.is_dir()).then(|| (entry.mtime(), entry.mtime_nsec(), entry.size()));
            (entry.ino(), time).hash(&mut hasher);
        }
        // In whichever order they are listed.
        sum = sum.wrapping_add(hasher.finish());
    }
    Ok(format!("{sum:016x}"))
}

/// When a process began, in the kernel's ticks; `None` if it does not run any more. An id is used again, with another beginning.
#[cfg(target_os = "linux")]
pub(crate) fn process_start(id: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name in brackets may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let start = fields.nth(18)?.parse().ok()?;
    (!matches!(state, "Z" | "X")).then_some(start)
}

/// When a process began is not known here, only whether it runs.
#[cfg(not(target_os = "linux"))]
pub(crate) fn process_start(id: u32) -> Option<u64> {
    let id = rustix::process::Pid::from_raw(i32::try_from(id).ok()?)?;
    rustix::process::test_kill_process(id).is_ok().then_some(0)
}

/// The user's processes of this name, each with its beginning.
pub(crate) fn processes_named(name: &str) -> Vec<(u32, u64)> {
    let user = rustix::process::getuid().as_raw();
    let is_named = |folder: &Path| {
        let program = fs::read(folder.join("cmdline")).unwrap_or_default();
        let program = program.split(|byte| *byte == 0).next().unwrap_or_default();
        let command = fs::read(folder.join("comm")).unwrap_or_default();
        let last = program.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
        last == name.as_bytes() || command.trim_ascii_end() == name.as_bytes()
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ours = entries.filter_map(|entry| {
        let id: u32 = entry.file_name().to_str()?.parse().ok()?;
        let is_ours = id != std::process::id() && entry.metadata().ok()?.uid() == user;
        (is_ours && is_named(&entry.path())).then(|| Some((id, process_start(id)?)))?
    });
    ours.collect()
}

/// Whether the ports of this machine are known without connecting to them.
pub(crate) const fn is_port_table_known() -> bool {
    cfg!(target_os = "linux")
}

/// The TCP ports of this machine on which a program listens. It is read from the kernel: no program sees a connection.
#[cfg(target_os = "linux")]
pub(crate) fn listening_ports() -> BTreeSet<u16> {
    let tables = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| fs::read_to_string(table).unwrap_or_default());
    tables.iter().flat_map(|table| table.lines()).filter_map(listening_port).collect()
}

/// The ports of this machine, as far as they are asked for by connecting.
#[cfg(not(target_os = "linux"))]
pub(crate) fn listening_ports() -> BTreeSet<u16> {
    BTreeSet::new()
}

/// The port of a row of the kernel's table, if a program listens.
#[cfg(any(target_os = "linux", test))]
fn listening_port(row: &str) -> Option<u16> {
    const LISTENS: &str = "0A";
    let mut fields = row.split_ascii_whitespace().skip(1);
    let (_, port) = fields.next()?.rsplit_once(':')?;
    (fields.nth(1)? == LISTENS).then(|| u16::from_str_radix(port, 16).ok())?
}

/// Whether a host takes a connection.
pub(crate) async fn takes_connection(host: &str, port: u16) -> bool {
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    matches!(timeout(CONNECT_WAIT, TcpStream::connect((host, port))).await, Ok(Ok(_)))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn a_stamp_differs_once_something_changed() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let stamps = || (file_stamp(&file), folder_stamp(folder.path()).unwrap());
        assert_eq!(file_stamp(&file), ABSENT);
        let mut seen = vec![stamps()];
        for text in ["a", "ab"] {
            fs::write(&file, text).unwrap();
            seen.push(stamps());
            assert_eq!(stamps(), *seen.last().unwrap());
        }
        seen.dedup_by(|a, b| a.0 == b.0 || a.1 == b.1);
        assert_eq!(seen.len(), 3);
        assert!(folder_stamp(&file).is_err());
    }

    #[test]
    fn only_ports_on_which_a_program_listens_count() {
        let row = "   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000  0 1";
        assert_eq!(listening_port(row), Some(8080));
        assert_eq!(listening_port(&row.replace(" 0A ", " 01 ")), None);
        assert_eq!(listening_port("  sl  local_address rem_address   st tx_queue"), None);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(!cfg!(target_os = "linux") || listening_ports().contains(&port));
        drop(listener);
        assert!(!listening_ports().contains(&port));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_is_known_while_it_runs() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let start = process_start(child.id()).expect("it runs");
        assert!(processes_named("sleep").contains(&(child.id(), start)));
        child.kill().unwrap();
        while process_start(child.id()).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }
}
