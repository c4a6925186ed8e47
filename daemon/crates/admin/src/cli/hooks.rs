//! `cohab hooks` lists the user's hooks, allows those of projects and of Claude Code, and tries them out.

mod import;
mod list;
mod trial;

use std::{
    env,
    io::{self, BufRead, IsTerminal as _, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand};
use cohab_assembly::{assembly::hook_places, wiring::home};
use cohab_context::workspace::root_of;
use cohab_hooks::{
    consent::PrivateFileError,
    places::{Consent, FoundFile, HookPlaces, PROJECT_FILE, Scope},
};
use cohab_protocol::Paths;
use cohab_text::sanitize::one_line;
use serde_json::{Value, json};

use super::{Failure, record};

/// List, allow and try what runs around tools
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    hide = true,
    after_help = "Hooks are programs of yours that run before and after tools, questions and answers, and may object. \
        Yours are in hooks.json next to config.toml, those of a project in .cohab/hooks.json; both have the format of \
        Claude Code. Hooks of a project run once you trust the project (`cohab trust`) and allow exactly what the file \
        and its scripts hold."
)]
pub struct HooksArgs {
    /// What to do; without it, list.
    #[command(subcommand)]
    pub command: Option<HooksCommand>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do with hooks.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum HooksCommand {
    /// List the hooks that are in force here, and the files that wait
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a file would run, and allow it
    Allow(OneFile),
    /// Take back what was allowed
    Forget {
        /// The file [default: that of the project]
        file: Option<PathBuf>,
    },
    /// Copy the hooks of a file into your own
    Import(ImportArgs),
    /// Run the hooks of an event and show what they say
    Test(trial::TestArgs),
}

/// A file to allow.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct OneFile {
    /// The file [default: that of the project]
    pub file: Option<PathBuf>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// A file to copy from.
#[derive(Clone, Debug, PartialEq, Eq, Args)]
pub struct ImportArgs {
    /// The file, such as ~/.claude/settings.json
    pub file: PathBuf,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}

/// Who calls, and from where.
struct Caller<'a> {
    places: HookPlaces,
    /// The project of the folder.
    root: PathBuf,
    folder: PathBuf,
    /// The user's answers.
    input: &'a mut dyn BufRead,
    /// The user can be asked.
    is_terminal: bool,
}

/// Runs it. Exit status: 0 done, 1 a fault, or a hook objects, 3 the output is closed.
pub fn run(args: &HooksArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let folder = match env::current_dir().and_then(|folder| folder.canonicalize()) {
        Ok(folder) => folder,
        Err(error) => {
            let message = format!("the current folder cannot be read: {error}");
            return super::finish(Err(Failure::Other(message, None)), output, errors);
        }
    };
    let home = home();
    let input = &mut io::stdin().lock();
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    let root = root_of(&folder, &home);
    let caller = &mut Caller { places: hook_places(paths, home), root, folder, input, is_terminal };
    super::finish(run_by(args, caller, output), output, errors)
}

fn run_by(args: &HooksArgs, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    match args.command.as_ref().unwrap_or(&HooksCommand::List { json: args.json }) {
        HooksCommand::List { json } => list::list(caller, *json, output),
        HooksCommand::Allow(one) => allow(one, caller, output),
        HooksCommand::Forget { file } => forget(file.as_deref(), caller, output),
        HooksCommand::Import(args) => import::import(args, caller, output),
        HooksCommand::Test(args) => trial::test(args, caller, output),
    }
}

/// The broken files of hooks that should be in force here, as `cohab doctor` reads them.
pub(super) fn faults(paths: &Paths) -> Vec<Value> {
    let home = home();
    let root =
        env::current_dir().ok().and_then(|folder| folder.canonicalize().ok()).map(|folder| root_of(&folder, &home));
    let row = |path: &Path, message: String| {
        let hint = "correct it; until then no question is answered where it holds";
        json!({"name": "hooks", "path": path.to_string_lossy(), "is_there": true, "message": message, "hint": hint})
    };
    match hook_places(paths, home).find(root.as_deref()) {
        Ok(found) => {
            let broken = found.iter().filter(|file| file.consent == Consent::Given);
            broken.filter_map(|file| Some(row(&file.path, file.content.as_ref().err()?.clone()))).collect()
        }
        Err(error) => vec![row(&error.path, error.reason)],
    }
}

