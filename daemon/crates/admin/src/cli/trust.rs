//! `cohab trust` manages the trusted folders. Only in them the assistant follows a project's identity files and skills.

use std::{
    env,
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use cohab_assembly::wiring::home;
use cohab_context::{
    trust::{TrustError, TrustedFolders},
    workspace::{instructions_of, root_of},
};
use cohab_protocol::Paths;
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::json;

use super::Failure;

/// Trust a project's own instructions for the assistant
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(
    after_help = "cohab uses the identity files (AGENT.md, IDENTITY.md, SOUL.md, USER.md, SHIELD.md) and the skills \
        and custom commands (in .cohab, .agents and .claude) of a trusted project; all folders below it are trusted, too. Notes (AGENTS.md) are sent to \
        the model for every project, marked as written by someone else. No project, trusted or not, can set the \
        model, its address or keys, or let anything run without a question; its hooks need your consent to what they \
        hold (`cohab hooks allow`)."
)]
pub struct TrustArgs {
    /// Folder to trust [default: the current project]
    pub path: Option<PathBuf>,
    /// Stop trusting the folder
    #[arg(long, conflicts_with = "list")]
    pub remove: bool,
    /// List the trusted folders
    #[arg(long, conflicts_with = "path")]
    pub list: bool,
    /// Print JSON, with --list
    #[arg(long, requires = "list")]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 it cannot be, 3 the output is closed.
pub fn run(args: &TrustArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let text = done(args, &TrustedFolders::new(paths.trusted_folders_file(), home()));
    let written = text.and_then(|text| Ok(output.write_all(text.as_bytes())?));
    super::finish(written, output, errors)
}

fn done(args: &TrustArgs, trust: &TrustedFolders) -> Result<String, Failure> {
    if args.list {
        return Ok(listed(&trust.list().map_err(|error| failure(&error))?, args.json));
    }
    let folder = match &args.path {
        Some(path) => env::current_dir()?.join(path),
        None => root_of(&env::current_dir()?.canonicalize()?, &home()),
    };
    if args.remove {
        let folder = trust.remove(&folder).map_err(|error| failure(&error))?;
        return Ok(format!("No longer trusted: {}.\n", shown(&folder)));
    }
    let folder = trust.add(&folder).map_err(|error| failure(&error))?;
    let used = match instructions_of(&folder) {
        Some(instructions) => format!("cohab uses its {instructions} from the next question on."),
        None => "It has no instructions for the assistant yet.".to_owned(),
    };
    Ok(format!("Trusted: {} and all folders below it. {used}\n", shown(&folder)))
}

fn listed(folders: &[PathBuf], as_json: bool) -> String {
    if as_json {
        let folders: Vec<_> = folders.iter().map(|folder| folder.to_string_lossy()).collect();
        return escaped_json(&json!({ "folders": folders }).to_string()) + "\n";
    }
    match folders {
        [] => "No folder is trusted.\n".to_owned(),
        _ => folders.iter().map(|folder| shown(folder) + "\n").collect(),
    }
}

fn shown(folder: &Path) -> String {
    one_line(&folder.to_string_lossy(), usize::MAX)
}

fn failure(error: &TrustError) -> Failure {
    let hint = match error {
        TrustError::Covered { by, .. } => Some(format!("`cohab trust --remove {}` removes both", shown(by))),
        TrustError::Unknown(_) => Some("`cohab trust --list` lists the trusted folders".to_owned()),
        TrustError::Unfit { .. } | TrustError::Folder { .. } | TrustError::List { .. } => None,
    };
    Failure::Other(one_line(&error.to_string(), usize::MAX), hint)
}

#[cfg(test)]
#[path = "trust_tests.rs"]
mod tests;
