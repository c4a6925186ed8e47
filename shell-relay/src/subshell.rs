//! Which commands would end or change the live shell itself, and are therefore run in a subshell of it, or not at all. Pure.

use brush_parser::{
    Parser, ParserOptions,
    ast::{
        AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, Pipeline,
        SeparatorOperator, SimpleCommand,
    },
};

/// Longer texts, and those with more opened groups, are not parsed but taken at their words.
const PARSED_MAX_BYTES: usize = 64 * 1024;
const GROUPS_MAX: usize = 200;

/// Whether the text, run in the shell itself, could end it or leave it with `errexit`: an `exit`, `logout`, `exec` of a program,
/// `set -e` or an EXIT trap at top level. What runs in a subshell, a pipe, the background or is only defined does not count. A text
/// that cannot be parsed counts if one of these words stands in it.
#[must_use]
pub fn needs_subshell(text: &str) -> bool {
    if !mentions_danger(text) {
        return false;
    }
    let groups = text.split(|c: char| c.is_whitespace() || ";&|`".contains(c));
    let groups = groups.filter(|word| matches!(*word, "if" | "while" | "until" | "for" | "case" | "!")).count()
        + text.matches(['(', '{', '`']).count();
    if text.len() > PARSED_MAX_BYTES || groups > GROUPS_MAX {
        return true;
    }
    match Parser::new(text.as_bytes(), &ParserOptions::default()).parse_program() {
        Ok(program) => program.complete_commands.iter().any(list_is_dangerous),
        Err(_) => true,
    }
}

/// The text as one subshell.
#[must_use]
pub fn wrapped(text: &str) -> String {
    format!("(\n{text}\n)")
}

/// A cheap look that never misses: quotes and backslashes within the words are taken into account.
fn mentions_danger(text: &str) -> bool {
    let bare: String = text.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect();
    bare.split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-')
        .any(|word| matches!(word, "exit" | "logout" | "exec" | "set" | "trap"))
}

/// Whether a text for fish could end the shell: `exit` or `exec` stands where a command may. A function that is only defined counts,
/// too: there is no parser for fish here.
#[must_use]
pub fn ends_fish(text: &str) -> bool {
    const BEFORE_COMMANDS: [&str; 14] =
        ["and", "begin", "builtin", "command", "do", "else", "if", "not", "or", "time", "while", "!", "--", "\\"];
    let is_separator = |c: char| "\n;|&(){}".contains(c);
    unquoted(text).split(is_separator).any(|command| {
        let mut words =
            command.split_whitespace().skip_while(|word| BEFORE_COMMANDS.contains(word) || word.contains('='));
        words.next().is_some_and(|word| matches!(word.replace('\\', "").as_str(), "exit" | "exec"))
    })
}

/// The text without comments; of what is quoted only plain letters are left.
fn unquoted(text: &str) -> String {
    let mut bare = String::with_capacity(text.len());
    let mut quote = None;
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) => bare.extend(characters.next().filter(|next| next.is_ascii_alphabetic() || *next == '\n')),
            ('\'' | '"', None) => quote = Some(c),
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => bare.push(if c.is_ascii_alphabetic() { c } else { '_' }),
            ('#', None)
                if bare.ends_with(|last: char| last.is_whitespace() || ";|&(".contains(last)) || bare.is_empty() =>
            {
                if characters.by_ref().any(|c| c == '\n') {
                    bare.push('\n');
                }
            }
            (c, None) => bare.push(c),
        }
    }
    bare
}

fn list_is_dangerous(list: &CompoundList) -> bool {
    list.0.iter().any(|item| matches!(item.1, SeparatorOperator::Sequence) && chain_is_dangerous(&item.0))
}

fn chain_is_dangerous(chain: &AndOrList) -> bool {
    let rest = chain.additional.iter().map(|next| match next {
        AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
    });
    std::iter::once(&chain.first).chain(rest).any(pipeline_is_dangerous)
}

fn pipeline_is_dangerous(pipeline: &Pipeline) -> bool {
    match pipeline.seq.as_slice() {
        [Command::Simple(command)] => command_is_dangerous(command),
        [Command::Compound(command, _)] => compound_is_dangerous(command),
        // Each part of a longer pipe is a subshell; a function is only defined here.
        _ => false,
    }
}

