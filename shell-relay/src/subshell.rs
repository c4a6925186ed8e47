//! Contains commands that would end or change the live shell itself: bash and zsh run them in a subshell,
//! fish has no subshell and does not run them. Pure.

mod fish;

use brush_parser::{
    Parser, ParserOptions,
    ast::{
        AndOr, AndOrList, Command, CommandPrefixOrSuffixItem, CompoundCommand, CompoundList, IoFileRedirectKind,
        IoRedirect, Pipeline, SeparatorOperator, SimpleCommand,
    },
};
use cohab_shell_state::shell::Shell;

/// Longest text that is parsed; longer texts, and those with more opened groups, are judged by their words.
const PARSED_MAX_BYTES: usize = 64 * 1024;
const GROUPS_MAX: usize = 200;
/// Deepest nesting of `eval` that is followed.
const MAX_EVALS: usize = 8;

/// The way to run a text so that the user's shell survives it unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Containment {
    /// The text as it is.
    Live,
    /// This text instead: the same text in a subshell.
    Subshell(String),
    /// Not at all; the reason is for the model.
    Refused(&'static str),
}

const ENDS_FISH: &str =
    "the command would end or stop the user's fish, which has no subshells; run it as `fish -c '...'`";
const SUSPENDS: &str = "`suspend` would stop the user's shell, and nothing could wake it up again; leave it out";

/// The way to run `text` in `shell`. A text that could end the shell or leave it with `errexit` is contained: an `exit`, `logout`, `exec`
/// of a program, `set -e` or an EXIT trap at top level; in zsh also `bye`, `setopt err_exit`, `emulate` and `TRAPEXIT`. A `suspend`,
/// which would stop the shell or, in a subshell, leave it waiting for ever, is refused. Code in a subshell, a pipe, the background or a
/// definition does not count. A text that cannot be parsed counts if it contains one of these words.
#[must_use]
pub fn containment(shell: Shell, text: &str) -> Containment {
    match shell {
        Shell::Fish if fish::ends_shell(text) => Containment::Refused(ENDS_FISH),
        Shell::Bash | Shell::Zsh if names_command(shell, Sought::Suspend, text) => Containment::Refused(SUSPENDS),
        Shell::Bash | Shell::Zsh if names_command(shell, Sought::End, text) => {
            Containment::Subshell(in_subshell(shell, text))
        }
        _ => Containment::Live,
    }
}

/// The quotes keep a bracket in the text from ending the subshell early, even in a broken text.
fn in_subshell(shell: Shell, text: &str) -> String {
    format!("( eval -- {} )", shell.quoted_text(text))
}

/// The effect that a text is searched for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sought {
    /// The end of the shell itself, or a lasting `errexit`.
    End,
    /// `suspend`, in any place where it would run.
    Suspend,
}

fn names_command(shell: Shell, sought: Sought, text: &str) -> bool {
    if !mentions(shell, sought, text) {
        return false;
    }
    let groups = text.split(|c: char| c.is_whitespace() || ";&|`".contains(c));
    let groups = groups.filter(|word| matches!(*word, "if" | "while" | "until" | "for" | "case" | "!")).count()
        + text.matches(['(', '{', '`']).count();
    if text.len() > PARSED_MAX_BYTES || groups > GROUPS_MAX {
        return true;
    }
    Reading { is_zsh: shell == Shell::Zsh, sought, evals: 0 }.text_is_dangerous(text)
}

/// A cheap look that never misses: quotes and backslashes within the words are taken into account.
fn mentions(shell: Shell, sought: Sought, text: &str) -> bool {
    without_quotes(text).split(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-').any(|word| {
        if sought == Sought::Suspend {
            return word == "suspend";
        }
        matches!(word, "exit" | "logout" | "exec" | "set" | "trap")
            || (shell == Shell::Zsh
                && (matches!(word, "bye" | "setopt" | "unsetopt" | "emulate" | "TRAPEXIT")
                    || option_name(word).ends_with("errexit")))
    })
}

/// The mode of reading a text.
#[derive(Clone, Copy)]
struct Reading {
    is_zsh: bool,
    sought: Sought,
    evals: usize,
}

impl Reading {
    fn text_is_dangerous(self, text: &str) -> bool {
        match Parser::new(text.as_bytes(), &ParserOptions::default()).parse_program() {
            Ok(program) => program.complete_commands.iter().any(|list| self.list_is_dangerous(list)),
            Err(_) => true,
        }
    }

    /// Searches in subshells, pipes and the background, too.
    fn everywhere(self) -> bool {
        self.sought == Sought::Suspend
    }

