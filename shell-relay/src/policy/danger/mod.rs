//! Known harm in a line, wherever it stands: also nested, quoted, broken or handed to another program. Only makes the question
//! louder; what is not found here is still asked.

mod code;
mod environment;
mod fetched;
mod files;
mod git;
mod network;
mod table;
mod wrappers;

pub(super) use network::{is_loopback, talks_to_network, tells_network};

use super::{
    Context, Level,
    scan::{self, LooseCommand, LooseWord, Scan},
    verdict::Findings,
};

/// Texts handed on from program to program are followed this far.
const MAX_HAND_OVERS: usize = 8;
/// More words than this, all texts together, are not classed one by one.
const MAX_JUDGED_WORDS: usize = 4000;

/// Adds what is known to do harm in `text`.
pub(super) fn find(text: &str, context: Context<'_>, findings: &mut Findings) {
    Judge { context, findings, hand_overs: 0, judged_words: 0 }.judge_text(text);
}

/// Whether it runs what it is told in its arguments.
pub(super) fn hands_on(verb: &str) -> bool {
    code::is_interpreter(verb) || wrappers::is_wrapper(verb) || matches!(verb, "eval" | "source" | ".")
}

/// The words of all commands in `text`, also of those that are handed from program to program, as far as they are followed.
pub(super) fn commands(text: &str) -> Vec<Vec<LooseWord>> {
    let mut found = Vec::new();
    collect(text, 0, &mut found);
    found
}

fn collect(text: &str, hand_overs: usize, found: &mut Vec<Vec<LooseWord>>) {
    for command in scan::scan(text).commands {
        collect_words(&command.words, hand_overs, found);
    }
}

fn collect_words(words: &[LooseWord], hand_overs: usize, found: &mut Vec<Vec<LooseWord>>) {
    let Some((name, arguments)) = words.split_first() else { return };
    if hand_overs >= MAX_HAND_OVERS || found.len() >= MAX_JUDGED_WORDS {
        return;
    }
    let verb = name.text.rsplit('/').next().unwrap_or_default();
    if let Some(inner) = wrappers::inner_command(verb, arguments) {
        collect_words(inner, hand_overs + 1, found);
    }
    for text in wrappers::inner_texts(verb, arguments) {
        collect(&text.text, hand_overs + 1, found);
    }
    found.push(words.to_vec());
}

/// Why a command of this name is asked each time, though it may do no harm.
pub(super) fn why_never_remembered(verb: &str) -> Option<&'static str> {
    if code::is_shell(verb) || code::is_interpreter(verb) {
        return Some("runs code that it is given");
    }
    if wrappers::is_wrapper(verb) {
        return Some("runs other commands");
    }
    if network::connects(verb) {
        return Some("talks to the network");
    }
    (environment::is_builtin_that_counts(verb) || environment::assigns(verb))
        .then_some("changes what later commands mean")
}

pub(super) use environment::decides_what_runs;

const NOT_CHECKABLE: &str = "too long or too deeply nested to be checked";

struct Judge<'a, 'f> {
    context: Context<'a>,
    findings: &'f mut Findings,
    /// How often text was handed on so far.
    hand_overs: usize,
    /// Words that were classed so far.
    judged_words: usize,
}

impl Judge<'_, '_> {
    fn judge_text(&mut self, text: &str) {
        if self.hand_overs >= MAX_HAND_OVERS {
            self.findings.danger("hands code from program to program too often to be checked");
            return;
        }
        self.hand_overs += 1;
        let scan = scan::scan(text);
        if scan.is_incomplete {
            self.findings.danger(NOT_CHECKABLE);
        }
        if is_fork_bomb(&scan) {
            self.findings.danger("starts itself without end");
        }
        if fetched::is_run(&scan) {
            self.findings.danger("runs what it gets from the network");
        }
        for command in &scan.commands {
            self.judge_command(command);
        }
        self.hand_overs -= 1;
    }

    fn judge_command(&mut self, command: &LooseCommand) {
        for (name, value) in &command.assignments {
            environment::judge_assignment(name, value, self.findings);
        }
        for redirect in &command.redirects {
            files::judge_redirect(redirect, self.context, self.findings);
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
        self.judged_words += words.len();
        if self.judged_words > MAX_JUDGED_WORDS {
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
        for reason in table::reasons(verb, own_arguments) {
            self.findings.danger(format!("`{verb}` {reason}"));
        }
        environment::judge_builtin(verb, arguments, self.findings);
        network::judge(verb, arguments, around, self.findings);
        files::judge_arguments(verb, arguments, self.context, self.findings);
        code::judge_inline(verb, arguments, self.findings);
        self.follow_code(verb, arguments, around);
        let is_harm = self.findings.level() >= Level::Danger && self.findings.level() > level_before;
        if name.is_quoted && (is_harm || table::is_known(verb) || code::is_interpreter(verb)) {
            self.findings.danger("hides the command's name with quotes or escapes");
        }
    }

    /// Classes what a program is told to run.
    fn follow_code(&mut self, verb: &str, arguments: &[LooseWord], around: &LooseCommand) {
        if let Some(inner) = wrappers::inner_command(verb, arguments) {
            if self.hand_overs < MAX_HAND_OVERS {
                self.hand_overs += 1;
                self.judge_words(inner, around);
                self.hand_overs -= 1;
            } else {
                self.findings.danger("hands code from program to program too often to be checked");
            }
        }
        for text in wrappers::inner_texts(verb, arguments) {
            if text.expands {
                self.findings.danger("runs code that is formed by an expansion");
            }
            self.judge_text(&text.text);
        }
        if !code::is_shell(verb) {
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

/// A function that pipes into itself: `:(){ :|:& };:`.
fn is_fork_bomb(scan: &Scan) -> bool {
    let defined =
        scan.commands.iter().filter(|command| command.defines_function).filter_map(|command| command.words.first());
    let pipes_into = |name: &str| {
        scan.commands
            .iter()
            .any(|command| command.piped_from.is_some() && command.words.first().is_some_and(|word| word.text == name))
    };
    defined.into_iter().any(|name| pipes_into(&name.text))
}
