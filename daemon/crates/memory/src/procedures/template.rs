//! Makes one command with parameters of several that differ in their arguments. Pure.

use std::{collections::HashMap, sync::LazyLock};

use super::line::{Command, CommandPart};

/// Most examples of a parameter.
const MAX_EXAMPLES: usize = 3;

/// The names of parameters by command and option.
static NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let rows = include_str!("parameters.table").lines().filter(|row| !row.starts_with('#'));
    rows.filter_map(|row| row.split_once(" : ")).collect()
});

/// What differs between occurrences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name, as in the commands between braces.
    pub name: String,
    /// Its last values, the newest first.
    pub examples: Vec<String>,
}

/// The parameters of one procedure. What had the same values each time is one parameter.
#[derive(Default)]
pub(super) struct Parameters(Vec<(String, Vec<String>)>);

impl Parameters {
    /// The name of what had these values, one for each occurrence.
    fn name(&mut self, wanted: &str, values: Vec<String>) -> String {
        if let Some((name, _)) = self.0.iter().find(|(_, known)| *known == values) {
            return name.clone();
        }
        let is_free = |name: &str| self.0.iter().all(|(known, _)| known != name);
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let name = std::iter::once(wanted.to_owned()).chain(numbered).find(|name| is_free(name)).unwrap_or_default();
        self.0.push((name.clone(), values));
        name
    }

    pub fn finish(self) -> Vec<Parameter> {
        let parameter = |(name, values): (String, Vec<String>)| {
            let mut examples = Vec::new();
            for value in values.into_iter().rev() {
                if examples.len() < MAX_EXAMPLES && !examples.contains(&value) {
                    examples.push(value);
                }
            }
            Parameter { name, examples }
        };
        self.0.into_iter().map(parameter).collect()
    }
}

/// The command of which these are occurrences; they have one shape.
pub(super) fn template(occurrences: &[&Command<'_>], parameters: &mut Parameters) -> String {
    let Some(first) = occurrences.first() else { return String::new() };
    let command = first.name();
    let mut words = Vec::new();
    let mut option = None;
    for (at, part) in first.parts.iter().enumerate() {
        match part {
            CommandPart::Fixed(word) => {
                words.push((*word).to_owned());
                option = word.starts_with('-').then_some(*word);
            }
            CommandPart::Option(name, _) => {
                let values = occurrences.iter().filter_map(|other| match other.parts.get(at) {
                    Some(CommandPart::Option(_, value)) => Some(*value),
                    _ => None,
                });
                let bare = name.trim_end_matches('=');
                words.push(format!("{name}{}", word(&values.collect::<Vec<_>>(), &command, Some(bare), parameters)));
                option = None;
            }
            CommandPart::Free(own) => {
                let all: Vec<&[&str]> = occurrences.iter().filter_map(|other| free(other.parts.get(at)?)).collect();
                words.extend(if all.iter().all(|other| other.len() == own.len()) {
                    let column =
                        |index: usize| all.iter().filter_map(|other| other.get(index).copied()).collect::<Vec<_>>();
                    (0..own.len())
                        .map(|index| word(&column(index), &command, option.filter(|_| index == 0), parameters))
                        .collect()
                } else {
                    let joined: Vec<String> = all.iter().map(|words| words.join(" ")).collect();
                    let name = named(&command, option).unwrap_or("values").to_owned();
                    vec![format!("{{{}}}", parameters.name(&name, joined))]
                });
                option = None;
            }
        }
    }
    words.join(" ")
}

fn free<'a>(part: &'a CommandPart<'_>) -> Option<&'a [&'a str]> {
    match part {
        CommandPart::Free(words) => Some(words),
        _ => None,
    }
}

/// One word of these: what is the same in all of them, and a parameter for the rest.
fn word(values: &[&str], command: &str, option: Option<&str>, parameters: &mut Parameters) -> String {
    let Some(first) = values.first().filter(|first| values.iter().any(|value| value != *first)) else {
        return values.first().copied().unwrap_or_default().to_owned();
    };
    let (begin, end) = common(values);
    let inside: Vec<String> =
        values.iter().map(|value| value.get(begin..value.len() - end).unwrap_or(value).to_owned()).collect();
    let name = kind(&inside).or_else(|| named(command, option)).unwrap_or("value").to_owned();
    let name = parameters.name(&name, inside);
    let (before, behind) = (first.get(..begin).unwrap_or_default(), first.get(first.len() - end..).unwrap_or_default());
    format!("{before}{{{name}}}{behind}")
}

/// The name of a word of this command, behind this option, which may be one without a value.
fn named(command: &str, option: Option<&str>) -> Option<&'static str> {
    let of = |key: String| NAMES.get(key.as_str()).copied();
    let of_option = option.and_then(|option| of(format!("{command} {option}")).or_else(|| of(format!("* {option}"))));
    of_option.or_else(|| of(command.to_owned()))
}

