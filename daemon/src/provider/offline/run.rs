//! How a plan meets the conversation. The assistant keeps no state: for every request the plan is run from its start, the results
//! that are already there answer its calls in order, and the first call without a result is what the model asks for next.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::{
    answer::{block_tail, code},
    context::Question,
};
use crate::agent::port::{JsonObject, ToolResult};

/// Why a plan does not go on now.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Halt {
    /// It needs this tool call first.
    Call {
        /// Name of the tool.
        tool: &'static str,
        /// Its arguments.
        args: JsonObject,
    },
    /// It is over early; the text says why.
    Over(String),
}

/// What a plan found out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// Markdown, without the label.
    pub(super) text: String,
    /// The file or folder a following "it" means.
    pub(super) subject: Option<String>,
}

impl Reply {
    /// An answer that leaves nothing to point at.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: None }
    }

    /// An answer about a file or folder.
    pub(super) fn about(subject: &str, text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: Some(subject.to_owned()) }
    }
}

/// Result of a plan: an answer, or why it stops here.
pub(super) type Step = Result<Reply, Halt>;

/// Output of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// As it was asked for.
    pub(super) command: String,
    /// What it printed, without the notes of the tool.
    pub(super) text: String,
    /// Whether it failed: exit status other than 0, or the tool failed.
    pub(super) failed: bool,
}

impl Output {
    /// Lines that are not blank.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.text.lines().filter(|line| !line.trim().is_empty()).collect()
    }

    /// The first line that is not blank.
    pub(super) fn first(&self) -> Option<&str> {
        self.text.lines().map(str::trim).find(|line| !line.is_empty())
    }

    /// A sentence that the command failed, with what it printed.
    pub(super) fn failure(&self) -> String {
        let lines = self.lines();
        let head = format!("{} did not work", code(&self.command));
        if lines.is_empty() { format!("{head}.") } else { format!("{head}:\n\n{}", block_tail(&lines)) }
    }
}

/// A plan's access to the conversation.
pub(super) struct Run<'a> {
    results: VecDeque<&'a ToolResult>,
    tools: Vec<&'a str>,
    /// The question with the shell's history.
    pub(super) question: &'a Question,
    /// What "it" means: the subject of the plan before.
    pub(super) subject: Option<String>,
}

impl<'a> Run<'a> {
    /// `results` are those since the question, `tools` those that may be called now.
    pub(super) fn new(question: &'a Question, results: VecDeque<&'a ToolResult>, tools: Vec<&'a str>) -> Self {
        Self { results, tools, question, subject: None }
    }

    /// Runs a shell line; a failing command is a result.
    pub(super) fn attempt(&mut self, line: &str) -> Result<Output, Halt> {
        if !self.has_tool("bash") && self.results.is_empty() {
            return Err(Halt::Over(format!("I may not run commands here. This line would tell: {}", code(line))));
        }
        let result = self.call("bash", json!({ "command": line }), line)?;
        Ok(read_output(line, result))
    }

    /// Runs a shell line that has to work.
    pub(super) fn shell(&mut self, line: &str) -> Result<Output, Halt> {
        let output = self.attempt(line)?;
        if output.failed { Err(Halt::Over(output.failure())) } else { Ok(output) }
    }

    /// Writes a file with the tool made for it, so that the gate can show what changes.
    pub(super) fn write(&mut self, path: &str, content: &str) -> Result<(), Halt> {
        if !self.has_tool("write") && self.results.is_empty() {
            return Err(Halt::Over("I may not write files here.".to_owned()));
        }
        let result = self.call("write", json!({ "path": path, "content": content }), path)?;
        if result.is_error {
            return Err(Halt::Over(format!("{} was not written: {}", code(path), result.content.trim())));
        }
        Ok(())
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(&name)
    }

