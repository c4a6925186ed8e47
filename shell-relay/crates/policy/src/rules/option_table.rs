//! Judges the programs of the option table.

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        options::{self, Arguments, Operands, Spec},
        paths,
    },
    ENDS_OPTIONS, HARMLESS_WITH_ANY_OPTION, LISTERS, MAX_WAIT_SECONDS, Refusal, ask, check_hoard, check_links,
    check_literal, check_path, check_path_text, jq, list_only, misc_programs, operands, printf, purposes, search,
    split,
};

pub(super) fn assess(name: &str, spec: &Spec, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    if spec.needs_lock && !context.confines(name) {
        return ask(purposes::of_program(name));
    }
    match spec.operands {
        Operands::Rule("any") => return words.iter().try_for_each(|word| check_echoed(word, context)),
        Operands::Rule("printf") => return printf::assess(words, context),
        Operands::Rule("test") => return misc_programs::assess_test(name, words, context),
        _ => {}
    }
    let with_dash;
    let words = match words.split_first() {
        Some((letters, rest)) if name == "tar" && is_old_style(&letters.text) => {
            with_dash = [&[Word { text: format!("-{}", letters.text), ..letters.clone() }], rest].concat();
            &with_dash
        }
        _ => words,
    };
    if name == "tar" && words.first().is_some_and(|first| !first.text.starts_with('-')) {
        return ask("`tar` takes its first word for letters that say what to do");
    }
    let arguments = split(spec, words)?;
    operands::check(name, spec, &arguments)?;
    if matches!(name, "ls" | "dir") && arguments.has(&["d", "directory"]) {
        return arguments.operands.iter().try_for_each(|word| check_listed_itself(word, context));
    }
    let risk = if LISTERS.contains(&name) { paths::list_risk } else { paths::read_risk };
    for (path, has_tilde) in &arguments.paths {
        check_path_text(certificate(name, path), *has_tilde, context, paths::read_risk)?;
    }
    if matches!(name, "diff" | "colordiff") {
        check_compared(&arguments, context)?;
    }
    check_leading_pattern(name, &arguments, context)?;
    let operands = &arguments.operands;
    match spec.operands {
        Operands::Paths => {
            // If a program stops at the first operand, an option behind it is an operand, too.
            let all = operands.iter().chain(&arguments.behind).filter(|word| word.text != "-");
            let is_itself = lists_only_itself(name, &arguments);
            all.into_iter().try_for_each(|word| {
                if is_itself { check_listed_itself(word, context) } else { check_path(word, context, risk) }
            })
        }
        Operands::OnePath if !arguments.behind.is_empty() => {
            ask(format!("`{name}` may take an option behind its operand for the file that it writes"))
        }
        Operands::OnePath if operands.len() > 1 => ask(format!("`{name}` may write its second operand")),
        Operands::OnePath if operands.iter().any(|word| word.has_glob) => {
            ask(format!("a pattern may give `{name}` a second operand"))
        }
        Operands::OnePath => operands.iter().try_for_each(|word| check_path(word, context, risk)),
        Operands::PathAndTexts => {
            operands.iter().skip(1).try_for_each(|word| check_literal(word))?;
            operands.first().map_or(Ok(()), |word| check_path(word, context, risk))
        }
        Operands::OneText if operands.len() > 1 => ask(format!("`{name}` may change something with more operands")),
        // Names of files as texts: the lock keeps the program from harm, whatever they are.
        Operands::Texts if context.confines(name) => operands.iter().try_for_each(|word| check_echoed(word, context)),
        Operands::OneText | Operands::Texts => operands.iter().try_for_each(|word| check_literal(word)),
        Operands::Numbers => operands.iter().try_for_each(|word| check_number(word)),
        Operands::Nothing if operands.is_empty() => Ok(()),
        Operands::Nothing => ask(format!("`{name}` with an operand may change something")),
        Operands::Rule("pattern") => search::assess(name, &arguments, context),
        Operands::Rule("lsof") => list_only::assess_lsof(operands, context),
        Operands::Rule("short") => assess_sleep(&arguments),
        Operands::Rule("plus") => assess_date(&arguments),
        Operands::Rule("cd") => assess_cd(&arguments, context),
        Operands::Rule("jq") => jq::assess(&arguments, context),
        Operands::Rule("yq") => jq::assess_yq(&arguments, context),
        Operands::Rule(rule) => misc_programs::assess(name, rule, &arguments, context),
    }
}

