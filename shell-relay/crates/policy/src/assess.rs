//! Judges lines and single files: brings together what the parts of the policy find.

use std::path::Path;

use cohab_secrets::as_words;
use cohab_shell_state::shell::Shell;
use cohab_shell_syntax::{
    Computed, Join, MAX_SCAN_BYTES, Reading, SimpleCommand, as_bash, caught, hidden_characters, is_confirmed,
    parse_plain, why_read_otherwise, word_places,
};

use super::{
    alone,
    context::{Context, Files},
    danger, file_lookup_cache,
    findings::Findings,
    known_names,
    nested::{self, Nested},
    paths, rules, secret_use,
    verdict::{Level, Verdict},
};

/// Largest number of directories of a line that are followed.
const MAX_PLACES: usize = 4;
/// The values that a shell computes in such a line are not known beforehand, so it must not be able to do harm.
const NEEDS_LOCK: &str =
    "has loops, conditions or substitutions, which run unasked only where programs are kept from writing";

/// Judges a shell line of any number of commands. Always returns a verdict; a check that fails counts as not passed.
#[must_use]
pub fn assess_line(line: &str, context: Context<'_>) -> Verdict {
    judge(line, context, 0).into_verdict()
}

/// Judges a line at this depth of shells in the text of a shell.
fn judge(line: &str, context: Context<'_>, depth: usize) -> Findings {
    let mut findings = Findings::default();
    let words = as_words(line);
    secret_use::find(line, &words, &mut findings);
    let line = &*words;
    let lookups = context.files.map(file_lookup_cache::FileLookups::new);
    let context = Context { files: lookups.as_ref().map(|lookups| lookups as &dyn Files), ..context };
    let reading = caught(|| known_names::reading(context.shell, line)).unwrap_or_default();
    let found = caught(|| find_what_is_not_plain(&reading, context, depth, &mut findings));
    if found.is_none() {
        findings.ask("could not be checked: the check itself failed");
    }
    // If a line with loops, substitutions and shells only reads, just the commands that it runs count.
    let run = found.flatten().filter(|_| findings.level() == Level::Allow);
    let judged = run.as_deref().unwrap_or(line);
    let mut harm = Findings::default();
    hidden_characters(line).for_each(|what| harm.danger(format!("contains {what}")));
    if caught(|| find_harm(judged, context, &mut harm)).is_none() {
        harm.danger("could not be checked for harm: the check itself failed");
    }
    findings.put_in_front(harm);
    if lookups.as_ref().is_some_and(file_lookup_cache::FileLookups::is_spent) {
        findings.danger("names more files than are looked at");
    }
    findings
}

fn find_harm(line: &str, context: Context<'_>, findings: &mut Findings) {
    danger::find(line, context, findings);
    // A longer line is danger already.
    if line.len() <= MAX_SCAN_BYTES
        && let Some(own_reading) = as_bash(context.shell, line)
    {
        danger::find(&own_reading, context, findings);
    }
}

/// Returns the commands that the line runs, as a line, if they are not the line itself.
fn find_what_is_not_plain(
    reading: &Reading,
    context: Context<'_>,
    depth: usize,
    findings: &mut Findings,
) -> Option<String> {
    let line = &*reading.text;
    let commands = match parse_plain(line) {
        Ok(commands) => commands,
        Err(reason) => {
            findings.ask(reading.refused.unwrap_or(reason));
            return None;
        }
    };
    let without_shells = without_shells(&commands, context, depth, findings);
    let plain = without_shells.as_deref().unwrap_or(&commands);
    assess_commands(plain, context, findings);
    if context.files.is_some() && findings.level() == Level::Ask {
        // A rule reports its first objection: a question about a file must not hide the danger that the text alone shows.
        let mut by_text = Findings::default();
        assess_commands(plain, context.without_files(), &mut by_text);
        findings.add_dangers(by_text);
    }
    if let Some(structure) = &reading.structure {
        assess_computed(&structure.computed, line, &commands, context, findings);
        if findings.level() == Level::Allow {
            let reason = if context.lock.is_none() { Some(NEEDS_LOCK) } else { alone::why_not(&commands) };
            reason.into_iter().for_each(|reason| findings.ask(reason));
        }
    }
    if findings.level() == Level::Allow && !is_confirmed(line, &commands) {
        findings.ask("two shell parsers read it differently");
    }
    if findings.level() == Level::Allow
        && reading.structure.is_none()
        && let Some(reason) = why_read_otherwise(context.shell, line, &commands)
    {
        findings.ask(reason);
    }
    if without_shells.is_some() {
        return Some(plain.iter().map(nested::line_of).collect::<Vec<_>>().join("; "));
    }
    reading.structure.is_some().then(|| line.to_owned())
}

