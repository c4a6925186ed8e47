//! Finds the folder that a question names among those in which something was done. Pure.

use std::path::{Path, PathBuf};

use super::{reading::Reader, store::WordGroup, terms};
use crate::words;

/// A folder counts if the question has this share of the terms of its name.
const LEAST_SHARE: f64 = 0.5;

/// The folder that a question with these groups names: "in the shop project" names `~/src/shop`. Of several, the one of whose path the
/// question has most; of those the shortest. `None` if it names none.
#[must_use]
pub fn named(groups: &[WordGroup], folders: &[PathBuf]) -> Option<PathBuf> {
    let wanted: Vec<&str> = groups.iter().map(|group| group.term.as_str()).collect();
    let reader = Reader::of(&wanted);
    let of = |folder: &Path| {
        let (found, words) = reader.terms_of(&folder.file_name()?.to_string_lossy());
        let telling = found.iter().any(|term| !words::is_common(wanted[*term]));
        let share = as_f64(found.len()) / as_f64(words);
        let whole: usize = terms::names(folder).map(|name| reader.terms_of(&name).0.len()).sum();
        (telling && share >= LEAST_SHARE).then_some((share, whole))
    };
    let scored = folders.iter().filter_map(|folder| Some((of(folder)?, folder)));
    let best = scored.max_by(|((share, whole), folder), ((other_share, other_whole), other)| {
        let parts = |folder: &Path| folder.components().count();
        share.total_cmp(other_share).then(whole.cmp(other_whole)).then(parts(other).cmp(&parts(folder)))
    });
    best.map(|(_, folder)| folder.clone())
}

#[expect(clippy::cast_precision_loss, reason = "a name has few terms")]
fn as_f64(count: usize) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::recall::groups;

    #[test]
    fn a_folder_is_named_by_its_last_name() {
        let folders: Vec<PathBuf> = [
            "/home/ann/src/shop",
            "/home/ann/src/shop/web",
            "/home/ann/photos/2026",
            "/home/ann/staff-survey",
            "/home/ann",
        ]
        .map(PathBuf::from)
        .into();
        let named = |question: &str| named(&groups(question), &folders).map(|folder| folder.display().to_string());
        assert_eq!(named("what did I do in the shop project").as_deref(), Some("/home/ann/src/shop"));
        assert_eq!(named("the rename in photos/2026"), None, "a number alone names nothing");
        assert_eq!(named("pre-commit in the survey repo").as_deref(), Some("/home/ann/staff-survey"));
        assert_eq!(named("which command fixed nginx"), None);
    }
}
