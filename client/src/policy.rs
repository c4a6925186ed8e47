//! `cohab policy`: what may run unasked, and why; the rules that the user has made.

mod report;

use std::{
    fs,
    io::{self, BufRead, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Subcommand};
use cohab_daemon_link::config;
use cohab_policy::{
    Context, Level, Lock, assess_line,
    user_rules::{Loaded, RuleSource},
};
use cohab_policy_io::{
    files::{FileSystem, program_folders},
    rules_file::{RuleBook, RulesFile},
};
use cohab_protocol::Paths;
use cohab_sandbox::lock::launcher;
use cohab_shell_state::shell::Shell;
use cohab_text::terminal_safe_writer::HarmlessWriter;
use cohab_types::confined_programs::ConfinedPrograms;

/// Longest line of `--stdin`, in bytes; beyond, it is danger, as any text that is too long to be looked through.
const MAX_LINE_BYTES: u64 = 1024 * 1024;
/// Exit status for a wrong command line.
const USAGE: u8 = 2;
/// Exit status when our output is not read any more.
const BROKEN_PIPE: u8 = 3;
/// Shells for which a line can be judged; the first one if none is named.
const SHELLS: [&str; 3] = ["bash", "zsh", "fish"];

/// `cohab policy`.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Rules are in rules.toml next to the settings; the keys `d`, `a` and `p` of a question write there. \
        Rules in /etc/cohab/rules.toml apply, too, and those in .cohab/rules.toml of a project, which can only be \
        stricter. Nothing is run. Lines are judged in the current folder, for the shell that `--shell` names.\n\
        --stdin answers each line of input with one line, in order: a line that is no JSON string with `ask`, one \
        that is not UTF-8 or longer than 1 MiB with `danger`.\n\
        Exit status: 0 done, 1 something is wrong, 2 wrong usage, 3 broken pipe."
)]
pub struct PolicyArgs {
    /// Judge each line of standard input, a JSON string: `allow`, `ask`, `danger`, `deny`
    #[arg(long)]
    stdin: bool,
    /// The shell that would read the lines
    #[arg(long, value_name = "SHELL", value_parser = SHELLS, default_value = SHELLS[0], requires = "stdin")]
    shell: String,
    /// Judge as on a machine that cannot keep programs from writing
    #[arg(long, requires = "stdin")]
    without_lock: bool,
    /// What to do.
    #[command(subcommand)]
    command: Option<PolicyCommand>,
}

/// What `cohab policy` can do.
#[derive(Debug, Subcommand)]
enum PolicyCommand {
    /// List the rules, by number
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take a rule back
    Forget {
        /// Its number in the list
        #[arg(value_name = "NUMBER")]
        number: usize,
    },
    /// Say what a line is judged to be, part by part, and which rule allows it
    Explain {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// The shell that would read the line
        #[arg(long, value_name = "SHELL", value_parser = SHELLS, default_value = SHELLS[0])]
        shell: String,
        /// Judge as on a machine that cannot keep programs from writing
        #[arg(long)]
        without_lock: bool,
        /// The line
        #[arg(value_name = "LINE", allow_hyphen_values = true)]
        line: String,
    },
    /// Check a file of rules, and tell how careful the assistant is
    Check {
        /// As JSON
        #[arg(long)]
        json: bool,
        /// The file [default: your own]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
    },
}

