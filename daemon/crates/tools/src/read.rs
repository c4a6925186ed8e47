//! `read` shows a file with line numbers, or lists a folder.

use std::{fmt::Write as _, fs, path::Path};

use async_trait::async_trait;
use cohab_agent::builtin_tools::LINE_MAX_BYTES;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_context::ignore_rules::Checker;
use cohab_model_api::{Image, JsonObject, ToolSpec};
use cohab_system::files::{self, FileError};
use cohab_types::image_format::{IMAGE_MAX_BYTES, ImageFormat};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{ToolOptions, arguments, blocking, path, render};

/// Largest file that is opened.
const FILE_MAX_BYTES: u64 = 16 * 1024 * 1024;
/// Most lines in one result.
const LINES_MAX: u64 = 2_000;
/// Longest name of an image.
const NAME_MAX_CHARS: usize = 80;
/// A NUL within this many first bytes makes a file binary.
const SNIFF_BYTES: usize = 8 * 1024;
/// Most names listed of a folder.
const ENTRIES_MAX: usize = 200;
/// Most names looked at in a folder.
const ENTRIES_SEEN_MAX: usize = 100_000;

const DESCRIPTION: &str = "Reads a text file and shows it with line numbers (number, tab, text; the number is not part of the \
file). At most 2000 lines at once: use `offset` and `limit` for the rest. A folder is listed. Images, other binary files, pipes \
and devices are not shown.";

pub(super) struct Read {
    options: ToolOptions,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    /// The file; relative to the shell's working directory, or absolute, or with `~`.
    path: String,
    /// Number of the first line to show, from 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines to show.
    #[schemars(range(min = 1, max = LINES_MAX))]
    limit: Option<u64>,
}

impl Read {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone() }
    }
}

#[async_trait]
impl Tool for Read {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read".into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<ReadArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: ReadArguments = arguments::parse(args)?;
        // Which rule keeps it is said by the call: an attachment that cannot be read shows why.
        let path = path::resolve(&args.path, cwd, &self.options.home)?;
        let from = args.offset.map_or(String::new(), |offset| format!(" from line {offset}"));
        Ok(Intent {
            title: render::one_line(&args.path, render::TITLE_MAX_CHARS) + &from,
            effect: Effect::Read { path, pattern: None },
        })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: ReadArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        blocking::reading(context.cancel, move |cancel| {
            let real = path::resolve_open(&args.path, &cwd, &options)?;
            let named = |reason: &dyn std::fmt::Display| format!("{}: {reason}", render::path(&real));
            match files::read_regular(&real, FILE_MAX_BYTES) {
                Ok((bytes, _)) => {
                    show_file(&real, &bytes, &args, options.output_max_bytes).map_err(|reason| named(&reason))
                }
                Err(FileError::Folder) => {
                    list_folder(&real, &options.ignore.checker(), cancel).map_err(|reason| named(&reason))
                }
                Err(error @ FileError::TooLarge { .. }) => {
                    Err(named(&error) + "; use `grep`, or `sed -n`, `head` or `tail` with `bash`")
                }
                Err(error) => Err(named(&error)),
            }
        })
        .await
    }
}

