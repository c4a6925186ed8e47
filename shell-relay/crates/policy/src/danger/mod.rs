//! Finds known harm anywhere in a line: also nested, quoted, broken or handed to another program. This module never allows a line and
//! only makes the question louder; a line without known harm is still asked about.

mod budget;
mod code;
mod download_and_run;
mod environment;
mod files;
mod git;
mod loops;
mod network;
mod table;
mod wrappers;

pub(super) use code::is_shell;
pub(super) use network::{is_loopback, talks_to_network, tells_network};
pub(super) use wrappers::is_wrapper;

use std::{collections::HashSet, path::PathBuf};

use budget::Budget;
use files::Places;

use cohab_shell_syntax::{LooseCommand, LooseWord, MAX_SCAN_BYTES, Scan, scan};

use super::{Context, Level, findings::Findings};

/// Adds what is known to do harm in `text`.
pub(super) fn find(text: &str, context: Context<'_>, findings: &mut Findings) {
    Judge { context, folders: vec![context.cwd.to_owned()], findings, budget: Budget::new() }.judge_text(text);
}

/// Whether a program runs the command or code in its arguments.
pub(super) fn hands_on(verb: &str) -> bool {
    code::is_interpreter(verb) || is_wrapper(verb) || matches!(verb, "eval" | "source" | ".")
}

/// The commands of a text, also nested ones and those that are handed from program to program.
#[derive(Debug, Default)]
pub(super) struct Commands {
    /// The words of each.
    pub words: Vec<Vec<LooseWord>>,
    /// There may be more commands: something was too long, too deep or handed on too often. That is danger to [`find`].
    pub is_cut: bool,
}

/// All commands of `text`, as far as they are followed.
pub(super) fn commands(text: &str) -> Commands {
    let mut found = Commands::default();
    collect(text, &mut Budget::new(), &mut found);
    found
}

fn collect(text: &str, budget: &mut Budget, found: &mut Commands) {
    if !budget.take_bytes(text.len().min(MAX_SCAN_BYTES)) {
        found.is_cut = true;
        return;
    }
    let scan = scan(text);
    found.is_cut |= scan.is_incomplete;
    for command in scan.commands {
        collect_words(&command.words, budget, found);
    }
}

fn collect_words(words: &[LooseWord], budget: &mut Budget, found: &mut Commands) {
    let Some((name, arguments)) = words.split_first() else { return };
    if !budget.take_words(words) {
        found.is_cut = true;
        return;
    }
    let verb = name.text.rsplit('/').next().unwrap_or_default();
    if budget.hand_over() {
        if let Some(inner) = wrappers::inner_command(verb, arguments) {
            collect_words(inner, budget, found);
        }
        for text in wrappers::inner_texts(verb, arguments) {
            collect(&text.text, budget, found);
        }
        budget.hand_back();
    } else {
        found.is_cut |= hands_on(verb);
    }
    found.words.push(words.to_vec());
}

/// The reason why a command of this name is asked each time, though it may do no harm.
pub(super) fn why_never_remembered(verb: &str) -> Option<&'static str> {
    if is_shell(verb) || code::is_interpreter(verb) {
        return Some("runs code that it is given");
    }
    if is_wrapper(verb) {
        return Some("runs other commands");
    }
    if network::connects(verb) {
        return Some("talks to the network");
    }
    (environment::is_builtin_that_counts(verb) || environment::assigns(verb))
        .then_some("changes what later commands mean")
}

pub use environment::decides_what_runs;

const NOT_CHECKABLE: &str = "too long or too deeply nested to be checked";
const TOO_OFTEN: &str = "hands code from program to program too often to be checked";

/// Largest number of folders of a line that are followed.
const MAX_FOLDERS: usize = 16;

/// Whether the purpose of this program is to change, send or run something: without the power to do so it is of no use.
pub(super) fn is_there_to_act(name: &str) -> bool {
    code::is_interpreter(name)
        || is_wrapper(name)
        || table::is_known(name)
        || files::is_there_to_write(name)
        || talks_to_network(name, &[])
}

struct Judge<'a, 'f> {
    context: Context<'a>,
    /// The folders in which a command may run: behind a `cd` there, or still here.
    folders: Vec<PathBuf>,
    findings: &'f mut Findings,
    budget: Budget,
}

impl Judge<'_, '_> {
    fn judge_text(&mut self, text: &str) {
        if !self.budget.take_bytes(text.len().min(MAX_SCAN_BYTES)) {
            self.findings.danger(NOT_CHECKABLE);
            return;
        }
        if !self.budget.hand_over() {
            self.findings.danger(TOO_OFTEN);
            return;
        }
        let scan = scan(text);
        if scan.is_incomplete {
            self.findings.danger(NOT_CHECKABLE);
        }
        if is_fork_bomb(&scan) {
            self.findings.danger("starts itself without end");
        }
        if loops::starts_without_end(text, &scan) {
            self.findings.danger("starts or makes something again and again without end");
        }
        if download_and_run::is_run(&scan) {
            self.findings.danger("runs what it gets from the network");
        }
        for command in &scan.commands {
            self.judge_command(command);
        }
        self.budget.hand_back();
    }

    fn judge_command(&mut self, command: &LooseCommand) {
        if !self.budget.take_small(command.assignments.len() + command.redirects.len()) {
            self.findings.danger(NOT_CHECKABLE);
            return;
        }
        for (name, value) in &command.assignments {
            environment::judge_assignment(name, value, self.findings);
        }
        for redirect in &command.redirects {
            let places = Places { context: self.context, folders: &self.folders };
            files::judge_redirect(redirect, places, self.findings);
        }
        let values = command.assignments.iter().map(|(_, value)| value);
        let mut texts = command.words.iter().filter(|word| word.expands).map(|word| &word.text).chain(values);
        if texts.any(|text| environment::runs_what_it_expands(text)) {
            self.findings.danger("runs code that is formed by an expansion");
        }
        if command.defines_function {
            self.judge_definition(command);
        } else {
            self.judge_words(&command.words, command);
        }
    }