/// Runs it.
#[must_use]
pub fn run(args: PolicyArgs, paths: &Paths) -> ExitCode {
    let home = std::env::home_dir().unwrap_or_else(|| "/".into());
    let home = home.canonicalize().unwrap_or(home);
    let cwd = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let book = RuleBook::new(Arc::new(RulesFile::new(paths.rules_file())));
    let rules = book.user();
    let own_folders = paths.own_folders();
    let program_folders = program_folders(&std::env::var_os("PATH").unwrap_or_default());
    let config = config::load(&paths.config_file());
    let (has_lock, takes_unknown) =
        (config.client.lock && launcher().is_ok(), config.confined == ConfinedPrograms::All);
    let context = |shell: &str, without_lock: bool| {
        let lock = (has_lock && !without_lock).then(|| Lock::UNNAMED.with_unknown_programs(takes_unknown));
        let context = Context::new(&cwd, &home).with_own(&own_folders).with_programs(&program_folders);
        Context { lock, ..context.in_shell(Shell::of(Path::new(shell))) }
    };
    let outcome = match args.command {
        None if args.stdin => {
            judge_all(io::stdin().lock(), io::stdout().lock(), context(&args.shell, args.without_lock))
        }
        None => return ExitCode::from(USAGE),
        Some(PolicyCommand::List { json: true }) => told(&report::check_json(&rules.loaded(), rules.path()), true),
        Some(PolicyCommand::List { json: false }) => told(&report::list(&rules.loaded(), rules.path(), &home), true),
        Some(PolicyCommand::Forget { number }) => match rules.remove(number) {
            Ok(rule) => told(&format!("forgotten: {}\n", report::rule(&rule, &home)), true),
            Err(error) => {
                complain(&format!("{} was not changed: {error}", rules.path().display()));
                complain_hint("`cohab policy list` shows the rules and their numbers");
                Ok(false)
            }
        },
        Some(PolicyCommand::Explain { line, shell, without_lock, json }) => {
            let explain = if json { report::explain_json } else { report::explain };
            told(&explain(&line, context(&shell, without_lock).with_files(&FileSystem), &book.loaded(&cwd)), true)
        }
        Some(PolicyCommand::Check { file, json }) => {
            let check = if json { report::check_json } else { report::check };
            let path = file.as_deref().unwrap_or(rules.path());
            match checked(file.as_deref(), &book, &cwd) {
                Ok(loaded) => told(&check(&loaded, path), loaded.refused.is_empty()),
                Err(error) => {
                    complain(&format!("{} cannot be read: {error}", path.display()));
                    Ok(false)
                }
            }
        }
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::from(BROKEN_PIPE),
        Err(error) => {
            complain(&error.to_string());
            ExitCode::FAILURE
        }
    }
}

/// What is in `file`; without one in the user's own, which need not be there, with the care that holds in `cwd` by all files.
fn checked(file: Option<&Path>, book: &RuleBook, cwd: &Path) -> io::Result<Arc<Loaded>> {
    let own = match (file, load(file.unwrap_or(book.user().path()))) {
        (Some(_), loaded) => return loaded,
        (None, Err(error)) if error.kind() == io::ErrorKind::NotFound => Arc::default(),
        (None, loaded) => loaded?,
    };
    Ok(Arc::new(Loaded { safety: book.loaded(cwd).safety.clone(), ..Loaded::clone(&own) }))
}

/// The rules of a file as they would hold, with the same limits.
fn load(path: &Path) -> io::Result<Arc<Loaded>> {
    fs::metadata(path)?;
    let is_project = path.parent().is_some_and(|folder| folder.ends_with(".cohab"));
    let file = if is_project { RulesFile::of_project(path.to_owned()) } else { RulesFile::new(path.to_owned()) };
    Ok(file.loaded())
}

/// Writes a text; true if all is well.
fn told(text: &str, is_well: bool) -> io::Result<bool> {
    let mut output = HarmlessWriter::new(io::stdout());
    output.write_all(text.as_bytes())?;
    output.flush()?;
    Ok(is_well)
}

fn complain(message: &str) {
    // With standard error gone, the exit status is all that is left.
    let _ = writeln!(HarmlessWriter::new(io::stderr()), "cohab: {message}");
}

fn complain_hint(hint: &str) {
    let _ = writeln!(HarmlessWriter::new(io::stderr()), "Hint: {hint}");
}

/// A level for each line of `input`, in order, by its text alone.
fn judge_all(mut input: impl BufRead, mut output: impl Write, context: Context<'_>) -> io::Result<bool> {
    loop {
        let mut line = Vec::new();
        if io::Read::take(&mut input, MAX_LINE_BYTES).read_until(b'\n', &mut line)? == 0 {
            output.flush()?;
            return Ok(true);
        }
        let is_whole = line.ends_with(b"\n") || (line.len() as u64) < MAX_LINE_BYTES;
        if !is_whole {
            input.skip_until(b'\n')?;
        }
        let level = if is_whole { judge(&line, context) } else { Level::Danger };
        writeln!(output, "{}", level.word())?;
    }
}

/// The level of a command in a JSON string. Anything else in JSON is asked about; what is not text is danger, as in a command.
fn judge(line: &[u8], context: Context<'_>) -> Level {
    let Ok(line) = std::str::from_utf8(line) else { return Level::Danger };
    serde_json::from_str::<String>(line).map_or(Level::Ask, |text| assess_line(&text, context).level)
}

#[cfg(test)]
mod tests;
