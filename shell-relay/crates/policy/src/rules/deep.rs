//! Judges patterns that match in all folders below, as a search there: `**/*.c` in zsh, `**.c` in fish.

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{Word, glob, looks_deep};

use super::{
    super::{Context, paths},
    LISTERS, Refusal, ask, check_path_text, operands,
};

/// Programs that show the names that a pattern matches, and no contents of the files.
const PRINTERS: &[&str] = &["echo", "print"];

/// Judges the patterns among the words of a program that look into all folders below.
pub(super) fn check(program: &str, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    words.iter().filter(|word| looks_deep(context.shell, word)).try_for_each(|word| {
        if !operands::is_literal(program) {
            return ask(format!("`{program}` may take a name of some folder below for more: `{}`", word.text));
        }
        let (root, names) = split(&word.text);
        check_path_text(root, word.has_tilde, context, paths::search_risk)?;
        if LISTERS.contains(&program) || PRINTERS.contains(&program) {
            return Ok(());
        }
        let follows =
            context.shell == Shell::Fish || word.text.rsplit("**/").next().is_some_and(|last| last.contains('/'));
        check_contents(root, &names, word.has_tilde, follows, context)
    })
}

/// The folder below which a pattern looks, and the pattern of the names that it finds.
fn split(text: &str) -> (&str, String) {
    let (before, behind) = text.split_once("**").unwrap_or((text, ""));
    let root = before.rfind('/').map_or(".", |at| &before[..=at]);
    let last = behind.rsplit("**").next().unwrap_or_default();
    let names = match last.rsplit_once('/') {
        Some((_, "")) | None => format!("*{last}"),
        Some((_, name)) => name.to_owned(),
    };
    (root, names)
}

/// Judges reading the files below `root` with these names, through links to folders if it `follows` them.
fn check_contents(
    root: &str,
    names: &str,
    has_tilde: bool,
    follows: bool,
    context: Context<'_>,
) -> Result<(), Refusal> {
    let Some(path) = paths::PlainPath::resolve(root, has_tilde, context) else { return Ok(()) };
    let is_read = |name: &str| glob::matches(name, names);
    if let Some(risk) = paths::hoard_risk(&path, false, &is_read, context) {
        return Err(risk);
    }
    let Some(files) = context.files else { return Ok(()) };
    // `**` of fish follows links to folders, that of zsh does not, but a folder behind it may be a link.
    let root = path.to_path_buf();
    let is_risky = |target: &std::path::Path| {
        paths::assess_read(target, context).is_some()
            || (follows && !target.starts_with(&root) && !target.starts_with(context.cwd))
    };
    match files.link_below(&root, &is_risky) {
        Some(link) => ask(format!("a link that is found may lead to what is not read unasked: {}", link.display())),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_a_search_below_a_folder_for_names() {
        for (text, root, names) in [
            ("**/*.c", ".", "*.c"),
            ("**.c", ".", "*.c"),
            ("~/x/**/y", "~/x/", "y"),
            ("/**", "/", "*"),
            ("/etc/sh**", "/etc/", "*"),
            ("a*/b**c/d**e", "a*/", "*e"),
            ("**/", ".", "*/"),
        ] {
            assert_eq!(split(text), (root, names.to_owned()), "{text}");
        }
    }
}
