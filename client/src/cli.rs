//! The command line.

mod conversation_view;
mod diff_view;
mod overview;
mod pager;
mod trace_view;

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{self, ExitCode},
};

use clap::{Args, CommandFactory, Parser, Subcommand};
use cohab_daemon_link::{
    connection,
    daemon_control::{self, DaemonCommand},
};
use cohab_doctor::{doctor, shell_check};
use cohab_protocol::Paths;
use cohab_system::process::surroundings::Surroundings;

use self::overview::Group;
pub use crate::complaint::complain;
use crate::{
    acp,
    arguments::{CompletionShell, ModelFlags},
    ask, classify, definitions, init, manual, policy, rpc, scrub, shell_start,
};

/// A terminal assistant that lives in your own shell
#[derive(Debug, Parser)]
#[command(
    name = "cohab",
    version,
    max_term_width = 80,
    disable_help_subcommand = true,
    disable_help_flag = true,
    args_conflicts_with_subcommands = true,
    override_usage = "cohab [OPTIONS] [-- ARGS], or cohab <COMMAND>",
    help_template = overview::template(&Command::augment_subcommands(clap::Command::new("cohab")), GROUPED)
)]
pub struct Cli {
    /// What to do instead of opening the shell.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// Shell to open [default: client.shell, $SHELL, passwd]
    #[arg(long, value_name = "PATH")]
    pub shell: Option<PathBuf>,
    /// Open it as a login shell
    #[arg(long, short)]
    pub login: bool,
    /// Which model answers.
    #[command(flatten)]
    pub model: ModelFlags,
    /// Resume an older conversation, by the start of its id
    #[arg(long, value_name = "ID", hide = true)]
    pub session: Option<String>,
    /// Arguments for the shell
    #[arg(last = true, value_name = "ARGS", hide = true)]
    pub shell_args: Vec<OsString>,
    /// Print help
    #[arg(long, short, global = true, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
}

