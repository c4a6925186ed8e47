//! The command line.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use cohab_protocol::ApprovalMode;

/// Names that begin a subcommand; any other first operand is a script for the real shell.
pub const SUBCOMMANDS: [&str; 5] = ["ask", "daemon", "config", "completions", "help"];

/// A terminal assistant that lives in your own shell
#[derive(Debug, Parser)]
#[command(
    name = "cohab",
    version,
    max_term_width = 80,
    disable_help_subcommand = true,
    disable_help_flag = true,
    args_conflicts_with_subcommands = true,
    override_usage = "cohab [--shell PATH] [--login] [-- ARGS]\n       cohab <COMMAND>",
    after_help = "Without a command your shell opens in this terminal, as it is. At its prompt,\n\
        `? question` and Enter asks; Alt-Enter asks with the line as it stands."
)]
pub struct Cli {
    /// What to do instead of opening the shell.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The shell to open [default: client.shell, $SHELL, passwd]
    #[arg(long, value_name = "PATH")]
    pub shell: Option<PathBuf>,
    /// Open it as a login shell
    #[arg(long, short)]
    pub login: bool,
    /// Arguments for the shell
    #[arg(last = true, value_name = "ARGS")]
    pub shell_args: Vec<OsString>,
    /// Print help
    #[arg(long, short, global = true, action = clap::ArgAction::HelpShort)]
    help: Option<bool>,
}

/// The commands beside the shell itself.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Ask one question and print the answer
    Ask(AskArgs),
    /// Look after the background daemon
    #[command(subcommand)]
    Daemon(DaemonCommand),
    /// Show, check and change the settings
    #[command(after_help = "`cohab config list` shows every setting and what it means.")]
    Config(ConfigArgs),
    /// Print the completion script of a shell
    Completions {
        /// The shell
        shell: CompletionShell,
    },
}

/// `cohab ask`.
#[derive(Debug, Args)]
#[command(after_help = "Piped text is context: journalctl -n 50 | cohab ask \"what failed?\"\n\
    Exit status: 0 answered, 1 failed, 2 wrong usage, 130 cancelled.")]
pub struct AskArgs {
    /// The question; several words are joined
    #[arg(required = true, value_name = "QUESTION")]
    pub question: Vec<String>,
    /// Print one JSON object per event and line
    #[arg(long)]
    pub json: bool,
    /// What may run unasked [default: ask; where nobody can be asked, refuse]
    #[arg(long, value_name = "MODE")]
    pub approve: Option<ApproveMode>,
}

/// Values of `--approve`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ApproveMode {
    /// What is plainly read-only runs, the rest is refused
    ReadOnly,
    /// Ask at the terminal about what is not plainly read-only
    Ask,
    /// Everything runs
    All,
}

impl From<ApproveMode> for ApprovalMode {
    fn from(mode: ApproveMode) -> Self {
        match mode {
            ApproveMode::ReadOnly => Self::ReadOnly,
            ApproveMode::Ask => Self::Ask,
            ApproveMode::All => Self::All,
        }
    }
}

/// `cohab daemon`.
#[derive(Debug, Subcommand)]
pub enum DaemonCommand {
    /// Say whether it runs, and with what
    Status {
        /// As one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Start it, unless it runs
    Start,
    /// End it; running questions are cancelled
    Stop,
    /// Stop, then start
    Restart,
    /// Print the end of its log
    Logs {
        /// How many lines
        #[arg(long, short = 'n', default_value_t = 50, value_name = "N")]
        lines: usize,
        /// Print its path only
        #[arg(long)]
        path: bool,
    },
}

/// `cohab config ...`: handed on to the daemon's program, which owns the settings.
#[derive(Debug, Args)]
pub struct ConfigArgs {
    /// path, list, get KEY, set KEY VALUE or check
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ACTION")]
    pub args: Vec<OsString>,
}

/// Shells with completions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CompletionShell {
    /// GNU bash
    Bash,
    /// Z shell
    Zsh,
    /// fish
    Fish,
}

impl From<CompletionShell> for clap_complete::Shell {
    fn from(shell: CompletionShell) -> Self {
        match shell {
            CompletionShell::Bash => Self::Bash,
            CompletionShell::Zsh => Self::Zsh,
            CompletionShell::Fish => Self::Fish,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn the_help_fits_a_screen() {
        let help = Cli::command().render_help().to_string();
        assert!(help.lines().count() <= 24, "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
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
    fn config_hands_its_words_on_untouched() {
        let cli = Cli::parse_from(["cohab", "config", "set", "model.name", "--json", "x"]);
        let Some(Command::Config(config)) = cli.command else { panic!("not config") };
        assert_eq!(config.args, ["set", "model.name", "--json", "x"]);
    }
}