impl From<PrivateFileError> for Failure {
    fn from(error: PrivateFileError) -> Self {
        Self::Other(one_line(&error.to_string(), usize::MAX), None)
    }
}

impl Caller<'_> {
    /// The real path of the file that is meant.
    fn file(&self, given: Option<&Path>) -> Result<PathBuf, Failure> {
        let path = given.map_or_else(|| self.root.join(PROJECT_FILE), |given| self.folder.join(given));
        path.canonicalize().map_err(|error| {
            let hint = given.is_none().then(|| "name the file: `cohab hooks allow FILE`".to_owned());
            Failure::Other(format!("{}: {error}", self.shown(&path)), hint)
        })
    }

    fn shown(&self, path: &Path) -> String {
        record::folder(&path.to_string_lossy(), &self.places.home)
    }

    /// Whether the user agrees. Without a terminal it takes `--yes`.
    fn agrees(&mut self, question: &str, is_yes: bool, output: &mut dyn Write) -> Result<bool, Failure> {
        if is_yes {
            return Ok(true);
        }
        if !self.is_terminal {
            let hint = Some("look at the file, then add `--yes`".to_owned());
            return Err(Failure::Other("nothing is allowed without your answer at a terminal".to_owned(), hint));
        }
        write!(output, "{question} [y/N] ")?;
        output.flush()?;
        let mut line = String::new();
        self.input.read_line(&mut line)?;
        Ok(matches!(line.trim(), "y" | "Y" | "yes"))
    }
}

fn allow(one: &OneFile, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let path = caller.file(one.file.as_deref())?;
    let root = path.starts_with(&caller.root).then(|| caller.root.clone());
    let found = caller.places.look(path, root.as_deref())?;
    let shown = caller.shown(&found.path);
    let refused = |message: String, hint: &str| Err(Failure::Other(message, Some(hint.to_owned())));
    match (&found.content, &found.fingerprint, found.consent) {
        (Err(fault), ..) => return refused(format!("{shown}: {fault}"), "correct the file, then allow it"),
        (_, _, Consent::NoTrust) => {
            let message = format!("you do not trust the project of {shown}");
            return refused(message, "`cohab trust` trusts it; then allow its hooks");
        }
        (Ok(_), _, Consent::Given) => {
            writeln!(output, "{shown} is allowed already.")?;
            return Ok(());
        }
        _ if !caller.places.is_looked_for(&found.path, Some(&caller.root)) => {
            let message = format!("cohab does not look for hooks in {shown}");
            return refused(message, "`cohab hooks import FILE` copies them into your own file");
        }
        _ => {}
    }
    let FoundFile { path, scope, scripts, fingerprint, content, .. } = found;
    let where_to = match scope {
        Scope::User => "everywhere",
        Scope::Project => "in this project",
    };
    writeln!(output, "{shown} runs these programs {where_to}, with your rights and outside of any sandbox:")?;
    list::rows(&content.unwrap_or_default(), output)?;
    for script in &scripts {
        writeln!(output, "  its script {}", caller.shown(script))?;
    }
    if !caller.agrees("Allow exactly this?", one.yes, output)? {
        writeln!(output, "Not allowed.")?;
        return Ok(());
    }
    let Some(fingerprint) = fingerprint else { return Err(Failure::Told) };
    // It may have changed while the user read.
    let again = caller.places.look(path.clone(), root.as_deref())?;
    if again.fingerprint.as_ref() != Some(&fingerprint) {
        return refused(format!("{shown} changed meanwhile"), "look at it again");
    }
    caller.places.allowed.allow(path, fingerprint)?;
    writeln!(
        output,
        "Allowed, from the next question on. A change of the file or of a script needs your consent again."
    )?;
    Ok(())
}

fn forget(file: Option<&Path>, caller: &Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let given = file.map_or_else(|| caller.root.join(PROJECT_FILE), |file| caller.folder.join(file));
    // It may be gone by now.
    let path = given.canonicalize().unwrap_or(given);
    let shown = caller.shown(&path);
    match caller.places.allowed.forget(&path)? {
        true => Ok(writeln!(output, "{shown} is no longer allowed.")?),
        false => {
            let hint = Some("`cohab hooks` lists the files".to_owned());
            Err(Failure::Other(format!("{shown} was not allowed"), hint))
        }
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
