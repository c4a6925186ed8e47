//! How surely a name that may hold wildcards is a listed one. Pure.

use super::glob;

/// How surely a path is a listed one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    No,
    /// A pattern in the path may match it.
    Maybe,
    Sure,
}

pub(super) fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// One component of a path against one of a listed place.
pub(super) fn like(component: &str, wanted: &str) -> Likeness {
    if !has_wildcard(component) {
        let is_match = glob::matches(component, wanted) || component.eq_ignore_ascii_case(wanted);
        return if is_match { Likeness::Sure } else { Likeness::No };
    }
    if !glob::overlaps(component, wanted) {
        return Likeness::No;
    }
    let literals = component.chars().filter(|c| !matches!(c, '*' | '?')).count();
    if literals >= 2 { Likeness::Sure } else { Likeness::Maybe }
}

/// A file name against a secret one. A pattern that says little of its end (`*`, `README*`) is no search for `*.pem`.
pub(super) fn like_name(name: &str, wanted: &str) -> Likeness {
    if has_wildcard(name) {
        let says_end = wanted.starts_with('*') && !name.ends_with(['*', '?']) || name.contains('.') && name != "*.*";
        let is_bare = name.chars().all(|c| matches!(c, '*' | '?'));
        if is_bare || (wanted.starts_with('*') && !says_end) {
            return Likeness::No;
        }
        if !glob::overlaps(name, wanted) {
            return Likeness::No;
        }
        return if wanted.starts_with('*') && !name.ends_with(&wanted[1..]) {
            Likeness::Maybe
        } else {
            like(name, wanted)
        };
    }
    let lower = name.to_ascii_lowercase();
    if glob::matches(&lower, wanted) { Likeness::Sure } else { Likeness::No }
}
