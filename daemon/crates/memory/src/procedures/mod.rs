//! Drafts of procedures: sequences of commands that went well several times in a project. Pure.
//!
//! [`drafts`] takes what was done in one project. A step is a command that really ran; arguments that differed between the times are
//! parameters. Commands that only look are no steps. [`Draft::skill`] writes a draft as a `SKILL.md`, so that a model sees its name and
//! trigger, and its steps only when it asks for them.
//!
//! Invariants: nothing of a turn that had read text of strangers becomes a step, and no line that the caller holds to be secret; the work
//! is bounded for any history.
//!
//! A draft is a proposal. This module stores nothing and runs nothing.

mod line;
mod mining;
mod render;
mod template;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    path::{Path, PathBuf},
};

use cohab_text::sanitize::one_line;
use jiff::{Timestamp, tz::TimeZone};

pub use self::template::Parameter;
use self::{
    line::Command,
    mining::Event,
    template::{Parameters, template},
};
use crate::{
    past::record::Deed,
    record::{LEAST_TRUST, Source},
};

/// Most commands that are looked at: the newest.
pub const MAX_DEEDS: usize = 5_000;
/// Most times of one sequence that are looked at: the newest.
const MAX_TIMES: usize = 100;

/// A procedure that what was done speaks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    /// Up to 64 letters, digits and `-`.
    pub name: String,
    /// What it does and when to use it, in one line.
    pub description: String,
    /// The root of the project.
    pub root: PathBuf,
    /// What a user asks for when it is to be used: `make a release`.
    pub trigger: String,
    /// Its steps, 2 to 8.
    pub steps: Vec<DraftStep>,
    /// What differed between the times.
    pub parameters: Vec<Parameter>,
    /// How often it was done.
    pub seen: usize,
    /// When its last step was done last.
    pub last: Timestamp,
    /// The least trust of what it was learned from.
    pub trust: f64,
    /// What it was learned from, each once.
    pub sources: Vec<Source>,
}

/// A step of a procedure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DraftStep {
    /// The command; `{name}` is a parameter.
    pub command: String,
    /// The folder below that of the project in which it always ran, if it is not that of the project.
    pub folder: Option<PathBuf>,
    /// Its expected outcome, in words.
    pub expected: String,
}

/// A command of a line that succeeded.
struct Done<'a> {
    command: Command<'a>,
    deed: &'a Deed,
}

/// The procedures that these speak for, which were done in the project with this root. Days are those of `zone`. Lines for which
/// `is_clean` returns false hold a secret.
///
/// ```
/// # use cohab_memory::{past::record::Deed, procedures::drafts, record::Source};
/// # use jiff::{Timestamp, tz::TimeZone};
/// let deeds = [(1, "v1.4.2"), (2, "v1.5.0"), (3, "v1.6.0")].into_iter().flat_map(|(day, version)| {
///     [format!("git tag {version}"), "make deploy".to_owned()].map(|line| Deed {
///         line,
///         at: Timestamp::from_second(day * 86_400).expect("a time"),
///         folder: "/srv/shop".into(),
///         exit_code: Some(0),
///         session: None,
///         source: Source::Commands,
///         trust: 0.9,
///     })
/// });
/// let deeds: Vec<Deed> = deeds.collect();
/// let drafts = drafts(&deeds, "/srv/shop".as_ref(), &TimeZone::UTC, &|_| true);
/// assert_eq!(drafts[0].steps[0].command, "git tag {version}");
/// assert_eq!(drafts[0].steps[1].command, "make deploy");
/// ```
#[must_use]
pub fn drafts(deeds: &[Deed], root: &Path, zone: &TimeZone, is_clean: &dyn Fn(&str) -> bool) -> Vec<Draft> {
    let done = done(deeds, is_clean);
    let events = events(&done, zone);
    let mut drafts = Vec::<Draft>::new();
    for occurrences in mining::sequences(&events) {
        let older = occurrences.len().saturating_sub(MAX_TIMES);
        let occurrences: Vec<Vec<&Done<'_>>> =
            occurrences.iter().skip(older).map(|steps| steps.iter().filter_map(|at| done.get(*at)).collect()).collect();
        let Some(mut draft) = draft(&occurrences, root) else { continue };
        let is_free = |name: &str| drafts.iter().all(|other| other.name != name);
        let numbered = (2..).map(|number| format!("{}-{number}", draft.name));
        let name = std::iter::once(draft.name.clone()).chain(numbered).find(|name| is_free(name));
        draft.name = name.unwrap_or_default();
        drafts.push(draft);
    }
    drafts
}

