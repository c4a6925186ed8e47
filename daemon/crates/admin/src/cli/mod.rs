//! The command line of `cohabd`, one file per subcommand. `cohab` hands over the subcommands that need settings, keys or models.

pub mod audit;
mod audit_follow;
pub mod config;
pub mod context;
pub mod definitions;
pub mod export;
pub mod history;
#[cfg(test)]
mod hostile_tests;
pub mod jobs;
mod model_jobs;
pub mod models;
pub mod probe_model;
mod record;
pub mod resolved_model;
pub mod resume;
pub mod sessions;
pub mod setup;
pub mod stats;
pub mod store_health;
pub mod tasks;
#[cfg(test)]
mod testing;
pub mod trace;
pub mod trust;
pub mod undo;
pub mod usage;
pub mod why;

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use cohab_agent::TurnError;
use cohab_config::ConfigError;
use cohab_protocol::Paths;
use cohab_text::terminal_safe_writer::HarmlessWriter;
use cohab_types::environment::Variables;

/// The cohab daemon: sessions, agent, models, tools; `cohab` starts it when needed
#[derive(Debug, Parser)]
#[command(
    name = "cohabd",
    version,
    max_term_width = 80,
    disable_help_subcommand = true,
    // As tight as it is, it fits a small terminal.
    help_template = "{about}\n{usage-heading} {usage}\n\nCommands:\n{subcommands}\nOptions:\n{options}"
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

/// What `cohabd` is to do.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Command {
    /// Serve the clients of this user until told to stop (default)
    Run {
        /// In a session of its own: outlive the terminal that started it
        #[arg(long)]
        detach: bool,
    },
    /// Choose a model service, its key and its model
    Setup(setup::SetupArgs),
    /// List the models of the configured service
    Models(models::ModelsArgs),
    /// Show, change or check the settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Send one request to the configured model and show what comes back
    ProbeModel(probe_model::ProbeArgs),
    /// Show what answers took: tokens and cost
    Usage(usage::UsageArgs),
    /// Show how often things happened and how long they took
    Stats(stats::StatsArgs),
    /// List, show, search, resume, fork, export and remove conversations
    Sessions(sessions::SessionsArgs),
    /// List the assistant's commands with question and approval
    History(history::HistoryArgs),
    /// Show the conversation that a command came from
    Why(why::WhyArgs),
    /// Show what was done and who agreed to it; verify the records
    #[command(hide = true)]
    Audit(audit::AuditArgs),
    /// Undo the changes of the last turn
    #[command(hide = true)]
    Undo(undo::UndoArgs),
    /// Show what a turn did, step by step
    Trace(trace::TraceArgs),
    /// Continue a turn that the daemon's end interrupted
    Resume(resume::ResumeArgs),
    /// Show what would be sent with the next question, in tokens
    Context(context::ContextArgs),
    /// List open tasks
    Tasks(tasks::TasksArgs),
    /// Write a conversation as a script, a transcript or a recording
    Export(export::ExportArgs),
    /// Trust a project's own instructions for the assistant
    Trust(trust::TrustArgs),
    /// Print this command line as JSON, for the completions and the manual of `cohab`
    #[command(hide = true)]
    Definitions,
    /// Print who would answer, and whether they can be reached, as JSON, for `cohab doctor`
    #[command(hide = true)]
    Who,
    /// Print whether the models of tiers, roles and fallbacks could answer, as JSON, for `cohab doctor`
    #[command(hide = true)]
    Jobs,
    /// Print how the files are in which things are kept, as JSON, for `cohab doctor`
    #[command(hide = true)]
    Stores,
}

impl Command {
    /// Runs the commands that need no serving daemon; returns a `Run` instead.
    ///
    /// # Errors
    /// It is `Run`: whether to detach.
    pub fn execute(self, paths: &Paths) -> Result<ExitCode, bool> {
        let errors = &mut HarmlessWriter::new(io::stderr().lock());
        // It has its own colours.
        if let Self::ProbeModel(args) = &self {
            return Ok(probe_model::run(args, paths, &mut io::stdout().lock(), errors));
        }
        self.run_on(paths, &mut HarmlessWriter::new(io::stdout().lock()), errors)
    }

