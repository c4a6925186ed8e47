//! Lists the paths that a command will change, so that what is there can be kept before the command runs.

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    time::Instant,
};

use super::{
    git::GitPart,
    patch,
    plan::{GitStep, Lister, PatchStep, Pattern, Plan, PlanStep, TransferKind, UnpackStep},
    walk::Walker,
};

/// Longest patch that is read, in bytes.
const PATCH_BYTES: u64 = 4 * 1024 * 1024;
/// Links that follow each other at most.
const MAX_LINKS: usize = 40;
/// Folders in which no formatter changes files.
const FOREIGN: [&str; 6] = [".git", "node_modules", "target", ".venv", "venv", "vendor"];

/// What a command will change. Paths are absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Paths whose content, with all that is below them, may change, vanish or appear; a folder that appears before what is in it.
    pub paths: Vec<PathBuf>,
    /// What is moved to where nothing is yet: from, to.
    pub moves: Vec<(PathBuf, PathBuf)>,
    /// Paths whose permissions or times may change, and whether those of all that is below change as well.
    pub attributes: Vec<(PathBuf, bool)>,
    /// What a program has to list before it is known; [`crate::listing::list`] does.
    pub calls: Vec<ListCall>,
    /// The parts of the command whose changes are unknown, as phrases.
    pub uncovered: Vec<String>,
}

/// A listing by a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListCall {
    /// By git.
    Git(GitCall),
    /// Of an archive.
    Archive(ArchiveCall),
}

/// What a command of git is about to change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitCall {
    /// Where it runs.
    pub folder: PathBuf,
    /// Its name.
    pub subcommand: String,
    /// The parts that it changes.
    pub parts: Vec<GitPart>,
    /// Its options, without values.
    pub options: Vec<String>,
    /// The values of options.
    pub values: Vec<PathBuf>,
    /// Its operands.
    pub operands: Vec<PathBuf>,
    /// What is behind `--`.
    pub paths: Vec<PathBuf>,
}

/// An archive that is about to be unpacked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArchiveCall {
    /// The program that lists it.
    pub lister: Lister,
    /// The archive.
    pub archive: PathBuf,
    /// Where it is unpacked.
    pub folder: PathBuf,
    /// Leading parts of names that are left out.
    pub strip: usize,
}

impl Changes {
    /// Whether no change is known or suspected.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn uncovered(&mut self, what: impl Into<String>) {
        let what = what.into();
        if !self.uncovered.contains(&what) {
            self.uncovered.push(what);
        }
    }
}

/// Finds the paths until `deadline`; patterns that take longer are uncovered.
#[must_use]
pub fn changes(plan: &Plan, deadline: Instant) -> Changes {
    let mut finder = Finder {
        walker: Walker::new(plan, deadline),
        changes: Changes::default(),
        folders: Vec::new(),
        part: 0,
        moves: Vec::new(),
        named: Vec::new(),
    };
    for step in &plan.steps {
        finder.part += 1;
        finder.step(step);
    }
    finder.keep_what_moves_and_changes();
    finder.changes
}