    fn list_is_dangerous(self, list: &CompoundList) -> bool {
        let counts =
            |separator: &SeparatorOperator| self.everywhere() || matches!(separator, SeparatorOperator::Sequence);
        list.0.iter().any(|item| counts(&item.1) && self.chain_is_dangerous(&item.0))
    }

    fn chain_is_dangerous(self, chain: &AndOrList) -> bool {
        let rest = chain.additional.iter().map(|next| match next {
            AndOr::And(pipeline) | AndOr::Or(pipeline) => pipeline,
        });
        std::iter::once(&chain.first).chain(rest).any(|pipeline| self.pipeline_is_dangerous(pipeline))
    }

    fn pipeline_is_dangerous(self, pipeline: &Pipeline) -> bool {
        match pipeline.seq.as_slice() {
            [only] => self.part_is_dangerous(only),
            parts if self.everywhere() => parts.iter().any(|part| self.part_is_dangerous(part)),
            // Each part of a longer pipe is a subshell, but zsh runs the last one itself.
            [.., last] if self.is_zsh => self.part_is_dangerous(last),
            _ => false,
        }
    }

    fn part_is_dangerous(self, command: &Command) -> bool {
        match command {
            Command::Simple(command) => self.command_is_dangerous(command),
            Command::Compound(command, _) => self.compound_is_dangerous(command),
            // The function is only defined here; but a function of this name is a trap.
            Command::Function(function) => {
                self.sought == Sought::End && self.is_zsh && function.fname.value == "TRAPEXIT"
            }
            Command::ExtendedTest(..) => false,
        }
    }

    fn compound_is_dangerous(self, command: &CompoundCommand) -> bool {
        match command {
            CompoundCommand::BraceGroup(group) => self.list_is_dangerous(&group.list),
            CompoundCommand::ForClause(clause) => self.list_is_dangerous(&clause.body.list),
            CompoundCommand::ArithmeticForClause(clause) => self.list_is_dangerous(&clause.body.list),
            CompoundCommand::WhileClause(clause) | CompoundCommand::UntilClause(clause) => {
                self.list_is_dangerous(&clause.0) || self.list_is_dangerous(&clause.1.list)
            }
            CompoundCommand::CaseClause(clause) => {
                clause.cases.iter().filter_map(|case| case.cmd.as_ref()).any(|list| self.list_is_dangerous(list))
            }
            CompoundCommand::IfClause(clause) => {
                let elses = clause.elses.iter().flatten();
                self.list_is_dangerous(&clause.condition)
                    || self.list_is_dangerous(&clause.then)
                    || elses.into_iter().any(|branch| {
                        branch.condition.as_ref().is_some_and(|list| self.list_is_dangerous(list))
                            || self.list_is_dangerous(&branch.body)
                    })
            }
            CompoundCommand::Subshell(subshell) => self.everywhere() && self.list_is_dangerous(&subshell.list),
            CompoundCommand::Arithmetic(_) | CompoundCommand::Coprocess(_) => false,
        }
    }

    fn command_is_dangerous(self, command: &SimpleCommand) -> bool {
        let assignments = command.prefix.iter().flat_map(|prefix| &prefix.0).filter_map(word_of);
        if self.sought == Sought::End
            && self.is_zsh
            && assignments.into_iter().any(|word| option_name(word).starts_with("options[errexit]"))
        {
            return true;
        }
        let name = command.word_or_name.iter().map(|word| word.value.as_str());
        let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0).filter_map(word_of);
        let raw: Vec<&str> = name.chain(suffix).collect();
        let words: Vec<String> = raw.iter().map(|word| without_quotes(word)).collect();
        let prefixes = self.modifiers(&words);
        let Some((name, arguments)) = words[prefixes..].split_first() else { return false };
        match name.as_str() {
            "eval" => self.code_is_dangerous(&raw[prefixes + 1..]),
            _ if self.sought == Sought::Suspend => name == "suspend",
            "exit" | "logout" => true,
            "bye" => self.is_zsh,
            // Without a program `exec` only redirects, which must persist; but a shell that loses its input ends.
            "exec" => !arguments.iter().all(|word| names_descriptor(word)) || redirects_input(command),
            "set" if self.is_zsh => zsh_sets_errexit("set", arguments),
            "set" => sets_errexit(arguments),
            "setopt" | "unsetopt" if self.is_zsh => zsh_sets_errexit(name, arguments),
            "emulate" if self.is_zsh => self.emulates(&raw[prefixes + 1..]),
            "trap" => arguments
                .iter()
                .skip(1)
                .any(|signal| matches!(signal.to_ascii_uppercase().as_str(), "EXIT" | "SIGEXIT" | "0")),
            _ => false,
        }
    }

    /// The number of words before the name that only affect how it is found or how often it runs.
    fn modifiers(self, words: &[String]) -> usize {
        let is_modifier = |at: usize| match words[at].as_str() {
            "builtin" | "command" | "-p" | "--" => true,
            "-" | "noglob" | "nocorrect" | "repeat" => self.is_zsh,
            "{" => self.is_zsh && at > 1,
            _ => self.is_zsh && at > 0 && words[at - 1] == "repeat",
        };
        (0..words.len()).take_while(|at| is_modifier(*at)).count()
    }

    fn code_is_dangerous(self, raw: &[&str]) -> bool {
        let code = raw.iter().map(|word| without_outer_quotes(word)).collect::<Vec<_>>().join(" ");
        let shell = if self.is_zsh { Shell::Zsh } else { Shell::Bash };
        mentions(shell, self.sought, &code)
            && (self.evals >= MAX_EVALS || Self { evals: self.evals + 1, ..self }.text_is_dangerous(&code))
    }

    /// `emulate` with a mode changes nearly all options for good, except around the code behind `-c`.
    fn emulates(self, raw: &[&str]) -> bool {
        match raw.iter().position(|word| *word == "-c") {
            Some(at) => self.code_is_dangerous(&raw[at + 1..]),
            None => raw.iter().any(|word| !word.starts_with('-')),
        }
    }
}

