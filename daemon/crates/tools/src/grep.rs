//! `grep` finds lines by a regular expression.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_context::ignore_rules::IgnoreRules;
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_policy::Level;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{
    ToolOptions, arguments, blocking,
    matches::{self, Limits, Matches},
    path, render,
    walk::{self, PathPattern, WalkResult},
};

/// Longest regular expression.
const PATTERN_MAX_BYTES: usize = 16 * 1024;
/// Largest compiled regular expression.
const COMPILED_MAX_BYTES: usize = 10 * 1024 * 1024;
/// Matching lines in one result unless the model says otherwise.
const MATCHES_DEFAULT: u64 = 100;
/// Most matching lines in one result.
const MATCHES_MAX: u64 = 1_000;
/// Most lines of context on each side.
const CONTEXT_MAX: u64 = 20;

const DESCRIPTION: &str = "Finds lines in files by a regular expression (Rust syntax, line by line) and shows them as \
`path:line:text`, context lines as `path-line-text`. Leaves out what .gitignore excludes, hidden files, binary files and files \
that usually hold secrets. Links are not followed.";

pub(super) struct Grep {
    options: ToolOptions,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GrepArguments {
    /// The regular expression; escape `.`, `(`, `[`, `{` and the like to mean themselves.
    pattern: String,
    /// The file or folder to search; default is the shell's working directory.
    path: Option<String>,
    /// Only files with a path like this, for example `*.rs` or `src/**/*.ts`.
    glob: Option<String>,
    /// Whether upper and lower case count as the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many lines to show before and after each match.
    #[schemars(range(min = 0, max = CONTEXT_MAX))]
    context: Option<u64>,
    /// How many matching lines to show; default 100.
    #[schemars(range(min = 1, max = MATCHES_MAX))]
    max: Option<u64>,
}

/// The scope and the pattern of a search.
struct Search {
    base: PathBuf,
    glob: Option<PathPattern>,
    matcher: RegexMatcher,
}

impl Grep {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone() }
    }
}

fn search_of(args: &GrepArguments, cwd: &Path, options: &ToolOptions) -> Result<Search, String> {
    if args.pattern.is_empty() || args.pattern.len() > PATTERN_MAX_BYTES {
        return Err(format!("argument `pattern` is empty or longer than {PATTERN_MAX_BYTES} bytes"));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(args.ignore_case).line_terminator(Some(b'\n')).size_limit(COMPILED_MAX_BYTES);
    let matcher = builder
        .build(&args.pattern)
        .map_err(|error| format!("argument `pattern` is no regular expression: {error}"))?;
    Ok(Search {
        base: path::resolve_open(args.path.as_deref().unwrap_or("."), cwd, options)?,
        glob: args.glob.as_deref().map(PathPattern::new).transpose()?,
        matcher,
    })
}

/// Searches; files for which `is_secret` holds are left out unless the search is for exactly that file.
fn find(
    search: &Search,
    (cwd, rules): (&Path, &IgnoreRules),
    limits: &Limits,
    is_secret: impl Fn(&Path) -> bool,
    cancel: &CancellationToken,
) -> Result<ToolOutput, String> {
    let found = walk::files(&search.base, search.glob.as_ref(), rules, cancel)?;
    let mut searcher = matches::searcher(limits);
    let mut matches = Matches::new(limits, cancel);
    let mut secret = 0;
    for file in &found.files {
        if cancel.is_cancelled() {
            return Err(blocking::CANCELLED.into());
        }
        if *file != search.base && is_secret(file) {
            secret += 1;
        } else if matches.search(&mut searcher, &search.matcher, file, &path::shown(file, cwd)).is_break() {
            break;
        }
    }
    if cancel.is_cancelled() {
        return Err(blocking::CANCELLED.into());
    }
    Ok(report(search, cwd, &found, &matches, secret))
}

fn report(search: &Search, cwd: &Path, found: &WalkResult, matches: &Matches<'_>, secret: usize) -> ToolOutput {
    let mut notes = Vec::new();
    if matches.count == 0 {
        let files = render::count(found.files.len(), "file");
        notes.push(format!("no match in {files} below {}", path::shown(&search.base, cwd)));
    } else if matches.is_full {
        notes.push("there are more matches; narrow the search or raise `max`".into());
    }
    notes.extend(walk::gaps(found, cwd, &search.base));
    let mut note = |number: usize, what: &str| {
        if number > 0 {
            notes.push(format!("{} {what}", render::count(number, "file")));
        }
    };
    note(matches.binary, "skipped as binary");
    note(matches.unreadable, "could not be read");
    note(secret, "left out because of secrets; ask for exactly that file if it is needed");
    let mut content = matches.text.clone();
    if !notes.is_empty() {
        content.push_str(&format!("[{}]\n", notes.join("; ")));
    }
    let more = if matches.is_full { " or more" } else { "" };
    let summary =
        format!("{}{more} in {}", render::count(matches.count, "match"), render::count(matches.files, "file"));
    ToolOutput::text(content, summary)
}

#[async_trait]
impl Tool for Grep {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "grep".into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<GrepArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: GrepArguments = arguments::parse(args)?;
        let Search { base, .. } = search_of(&args, cwd, &self.options)?;
        let place = args.path.or(args.glob).map_or(String::new(), |place| format!(" in {place}"));
        Ok(Intent {
            title: render::one_line(&format!("{}{place}", args.pattern), render::TITLE_MAX_CHARS),
            effect: Effect::Read { path: base, pattern: Some(args.pattern) },
        })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: GrepArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        blocking::reading(context.cancel, move |cancel| {
            let search = search_of(&args, &cwd, &options)?;
            let limits = Limits {
                matches: args.max.unwrap_or(MATCHES_DEFAULT) as usize,
                context_lines: args.context.unwrap_or(0) as usize,
                bytes: options.output_max_bytes,
            };
            let is_secret = |file: &Path| path::read_level(file, &cwd, &options.home) >= Level::Danger;
            find(&search, (&cwd, &options.ignore), &limits, is_secret, cancel)
        })
        .await
    }
}

#[cfg(test)]
#[path = "grep_tests.rs"]
mod tests;
