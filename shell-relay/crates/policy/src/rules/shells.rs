//! Judges builtin commands of zsh and fish.

use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::Word;

use super::{
    super::{
        Context,
        options::{Operands, Spec},
    },
    Refusal, ask, check_literal, misc_programs, option_table, printf, split,
};

/// Arrays of zsh and fish that mirror variables without secrets.
const PLAIN_ARRAYS: &[&str] = &["cdpath", "fpath", "manpath", "path"];
/// Groups in a pattern of fish that are not known for every version.
const ODD_GROUPS: &[&str] = &["(?P", "(?'", "(?C", "(*"];

/// Judges the words behind a phrase of `shells.table`.
pub(super) fn assess(name: &str, spec: &Spec, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let arguments = split(spec, words)?;
    // The shell itself would make a text of that length.
    let is_long =
        |value: &str| value.trim_start_matches(['+', '-']).len() > 5 && super::super::options::is_number(value);
    if arguments.options.iter().filter_map(|(_, value)| *value).any(is_long) {
        return ask("may fill the memory of the shell");
    }
    // Builtins of bash and zsh take an option behind an operand for an operand: `bindkey '^X' -l` gives the key a meaning.
    if context.shell != Shell::Fish && spec.operands != Operands::Rule("print") && !arguments.behind.is_empty() {
        return ask(format!("`{name}` with an option behind its operands"));
    }
    let texts = || arguments.operands.iter().map(|word| word.text.as_str());
    match spec.operands {
        Operands::Rule("print") => assess_print(spec, words, context),
        Operands::Rule("regex") => {
            arguments.operands.iter().try_for_each(|word| check_literal(word))?;
            if texts().all(names_no_group) { Ok(()) } else { ask("a pattern with a named group sets a variable") }
        }
        Operands::Rule("names") => {
            let are_names = texts().count() > 0 && texts().all(misc_programs::is_plain_word);
            if are_names { Ok(()) } else { ask(format!("`{name}` with these operands may change something")) }
        }
        Operands::Rule("printable") => {
            let is_plain = |name: &str| {
                misc_programs::is_plain_word(name)
                    && (misc_programs::is_printable_variable(name)
                        || PLAIN_ARRAYS.contains(&name)
                        || is_setting_of_fish(name))
            };
            if texts().count() > 0 && texts().all(is_plain) {
                Ok(())
            } else {
                ask("shows variables that may hold secrets")
            }
        }
        _ => option_table::assess(name, spec, words, context),
    }
}

/// Whether fish itself uses the variable as a setting. Other variables with that prefix may be an extension's, with a key as value.
fn is_setting_of_fish(name: &str) -> bool {
    const SETTINGS: &[&str] = &[
        "complete_path",
        "cursor_",
        "features",
        "function_path",
        "greeting",
        "handle_reflow",
        "history",
        "key_bindings",
        "term24bit",
        "trace",
        "user_paths",
        "color_",
        "pid",
        "version",
        "bind_mode",
        "emoji_width",
    ];
    name.strip_prefix("fish_").is_some_and(|rest| {
        SETTINGS.iter().any(|setting| rest == *setting || (setting.ends_with('_') && rest.starts_with(setting)))
    })
}

/// Whether a regular expression names no group, by which fish would set a variable. Look-behind is permitted: `(?<=a)`.
fn names_no_group(text: &str) -> bool {
    ODD_GROUPS.iter().all(|sign| !text.contains(sign))
        && text.split("(?<").skip(1).all(|rest| rest.starts_with(['=', '!']))
}

/// `print` of zsh: texts, names that patterns match, a format, or the signs of a prompt.
fn assess_print(spec: &Spec, words: &[Word], context: Context<'_>) -> Result<(), Refusal> {
    let arguments = split(spec, words)?;
    if arguments.has(&["P"]) {
        arguments.operands.iter().try_for_each(|word| check_literal(word))?;
        if arguments.operands.iter().any(|word| word.text.contains(['$', '`', '\\'])) {
            return ask("a prompt that may run commands");
        }
    }
    let mut formats = arguments.values_of(&["f"]);
    if let Some(format) = formats.next() {
        let format = Word { text: format.to_owned(), ..Word::default() };
        let all: Vec<Word> =
            std::iter::once(format).chain(arguments.operands.iter().map(|word| (*word).clone())).collect();
        return if formats.next().is_none() { printf::assess(&all, context) } else { ask("`print` with two formats") };
    }
    option_table::check_leading_pattern("print", &arguments, context)?;
    arguments.operands.iter().try_for_each(|word| option_table::check_echoed(word, context))
}
