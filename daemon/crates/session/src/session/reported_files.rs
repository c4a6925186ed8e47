//! Reports skipped files around questions to the user, each once. The model does not get these files.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cohab_context::{text_file::Skipped, workspace::Surroundings};
use cohab_text::sanitize::one_line;

/// Files that are remembered. Beyond, nothing is said of new ones.
const MAX_NAMED: usize = 128;
/// Longest path that is shown, in columns.
const PATH_COLUMNS: usize = 300;
/// Most files in one notice.
const MAX_IN_NOTICE: usize = 3;
/// Names shown of the end of a path.
const SHOWN_NAMES: usize = 2;
/// Columns of these names.
const NAMES_COLUMNS: usize = 40;

/// The files that were reported.
#[derive(Debug, Default)]
pub struct Named(Mutex<BTreeSet<Skipped>>);

impl Named {
    /// The notices about a question's surroundings that were not given before.
    pub fn notices(&self, surroundings: &Surroundings) -> impl Iterator<Item = String> {
        [self.notice(&surroundings.skipped), self.arrival(surroundings)].into_iter().flatten()
    }

    fn notice(&self, skipped: &[Skipped]) -> Option<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<&Skipped> =
            skipped.iter().filter(|one| known.len() < MAX_NAMED && known.insert((*one).clone())).collect();
        let shown: Vec<String> =
            new.iter().take(MAX_IN_NOTICE).map(|one| format!("{} ({})", short(&one.path), one.reason)).collect();
        let more = match new.len().saturating_sub(MAX_IN_NOTICE) {
            0 => String::new(),
            more => format!(" and {more} more; `cohab context` lists them all"),
        };
        (!new.is_empty()).then(|| format!("Not sent to the model: {}{more}.", shown.join(", ")))
    }

    /// The notice about a trusted project with instructions in use, on the first question in it.
    fn arrival(&self, surroundings: &Surroundings) -> Option<String> {
        let (root, trusted) = (surroundings.root.as_ref()?, surroundings.trusted.as_ref()?);
        let here = Skipped { path: root.clone(), reason: String::new() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = known.len() < MAX_NAMED && known.insert(here);
        let root = one_line(&root.to_string_lossy(), PATH_COLUMNS);
        is_new.then(|| format!("You trust {root}: cohab uses its {trusted}."))
    }
}

/// The end of a path, which identifies it: all skills have a file of the same name.
fn short(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(SHOWN_NAMES).collect();
    let short: PathBuf = names.into_iter().rev().collect();
    one_line(&short.to_string_lossy(), NAMES_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(name: &str) -> Skipped {
        Skipped { path: name.into(), reason: "is not text".into() }
    }

    #[test]
    fn each_file_is_named_once_and_many_are_counted() {
        let named = Named::default();
        assert_eq!(named.notice(&[]), None);
        let one = [skipped("/home/ann/skills/deploy/SKILL.md")];
        assert_eq!(named.notice(&one).as_deref(), Some("Not sent to the model: deploy/SKILL.md (is not text)."));
        assert_eq!(named.notice(&one), None);
        let many: Vec<Skipped> = (0..1_000).map(|n| skipped(&format!("/{n}"))).collect();
        let text = named.notice(&many).expect("a notice");
        assert!(text.ends_with("/2 (is not text) and 124 more; `cohab context` lists them all."), "{text}");
        assert_eq!(named.notice(&many), None);
    }

    #[test]
    fn a_trusted_project_is_named_once_where_it_says_something() {
        let named = Named::default();
        let at = |root: &str, trusted: Option<&str>| Surroundings {
            root: Some(root.into()),
            trusted: trusted.map(str::to_owned),
            ..Surroundings::default()
        };
        assert_eq!(named.arrival(&at("/a", None)), None);
        let told = named.arrival(&at("/a", Some("SOUL.md, 1 skill")));
        assert_eq!(told.as_deref(), Some("You trust /a: cohab uses its SOUL.md, 1 skill."));
        assert_eq!(named.arrival(&at("/a", Some("SOUL.md, 1 skill"))), None);
        assert!(named.arrival(&at("/b", Some("1 skill"))).is_some());
    }
}
