//! The parts of a question: the environment, recent commands and the user's words. [`query_text`](super::query_text) writes the text.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_agent::tasks::Task;
use cohab_memory::record::Memory;
use cohab_text::cut::tail;

use super::git_state::GitState;

/// Shell events in the history.
pub const MAX_HISTORY_EVENTS: usize = 10;
/// Output of one command that failed.
pub const FAILED_OUTPUT_BYTES: usize = 8 * 1024;
/// Output of one command that succeeded.
pub const OUTPUT_BYTES: usize = 1024;
/// Tag of the block that replaces dropped messages.
pub const EARLIER: &str = "earlier-conversation";
/// Tag of the block with the files that a question names.
pub const ATTACHED: &str = "attached";
/// Tag of the section with memory blocks.
pub const MEMORY_BLOCKS: &str = "memory-blocks";
/// Tag of the block with remembered facts.
pub const MEMORY: &str = "memory";
/// Tag of the block with remembered texts that strangers may have written.
pub const DOUBTFUL_MEMORY: &str = "doubtful-memory";
/// Tag of the block with a skill or command of the user's that the question calls by its name.
pub const INSTRUCTIONS: &str = "instructions";
/// Tag of the block with one that came with the project.
pub const PROJECT_INSTRUCTIONS: &str = "project-instructions";
/// Tag of the block with what the user adds to a running turn.
pub const ADDED: &str = "added";

/// What a question calls.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Called {
    /// Its name.
    pub name: String,
    /// Its text, filled in.
    pub text: String,
    /// Whether it came with a project.
    pub is_of_project: bool,
    /// The tools that it is content with; all of them if it does not say.
    pub tools: Option<Vec<&'static str>>,
}

/// The user's environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// Working directory of the shell.
    pub cwd: PathBuf,
    /// Name of the live shell, if there is one.
    pub shell: Option<String>,
    /// Operating system, as people call it.
    pub os: String,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Width of the terminal.
    pub columns: u16,
    /// State of the repository around it.
    pub git: Option<GitState>,
    /// Kinds of the project.
    pub project: Vec<String>,
}

/// The agent's runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Runtime {
    /// Now, in UTC, to the minute.
    pub time: String,
    /// Operating system and architecture.
    pub platform: String,
    /// Version of cohab.
    pub version: &'static str,
    /// Name of the session.
    pub session: String,
    /// Kinds of sessions with a client, and how many of each.
    pub channels: Vec<(String, usize)>,
}

/// A command that the user ran.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PastCommand {
    /// Its line, if known.
    pub line: Option<String>,
    /// Exit status.
    pub exit_code: i32,
    /// Working directory afterwards.
    pub cwd: PathBuf,
    /// Wall time.
    pub duration: Duration,
    /// The end of its output.
    pub output_tail: String,
}

/// A question with all its blocks.
#[derive(Clone, Debug, Default)]
pub struct Query<'a> {
    /// The environment.
    pub environment: Environment,
    /// The runtime.
    pub runtime: Option<Runtime>,
    /// Earlier commands, oldest first.
    pub history: &'a [PastCommand],
    /// The repository's notes for assistants.
    pub project_notes: Option<&'a str>,
    /// The workspace's identity files.
    pub project_identity: Option<&'a str>,
    /// The workspace's skills.
    pub project_skills: Option<&'a str>,
    /// The user's memory blocks, as [`sections::memory_blocks`](crate::sections::memory_blocks) writes them.
    pub memory_blocks: Option<&'a str>,
    /// The remembered facts that are relevant to the question.
    pub memories: &'a [Memory],
    /// The session's tasks.
    pub tasks: &'a [Task],
    /// Text that was piped in.
    pub piped_input: Option<&'a str>,
    /// The skill or command that the question calls.
    pub called: Option<&'a Called>,
    /// The user's words.
    pub question: &'a str,
}

/// A path as one line, with any bytes in it.
pub(super) fn one_line_path(path: &Path) -> String {
    one_line(&path.to_string_lossy())
}

/// A text as one line, with any characters in it.
pub(super) fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// The last whole lines of `text` that fit, or the end of its only line.
pub(super) fn last_lines(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let end = tail(text, max_bytes);
    end.split_once('\n').map_or(end, |(_, whole_lines)| whole_lines)
}
