//! Takes back the last turns of random sessions, as a rewind does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::PermissionsExt,
    time::Instant,
};

use proptest::prelude::*;

use super::*;

/// What happens in a turn, or between two.
#[derive(Clone, Debug)]
enum Deed {
    /// The tool `write`.
    Write(u8, u8),
    /// Commands whose changes are known.
    Remove(u8),
    Move(u8, u8),
    Append(u8, u8),
    MakeBelow(u8, u8),
    ChangeMode(u8, u8),
    ChangeTime(u8, u8),
    Link(u8, u8),
    RemoveFolder(u8),
    MoveFolder(u8, u8),
    ChangeModesBelow(u8, u8),
    /// A command of which it is not known what it changes.
    Unknown(u8, u8),
    /// The user changes a file, which no turn is told of.
    ByUser(u8, u8),
}

fn deed() -> impl Strategy<Value = Deed> {
    let (file, text) = (0u8..5, 0u8..9);
    prop_oneof![
        6 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::Write(file, text)),
        3 => file.clone().prop_map(Deed::Remove),
        3 => (file.clone(), file.clone()).prop_map(|(from, to)| Deed::Move(from, to)),
        4 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::Append(file, text)),
        3 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::MakeBelow(file, text)),
        2 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::ChangeMode(file, text)),
        1 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::ChangeTime(file, text)),
        2 => (file.clone(), file.clone()).prop_map(|(file, to)| Deed::Link(file, to)),
        2 => file.clone().prop_map(Deed::RemoveFolder),
        2 => (file.clone(), file.clone()).prop_map(|(from, to)| Deed::MoveFolder(from, to)),
        1 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::ChangeModesBelow(file, text)),
        1 => (file.clone(), text.clone()).prop_map(|(file, text)| Deed::Unknown(file, text)),
        1 => (file, text).prop_map(|(file, text)| Deed::ByUser(file, text)),
    ]
}

/// A session whose deeds are done for real, and recorded as the daemon records them.
struct Bench {
    _folder: tempfile::TempDir,
    work: PathBuf,
    backups: Backups,
    /// Files that the user changed, with the number of the turn in which that was.
    by_user: Vec<(usize, PathBuf)>,
    /// Pairs of paths of which one is the other, moved.
    moves: Vec<(PathBuf, PathBuf)>,
}

impl Bench {
    fn new() -> Self {
        // In memory, as each change is synced.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let work = root.join("work");
        fs::create_dir(&work).expect("made");
        fs::write(work.join("f0"), "first").expect("written");
        let backups = Backups::at(&root.join("state"));
        Self { _folder: folder, work, backups, by_user: Vec::new(), moves: Vec::new() }
    }

    fn file(&self, number: u8) -> PathBuf {
        self.work.join(format!("f{number}"))
    }

    fn folder(&self, number: u8) -> PathBuf {
        self.work.join(format!("d{number}"))
    }

    /// Where a path leads to, as a command's paths name it; `None` for a circle of links.
    fn target(&self, mut path: PathBuf) -> Option<PathBuf> {
        for _ in 0..9 {
            match fs::read_link(&path) {
                Ok(target) => path = target,
                Err(_) => return Some(path),
            }
        }
        None
    }

    fn attributes(&self, turn: &str, path: &Path, is_deep: bool, work: impl FnOnce()) {
        let changes = CommandChanges { attributes: vec![(path.to_owned(), is_deep)], ..CommandChanges::default() };
        self.command(turn, &changes, work);
    }

