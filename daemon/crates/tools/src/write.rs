//! `write` creates a file, or replaces one as a whole.

use std::path::Path;

use async_trait::async_trait;
use cohab_agent::port::{Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    ToolOptions, arguments,
    change::{self, Change, Previews},
    path,
};

const DESCRIPTION: &str = "Writes a whole text file: creates it, with missing folders, or replaces what it holds. The old \
permissions stay. To change a part of a file use `edit`.";

pub(super) struct Write {
    options: ToolOptions,
    previews: Previews,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct WriteArguments {
    /// The file; relative to the shell's working directory, or absolute, or with `~`.
    path: String,
    /// The whole new content.
    content: String,
}

impl Write {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone(), previews: Previews::default() }
    }
}

fn plan(args: WriteArguments, cwd: &Path, options: &ToolOptions) -> Result<Change, String> {
    if args.path.ends_with('/') {
        return Err("argument `path` names a folder, not a file".into());
    }
    if args.content.len() as u64 > change::FILE_MAX_BYTES {
        return Err(format!("argument `content` is longer than {} bytes", change::FILE_MAX_BYTES));
    }
    let path = path::resolve_open(&args.path, cwd, options)?;
    let before = change::original(&path)?;
    Ok(Change { path, before, after: args.content })
}

#[async_trait]
impl Tool for Write {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "write".into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<WriteArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        let args: WriteArguments = arguments::parse(args)?;
        let given_path = args.path.clone();
        self.previews.intent(&plan(args, cwd, &self.options)?, &given_path)
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let args: WriteArguments = arguments::parse(args)?;
        let (cwd, options) = (context.runner.cwd(), self.options.clone());
        self.previews.apply(context.cancel, move || plan(args, &cwd, &options)).await
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    };

    use cohab_agent::port::Effect;
    use serde_json::{Value, json};

    use super::super::testing::{call, folder, intent, make_pipe, options, run};
    use super::*;

    async fn write(cwd: &Path, path: &str, content: &str) -> Result<ToolOutput, String> {
        run(&Write::new(&options(cwd)), cwd, &json!({"path": path, "content": content})).await
    }

    fn diff_of(cwd: &Path, args: &Value) -> String {
        match intent(&Write::new(&options(cwd)), cwd, args).unwrap().effect {
            Effect::Write { diff, .. } => diff.to_string(),
            other => panic!("not a write: {other:?}"),
        }
    }

    #[tokio::test]
    async fn a_new_file_gets_its_folders_and_the_usual_mode() {
        let (_guard, dir) = folder();
        let output = write(&dir, "a/b/new.txt", "one\ntwo\n").await.unwrap();
        let path = dir.join("a/b/new.txt");
        assert_eq!(fs::read_to_string(&path).unwrap(), "one\ntwo\n");
        assert_eq!(output.content, format!("created {}: 2 lines added, 0 removed", path.display()));
        assert_eq!(output.summary, "new, +2");
        fs::write(dir.join("usual"), "").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode(), fs::metadata(dir.join("usual")).unwrap().mode());
    }

    #[tokio::test]
    async fn an_old_file_is_replaced_through_links_and_keeps_its_mode() {
        let (_guard, dir) = folder();
        fs::write(dir.join("real.sh"), "old\n").unwrap();
        fs::set_permissions(dir.join("real.sh"), fs::Permissions::from_mode(0o750)).unwrap();
        symlink("real.sh", dir.join("link.sh")).unwrap();
        assert_eq!(write(&dir, "link.sh", "new\n").await.unwrap().summary, "+1 -1");
        assert_eq!(fs::read_to_string(dir.join("real.sh")).unwrap(), "new\n");
        assert_eq!(fs::metadata(dir.join("real.sh")).unwrap().mode() & 0o7777, 0o750);
        assert!(fs::symlink_metadata(dir.join("link.sh")).unwrap().is_symlink());
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 2);
    }

    #[test]
    fn the_intent_shows_the_whole_difference_and_touches_nothing() {
        let (_guard, dir) = folder();
        fs::write(dir.join("f"), "a\nb\nc\n").unwrap();
        let name = dir.join("f").display().to_string();
        let diff = diff_of(&dir, &json!({"path": "f", "content": "a\nB\nc"}));
        assert_eq!(
            diff,
            format!("--- {name}\n+++ {name}\n@@ -1,3 +1,3 @@\n a\n-b\n-c\n+B\n+c\n\\ No newline at end of file\n")
        );
        assert!(diff_of(&dir, &json!({"path": "x/new", "content": "1"})).starts_with("--- /dev/null\n+++ "));
        fs::write(dir.join("bin"), b"\0\xff").unwrap();
        assert!(diff_of(&dir, &json!({"path": "bin", "content": "1"})).contains("(2 bytes that are not text)"));
        assert!(!dir.join("x").exists());
        assert_eq!(fs::read_to_string(dir.join("f")).unwrap(), "a\nb\nc\n");
    }

    #[tokio::test]
    async fn nothing_is_written_when_the_file_or_its_meaning_changed_since_it_was_shown() {
        let (_guard, dir) = folder();
        let tool = Write::new(&options(&dir));
        let args = json!({"path": "f", "content": "mine"});
        let refused = |result: Result<ToolOutput, String>| result.unwrap_err().contains("changed meanwhile");

        assert!(refused(call(&tool, &dir, &args).await), "never shown");
        intent(&tool, &dir, &args).unwrap();
        fs::write(dir.join("f"), "theirs").unwrap();
        assert!(refused(call(&tool, &dir, &args).await), "appeared");
        intent(&tool, &dir, &args).unwrap();
        fs::write(dir.join("f"), "theirs too").unwrap();
        assert!(refused(call(&tool, &dir, &args).await), "changed");
        intent(&tool, &dir, &args).unwrap();
        fs::create_dir(dir.join("sub")).unwrap();
        assert!(refused(call(&tool, &dir.join("sub"), &args).await), "another folder");
        assert_eq!(fs::read_to_string(dir.join("f")).unwrap(), "theirs too");
        assert!(!dir.join("sub/f").exists());

        assert_eq!(call(&tool, &dir, &args).await.unwrap().summary, "+1 -1");
        fs::write(dir.join("f"), "theirs too").unwrap();
        assert!(refused(call(&tool, &dir, &args).await), "shown once, made once");
    }

    #[tokio::test]
    async fn senseless_targets_are_refused() {
        let (_guard, dir) = folder();
        fs::create_dir(dir.join("sub")).unwrap();
        fs::write(dir.join("file"), "same").unwrap();
        make_pipe(&dir.join("pipe"));
        symlink("gone", dir.join("dangling")).unwrap();
        for (path, expected) in [
            ("sub", "is a folder, not a file"),
            ("new/", "argument `path` names a folder, not a file"),
            ("pipe", "is a named pipe, not a regular file"),
            ("file/x", "a part of the path is a file, not a folder"),
            ("dangling", "is a link to gone, which does not exist"),
            ("/dev/null", "is a device, not a regular file"),
        ] {
            let error = write(&dir, path, "same").await.unwrap_err();
            assert!(error.ends_with(expected), "{path}: {error}");
        }
        let huge = "x\n".repeat(700_000);
        assert!(write(&dir, "huge", &huge).await.unwrap_err().contains("too large to be shown"));
        assert!(write(&dir, "huge", &huge.repeat(4)).await.unwrap_err().contains("longer than"));
        assert!(write(Path::new("/proc"), "x/y", "1").await.is_err());
    }

    #[tokio::test]
    async fn the_content_that_is_there_already_is_a_success() {
        let (_guard, dir) = folder();
        fs::write(dir.join("f"), "same").unwrap();
        let before = fs::metadata(dir.join("f")).unwrap();
        let output = write(&dir, "f", "same").await.unwrap();
        assert_eq!((output.summary.as_str(), output.is_failure), ("unchanged", false));
        assert_eq!(fs::metadata(dir.join("f")).unwrap().ino(), before.ino(), "nothing is written");
        let tool = Write::new(&options(&dir));
        let args = json!({"path": "f", "content": "same"});
        assert_eq!(intent(&tool, &dir, &args).unwrap().effect, Effect::Read { path: dir.join("f"), pattern: None });
        fs::write(dir.join("f"), "other").unwrap();
        assert!(call(&tool, &dir, &args).await.unwrap_err().contains("changed meanwhile"), "it was not shown");
    }

    #[tokio::test]
    async fn a_file_that_may_not_be_written_is_not_replaced() {
        let (_guard, dir) = folder();
        fs::write(dir.join("f"), "old").unwrap();
        fs::set_permissions(dir.join("f"), fs::Permissions::from_mode(0o444)).unwrap();
        let result = write(&dir, "f", "new").await;
        if rustix::process::geteuid().is_root() {
            assert_eq!(result.unwrap().summary, "+1 -1");
        } else {
            assert!(result.unwrap_err().ends_with("is not writable: permission denied"));
        }
    }

    #[tokio::test]
    async fn other_hard_links_are_mentioned() {
        let (_guard, dir) = folder();
        fs::write(dir.join("f"), "old").unwrap();
        fs::hard_link(dir.join("f"), dir.join("g")).unwrap();
        assert!(write(&dir, "f", "new").await.unwrap().content.contains("other hard links"));
        assert_eq!(fs::read_to_string(dir.join("g")).unwrap(), "old");
    }
}