    fn judge_definition(&mut self, command: &LooseCommand) {
        let name =
            command.words.iter().map(|word| word.text.as_str()).find(|name| *name != "function").unwrap_or_default();
        if super::options::verb(name).is_some() || table::is_known(name) || environment::is_builtin_that_counts(name) {
            self.findings.danger(format!("redefines `{name}`"));
        }
    }

    fn judge_words(&mut self, words: &[LooseWord], around: &LooseCommand) {
        let Some((name, arguments)) = words.split_first() else { return };
        let in_other_folders = arguments.len() * (self.folders.len() - 1);
        if !self.budget.take_words(words) || !self.budget.take_small(in_other_folders) {
            self.findings.danger(NOT_CHECKABLE);
            return;
        }
        if name.expands {
            self.findings.danger("the command's name comes from an expansion");
            return;
        }
        let verb = name.text.rsplit('/').next().unwrap_or_default();
        if !name.text.is_ascii() {
            self.findings.danger(format!("the command's name has letters beyond ASCII: `{}`", name.text));
        }
        let level_before = self.findings.level();
        let own_arguments = if verb == "git" { git::after_global_options(arguments) } else { arguments };
        if verb == "git" {
            git::judge(arguments, own_arguments, self.findings);
        }
        if !table::only_tells(verb, own_arguments) {
            for reason in table::reasons(verb, own_arguments) {
                self.findings.danger(format!("`{verb}` {reason}"));
            }
        }
        if let Some(inner) = first_of_braces(&name.text).filter(|inner| table::is_known(inner)) {
            self.findings.danger(format!("hides `{inner}` in braces"));
        }
        if wrappers::runs_what_it_finds(verb, arguments) {
            self.findings.danger("`find` runs something on what it finds");
        }
        environment::judge_builtin(verb, arguments, self.findings);
        network::judge(verb, arguments, around, self.findings);
        let places = Places { context: self.context, folders: &self.folders };
        files::judge_arguments(verb, arguments, places, self.findings);
        self.follow_change(verb, arguments);
        code::judge_inline(verb, arguments, self.findings);
        self.follow_code(verb, arguments, around);
        let is_harm = self.findings.level() >= Level::Danger && self.findings.level() > level_before;
        if name.is_quoted && (is_harm || table::is_known(verb) || code::is_interpreter(verb)) {
            self.findings.danger("hides the command's name with quotes or escapes");
        }
    }

    /// Records that later commands may run in another folder.
    fn follow_change(&mut self, verb: &str, arguments: &[LooseWord]) {
        if !matches!(verb, "cd" | "pushd") {
            return;
        }
        let Some(target) = arguments.iter().find(|word| !word.text.starts_with('-') && !word.expands) else { return };
        let places = Places { context: self.context, folders: &self.folders };
        let mut targets: Vec<_> = places.paths(&target.text).map(|path| path.to_path_buf()).collect();
        targets.retain(|target| !self.folders.contains(target));
        if self.folders.len() + targets.len() > MAX_FOLDERS {
            self.findings.danger("changes directories too often to be followed");
        } else {
            self.folders.extend(targets);
        }
    }

    /// Classes the commands that a program is asked to run.
    fn follow_code(&mut self, verb: &str, arguments: &[LooseWord], around: &LooseCommand) {
        if let Some(inner) = wrappers::inner_command(verb, arguments) {
            if self.budget.hand_over() {
                self.judge_words(inner, around);
                self.budget.hand_back();
            } else {
                self.findings.danger(TOO_OFTEN);
            }
        }
        for text in wrappers::inner_texts(verb, arguments) {
            if text.expands {
                self.findings.danger("runs code that is formed by an expansion");
            }
            self.judge_text(&text.text);
        }
        if !is_shell(verb) {
            if code::reads_program(verb, arguments) && (around.piped_from.is_some() || around.input.is_some()) {
                code::judge_fed_interpreter(verb, around.input.as_deref(), self.findings);
            }
            return;
        }
        if arguments.iter().any(|word| word.runs_code) {
            self.findings.danger(format!("`{verb}` runs the output of a command"));
        }
        if !code::reads_program(verb, arguments) {
            return;
        }
        if around.piped_from.is_some() || around.redirects.iter().any(|redirect| !redirect.writes) {
            self.findings.danger(format!("`{verb}` runs what it reads from a pipe or file"));
        }
        if let Some(input) = &around.input {
            self.judge_text(input);
        }
    }
}

/// The first word that a list of braces stands for: `{rm,-rf,.}`.
fn first_of_braces(text: &str) -> Option<&str> {
    text.strip_prefix('{')?.split_once(',').map(|(first, _)| first)
}

/// A function that pipes into itself: `:(){ :|:& };:`.
fn is_fork_bomb(scan: &Scan) -> bool {
    let names = |is_meant: fn(&LooseCommand) -> bool| {
        let meant = scan.commands.iter().filter(move |command| is_meant(command));
        meant.filter_map(|command| command.words.first()).map(|word| word.text.as_str())
    };
    let fed: HashSet<&str> = names(|command| command.piped_from.is_some()).collect();
    names(|command| command.defines_function).any(|name| fed.contains(name))
}
