//! `edit` replaces an exact piece of a file.

use std::path::Path;

use async_trait::async_trait;
use cohab_agent::port::{Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_policy::Level;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    ToolOptions, arguments,
    change::{self, Change, Previews},
    path, render,
};

/// Line numbers reported when a piece occurs more than once.
const PLACES_MAX: usize = 5;
/// Lines that are compared to find the intended one.
const COMPARED_LINES_MAX: usize = 5_000;
/// Longest line that is compared, and longest part of it that is shown.
const COMPARED_LINE_MAX_CHARS: usize = 200;
/// Least similarity of a line to the searched one to report it, 0 to 1.
const RESEMBLANCE: f32 = 0.6;

const DESCRIPTION: &str = "Replaces an exact piece of a text file. `old_string` must be in the file exactly once, spaces and \
tabs included, without the line numbers that `read` shows: give enough lines around it, or set `replace_all`. Line ends of \
CRLF files are kept. An empty `new_string` deletes.";

pub(super) struct Edit {
    options: ToolOptions,
    previews: Previews,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct EditArguments {
    /// The file; relative to the shell's working directory, or absolute, or with `~`.
    path: String,
    /// The text to replace, exactly as it is in the file.
    old_string: String,
    /// What to put there.
    new_string: String,
    /// Replace every occurrence.
    #[serde(default)]
    replace_all: bool,
}

impl Edit {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone(), previews: Previews::default() }
    }
}

fn plan(args: &EditArguments, cwd: &Path, options: &ToolOptions) -> Result<Change, String> {
    let path = path::resolve_open(&args.path, cwd, options)?;
    let named = |reason: &str| format!("{}: {reason}", render::path(&path));
    let before = change::original(&path)?.ok_or_else(|| named("no such file; make it with `write`"))?;
    let text = std::str::from_utf8(&before.content).map_err(|_| named("is not UTF-8 text; use `sed` with `bash`"))?;
    let after = replaced(text, args).map_err(|mismatch| {
        // The model gets this before the user was asked, so it must not reveal a file that may not simply be read.
        let is_plain = path::read_level(&path, cwd, &options.home) == Level::Allow;
        format!("{}\n{}", mismatch.summary(is_plain), named(&mismatch.explain(text, args, is_plain)))
    })?;
    if after.len() as u64 > change::FILE_MAX_BYTES {
        return Err(named(&too_long()));
    }
    Ok(Change { path, before: Some(before), after })
}

fn too_long() -> String {
    format!("would be longer than {} bytes", change::FILE_MAX_BYTES)
}

/// The reason why a replacement cannot be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mismatch {
    Empty,
    Same,
    TooLong,
    NotFound,
    FoundOften,
}

impl Mismatch {
    /// The reason in a few words, for the user; nothing of the content unless `is_plain`.
    fn summary(self, is_plain: bool) -> &'static str {
        match self {
            Self::Empty => "no text to replace was given",
            Self::Same => "the new text is the same",
            Self::TooLong => "the file would be too long",
            Self::NotFound if is_plain => "text to replace not found",
            Self::FoundOften if is_plain => "text to replace found more than once",
            Self::NotFound | Self::FoundOften => "text to replace not found exactly once",
        }
    }

    /// The reason as a phrase for the model; details of the content only if `is_plain`.
    fn explain(self, text: &str, args: &EditArguments, is_plain: bool) -> String {
        match self {
            Self::Empty => "argument `old_string` is empty; use `write` to write a whole file".into(),
            Self::Same => "`old_string` and `new_string` are the same".into(),
            Self::TooLong => too_long(),
            Self::NotFound if is_plain => not_found(text, &args.old_string),
            Self::FoundOften if is_plain => found_often(text, &in_line_ends_of(text, args).0),
            Self::NotFound | Self::FoundOften => "`old_string` is not in the file exactly once; read it again".into(),
        }
    }
}

