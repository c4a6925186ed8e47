//! `glob` finds files by name.

use std::{
    cmp::Reverse,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::{
    ToolOptions, arguments, blocking, path, render,
    walk::{self, PathPattern},
};

/// Most files in one result.
const FILES_MAX: usize = 200;

const DESCRIPTION: &str = "Finds files by a pattern for their path, newest first, at most 200: `*.rs` anywhere below, \
`src/**/*.rs`, `**/test_*.{py,sh}`. Leaves out what .gitignore excludes, and hidden files unless the pattern names them \
(`.github/**`).";

pub(super) struct Glob {
    options: ToolOptions,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GlobArguments {
    /// The pattern; without a slash it is matched with file names alone.
    pattern: String,
    /// The folder to search; default is the shell's working directory.
    path: Option<String>,
}

/// The folder that a call searches, and the pattern for the paths below it.
struct Search {
    base: PathBuf,
    pattern: PathPattern,
}

impl Glob {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone() }
    }
}

fn search_of(args: &GlobArguments, cwd: &Path, options: &ToolOptions) -> Result<Search, String> {
    let folder = path::resolve_open(args.path.as_deref().unwrap_or("."), cwd, options)?;
    let (start, pattern) = PathPattern::with_base(&args.pattern)?;
    let base = if start.is_empty() { folder } else { path::resolve_open(start, &folder, options)? };
    Ok(Search { base, pattern })
}

