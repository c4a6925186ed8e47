//! The command line of `cohabd`, one file per subcommand. `cohab` hands over the subcommands that need settings, keys or models.

mod audit_follow;
mod drawing;
#[cfg(test)]
mod hostile_tests;
mod model_jobs;
mod progress;
mod record;
#[cfg(test)]
mod testing;

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

/// Declares the subcommands: one row for the file of a command, its name and its arguments. The file has the arguments with their
/// help, and `run`.
macro_rules! commands {
    ($( $(#[$attribute:meta])* $file:ident: $command:ident($arguments:ty); )+) => {
        $(pub mod $file;)+

        /// What `cohabd` is to do.
        #[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
        #[expect(missing_docs, reason = "the arguments of each command describe it")]
        pub enum Command {
            /// Serve the clients of this user until stopped (default)
            Run {
                /// Run in a separate session that outlives the terminal
                #[arg(long)]
                detach: bool,
            },
            $( $(#[$attribute])* $command($arguments), )+
        }

        impl Command {
            fn run_on(&self, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> Result<ExitCode, bool> {
                match self {
                    Self::Run { detach } => Err(*detach),
                    $( Self::$command(arguments) => Ok($file::run(arguments, paths, output, errors)), )+
                }
            }
        }
    };
}

// In the order of the help.
commands! {
    setup: Setup(setup::SetupArgs);
    models: Models(models::ModelsArgs);
    /// Show, change or check the settings
    #[command(subcommand)]
    config: Config(config::ConfigCommand);
    probe_model: ProbeModel(probe_model::ProbeArgs);
    usage: Usage(usage::UsageArgs);
    stats: Stats(stats::StatsArgs);
    sessions: Sessions(sessions::SessionsArgs);
    history: History(history::HistoryArgs);
    why: Why(why::WhyArgs);
    audit: Audit(audit::AuditArgs);
    undo: Undo(undo::UndoArgs);
    diff: Diff(diff::DiffArgs);
    rewind: Rewind(rewind::RewindArgs);
    trace: Trace(trace::TraceArgs);
    resume: Resume(resume::ResumeArgs);
    context: Context(context::ContextArgs);
    todo: Todo(todo::TodoArgs);
    watch: Watch(watch::WatchArgs);
    /// Use tools of MCP servers
    #[command(subcommand, hide = true)]
    mcp: Mcp(mcp::McpCommand);
    memory: Memory(memory::MemoryArgs);
    /// Check, draw and run flows
    #[command(subcommand, hide = true)]
    flow: Flow(flow::FlowCommand);
    export: Export(export::ExportArgs);
    trust: Trust(trust::TrustArgs);
    #[command(hide = true)]
    agents: Agents(agents::AgentsArgs);
    mcp_shell: McpShell(mcp_shell::McpShellArgs);
    mcp_share: McpShare(mcp_share::McpShareArgs);
    hooks: Hooks(hooks::HooksArgs);
    tool: Tool(tool::ToolArgs);
    definitions: Definitions(definitions::DefinitionsArgs);
    resolved_model: Who(resolved_model::WhoArgs);
    jobs: Jobs(jobs::JobsArgs);
    store_health: Stores(store_health::StoresArgs);
}

impl Command {
    /// Runs the commands that need no serving daemon; returns a `Run` instead.
    ///
    /// # Errors
    /// It is `Run`: whether to detach.
    pub fn execute(self, paths: &Paths) -> Result<ExitCode, bool> {
        let errors = &mut HarmlessWriter::new(io::stderr().lock());
        match &self {
            // It has its own colours.
            Self::ProbeModel(args) => Ok(probe_model::run(args, paths, &mut io::stdout().lock(), errors)),
            // They write messages of other programs, from a thread.
            Self::Mcp(mcp::McpCommand::Serve(args)) => Ok(mcp::serve(args, paths, errors)),
            Self::McpShell(args) => Ok(mcp_shell::run(args, paths, &mut io::sink(), errors)),
            _ => self.run_on(paths, &mut HarmlessWriter::new(io::stdout().lock()), errors),
        }
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

/// Exit status of a command that the user leaves, as shells count Ctrl-C.
const CANCELLED: u8 = 130;

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
