//! Takes back the last turns of random sessions, as a rewind does.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
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
                if from == to || !from.exists() {
                    return;
                }
                let moves = if to.exists() { vec![] } else { vec![(from.clone(), to.clone())] };
                let paths = if to.exists() { vec![from.clone(), to.clone()] } else { vec![] };
                let changes = CommandChanges { paths, moves, ..CommandChanges::default() };
                self.command(&turn, &changes, || fs::rename(&from, &to).expect("moved"));
                self.moves.push((from, to));
            }
            Deed::Append(file, text) => {
                let path = self.file(file);
                let old = fs::read_to_string(&path).unwrap_or_default();
                self.touch(&turn, &path, || fs::write(&path, format!("{old}{text}")).expect("written"));
            }
            Deed::MakeBelow(folder, text) => {
                let folder = self.work.join(format!("d{folder}"));
                let path = folder.join("made");
                self.touch(&turn, &folder, || {
                    fs::create_dir_all(&folder).expect("made");
                    fs::write(&path, text.to_string()).expect("written");
                });
            }
            Deed::Unknown(file, text) => {
                let uncovered = vec!["what `make` changes in files".to_owned()];
                let changes = CommandChanges { uncovered, ..CommandChanges::default() };
                let path = self.file(file);
                self.command(&turn, &changes, || fs::write(&path, format!("unknown {text}")).expect("written"));
            }
            Deed::ByUser(file, text) => {
                let path = self.file(file);
                fs::write(&path, format!("mine {text}")).expect("written");
                self.by_user.push((number, path));
            }
        }
    }

    /// All files with their content; folders without.
    fn tree(&self) -> BTreeMap<PathBuf, Option<String>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.work.clone()];
        while let Some(folder) = folders.pop() {
            for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
                let content = path.is_file().then(|| fs::read_to_string(&path).expect("text"));
                folders.extend(content.is_none().then(|| path.clone()));
                found.insert(path, content);
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
