//! The text of a question with what the user did and where. The offline provider reads this form back, so it is fixed:
//!
//! ```text
//! <earlier-conversation>
//! what became of messages that were left out, if any were
//! </earlier-conversation>
//! <environment>
//! cwd: /home/ann/project
//! shell: bash
//! os: linux x86_64
//! date: 2026-11-20
//! columns: 120
//! </environment>
//! <shell-history>
//! $ cargo test
//! exit 101 in /home/ann/project after 3.2s
//!     the end of its output, indented
//! </shell-history>
//! <project-notes>
//! what the repository says to assistants; not if the conversation holds it already
//! </project-notes>
//! <piped-input>
//! ...
//! </piped-input>
//! <question>
//! why?
//! </question>
//! ```
//! Blocks without content are left out. Look-alikes of the tags inside a block are escaped (`<\/question>`), so the last block
//! is the question whatever the others contain.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use cohab_shell_relay::sanitize::sanitize;
use regex::Regex;

use crate::safety;

/// Shell events that are kept and told.
pub const MAX_HISTORY_EVENTS: usize = 10;
/// All output in the history, together.
const HISTORY_OUTPUT_BYTES: usize = 24 * 1024;
/// Output of one command that failed.
pub const FAILED_OUTPUT_BYTES: usize = 8 * 1024;
/// Output of one command that went well.
pub const OUTPUT_BYTES: usize = 1024;
/// Longest line of a command in the history.
const LINE_BYTES: usize = 2 * 1024;

const ZSH: &str = "zsh. What the `bash` tool runs is read by zsh, not bash: `$name` is not split into words, a pattern that \
matches no file is an error unless it is quoted, and arrays begin at 1";

const FISH: &str = "fish. What the `bash` tool runs is read by fish, not bash: `&&`, `||`, `$(...)`, `NAME=value command` and \
`export NAME=value` work, but write `set name value` for `name=value`, `$status` for `$?`, `if ...; end` and `for ...; end` \
without `then`, `do`, `done` or `fi`, and `bash -c '...'` for here-documents, `[[ ]]`, `${...}` and subshells";

/// Tag of what stands for messages that were left out.
pub const EARLIER: &str = "earlier-conversation";
/// Tag of what the project's repository says to assistants.
pub const NOTES: &str = "project-notes";
/// All blocks that may stand before the question, in their order.
const TAGS_BEFORE_QUESTION: [&str; 5] = [EARLIER, "environment", "shell-history", NOTES, "piped-input"];

#[expect(clippy::expect_used, reason = "a constant pattern")]
static TAGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)<(\s*/?\s*(?:earlier-conversation|environment|shell-history|project-notes|piped-input|question)\b)",
    )
    .expect("the pattern is valid")
});

#[expect(clippy::expect_used, reason = "a constant pattern")]
static ESCAPED_TAGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)<\\(\s*/?\s*(?:earlier-conversation|environment|shell-history|project-notes|piped-input|question)\b)",
    )
    .expect("the pattern is valid")
});

/// Where the user is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Working directory of the shell.
    pub cwd: PathBuf,
    /// Name of the live shell, if there is one.
    pub shell: Option<String>,
    /// Operating system and architecture.
    pub os: String,
    /// `YYYY-MM-DD`.
    pub date: String,
    /// Width of the terminal.
    pub columns: u16,
}

/// A command that the user ran.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Everything a question is asked with.
#[derive(Clone, Debug)]
pub struct Query<'a> {
    /// Where.
    pub environment: Environment,
    /// What happened before, oldest first.
    pub history: &'a [PastCommand],
    /// What the project's repository says to assistants.
    pub project_notes: Option<&'a str>,
    /// Text that was piped in.
    pub piped_input: Option<&'a str>,
    /// What the user typed.
    pub question: &'a str,
}

impl Query<'_> {
    /// The text for the model.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        block(&mut text, "environment", &self.environment.to_text());
        block(&mut text, "shell-history", &history_text(self.history));
        block(&mut text, "project-notes", self.project_notes.unwrap_or_default());
        block(&mut text, "piped-input", self.piped_input.unwrap_or_default());
        let question = escape_tags(&sanitize(self.question));
        let _ = write!(text, "<question>\n{}\n</question>", question.trim());
        text
    }
}

/// What of `notes` the next question must tell: nothing if the last notes in the conversation, whose messages of the user are
/// `told`, newest first, are these. What was told is not told again, so that providers' caches hold.
#[must_use]
pub fn untold<'a>(notes: Option<&'a str>, mut told: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let mut block_text = String::new();
    block(&mut block_text, "project-notes", notes?);
    let is_told = told.find(|text| text.contains("<project-notes>\n")).is_some_and(|text| text.contains(&block_text));
    notes.filter(|_| !is_told)
}