/// The commands without the shells whose texts are judged by themselves; `None` if there is no such shell.
fn without_shells(
    commands: &[SimpleCommand],
    context: Context<'_>,
    depth: usize,
    findings: &mut Findings,
) -> Option<Vec<SimpleCommand>> {
    let shells: Vec<Option<Nested<'_>>> =
        commands.iter().map(|command| nested::taken_apart(command, context)).collect();
    if depth == nested::MAX_DEPTH || shells.iter().all(Option::is_none) {
        return None;
    }
    let plain = commands.iter().zip(shells).map(|(command, shell)| {
        let Some(Nested { command, text }) = shell else { return command.clone() };
        findings.put_in_front(judge(&text, context.in_shell(Shell::Bash), depth + 1));
        alone::why_not(&nested::commands_of(&text)).into_iter().for_each(|reason| findings.ask(reason));
        command
    });
    Some(plain.collect())
}

/// Judges the words of `commands`, in `line`, that are known only when they run.
fn assess_computed(
    computed: &[Computed],
    line: &str,
    commands: &[SimpleCommand],
    context: Context<'_>,
    findings: &mut Findings,
) {
    let places = word_places(line);
    for computed in computed {
        let found = places.iter().zip(commands).find_map(|(words, command)| {
            let at =
                words.iter().position(|word| word.start <= computed.place.start && computed.place.end <= word.end)?;
            Some((command, at))
        });
        let place = rules::Place { context, origin: context.cwd, feeds_pipe: false, fed_by: &[] };
        let Some((command, at)) = found.filter(|_| places.len() == commands.len()) else {
            return findings.ask("two shell parsers read it differently");
        };
        if let Err(objection) = rules::computed::assess(command, at, computed, place) {
            findings.add(objection);
        }
    }
}

/// The judged form of `line`: syntax of `shell` alone is rewritten in bash syntax.
#[must_use]
pub fn in_words_of_bash(line: &str, shell: Shell) -> String {
    known_names::reading(shell, line).text
}

/// Judges each command in every folder in which it may run: a `cd` before it may have succeeded or failed.
fn assess_commands(commands: &[SimpleCommand], context: Context<'_>, findings: &mut Findings) {
    let mut places = vec![context.cwd.to_path_buf()];
    for (index, command) in commands.iter().enumerate() {
        let feeds_pipe = commands.get(index + 1).is_some_and(|next| next.join == Join::Pipe);
        let start = (0..=index).rev().find(|at| commands[*at].join != Join::Pipe).unwrap_or(index);
        for place in &places {
            let fed_by = &commands[start..index];
            let place = rules::Place { context: context.at(place), origin: context.cwd, feeds_pipe, fed_by };
            rules::assess(command, place, findings);
        }
        if command.words[0].text != "cd" {
            continue;
        }
        let targets: Vec<_> = places.iter().map(|place| rules::cd_target(command, context.at(place))).collect();
        for target in targets {
            match target {
                Some(target) if places.contains(&target) => {}
                Some(target) if places.len() < MAX_PLACES => places.push(target),
                _ if commands.len() > 1 => findings.ask("changes to directories that are not known beforehand"),
                _ => {}
            }
        }
    }
}

/// Whether a command is plainly read-only where a pipe feeds it.
pub(super) fn reads_only_when_fed(command: &SimpleCommand, context: Context<'_>) -> bool {
    let mut findings = Findings::default();
    let place = rules::Place { context: context.without_files(), origin: context.cwd, feeds_pipe: false, fed_by: &[] };
    rules::assess(command, place, &mut findings);
    findings.level() == Level::Allow
}

/// Judges reading a file, or the files below a folder. `path` may be relative to `context.cwd`.
#[must_use]
pub fn assess_read(path: &Path, context: Context<'_>) -> Verdict {
    let mut findings = Findings::default();
    if let Some(risk) = paths::assess_read(path, context) {
        findings.add(risk);
    }
    findings.into_verdict()
}

/// Judges writing a file: at least `Ask`.
#[must_use]
pub fn assess_write(path: &Path, context: Context<'_>) -> Verdict {
    let mut findings = Findings::default();
    findings.add(paths::assess_write(path, context));
    findings.into_verdict()
}
