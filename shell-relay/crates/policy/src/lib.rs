//! Judges shell lines: [`Verdict`] says whether a line may run. Pure: no file is touched, no program started.
//!
//! Allow is a whitelist: of structure (`parse`, on which two parsers must agree), of names and options (`options`, a table), of
//! the small languages of some programs (`rules`), and of paths (`paths`). Everything else is asked. Apart
//! from that, `danger` walks all of the text, nested and broken parts included, and looks for known harm; it only ever makes the
//! question louder.
//!
//! The parsers read bash. In zsh and fish the same text may mean something else: there a line is allowed only if all three shells read
//! it alike (`dialect`).
//!
//! [`Files`] resolves links and lists the files that a pattern matches. Two facts do not follow from the text and are left to the
//! caller that types the line: the meaning of a name in that shell, and programs that a repository's git configuration starts.

mod alone;
mod bytes;
mod carriers;
mod catch_panic;
mod caveat;
mod command;
mod danger;
mod dialect;
mod egress;
mod encoders;
mod file_lookup_cache;
mod fill;
pub mod glob;
mod hardening;
mod hosts;
mod lookups;
mod names;
mod options;
mod parse;
mod parts;
mod paths;
mod pattern_match;
mod provenance;
mod repository;
mod rules;
mod scan;
mod secret_use;
mod shell_options;
mod structure;
pub mod user_rules;
mod verdict;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub use caveat::{Caveat, ProgramFault, Setting};
use cohab_secrets::as_words;
use cohab_shell_state::shell::Shell;
use command::{Join, SimpleCommand};
use dialect::Reading;
pub use egress::{Outward, outward, reaches_out};
pub use fill::{NotFilled, can_fill, fill};
#[cfg(any(test, feature = "testing"))]
pub use hardening::typed_form;
pub use hardening::{Lock, Unasked, keeps_shell, needs_lock, unasked};
pub use hosts::hosts;
pub use names::{Program, why_not_themselves};
use parts::quoted;
pub use parts::{Part, parts};
pub use provenance::{leads_outside, outside_source, why_asked_under_taint};
pub use repository::{git_variables, planted, why_planted};
pub use secret_use::hands_code_on;
use structure::Computed;
use verdict::Findings;

/// The time for which a yes to one run holds, for client and daemon alike. A question may stand for any time: the time counts from the
/// yes.
pub const YES_HOLDS: Duration = Duration::from_secs(10 * 60);

/// Largest number of directories of a line that are followed.
const MAX_PLACES: usize = 4;
/// The values that a shell computes in such a line are not known beforehand, so it must not be able to do harm.
const NEEDS_LOCK: &str =
    "has loops, conditions or substitutions, which run unasked only where programs are kept from writing";

/// The level of a verdict, from lax to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Plainly read-only: runs at once.
    Allow,
    /// Shown in full; one key approves.
    Ask,
    /// Known to do harm; asked loudly, never remembered.
    Danger,
    /// The line is not run.
    Deny,
}

impl Level {
    /// The level's word in files and outputs.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Danger => "danger",
            Self::Deny => "deny",
        }
    }

    /// The level of this word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Danger, Self::Deny].into_iter().find(|level| level.word() == word)
    }
}

/// A level and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The strictest level of all parts.
    pub level: Level,
    /// The reasons for a level above `Allow`, a short sentence each, strictest first.
    pub reasons: Vec<String>,
}

impl Verdict {
    /// Whether a question is asked in every mode that asks at all: by a rule, or because of a write outside the working directory.
    #[must_use]
    pub fn is_firm(&self) -> bool {
        let is_firm = |reason: &String| {
            [paths::WRITES_ELSEWHERE, user_rules::STRICTER, secret_use::FILLS_IN]
                .iter()
                .any(|start| reason.starts_with(start))
        };
        self.level > Level::Ask || self.reasons.iter().any(is_firm)
    }
}

/// File facts that the text of a path does not show. The policy itself touches no file; the caller that types the line can look.
pub trait Files: std::fmt::Debug + Sync {
    /// The real paths of the files that `path` leads to: links are followed, `*` and `?` match names as in the shell. Files that do not
    /// exist are left out. `None` if there are too many.
    fn targets(&self, path: &Path) -> Option<Vec<PathBuf>>;

