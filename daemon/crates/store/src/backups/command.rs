//! Keeps what a command is going to change, as far as that is known before it runs and fits. The command runs in any case.

use std::{
    collections::HashSet,
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    Backups, MAX_CHANGES,
    list::{BackupLine, TurnList, add},
    new_folders,
    state::{Kept, Left, MovedIdentity, Now, bytes_of},
};
use crate::spool::{kept_in, total};

/// The reason why the rest is not copied.
const TOO_SLOW: &str = "it took too long to copy";

/// Paths that were left out are named up to this number.
const MAX_LEFT_OUT: usize = 8;

/// What a command may change. Paths are absolute and may lead through links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommandChanges {
    /// The first line of the command.
    pub line: String,
    /// Paths whose content, with all that is below them, may change, vanish or appear.
    pub paths: Vec<PathBuf>,
    /// Paths whose permissions or times may change, and whether those of all that is below change as well.
    pub attributes: Vec<(PathBuf, bool)>,
    /// What is moved: from, to. Nothing is at the second path.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// The parts of the command whose changes are unknown, as phrases.
    pub uncovered: Vec<String>,
}

/// What was kept for a command that has not ended.
#[derive(Debug, Default)]
pub struct Pending {
    states: Vec<Watched>,
    moves: Vec<(PathBuf, PathBuf, u64)>,
}

/// A path before the command.
#[derive(Debug)]
struct Watched {
    path: PathBuf,
    now: Now,
    /// It was kept for this command, not for an earlier change of the turn.
    is_kept_anew: bool,
    /// Only its permissions and time are kept.
    is_attributes: bool,
}

/// What of a command is kept so far.
struct Keeping<'a> {
    backups: &'a Backups,
    folder: PathBuf,
    list: TurnList,
    bytes: u64,
    deadline: Instant,
    lines: Vec<BackupLine>,
    /// Paths that are kept or watched for this command.
    seen: HashSet<PathBuf>,
    pending: Pending,
    left_out: Vec<String>,
}

impl Backups {
    /// Keeps what the command is going to change; copying stops at `deadline`. What does not fit is noted as left out. Blocks.
    ///
    /// # Errors
    /// Nothing could be kept.
    pub fn keep_for_command(
        &self,
        (session, turn): (&str, &str),
        question: &str,
        changes: &CommandChanges,
        deadline: Instant,
    ) -> io::Result<Pending> {
        let folder = self.begin(session, turn, question)?;
        let list = TurnList::read(&folder)?;
        let bytes = total(&kept_in(&folder));
        let mut keeping = Keeping {
            backups: self,
            folder,
            list,
            bytes,
            deadline,
            lines: Vec::new(),
            seen: HashSet::new(),
            pending: Pending::default(),
            left_out: Vec::new(),
        };
        changes.paths.iter().for_each(|path| keeping.keep_tree(path));
        changes.attributes.iter().for_each(|(path, is_deep)| keeping.keep_attributes(path, *is_deep));
        for (from, to) in &changes.moves {
            if let (Some(from), Some(to)) = (resolved(from), resolved(to))
                && let Ok(metadata) = fs::symlink_metadata(&from)
            {
                keeping.pending.moves.push((from, to, metadata.ino()));
            }
        }
        let Keeping { folder, mut lines, pending, mut left_out, .. } = keeping;
        if left_out.len() > MAX_LEFT_OUT {
            let more = left_out.split_off(MAX_LEFT_OUT).len();
            left_out.push(format!("{more} more paths"));
        }
        lines.push(BackupLine::Command { line: changes.line.clone(), uncovered: changes.uncovered.clone(), left_out });
        add(&folder, lines)?;
        Ok(pending)
    }

    /// Notes what the command has left. Blocks.
    ///
    /// # Errors
    /// The list cannot be written.
    pub fn command_ended(&self, session: &str, turn: &str, pending: &Pending) -> io::Result<()> {
        let folder = self.turn(session, turn);
        let mut lines = Vec::new();
        for Watched { path, now: before, is_kept_anew, is_attributes } in &pending.states {
            let bytes = bytes_of(path);
            let Ok(now) = Now::at(path) else { continue };
            let attributes = now.attributes().filter(|_| *is_attributes);
            let is_same = attributes.is_some() && attributes == before.attributes();
            if is_same || now.is_untouched_since(before) && attributes.is_none() {
                lines.extend(is_kept_anew.then_some(BackupLine::Same { path: bytes }));
            } else if let Some(attributes) = attributes {
                lines.push(BackupLine::After { path: bytes, left: Left::Attributes(attributes) });
            } else if let Ok(Some(left)) = now.left(path) {
                lines.push(BackupLine::After { path: bytes, left });
            }
        }
        for (from, to, inode) in &pending.moves {
            let moved = fs::symlink_metadata(to)
                .ok()
                .filter(|metadata| !from.exists() && !from.is_symlink() && metadata.ino() == *inode);
            if let Some(metadata) = moved {
                let moved = MovedIdentity::of(to, &metadata, self.max_turn_bytes);
                let (path, kept) = (bytes_of(to), Kept::MovedFrom { path: bytes_of(from) });
                lines.push(BackupLine::Before { path: path.clone(), kept, new_folders: 0 });
                lines.push(BackupLine::After { path, left: Left::Moved(moved) });
            }
        }
        add(&folder, lines)
    }
}

