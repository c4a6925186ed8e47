//! The tools of the loop that only agents call: an action of the agent's own, and a look at the live shell.

use std::{fmt::Write as _, path::Path, sync::Arc};

use async_trait::async_trait;
use cohab_agent::port::{Agreed, Effect, Intent, Tool, ToolContext, ToolOutput};
use cohab_model_api::{JsonObject, ToolSpec};
use cohab_text::sanitize::{one_line, sanitize};
use serde_json::{Value, json};

use crate::{
    failure::shown,
    tool_names::{ACTION, INFO},
    turn::AgentTurn,
};

/// Longest line of a command that is shown.
const LINE_MAX_COLUMNS: usize = 1_000;
/// Most lines of an output in one answer, unless fewer are asked for.
const PAGE_LINES: usize = 200;
/// Most commands that a search shows.
const MAX_FOUND: usize = 50;
/// Longest title of a step, in columns.
const TITLE_COLUMNS: usize = 100;

/// An action that the agent does itself, once it may: cohab asks, and does nothing.
pub struct AgentAction {
    /// The agent's name for people.
    pub by: String,
}

#[async_trait]
impl Tool for AgentAction {
    fn spec(&self) -> ToolSpec {
        let text = json!({"type": "string"});
        ToolSpec {
            name: ACTION.to_owned(),
            description: "An action that an agent does itself.".to_owned(),
            parameters: json!({"type": "object", "properties": {"action": text, "details": text}}),
        }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or_default();
        let action = shown(text("action"));
        let effect = Effect::Foreign {
            by: self.by.clone(),
            action: action.clone(),
            details: sanitize(text("details")).into(),
            agreed: Agreed::No,
        };
        Ok(Intent { title: one_line(&action, TITLE_COLUMNS), effect })
    }

    async fn call(&self, _args: &JsonObject, _context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let content = "The user allowed it; the agent does it itself.".to_owned();
        Ok(ToolOutput::text(content, "allowed".to_owned()))
    }
}

/// A command of the live shell, as far as the session knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownCommand {
    /// Its line.
    pub line: Option<String>,
    /// Exit status.
    pub exit: i32,
    /// The folder afterwards.
    pub cwd: String,
    /// The end of its output.
    pub output: String,
}

/// The commands that the session knows, oldest first.
pub type Commands = Arc<dyn Fn() -> Vec<KnownCommand> + Send + Sync>;

/// A look at the live shell: its folder, its last commands, their output.
pub struct ShellInfo {
    /// The known commands.
    pub commands: Commands,
}

#[async_trait]
impl Tool for ShellInfo {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: INFO.to_owned(),
            description: "Looks at the user's live shell.".to_owned(),
            parameters: json!({"type": "object", "properties": {
                "what": {"type": "string", "enum": ["cwd", "last_command", "output", "history_search"]},
                "query": {"type": "string"}, "from_line": {"type": "integer"}, "lines": {"type": "integer"},
            }, "required": ["what"]}),
        }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let what = args.get("what").and_then(Value::as_str).unwrap_or_default();
        if !["cwd", "last_command", "output", "history_search"].contains(&what) {
            return Err("`what` must be one of `cwd`, `last_command`, `output`, `history_search`".to_owned());
        }
        let query = args.get("query").and_then(Value::as_str).map(|query| format!(" {query}")).unwrap_or_default();
        Ok(Intent { title: one_line(&format!("{what}{query}"), TITLE_COLUMNS), effect: Effect::Internal })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let number =
            |name: &str| args.get(name).and_then(Value::as_u64).and_then(|number| usize::try_from(number).ok());
        let commands = (self.commands)();
        let last = commands.last();
        let none = || "no command is known yet".to_owned();
        let content = match args.get("what").and_then(Value::as_str).unwrap_or_default() {
            "cwd" => context.runner.cwd().display().to_string(),
            "last_command" => last.map_or_else(none, described),
            "output" => last.map_or_else(none, |last| page(&last.output, number("from_line"), number("lines"))),
            _ => {
                let query = args.get("query").and_then(Value::as_str).unwrap_or_default();
                search(&commands, query, number("lines"))
            }
        };
        let summary = match content.lines().count() {
            1 => "1 line".to_owned(),
            lines => format!("{lines} lines"),
        };
        Ok(ToolOutput::text(content, summary))
    }
}

