//! `cohab`: opens the user's shell in this terminal, and answers questions typed at its prompt.

use std::{
    ffi::OsString,
    io::{self, Write},
    process::ExitCode,
};

use clap::{Parser, error::ErrorKind};
use cohab::{
    cli::{self, Cli, Process, complain},
    driver, init,
    shell_resolution::{self, WayIn},
    shell_start,
};
use cohab_daemon_link::config::{self, Config};
use cohab_protocol::Paths;
use cohab_system::process::{self, surroundings::Surroundings};

/// Exit status for a wrong command line.
const USAGE: u8 = 2;
/// Exit status when no shell could be started, as shells count it.
const NO_SHELL: u8 = 127;

fn main() -> ExitCode {
    process::guard_memory();
    let mut args = std::env::args_os();
    let is_login_name = shell_resolution::is_login_name(args.next().as_deref());
    let args: Vec<OsString> = args.collect();
    let surroundings = Surroundings::of_this_process();
    match shell_resolution::way_in(&args, cli::SUBCOMMANDS, &surroundings) {
        WayIn::RealShell(shell_args) => {
            // Only a user who types our name gets here: programs find the real shell in `$SHELL`, and a login brings its own terminal.
            if surroundings.is_inside_cohab && surroundings.is_terminal && shell_args.is_empty() && !is_login_name {
                // Where standard output is gone there is no reader.
                let _ = writeln!(io::stdout(), "You are already inside cohab.");
                return ExitCode::SUCCESS;
            }
            let config = config::load(&Paths::from_env().config_file());
            exec_shell(given_shell(&args, &config), &shell_args, is_login_name)
        }
        WayIn::CommandLine if args.first().and_then(|name| cli::handed_over(name.to_str()?)).is_some() => {
            cli::hand_over(&args)
        }
        WayIn::CommandLine => run(is_login_name, surroundings, &args),
    }
}

/// `--shell PATH` among the arguments, without the help of the parser: nothing may fail before the shell is there.
fn given_shell(args: &[OsString], config: &Config) -> Option<std::path::PathBuf> {
    let mut rest = args.iter();
    while let Some(arg) = rest.next() {
        match arg.to_str()? {
            "--shell" => return rest.next().map(Into::into),
            "--login" | "-l" => {}
            text if text.starts_with("--shell=") => return text.strip_prefix("--shell=").map(Into::into),
            _ => break,
        }
    }
    config.client.shell.clone()
}

fn exec_shell(given: Option<std::path::PathBuf>, args: &[OsString], is_login: bool) -> ExitCode {
    let candidates = shell_resolution::candidates(given, std::env::var_os("SHELL"), shell_resolution::passwd_shell());
    let error = shell_resolution::exec(&candidates, args, is_login);
    complain(&format!("no shell could be started: {error}"));
    ExitCode::from(NO_SHELL)
}

fn run(is_login_name: bool, surroundings: Surroundings, args: &[OsString]) -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let is_wanted = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            if is_wanted {
                let _ = error.print();
                return ExitCode::SUCCESS;
            }
            match cli::unknown_command(args) {
                Some(message) => complain(&message),
                None => drop(error.print()),
            }
            return ExitCode::from(USAGE);
        }
    };
    let paths = Paths::from_env();
    match cli.command {
        None => open_shell(cli, is_login_name, paths),
        Some(command) => command.run(Process { paths, surroundings, words: args }),
    }
}

fn open_shell(cli: Cli, is_login_name: bool, paths: Paths) -> ExitCode {
    let config = config::load(&paths.config_file());
    let is_login = is_login_name || cli.login || config.client.login;
    let given = cli.shell.or_else(|| config.client.shell.clone());
    let shells =
        shell_resolution::candidates(given.clone(), std::env::var_os("SHELL"), shell_resolution::passwd_shell());
    let model = cli.model.variables();
    let start = driver::Start {
        shells,
        options: shell_start::options(&config, &paths, is_login, cli.shell_args.clone(), &model),
        model,
        paths,
        config,
        session: cli.session,
        subcommands: cli::SUBCOMMANDS,
    };
    match driver::run(start) {
        driver::ShellOutcome::Exited(status) => {
            init::release_outer_shell();
            ExitCode::from(status)
        }
        // The user did not end the shell: the plain one that may wait for us stays theirs.
        driver::ShellOutcome::Killed(status) => ExitCode::from(status),
        // Its lines go on with the plain shell that waits for us.
        driver::ShellOutcome::NotStarted(error) if init::has_outer_shell() => {
            complain(&error);
            ExitCode::FAILURE
        }
        // The user wanted a shell, even if cohab failed.
        driver::ShellOutcome::NotStarted(error) => {
            complain(&format!("{error}; this is your plain shell"));
            let mut args: Vec<OsString> = if is_login { vec!["-l".into()] } else { Vec::new() };
            args.extend(cli.shell_args);
            exec_shell(given, &args, is_login)
        }
    }
}