fn compound_is_dangerous(command: &CompoundCommand) -> bool {
    match command {
        CompoundCommand::BraceGroup(group) => list_is_dangerous(&group.list),
        CompoundCommand::ForClause(clause) => list_is_dangerous(&clause.body.list),
        CompoundCommand::ArithmeticForClause(clause) => list_is_dangerous(&clause.body.list),
        CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
            list_is_dangerous(&clause.0) || list_is_dangerous(&clause.1.list)
        }
        CompoundCommand::CaseClause(clause) => {
            clause.cases.iter().filter_map(|case| case.cmd.as_ref()).any(list_is_dangerous)
        }
        CompoundCommand::IfClause(clause) => {
            let elses = clause.elses.iter().flatten();
            list_is_dangerous(&clause.condition)
                || list_is_dangerous(&clause.then)
                || elses.into_iter().any(|branch| {
                    branch.condition.as_ref().is_some_and(list_is_dangerous) || list_is_dangerous(&branch.body)
                })
        }
        CompoundCommand::Arithmetic(_) | CompoundCommand::Subshell(_) | CompoundCommand::Coprocess(_) => false,
    }
}

fn command_is_dangerous(command: &SimpleCommand) -> bool {
    let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(|item| match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => Some(&word.value),
        _ => None,
    });
    let words: Vec<String> =
        command.word_or_name.iter().map(|word| &word.value).chain(suffix).map(|word| without_quotes(word)).collect();
    let is_prefix = |word: &&String| matches!(word.as_str(), "builtin" | "command" | "-p" | "--");
    let prefixes = words.iter().take_while(is_prefix).count();
    let Some((name, arguments)) = words[prefixes..].split_first() else { return false };
    match name.as_str() {
        "exit" | "logout" => true,
        // Without a program it only redirects, and that is to stick.
        "exec" => !arguments.is_empty(),
        "set" => sets_errexit(arguments),
        "trap" => arguments
            .iter()
            .skip(1)
            .any(|signal| matches!(signal.to_ascii_uppercase().as_str(), "EXIT" | "SIGEXIT" | "0")),
        _ => false,
    }
}

fn sets_errexit(arguments: &[String]) -> bool {
    let options = arguments.iter().take_while(|argument| *argument != "--");
    options.clone().any(|option| option.starts_with('-') && !option.starts_with("--") && option.contains('e'))
        || arguments.windows(2).any(|pair| pair[0].starts_with('-') && pair[0].ends_with('o') && pair[1] == "errexit")
}

fn without_quotes(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_ends_or_changes_the_shell_is_found() {
        for text in [
            "exit",
            "exit 3",
            "cd /tmp && exit 1",
            "cd /nope || exit",
            "if true; then exit; fi",
            "for i in 1 2; do { exit; }; done",
            "case x in x) logout ;; esac",
            "while true; do exit; done",
            "\\exit",
            "'ex'it 2",
            "builtin exit",
            "command exec ls",
            "exec sh",
            "set -e; cd /nope; ls",
            "set -euo pipefail\nls",
            "set -o errexit",
            "set -uo errexit",
            "trap 'echo bye' EXIT",
            "X=1 exit",
            "exit\n'unclosed",
        ] {
            assert!(needs_subshell(text), "{text}");
        }
    }

    #[test]
    fn what_leaves_the_shell_alone_is_not() {
        for text in [
            "",
            "ls -la",
            "echo exit",
            "(exit 3)",
            "sh -c 'exit 42'",
            "exit 3 | cat",
            "exit &",
            "f() { exit; }",
            "exec 3<file",
            "set -u",
            "set -o pipefail",
            "set -- -e",
            "trap - INT",
            "systemctl set-default x",
            "grep -r 'set -e' .",
            "cat <<EOF\nexit\nEOF",
            "echo hi # exit",
        ] {
            assert!(!needs_subshell(text), "{text}");
        }
    }

    #[test]
    fn what_ends_a_fish_is_found() {
        for text in [
            "exit",
            " exit 3",
            "cd /tmp; and exit 1",
            "cd /nope || exit",
            "if true; exit; end",
            "not exec ls",
            "'ex'it",
            "e\\xit",
            "begin; builtin exit; end",
            "A=1 exec sh",
            "echo (exit 1)",
            "echo hi # no\nexit",
            "while exit; end",
        ] {
            assert!(ends_fish(text), "{text}");
        }
        for text in [
            "",
            "set -e V",
            "echo exit",
            "echo 'a; exit'",
            "echo \"a; exit\"",
            "echo a\\; exit",
            "sh -c 'exit 3'",
            "echo hi # ; exit",
            "# exit",
            "trap 'echo bye' EXIT",
            "echo it\\'s; echo exit",
        ] {
            assert!(!ends_fish(text), "{text}");
        }
    }

    #[test]
    fn long_and_deep_texts_are_taken_at_their_words() {
        assert!(needs_subshell(&format!("{}exit", "(".repeat(100_000))));
        assert!(needs_subshell(&format!("{}exit", "if ".repeat(20_000))));
        assert!(!needs_subshell(&"(".repeat(100_000)));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_text_makes_it_panic(text in "(exit|set -e|[(){};|&'\"$<>\\\\\n a-z]){0,40}") {
            let _ = (needs_subshell(&text), ends_fish(&text));
        }
    }
}