struct Finder<'a> {
    walker: Walker<'a>,
    changes: Changes,
    /// Folders that an earlier part of the line makes.
    folders: Vec<PathBuf>,
    /// The part of the line that is looked at, by its number.
    part: usize,
    /// What is moved by which part.
    moves: Vec<(usize, PathBuf, PathBuf)>,
    /// The paths that a part names, but not as folders to be made or gone to; of a pattern its folder.
    named: Vec<(usize, PathBuf)>,
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
                // What is not there yet may be made by an earlier part of the line.
                let found = self.named(patterns);
                self.changes.paths.extend(found);
            }
            PlanStep::MakeFolders(patterns) => {
                let found = self.expanded(patterns);
                self.folders.extend(found.iter().cloned());
                self.changes.paths.extend(found);
            }
            PlanStep::Replace(patterns) | PlanStep::Write(patterns) => {
                let mut found = self.named(patterns);
                found.retain(|path| !path.is_dir());
                // Some programs write to where a link leads, some replace the link.
                let targets: Vec<PathBuf> = found.iter().filter_map(|path| target(path)).collect();
                self.changes.paths.extend(found.into_iter().chain(targets));
            }
            PlanStep::Transfer(patterns, kind) => self.transfer(patterns, *kind),
            PlanStep::Attributes(patterns, is_deep) => {
                let found = self.named(patterns);
                let found = found.into_iter().map(|path| (target(&path).unwrap_or(path), *is_deep));
                self.changes.attributes.extend(found);
            }
            PlanStep::WriteBelow(roots, endings) => self.write_below(roots, endings),
            PlanStep::Patch(step) => self.patch(step),
            PlanStep::Unpack(step) => self.unpack(step),
            PlanStep::Git(step) => self.git(step),
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
        let found = self.expanded(patterns);
        let folders = patterns.iter().filter(|pattern| pattern.is_open()).filter_map(|pattern| self.folder_of(pattern));
        let named: Vec<PathBuf> = found.iter().cloned().chain(folders).collect();
        self.named.extend(named.into_iter().map(|path| (self.part, path)));
        found
    }

    fn expanded(&mut self, patterns: &[Pattern]) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for pattern in patterns {
            match self.walker.expand_all(pattern) {
                Some(paths) => found.extend(paths),
                None => self.changes.uncovered(format!("what {} matches", pattern.raw)),
            }
        }
        found
    }

    /// The folder below which a pattern looks, without parts that are patterns.
    fn folder_of(&self, pattern: &Pattern) -> Option<PathBuf> {
        let literal: String = pattern.letters.iter().map_while(|letter| letter.flatten()).collect();
        let folder = literal.rsplit_once('/').map_or("", |(folder, _)| folder);
        self.walker.cwd.as_ref().map(|cwd| cwd.join(folder))
    }

    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir() || self.folders.iter().any(|folder| folder.starts_with(path))
    }

    /// Moved files are kept with their content if another part of the line names them: then they may end elsewhere.
    fn keep_what_moves_and_changes(&mut self) {
        let is_near = |one: &Path, other: &Path| one.starts_with(other) || other.starts_with(one);
        for (part, from, to) in std::mem::take(&mut self.moves) {
            let is_named =
                |(other, path): &(usize, PathBuf)| *other != part && (is_near(path, &from) || is_near(path, &to));
            if self.named.iter().any(is_named) {
                self.changes.paths.extend([from, to]);
            } else {
                self.changes.moves.push((from, to));
            }
        }
    }

    /// The one path of a pattern, or the shell's folder.
    fn place(&mut self, pattern: Option<&Pattern>) -> Option<PathBuf> {
        let Some(pattern) = pattern else { return self.walker.cwd.clone() };
        let found = self.named(std::slice::from_ref(pattern));
        <[PathBuf; 1]>::try_from(found).ok().map(|[path]| path)
    }

    fn transfer(&mut self, patterns: &[Pattern], kind: TransferKind) {
        let Some((target, sources)) = patterns.split_last() else { return };
        let targets = self.expanded(std::slice::from_ref(target));
        let [target] = targets.as_slice() else { return };
        if kind == (TransferKind::Sync { removes_others: true }) && target.exists() {
            self.changes.paths.push(target.clone());
        }
        for pattern in sources.iter().filter(|pattern| pattern.is_open()) {
            let folder = self.folder_of(pattern);
            let is_made = |(part, path): &(usize, PathBuf)| {
                *part != self.part && folder.as_ref().is_some_and(|folder| path.starts_with(folder))
            };
            // An earlier part may make more files that it matches.
            if self.named.iter().any(is_made) || !self.changes.calls.is_empty() {
                self.changes.uncovered(format!("what {} matches then", pattern.raw));
            }
        }
        let is_content = |source: &Path| {
            let is_open = sources.iter().any(|pattern| pattern.raw.ends_with('/') && !pattern.is_open());
            matches!(kind, TransferKind::Sync { .. }) && is_open && source.is_dir()
        };
        for source in self.named(sources) {
            let place = match (self.is_folder(target), source.file_name()) {
                (true, Some(name)) if !is_content(&source) => target.join(name),
                _ => target.clone(),
            };
            self.named.push((self.part, place.clone()));
            let is_there = |path: &Path| fs::symlink_metadata(path).is_ok();
            match kind {
                TransferKind::Move if is_there(&source) && !is_there(&place) => {
                    self.moves.push((self.part, source, place));
                }
                TransferKind::Move => self.changes.paths.extend([source, place]),
                TransferKind::Copy | TransferKind::Sync { .. } => self.copied(&source, &place),
                TransferKind::Link => self.changes.paths.push(place),
            }
        }
    }

    /// The files with these endings below the roots, or below the folder of the project.
    fn write_below(&mut self, roots: &[Pattern], endings: &[String]) {
        let mut waiting = self.found(roots);
        if roots.is_empty() {
            let cwd = self.walker.cwd.clone().unwrap_or_default();
            let project = cwd.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(&cwd);
            waiting.push(project.to_owned());
        }
        let mut found = Vec::new();
        while let Some(path) = waiting.pop() {
            if !self.walker.may_go_on() {
                return self.changes.uncovered(format!("what changes below {}", path.display()));
            }
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if metadata.is_dir() && !FOREIGN.contains(&name.as_ref()) {
                let entries = fs::read_dir(&path).into_iter().flatten().flatten();
                waiting.extend(entries.map(|entry| entry.path()));
            } else if metadata.is_file() && endings.iter().any(|ending| name.ends_with(ending.as_str())) {
                self.walker.count_name();
                found.push(path);
            }
        }
        found.sort();
        self.changes.paths.extend(found);
    }

    fn patch(&mut self, step: &PatchStep) {
        let (file, folder) = (self.place(Some(&step.file)), self.place(step.folder.as_ref()));
        let text = file.and_then(|file| {
            let is_file = fs::metadata(&file).is_ok_and(|metadata| metadata.is_file() && metadata.len() <= PATCH_BYTES);
            let mut text = Vec::new();
            fs::File::open(file).ok().filter(|_| is_file)?.take(PATCH_BYTES).read_to_end(&mut text).ok()?;
            String::from_utf8(text).ok()
        });
        let (Some(text), Some(folder)) = (text, folder) else {
            return self.changes.uncovered("what `patch` changes in files");
        };
        for name in patch::names(&text, step.strip) {
            let path = folder.join(name);
            let kept = ["", ".orig", ".rej"].map(|end| {
                let mut path = path.clone().into_os_string();
                path.push(end);
                PathBuf::from(path)
            });
            self.changes.paths.extend(kept.into_iter().filter(|path| !path.is_dir()));
        }
    }

    fn unpack(&mut self, step: &UnpackStep) {
        let (archive, folder) = (self.place(Some(&step.archive)), self.place(step.folder.as_ref()));
        let UnpackStep { lister, strip, .. } = *step;
        match (archive, folder) {
            (Some(archive), Some(folder)) => {
                self.changes.calls.push(ListCall::Archive(ArchiveCall { lister, archive, folder, strip }));
            }
            _ => self.changes.uncovered(format!("what {} holds", step.archive.raw)),
        }
    }

    fn git(&mut self, step: &GitStep) {
        let Some(folder) = self.place(step.folder.as_ref()) else {
            return self.changes.uncovered(format!("what `git {}` changes in files", step.subcommand));
        };
        if step.parts.contains(&GitPart::Files) {
            let found = self.found(&step.operands);
            self.changes.paths.extend(found);
        }
        let mut words = |patterns: &[Pattern]| -> Vec<PathBuf> {
            let word = |pattern: &Pattern| match pattern.literal() {
                Some(word) => vec![PathBuf::from(word)],
                None => self.named(std::slice::from_ref(pattern)),
            };
            patterns.iter().flat_map(word).collect()
        };
        let (values, operands, paths) = (words(&step.values), words(&step.operands), words(&step.paths));
        let (subcommand, parts, options) = (step.subcommand.clone(), step.parts.clone(), step.options.clone());
        let call = GitCall { folder, subcommand, parts, options, values, operands, paths };
        self.changes.calls.push(ListCall::Git(call));
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

/// Where the link at `path` leads to, which need not exist. `None` if it is no link, or leads in a circle.
fn target(path: &Path) -> Option<PathBuf> {
    let mut at = path.with_file_name(fs::read_link(path).ok()?);
    for _ in 0..MAX_LINKS {
        match fs::read_link(&at) {
            Ok(target) => at = at.with_file_name(target),
            Err(_) => return Some(at),
        }
    }
    None
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
        std::os::unix::fs::symlink("d/link", root.join("l")).unwrap();
        std::os::unix::fs::symlink("../new", root.join("d/link")).unwrap();
        fs::write(root.join("p.diff"), "--- a/d/f\n+++ b/d/f\n").unwrap();
        let plan = plan(line, &Known::of("/home/ann".into(), root.clone()));
        let changes = changes(&plan, Instant::now() + Duration::from_secs(60));
        let name = |path: &PathBuf| path.strip_prefix(&root).unwrap_or(path).display().to_string();
        let moves = changes.moves.iter().map(|(from, to)| format!("{} -> {}", name(from), name(to))).collect();
        let attributes = changes.attributes.iter().map(|(path, _)| path);
        (attributes.chain(&changes.paths).map(name).collect(), moves, changes.uncovered)
    }

    #[test]
    fn each_command_names_what_it_changes() {
        for (line, paths, moves, uncovered) in [
            ("rm a.txt none.txt", "a.txt none.txt", "", ""),
            ("mv a.txt x && mv x y", "x y a.txt x", "", ""),
            ("mv a.txt x && rm x", "x a.txt x", "", ""),
            ("rm a.txt && mv b.txt a.txt", "a.txt b.txt a.txt", "", ""),
            ("mkdir e && mv a.txt e/ && mv b.txt e", "e", "a.txt -> e/a.txt|b.txt -> e/b.txt", ""),
            ("mv a.txt x; mv *.txt d", "a.txt x a.txt d/a.txt", "b.txt -> d/b.txt", "what *.txt matches then"),
            ("cp -r d e && rm -r d", "e e/f e/deep e/deep/g e/link d", "", ""),
            ("rm -rf d *.txt", "d a.txt b.txt", "", ""),
            ("cd d && rm -r deep; rm f", "d/deep d/f", "", ""),
            ("find d -name '*.o' -delete", "d", "", ""),
            ("mv a.txt new.txt", "", "a.txt -> new.txt", ""),
            ("mv a.txt b.txt", "a.txt b.txt", "", ""),
            ("mv *.txt d", "", "a.txt -> d/a.txt|b.txt -> d/b.txt", ""),
            ("cp a.txt b.txt", "b.txt", "", ""),
            ("cp -r d copy", "copy copy/f copy/deep copy/deep/g copy/link", "", ""),
            ("sed -i s/x/y/ a.txt *.txt", "a.txt a.txt b.txt", "", ""),
            ("sed -i -e s/x/y/ a.txt", "a.txt", "", ""),
            ("sed s/x/y/ a.txt", "", "", ""),
            ("echo x > a.txt; echo y >> log 2>/dev/null", "a.txt log", "", ""),
            ("touch two.txt && rm -f b.txt", "two.txt b.txt", "", ""),
            ("mkdir -p x/y", "x/y", "", ""),
            ("truncate -s 0 a.txt", "a.txt", "", ""),
            ("echo x > l", "l d/../new", "", ""),
            ("chmod 600 l", "d/../new", "", ""),
            ("ln -sf a.txt link", "link", "", ""),
            ("ln -s a.txt b.txt d", "d/a.txt d/b.txt", "", ""),
            ("install -m 600 a.txt d", "d/a.txt", "", ""),
            ("cp -r d/deep d", "d/deep d/deep/g", "", ""),
            ("rsync -a d/ copy", "copy copy/deep copy/deep/g copy/f copy/link", "", ""),
            ("rsync -a d/ host:copy", "", "", "what `rsync` changes in files"),
            ("rsync -a --delete d/deep/ d", "d d d/g", "", ""),
            ("gzip a.txt", "a.txt.gz a.txt", "", ""),
            ("sort -o out.txt a.txt", "out.txt", "", ""),
            ("dd if=a.txt of=b.txt", "b.txt", "", ""),
            ("perl -pi -e s/x/y/ *.txt", "a.txt b.txt", "", ""),
            ("black d", "", "", ""),
            ("patch -p1 < p.diff", "d/f d/f.orig d/f.rej", "", ""),
            ("patch < none.diff", "", "", "what `patch` changes in files"),
            ("git rm -q a.txt", "a.txt", "", ""),
            ("git pull", "", "", "what `git pull` changes in files"),
            ("git push --force", "", "", "what the other repository holds"),
            ("apt install x", "", "", "the packages of the system"),
            ("git status; ls; export A=1", "", "", ""),
            ("(cd d; make)", "", "", "what is in parentheses"),
            ("make install", "", "", "what `make` changes in files"),
            ("rm \"$(cat list)\"", "", "", "the value of an expansion such as `${x:-y}` or `$1`"),
        ] {
            let (mut found, moved, unknown) = changed_by(line);
            // Folders are read in any order.
            let mut expected: Vec<&str> = paths.split_whitespace().collect();
            if line.starts_with("cp -r d copy") {
                assert!(found.iter().position(|path| path == "copy") < found.iter().position(|path| path == "copy/f"));
            }
            if line.starts_with("cp -r d e") {
                found.sort();
                expected.sort_unstable();
            }
            if line.starts_with("cp -r") || line.starts_with("rsync") {
                found.sort();
                expected.sort_unstable();
            }
            assert_eq!(found, expected, "{line}");
            assert_eq!((moved.join("|"), unknown.join("|")), (moves.to_owned(), uncovered.to_owned()), "{line}");
        }
    }

    #[test]
    fn permissions_change_without_content_and_projects_by_ending() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::create_dir_all(root.join("src/target")).unwrap();
        for file in ["src/a.rs", "src/b.txt", "src/target/c.rs", ".git/d.rs"] {
            fs::write(root.join(file), "x").unwrap();
        }
        let found = |line: &str| {
            let plan = plan(line, &Known::of("/home/ann".into(), root.join("src")));
            changes(&plan, Instant::now() + Duration::from_secs(60))
        };
        let modes = found("chmod -R go-w .; touch a.rs");
        assert_eq!(modes.attributes, [(root.join("src"), true), (root.join("src/a.rs"), false)]);
        assert!(modes.paths.is_empty(), "{modes:?}");
        assert_eq!(found("cargo fmt").paths, [root.join("src/a.rs")]);
    }
}
