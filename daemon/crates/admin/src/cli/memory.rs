//! `cohab memory` lists, searches, adds, replaces and deletes remembered facts, keeps memory blocks, finds what was done, and learns the
//! user's documents. Which facts a question is given is decided elsewhere.

mod add;
mod blocks;
mod documents;
mod forget;
mod forget_past;
mod import_history;
mod inbox;
mod jsonl;
mod learn;
mod learned;
mod list;
mod past;
mod show;
mod stats;
mod store;
mod transfer;
mod verify;

use std::{
    env,
    io::{self, BufRead, IsTerminal, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::{Args, Subcommand};
use cohab_memory::{
    past::record::{PastId, RunSource},
    record::{MemoryId, Source},
};
use cohab_protocol::Paths;
use jiff::Zoned;

use super::{Failure, config, record};

/// The setting that `on` and `off` change.
const ENABLED: &str = "memory.enabled";
/// Printed where no fact is stored.
const NOTHING: &str = "Nothing is remembered yet. `? remember that ...` adds one.";

/// Remember facts, find what was done, and search your documents
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "cohab remembers only what you state: `? remember that staging is on host blue`, or `cohab memory add`. A question is \
        given the few facts that are relevant to it. They are stored in memory.db on this machine only; a fact of a \
        project is never used in another one. What the assistant did for you is kept in past.db, and your own commands, too, once \
        `memory.shell_history` is on: `cohab memory past` finds them. `cohab memory off` stops both. `cohab memory learn docs/` reads \
        documents of yours, to be searched."
)]
pub struct MemoryArgs {
    /// What to do; without it, list.
    #[command(subcommand)]
    pub command: Option<MemoryCommand>,
    /// What to list.
    #[command(flatten)]
    pub list: FactFilter,
}

/// Which facts, and how they are printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct FactFilter {
    /// Include the facts of all projects, not only those that hold here
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum MemoryCommand {
    /// List the facts that hold in this folder, newest first
    List(FactFilter),
    /// List the facts with one of WORDS
    Search {
        /// Words of the facts, in any form
        #[arg(required = true, value_name = "WORDS")]
        words: Vec<String>,
        /// Which of them.
        #[command(flatten)]
        filter: FactFilter,
    },
    /// Find commands that ran, and questions with what came of them
    Past(past::PastArgs),
    /// Read folders and files, so that passages in them are found
    Learn(learn::LearnArgs),
    /// Find passages in what was learned, or list it
    Learned(learned::LearnedArgs),
    /// Delete what was learned from a folder or file
    Unlearn(learn::UnlearnArgs),
    /// Show where a fact holds and where it came from
    Show(OneFact),
    /// Show a fact with all its versions
    Why(OneFact),
    /// Remember a fact
    Add(AddArgs),
    /// Replace a fact; the old version stays in its history
    Edit {
        /// Number of the fact
        id: MemoryId,
        /// The new text; several words are joined
        #[arg(required = true, value_name = "TEXT")]
        text: Vec<String>,
    },
    /// Delete facts with all their versions, or what was done
    Forget(ForgetArgs),
    /// Check facts, blocks, what was done and what was learned against their seals
    Audit,
    /// Print all facts and blocks as lines of JSON
    Export,
    /// Remember the facts and blocks in a file that `export` wrote, or import the history of a shell
    Import(ImportArgs),
    /// List what is proposed to be remembered
    Inbox(inbox::InboxArgs),
    /// Take proposals of the inbox over
    Accept(inbox::ProposalArgs),
    /// Never propose these again
    Reject(inbox::ProposalArgs),
    /// Show and change blocks: texts that every question is given
    Blocks(blocks::BlocksArgs),
    /// Count what is remembered and kept
    Stats(stats::StatsArgs),
    /// Answer requests in a store of its own, for benchmarks: lines of JSON in and out
    #[command(hide = true)]
    Jsonl,
    /// Give questions the facts that are relevant to them, and keep what the assistant does
    On,
    /// Give questions no facts and keep nothing new; what is there stays
    Off,
}

/// One fact.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct OneFact {
    /// Number of the fact
    pub id: MemoryId,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to remember.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "A fact about \"this project\" or \"this repo\" holds in the project around the current folder, any other everywhere."
)]
pub struct AddArgs {
    /// The fact; several words are joined
    #[arg(required = true, value_name = "TEXT")]
    pub text: Vec<String>,
    /// It holds in this project only
    #[arg(long, conflicts_with = "everywhere")]
    pub project: bool,
    /// It holds in every folder
    #[arg(long)]
    pub everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// It was stated at the prompt
    #[arg(long, hide = true)]
    pub at_prompt: bool,
}

/// What to import.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ImportArgs {
    /// File with lines of JSON; with --history, a history file in place of the usual one
    #[arg(required_unless_present = "history")]
    pub file: Option<PathBuf>,
    /// Import the commands in the history of bash, zsh, fish or atuin
    #[arg(long, value_name = "SHELL", value_parser = import_history::source)]
    pub history: Option<RunSource>,
    /// Do not ask
    #[arg(long, requires = "history")]
    pub yes: bool,
}

/// The number of a fact, or the id of something that was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyId {
    /// A fact: `3`.
    Fact(MemoryId),
    /// Something that was done: `c12`, `t3`.
    Past(PastId),
}

impl std::str::FromStr for AnyId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(id) => Ok(Self::Fact(id)),
            Err(_) => text.parse().map(Self::Past).map_err(|_| format!("`{text}` is no id, such as 3, c12 or t3")),
        }
    }
}

/// A source of commands or of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnySource {
    /// Of commands: `bash`.
    Runs(RunSource),
    /// Of facts: `turn:ID`, `file:PATH`.
    Facts(Source),
}

