//! Compares what a condition depends on with what it was when it was last seen. That is kept as a short text, the anchor, so that a change
//! while no daemon runs is noticed by the next one.

use std::{collections::BTreeSet, os::unix::fs::MetadataExt, path::Path, sync::OnceLock};

use cohab_system::files::{FileError, open_regular};

use crate::{
    condition::{Condition, FileEvent, LogPattern, PortEvent, ProcessRef},
    log_lines::{self, LogPosition},
    system::{self, ABSENT},
};

const OPEN: &str = "open";
const CLOSED: &str = "closed";

/// What a look has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LookFinding {
    /// Nothing that the condition is about.
    Nothing,
    /// The condition holds.
    Held {
        /// What others may have written: lines of a log, or names of files; each line is cut, without control characters.
        detail: Vec<String>,
        /// How often it held, at least once.
        count: u64,
    },
    /// It cannot hold any more, or cannot be looked at: a clause.
    Impossible(String),
}

/// The result of a look.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookResult {
    /// What was found.
    pub finding: LookFinding,
    /// How it is now.
    pub anchor: String,
    /// Whether there is more to look at, at once.
    pub has_more: bool,
}

/// What several watchers look at: it is read once, for all of them.
#[derive(Default)]
pub struct Ports(OnceLock<BTreeSet<u16>>);

impl Ports {
    fn is_open(&self, port: u16) -> bool {
        self.0.get_or_init(system::listening_ports).contains(&port)
    }
}

/// The first anchor of a condition.
///
/// # Errors
/// There is nothing to wait for: a clause.
pub fn begin(condition: &Condition) -> Result<String, String> {
    let shown = |path: &Path| path.display().to_string();
    let folder_of = |path: &Path| match path.parent() {
        Some(folder) if folder.is_dir() => Ok(()),
        Some(folder) => Err(format!("there is no folder {}", shown(folder))),
        None => Ok(()),
    };
    match condition {
        Condition::Time(_) => Ok(String::new()),
        Condition::File { path, event } => {
            folder_of(path)?;
            let stamp = system::file_stamp(path);
            match (event, stamp == ABSENT) {
                (FileEvent::Appears, false) => Err(format!("{} is there already", shown(path))),
                (FileEvent::Changes | FileEvent::Disappears, true) => Err(format!("there is no file {}", shown(path))),
                _ => Ok(stamp),
            }
        }
        Condition::FolderChanges(path) => {
            system::folder_stamp(path).map_err(|error| format!("{} cannot be read: {error}", shown(path)))
        }
        Condition::LogMatches { path, .. } => {
            folder_of(path)?;
            match open_log(path) {
                Ok((_, inode, length)) => Ok(LogPosition { inode, offset: length, skips_line: false }.to_string()),
                Err(FileError::Missing) => Ok(LogPosition::default().to_string()),
                Err(error) => Err(format!("{} cannot be read: {error}", shown(path))),
            }
        }
        Condition::Port { host: None, port, event } if system::is_port_table_known() => {
            let is_open = Ports::default().is_open(*port);
            match (event, is_open) {
                (PortEvent::Opens, true) => Err(format!("port {port} is open already")),
                (PortEvent::Closes, false) => Err(format!("port {port} is not open")),
                _ => Ok(port_anchor(is_open)),
            }
        }
        // How it is on another machine, or where no table of ports is known, is not waited for here.
        Condition::Port { event, .. } => Ok(port_anchor(*event == PortEvent::Closes)),
        Condition::ProcessEnds(process) => {
            let (found, none) = match process {
                ProcessRef::Id(id) => {
                    (system::process_start(*id).map(|start| (*id, start)).into_iter().collect(), format!("{id} runs"))
                }
                ProcessRef::Name(name) => (system::processes_named(name), format!("of yours is called {name}")),
            };
            if found.is_empty() { Err(format!("no process {none}")) } else { Ok(process_anchor(&found)) }
        }
    }
}

