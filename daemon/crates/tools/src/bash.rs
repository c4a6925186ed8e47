//! `bash` runs a command in the shell.

use std::{borrow::Cow, fmt::Write as _, path::Path, time::Duration};

use async_trait::async_trait;
use cohab_agent::{
    builtin_tools::LIVE,
    port::{Effect, Intent, Tool, ToolContext, ToolOutput},
};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_sandbox::profile;
use cohab_types::command::{CommandOutcome, CommandRequest, Ending, EnvChange, Interrupter, Mode, StateAfter};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ToolOptions, arguments, render};

/// Longest command; the relay takes no more.
const COMMAND_MAX_BYTES: usize = 4 * 1024 * 1024;
/// Longest timeout a model may ask for, in milliseconds.
const TIMEOUT_MAX_MS: u64 = 3_600_000;
/// Changed variables that are listed; more are counted.
const ENV_CHANGES_MAX: usize = 20;
/// Longest value of a changed variable that is shown.
const ENV_VALUE_MAX_BYTES: usize = 200;

const DESCRIPTION: &str = "Runs a command in the user's own interactive shell, where the user sees it. `cd`, `export`, \
`alias` and functions stick, for later commands and for the user. The result is the output (stdout and stderr together), then \
a line with exit status, working directory and what changed. A command that is still running at its timeout is not killed. \
Output of background jobs (`cmd &`) shows up in the result of whatever runs later: redirect it to a file. Do not start \
programs that take over the screen or wait for input unless the user is meant to use them. `<secret:KIND#N-ID>` stands for a \
secret that you cannot see: as a word or in quotes in a command it is filled in, if the user agrees. To look at files prefer `read`, \
`glob` and `grep`; to change them, `edit` and `write`.";

pub(super) struct Bash {
    options: ToolOptions,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BashArguments<'a> {
    /// The shell line or script, as it would be typed.
    #[serde(borrow)]
    command: Cow<'a, str>,
    /// How long to wait for its end, in milliseconds; it is not killed then.
    #[schemars(range(min = 1, max = TIMEOUT_MAX_MS))]
    timeout_ms: Option<u64>,
}

impl Bash {
    pub(super) fn new(options: &ToolOptions) -> Self {
        Self { options: options.clone() }
    }

    fn report(&self, outcome: &CommandOutcome, cwd_before: &Path, timeout: Duration) -> ToolOutput {
        let output = &outcome.output;
        let gap = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
        let lines = outcome.output.lines().count();
        let amount = match (lines, outcome.truncated_bytes) {
            (0, _) => "no output".into(),
            (_, 0) => render::count(lines, "line"),
            // Only a part of the lines is here, so they cannot be counted.
            _ => format!("{} of output", render::bytes(outcome.total_bytes)),
        };
        let (is_failure, summary) = match (outcome.ending, outcome.status) {
            (Ending::Exited, Some(0)) => (false, amount),
            (Ending::Exited, Some(status)) => (true, format!("exit {status}, {amount}")),
            (Ending::Exited, None) => (true, "exit status unknown".into()),
            (Ending::Interrupted { by }, _) => (true, interrupted_by(by).0.into()),
            (Ending::Stopped, _) => (false, "stopped, now a job".into()),
            (Ending::StillRunning, _) => (false, "still running".into()),
            (Ending::ShellExited, _) => (true, "the shell ended".into()),
        };
        let hint = if profile::is_noted(output) { ", the sandbox may have stopped it" } else { "" };
        let summary = summary + hint;
        let first = outcome.first_run.as_ref();
        let first = first
            .map(|why| format!("[lock: first {why}; the user let it run once more, without the lock, as follows]\n"));
        let status = status_line(outcome, cwd_before, timeout);
        let content = format!("{}{output}{gap}{status}", first.unwrap_or_default());
        ToolOutput { is_failure, ..ToolOutput::text(content, summary) }
    }
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: LIVE.into(),
            description: DESCRIPTION.into(),
            parameters: arguments::schema::<BashArguments>(),
        }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let BashArguments { command, .. } = arguments::parse(args)?;
        if command.trim().is_empty() {
            return Err("argument `command` is empty".into());
        }
        if command.contains('\0') {
            return Err("argument `command` has a NUL in it, which no shell can take".into());
        }
        if command.len() > COMMAND_MAX_BYTES {
            return Err(format!("argument `command` is longer than {COMMAND_MAX_BYTES} bytes; put data into a file"));
        }
        Ok(Intent {
            title: render::one_line(&command, render::TITLE_MAX_CHARS),
            effect: Effect::RunCommand { command: command.into() },
        })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let BashArguments { command, timeout_ms } = arguments::parse(args)?;
        let timeout = timeout_ms.map_or(self.options.command_timeout, Duration::from_millis);
        let cwd_before = context.runner.cwd();
        let fresh = || uuid::Uuid::new_v4().simple().to_string();
        let id = if context.run_id.is_empty() { fresh() } else { context.run_id.clone() };
        let request = CommandRequest { id, text: command.into_owned(), timeout, wants_env_delta: true };
        let outcome = context.runner.run(request, context.cancel).await.map_err(|error| error.to_string())?;
        let output = self.report(&outcome, &cwd_before, timeout);
        let has_succeeded = (outcome.ending, outcome.status) == (Ending::Exited, Some(0));
        // A check that still runs, or was stopped, shows nothing yet.
        Ok(ToolOutput { is_failure: output.is_failure || context.is_check && !has_succeeded, ..output })
    }
}