impl Keeping<'_> {
    /// Keeps what is at `path` and below it, or notes why not.
    fn keep_tree(&mut self, path: &Path) {
        let Some(path) = resolved(path) else { return };
        if self.backups.root.starts_with(&path) {
            return self.left_out.push(format!("{}, which holds these copies", path.display()));
        }
        let found = match self.tree(&path) {
            Ok(found) => found,
            Err(reason) => return self.left_out.push(format!("{}: {reason}", path.display())),
        };
        for (path, now) in found {
            self.keep_content(path, now);
        }
    }

    fn keep_content(&mut self, path: PathBuf, now: Now) {
        // A part of the command may name it once more.
        if !self.seen.insert(path.clone()) {
            return;
        }
        // What the assistant itself left here in this turn is nothing to restore.
        let earlier = self.list.last(&path).and_then(|one| one.left.as_ref());
        // A move leaves a file that is not the assistant's own, a change of permissions its content.
        let earlier = earlier.filter(|left| !matches!(left, Left::Moved(_) | Left::Attributes(_)));
        if earlier.is_some_and(|left| now.is_left(left, &path).unwrap_or(false)) {
            return self.watch(path, now, false, false);
        }
        match self.kept(&path, &now) {
            Ok(kept) => {
                let kept = match kept {
                    Kept::File { copy, mode } => Kept::File { copy, mode: self.list.mode_before(&path, mode) },
                    Kept::Folder { mode } => Kept::Folder { mode: self.list.mode_before(&path, mode) },
                    other => other,
                };
                self.keep(path, now, kept, false);
            }
            Err(reason) => self.left_out.push(format!("{}: {reason}", path.display())),
        }
    }

    /// Keeps permissions and time of what is at `path`, and of all that is below it if `is_deep`.
    fn keep_attributes(&mut self, path: &Path, is_deep: bool) {
        let Some(path) = resolved(path) else { return };
        // The content counts nothing here.
        let found = match (is_deep, Now::at(&path)) {
            (true, _) => self.tree_of(&path, u64::MAX),
            (false, now) => now.map(|now| vec![(path.clone(), now)]).map_err(|error| error.to_string()),
        };
        let found = match found {
            Ok(found) => found,
            Err(reason) => return self.left_out.push(format!("{}: {reason}", path.display())),
        };
        for (path, now) in found {
            let earlier = self.list.last(&path);
            let is_own = |left: &Left| !matches!(left, Left::Moved(_)) && now.is_left(left, &path).unwrap_or(false);
            let left = earlier.and_then(|one| one.left.as_ref());
            let is_content =
                earlier.is_some_and(|one| !matches!(one.kept, Kept::Attributes(_) | Kept::MovedFrom { .. }));
            let attributes = now.attributes();
            match (left, attributes) {
                _ if self.seen.contains(&path) => {}
                (Some(left), _) if is_own(left) => {
                    self.seen.insert(path.clone());
                    self.watch(path, now, false, !is_content);
                }
                (_, Some(attributes)) if !is_content => {
                    self.seen.insert(path.clone());
                    self.keep(path, now, Kept::Attributes(attributes), true);
                }
                // The user has changed what the assistant left, or a file is about to be made.
                _ => self.keep_content(path, now),
            }
        }
    }

    fn keep(&mut self, path: PathBuf, now: Now, kept: Kept, is_attributes: bool) {
        self.lines.push(BackupLine::Before { path: bytes_of(&path), kept, new_folders: new_folders(&path) });
        self.watch(path, now, true, is_attributes);
    }

    fn watch(&mut self, path: PathBuf, now: Now, is_kept_anew: bool, is_attributes: bool) {
        self.pending.states.push(Watched { path, now, is_kept_anew, is_attributes });
    }

    /// What is at `path` and below it, each folder behind what it holds.
    fn tree(&self, path: &Path) -> Result<Vec<(PathBuf, Now)>, String> {
        self.tree_of(path, self.backups.max_turn_bytes)
    }

    fn tree_of(&self, path: &Path, max_bytes: u64) -> Result<Vec<(PathBuf, Now)>, String> {
        let mut found = Vec::new();
        let mut bytes = self.bytes;
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            let now = Now::at(&path).map_err(|error| error.to_string())?;
            match &now {
                Now::File(metadata) => bytes = bytes.saturating_add(metadata.len()),
                Now::Folder(_) => {
                    let entries = fs::read_dir(&path).map_err(|error| error.to_string())?;
                    waiting.extend(entries.flatten().map(|entry| entry.path()));
                }
                _ => {}
            }
            found.push((path, now));
            if self.list.changes.len() + self.pending.states.len() + found.len() > MAX_CHANGES {
                return Err("too many files".to_owned());
            }
            if bytes > max_bytes {
                return Err(format!("more than {} MiB", self.backups.max_turn_bytes / (1024 * 1024)));
            }
            if Instant::now() > self.deadline {
                return Err(TOO_SLOW.to_owned());
            }
        }
        found.reverse();
        Ok(found)
    }

    fn kept(&mut self, path: &Path, now: &Now) -> Result<Kept, String> {
        if let Now::File(metadata) = now {
            if Instant::now() > self.deadline {
                return Err(TOO_SLOW.to_owned());
            }
            let room = self.backups.max_turn_bytes.saturating_sub(self.bytes);
            self.bytes = self.bytes.saturating_add(metadata.len());
            return now.keep(path, &self.folder, room);
        }
        now.keep(path, &self.folder, 0)
    }
}

/// The path without links in the folders above it, which need not exist.
fn resolved(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?;
    let folder = path.parent()?;
    let there = folder.ancestors().find(|folder| folder.exists())?;
    let rest = folder.strip_prefix(there).ok()?;
    let is_plain = rest.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let real = there.canonicalize().ok()?;
    is_plain.then(|| real.join(rest).join(name))
}
