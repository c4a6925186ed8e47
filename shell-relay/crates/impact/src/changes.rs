//! Lists the paths that a command will change, so that what is there can be kept before the command runs.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    plan::{Pattern, Plan, PlanStep},
    walk::Walker,
};

/// What a command will change. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Paths whose content, with all that is below them, may change, vanish or appear; a folder that appears before what is in it.
    pub paths: Vec<PathBuf>,
    /// What is moved to where nothing is yet: from, to.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// The parts of the command whose changes are unknown, as phrases.
    pub uncovered: Vec<String>,
}

impl Changes {
    /// Whether no change is known or suspected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty() && self.moves.is_empty() && self.uncovered.is_empty()
    }

    fn uncovered(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.uncovered.contains(&what) {
            self.uncovered.push(what);
        }
    }
}

/// Finds the paths until `deadline`; patterns that take longer are uncovered.
#[must_use]
pub fn changes(plan: &Plan, deadline: Instant) -> Changes {
    let mut finder = Finder { walker: Walker::new(plan, deadline), changes: Changes::default() };
    plan.steps.iter().for_each(|step| finder.step(step));
    finder.changes
}

struct Finder<'a> {
    walker: Walker<'a>,
    changes: Changes,
}

impl Finder<'_> {
    fn step(&mut self, step: &PlanStep) {
        match step {
            PlanStep::Unknown(what) | PlanStep::Unseen(what) => self.changes.uncovered(what.as_str()),
            PlanStep::Lost => self.walker.cwd = None,
            PlanStep::Enter(folder) => self.walker.enter(folder),
            PlanStep::Match(_) => {}
            _ if self.walker.cwd.is_none() => self.changes.uncovered("what is in the folder that it goes to"),
            PlanStep::Remove(patterns, _) | PlanStep::RemoveBelow(patterns) => {
                let found = self.found(patterns);
                self.changes.paths.extend(found);
            }
            PlanStep::Replace(patterns) | PlanStep::Write(patterns) => {
                let mut found = self.named(patterns);
                found.retain(|path| !path.is_dir());
                self.changes.paths.extend(found);
            }
            PlanStep::Transfer(patterns, is_move) => self.transfer(patterns, *is_move),
        }
    }

    /// The existing paths that the patterns stand for.
    fn found(&mut self, patterns: &[Pattern]) -> Vec<PathBuf> {
        let mut found = self.named(patterns);
        found.retain(|path| fs::symlink_metadata(path).is_ok());
        found
    }

    /// The same, also those that do not exist.
    fn named(&mut self, patterns: &[Pattern]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for pattern in patterns {
            match self.walker.expand_all(pattern) {
                Some(paths) => found.extend(paths),
                None => self.changes.uncovered(format!("what {} matches", pattern.raw)),
            }
        }
        found
    }

    fn transfer(&mut self, patterns: &[Pattern], is_move: bool) {
        let Some((target, sources)) = patterns.split_last() else { return };
        let targets = self.named(std::slice::from_ref(target));
        let [target] = targets.as_slice() else { return };
        for source in self.found(sources) {
            let place = match (target.is_dir(), source.file_name()) {
                (true, Some(name)) => target.join(name),
                _ => target.clone(),
            };
            let is_new = fs::symlink_metadata(&place).is_err();
            if is_new && is_move {
                self.changes.moves.push((source, place));
            } else if source.is_dir() && place.is_dir() {
                self.changes.uncovered(format!("what is replaced within {}", place.display()));
            } else if is_move {
                self.changes.paths.extend([source, place]);
            } else {
                self.copied(&source, &place);
            }
        }
    }

    /// The paths that a copy of `source` makes at `place`.
    fn copied(&mut self, source: &Path, place: &Path) {
        let mut waiting = vec![(source.to_owned(), place.to_owned())];
        while let Some((source, place)) = waiting.pop() {
            if !self.walker.may_go_on() {
                return self.changes.uncovered(format!("what is copied to {}", place.display()));
            }
            let is_folder = fs::symlink_metadata(&source).is_ok_and(|metadata| metadata.is_dir());
            let entries = is_folder.then(|| fs::read_dir(&source).ok()).flatten();
            for entry in entries.into_iter().flatten().flatten() {
                waiting.push((entry.path(), place.join(entry.file_name())));
            }
            self.changes.paths.push(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::plan::{Known, plan};

    /// A folder with some files, and what these lines change in it, by names below it.
    fn changed_by(line: &str) -> (Vec<String>, Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("d/deep")).unwrap();
        for file in ["a.txt", "b.txt", "d/f", "d/deep/g"] {
            fs::write(root.join(file), "x").unwrap();
        }
        let plan = plan(line, &Known::of("/home/ann".into(), root.clone()));
        let changes = changes(&plan, Instant::now() + Duration::from_secs(60));
        let name = |path: &PathBuf| path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let moves = changes.moves.iter().map(|(from, to)| format!("{} -> {}", name(from), name(to))).collect();
        (changes.paths.iter().map(name).collect(), moves, changes.uncovered)
    }

    #[test]
    fn each_command_names_what_it_changes() {
        for (line, paths, moves, uncovered) in [
            ("rm a.txt none.txt", "a.txt", "", ""),
            ("rm -rf d *.txt", "d a.txt b.txt", "", ""),
            ("cd d && rm -r deep; rm f", "d/deep d/f", "", ""),
            ("find d -name '*.o' -delete", "d", "", ""),
            ("mv a.txt new.txt", "", "a.txt -> new.txt", ""),
            ("mv a.txt b.txt", "a.txt b.txt", "", ""),
            ("mv *.txt d", "", "a.txt -> d/a.txt|b.txt -> d/b.txt", ""),
            ("cp a.txt b.txt", "b.txt", "", ""),
            ("cp -r d copy", "copy copy/f copy/deep copy/deep/g", "", ""),
            ("sed -i s/x/y/ a.txt *.txt", "a.txt a.txt b.txt", "", ""),
            ("sed -i -e s/x/y/ a.txt", "a.txt", "", ""),
            ("sed s/x/y/ a.txt", "", "", ""),
            ("echo x > a.txt; echo y >> log 2>/dev/null", "a.txt log", "", ""),
            ("touch two.txt && rm -f b.txt", "two.txt b.txt", "", ""),
            ("mkdir -p x/y", "x/y", "", ""),
            ("truncate -s 0 a.txt", "a.txt", "", ""),
            ("git checkout -- a.txt", "a.txt", "", ""),
            ("git restore a.txt b.txt", "a.txt b.txt", "", ""),
            ("git restore --staged a.txt", "", "", "what `git restore` changes in files"),
            ("git reset --hard", "", "", "what `git reset` changes in files"),
            ("git status; ls; export A=1", "", "", ""),
            ("(cd d; make)", "", "", "what is in parentheses"),
            ("make install", "", "", "what `make` changes in files"),
            ("rm \"$(cat list)\"", "", "", "the value of an expansion such as `${x:-y}` or `$1`"),
        ] {
            let (mut found, moved, unknown) = changed_by(line);
            // Folders are read in any order.
            let mut expected: Vec<&str> = paths.split_whitespace().collect();
            if line.starts_with("cp -r") {
                assert!(found.iter().position(|path| path == "copy") < found.iter().position(|path| path == "copy/f"));
                found.sort();
                expected.sort_unstable();
            }
            assert_eq!(found, expected, "{line}");
            assert_eq!((moved.join("|"), unknown.join("|")), (moves.to_owned(), uncovered.to_owned()), "{line}");
        }
    }
}