fn described(command: &KnownCommand) -> String {
    let line =
        command.line.as_deref().map_or_else(|| "(not known)".to_owned(), |line| one_line(line, LINE_MAX_COLUMNS));
    format!("$ {line}\nexit {} in {}", command.exit, one_line(&command.cwd, LINE_MAX_COLUMNS))
}

/// Some lines of an output, with the place where the next ones begin.
fn page(output: &str, from_line: Option<usize>, lines: Option<usize>) -> String {
    let first = from_line.unwrap_or(1).max(1);
    let count = lines.unwrap_or(PAGE_LINES).clamp(1, PAGE_LINES);
    let total = output.lines().count();
    let shown: Vec<&str> = output.lines().skip(first - 1).take(count).collect();
    let last = first - 1 + shown.len();
    let mut text = sanitize(&shown.join("\n"));
    if shown.is_empty() {
        text = format!("[there are {total} lines, none from line {first} on]");
    } else if last < total {
        // Writing to a String cannot fail.
        let _ = write!(text, "\n[lines {first} to {last} of {total}; go on with from_line {}]", last + 1);
    }
    text
}

fn search(commands: &[KnownCommand], query: &str, most: Option<usize>) -> String {
    let most = most.unwrap_or(MAX_FOUND).clamp(1, MAX_FOUND);
    let is_found = |command: &&KnownCommand| command.line.as_deref().is_some_and(|line| line.contains(query));
    let found: Vec<String> = commands.iter().rev().filter(is_found).take(most).map(described).collect();
    if found.is_empty() { "no known command contains that".to_owned() } else { found.join("\n") }
}

/// A tool that reads a file exactly, and tells the turn what it read.
pub struct ExactReader {
    inner: Arc<dyn Tool>,
    turn: Arc<AgentTurn>,
}

impl ExactReader {
    /// Tells `turn` what `inner` reads.
    #[must_use]
    pub fn new(inner: Arc<dyn Tool>, turn: Arc<AgentTurn>) -> Self {
        Self { inner, turn }
    }
}

#[async_trait]
impl Tool for ExactReader {
    fn spec(&self) -> ToolSpec {
        self.inner.spec()
    }

    fn intent(&self, args: &JsonObject, cwd: &Path) -> Result<Intent, String> {
        self.inner.intent(args, cwd)
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let output = self.inner.call(args, context).await?;
        self.turn.note_exact(&output.content);
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(line: &str, output: &str) -> KnownCommand {
        KnownCommand { line: Some(line.into()), exit: 0, cwd: "/w".into(), output: output.into() }
    }

    #[test]
    fn an_output_comes_in_pages() {
        let output = "a\nb\nc\nd";
        assert_eq!(page(output, None, Some(2)), "a\nb\n[lines 1 to 2 of 4; go on with from_line 3]");
        assert_eq!(page(output, Some(3), None), "c\nd");
        assert_eq!(page(output, Some(9), None), "[there are 4 lines, none from line 9 on]");
        assert_eq!(page(output, Some(0), Some(0)), "a\n[lines 1 to 1 of 4; go on with from_line 2]");
    }

    #[test]
    fn a_search_shows_the_newest_first() {
        let commands = [command("make a", ""), command("ls", ""), command("make b", "")];
        assert_eq!(search(&commands, "make", None), "$ make b\nexit 0 in /w\n$ make a\nexit 0 in /w");
        assert_eq!(search(&commands, "make", Some(1)), "$ make b\nexit 0 in /w");
        assert_eq!(search(&commands, "nothing", None), "no known command contains that");
    }

    #[test]
    fn an_action_is_foreign_and_shows_no_escapes() {
        let args = json!({"action": "edit\u{1b}[2J a.rs", "details": "file: a.rs\n\u{1b}]0;x\u{7}"});
        let tool = AgentAction { by: "agent codex".into() };
        let intent = tool.intent(args.as_object().expect("an object"), Path::new("/w")).expect("an intent");
        let Effect::Foreign { by, action, details, agreed } = intent.effect else { panic!("not foreign") };
        assert_eq!((by.as_str(), agreed), ("agent codex", Agreed::No));
        assert!(!action.contains('\u{1b}') && !details.contains('\u{1b}') && details.starts_with("file: a.rs\n"));
    }
}