/// The parts of a user message: tag and text, tags included, in their order. What stands in no block counts as
/// `question`.
#[must_use]
pub fn parts(text: &str) -> Vec<(&'static str, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    for tag in TAGS_BEFORE_QUESTION {
        let close = format!("\n</{tag}>\n");
        if rest.starts_with(&format!("<{tag}>\n"))
            && let Some(end) = rest.find(&close)
        {
            let (part, after) = rest.split_at(end + close.len());
            parts.push((tag, part));
            rest = after;
        }
    }
    parts.push(("question", rest));
    parts
}

/// What stands in the block `tag` of a user message, as it stands there.
#[must_use]
pub fn inside<'a>(text: &'a str, tag: &str) -> Option<&'a str> {
    let (_, part) = parts(text).into_iter().find(|(other, _)| *other == tag)?;
    part.strip_prefix(&format!("<{tag}>\n"))?.strip_suffix(&format!("\n</{tag}>\n"))
}

/// A user message with `content`, cleaned, in its block `tag`, in place of what stood there; without that block if it is empty.
#[must_use]
pub fn with_block(text: &str, tag: &'static str, content: &str) -> String {
    let known = parts(text);
    let known = |wanted: &str| known.iter().find(|(tag, _)| *tag == wanted).map_or("", |(_, part)| part);
    let mut changed = String::new();
    for one in TAGS_BEFORE_QUESTION {
        if one == tag {
            block(&mut changed, tag, content);
        } else {
            changed.push_str(known(one));
        }
    }
    changed + known("question")
}

/// The user's own words in a user message.
#[must_use]
pub fn words(text: &str) -> String {
    let question = parts(text).pop().map_or("", |(_, rest)| rest);
    let inner = question.strip_prefix("<question>\n").and_then(|rest| rest.strip_suffix("\n</question>"));
    ESCAPED_TAGS.replace_all(inner.unwrap_or(question), "<$1").into_owned()
}

impl Environment {
    fn to_text(&self) -> String {
        let shell = match self.shell.as_deref() {
            Some("zsh") => ZSH,
            Some("fish") => FISH,
            Some(name) => name,
            None => "none, commands run in a shell of their own, bash or sh",
        };
        let Self { os, date, columns, .. } = self;
        format!("cwd: {}\nshell: {shell}\nos: {os}\ndate: {date}\ncolumns: {columns}", one_line(&self.cwd))
    }
}

fn block(text: &mut String, tag: &str, content: &str) {
    let content = escape_tags(&sanitize(content));
    if !content.trim().is_empty() {
        let _ = writeln!(text, "<{tag}>\n{}\n</{tag}>", content.trim_end());
    }
}

pub(super) fn escape_tags(text: &str) -> String {
    TAGS.replace_all(text, r"<\$1").into_owned()
}

/// A path in one line, whatever it is made of.
fn one_line(path: &Path) -> String {
    path.to_string_lossy().chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// What the next question tells of these commands.
#[must_use]
pub fn history_text(history: &[PastCommand]) -> String {
    let mut budget_bytes = HISTORY_OUTPUT_BYTES;
    let recent = &history[history.len().saturating_sub(MAX_HISTORY_EVENTS)..];
    // The newest matter most, so they take from the budget first.
    let mut entries: Vec<String> = recent.iter().rev().map(|past| entry_text(past, &mut budget_bytes)).collect();
    entries.reverse();
    entries.concat()
}

fn entry_text(past: &PastCommand, budget_bytes: &mut usize) -> String {
    let line = past.line.as_deref().map_or("(unknown command)", str::trim);
    let mut text = format!("$ {}\n", safety::head(line, LINE_BYTES).replace('\n', "\n> "));
    let seconds = past.duration.as_secs_f64();
    let _ = writeln!(text, "exit {} in {} after {seconds:.1}s", past.exit_code, one_line(&past.cwd));
    let wish = if past.exit_code == 0 { OUTPUT_BYTES } else { FAILED_OUTPUT_BYTES };
    let output = last_lines(past.output_tail.trim_end(), wish.min(*budget_bytes));
    *budget_bytes -= output.len();
    for line in output.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

/// The last whole lines of `text` that fit, or the end of its only line.
pub(super) fn last_lines(text: &str, max_bytes: usize) -> &str {
    if text.len() <= max_bytes {
        return text;
    }
    let end = safety::tail(text, max_bytes);
    end.split_once('\n').map_or(end, |(_, whole_lines)| whole_lines)
}

#[cfg(test)]
mod tests;