    /// A command with these changes does this work.
    fn command(&self, turn: &str, changes: &CommandChanges, work: impl FnOnce()) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let pending = self.backups.keep_for_command(("s", turn), "a question", changes, deadline).expect("kept");
        work();
        self.backups.command_ended("s", turn, &pending).expect("noted");
    }

    fn touch(&self, turn: &str, path: &Path, work: impl FnOnce()) {
        let changes = CommandChanges { paths: vec![path.to_owned()], ..CommandChanges::default() };
        self.command(turn, &changes, work);
    }

    fn does(&mut self, number: usize, deed: &Deed) {
        let turn = format!("t{number}");
        match *deed {
            Deed::Write(file, text) => {
                let path = self.file(file);
                if self.backups.keep("s", &turn, "a question", &path).is_ok() {
                    fs::write(&path, text.to_string()).expect("written");
                    self.backups.changed("s", &turn, &path).expect("noted");
                }
            }
            Deed::Remove(file) => {
                let path = self.file(file);
                self.touch(&turn, &path, || drop(fs::remove_file(&path)));
            }
            Deed::Move(from, to) => {
                let (from, to) = (self.file(from), self.file(to));
                if from == to || !is_there(&from) {
                    return;
                }
                let moves = if is_there(&to) { vec![] } else { vec![(from.clone(), to.clone())] };
                let paths = if is_there(&to) { vec![from.clone(), to.clone()] } else { vec![] };
                let changes = CommandChanges { paths, moves, ..CommandChanges::default() };
                self.command(&turn, &changes, || fs::rename(&from, &to).expect("moved"));
                self.moves.push((from, to));
            }
            Deed::Append(file, text) => {
                let path = self.file(file);
                let old = fs::read_to_string(&path).unwrap_or_default();
                if let Some(path) = self.target(path) {
                    self.touch(&turn, &path, || fs::write(&path, format!("{old}{text}")).expect("written"));
                }
            }
            Deed::MakeBelow(folder, text) => {
                let folder = self.folder(folder);
                let path = folder.join("made");
                self.touch(&turn, &folder, || {
                    fs::create_dir_all(&folder).expect("made");
                    fs::write(&path, text.to_string()).expect("written");
                });
            }
            Deed::Unknown(file, text) => {
                let uncovered = vec!["what `make` changes in files".to_owned()];
                let changes = CommandChanges { uncovered, ..CommandChanges::default() };
                let Some(path) = self.target(self.file(file)) else { return };
                self.command(&turn, &changes, || fs::write(&path, format!("unknown {text}")).expect("written"));
            }
            Deed::ByUser(file, text) => {
                let Some(path) = self.target(self.file(file)) else { return };
                fs::write(&path, format!("mine {text}")).expect("written");
                self.by_user.push((number, path));
            }
            _ => self.does_more(&turn, deed),
        }
    }

    fn does_more(&mut self, turn: &str, deed: &Deed) {
        match *deed {
            Deed::ChangeMode(file, mode) => {
                if let Some(path) = self.target(self.file(file)) {
                    self.attributes(turn, &path, false, || change_mode(&path, mode));
                }
            }
            Deed::ChangeTime(file, seconds) => {
                let Some(path) = self.target(self.file(file)) else { return };
                let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds.into());
                // As `touch` does.
                self.attributes(turn, &path, false, || {
                    let file = fs::OpenOptions::new().write(true).create(true).truncate(false).open(&path);
                    let _ = file.map(|file| file.set_modified(time));
                });
            }
            Deed::Link(file, to) => {
                let (path, to) = (self.file(file), self.file(to));
                self.touch(turn, &path, || {
                    let _ = fs::remove_file(&path);
                    std::os::unix::fs::symlink(&to, &path).expect("linked");
                });
            }
            Deed::RemoveFolder(folder) => {
                let path = self.folder(folder);
                self.touch(turn, &path, || drop(fs::remove_dir_all(&path)));
            }
            Deed::MoveFolder(from, to) => {
                let (from, to) = (self.folder(from), self.folder(to));
                if from.exists() && !to.exists() {
                    let changes =
                        CommandChanges { moves: vec![(from.clone(), to.clone())], ..CommandChanges::default() };
                    self.command(turn, &changes, || fs::rename(&from, &to).expect("moved"));
                    self.moves.push((from, to));
                }
            }
            Deed::ChangeModesBelow(folder, mode) => {
                let path = self.folder(folder);
                self.attributes(turn, &path, true, || {
                    change_mode(&path.join("made"), mode);
                    change_mode(&path, mode);
                });
            }
            _ => {}
        }
    }

    /// All that is there: permissions of files and folders, and the content of files or the target of links.
    fn tree(&self) -> BTreeMap<PathBuf, (u32, String)> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.work.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                let metadata = path.symlink_metadata().expect("it is there");
                let content = if metadata.is_symlink() {
                    format!("to {}", fs::read_link(&path).expect("a link").display())
                } else if metadata.is_dir() {
                    folders.push(path.clone());
                    "a folder".to_owned()
                } else {
                    fs::read_to_string(&path).expect("text")
                };
                found.insert(path, (metadata.permissions().mode(), content));
            }
        }
        found
    }

    /// The paths that need not be as they were: a rewind says why, or the user changed them since this turn. Of a path that was moved, the
    /// other one too.
    fn excused(&self, restored: &[Restored], since: usize) -> BTreeSet<PathBuf> {
        let files = restored.iter().flat_map(|one| &one.files);
        let refused = files.filter(|taken| matches!(&taken.word, Word::Refused { reason, .. } if !reason.is_empty()));
        let by_user = self.by_user.iter().filter(|(number, _)| *number >= since).map(|(_, path)| path.clone());
        let mut excused: BTreeSet<PathBuf> = refused.map(|taken| taken.path.clone()).chain(by_user).collect();
        for (from, to) in self.moves.iter().chain(self.moves.iter().rev()) {
            if excused.contains(from) || excused.contains(to) {
                excused.extend([from.clone(), to.clone()]);
            }
        }
        excused
    }
}

fn is_there(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}

/// The owner can still read, write and enter.
fn change_mode(path: &Path, mode: u8) {
    if !path.is_symlink() {
        let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o700 | u32::from(mode)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, max_shrink_iters: 300, ..ProptestConfig::default() })]
    /// After a rewind each path is as it was recorded at that moment, or the user has changed it, or a refusal names it.
    #[test]
    fn a_rewind_restores_the_moment_or_names_what_it_left(
        turns in prop::collection::vec(prop::collection::vec(deed(), 0..4), 1..6),
        back in 1usize..6,
    ) {
        let mut bench = Bench::new();
        let mut moments = Vec::new();
        for (number, deeds) in turns.iter().enumerate() {
            moments.push(bench.tree());
            deeds.iter().for_each(|deed| bench.does(number, deed));
        }
        let target = turns.len().saturating_sub(back);
        let ids: Vec<String> = (target..turns.len()).rev().map(|number| format!("t{number}")).collect();
        let restored: Vec<Restored> =
            ids.iter().filter_map(|turn| bench.backups.restore(Some(turn)).expect("the copies can be read")).collect();
        let (wanted, found) = (&moments[target], bench.tree());
        let excused = bench.excused(&restored, target);
        let is_unknown = restored.iter().flat_map(|one| &one.commands).any(|command| !command.uncovered.is_empty());
        let differs = |path: &&PathBuf| wanted.get(*path) != found.get(*path);
        for path in wanted.keys().chain(found.keys()).filter(differs) {
            let is_named = excused.iter().any(|one| path.starts_with(one) || one.starts_with(path));
            prop_assert!(is_named || is_unknown, "{path:?} of {wanted:?} is {found:?}; told: {restored:?}");
        }
    }
}
