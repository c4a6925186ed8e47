//! Compares a name that may hold wildcards with a listed one. Pure.

use cohab_shell_syntax::glob;

/// No file system has longer names.
pub(super) const MAX_NAME_BYTES: usize = 255;

/// The likeness of a path to a listed one.
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

/// Whether a pattern and a listed one match the same name. A pattern with more than a name matches none.
fn may_match(pattern: &str, wanted: &str) -> bool {
    let least = pattern.chars().filter(|c| *c != '*').count();
    least <= MAX_NAME_BYTES && glob::overlaps(pattern, wanted)
}

/// Compares one component of a path with one of a listed place.
pub(super) fn like(component: &str, wanted: &str) -> Likeness {
    if !has_wildcard(component) {
        let is_match = glob::matches(component, wanted) || component.eq_ignore_ascii_case(wanted);
        return if is_match { Likeness::Sure } else { Likeness::No };
    }
    if !may_match(component, wanted) {
        return Likeness::No;
    }
    // `cohab-*` and `dm-*` end in a number: `*.txt` is no search for them.
    let ending = component.rsplit(['*', '?']).next().unwrap_or_default();
    if wanted.ends_with("-*") && ending.contains('.') {
        return Likeness::No;
    }
    let literals = component.chars().filter(|c| !matches!(c, '*' | '?')).count();
    if literals >= 2 { Likeness::Sure } else { Likeness::Maybe }
}

/// Compares a file name, also given as `lower` in lower case, with a secret one. A pattern that leaves its end open (`*`, `README*`) is
/// no search for `*.pem`.
pub(super) fn like_name(name: &str, lower: &str, wanted: &str) -> Likeness {
    if has_wildcard(name) {
        let says_end = match name.rsplit_once('.') {
            _ if !name.ends_with(['*', '?']) => true,
            // `*.p*` may mean `*.pem`, `app.log*` does not.
            Some((_, ending)) if name != "*.*" => {
                let begun = ending.split(['*', '?']).next().unwrap_or_default();
                wanted.contains(&format!(".{begun}"))
            }
            _ => false,
        };
        let is_bare = name.chars().all(|c| matches!(c, '*' | '?'));
        if is_bare || (wanted.starts_with('*') && !says_end) {
            return Likeness::No;
        }
        if !may_match(name, wanted) {
            return Likeness::No;
        }
        return if wanted.starts_with('*') && !name.ends_with(&wanted[1..]) {
            Likeness::Maybe
        } else {
            like(name, wanted)
        };
    }
    if glob::matches(lower, wanted) { Likeness::Sure } else { Likeness::No }
}
