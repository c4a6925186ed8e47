//! Caches and limits the questions about files while one line is judged. Each question is asked once.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use super::{Files, Program};

/// Largest number of paths of one line that are looked up. A person's line has far fewer.
const MAX_LOOKUPS: usize = 1_000;
/// Lookups that one pattern counts as: it takes as long as this many names.
const PATTERN_LOOKUPS: usize = 20;

/// The question about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Wanted {
    Targets,
    /// Whether its last link is followed.
    Landings(bool),
    Matches,
}

type Question = (PathBuf, Wanted);
type Answer = Option<Vec<PathBuf>>;

/// The files of a [`super::Context`] while one line is judged.
#[derive(Debug)]
pub(super) struct FileLookups<'a> {
    files: &'a dyn Files,
    asked: Mutex<Asked>,
}

#[derive(Debug, Default)]
struct Asked {
    answers: HashMap<Question, Answer>,
    lookups: usize,
}

impl<'a> FileLookups<'a> {
    pub(super) fn new(files: &'a dyn Files) -> Self {
        Self { files, asked: Mutex::default() }
    }

    /// Whether there was more to be looked at than was.
    pub(super) fn is_spent(&self) -> bool {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).lookups > MAX_LOOKUPS
    }

    fn ask(&self, path: &Path, wanted: Wanted, look: impl FnOnce() -> Answer) -> Answer {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let question = (path.to_owned(), wanted);
        if let Some(answer) = asked.answers.get(&question) {
            return answer.clone();
        }
        let is_pattern = path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b'*' | b'?'));
        asked.lookups += if is_pattern { PATTERN_LOOKUPS } else { 1 };
        if asked.lookups > MAX_LOOKUPS {
            return None;
        }
        let answer = look();
        asked.answers.insert(question, answer.clone());
        answer
    }
}

impl Files for FileLookups<'_> {
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
        self.ask(path, Wanted::Targets, || self.files.targets(path))
    }

    fn landings(&self, path: &Path, follows_last: bool) -> Option<Vec<PathBuf>> {
        self.ask(path, Wanted::Landings(follows_last), || self.files.landings(path, follows_last))
    }

    fn find_below(&self, root: &Path, with_hidden: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
        self.files.find_below(root, with_hidden, is_wanted)
    }

    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        self.ask(path, Wanted::Matches, || self.files.matches(path))
    }

    fn has_names_below(&self, root: &Path, is_odd: &dyn Fn(&str) -> bool) -> bool {
        self.files.has_names_below(root, is_odd)
    }

    fn link_below(&self, root: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        self.files.link_below(root, is_wanted)
    }

    fn is_open_to_others(&self, path: &Path, below: &Path) -> bool {
        self.files.is_open_to_others(path, below)
    }

    fn program(&self, path: &Path) -> Option<Program> {
        self.files.program(path)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[derive(Debug, Default)]
    struct Counted(AtomicUsize);

    impl Files for Counted {
        fn targets(&self, path: &Path) -> Option<Vec<PathBuf>> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Some(vec![path.to_owned()])
        }
        fn landings(&self, path: &Path, _follows_last: bool) -> Option<Vec<PathBuf>> {
            self.targets(path)
        }
        fn find_below(&self, _: &Path, _: bool, _: &dyn Fn(&str) -> bool) -> Option<PathBuf> {
            None
        }
    }

    #[test]
    fn each_question_is_asked_once_and_beyond_the_bound_none_is() {
        let counted = Counted::default();
        let lookups = FileLookups::new(&counted);
        for number in 0..MAX_LOOKUPS {
            let path = PathBuf::from(format!("/{number}"));
            assert!(lookups.targets(&path).is_some() && lookups.targets(&path).is_some(), "{number}");
        }
        assert!(!lookups.is_spent());
        assert_eq!(lookups.landings(Path::new("/0"), true), None);
        assert!(lookups.is_spent());
        assert_eq!(counted.0.load(Ordering::Relaxed), MAX_LOOKUPS);
        assert!(lookups.targets(Path::new("/0")).is_some(), "what is known stays known");
    }

    #[test]
    fn a_pattern_counts_as_many() {
        let counted = Counted::default();
        let lookups = FileLookups::new(&counted);
        let known = (0..MAX_LOOKUPS).take_while(|number| lookups.targets(Path::new(&format!("/{number}*"))).is_some());
        assert_eq!(known.count(), MAX_LOOKUPS / PATTERN_LOOKUPS);
    }
}