    /// The real places that a write to `path` changes: links are followed, the last one only if it `follows_last`, also to targets that
    /// do not exist yet; patterns as in [`Files::targets`]. `None` if there are too many.
    fn landings(&self, path: &Path, follows_last: bool) -> Option<Vec<PathBuf>>;

    /// A file below `root` whose name `is_wanted`, if a bounded search finds one. Hidden files count if `with_hidden`.
    fn find_below(&self, root: &Path, with_hidden: bool, is_wanted: &dyn Fn(&str) -> bool) -> Option<PathBuf>;

    /// The paths that match `path`, in which `*` and `?` match names as in the shell, as the shell would write them. `None` if there are
    /// too many.
    fn matches(&self, path: &Path) -> Option<Vec<PathBuf>> {
        self.targets(path)
    }

    /// Whether a name below `root` `is_odd`; true if there are too many names.
    fn has_names_below(&self, _root: &Path, _is_odd: &dyn Fn(&str) -> bool) -> bool {
        true
    }

    /// A link below `root` to a place that `is_wanted`, if there is one; `root` itself if there are too many names.
    fn link_below(&self, root: &Path, _is_wanted: &dyn Fn(&Path) -> bool) -> Option<PathBuf> {
        Some(root.to_owned())
    }

    /// The program at `path`, if it exists and can be run.
    fn program(&self, _path: &Path) -> Option<Program> {
        None
    }
}

/// The facts against which a line is judged.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Working directory of the shell.
    pub cwd: &'a Path,
    /// The user's home.
    pub home: &'a Path,
    /// Resolves paths; without it they are judged by their text alone.
    pub files: Option<&'a dyn Files>,
    /// The shell that will read a line.
    pub shell: Shell,
    /// Folders of cohab at the user's chosen places: secret with everything below them. Absolute.
    pub own: &'a [PathBuf],
    /// Folders of PATH, as far as they are known: a file written there may be run by its name. Absolute.
    pub programs: &'a [PathBuf],
    /// The launcher of the programs of a line that runs unasked.
    pub lock: Option<Lock<'a>>,
}

impl<'a> Context<'a> {
    /// Both paths are absolute. Lines are read by bash.
    #[must_use]
    pub fn new(cwd: &'a Path, home: &'a Path) -> Self {
        Self { cwd, home, files: None, shell: Shell::Bash, own: &[], programs: &[], lock: None }
    }

    /// The same with another shell that reads the lines.
    #[must_use]
    pub fn in_shell(self, shell: Shell) -> Self {
        Self { shell, ..self }
    }

    /// The same context, which also looks at the files that a line names.
    #[must_use]
    pub fn with_files(self, files: &'a dyn Files) -> Self {
        Self { files: Some(files), ..self }
    }

    /// The same context with these folders of ours.
    #[must_use]
    pub fn with_own(self, own: &'a [PathBuf]) -> Self {
        Self { own, ..self }
    }

    /// The same context with these folders in PATH.
    #[must_use]
    pub fn with_programs(self, programs: &'a [PathBuf]) -> Self {
        Self { programs, ..self }
    }

    /// Whether a program of this name can only read, with any arguments.
    fn confines(self, name: &str) -> bool {
        self.lock.is_some() && hardening::confines(name, self.shell)
    }

    /// The same in another directory.
    fn at<'b>(self, cwd: &'b Path) -> Context<'b>
    where
        'a: 'b,
    {
        Context { cwd, ..self }
    }

    /// The same by text alone.
    fn without_files(self) -> Self {
        Self { files: None, ..self }
    }
}

/// Judges a shell line of any number of commands. Always returns a verdict; a check that fails counts as not passed.
#[must_use]
pub fn assess_line(line: &str, context: Context<'_>) -> Verdict {
    let mut findings = Findings::default();
    let words = as_words(line);
    secret_use::find(line, &words, &mut findings);
    let line = &*words;
    let looks = context.files.map(file_lookup_cache::Looks::new);
    let context = Context { files: looks.as_ref().map(|looks| looks as &dyn Files), ..context };
    let reading = catch_panic::caught(|| dialect::reading(context.shell, line)).unwrap_or_default();
    if catch_panic::caught(|| find_what_is_not_plain(&reading, context, &mut findings)).is_none() {
        findings.ask("could not be checked: the check itself failed");
    }
    // If a line with loops and substitutions only reads, just the commands that it runs count.
    let judged = if reading.structure.is_some() && findings.level() == Level::Allow { &reading.text } else { line };
    let mut harm = Findings::default();
    bytes::find_hidden_characters(line, &mut harm);
    if catch_panic::caught(|| find_harm(judged, context, &mut harm)).is_none() {
        harm.danger("could not be checked for harm: the check itself failed");
    }
    findings.put_in_front(harm);
    if looks.as_ref().is_some_and(file_lookup_cache::Looks::is_spent) {
        findings.danger("names more files than are looked at");
    }
    findings.into_verdict()
}

