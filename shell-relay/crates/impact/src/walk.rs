//! Looks at the files of a [`Plan`]: bounded in names and in time, never follows a link, changes nothing.

use std::{
    fs,
    os::unix::fs::MetadataExt,
    path::{Component, Path, PathBuf},
    time::Instant,
};

use crate::{
    Grave, Impact, Note, Tally,
    plan::{Pattern, Plan, PlanStep, TransferKind},
};

/// Names that are looked at for one command.
pub const MAX_NAMES: usize = 20_000;
/// Of what a pattern matches, so many are named.
const MAX_EXAMPLES: usize = 3;
/// Replaced files that are named.
const MAX_REPLACED: usize = 6;

/// Does the looks of `plan` until `deadline`. What was not seen by then is said to be more.
#[must_use]
pub fn look(plan: &Plan, deadline: Instant) -> Impact {
    let mut walker = Walker::new(plan, deadline);
    for step in &plan.steps {
        walker.step(step);
    }
    Impact { notes: walker.notes }
}

pub(crate) struct Walker<'a> {
    /// Where the shell is by now; `None` if that is uncertain.
    pub(crate) cwd: Option<PathBuf>,
    home: &'a Path,
    names_left: usize,
    deadline: Instant,
    notes: Vec<Note>,
}

impl<'a> Walker<'a> {
    /// At the beginning of `plan`.
    pub(crate) fn new(plan: &'a Plan, deadline: Instant) -> Self {
        Self { cwd: Some(plan.cwd.clone()), home: &plan.home, names_left: MAX_NAMES, deadline, notes: Vec::new() }
    }

    fn step(&mut self, step: &PlanStep) {
        match step {
            PlanStep::Unknown(what) => self.note(Note::Unknown(what.clone())),
            PlanStep::Lost => self.cwd = None,
            PlanStep::Enter(folder) => self.enter(folder),
            step if !step.is_shown() => {}
            _ if self.cwd.is_none() => self.note(Note::Unknown("what is in the folder that it goes to".into())),
            PlanStep::Remove(patterns, is_recursive) => self.remove(patterns, *is_recursive, false),
            PlanStep::RemoveBelow(roots) => self.remove(roots, true, true),
            PlanStep::Replace(patterns) => self.replace(patterns),
            PlanStep::Transfer(_, TransferKind::Link) => {}
            PlanStep::Transfer(patterns, _) => self.transfer(patterns),
            PlanStep::Match(pattern) => self.matches(pattern),
            _ => {}
        }
    }

    /// Goes to a folder. Only one existing folder is where a shell would surely go.
    pub(crate) fn enter(&mut self, folder: &Pattern) {
        let found = self.expand(folder);
        self.cwd = found.filter(|found| found.len() == 1 && found[0].is_dir()).map(|mut found| found.swap_remove(0));
    }

    fn note(&mut self, note: Note) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn remove(&mut self, patterns: &[Pattern], is_recursive: bool, is_upper_bound: bool) {
        let mut tally = Tally { is_upper_bound, ..Tally::default() };
        for pattern in patterns {
            self.note_all_of(pattern);
            let Some(found) = self.expand(pattern) else {
                tally.is_partial = true;
                continue;
            };
            tally.named += found.len();
            for path in found {
                if tally.examples.len() < MAX_EXAMPLES {
                    tally.examples.push(path.clone());
                }
                if is_recursive {
                    self.note_grave(&path);
                }
                self.count(&path, is_recursive, &mut tally);
            }
        }
        self.note(Note::Removes(tally));
    }

    /// `~/*` and `/*` are all of home and root.
    fn note_all_of(&mut self, pattern: &Pattern) {
        let Some((None, folder)) = pattern.letters.split_last() else { return };
        let folder: Option<String> = folder.iter().map(|letter| letter.flatten()).collect();
        let Some(folder) = folder.filter(|folder| folder.ends_with('/') || folder.is_empty()) else { return };
        let Some(folder) = self.cwd.as_ref().map(|cwd| cwd.join(&folder)) else { return };
        match fs::canonicalize(folder) {
            Ok(folder) if folder == Path::new("/") => self.note(Note::Grave(Grave::Root)),
            Ok(folder) if folder == self.home => self.note(Note::Grave(Grave::Home)),
            _ => {}
        }
    }

