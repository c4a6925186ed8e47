//! Allows requests for the version or help of programs, even of those that could do anything else.

use std::{collections::HashSet, sync::LazyLock};

use cohab_shell_syntax::Word;

/// Programs with their allowed words.
static QUESTIONS: LazyLock<HashSet<(&str, &str)>> = LazyLock::new(|| {
    let lines = include_str!("version_queries.table").lines().filter(|line| !line.starts_with("# "));
    let fields = lines.filter_map(|line| line.split_once(" | "));
    fields
        .flat_map(|(phrases, programs)| {
            phrases.split(", ").flat_map(move |phrase| programs.split(' ').map(move |program| (program, phrase)))
        })
        .collect()
});

/// Whether `name` with just these words describes itself and ends.
pub(crate) fn is_plain(name: &str, words: &[Word]) -> bool {
    match words {
        [only] => QUESTIONS.contains(&(name, only.text.as_str())),
        [first, second] => QUESTIONS.contains(&(name, format!("{} {}", first.text, second.text).as_str())),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_question_alone_is_plain() {
        let word = |text: &str| Word { text: text.into(), ..Word::default() };
        let is_plain = |name, words: &[&str]| is_plain(name, &words.iter().map(|text| word(text)).collect::<Vec<_>>());
        assert!(is_plain("dd", &["--help"]) && is_plain("python", &["--version"]) && is_plain("java", &["-version"]));
        assert!(is_plain("kubectl", &["version", "--client"]) && is_plain("node", &["-v"]));
        for (name, words) in [
            ("dd", &["--help", "of=x"][..]),
            ("python", &["--version", "x.py"]),
            ("node", &["-v", "-e"]),
            ("kubectl", &["version"]),
            ("yes", &["--help"]),
            ("yarn", &["--version"]),
            ("frobnicate", &["--help"]),
            ("dd", &[]),
        ] {
            assert!(!is_plain(name, words), "{name} {words:?}");
        }
    }
}