/// One line in brackets: the end, the shell's folder, the duration, missing output, changed state.
fn status_line(outcome: &CommandOutcome, cwd_before: &Path, timeout: Duration) -> String {
    let status = outcome.status.map_or("exit status unknown".into(), |status| format!("exit {status}"));
    let mut parts = vec![match outcome.ending {
        Ending::Exited => status,
        Ending::Interrupted { by } => format!("{} ({status})", interrupted_by(by).1),
        Ending::Stopped => {
            "stopped by Ctrl-Z; it is a job of the shell now: `bg` lets it go on, `jobs` lists it".into()
        }
        Ending::StillRunning => still_running(&outcome.state_after, timeout),
        Ending::ShellExited => format!("the command ended the shell ({status})"),
    }];
    let moved = if outcome.cwd == cwd_before { "cwd" } else { "cwd is now" };
    parts.push(format!("{moved} {}", render::path(&outcome.cwd)));
    parts.push(render::duration(outcome.duration));
    match outcome.mode {
        Mode::Live => {}
        Mode::Subshell => parts.push("ran in a subshell: `cd`, `export` and the like did not stick".into()),
        Mode::Isolated => {
            parts.push("ran in a shell of its own: `cd`, `export` and the like did not stick".into());
        }
    }
    if outcome.truncated_bytes > 0 {
        parts.push(format!("{} of {} bytes of output left out", outcome.truncated_bytes, outcome.total_bytes));
    }
    if !outcome.env_delta.is_empty() {
        parts.push(env_changes(&outcome.env_delta));
    }
    format!("[{}]", parts.join("; "))
}

/// The same for the user, in short, and for the model.
fn interrupted_by(by: Interrupter) -> (&'static str, &'static str) {
    match by {
        Interrupter::User => ("interrupted", "interrupted by the user"),
        Interrupter::Turn => {
            ("interrupted by cohab: the turn had ended", "interrupted by cohab because the turn ended")
        }
        Interrupter::TimeLimit => ("interrupted by cohab: time limit", "interrupted by cohab at its time limit"),
    }
}

/// The command that has the shell, and the possible actions meanwhile.
fn still_running(state_after: &StateAfter, timeout: Duration) -> String {
    let holder = match state_after {
        StateAfter::InFront { program, is_full_screen: true } => format!("`{program}` has the whole screen"),
        StateAfter::InFront { program, .. } => format!("`{program}` has the shell"),
        StateAfter::Prompt | StateAfter::Ended => "it has the shell".into(),
    };
    format!(
        "still running after {}, not killed: {holder}, and nothing else runs there before it ends. Its later output is not \
         shown here. Calling `bash` again waits up to 30 s for its end; `read`, `glob` and `grep` work meanwhile; the user \
         can end it with Ctrl-C",
        render::duration(timeout)
    )
}