/// Declares the subcommands, in the order of the help. A row has the group in the overview, the name, the variant of [`Command`], its arguments and the call that
/// runs it, with `arguments` and `process` in scope. A row without arguments is handed over to the daemon's program, which owns settings,
/// keys and models; help included. `in FILE` declares a file of this folder. Without a doc comment in the row, that of the arguments is
/// the help.
macro_rules! commands {
    (@arguments) => { HandedOverArgs };
    (@arguments $arguments:ty) => { $arguments };
    (@handed_over $name:literal) => { Some($name) };
    (@handed_over $name:literal $arguments:ty) => { None };
    (@run $process:ident) => { hand_over($process.words) };
    (@run $process:ident $run:expr) => { $run };
    (
        |$words:ident, $process:ident|
        $( $(#[$attribute:meta])* $group:ident $name:literal: $command:ident $(in $file:ident)? $(($arguments:ty) => $run:expr)?; )+
    ) => {
        $($(mod $file;)?)+

        /// The subcommands.
        #[derive(Debug, Subcommand)]
        #[expect(missing_docs, reason = "the arguments of a command may describe it")]
        pub enum Command {
            $( $(#[$attribute])* #[command(name = $name)] $command(commands!(@arguments $($arguments)?)), )+
        }

        /// Names that begin a subcommand; any other first operand is a script for the real shell.
        pub const SUBCOMMANDS: &[&str] = &[$($name,)+ "help"];

        /// The commands with their places in the overview.
        const GROUPED: &[(Group, &str)] = &[$((Group::$group, $name),)+];

        /// The name, if it is one that is handed over.
        #[must_use]
        pub fn handed_over(name: &str) -> Option<&'static str> {
            match name {
                $( $name => commands!(@handed_over $name $($arguments)?), )+
                _ => None,
            }
        }

        impl Command {
            /// Runs it.
            #[must_use]
            #[expect(unused_variables, reason = "a command that is handed over needs no arguments")]
            pub fn run(self, $process: Process<'_>) -> ExitCode {
                match self {
                    $( Self::$command($words) => commands!(@run $process $($run)?), )+
                }
            }
        }
    };
}

commands! {
    |arguments, process|

    /// Choose a model service, its key and its model
    LookAfter "setup": Setup;
    /// Ask one question and print the answer
    Ask "ask": Ask(ask::AskArgs) => block_on(ask::run(arguments, process.paths));
    /// List, search, show and resume conversations
    Ask "sessions": Sessions;
    /// Undo the changes of the last turn
    Ask "undo": Undo;
    /// Show what the last turn changed in files
    Ask "diff": Diff;
    /// Check the installation
    LookAfter "doctor": Doctor(doctor::DoctorArgs) => {
        let start = shell_start::examined(None, false, &process.paths);
        block_on(doctor::run(arguments, process.paths, start, process.surroundings))
    };
    /// Look after the background daemon
    #[command(subcommand)]
    LookAfter "daemon": Daemon(DaemonCommand) => {
        let (mut output, mut errors) = (io::stdout(), io::stderr());
        let outcome = daemon_control::run(arguments, &process.paths, &mut output, &mut errors);
        block_on(async { outcome.await.unwrap_or(ExitCode::FAILURE) })
    };
    /// List the models of the configured service
    LookAfter "models": Models;
    /// Show, check and change the settings
    #[command(after_help = "`cohab config list` shows every setting and what it means.")]
    LookAfter "config": Config;
    /// Show what answers took: tokens and cost
    LookBack "usage": Usage;
    /// Count events and show how long they took
    #[command(hide = true)]
    LookBack "stats": Stats;
    /// List the assistant's commands and approvals
    #[command(hide = true)]
    LookBack "history": History;
    /// Show the conversation behind a command
    #[command(hide = true)]
    LookBack "why": Why;
    /// Show and verify what was done and approved
    #[command(hide = true)]
    LookBack "audit": Audit;
    /// Show what a turn did, step by step
    #[command(hide = true)]
    LookBack "trace": Trace;
    /// Go back to an earlier question
    #[command(hide = true)]
    Ask "rewind": Rewind;
    /// Resume an interrupted turn
    #[command(hide = true)]
    Ask "resume": Resume;
    /// Show what the next question would send
    #[command(hide = true)]
    Ask "context": Context;
    /// List open tasks of conversations
    #[command(hide = true)]
    Ask "todo": Todo;
    #[command(hide = true)]
    Ask "tasks": Tasks in tasks (tasks::TasksArgs) => block_on(tasks::run(arguments, process.paths));
    #[command(hide = true)]
    Ask "best": Best(tasks::BestArgs) => block_on(tasks::run_best(arguments, process.paths));
    /// Say or ask something when a condition holds
    #[command(hide = true)]
    Ask "watch": Watch;
    /// Remember facts, and find what was done
    #[command(hide = true)]
    Ask "memory": Memory;
    /// Check, draw and run flows
    #[command(hide = true)]
    Ask "flow": Flow;
    /// Write a turn as script, text or recording
    #[command(hide = true)]
    LookBack "export": Export;
    /// Trust a project's own instructions
    #[command(hide = true)]
    LookAfter "trust": Trust;
    /// Use tools of MCP servers
    #[command(hide = true)]
    LookAfter "mcp": Mcp;
    /// List the agents that a question can name
    #[command(hide = true)]
    LookAfter "agents": Agents;
    /// List, allow and try what runs around tools
    #[command(hide = true)]
    LookAfter "hooks": Hooks;
    /// Use one of the tools of the model in a script
    #[command(hide = true)]
    Tools "tool": Tool;
    /// Say what may run unasked, and manage rules
    #[command(hide = true)]
    LookAfter "policy": Policy(policy::PolicyArgs) => policy::run(arguments, &process.paths);
    /// Say whether a line is a command or a question
    #[command(hide = true)]
    Tools "gate": Gate(classify::GateArgs) => classify::run(&arguments, SUBCOMMANDS);
    /// Remove secrets from standard input
    #[command(hide = true)]
    Tools "scrub": Scrub(scrub::ScrubArgs) => scrub::run(&arguments);
    #[command(hide = true)]
    Tools "acp": Acp(acp::AcpArgs) => block_on(acp::run(arguments, process.paths));
    #[command(hide = true)]
    Tools "rpc": Rpc(rpc::RpcArgs) => block_on(rpc::run(arguments, process.paths));
    /// Print lines that start cohab in every shell
    #[command(
        hide = true,
        after_help = "Append them to the end of the shell's own start-up file: cohab init bash >> ~/.bashrc (zsh: ~/.zshrc, fish: \
            ~/.config/fish/config.fish), or let the file evaluate them:\n  \
            eval \"$(cohab init bash)\"        eval (cohab init fish | string collect)\n\
            `COHAB_OFF=1 bash` opens a plain shell; where cohab fails, a plain shell stays."
    )]
    Tools "init": Init(ShellArgs) => init::run(arguments.shell);
    /// Test how well your shell works with cohab
    #[command(hide = true)]
    LookAfter "shell-check": ShellCheck(shell_check::ShellCheckArgs) => {
        let start = shell_start::examined(arguments.shell.as_deref(), arguments.login, &process.paths);
        block_on(shell_check::run(arguments, start, process.surroundings))
    };
    /// Send one request to the configured model
    #[command(hide = true)]
    LookAfter "probe-model": ProbeModel;
    /// Print the completion script of a shell
    #[command(hide = true)]
    Tools "completions": Completions(ShellArgs) => block_on(definitions::print_completions(arguments.shell, all_commands));
    #[command(hide = true, after_help = "To read it: cohab man | man -l -")]
    Tools "man": Man(ManArgs) => block_on(manual::run(arguments.command, all_commands));
}

/// The parts of this process that commands use.
pub struct Process<'a> {
    /// The user's folders and files.
    pub paths: Paths,
    /// Where the process runs.
    pub surroundings: Surroundings,
    /// The command line without the program's name.
    pub words: &'a [OsString],
}