/// The commands that can be steps, in the order of their times. The same command again at once is one.
fn done<'a>(deeds: &'a [Deed], is_clean: &dyn Fn(&str) -> bool) -> Vec<Done<'a>> {
    let can_be_step = |deed: &&Deed| deed.exit_code == Some(0) && deed.trust >= LEAST_TRUST && is_clean(&deed.line);
    let mut fitting: Vec<&Deed> = deeds.iter().filter(can_be_step).collect();
    // Stable: the commands of a turn have the same time.
    fitting.sort_by_key(|deed| deed.at);
    let newest = fitting.len().saturating_sub(MAX_DEEDS);
    let mut done = Vec::<Done<'a>>::new();
    for deed in fitting.into_iter().skip(newest) {
        for command in line::commands(&deed.line) {
            if !command.only_looks() && done.last().is_none_or(|before| before.command != command) {
                done.push(Done { command, deed });
            }
        }
    }
    done
}

/// The same with numbers in place of texts.
fn events<'a>(done: &[Done<'a>], zone: &TimeZone) -> Vec<Event<'a>> {
    let mut exact = HashMap::<String, (usize, usize)>::new();
    let mut numbers = BTreeMap::<String, usize>::new();
    for Done { command, .. } in done {
        let next = exact.len();
        exact.entry(command.text()).or_insert((next, 0)).1 += 1;
    }
    let count = exact.len();
    let mut event = |Done { command, deed }: &Done<'a>| {
        let frequent = exact.get(&command.text()).filter(|(_, times)| *times >= mining::LEAST_TIMES);
        // Another file each time is no step.
        let shape = if command.is_editor() { command.text() } else { command.shape() };
        let next = count + numbers.len();
        Event {
            shape: *numbers.entry(shape).or_insert(next),
            exact: frequent.map(|(number, _)| *number),
            at: deed.at,
            day: deed.at.to_zoned(zone.clone()).date(),
            session: deed.session.as_deref(),
        }
    };
    done.iter().map(&mut event).collect()
}

/// The draft of a sequence from its occurrences.
fn draft(occurrences: &[Vec<&Done<'_>>], root: &Path) -> Option<Draft> {
    let newest = occurrences.last()?;
    let mut parameters = Parameters::default();
    let steps = (0..newest.len()).map(|at| {
        let all: Vec<&&Done<'_>> = occurrences.iter().filter_map(|steps| steps.get(at)).collect();
        let commands: Vec<&Command<'_>> = all.iter().map(|done| &done.command).collect();
        let folder = all.first().map(|done| done.deed.folder.as_path());
        let folder = folder.filter(|folder| all.iter().all(|done| done.deed.folder == *folder));
        let below = folder.and_then(|folder| folder.strip_prefix(root).ok()).filter(|below| *below != Path::new(""));
        DraftStep {
            command: template(&commands, &mut parameters),
            folder: below.map(Path::to_owned),
            expected: "exit status 0".to_owned(),
        }
    });
    let steps: Vec<DraftStep> = steps.collect();
    let names: Vec<String> = newest.iter().map(|done| done.command.name()).collect();
    let commands = render::list(steps.iter().map(|step| step.command.clone()));
    let (name, trigger, description) = match render::purpose(&names) {
        Some((name, trigger)) => {
            (name.to_owned(), trigger.to_owned(), format!("use it when asked to {trigger}. Its steps are {commands}"))
        }
        None => {
            let trigger = format!("run {commands}");
            let description = format!("use it when asked to {trigger}");
            (format!("{} {}", names.first()?, names.last()?), trigger, description)
        }
    };
    let project = root.file_name().map(|name| one_line(&name.to_string_lossy(), 40)).unwrap_or_default();
    let all = || occurrences.iter().flatten();
    Some(Draft {
        name: render::slug(&format!("{project} {name}")),
        description: format!("In the project {project}, {description}"),
        root: root.to_owned(),
        trigger,
        seen: occurrences.len(),
        last: newest.last()?.deed.at,
        trust: all().map(|done| done.deed.trust).fold(1.0, f64::min),
        sources: all().map(|done| done.deed.source.clone()).collect::<BTreeSet<_>>().into_iter().collect(),
        parameters: parameters.finish(),
        steps,
    })
}

#[cfg(test)]
#[path = "drafts_tests.rs"]
mod tests;