/// An image with a line for the model, or `None` if the file is none.
fn show_image(path: &Path, bytes: &[u8]) -> Option<Result<ToolOutput, String>> {
    let media_type = ImageFormat::of(bytes)?.media_type();
    let size = bytes.len() / 1024 + 1;
    if bytes.len() > IMAGE_MAX_BYTES {
        return Some(Err(format!(
            "{media_type} of {size} kB; at most {} kB are shown to a model",
            IMAGE_MAX_BYTES / 1024
        )));
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let image = Image::read(&render::one_line(&name, NAME_MAX_CHARS), bytes.to_vec());
    let content = format!(
        "[{media_type}, {size} kB. It is shown with the question that names it by @; a call shows no image.]\n"
    );
    Some(Ok(ToolOutput { image, ..ToolOutput::text(content, format!("{media_type}, {size} kB")) }))
}

fn show_file(path: &Path, bytes: &[u8], args: &ReadArguments, max_bytes: usize) -> Result<ToolOutput, String> {
    if let Some(image) = show_image(path, bytes) {
        return image;
    }
    refuse_binary(bytes)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    let total = text.lines().count() as u64;
    if total == 0 {
        return Ok(output("[the file is empty]".into(), "empty"));
    }
    let first = args.offset.unwrap_or(1);
    if first > total {
        return Err(format!("has only {}, there is no line {first}", render::count(total as usize, "line")));
    }
    let wanted = args.limit.unwrap_or(LINES_MAX).min(LINES_MAX);
    let mut content = String::new();
    let mut last = first - 1;
    let skipped = usize::try_from(first - 1).unwrap_or(usize::MAX);
    for (line, number) in text.lines().skip(skipped).zip(first..).take(wanted as usize) {
        let shown = format!("{number:>6}\t{}\n", render::cut_end(line, LINE_MAX_BYTES));
        if content.len() + shown.len() > max_bytes && last >= first {
            break;
        }
        content.push_str(&shown);
        last = number;
    }
    let mut notes = Vec::new();
    if first > 1 || last < total {
        notes.push(format!("lines {first} to {last} of {total}"));
    }
    if last < total {
        notes.push(format!("go on with offset {}", last + 1));
    }
    if text.contains("\r\n") {
        notes.push("lines end with CRLF".into());
    }
    if matches!(text, std::borrow::Cow::Owned(_)) {
        notes.push("not valid UTF-8; broken bytes are shown as \u{fffd}".into());
    }
    if !notes.is_empty() {
        let _ = writeln!(content, "[{}]", notes.join("; "));
    }
    let shown = last + 1 - first;
    let summary = match args.limit {
        None if last < total => format!("{shown} of {}", render::count(total as usize, "line")),
        _ => render::count(shown as usize, "line"),
    };
    Ok(output(content, &summary))
}

fn refuse_binary(bytes: &[u8]) -> Result<(), String> {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err("is UTF-16 text; use `iconv` with `bash`".into());
    }
    if bytes[..bytes.len().min(SNIFF_BYTES)].contains(&0) {
        return Err(format!("is a binary file of {} bytes; use `file`, `strings` or `xxd` with `bash`", bytes.len()));
    }
    Ok(())
}

fn list_folder(folder: &Path, kept: &Checker, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let (mut names, mut kept_count) = (Vec::new(), 0);
    let entries = fs::read_dir(folder).map_err(|error| FileError::from(error).to_string())?;
    for entry in entries.flatten().take(ENTRIES_SEEN_MAX) {
        if cancel.is_cancelled() {
            return Err(blocking::CANCELLED.into());
        }
        if kept.kept_by(&entry.path(), entry.file_type().is_ok_and(|kind| kind.is_dir())).is_some() {
            kept_count += 1;
            continue;
        }
        let mark = match entry.file_type() {
            Ok(kind) if kind.is_dir() => "/",
            Ok(kind) if kind.is_symlink() => "@",
            _ => "",
        };
        names.push(render::path(Path::new(&entry.file_name())) + mark);
    }
    names.sort_unstable();
    let mut content = format!("{} is a folder with {}", render::path(folder), render::count(names.len(), "entry"));
    if names.len() == ENTRIES_SEEN_MAX {
        content.push_str(" or more");
    }
    content.push_str(":\n");
    for name in names.iter().take(ENTRIES_MAX) {
        let _ = writeln!(content, "{name}");
    }
    if names.len() > ENTRIES_MAX {
        let _ = writeln!(content, "[and {} more]", names.len() - ENTRIES_MAX);
    }
    if kept_count > 0 {
        let _ = writeln!(content, "[{} kept from the assistant]", render::count(kept_count, "entry"));
    }
    content.push_str("[`glob` finds files by name, `read` shows one]\n");
    Ok(output(content, &render::count(names.len(), "entry")))
}

fn output(content: String, summary: &str) -> ToolOutput {
    ToolOutput::text(content, summary.into())
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
