//! Reads the words of `find`: the places that it searches, the names by which it chooses files.

use cohab_shell_syntax::Word;

use super::{super::paths, Place, Refusal, ask, check_path_text};

/// Parts of names that only a search for credentials uses.
const CREDENTIAL_NAMES: &[&str] = &[
    "id_rsa",
    "id_ed25519",
    "id_ecdsa",
    "id_dsa",
    ".pem",
    ".env",
    ".netrc",
    "credential",
    "password",
    "passwd",
    "secret",
    ".kdbx",
    ".key",
    "token",
    ".pgpass",
    "wallet",
    ".p12",
    ".pfx",
];

/// Whether the results may contain a link, by the words behind the name or by the expression: unless a plain `-type f` holds for all of
/// it.
pub(super) fn finds_links(words: &[Word]) -> bool {
    let has_ways_around = |word: &Word| matches!(word.text.as_str(), "-o" | "-or" | "," | "!" | "-not" | "(" | ")");
    let mut actions = words.iter().enumerate().filter(|(_, word)| word.text == "-exec").map(|(at, _)| at);
    let tests = &words[..actions.next().unwrap_or(words.len())];
    let is_files = |pair: &[Word]| pair[0].text == "-type" && pair[1].text == "f";
    actions.next().is_some() || tests.iter().any(has_ways_around) || !tests.windows(2).any(is_files)
}

/// The places to search, among the words behind its name.
pub(super) fn roots(words: &[Word]) -> &[Word] {
    let words = &words[count_options(words)..];
    &words[..count_roots(words)]
}

pub(super) fn count_options(words: &[Word]) -> usize {
    words.iter().take_while(|word| matches!(word.text.as_str(), "-H" | "-P") || is_optimisation(&word.text)).count()
}

pub(super) fn count_roots(words: &[Word]) -> usize {
    words.iter().take_while(|word| !is_expression(&word.text)).count()
}

fn is_optimisation(text: &str) -> bool {
    text.strip_prefix("-O").is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_expression(text: &str) -> bool {
    text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",")
}

/// Judges the names by which `find` with these words chooses files whose contents are shown.
pub(super) fn check_choice(words: &[Word], place: Place<'_>) -> Result<(), Refusal> {
    let words = &words[count_options(words)..];
    let expression = &words[count_roots(words)..];
    (1..expression.len()).try_for_each(|at| {
        let before = at.checked_sub(2).and_then(|at| expression.get(at));
        check_chosen(&expression[at - 1].text, &expression[at], before, place)
    })
}

/// Judges the patterns by which `find` chooses files whose contents are shown. `before` is the word in front of the test.
pub(super) fn check_chosen(test: &str, value: &Word, before: Option<&Word>, place: Place<'_>) -> Result<(), Refusal> {
    if before.is_some_and(|word| matches!(word.text.as_str(), "!" | "-not")) {
        return Ok(());
    }
    match test {
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" => {
            check_path_text(&value.text, false, place.context, paths::read_risk)?;
            // A name that the pattern matches: `*.env` is no name of a secret, `x.env` is.
            check_path_text(&value.text.replace(['*', '?'], "x"), false, place.context, paths::read_risk)
        }
        "-regex" | "-iregex" if names_credentials(&value.text) => ask("shows files whose names tell of secrets"),
        _ => Ok(()),
    }
}

/// Whether a pattern has a part of a name that only a search for credentials uses.
pub(super) fn names_credentials(pattern: &str) -> bool {
    let lower = pattern.to_ascii_lowercase();
    CREDENTIAL_NAMES.iter().any(|name| lower.contains(name))
}
