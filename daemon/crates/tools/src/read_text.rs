//! `read_text` reads a text file exactly, for agents that write back what they read. Shortens nothing: a long text is an error.

use std::path::Path;

use async_trait::async_trait;
use cohab_agent::port::{Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_system::files;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolOptions, arguments, blocking, path, render};

/// Largest file that is opened.
const FILE_MAX_BYTES: u64 = 16 * 1024 * 1024;

pub(super) struct ReadText {
    options: ToolOptions,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ReadTextArguments {
    /// The file; relative to the shell's working directory, or absolute, or with `~`.
    path: String,
    /// Number of the first line, from 1.
    #[schemars(range(min = 1))]
    offset: Option<u64>,
    /// How many lines.
    #[schemars(range(min = 1))]
    limit: Option<u64>,
}

impl ReadText {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone() }
    }
}

#[async_trait]
impl Tool for ReadText {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_text".into(),
            description: "Reads a text file exactly.".into(),
            parameters: arguments::schema::<ReadTextArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: ReadTextArguments = arguments::parse(args)?;
        let path = path::resolve_open(&args.path, cwd, &self.options)?;
        let from = args.offset.map_or(String::new(), |offset| format!(" from line {offset}"));
        let title = render::one_line(&args.path, render::TITLE_MAX_CHARS) + &from;
        Ok(Intent { title, effect: Effect::Read { path, pattern: None } })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: ReadTextArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        blocking::reading(context.cancel, move |_| {
            let real = path::resolve_open(&args.path, &cwd, &options)?;
            let named = |reason: &str| format!("{}: {reason}", render::path(&real));
            let read = files::read_regular(&real, FILE_MAX_BYTES);
            let (bytes, _) = read.map_err(|error| named(&error.to_string()))?;
            let text = String::from_utf8(bytes).map_err(|_| named("is not UTF-8 text"))?;
            let content = lines_of(&text, args.offset, args.limit);
            if content.len() > options.output_max_bytes {
                let advice =
                    format!("is longer than {} bytes; read it in parts, by line and limit", options.output_max_bytes);
                return Err(named(&advice));
            }
            let summary = render::count(content.lines().count(), "line");
            Ok(ToolOutput::text(content, summary))
        })
        .await
    }
}

/// These lines with their ends; all of them by default.
fn lines_of(text: &str, offset: Option<u64>, limit: Option<u64>) -> String {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let first = offset.map_or(0, |offset| number(offset).saturating_sub(1));
    text.split_inclusive('\n').skip(first).take(limit.map_or(usize::MAX, number)).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Value, json};

    use super::super::testing::{folder, options, run};
    use super::*;

    async fn read(folder: &Path, args: &Value) -> Result<String, String> {
        let tool = ReadText::new(&ToolOptions { output_max_bytes: 64, ..options(folder) });
        run(&tool, folder, args).await.map(|output| output.content)
    }

    #[tokio::test]
    async fn each_byte_is_as_in_the_file() {
        let (_guard, dir) = folder();
        fs::write(dir.join("a"), "\u{feff}one\r\ntwo\n\nfour").expect("written");
        assert_eq!(read(&dir, &json!({"path": "a"})).await.as_deref(), Ok("\u{feff}one\r\ntwo\n\nfour"));
        assert_eq!(read(&dir, &json!({"path": "a", "offset": 2, "limit": 2})).await.as_deref(), Ok("two\n\n"));
        assert_eq!(read(&dir, &json!({"path": "a", "offset": 9})).await.as_deref(), Ok(""));
    }

    #[tokio::test]
    async fn nothing_is_shortened_or_replaced() {
        let (_guard, dir) = folder();
        fs::write(dir.join("long"), "x".repeat(65)).expect("written");
        fs::write(dir.join("bytes"), [0xff, 0xfe]).expect("written");
        fs::write(dir.join("kept"), "secret").expect("written");
        fs::write(dir.join(".cohabignore"), "kept\n").expect("written");
        let error = async |path: &str| read(&dir, &json!({"path": path})).await.expect_err(path);
        assert!(error("long").await.contains("read it in parts"));
        assert!(error("bytes").await.contains("not UTF-8"));
        assert!(error("missing").await.contains("missing"));
        error("kept").await;
    }
}