fn block_on(future: impl Future<Output = ExitCode>) -> ExitCode {
    match tokio::runtime::Builder::new_current_thread().enable_all().build() {
        Ok(runtime) => runtime.block_on(future),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// The message for a first word that is no command; `None` if the mistake is another one.
#[must_use]
pub fn unknown_command(words: &[OsString]) -> Option<String> {
    let word = words.first()?.to_str()?;
    if word.starts_with('-') || SUBCOMMANDS.contains(&word) {
        return None;
    }
    let shown = cohab_text::sanitize::one_line(word, 40);
    Some(match cohab_text::nearest::to(word, SUBCOMMANDS.iter().copied()) {
        Some(near) => format!("there is no command `{shown}`. Did you mean `cohab {near}`?"),
        None => format!("there is no command `{shown}`; `cohab --help` lists all commands"),
    })
}

/// Shows what a person reads with colours and a pager; `None` for everything else, and if that fails.
fn shown_at_terminal(words: &[OsString]) -> Option<ExitCode> {
    let wanted = [conversation_view::is_wanted(words), diff_view::is_wanted(words), trace_view::is_wanted(words)];
    let view = wanted.iter().position(|is_wanted| *is_wanted)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
    runtime.block_on(async {
        match view {
            0 => conversation_view::run(words).await,
            1 => diff_view::run(words).await,
            _ => trace_view::run(words).await,
        }
    })
}

/// Becomes the daemon's program, with the same words.
#[must_use]
pub fn hand_over(words: &[OsString]) -> ExitCode {
    if let Some(status) = shown_at_terminal(words) {
        return status;
    }
    let program = connection::daemon_program();
    let error = process::Command::new(&program).args(words).exec();
    complain(&format!("{} cannot be started: {error}", program.display()));
    ExitCode::FAILURE
}

/// Of `cohab init` and `cohab completions`.
#[derive(Debug, Args)]
pub struct ShellArgs {
    /// The shell
    pub shell: CompletionShell,
}

/// Print the manual page
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Only of this command
    pub command: Option<String>,
}

/// Of a subcommand that is [`handed_over`].
#[derive(Debug, Args)]
pub struct HandedOverArgs {
    /// See `cohab COMMAND --help`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGS")]
    pub args: Vec<OsString>,
}

/// All commands for completions and the manual: without the arguments of the shell, which would swallow the subcommands of
/// subcommands; those that are [`handed_over`] as `definition` knows them, else without words of their own.
#[must_use]
pub fn all_commands(definition: &dyn Fn(&str) -> Option<clap::Command>) -> clap::Command {
    let full = Cli::command();
    let options = full.get_arguments().filter(|argument| !argument.is_positional()).cloned();
    let subcommands = full.get_subcommands().map(|command| {
        let Some(name) = handed_over(command.get_name()) else { return command.clone() };
        let known = definition(name).unwrap_or_else(|| clap::Command::new(name));
        known.about(command.get_about().cloned().unwrap_or_default()).hide(command.is_hide_set())
    });
    clap::Command::new("cohab")
        .version(env!("CARGO_PKG_VERSION"))
        .about(full.get_about().cloned().unwrap_or_default())
        .args(options)
        .subcommands(subcommands)
        .disable_help_flag(true)
        .disable_help_subcommand(true)
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_fits_a_screen() {
        let help = Cli::try_parse_from(["cohab", "--help"]).unwrap_err().to_string();
        assert!(help.lines().count() <= 50, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
    }

    #[test]
    fn a_misspelt_command_is_named() {
        let told = |words: &[&str]| unknown_command(&words.iter().map(OsString::from).collect::<Vec<_>>());
        assert_eq!(told(&["sessionz"]).unwrap(), "there is no command `sessionz`. Did you mean `cohab sessions`?");
        assert_eq!(told(&["weather"]).unwrap(), "there is no command `weather`; `cohab --help` lists all commands");
        assert_eq!(told(&["ask", "--x"]), None);
        assert_eq!(told(&["--x"]), None);
    }

    #[test]
    fn all_commands_keep_their_meaning_with_and_without_the_words_of_the_daemon() {
        let known = |name: &str| {
            (name == "config").then(|| clap::Command::new("config").subcommand(clap::Command::new("path")))
        };
        let command = all_commands(&known);
        let words = |name: &str| {
            let command = command.find_subcommand(name).unwrap();
            assert!(command.get_about().is_some(), "{name}");
            command.get_subcommands().map(|word| word.get_name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(words("config"), ["path"]);
        assert!(words("usage").is_empty());
        assert_eq!(words("daemon"), ["status", "start", "stop", "restart", "logs"]);
        assert!(command.get_positionals().next().is_none());
    }

    #[test]
    fn every_subcommand_is_known_before_parsing() {
        for command in Cli::command().get_subcommands() {
            assert!(SUBCOMMANDS.contains(&command.get_name()), "{}", command.get_name());
        }
    }

    #[test]
    fn shell_arguments_follow_two_dashes() {
        let cli = Cli::parse_from(["cohab", "--login", "--", "-x", "y"]);
        assert!(cli.login);
        assert_eq!(cli.shell_args, ["-x", "y"]);
    }

    #[test]
    fn what_is_handed_over_is_a_subcommand_that_takes_any_words() {
        let names: Vec<_> = SUBCOMMANDS.iter().filter_map(|name| handed_over(name)).collect();
        assert_eq!(names.len(), 26, "{names:?}");
        for name in names {
            assert!(Cli::try_parse_from(["cohab", name, "set", "model.name", "--json", "x"]).is_ok(), "{name}");
        }
    }
}
