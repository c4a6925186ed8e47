//! Splits documents into the terms by which they are compared with questions. Pure.

use std::path::Path;

use crate::past::terms;

/// The terms of a text: those of [`terms::of`], and the parts of names such as `deployToStaging`.
///
/// ```
/// let terms = cohab_memory::knowledge::terms::of("call deployToStaging");
/// assert_eq!(terms, ["call", "deploytostag", "deploy", "to", "stage"]);
/// ```
#[must_use]
pub fn of(text: &str) -> Vec<String> {
    terms::of(&with_parts(text))
}

/// The terms of all names of a path.
#[must_use]
pub fn of_path(path: &Path) -> Vec<String> {
    of(&path.to_string_lossy())
}

/// A text, and behind it the parts of its names whose words begin with capital letters.
#[must_use]
pub fn with_parts(text: &str) -> String {
    let mut parts = String::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let cuts = cuts(word);
        let mut from = 0;
        for cut in cuts.iter().copied().chain((!cuts.is_empty()).then_some(word.len())) {
            parts.push(' ');
            parts.push_str(word.get(from..cut).unwrap_or_default());
            from = cut;
        }
    }
    if parts.is_empty() { text.to_owned() } else { format!("{text}{parts}") }
}

/// Where the words in a name begin, but the first: at the capital letter behind a small one, and at the last of several capital letters
/// before a small one.
fn cuts(word: &str) -> Vec<usize> {
    let letters: Vec<(usize, char)> = word.char_indices().collect();
    let is_cut = |window: &[(usize, char)]| match window {
        [(_, before), (_, letter), rest @ ..] => {
            letter.is_uppercase()
                && (before.is_lowercase()
                    || (before.is_uppercase() && rest.first().is_some_and(|(_, after)| after.is_lowercase())))
        }
        _ => false,
    };
    let windows = (1..letters.len()).filter_map(|at| letters.get(at - 1..letters.len().min(at + 2)));
    windows.filter(|window| is_cut(window)).filter_map(|window| Some(window.get(1)?.0)).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_give_their_parts() {
        assert_eq!(of("HTTPServer"), ["httpserver", "http", "server"]);
        assert_eq!(of("README Docker API"), ["readm", "docker", "api"]);
        assert_eq!(of("run_deploy_production"), ["run_deploy_product", "run", "deploy", "product"]);
        assert_eq!(of("größerÄnderung"), ["grosseranderung", "grosser", "anderung"]);
        assert_eq!(
            of_path(Path::new("src/myUpload/run_all.sh")),
            ["src", "myupload", "run_al", "run", "all", "sh", "my", "upload"]
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_bounded_terms(text in "(?s).{0,400}") {
            prop_assert!(with_parts(&text).starts_with(&text));
            prop_assert!(of(&text).len() <= terms::MAX_TERMS);
        }
    }
}