/// `{name}`, as in `exec {name}>file`.
fn names_descriptor(word: &str) -> bool {
    let name = word.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'))
}

fn redirects_input(command: &SimpleCommand) -> bool {
    let prefix = command.prefix.iter().flat_map(|prefix| &prefix.0);
    let suffix = command.suffix.iter().flat_map(|suffix| &suffix.0);
    prefix.chain(suffix).any(|item| match item {
        CommandPrefixOrSuffixItem::IoRedirect(IoRedirect::File(descriptor, kind, _)) => {
            let reads = matches!(
                kind,
                IoFileRedirectKind::Read | IoFileRedirectKind::ReadAndWrite | IoFileRedirectKind::DuplicateInput
            );
            *descriptor == Some(0) || (descriptor.is_none() && reads)
        }
        CommandPrefixOrSuffixItem::IoRedirect(
            IoRedirect::HereDocument(descriptor, _) | IoRedirect::HereString(descriptor, _),
        ) => descriptor.is_none_or(|descriptor| descriptor == 0),
        _ => false,
    })
}

fn word_of(item: &CommandPrefixOrSuffixItem) -> Option<&str> {
    match item {
        CommandPrefixOrSuffixItem::Word(word) | CommandPrefixOrSuffixItem::AssignmentWord(_, word) => Some(&word.value),
        _ => None,
    }
}

fn sets_errexit(arguments: &[String]) -> bool {
    let options = arguments.iter().take_while(|argument| *argument != "--");
    options.clone().any(|option| option.starts_with('-') && !option.starts_with("--") && option.contains('e'))
        || arguments.windows(2).any(|pair| pair[0].starts_with('-') && pair[0].ends_with('o') && pair[1] == "errexit")
}

/// Names in zsh have any case and any `_`, `no` in front inverts them, patterns may name them.
fn zsh_sets_errexit(builtin: &str, arguments: &[String]) -> bool {
    let mut sets = builtin != "unsetopt";
    for argument in arguments {
        let letters = argument.strip_prefix(['-', '+']);
        let is_on = argument.starts_with('-') == (builtin != "unsetopt");
        match letters {
            // A list of words follows.
            Some("-" | "A") | Some("") if builtin == "set" => return false,
            Some(letters) if letters.contains('m') && builtin != "set" => return true,
            Some(letters) => {
                sets = is_on;
                if is_on && letters.contains('e') {
                    return true;
                }
            }
            None => match option_name(argument).as_str() {
                "errexit" if sets => return true,
                "noerrexit" if !sets => return true,
                _ => {}
            },
        }
    }
    false
}

fn option_name(word: &str) -> String {
    word.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect()
}

fn without_quotes(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '\\' | '\'' | '"')).collect()
}

/// The inside of a word that is quoted as a whole; otherwise the word without all its quotes.
fn without_outer_quotes(word: &str) -> String {
    let inside = ['\'', '"'].iter().find_map(|quote| {
        let inside = word.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inside.contains(*quote)).then(|| inside.to_owned())
    });
    inside.unwrap_or_else(|| without_quotes(word))
}

#[cfg(test)]
mod tests;
