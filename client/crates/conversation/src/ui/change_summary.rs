//! Formats changes to the shell in one line.

use std::path::Path;

use cohab_shell_state::state::{AliasKind, Item, OptionKind, StateChange, Step};
use cohab_term::{output_style::OutputStyle, theme};
use cohab_text::sanitize;
use ratatui::text::{Line, Span};

use super::status::fitted;

/// Things of one kind that are named; the rest is counted.
const MAX_NAMES: usize = 8;

/// What a command changed, in one line; none if nothing. Names only: no value but the folder's and the mask's.
#[must_use]
pub(crate) fn summary(
    change: &StateChange,
    home: &Path,
    width: usize,
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    let start = output_style.choose("  ↳ ", "In the shell: ");
    line(start, &facts(change, home, output_style), width, output_style)
}

/// What undo brought back, in one line; none if nothing.
#[must_use]
pub(crate) fn restored(
    change: &StateChange,
    home: &Path,
    width: usize,
    output_style: OutputStyle,
) -> Option<Line<'static>> {
    line(output_style.choose("  ↶ ", "Brought back: "), &facts(change, home, output_style), width, output_style)
}

/// The command would have ended or changed the live shell, so that nothing of it lasts there.
#[must_use]
pub(crate) fn contained(width: usize, output_style: OutputStyle) -> Line<'static> {
    let text = format!(
        "{} in a subshell; your shell is as it was{}",
        output_style.choose("  ↳ ran", "It ran"),
        output_style.choose("", ".")
    );
    fitted(&Line::styled(text, theme::DIM), width)
}

fn line(start: &str, facts: &[String], width: usize, output_style: OutputStyle) -> Option<Line<'static>> {
    if facts.is_empty() {
        return None;
    }
    let text = format!("{start}{}{}", facts.join(output_style.choose(" · ", ", ")), output_style.choose("", "."));
    Some(fitted(&Line::from(Span::styled(text, theme::DIM)), width))
}

/// Items by their names, as in `variable x, function f`; for what is only to be named.
#[must_use]
pub(crate) fn named<'a>(items: impl IntoIterator<Item = &'a Item>) -> String {
    let mut names: Vec<String> = items.into_iter().map(name).collect();
    let rest = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    names.extend((rest > 0).then(|| format!("{rest} more")));
    names.join(", ")
}

fn name(item: &Item) -> String {
    match item {
        Item::Folder => "the folder".to_owned(),
        Item::Exported(name) | Item::Prompt(name) | Item::Variable(name) => format!("variable {}", one_line(name)),
        Item::Alias(_, name) => format!("alias {}", one_line(name)),
        Item::Option(_, name) => format!("option {}", one_line(name)),
        Item::Function(name) => format!("function {}", one_line(name)),
        Item::Abbreviation(name) => format!("abbreviation {}", one_line(name)),
        Item::Trap(name) => format!("trap {}", one_line(name)),
        Item::Handler(name) => format!("event handler {}", one_line(name)),
        Item::Hashed(name) => format!("hash {}", one_line(name)),
        Item::Builtin(name) => format!("builtin {}", one_line(name)),
        Item::Keys => "key bindings".to_owned(),
        Item::Widget(name) => format!("widget {}", one_line(name)),
        Item::Completion(name) => format!("completion of {}", one_line(name)),
        Item::NamedFolder(name) => format!("folder ~{}", one_line(name)),
        Item::Umask => "umask".to_owned(),
        Item::DirectoryStack => "the directory stack".to_owned(),
        Item::Job(pid) => format!("job {pid}"),
    }
}

