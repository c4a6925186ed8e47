//! Files around questions that are not told to the model: the user hears of each once.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use cohab_shell_relay::sanitize::one_line;

use crate::context::text_file::Skipped;

/// Files that are remembered. Beyond, nothing is said of new ones.
const MAX_NAMED: usize = 128;
/// Files that one notice names.
const MAX_IN_NOTICE: usize = 3;
/// Names at the end of a path that are shown.
const SHOWN_NAMES: usize = 2;
/// Of them, columns.
const PATH_COLUMNS: usize = 40;

/// What was named already.
#[derive(Debug, Default)]
pub struct Named(Mutex<BTreeSet<Skipped>>);

impl Named {
    /// What is to be said of these, if some are new.
    #[must_use]
    pub fn notice(&self, skipped: &[Skipped]) -> Option<String> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<&Skipped> =
            skipped.iter().filter(|one| known.len() < MAX_NAMED && known.insert((*one).clone())).collect();
        let shown: Vec<String> =
            new.iter().take(MAX_IN_NOTICE).map(|one| format!("{} ({})", short(&one.path), one.reason)).collect();
        let more = match new.len().saturating_sub(MAX_IN_NOTICE) {
            0 => String::new(),
            more => format!(" and {more} more; `cohab context` names them all"),
        };
        (!new.is_empty()).then(|| format!("Not told to the model: {}{more}.", shown.join(", ")))
    }
}

/// The end of a path, which says enough: all skills have a file of the same name.
fn short(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(SHOWN_NAMES).collect();
    let short: PathBuf = names.into_iter().rev().collect();
    one_line(&short.to_string_lossy(), PATH_COLUMNS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skipped(name: &str) -> Skipped {
        Skipped { path: name.into(), reason: "is no text".into() }
    }

    #[test]
    fn each_file_is_named_once_and_many_are_counted() {
        let named = Named::default();
        assert_eq!(named.notice(&[]), None);
        let one = [skipped("/home/ann/skills/deploy/SKILL.md")];
        assert_eq!(named.notice(&one).as_deref(), Some("Not told to the model: deploy/SKILL.md (is no text)."));
        assert_eq!(named.notice(&one), None);
        let many: Vec<Skipped> = (0..1_000).map(|n| skipped(&format!("/{n}"))).collect();
        let text = named.notice(&many).expect("a notice");
        assert!(text.ends_with("/2 (is no text) and 124 more; `cohab context` names them all."), "{text}");
        assert_eq!(named.notice(&many), None);
    }
}