fn find_harm(line: &str, context: Context<'_>, findings: &mut Findings) {
    danger::find(line, context, findings);
    // A longer line is danger already.
    if line.len() <= scan::MAX_SCAN_BYTES
        && let Some(own_reading) = dialect::as_bash(context.shell, line)
    {
        danger::find(&own_reading, context, findings);
    }
}

fn find_what_is_not_plain(reading: &Reading, context: Context<'_>, findings: &mut Findings) {
    let line = &*reading.text;
    let commands = match parse::parse_plain(line) {
        Ok(commands) => commands,
        Err(reason) => return findings.ask(reading.refused.unwrap_or(reason)),
    };
    assess_commands(&commands, context, findings);
    if context.files.is_some() && findings.level() == Level::Ask {
        // A rule reports its first objection: a question about a file must not hide the danger that the text alone shows.
        let mut by_text = Findings::default();
        assess_commands(&commands, context.without_files(), &mut by_text);
        findings.add_dangers(by_text);
    }
    if let Some(structure) = &reading.structure {
        assess_computed(&structure.computed, line, &commands, context, findings);
        if findings.level() == Level::Allow {
            let reason = if context.lock.is_none() { Some(NEEDS_LOCK) } else { alone::why_not(&commands) };
            reason.into_iter().for_each(|reason| findings.ask(reason));
        }
    }
    if findings.level() == Level::Allow && !parse::is_confirmed(line, &commands) {
        findings.ask("two shell parsers read it differently");
    }
    if findings.level() == Level::Allow
        && reading.structure.is_none()
        && let Some(reason) = dialect::why_read_otherwise(context.shell, line, &commands)
    {
        findings.ask(reason);
    }
}

/// Judges the words of `commands`, in `line`, that are known only when they run.
fn assess_computed(
    computed: &[Computed],
    line: &str,
    commands: &[SimpleCommand],
    context: Context<'_>,
    findings: &mut Findings,
) {
    let places = hardening::places::word_places(line);
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
        if let Err((level, reason)) = rules::computed::assess(command, at, computed, place) {
            findings.add(level, reason);
        }
    }
}

/// The judged form of `line`: syntax of `shell` alone is rewritten in bash syntax.
#[must_use]
pub fn in_words_of_bash(line: &str, shell: Shell) -> String {
    dialect::reading(shell, line).text
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
fn reads_only_when_fed(command: &SimpleCommand, context: Context<'_>) -> bool {
    let mut findings = Findings::default();
    let place = rules::Place { context: context.without_files(), origin: context.cwd, feeds_pipe: false, fed_by: &[] };
    rules::assess(command, place, &mut findings);
    findings.level() == Level::Allow
}

/// Judges reading a file, or the files below a folder. `path` may be relative to `context.cwd`.
#[must_use]
pub fn assess_read(path: &Path, context: Context<'_>) -> Verdict {
    let mut findings = Findings::default();
    if let Some((level, reason)) = paths::assess_read(path, context) {
        findings.add(level, reason);
    }
    findings.into_verdict()
}

/// Judges writing a file: at least `Ask`.
#[must_use]
pub fn assess_write(path: &Path, context: Context<'_>) -> Verdict {
    let mut findings = Findings::default();
    let (level, reason) = paths::assess_write(path, context);
    findings.add(level, reason);
    findings.into_verdict()
}

/// Whether a variable of this name changes the actions of later commands, or the programs that they run.
#[must_use]
pub fn decides_what_runs(variable: &str) -> bool {
    danger::decides_what_runs(variable)
}

#[cfg(test)]
mod tests;
