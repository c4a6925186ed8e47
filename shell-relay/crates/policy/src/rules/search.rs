//! Judges `grep`, `rg` and `fd`: a pattern, then the places to search.

use super::{
    super::{Context, options::Arguments, paths},
    LISTERS, Refusal, ask, check_hoard, check_literal, check_path, check_path_text,
};

pub(super) fn assess(name: &str, arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let is_fd = matches!(name, "fd" | "fdfind");
    let is_recursive = is_fd || name == "rg" || arguments.has(&["r", "recursive"]);
    if name == "rg" && arguments.has(&["L"]) {
        return ask("follows links out of the place that is searched");
    }
    if name.ends_with("grep") && arguments.has(&["d"]) {
        return ask("option `-d` may search folders");
    }
    for (option, value) in &arguments.options {
        if let ("include" | "glob" | "iglob" | "g", Some(names)) = (*option, value) {
            check_path_text(names.trim_start_matches('!'), false, context, paths::read_risk)?;
        }
    }
    let has_pattern_option = !is_fd && arguments.has(&["e", "regexp", "f", "file", "files", "type-list"]);
    let (pattern, roots) = match arguments.operands.split_first() {
        Some((pattern, roots)) if !has_pattern_option => (Some(*pattern), roots),
        _ => (None, &arguments.operands[..]),
    };
    if let Some(pattern) = pattern {
        check_literal(pattern)?;
    }
    // The abilities of such a pattern beyond matching are not known for every version.
    let runs = |text: &str| ["(?{", "(??", "(?C", "(*"].iter().any(|sign| text.contains(sign));
    if arguments.has(&["P", "perl-regexp", "pcre2"])
        && (pattern.is_some_and(|pattern| runs(&pattern.text))
            || arguments.options.iter().any(|(_, value)| value.is_some_and(runs)))
    {
        return ask("a pattern that may hold code");
    }
    let risk = match (is_recursive, LISTERS.contains(&name)) {
        (true, _) => paths::search_risk,
        (false, true) => paths::list_risk,
        (false, false) => paths::read_risk,
    };
    if is_recursive && roots.is_empty() {
        check_path_text(".", false, context, risk)?;
    }
    roots.iter().filter(|root| root.text != "-").try_for_each(|root| check_path(root, context, risk))?;
    if !is_recursive || is_fd || names_files(arguments) {
        return Ok(());
    }
    let with_hidden = name != "rg" || arguments.has(&["hidden", "u"]);
    let roots: Vec<(&str, bool)> = match roots {
        [] => vec![(".", false)],
        roots => roots.iter().map(|root| (root.text.as_str(), root.has_tilde)).collect(),
    };
    roots.into_iter().try_for_each(|(root, has_tilde)| check_hoard(root, has_tilde, with_hidden, context))
}

/// Whether only files of certain names are searched, which were judged by their patterns.
fn names_files(arguments: &Arguments<'_>) -> bool {
    let is_choice = |name: &str, value: Option<&str>| match name {
        "include" | "type" | "t" => true,
        "glob" | "iglob" | "g" => value.is_some_and(|value| !value.starts_with('!')),
        _ => false,
    };
    arguments.options.iter().any(|(name, value)| is_choice(name, *value))
}