/// Looks at a condition that was like `anchor`. `names` are entries of a folder that something happened to; `is_open` is how a port of
/// another machine is.
#[must_use]
pub fn look(condition: &Condition, anchor: &str, names: &[String], is_open: Option<bool>, ports: &Ports) -> LookResult {
    let (holds, now, detail) = match condition {
        Condition::Time(_) => (false, anchor.to_owned(), Vec::new()),
        Condition::File { path, event } => {
            let now = system::file_stamp(path);
            let (was_there, is_there) = (anchor != ABSENT, now != ABSENT);
            match event {
                // Some programs remove a file before they write it again.
                FileEvent::Changes if !is_there => (false, anchor.to_owned(), Vec::new()),
                FileEvent::Changes => (now != anchor, now, Vec::new()),
                FileEvent::Appears => (is_there && !was_there, now, Vec::new()),
                FileEvent::Disappears => (was_there && !is_there, now, Vec::new()),
            }
        }
        Condition::FolderChanges(path) => match system::folder_stamp(path) {
            Ok(now) => (now != anchor, now, names.to_vec()),
            Err(error) => return impossible(format!("{} cannot be read: {error}", path.display()), anchor),
        },
        Condition::Port { host, port, event } => {
            let is_open = match (host, is_open) {
                (_, Some(is_open)) => is_open,
                (None, None) if system::is_port_table_known() => ports.is_open(*port),
                (_, None) => anchor == OPEN,
            };
            let now = port_anchor(is_open);
            (now != anchor && is_open == (*event == PortEvent::Opens), now, Vec::new())
        }
        Condition::ProcessEnds(_) => {
            let left: Vec<(u32, u64)> = running(anchor).collect();
            (left.is_empty(), process_anchor(&left), Vec::new())
        }
        Condition::LogMatches { path, pattern } => return look_at_log(path, pattern, anchor),
    };
    let finding = if holds { LookFinding::Held { detail, count: 1 } } else { LookFinding::Nothing };
    LookResult { finding, anchor: now, has_more: false }
}

/// The processes of an anchor that still run.
pub fn running(anchor: &str) -> impl Iterator<Item = (u32, u64)> {
    let processes = anchor.split(' ').filter_map(|one| {
        let (id, start) = one.split_once('@')?;
        Some((id.parse().ok()?, start.parse().ok()?))
    });
    processes.filter(|(id, start)| system::process_start(*id) == Some(*start))
}

fn process_anchor(processes: &[(u32, u64)]) -> String {
    processes.iter().map(|(id, start)| format!("{id}@{start}")).collect::<Vec<_>>().join(" ")
}

fn port_anchor(is_open: bool) -> String {
    if is_open { OPEN } else { CLOSED }.to_owned()
}

fn impossible(reason: String, anchor: &str) -> LookResult {
    LookResult { finding: LookFinding::Impossible(reason), anchor: anchor.to_owned(), has_more: false }
}

/// The log with its inode and length. A link to it is followed; anything but a regular file is not opened.
fn open_log(path: &Path) -> Result<(std::fs::File, u64, u64), FileError> {
    let (file, metadata) = open_regular(&path.canonicalize()?)?;
    Ok((file, metadata.ino(), metadata.len()))
}