fn facts(change: &StateChange, home: &Path, output_style: OutputStyle) -> Vec<String> {
    let steps = &change.steps;
    let mut facts = Vec::new();
    if let Some(path) = steps.get(&Item::Folder).and_then(|step| first(step.after.as_ref())) {
        facts.push(format!("{} {}", output_style.choose("cd", "now in"), one_line(&tilde(&path, home))));
    }
    facts.extend(group(change, output_style.choose(" ", ", "), |item, step| match item {
        Item::Exported(name) | Item::Prompt(name) => Some(format!("{}{}", sign(step, output_style), one_line(name))),
        _ => None,
    }));
    facts.extend(group(change, ", ", |item, step| match item {
        Item::Alias(kind, name) => Some(alias(*kind, name, step)),
        _ => None,
    }));
    let function: fn(String) -> Item = Item::Function;
    for (item, word) in [(function, "function"), (Item::Abbreviation, "abbr"), (Item::Variable, "variable")] {
        let names = group(change, ", ", |found, step| match found {
            Item::Function(name) | Item::Abbreviation(name) | Item::Variable(name) if item(name.clone()) == *found => {
                Some(format!("{}{}", if step.after.is_none() { "-" } else { "" }, one_line(name)))
            }
            _ => None,
        });
        facts.extend(names.map(|names| format!("{word} {names}")));
    }
    facts.extend(group(change, ", ", |item, step| match item {
        Item::Option(kind, name) => Some(option(*kind, name, step)),
        _ => None,
    }));
    facts.extend(group(change, ", ", |item, step| {
        let is_told_already = matches!(item, Item::Function(_) | Item::Variable(_));
        let sign = if step.after.is_none() { "-" } else { "" };
        (item.is_only_seen() && !is_told_already).then(|| format!("{sign}{}", name(item)))
    }));
    if let Some(mask) = steps.get(&Item::Umask).and_then(|step| first(step.after.as_ref())) {
        facts.push(format!("umask {}", one_line(&mask)));
    }
    facts.extend(steps.contains_key(&Item::DirectoryStack).then(|| "directory stack".to_owned()));
    let jobs = steps.keys().filter(|item| matches!(item, Item::Job(_))).count();
    facts.extend((jobs > 0).then(|| format!("{jobs} {}", if jobs == 1 { "job" } else { "jobs" })));
    facts
}

/// What `word` says of each item that it knows, joined; the rest is counted.
fn group(change: &StateChange, separator: &str, word: impl Fn(&Item, &Step) -> Option<String>) -> Option<String> {
    let mut words: Vec<String> = change.steps.iter().filter_map(|(item, step)| word(item, step)).collect();
    let rest = words.len().saturating_sub(MAX_NAMES);
    words.truncate(MAX_NAMES);
    words.extend((rest > 0).then(|| format!("{rest} more")));
    (!words.is_empty()).then(|| words.join(separator))
}

fn sign(step: &Step, output_style: OutputStyle) -> &'static str {
    match (&step.before, &step.after) {
        (None, _) => output_style.choose("+", "set "),
        (_, None) => output_style.choose("-", "unset "),
        _ => output_style.choose("~", "changed "),
    }
}

fn alias(kind: AliasKind, name: &str, step: &Step) -> String {
    let word = if step.after.is_some() { "alias" } else { "unalias" };
    let option = match kind {
        AliasKind::Command => "",
        AliasKind::Global => " -g",
        AliasKind::Suffix => " -s",
    };
    format!("{word}{option} {}", one_line(name))
}

fn option(kind: OptionKind, name: &str, step: &Step) -> String {
    let word = match (kind, step.after.is_some()) {
        (OptionKind::Set, true) => "set -o",
        (OptionKind::Set, false) => "set +o",
        (OptionKind::Shopt, true) => "shopt -s",
        (OptionKind::Shopt, false) => "shopt -u",
    };
    format!("{word} {}", one_line(name))
}

fn first(value: Option<&Vec<Vec<u8>>>) -> Option<String> {
    value?.first().map(|text| String::from_utf8_lossy(text).into_owned())
}

/// A path, with `~` for the home.
#[must_use]
pub(crate) fn tilde(path: &str, home: &Path) -> String {
    match Path::new(path).strip_prefix(home) {
        Ok(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Ok(rest) if home.parent().is_some() => format!("~/{}", rest.display()),
        _ => path.to_owned(),
    }
}

/// Foreign text as harmless text without line ends.
fn one_line(text: &str) -> String {
    sanitize::one_line(text, usize::MAX)
}

#[cfg(test)]
mod tests;
