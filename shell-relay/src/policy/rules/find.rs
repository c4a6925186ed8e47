//! `find`: tests and output only.

use super::{
    super::{Context, command::Word, paths},
    Refusal, ask, check_path, check_path_text, danger,
};

const ALONE: &[&str] = &[
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-mount",
    "-nogroup",
    "-nouser",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-writable",
    "-xdev",
    "-not",
    "-a",
    "-and",
    "-o",
    "-or",
    "-ls",
];
const WITH_TEXT: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-user",
    "-wholename",
    "-xtype",
];
const WITH_FILE: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];
/// Parts of names that only who looks for credentials looks for.
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

pub(super) fn assess(words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let options = words
        .iter()
        .take_while(|word| matches!(word.text.as_str(), "-H" | "-P") || is_optimisation(&word.text))
        .count();
    let words = &words[options..];
    let roots = words.iter().take_while(|word| !is_expression(&word.text)).count();
    let (roots, expression) = words.split_at(roots);
    let mut is_wide = false;
    for root in roots {
        if root.has_glob && root.text.starts_with(['*', '?']) {
            return ask("a pattern may match a file that is named like an option; `./` in front avoids it");
        }
        check_path(root, context, paths::list_risk)?;
        is_wide |= paths::PlainPath::resolve(&root.text, root.has_tilde, context)
            .is_none_or(|path| paths::is_wide(&path, context));
    }
    if roots.is_empty() {
        check_path_text(".", false, context, paths::list_risk)?;
        is_wide = paths::PlainPath::resolve(".", false, context).is_none_or(|path| paths::is_wide(&path, context));
    }
    assess_expression(expression, is_wide, context)
}

fn is_optimisation(text: &str) -> bool {
    text.strip_prefix("-O").is_some_and(|level| !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_expression(text: &str) -> bool {
    text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",")
}

fn assess_expression(expression: &[Word], is_wide: bool, context: Context<'_>) -> Result<(), Refusal> {
    let mut words = expression.iter();
    while let Some(word) = words.next() {
        let text = word.text.as_str();
        if word.has_glob {
            return ask("a pattern of file names in the conditions of `find`");
        }
        if matches!(text, "(" | ")" | "!" | ",") || ALONE.contains(&text) {
            continue;
        }
        let is_newer = text
            .strip_prefix("-newer")
            .is_some_and(|kinds| kinds.len() == 2 && kinds.bytes().all(|kind| b"aBcmt".contains(&kind)));
        if !(is_newer || WITH_TEXT.contains(&text) || WITH_FILE.contains(&text)) {
            return if text.starts_with('-') {
                danger(format!("`find {text}` may run, write or delete"))
            } else {
                ask(format!("`find` does not know `{text}`"))
            };
        }
        let Some(value) = words.next() else { return ask(format!("`find {text}` lacks its value")) };
        if WITH_FILE.contains(&text) || (is_newer && !text.ends_with('t')) {
            check_path(value, context, paths::read_risk)?;
        } else {
            check_value(text, value, is_wide)?;
        }
    }
    Ok(())
}

fn check_value(test: &str, value: &Word, is_wide: bool) -> Result<(), Refusal> {
    if value.has_glob && !is_harmless_pattern(&value.text) {
        return ask("an unquoted pattern may turn into a condition of `find`");
    }
    let lower = value.text.to_ascii_lowercase();
    let names_credentials = CREDENTIAL_NAMES.iter().any(|name| lower.contains(name));
    if is_wide && names_credentials && test.contains(['n', 'r', 'p']) && !matches!(test, "-perm" | "-printf" | "-group")
    {
        return danger(format!("looks for credentials: `{}`", value.text));
    }
    Ok(())
}

/// Names that match can be no word of `find`, since those contain no dot.
fn is_harmless_pattern(text: &str) -> bool {
    text.rsplit(['*', '?']).next().is_some_and(|tail| tail.contains('.'))
        || text.starts_with(|c: char| c.is_ascii_alphanumeric())
}
