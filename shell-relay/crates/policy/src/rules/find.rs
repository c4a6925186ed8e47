//! Allows `find` with tests and output only.

use cohab_shell_syntax::Word;

use super::{
    super::paths,
    Place, Refusal, ask, check_path, check_path_text, danger,
    find_words::{check_chosen, count_options, count_roots, finds_links, names_credentials},
    xargs,
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
/// Options whose values are patterns of names: any name is allowed there.
const CHOOSE_BY_NAME: &[&str] =
    &["-ilname", "-iname", "-ipath", "-iregex", "-lname", "-name", "-path", "-regex", "-wholename"];

pub(super) fn assess(words: &[Word], place: Place<'_>) -> Result<(), Refusal> {
    let context = place.context;
    let words = &words[count_options(words)..];
    let (roots, expression) = words.split_at(count_roots(words));
    let mut is_wide = false;
    for root in roots {
        if root.has_glob && root.text.starts_with(['*', '?']) && !context.confines("find") {
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
    assess_expression(expression, roots, is_wide, place)
}

fn assess_expression(expression: &[Word], roots: &[Word], is_wide: bool, place: Place<'_>) -> Result<(), Refusal> {
    let mut words = expression;
    let shows_contents =
        expression.windows(2).any(|pair| pair[0].text == "-exec" && xargs::shows_contents(&pair[1].text));
    let mut before = None;
    while let Some((word, rest)) = words.split_first() {
        let text = word.text.as_str();
        words = rest;
        if word.has_glob {
            return ask("a pattern of file names in the conditions of `find`");
        }
        if matches!(text, "(" | ")" | "!" | ",") || ALONE.contains(&text) {
            before = Some(word);
            continue;
        }
        if text == "-exec" {
            words = assess_action(rest, roots, finds_links(expression), place)?;
            continue;
        }
        let (value, rest) = value_of(word, rest)?;
        words = rest;
        if value.has_glob && !CHOOSE_BY_NAME.contains(&text) {
            return ask("an unquoted pattern may turn into a condition of `find`");
        }
        if WITH_FILE.contains(&text) || (is_newer(text) && !text.ends_with('t')) {
            check_path(value, place.context, paths::read_risk)?;
        } else {
            check_value(text, value, is_wide)?;
            if shows_contents {
                check_chosen(text, value, before, place)?;
            }
        }
        before = Some(word);
    }
    Ok(())
}

/// The value of a test, and what follows it.
fn value_of<'a>(test: &Word, rest: &'a [Word]) -> Result<(&'a Word, &'a [Word]), Refusal> {
    let text = test.text.as_str();
    if !(is_newer(text) || WITH_TEXT.contains(&text) || WITH_FILE.contains(&text)) {
        return if text.starts_with('-') {
            danger(format!("`find {text}` may run, write or delete"))
        } else {
            ask(format!("`find` does not know `{text}`"))
        };
    }
    rest.split_first().map_or_else(|| ask(format!("`find {text}` lacks its value")), Ok)
}

/// `-newerXY`.
fn is_newer(test: &str) -> bool {
    test.strip_prefix("-newer")
        .is_some_and(|kinds| kinds.len() == 2 && kinds.bytes().all(|kind| b"aBcmt".contains(&kind)))
}

/// Judges the command that it runs on each file, and returns the words behind it.
fn assess_action<'a>(
    words: &'a [Word],
    roots: &[Word],
    finds_links: bool,
    place: Place<'_>,
) -> Result<&'a [Word], Refusal> {
    let Some(action) = xargs::action(words) else { return ask("`find -exec` without an end") };
    let here = [Word { text: ".".into(), is_bare: true, ..Word::default() }];
    xargs::assess_action(action.words, if roots.is_empty() { &here } else { roots }, finds_links, place)?;
    Ok(action.rest)
}

fn check_value(test: &str, value: &Word, is_wide: bool) -> Result<(), Refusal> {
    if value.has_glob && !is_harmless_pattern(&value.text) {
        return ask("an unquoted pattern may turn into a condition of `find`");
    }
    if is_wide
        && names_credentials(&value.text)
        && test.contains(['n', 'r', 'p'])
        && !matches!(test, "-perm" | "-printf" | "-group")
    {
        return danger(format!("looks for credentials: `{}`", value.text));
    }
    Ok(())
}

/// Whether matching names cannot be words of `find`, since those contain no dot.
fn is_harmless_pattern(text: &str) -> bool {
    text.rsplit(['*', '?']).next().is_some_and(|tail| tail.contains('.'))
        || text.starts_with(|c: char| c.is_ascii_alphanumeric())
}