/// Folders are compared file by file, through the links in them.
fn check_compared(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    let is_recursive = arguments.has(&["r", "recursive"]);
    for word in &arguments.operands {
        if is_recursive {
            check_path(word, context, paths::search_risk)?;
        }
        check_hoard(&word.text, word.has_tilde, true, context)?;
        check_links(word, context, "")?;
    }
    Ok(())
}

/// Whether a program tells only of its operands, and of nothing below them.
fn lists_only_itself(name: &str, arguments: &Arguments<'_>) -> bool {
    match name {
        "du" => arguments.has(&["s", "summarize"]) && !arguments.has(&["a", "all"]),
        "stat" => true,
        _ => false,
    }
}

/// Judges `ls -d .*`: names that a pattern matches, and nothing below them.
fn check_listed_itself(word: &Word, context: Context<'_>) -> Result<(), Refusal> {
    match word.text.rsplit_once('/') {
        _ if !word.has_glob => check_path(word, context, paths::list_risk),
        Some((folder, _)) if !folder.is_empty() => check_path_text(folder, word.has_tilde, context, paths::list_risk),
        _ => Ok(()),
    }
}

/// The place whose risk counts for a path that `openssl x509` and the like read: they show only the certificate of the file.
fn certificate<'a>(name: &str, path: &'a str) -> &'a str {
    path.strip_suffix(".pem").filter(|_| name == "openssl").unwrap_or(path)
}

/// `tar tf x`: letters without a dash. Only `f` takes a value, and it must be the last one, so that a dash changes nothing.
fn is_old_style(letters: &str) -> bool {
    !letters.is_empty()
        && letters.contains('t')
        && letters.chars().all(|letter| "tvzjJaf".contains(letter))
        && !letters.trim_end_matches('f').contains('f')
}

pub(super) fn check_echoed(word: &Word, context: Context<'_>) -> Result<(), Refusal> {
    if word.has_glob || word.has_tilde { check_path(word, context, paths::list_risk) } else { Ok(()) }
}

fn check_number(word: &Word) -> Result<(), Refusal> {
    if options::is_number(&word.text) { Ok(()) } else { ask(format!("`{}` is no number", word.text)) }
}

/// Whether a pattern stands at the front of a word.
fn opens(word: &Word) -> bool {
    word.has_glob && word.text.starts_with(['*', '?'])
}

/// The number of words between the name and a pattern that may match a file named like an option, if a `--` belongs there.
pub(crate) fn options_end(name: &str, words: &[Word]) -> Option<usize> {
    if !ENDS_OPTIONS.contains(&name) {
        return None;
    }
    let spec = options::verb(name).or_else(|| options::own(Shell::Zsh, name, &[]).map(|(spec, _)| spec));
    let arguments = spec?.split(words).ok()?;
    let open = words.iter().position(opens)?;
    let is_plain = arguments.behind.is_empty() && arguments.literal_from.is_none();
    is_plain.then_some(open)
}

/// A pattern at the front of a word may match a file that is named like an option.
pub(super) fn check_leading_pattern(
    name: &str,
    arguments: &Arguments<'_>,
    context: Context<'_>,
) -> Result<(), Refusal> {
    let open = arguments.literal_from.unwrap_or(arguments.operands.len());
    let is_open = arguments.operands[..open].iter().any(|word| opens(word));
    let is_typed_literally = ENDS_OPTIONS.contains(&name) && arguments.behind.is_empty();
    if is_open && !is_typed_literally && !HARMLESS_WITH_ANY_OPTION.contains(&name) && !context.confines(name) {
        return ask("a pattern may match a file that is named like an option; `./` in front avoids it");
    }
    Ok(())
}

fn assess_sleep(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    let is_short = matches!(&arguments.operands[..], [only] if only.text.parse().is_ok_and(|seconds: f64| (0.0..=MAX_WAIT_SECONDS).contains(&seconds)));
    if is_short { Ok(()) } else { ask("waits longer than 30 seconds") }
}

fn assess_date(arguments: &Arguments<'_>) -> Result<(), Refusal> {
    let is_format = match &arguments.operands[..] {
        [] => true,
        [only] => only.text.starts_with('+') && !only.has_glob,
        _ => false,
    };
    if is_format { Ok(()) } else { ask("sets the clock") }
}

fn assess_cd(arguments: &Arguments<'_>, context: Context<'_>) -> Result<(), Refusal> {
    match &arguments.operands[..] {
        [] => Ok(()),
        [only] if only.text == "-" => Ok(()),
        [only] if only.has_glob => ask("goes to a directory that a pattern names"),
        [only] => check_path(only, context, paths::list_risk),
        _ => ask("`cd` with more than one operand"),
    }
}