impl std::str::FromStr for AnySource {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        RunSource::of_word(text).map(Self::Runs).map_or_else(|| text.parse().map(Self::Facts), Ok)
    }
}

/// What to delete.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(group = clap::ArgGroup::new("which").required(true).multiple(false))]
pub struct ForgetArgs {
    /// Numbers of facts, or ids of what was done
    #[arg(value_name = "ID", group = "which")]
    pub ids: Vec<AnyId>,
    /// Delete what comes from a source: commands of shell, bash, zsh, fish or atuin; facts of a source that `why` names
    #[arg(long, value_name = "SOURCE", group = "which")]
    pub source: Option<AnySource>,
    /// Delete the commands and questions before this time: a date, `last year`, `3 months ago`
    #[arg(long, value_name = "WHEN", group = "which")]
    pub before: Option<String>,
    /// Delete all commands and questions that are kept; facts stay
    #[arg(long, group = "which")]
    pub past: bool,
    /// Delete the facts with all of these words; asks if several
    #[arg(long, value_name = "WORDS", group = "which", allow_hyphen_values = true)]
    pub query: Option<String>,
    /// With --query: include the facts of all projects
    #[arg(long, conflicts_with = "ids")]
    pub all: bool,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// The answer names commands of the prompt
    #[arg(long, hide = true)]
    pub at_prompt: bool,
}

/// The surroundings of a call.
struct Caller<'a> {
    paths: &'a Paths,
    /// The current folder, with links resolved.
    folder: PathBuf,
    home: PathBuf,
    now: Zoned,
    /// Columns of the terminal; without one nothing is broken.
    columns: Option<usize>,
    /// The user's answers.
    input: &'a mut dyn BufRead,
    /// The user can be asked.
    is_terminal: bool,
}

/// Runs it. Exit status: 0 done, 1 no such fact, a fault, or the store cannot be used, 3 the output is closed.
pub fn run(args: &MemoryArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let folder = match env::current_dir().and_then(|folder| folder.canonicalize()) {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("the current folder cannot be read: {error}");
            return super::finish(Err(Failure::Other(message, None)), output, errors);
        }
    };
    let input = &mut io::stdin().lock();
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let (home, now, columns) = (record::home(), Zoned::now(), record::terminal_columns());
    run_by(args, &mut Caller { paths, folder, home, now, columns, input, is_terminal }, output, errors)
}

fn run_by(args: &MemoryArgs, caller: &mut Caller<'_>, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    if let Some(MemoryCommand::Past(args)) = &args.command {
        return match past::past(args, caller, output) {
            Ok(Some(status)) => status,
            result => super::finish(result.map(|_| ()), output, errors),
        };
    }
    let list = MemoryCommand::List(args.list.clone());
    let result = match args.command.as_ref().unwrap_or(&list) {
        MemoryCommand::List(filter) => list::list(filter, caller, output),
        MemoryCommand::Search { words, filter } => list::search(&words.join(" "), filter, caller, output),
        MemoryCommand::Learn(args) => learn::learn(args, caller, output),
        MemoryCommand::Learned(args) => learned::learned(args, caller, output),
        MemoryCommand::Unlearn(args) => learn::unlearn(args, caller, output),
        MemoryCommand::Show(one) => show::show(one, caller, output),
        MemoryCommand::Why(one) => show::why(one, caller, output),
        MemoryCommand::Add(args) => add::add(args, caller, output),
        MemoryCommand::Edit { id, text } => add::edit(*id, &text.join(" "), caller, output),
        MemoryCommand::Forget(args) => forget::forget(args, caller, output),
        MemoryCommand::Audit => verify::audit(caller, output),
        MemoryCommand::Export => transfer::export(caller, output),
        MemoryCommand::Import(args) => match (args.history, &args.file) {
            (Some(source), file) => import_history::import(source, file.as_deref(), args.yes, caller, output),
            (None, Some(file)) => transfer::import(file, caller, output),
            (None, None) => Ok(()),
        },
        MemoryCommand::Past(_) => Ok(()),
        MemoryCommand::Jsonl => jsonl::run(caller, output),
        MemoryCommand::Inbox(args) => inbox::inbox(args, caller, output),
        MemoryCommand::Accept(args) => inbox::accept(args, caller, output),
        MemoryCommand::Reject(args) => inbox::reject(args, caller, output),
        MemoryCommand::Blocks(args) => blocks::blocks(args, caller, output),
        MemoryCommand::Stats(args) => stats::stats(args, caller, output),
        MemoryCommand::On => turn(true, caller.paths, output),
        MemoryCommand::Off => turn(false, caller.paths, output),
    };
    super::finish(result, output, errors)
}

/// Turns it on or off for all later questions.
fn turn(on: bool, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let value = if on { "true" } else { "false" };
    config::set(&paths.config_file(), ENABLED, value, &mut io::empty(), &mut io::sink())?;
    let told = if on {
        "Memory is on: a question is given the facts that are relevant to it, and what I do for you is kept."
    } else {
        "Memory is off: questions are given no facts, and nothing new is kept. What is there stays; `cohab memory on` turns it on."
    };
    Ok(writeln!(output, "{told}")?)
}

/// The note that no question gets facts, if that is so. Faults of the settings are not reported here.
fn off_note(paths: &Paths) -> Option<&'static str> {
    let is_off = cohab_config::load(paths).is_ok_and(|settings| !settings.memory.enabled);
    is_off.then_some("Memory is off: questions are given no facts. `cohab memory on` turns it on.")
}

#[cfg(test)]
#[path = "memory_tests.rs"]
mod tests;