fn env_changes(changes: &[EnvChange]) -> String {
    let mut text = String::from("environment:");
    for change in changes.iter().take(ENV_CHANGES_MAX) {
        let name = render::cut_end(&change.name, ENV_VALUE_MAX_BYTES);
        // Writing to a String cannot fail.
        let _ = match &change.value {
            Some(value) => {
                write!(text, " {name}={:?}", render::cut_end(value, ENV_VALUE_MAX_BYTES))
            }
            None => write!(text, " {name} unset"),
        };
    }
    if let Some(more) = changes.len().checked_sub(ENV_CHANGES_MAX).filter(|more| *more > 0) {
        let _ = write!(text, " and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use cohab_types::{command::RelayError, refusal::Refusal};
    use serde_json::{Value, json};
    use tokio_util::sync::CancellationToken;

    use super::super::testing::{ScriptedRunner, call_with, intent, options};
    use super::*;

    fn tool() -> Bash {
        Bash::new(&options(Path::new("/home/me")))
    }

    async fn run(runner: &ScriptedRunner, args: &Value) -> Result<ToolOutput, String> {
        call_with(&tool(), runner, &CancellationToken::new(), args).await
    }

    #[test]
    fn the_intent_shows_the_exact_command_and_a_title_of_one_line() {
        let command = "for i in 1 2\ndo echo $i\ndone";
        let intent = intent(&tool(), Path::new("/w"), &json!({"command": command})).unwrap();
        assert_eq!(intent.title, "for i in 1 2 (+2 lines)");
        assert_eq!(intent.effect, Effect::RunCommand { command: command.into() });
    }

    #[test]
    fn commands_no_shell_can_take_are_refused() {
        let error = |args: Value| intent(&tool(), Path::new("/w"), &args).unwrap_err();
        assert_eq!(error(json!({"command": " \n"})), "argument `command` is empty");
        assert!(error(json!({"command": "a\u{0}b"})).contains("NUL"));
        assert!(error(json!({"command": "x".repeat(COMMAND_MAX_BYTES + 1)})).contains("longer than"));
        assert!(error(json!({"command": "ls", "timeout_ms": 0})).contains("`timeout_ms`"));
        assert!(error(json!({"comand": "ls"})).contains("Did you mean `command`?"));
    }

    #[tokio::test]
    async fn the_request_carries_text_timeout_and_a_fresh_hexadecimal_id() {
        let runner = ScriptedRunner::new(Path::new("/w"));
        run(&runner, &json!({"command": " ls "})).await.unwrap();
        run(&runner, &json!({"command": "ls", "timeout_ms": 7})).await.unwrap();
        let asked = runner.asked.lock().unwrap();
        assert_eq!((asked[0].text.as_str(), asked[0].timeout), (" ls ", Duration::from_secs(120)));
        assert_eq!(asked[1].timeout, Duration::from_millis(7));
        assert!(asked[0].wants_env_delta && asked[0].id != asked[1].id);
        assert!(asked[0].id.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')));
    }

    #[tokio::test]
    async fn the_result_is_the_output_and_a_status_line() {
        let mut runner = ScriptedRunner::new(Path::new("/w"));
        let outcome = runner.answer.as_mut().unwrap();
        outcome.output = "one\ntwo".into();
        outcome.status = Some(3);
        outcome.cwd = "/w/sub".into();
        outcome.total_bytes = 900;
        outcome.truncated_bytes = 890;
        outcome.env_delta = vec![
            EnvChange { name: "FOO".into(), value: Some("a\nb".into()) },
            EnvChange { name: "OLD".into(), value: None },
        ];
        let output = run(&runner, &json!({"command": "x"})).await.unwrap();
        assert_eq!(
            output.content,
            "one\ntwo\n[exit 3; cwd is now /w/sub; 0.04 s; 890 of 900 bytes of output left out; \
             environment: FOO=\"a\\nb\" OLD unset]"
        );
        assert_eq!((output.summary.as_str(), output.is_failure), ("exit 3, 900 bytes of output", true));
    }

    #[tokio::test]
    async fn every_ending_and_mode_is_explained() {
        let mut runner = ScriptedRunner::new(Path::new("/w"));
        let mut of = async |ending, status, mode| {
            let outcome = runner.answer.as_mut().unwrap();
            (outcome.ending, outcome.status, outcome.mode) = (ending, status, mode);
            run(&runner, &json!({"command": "x", "timeout_ms": 2000})).await.unwrap()
        };
        let done = of(Ending::Exited, Some(0), Mode::Live).await;
        assert_eq!((done.content.as_str(), done.summary.as_str()), ("[exit 0; cwd /w; 0.04 s]", "no output"));
        let running = of(Ending::StillRunning, None, Mode::Live).await;
        assert!(running.content.starts_with("[still running after 2.00 s, not killed: it has the shell, and"));
        assert!(!running.is_failure);
        assert!(of(Ending::Stopped, Some(148), Mode::Live).await.content.contains("`jobs` lists it"));
        let interrupted = of(Ending::Interrupted { by: Interrupter::User }, Some(130), Mode::Subshell).await;
        assert!(interrupted.content.starts_with("[interrupted by the user (exit 130); cwd /w"));
        assert!(interrupted.content.contains("subshell") && interrupted.is_failure);
        assert!(of(Ending::ShellExited, None, Mode::Isolated).await.content.contains("a shell of its own"));
        for (by, words) in
            [(Interrupter::Turn, "because the turn ended"), (Interrupter::TimeLimit, "at its time limit")]
        {
            let ended = of(Ending::Interrupted { by }, Some(143), Mode::Isolated).await;
            let told = format!("[interrupted by cohab {words} (exit 143); cwd /w");
            assert!(ended.content.starts_with(&told), "{}", ended.content);
            assert!(ended.summary.starts_with("interrupted by cohab: ") && ended.is_failure, "{}", ended.summary);
        }
    }

    #[tokio::test]
    async fn what_has_the_shell_after_a_timeout_is_named() {
        for (program, is_full_screen, expected) in
            [("python3", false, "`python3` has the shell, and"), ("vim", true, "`vim` has the whole screen, and")]
        {
            let mut runner = ScriptedRunner::new(Path::new("/w"));
            let outcome = runner.answer.as_mut().unwrap();
            outcome.ending = Ending::StillRunning;
            outcome.state_after = StateAfter::InFront { program: program.into(), is_full_screen };
            let output = run(&runner, &json!({"command": "x"})).await.unwrap().content;
            assert!(output.contains(expected) && output.contains("Ctrl-C"), "{output}");
        }
    }

    #[tokio::test]
    async fn a_long_output_goes_on_whole_and_a_large_environment_is_bounded() {
        let mut runner = ScriptedRunner::new(Path::new("/w"));
        let outcome = runner.answer.as_mut().unwrap();
        outcome.output = "0123456789\n".repeat(100_000);
        outcome.env_delta =
            (0..500).map(|n| EnvChange { name: format!("V{n}"), value: Some("v".repeat(9_999)) }).collect();
        let output = run(&runner, &json!({"command": "x"})).await.unwrap();
        assert!(output.content.len() < 1_100_000 + 8 * 1024, "{}", output.content.len());
        assert!(output.content.starts_with(&"0123456789\n".repeat(100_000)) && output.content.contains("and 480 more"));
        assert_eq!(output.summary, "100000 lines");
    }

    #[tokio::test]
    async fn a_command_that_did_not_run_is_an_error_with_the_reason() {
        let mut runner = ScriptedRunner::new(Path::new("/w"));
        runner.answer = Err(RelayError::Busy { refusal: Refusal::ShellBusy, reason: "vim runs in the shell".into() });
        assert_eq!(run(&runner, &json!({"command": "x"})).await.unwrap_err(), "vim runs in the shell");
    }
}
