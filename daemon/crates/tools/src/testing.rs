//! Shared fixtures of the tool tests.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    port::{Intent, NoSink, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_context::ignore_rules::IgnoreRules;
use cohab_model_api::JsonObject;
use cohab_types::command::{CommandOutcome, CommandRequest, Ending, Mode, RelayError, StateAfter};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ToolOptions;

pub(super) fn options(home: &Path) -> ToolOptions {
    ToolOptions {
        home: home.to_owned(),
        command_timeout: Duration::from_secs(120),
        output_max_bytes: 64 * 1024,
        ignore: IgnoreRules::new(home.to_owned(), home.join(".config/cohab/ignore")),
    }
}

/// A shell that gives one prepared answer and records its requests.
pub(super) struct ScriptedRunner {
    pub(super) cwd: PathBuf,
    pub(super) answer: Result<CommandOutcome, RelayError>,
    pub(super) asked: Mutex<Vec<CommandRequest>>,
}

impl ScriptedRunner {
    pub(super) fn new(cwd: &Path) -> Self {
        let outcome = CommandOutcome {
            ending: Ending::Exited,
            status: Some(0),
            cwd: cwd.to_owned(),
            output: String::new(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::from_millis(40),
            mode: Mode::Live,
            state_after: StateAfter::Prompt,
            env_delta: Vec::new(),
            first_run: None,
        };
        Self { cwd: cwd.to_owned(), answer: Ok(outcome), asked: Mutex::default() }
    }
}

#[async_trait]
impl CommandRunner for ScriptedRunner {
    async fn run(&self, request: CommandRequest, _cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        self.asked.lock().unwrap().push(request);
        self.answer.clone()
    }

    fn cwd(&self) -> PathBuf {
        self.cwd.clone()
    }
}

pub(super) fn object(args: &Value) -> JsonObject {
    args.as_object().expect("tests pass objects").clone()
}

pub(super) fn intent(tool: &dyn Tool, cwd: &Path, args: &Value) -> Result<Intent, String> {
    tool.intent(&object(args), cwd)
}

/// Calls without asking for the intent before.
pub(super) async fn call(tool: &dyn Tool, cwd: &Path, args: &Value) -> Result<ToolOutput, String> {
    call_with(tool, &ScriptedRunner::new(cwd), &CancellationToken::new(), args).await
}

pub(super) async fn call_with(
    tool: &dyn Tool,
    runner: &ScriptedRunner,
    cancel: &CancellationToken,
    args: &Value,
) -> Result<ToolOutput, String> {
    tool.call(
        &object(args),
        &ToolContext { runner, approval: None, run_id: String::new(), is_check: false, cancel, sink: &NoSink },
    )
    .await
}

/// Calls as a turn does: intent, then call.
pub(super) async fn run(tool: &dyn Tool, cwd: &Path, args: &Value) -> Result<ToolOutput, String> {
    intent(tool, cwd, args)?;
    call(tool, cwd, args).await
}

/// A temporary folder and its path without links.
pub(super) fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

pub(super) fn make_pipe(path: &Path) {
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
}