fn find(search: &Search, cwd: &Path, options: &ToolOptions, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let found = walk::files(&search.base, Some(&search.pattern), &options.ignore, cancel)?;
    let age =
        |file: &PathBuf| fs::symlink_metadata(file).and_then(|data| data.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut files: Vec<_> = found.files.iter().map(|file| (Reverse(age(file)), file)).collect();
    files.sort();
    let mut content = String::new();
    let mut shown = 0;
    for (_, file) in files.iter().take(FILES_MAX) {
        let line = path::shown(file, cwd);
        if content.len() + line.len() >= options.output_max_bytes {
            break;
        }
        let _ = writeln!(content, "{line}");
        shown += 1;
    }
    let mut notes = walk::gaps(&found, cwd, &search.base);
    if files.is_empty() {
        notes.insert(0, format!("no file below {} matches", path::shown(&search.base, cwd)));
    } else if shown < files.len() {
        notes.insert(0, format!("the newest {shown} of {}; use a narrower pattern", files.len()));
    }
    if !notes.is_empty() {
        let _ = writeln!(content, "[{}]", notes.join("; "));
    }
    Ok(ToolOutput::text(content, render::count(files.len(), "file")))
}

#[async_trait]
impl Tool for Glob {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "glob".into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<GlobArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: GlobArguments = arguments::parse(args)?;
        let Search { base, .. } = search_of(&args, cwd, &self.options)?;
        let place = args.path.map_or(String::new(), |path| format!(" in {path}"));
        Ok(Intent {
            title: render::one_line(&format!("{}{place}", args.pattern), render::TITLE_MAX_CHARS),
            effect: Effect::Read { path: base, pattern: Some(args.pattern) },
        })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: GlobArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        blocking::reading(context.cancel, move |cancel| {
            let search = search_of(&args, &cwd, &options)?;
            find(&search, &cwd, &options, cancel)
        })
        .await
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{File, create_dir_all},
        os::unix::fs::symlink,
        time::Duration,
    };

    use serde_json::{Value, json};

    use super::super::testing::{ScriptedRunner, call_with, folder, intent, make_pipe, options, run};
    use super::*;

    /// Creates `names` in `dir`, each a second younger than the one before.
    fn make(dir: &Path, names: &[&str]) {
        for (name, seconds) in names.iter().zip(1_000..) {
            let path = dir.join(name);
            create_dir_all(path.parent().unwrap()).unwrap();
            let file = File::create(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        }
    }

    async fn found(cwd: &Path, args: Value) -> String {
        run(&Glob::new(&options(cwd)), cwd, &args).await.unwrap().content
    }

    #[tokio::test]
    async fn files_come_newest_first_and_relative_to_the_shell() {
        let (_guard, dir) = folder();
        make(&dir, &["src/old.rs", "new.rs", "src/deep/newest.rs", "src/x.txt"]);
        assert_eq!(found(&dir, json!({"pattern": "*.rs"})).await, "src/deep/newest.rs\nnew.rs\nsrc/old.rs\n");
        assert_eq!(found(&dir, json!({"pattern": "src/*.rs"})).await, "src/old.rs\n");
        assert_eq!(
            found(&dir, json!({"pattern": "**/*.{txt,rs}", "path": "src"})).await,
            "src/x.txt\nsrc/deep/newest.rs\nsrc/old.rs\n"
        );
        assert_eq!(found(&dir, json!({"pattern": "src/x.txt"})).await, "src/x.txt\n");
        assert_eq!(found(&dir.join("src"), json!({"pattern": "../*.rs"})).await, format!("{}/new.rs\n", dir.display()));
        assert_eq!(found(&dir, json!({"pattern": "~/*.rs"})).await, "new.rs\n");
        let absolute = format!("{}/src/deep/*", dir.display());
        assert_eq!(
            found(Path::new("/"), json!({"pattern": absolute})).await,
            format!("{}\n", &dir.join("src/deep/newest.rs").display().to_string()[1..])
        );
        assert_eq!(
            found(&dir, json!({"pattern": "*.py"})).await,
            format!("[no file below {} matches]\n", dir.display())
        );
    }

    #[tokio::test]
    async fn ignored_and_hidden_files_are_left_out_unless_they_are_named() {
        let (_guard, dir) = folder();
        make(&dir, &["a.rs", "target/b.rs", ".hidden/c.rs", ".git/d.rs", "sub/e.rs", "sub/f.rs"]);
        fs::write(dir.join(".gitignore"), "target/\n").unwrap();
        fs::write(dir.join("sub/.ignore"), "f.rs\n").unwrap();
        assert_eq!(found(&dir, json!({"pattern": "**/*.rs"})).await, "sub/e.rs\na.rs\n");
        assert_eq!(found(&dir, json!({"pattern": ".hidden/*.rs"})).await, ".hidden/c.rs\n");
        assert_eq!(found(&dir, json!({"pattern": "{.git,.hidden}/**"})).await, ".hidden/c.rs\n");
    }

    #[tokio::test]
    async fn loops_of_links_pipes_and_strange_names_do_no_harm() {
        let (_guard, dir) = folder();
        make(&dir, &["a/one\ntwo.rs", "trap/x.rs"]);
        symlink("..", dir.join("a/up.rs")).unwrap();
        make_pipe(&dir.join("pipe.rs"));
        make_pipe(&dir.join("trap/.gitignore"));
        let listed = found(&dir, json!({"pattern": "*.rs"})).await;
        let mut lines: Vec<_> = listed.lines().collect();
        lines.sort_unstable();
        assert_eq!(lines, ["a/one\\ntwo.rs", "a/up.rs"]);
        for folder in ["trap", "trap/sub"] {
            make(&dir, &["trap/sub/y.rs"]);
            let listed = found(&dir.join(folder), json!({"pattern": "y.rs"})).await;
            assert!(listed.contains("y.rs\n[ignore files were not heeded: "), "{listed}");
        }
    }

    #[tokio::test]
    async fn a_result_has_at_most_two_hundred_files() {
        let (_guard, dir) = folder();
        let names: Vec<String> = (0..250).map(|n| format!("{n:03}.rs")).collect();
        make(&dir, &names.iter().map(String::as_str).collect::<Vec<_>>());
        let output = run(&Glob::new(&options(&dir)), &dir, &json!({"pattern": "*"})).await.unwrap();
        assert!(output.content.starts_with("249.rs\n"));
        assert!(output.content.ends_with("050.rs\n[the newest 200 of 250; use a narrower pattern]\n"));
        assert_eq!(output.summary, "250 files");
    }

    #[test]
    fn the_intent_is_to_read_the_folder_the_pattern_starts_from() {
        let (_guard, dir) = folder();
        create_dir_all(dir.join("src")).unwrap();
        let of = |args: Value| intent(&Glob::new(&options(&dir)), &dir, &args);
        let shown = of(json!({"pattern": "src/*.rs", "path": "."})).unwrap();
        assert_eq!(
            shown,
            Intent {
                title: "src/*.rs in .".into(),
                effect: Effect::Read { path: dir.join("src"), pattern: Some("src/*.rs".into()) }
            }
        );
        assert!(of(json!({"pattern": "a[b"})).unwrap_err().starts_with("the glob pattern is wrong: "));
        assert!(of(json!({"pattern": ""})).unwrap_err().contains("names no file"));
    }

    #[tokio::test]
    async fn a_missing_folder_is_an_error_and_a_cancelled_search_stops() {
        let (_guard, dir) = folder();
        let tool = Glob::new(&options(&dir));
        let error = run(&tool, &dir, &json!({"pattern": "*", "path": "gone"})).await.unwrap_err();
        assert!(error.ends_with("gone: no such file"));
        let cancel = CancellationToken::new();
        cancel.cancel();
        let result = call_with(&tool, &ScriptedRunner::new(&dir), &cancel, &json!({"pattern": "*"})).await;
        assert_eq!(result.unwrap_err(), "cancelled before it ended");
    }
}