fn look_at_log(path: &Path, pattern: &LogPattern, anchor: &str) -> LookResult {
    let nothing =
        |anchor: &str| LookResult { finding: LookFinding::Nothing, anchor: anchor.to_owned(), has_more: false };
    let (mut log, inode, length) = match open_log(path) {
        Ok(opened) => opened,
        // It is being replaced, or comes later.
        Err(FileError::Missing) => return nothing(anchor),
        Err(error) => return impossible(format!("{} cannot be read: {error}", path.display()), anchor),
    };
    let Ok(pattern) = pattern.regex() else { return nothing(anchor) };
    let from = anchor.parse().unwrap_or_default();
    match log_lines::look(&mut log, (inode, length), from, &pattern) {
        Ok(found) => {
            let finding = match found.count {
                0 => LookFinding::Nothing,
                count => LookFinding::Held { detail: found.lines, count },
            };
            LookResult { finding, anchor: found.position.to_string(), has_more: found.has_more }
        }
        Err(error) => impossible(format!("{} cannot be read: {error}", path.display()), anchor),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::parse::parse;

    fn condition(text: &str, folder: &Path) -> Condition {
        parse(text, folder, folder).expect(text)
    }

    /// Whether it held, and how it is then.
    fn held(condition: &Condition, anchor: &mut String) -> bool {
        let look = look(condition, anchor, &[], None, &Ports::default());
        *anchor = look.anchor;
        matches!(look.finding, LookFinding::Held { .. })
    }

    #[test]
    fn a_file_appears_changes_and_disappears() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        let [changes, appears, disappears] =
            FileEvent::ALL.map(|event| condition(&format!("file a {}", event.word()), folder.path()));
        let mut absent = begin(&appears).unwrap();
        assert!(begin(&changes).unwrap_err().starts_with("there is no file "));
        assert!(!held(&appears, &mut absent));
        fs::write(&file, "1").unwrap();
        assert!(held(&appears, &mut absent) && !held(&appears, &mut absent));
        assert!(begin(&appears).unwrap_err().ends_with(" is there already"));
        let (mut known, mut present) = (begin(&changes).unwrap(), begin(&disappears).unwrap());
        assert!(!held(&changes, &mut known) && !held(&disappears, &mut present));
        fs::write(&file, "22").unwrap();
        assert!(held(&changes, &mut known) && !held(&changes, &mut known) && !held(&disappears, &mut present));
        fs::remove_file(&file).unwrap();
        assert!(!held(&changes, &mut known), "it may come back");
        assert!(held(&disappears, &mut present) && !held(&disappears, &mut present));
        assert!(!held(&appears, &mut absent));
        fs::write(&file, "22").unwrap();
        assert!(held(&appears, &mut absent) && held(&changes, &mut known), "again");
    }

    #[test]
    fn a_folder_that_is_gone_cannot_change() {
        let folder = tempfile::tempdir().unwrap();
        let sub = folder.path().join("sub");
        let changes = condition("folder sub changes", folder.path());
        assert!(begin(&changes).unwrap_err().contains("cannot be read"));
        fs::create_dir(&sub).unwrap();
        let mut anchor = begin(&changes).unwrap();
        fs::write(sub.join("a"), "1").unwrap();
        assert!(held(&changes, &mut anchor));
        fs::remove_dir_all(&sub).unwrap();
        let gone = look(&changes, &anchor, &[], None, &Ports::default());
        assert!(matches!(gone.finding, LookFinding::Impossible(_)));
    }

    #[test]
    fn new_lines_of_a_log_hold_also_after_a_rotation() {
        let folder = tempfile::tempdir().unwrap();
        let log = folder.path().join("app.log");
        fs::write(&log, "ERROR old\n").unwrap();
        let matches = condition("log app.log matches /error/i", folder.path());
        let mut anchor = begin(&matches).unwrap();
        assert!(!held(&matches, &mut anchor));
        fs::write(&log, "ERROR old\nok\nError: new\n").unwrap();
        let found = look(&matches, &anchor, &[], None, &Ports::default());
        assert_eq!(found.finding, LookFinding::Held { detail: vec!["Error: new".into()], count: 1 });
        anchor = found.anchor;
        fs::rename(&log, folder.path().join("app.log.1")).unwrap();
        assert!(!held(&matches, &mut anchor));
        fs::write(&log, "ERROR after\n").unwrap();
        assert!(held(&matches, &mut anchor));
    }

    #[test]
    fn a_fifo_is_not_opened_as_a_log() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let matches = condition("log pipe matches /x/", folder.path());
        assert!(begin(&matches).unwrap_err().contains("cannot be read"));
    }

    #[test]
    fn a_port_opens_and_closes() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let here = Path::new("/");
        let (opens, closes) =
            (condition(&format!("port {port} opens"), here), condition(&format!("port {port} closes"), here));
        assert_eq!(begin(&opens), Err(format!("port {port} is open already")));
        let (mut open, mut closed) = (begin(&closes).unwrap(), CLOSED.to_owned());
        assert!(!held(&closes, &mut open) && held(&opens, &mut closed));
        drop(listener);
        assert!(held(&closes, &mut open) && !held(&opens, &mut closed));
        let remote = condition("port example.org:22 opens", here);
        let anchor = begin(&remote).unwrap();
        let look = |is_open| look(&remote, &anchor, &[], is_open, &Ports::default()).finding;
        assert_eq!([look(None), look(Some(false))], [LookFinding::Nothing, LookFinding::Nothing]);
        assert!(matches!(look(Some(true)), LookFinding::Held { .. }));
    }

    #[test]
    fn processes_have_ended_once_all_have() {
        let mut children: Vec<_> =
            (0..2).map(|_| std::process::Command::new("sleep").arg("60").spawn().unwrap()).collect();
        let ids = children.iter().map(|child| (child.id(), system::process_start(child.id()).unwrap()));
        let mut anchor = process_anchor(&ids.collect::<Vec<_>>());
        let ends = condition("sleep ends", Path::new("/"));
        for child in &mut children {
            assert!(!held(&ends, &mut anchor));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        assert!(held(&ends, &mut anchor));
        assert!(begin(&condition("process 999999999 ends", Path::new("/"))).unwrap_err().contains("999999999 runs"));
    }
}
