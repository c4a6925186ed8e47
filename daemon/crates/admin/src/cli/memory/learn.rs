//! `cohab memory learn` reads the user's documents, and `unlearn` deletes what was read.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use clap::Args;
use cohab_context::workspace::root_of;
use cohab_memory::{
    knowledge::{
        record::{LearnedPlace, LeftOut, PlaceSummary},
        store::{KnowledgeStore as _, MAX_FILES, MAX_PLACES},
    },
    record::Scope,
};
use cohab_store::knowledge::SqliteKnowledge;
use cohab_tools::{LearnFault, LearnReport};

use super::{
    super::{Failure, record},
    Caller,
    documents::{count, open, reading, shown, unusable},
    learned,
};

/// The remedy for a place that is not known.
const LISTS: &str = "`cohab memory learned` lists what was learned";

/// What to learn.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "Text files are cut into passages, which `cohab memory learned WORDS` finds, and the model, too, when it searches. Hidden \
        files, those in .gitignore and .cohabignore, links, files that hold secrets, and files that are not text or larger than 1 MB are left out. \
        What is in a project is found in this project only. Changed files are read again before a search."
)]
pub struct LearnArgs {
    /// Folders or files; without them, list what was learned
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// It is found from every folder, not only in its project
    #[arg(long, requires = "paths")]
    pub everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to unlearn.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct UnlearnArgs {
    /// A learned folder or file
    #[arg(value_name = "PATH")]
    pub path: PathBuf,
}

pub(super) fn learn(args: &LearnArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    if args.paths.is_empty() {
        return learned::list(args.json, caller, output);
    }
    // All of them are looked at before the first one is read.
    let roots: Vec<PathBuf> = args.paths.iter().map(|path| root(path, caller)).collect::<Result<_, _>>()?;
    let unusable = unusable(caller.paths);
    let (file, keys) = (caller.paths.knowledge_file(), caller.paths.memory_key_dir());
    let mut store = SqliteKnowledge::create(&file, &keys).map_err(&unusable)?;
    let mut summaries = Vec::new();
    for root in &roots {
        let place = place(root, args.everywhere, &store, caller)?;
        store.learn(&place).map_err(&unusable)?;
        let report =
            reading(caller, |learner| learner.refresh(&mut store, &place.root, caller.now.timestamp(), u64::MAX));
        let report = report.map_err(|fault| match fault {
            LearnFault::Store(error) => unusable(error),
            LearnFault::Place(reason) => Failure::Other(reason, None),
        })?;
        let known = store.places().map_err(&unusable)?;
        let Some(summary) = known.into_iter().find(|summary| summary.place.root == place.root) else { continue };
        if !args.json {
            output.write_all(told(&summary, &report, root, caller).as_bytes())?;
        }
        summaries.push(summary);
    }
    if args.json { learned::print_json(&summaries, output) } else { Ok(()) }
}

/// The real path of something that can be learned.
fn root(path: &Path, caller: &Caller<'_>) -> Result<PathBuf, Failure> {
    let path = caller.folder.join(path);
    let refused = |reason: &str| Failure::Other(format!("{} {reason}", shown(&path, caller)), None);
    let root = path.canonicalize().map_err(|error| refused(&format!("cannot be read: {error}")))?;
    let is_fit = root.metadata().is_ok_and(|metadata| metadata.is_file() || metadata.is_dir());
    match (is_fit, root.parent()) {
        (false, _) => Err(refused("is neither a file nor a folder")),
        (true, None) => Err(refused("is the whole system; name a folder in it")),
        (true, Some(_)) => Ok(root),
    }
}

/// The place that a path becomes, or the one that it is part of already.
fn place(
    root: &Path,
    is_everywhere: bool,
    store: &SqliteKnowledge,
    caller: &Caller<'_>,
) -> Result<LearnedPlace, Failure> {
    let known = store.places().map_err(unusable(caller.paths))?;
    let now = caller.now.timestamp();
    if let Some(PlaceSummary { place, .. }) =
        known.iter().find(|summary| root != summary.place.root && root.starts_with(&summary.place.root))
    {
        return Ok(LearnedPlace { learned: now, ..place.clone() });
    }
    if known.len() >= MAX_PLACES && known.iter().all(|summary| !summary.place.root.starts_with(root)) {
        let hint = "`cohab memory unlearn PATH` removes one; a folder counts once with all that is in it".to_owned();
        return Err(Failure::Other(format!("{MAX_PLACES} places are learned, which is the limit"), Some(hint)));
    }
    let project = root_of(root, &caller.home);
    let is_in_project = !is_everywhere && project.join(".git").symlink_metadata().is_ok();
    let scope = if is_in_project { Scope::Project(project) } else { Scope::Everywhere };
    Ok(LearnedPlace { root: root.to_owned(), scope, learned: now, looked: None })
}

/// What became of a place, for people.
fn told(summary: &PlaceSummary, report: &LearnReport, root: &Path, caller: &Caller<'_>) -> String {
    let name = shown(&summary.place.root, caller);
    let mut text = String::new();
    let mut add = |words: &str| record::paragraph(("", ""), words, caller.columns, &mut text);
    if *root != summary.place.root {
        add(&format!("{} is part of {name}, which was read again.", shown(root, caller)));
    }
    let (files, passages) = (count(summary.files, "file"), count(summary.passages, "passage"));
    add(&format!("Learned {name}: {files}, {passages}.{}", left_out(summary, report)));
    let from = match &summary.place.scope {
        Scope::Everywhere => "from every folder".to_owned(),
        Scope::Project(project) => format!("in {}", shown(project, caller)),
    };
    add(&format!("`cohab memory learned WORDS` finds them {from}."));
    text
}

/// The files that were left out, as a sentence.
fn left_out(summary: &PlaceSummary, report: &LearnReport) -> String {
    let phrase =
        |reason: LeftOut| LeftOut::PHRASES.iter().find(|(one, _)| *one == reason).map_or("", |(_, phrase)| phrase);
    let mut parts: Vec<String> =
        summary.left_out.iter().map(|(reason, count)| format!("{count} {}", phrase(*reason))).collect();
    if report.unreadable > 0 {
        parts.push(format!("{} unreadable", report.unreadable));
    }
    if report.beyond > 0 {
        parts.push(format!("{} beyond the {MAX_FILES} files of all places", report.beyond));
    }
    if parts.is_empty() { String::new() } else { format!(" Left out: {}.", parts.join(", ")) }
}

pub(super) fn unlearn(args: &UnlearnArgs, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let path = caller.folder.join(&args.path);
    // It may be gone.
    let root = path.canonicalize().unwrap_or_else(|_| path.components().collect());
    let unknown = || Failure::Other(format!("{} was not learned", shown(&root, caller)), Some(LISTS.to_owned()));
    let Some(mut store) = open(caller.paths)? else { return Err(unknown()) };
    let unusable = unusable(caller.paths);
    let known = store.places().map_err(&unusable)?;
    if let Some(above) =
        known.iter().map(|summary| &summary.place.root).find(|above| root.starts_with(above) && root != **above)
    {
        let message = format!("{} was learned as a part of {}", shown(&root, caller), shown(above, caller));
        let hint = "name the whole of it; a file in .gitignore, .ignore or .cohabignore is left out".to_owned();
        return Err(Failure::Other(message, Some(hint)));
    }
    // The seals' key is not needed to delete.
    let files = store.unlearn(&root).map_err(&unusable)?.ok_or_else(unknown)?;
    let mut text = String::new();
    let told = format!(
        "Unlearned {}: {} deleted from the store. Conversations that quoted them, and backups of knowledge.db, still hold them.",
        shown(&root, caller),
        count(files, "file")
    );
    record::paragraph(("", ""), &told, caller.columns, &mut text);
    Ok(output.write_all(text.as_bytes())?)
}