/// `text` with the replacement made.
fn replaced(text: &str, args: &EditArguments) -> Result<String, Mismatch> {
    if args.old_string.is_empty() {
        return Err(Mismatch::Empty);
    }
    let (old, new) = in_line_ends_of(text, args);
    if old == new {
        return Err(Mismatch::Same);
    }
    let first = text.find(&old).ok_or(Mismatch::NotFound)?;
    if args.replace_all {
        let grown = text.matches(&old).count().saturating_mul(new.len().saturating_sub(old.len()));
        if grown as u64 > change::FILE_MAX_BYTES {
            return Err(Mismatch::TooLong);
        }
        return Ok(text.replace(&old, &new));
    }
    // Occurrences may overlap, so the search for the second one starts at the next character.
    let next = first + old.chars().next().map_or(1, char::len_utf8);
    if text[next..].contains(&old) {
        return Err(Mismatch::FoundOften);
    }
    Ok(text.replacen(&old, &new, 1))
}

/// The two strings with the line ends of `text`: models write LF, also for files where every line ends with CRLF.
fn in_line_ends_of(text: &str, args: &EditArguments) -> (String, String) {
    let to_crlf = |part: &str| part.replace("\r\n", "\n").replace('\n', "\r\n");
    let crlf_lines = text.matches("\r\n").count();
    let is_crlf_file = crlf_lines > 0 && crlf_lines == text.matches('\n').count();
    let crlf_old = to_crlf(&args.old_string);
    if is_crlf_file || (crlf_lines > 0 && !text.contains(&args.old_string) && text.contains(&crlf_old)) {
        return (crlf_old, to_crlf(&args.new_string));
    }
    (args.old_string.clone(), args.new_string.clone())
}

fn found_often(text: &str, old: &str) -> String {
    let mut numbers = Vec::new();
    let (mut line, mut from) = (1, 0);
    for (at, _) in text.match_indices(old).take(PLACES_MAX) {
        line += text[from..at].matches('\n').count();
        from = at;
        numbers.push(line.to_string());
    }
    // At least two, since overlapping ones are not counted here.
    let times = text.matches(old).count().max(2);
    let more = if times > PLACES_MAX { ", ..." } else { "" };
    format!(
        "`old_string` is there {times} times (lines {}{more}); add lines around it to make it unique, or set `replace_all`",
        numbers.join(", ")
    )
}

fn not_found(text: &str, old: &str) -> String {
    let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = old.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut reason = String::from("`old_string` is not in the file");
    if squeezed(text).contains(&squeezed(old)) && !squeezed(old).is_empty() {
        reason.push_str("; it is there with other white space");
    }
    if let Some((number, line)) = nearest_line(text, wanted) {
        let line = render::one_line(line, COMPARED_LINE_MAX_CHARS);
        reason.push_str(&format!("; the nearest line is {number}: `{line}`"));
    }
    reason + "; read the file again"
}

/// Number and text of the line that is most similar to `wanted`, if one is similar.
fn nearest_line<'a>(text: &'a str, wanted: &str) -> Option<(usize, &'a str)> {
    let wanted = wanted.trim();
    if wanted.is_empty() || wanted.len() > COMPARED_LINE_MAX_CHARS {
        return None;
    }
    let lines = text.lines().zip(1..).take(COMPARED_LINES_MAX);
    let alike = lines.filter(|(line, _)| {
        let length = line.trim().len();
        length <= 2 * wanted.len() && wanted.len() <= 2 * length
    });
    let mut best: Option<(f32, usize, &str)> = None;
    for (line, number) in alike {
        let ratio = similar::TextDiff::from_chars(line.trim(), wanted).ratio();
        if ratio >= RESEMBLANCE && best.is_none_or(|(other, ..)| ratio > other) {
            best = Some((ratio, number, line));
        }
    }
    best.map(|(_, number, line)| (number, line))
}

#[async_trait]
impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit".into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<EditArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: EditArguments = arguments::parse(args)?;
        self.previews.intent(&plan(&args, cwd, &self.options)?, &args.path)
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: EditArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        self.previews.apply(context.cancel, move || plan(&args, &cwd, &options)).await
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