/// What all of these values look like, in a word: versions, dates, numbers.
fn kind(values: &[String]) -> Option<&'static str> {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_version = |value: &String| {
        let parts: Vec<&str> = value.strip_prefix('v').unwrap_or(value).split('.').collect();
        parts.len() > 1 && parts.iter().all(|part| is_digits(part))
    };
    let is_date = |value: &String| {
        let parts: Vec<&str> = value.split('-').collect();
        parts.first().is_some_and(|year| year.len() == 4) && parts.len() > 1 && parts.iter().all(|part| is_digits(part))
    };
    let is_address = |value: &String| value.contains("://");
    let is_file = |value: &String| {
        value.contains('/')
            || value
                .trim_matches(['"', '\''])
                .rsplit_once('.')
                .is_some_and(|(name, end)| !name.is_empty() && !end.is_empty() && !end.contains(' '))
    };
    if values.iter().all(is_version) {
        Some("version")
    } else if values.iter().all(is_date) {
        Some("date")
    } else if values.iter().all(is_address) {
        Some("address")
    } else if values.iter().all(|value| is_digits(value)) {
        Some("number")
    } else if values.iter().all(|value| is_file(value) && !value.contains(' ')) {
        Some("file")
    } else {
        None
    }
}

/// How many bytes at the beginning and at the end are the same in all of these, up to the border of a name or number.
fn common(values: &[&str]) -> (usize, usize) {
    let Some(first) = values.first().map(|first| first.as_bytes()) else { return (0, 0) };
    let shortest = values.iter().map(|value| value.len()).min().unwrap_or_default();
    let is_same = |byte: &dyn Fn(&[u8]) -> Option<u8>| values.iter().all(|value| byte(value.as_bytes()) == byte(first));
    let begin = (0..shortest).take_while(|at| is_same(&|value| value.get(*at).copied())).count();
    let end = (0..shortest - begin).take_while(|at| is_same(&|value| value.iter().rev().nth(*at).copied())).count();
    let inside = |value: &&str, begin: usize, end: usize| value.get(begin..value.len() - end).map(str::to_owned);
    let are_numbers =
        values.iter().all(|value| inside(value, begin, end).is_some_and(|text| text.bytes().all(of_number)));
    // Back to the border, so that half a name or number is no parameter.
    let is_border = |byte: u8| if are_numbers { !of_number(byte) } else { b"/:=@,\"'".contains(&byte) };
    let is_sign = |byte: Option<&u8>| are_numbers && byte.is_some_and(|byte| matches!(byte, b'-' | b'.'));
    let mut from = first.iter().take(begin).rposition(|byte| is_border(*byte)).map_or(0, |at| at + 1);
    while from < begin && is_sign(first.get(from)) {
        from += 1;
    }
    let back: Vec<u8> = first.iter().rev().take(end).copied().collect();
    let mut until = back.iter().rposition(|byte| is_border(*byte)).map_or(0, |at| at + 1);
    while until < end && is_sign(back.get(until)) {
        until += 1;
    }
    // `v1.4.2` is one name.
    let is_alone = |at: usize| at == 0 || !first.get(at - 1).is_some_and(u8::is_ascii_alphanumeric);
    let is_version = |at: &usize| are_numbers && first.get(*at) == Some(&b'v') && is_alone(*at);
    from = from.checked_sub(1).filter(is_version).unwrap_or(from);
    // A path or a sentence is one value.
    let is_simple = |value: &&str| inside(value, from, until).is_some_and(|text| !text.contains(['/', ' ']));
    if values.iter().all(is_simple) { (from, until) } else { quotes(values) }
}

/// The quotes around all of these.
fn quotes(values: &[&str]) -> (usize, usize) {
    let is_quoted =
        |quote: char| values.iter().all(|value| value.len() > 1 && value.starts_with(quote) && value.ends_with(quote));
    if is_quoted('"') || is_quoted('\'') { (1, 1) } else { (0, 0) }
}

/// Whether a byte can be part of a number, version or date.
fn of_number(byte: u8) -> bool {
    byte.is_ascii_digit() || matches!(byte, b'.' | b'-')
}

#[cfg(test)]
#[path = "template_tests.rs"]
mod tests;
