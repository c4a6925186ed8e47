//! Reads git's settings in a folder before git is started there unasked; `policy::planted` judges them. `git config` itself starts
//! no program.

use std::{
    fs,
    io::Read,
    os::fd::AsFd,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use cohab_policy::{self, Caveat, Context, GitEnvironment, planted, why_planted};
use cohab_shell_state::state::Snapshot;
use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
};

/// Git reports its settings within this time, or they count as unknown.
pub const LIMIT: Duration = Duration::from_secs(2);
/// Longest listing of settings that is read, in bytes.
const LISTING_BYTES: usize = 1024 * 1024;
/// Longest file that names the place of a repository, in bytes.
const LINK_BYTES: u64 = 4 * 1024;
const BUFFER_BYTES: usize = 16 * 1024;

/// Reasons to ask about `line`, which plainly only reads, because `shell` has these variables; each reason may be settled separately.
/// Blocks until `deadline` at most.
#[must_use]
pub fn why_asked(line: &str, context: Context<'_>, shell: &Snapshot, deadline: Instant) -> Vec<Caveat> {
    let folders = match cohab_policy::unasked(line, context) {
        Ok(unasked) => unasked.git_folders,
        Err(why) => return vec![Caveat::NotTyped { why }],
    };
    if folders.is_empty() {
        return Vec::new();
    }
    let settings = why_not_unasked(&folders, &GitEnvironment::of_shell(shell), deadline);
    cohab_policy::git_variables(shell).into_iter().chain(settings).collect()
}

/// Reasons not to start git unasked in one of `folders`, checked until `deadline`; empty without a reason. Blocks.
#[must_use]
pub fn why_not_unasked(folders: &[PathBuf], environment: &GitEnvironment, deadline: Instant) -> Option<Caveat> {
    folders.iter().find_map(|folder| why_not_in(folder, environment, deadline))
}

fn why_not_in(folder: &Path, environment: &GitEnvironment, deadline: Instant) -> Option<Caveat> {
    // No program is started in a folder that does not exist.
    if !folder.is_dir() {
        return None;
    }
    let unknown = |why| Some(Caveat::GitUnknown { folder: folder.to_owned(), why });
    let listing = match listing(folder, environment, deadline) {
        Ok(listing) => listing,
        Err(why) => return unknown(why),
    };
    let Some(mut settings) = planted(&listing) else { return unknown("git tells them in another way than expected") };
    let top = top(folder);
    settings.retain(|setting| setting.key != "core.worktree" || !is_own_worktree(&top, &setting.value));
    why_planted(settings, top)
}

/// Git's output about its settings in `folder`, or the reason for its failure.
fn listing(folder: &Path, environment: &GitEnvironment, deadline: Instant) -> Result<Vec<u8>, &'static str> {
    let mut command = Command::new("git");
    command.env_clear().envs(environment.variables.iter().map(|(name, value)| (name, value))).env("LC_ALL", "C");
    command.args(["--no-pager", "config", "--null", "--list", "--show-scope"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|_| "git cannot be started")?;
    let listing = read_to_end(&mut child, deadline);
    if listing.is_err() {
        // The process may have ended by itself.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|_| "git did not end in order")?;
    let listing = listing?;
    if status.success() { Ok(listing) } else { Err("git cannot read them") }
}

fn read_to_end(child: &mut Child, deadline: Instant) -> Result<Vec<u8>, &'static str> {
    let mut output = child.stdout.take().ok_or("git has no output")?;
    let mut listing = Vec::new();
    let mut buffer = [0; BUFFER_BYTES];
    loop {
        wait_readable(&output, deadline)?;
        match output.read(&mut buffer) {
            Ok(0) => return Ok(listing),
            Ok(length) => listing.extend_from_slice(&buffer[..length]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(_) => return Err("git's output cannot be read"),
        }
        if listing.len() > LISTING_BYTES {
            return Err("there are too many");
        }
    }
}

fn wait_readable(output: &impl AsFd, deadline: Instant) -> Result<(), &'static str> {
    loop {
        let left = deadline.checked_duration_since(Instant::now()).unwrap_or(Duration::ZERO);
        let left = Timespec::try_from(left).map_err(|_| "git's output cannot be waited for")?;
        match poll(&mut [PollFd::new(output, PollFlags::IN)], Some(&left)) {
            Ok(0) => return Err("git did not tell them in time"),
            Ok(_) => return Ok(()),
            Err(Errno::INTR) => {}
            Err(_) => return Err("git's output cannot be waited for"),
        }
    }
}

/// The nearest folder with a `.git` in it, otherwise `folder` itself.
fn top(folder: &Path) -> PathBuf {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let top = folder.ancestors().find(|above| above.join(".git").symlink_metadata().is_ok());
    top.unwrap_or(&folder).to_owned()
}

/// Whether `core.worktree` states the default, as in each submodule: that the files are in the folder with the link to the repository.
fn is_own_worktree(top: &Path, worktree: &str) -> bool {
    let mut link = String::new();
    let is_read = fs::symlink_metadata(top.join(".git")).is_ok_and(|file| file.is_file())
        && fs::File::open(top.join(".git")).is_ok_and(|file| file.take(LINK_BYTES).read_to_string(&mut link).is_ok());
    let Some(repository) = link.trim_end().strip_prefix("gitdir: ").filter(|_| is_read) else { return false };
    let worktree = top.join(repository).join(worktree);
    worktree.canonicalize().is_ok_and(|worktree| worktree == top)
}

#[cfg(test)]
mod tests;