    fn note_grave(&mut self, path: &Path) {
        // A link itself is removed, not what it leads to.
        if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
            return;
        }
        let Ok(real) = fs::canonicalize(path) else { return };
        let is_mount = real.parent().is_some_and(|parent| device(&real) != device(parent));
        let holds_cwd = self.cwd.as_ref().is_some_and(|cwd| cwd.starts_with(&real));
        if real == Path::new("/") {
            self.note(Note::Grave(Grave::Root));
        } else if self.home.starts_with(&real) {
            self.note(Note::Grave(Grave::Home));
        } else if is_mount {
            self.note(Note::Grave(Grave::MountPoint(real)));
        } else if holds_cwd {
            self.note(Note::Grave(Grave::Here(real)));
        }
    }

    /// Adds what is at `path` and, if wanted, below.
    fn count(&mut self, path: &Path, is_recursive: bool, tally: &mut Tally) {
        let mut waiting = vec![path.to_owned()];
        while let Some(path) = waiting.pop() {
            if !self.may_go_on() {
                tally.is_partial = true;
                return;
            }
            self.names_left -= 1;
            let Ok(metadata) = fs::symlink_metadata(&path) else { continue };
            if !metadata.is_dir() {
                tally.files += 1;
                tally.bytes = tally.bytes.saturating_add(metadata.len());
                continue;
            }
            tally.folders += 1;
            if is_recursive {
                match fs::read_dir(&path) {
                    Ok(entries) => {
                        let room = self.names_left.saturating_add(1);
                        waiting.extend(entries.flatten().take(room).map(|entry| entry.path()));
                    }
                    // What cannot be listed may hold anything.
                    Err(_) => tally.is_partial = true,
                }
            }
        }
    }

    pub(crate) fn may_go_on(&self) -> bool {
        self.names_left > 0 && Instant::now() < self.deadline
    }

    /// One more name was looked at.
    pub(crate) fn count_name(&mut self) {
        self.names_left = self.names_left.saturating_sub(1);
    }

    fn replace(&mut self, patterns: &[Pattern]) {
        let found = patterns.iter().filter_map(|pattern| self.expand(pattern)).flatten().collect::<Vec<_>>();
        self.note_replaced(found);
    }

    fn note_replaced(&mut self, paths: Vec<PathBuf>) {
        let mut files = Vec::new();
        for path in paths {
            if let Ok(metadata) = fs::metadata(&path)
                && metadata.is_file()
                && files.len() < MAX_REPLACED
            {
                files.push((path, metadata.len()));
            }
        }
        if !files.is_empty() {
            self.note(Note::Replaces(files));
        }
    }

    fn transfer(&mut self, patterns: &[Pattern]) {
        let Some((target, sources)) = patterns.split_last() else { return };
        let Some(target) = self.expand_all(target) else { return };
        let [target] = target.as_slice() else { return };
        let mut hit = Vec::new();
        let sources: Vec<_> = sources.iter().filter_map(|source| self.expand(source)).flatten().collect();
        for source in sources {
            let place = match (target.is_dir(), source.file_name()) {
                (true, Some(name)) => target.join(name),
                _ => target.clone(),
            };
            if place.is_dir() && source.is_dir() {
                self.note(Note::Unknown(format!("what is replaced within {}", place.display())));
            } else {
                hit.push(place);
            }
        }
        hit.dedup();
        self.note_replaced(hit);
    }

    fn matches(&mut self, pattern: &Pattern) {
        let note = match self.expand(pattern) {
            Some(mut found) => {
                let count = found.len();
                found.truncate(MAX_EXAMPLES);
                Note::Matches { pattern: pattern.raw.clone(), count, examples: found }
            }
            None => Note::Unknown(format!("what {} matches: more than {MAX_NAMES} names are there", pattern.raw)),
        };
        self.note(note);
    }

    /// The existing paths that a pattern stands for, sorted. `None` if they are too many to look at, or time is up.
    pub(crate) fn expand(&mut self, pattern: &Pattern) -> Option<Vec<PathBuf>> {
        let mut found = self.expand_all(pattern)?;
        found.retain(|path| fs::symlink_metadata(path).is_ok());
        Some(found)
    }

    /// The same, also one that does not exist if it is no pattern.
    pub(crate) fn expand_all(&mut self, pattern: &Pattern) -> Option<Vec<PathBuf>> {
        let mut found = vec![match pattern.letters.first() {
            Some(Some(Some('/'))) => PathBuf::from("/"),
            _ => self.cwd.clone()?,
        }];
        for name in pattern.letters.split(|letter| *letter == Some(Some('/'))).filter(|name| !name.is_empty()) {
            let literal: Option<String> = name.iter().map(|letter| letter.flatten()).collect();
            match literal {
                Some(literal) => found.iter_mut().for_each(|path| enter(path, &literal)),
                None => found = self.entries(&found, name)?,
            }
        }
        Some(found)
    }

    fn entries(&mut self, folders: &[PathBuf], name: &[Option<Option<char>>]) -> Option<Vec<PathBuf>> {
        let mut found = Vec::new();
        for folder in folders {
            for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                if !self.may_go_on() {
                    return None;
                }
                self.names_left -= 1;
                let text = entry.file_name().to_string_lossy().into_owned();
                let is_hidden = text.starts_with('.') && name.first() != Some(&Some(Some('.')));
                if !is_hidden && is_match(&text.chars().collect::<Vec<_>>(), name) {
                    found.push(entry.path());
                }
            }
        }
        found.sort();
        Some(found)
    }
}

/// As the shell goes: `..` leaves the name before it, unless that is a link.
fn enter(path: &mut PathBuf, name: &str) {
    match Path::new(name).components().next() {
        Some(Component::ParentDir) if path.is_symlink() => path.push(".."),
        Some(Component::ParentDir) => drop(path.pop()),
        Some(Component::CurDir) | None => {}
        _ => path.push(name),
    }
}

fn device(path: &Path) -> Option<u64> {
    fs::metadata(path).ok().map(|metadata| metadata.dev())
}

/// Whether a name matches letters, `*` (`None`) and `?` (`Some(None)`). Linear in their product.
fn is_match(name: &[char], pattern: &[Option<Option<char>>]) -> bool {
    let (mut at, mut place, mut star) = (0, 0, None);
    while at < name.len() {
        match pattern.get(place) {
            Some(None) => {
                star = Some((place, at));
                place += 1;
            }
            Some(Some(letter)) if letter.is_none_or(|letter| letter == name[at]) => {
                at += 1;
                place += 1;
            }
            _ => match star {
                Some((star_place, star_at)) => {
                    star = Some((star_place, star_at + 1));
                    (place, at) = (star_place + 1, star_at + 1);
                }
                None => return false,
            },
        }
    }
    pattern[place..].iter().all(Option::is_none)
}