    fn call(&mut self, tool: &'static str, args: Value, title: &str) -> Result<&'a ToolResult, Halt> {
        let Some(result) = self.results.pop_front() else {
            let Value::Object(args) = args else { unreachable!("arguments are written as an object") };
            return Err(Halt::Call { tool, args });
        };
        if result.is_error && is_refusal(&result.content) {
            return Err(Halt::Over(format!("You refused {}, so it was not done.", code(title))));
        }
        Ok(result)
    }
}

fn is_refusal(content: &str) -> bool {
    let text = content.to_lowercase();
    ["refused", "not approved", "denied by the user", "cancelled by the user", "declined"]
        .iter()
        .any(|word| text.lines().next().is_some_and(|line| line.contains(word)))
}

/// Takes the notes of the tool about status, folder and environment off the output.
fn read_output(command: &str, result: &ToolResult) -> Output {
    let mut lines: Vec<&str> = result.content.lines().collect();
    let mut status = None;
    while let Some(note) = lines.last().and_then(|line| Note::read(line)) {
        lines.pop();
        status = status.or(note.status());
    }
    let heads = lines.iter().map_while(|line| Note::read(line)).collect::<Vec<_>>();
    for note in &heads {
        status = status.or(note.status());
    }
    let text = lines.get(heads.len()..).unwrap_or_default().join("\n");
    Output { command: command.to_owned(), text, failed: result.is_error || status.is_some_and(|status| status != 0) }
}

/// A line the tool adds to the output of the command.
enum Note {
    Status(i32),
    Other,
}

impl Note {
    fn read(line: &str) -> Option<Self> {
        let line = line.trim().trim_start_matches(['[', '(']).trim_end_matches([']', ')', '.']);
        if line.is_empty() {
            return Some(Self::Other);
        }
        for head in ["exit status", "exit code", "exited with status", "exit"] {
            if let Some(rest) = line.strip_prefix(head) {
                let digits = rest.trim_start_matches([':', ' ', '=']);
                let number = digits.split(|letter: char| !letter.is_ascii_digit() && letter != '-').next();
                if let Some(status) = number.and_then(|number| number.parse().ok()) {
                    return Some(Self::Status(status));
                }
            }
        }
        let is_note = ["cwd ", "cwd: ", "no output", "working directory: ", "environment: ", "duration: "]
            .iter()
            .any(|head| line.starts_with(head));
        is_note.then_some(Self::Other)
    }

    fn status(&self) -> Option<i32> {
        match self {
            Self::Status(status) => Some(*status),
            Self::Other => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: &str, is_error: bool) -> ToolResult {
        ToolResult { call_id: "offline_0".into(), tool: "bash".into(), content: content.into(), is_error }
    }

    #[test]
    fn the_notes_of_the_tool_are_taken_off_on_either_end() {
        for content in ["exit 1\ncwd /tmp\na\n\nb", "a\n\nb\n[exit status 1]\n[cwd: /tmp]", "a\n\nb\n\nexit code: 1"] {
            let output = read_output("x", &result(content, false));
            assert_eq!((output.text.as_str(), output.failed), ("a\n\nb", true), "{content:?}");
        }
        let output = read_output("x", &result("(no output)\nexit 0", false));
        assert_eq!((output.text.as_str(), output.failed), ("", false));
    }

    #[test]
    fn output_without_notes_stays_whole() {
        let output = read_output("x", &result("exits: 3 doors\nexit the room", false));
        assert_eq!((output.text.as_str(), output.failed), ("exits: 3 doors\nexit the room", false));
    }

    #[test]
    fn a_refusal_ends_the_plan_with_words() {
        let question = Question::default();
        let refused = result("refused by the user: not now", true);
        let mut run = Run::new(&question, VecDeque::from([&refused]), vec!["bash"]);
        let Err(Halt::Over(text)) = run.attempt("rm x") else { panic!("the plan went on") };
        assert!(text.contains("not done"));
    }

    #[test]
    fn without_the_tool_the_line_is_only_named() {
        let question = Question::default();
        let mut run = Run::new(&question, VecDeque::new(), vec!["read"]);
        assert!(matches!(run.attempt("ls"), Err(Halt::Over(text)) if text.contains("`ls`")));
    }
}