    fn run_on(self, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> Result<ExitCode, bool> {
        Ok(match self {
            Self::Run { detach } => return Err(detach),
            Self::Setup(args) => setup::run(args, paths, output, errors),
            Self::Models(args) => models::run(&args, paths, output, errors),
            Self::Config(command) => config::run(&command, paths, &mut io::stdin().lock(), output, errors),
            Self::ProbeModel(args) => probe_model::run(&args, paths, output, errors),
            Self::Usage(args) => usage::run(&args, paths, output, errors),
            Self::Stats(args) => stats::run(&args, paths, output, errors),
            Self::Sessions(args) => sessions::run(&args, paths, &mut io::stdin().lock(), output, errors),
            Self::History(args) => history::run(&args, paths, output, errors),
            Self::Why(args) => why::run(&args, paths, output, errors),
            Self::Audit(args) => audit::run(&args, paths, output, errors),
            Self::Undo(args) => undo::run(&args, paths, output, errors),
            Self::Trace(args) => trace::run(&args, paths, output, errors),
            Self::Resume(args) => resume::run(&args, paths, output, errors),
            Self::Context(args) => context::run(&args, paths, output, errors),
            Self::Tasks(args) => tasks::run(&args, paths, output, errors),
            Self::Export(args) => export::run(&args, paths, output, errors),
            Self::Trust(args) => trust::run(&args, paths, output, errors),
            Self::Who => resolved_model::run(paths, output, errors),
            Self::Jobs => jobs::run(paths, output, errors),
            Self::Stores => store_health::run(paths, output, errors),
            Self::Definitions => {
                let written = writeln!(output, "{}", definitions::tree(&Cli::command())).map_err(Failure::from);
                finish(written, output, errors)
            }
        })
    }
}

/// Reads the command line. Prints and ends the process for `--help`, `--version` (status 0) and mistakes (status 2).
#[must_use]
pub fn parse() -> Command {
    parse_from(std::env::args_os().collect()).unwrap_or_else(|error| error.exit())
}

fn parse_from(args: Vec<OsString>) -> Result<Command, clap::Error> {
    let command = Cli::command();
    // People reach all others through `cohab`, so help and mistakes name that.
    let is_handed_over =
        args.get(1).is_some_and(|arg| arg != "run" && command.get_subcommands().any(|known| arg == known.get_name()));
    let command = if is_handed_over { command.bin_name("cohab") } else { command };
    let cli = Cli::from_arg_matches(&command.try_get_matches_from(args)?)?;
    Ok(cli.command.unwrap_or(Command::Run { detach: false }))
}

/// Which model, beside what the settings and the environment say.
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
pub struct ModelFlags {
    /// Profile of the settings, `default` for the main one
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// Model as its service calls it
    #[arg(long, value_name = "NAME")]
    pub model: Option<String>,
}

impl ModelFlags {
    /// This process's environment with the flags applied. Variables that are not UTF-8 are ignored.
    fn variables(&self) -> Variables {
        let own =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let profile = self.profile.iter().map(|name| ("COHAB_PROFILE".to_owned(), name.clone()));
        let model = self.model.iter().map(|name| ("COHAB_MODEL".to_owned(), name.clone()));
        own.chain(profile).chain(model).collect()
    }
}

/// The failure of a command.
#[derive(Debug)]
enum Failure {
    /// Faults of the settings file.
    Config(Vec<ConfigError>),
    /// Any other: a sentence, and the remedy.
    Other(String, Option<String>),
    /// Reported already.
    Told,
    /// The output is closed, or the disk is full.
    Output(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::Config(vec![error])
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        let hint = error.hint();
        Self::Other(error.to_string(), hint)
    }
}

/// Reports a failure. Exit status: 0 done, 1 user, settings or service, 3 the output is closed.
fn finish(result: Result<(), Failure>, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    // Nothing more can be done if even the errors cannot be written.
    match result.and_then(|()| output.flush().map_err(Failure::from)) {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => return ExitCode::from(3),
        Err(Failure::Output(error)) => drop(writeln!(errors, "error: cannot write the output: {error}")),
        Err(Failure::Other(message, hint)) => drop(complain(errors, &message, hint.as_deref())),
        Err(Failure::Config(problems)) => {
            for problem in problems {
                drop(complain(errors, &problem.to_string(), problem.hint.as_deref()));
            }
        }
        Err(Failure::Told) => {}
    }
    ExitCode::FAILURE
}

fn complain(errors: &mut dyn Write, message: &str, hint: Option<&str>) -> io::Result<()> {
    writeln!(errors, "error: {message}")?;
    hint.map_or(Ok(()), |hint| writeln!(errors, "Hint: {hint}"))
}
