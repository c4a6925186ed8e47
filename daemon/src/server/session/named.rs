//! Files around questions that are not told to the model: the user hears of each once.

use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

use crate::context::text_file::Skipped;

/// Files that are remembered. Beyond, nothing is said of new ones.
const MAX_NAMED: usize = 128;
/// Files that one notice names.
const MAX_IN_NOTICE: usize = 4;

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
        let shown: Vec<String> = new.iter().take(MAX_IN_NOTICE).map(ToString::to_string).collect();
        let more = match new.len().saturating_sub(MAX_IN_NOTICE) {
            0 => String::new(),
            more => format!("; and {more} more, `cohab context` names them"),
        };
        (!new.is_empty()).then(|| format!("Not told to the model: {}{more}.", shown.join("; ")))
    }
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
        let one = [skipped("/a")];
        assert_eq!(named.notice(&one).as_deref(), Some("Not told to the model: /a: is no text."));
        assert_eq!(named.notice(&one), None);
        let many: Vec<Skipped> = (0..1_000).map(|n| skipped(&format!("/{n}"))).collect();
        let text = named.notice(&many).expect("a notice");
        assert!(text.ends_with("/3: is no text; and 123 more, `cohab context` names them."), "{text}");
        assert_eq!(named.notice(&many), None);
    }
}
