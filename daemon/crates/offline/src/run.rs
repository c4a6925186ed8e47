//! Runs a plan against the conversation. The assistant keeps no state: each request runs the plan from its start, existing results answer
//! its calls in order, and the first call without a result becomes the model's next tool call.

use std::collections::VecDeque;

use cohab_memory::past::SEARCH_TOOL;
use cohab_model_api::{JsonObject, NO_APPROVER, ToolResult};
use cohab_types::refusal::UserRefusal;
use serde_json::{Value, json};

use super::{
    answer::{block_tail, code},
    context::Question,
    shell_line::is_plain_name,
    turns::Exchange,
};

/// The reason why a plan stops now.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Halt {
    /// The plan needs this tool call first.
    Call {
        /// Name of the tool.
        tool: &'static str,
        /// Its arguments.
        args: JsonObject,
    },
    /// The plan ended early; the text gives the reason.
    Over(String),
}

/// The meaning of "it" and "them" after an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Subject {
    /// The answer leaves nothing to refer to.
    #[default]
    Nothing,
    /// Files or folders.
    Files {
        /// In the order they were shown.
        names: Vec<String>,
        /// The line that lists them again, one name per line, for plans that act on them.
        again: Option<String>,
    },
    /// Process ids, in the order they were shown.
    Processes(Vec<u64>),
}

/// The result of a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Reply {
    /// Markdown, without the label.
    pub(super) text: String,
    /// The meaning of a following "it".
    pub(super) subject: Subject,
}

impl Reply {
    /// An answer without a subject.
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: Subject::Nothing }
    }

    /// An answer about a file or folder.
    pub(super) fn about(subject: &str, text: impl Into<String>) -> Self {
        Self::listing(vec![subject.to_owned()], None, text)
    }

    /// An answer that lists files; `again` is the line that lists them again.
    pub(super) fn listing(names: Vec<String>, again: Option<String>, text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: Subject::Files { names, again } }
    }

    /// An answer about processes.
    pub(super) fn about_processes(pids: Vec<u64>, text: impl Into<String>) -> Self {
        Self { text: text.into(), subject: Subject::Processes(pids) }
    }
}

/// Result of a plan: an answer, or the reason to stop here.
pub(super) type Step = Result<Reply, Halt>;

/// The next action: one tool call, or the answer.
pub(super) enum Next {
    Call { tool: &'static str, args: JsonObject },
    Answer(String),
}

/// What the step of one plan leads to.
pub(super) fn next(step: Step) -> Next {
    match step {
        Ok(reply) => Next::Answer(reply.text),
        Err(Halt::Call { tool, args }) => Next::Call { tool, args },
        Err(Halt::Over(text)) => Next::Answer(text),
    }
}

/// Output of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    /// The command as requested.
    pub(super) command: String,
    /// Printed text, without the notes of the tool.
    pub(super) text: String,
    /// Whether it failed: exit status other than 0, or the tool failed.
    pub(super) failed: bool,
    /// Whether `cd` and `export` stay in effect in the user's shell.
    pub(super) sticks: bool,
    /// Whether the tool omitted a part of the output.
    pub(super) is_cut: bool,
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

    /// A sentence that the command failed, with its output.
    pub(super) fn failure(&self) -> String {
        let lines = self.lines();
        if let Some(program) = self.missing_program() {
            return format!(
                "{} is not installed here. `install {program}` asks the package manager for it.",
                code(program)
            );
        }
        let head = format!("{} did not work", code(&self.command));
        if lines.is_empty() { format!("{head}.") } else { format!("{head}:\n\n{}", block_tail(&lines)) }
    }
}

impl Output {
    /// The program that the shell did not find, as in `bash: line 1: cal: command not found`.
    fn missing_program(&self) -> Option<&str> {
        let program = self.first()?.strip_suffix(": command not found")?.rsplit(": ").next()?;
        (self.failed && is_plain_name(program)).then_some(program)
    }
}

/// The tool's reason not to run a call, which may name a command in backticks.
fn sentence(reason: &str) -> String {
    let is_plain = !reason.contains(['\n', '*', '_', '<', '[', '#']);
    let text = if is_plain { reason.trim_end_matches('.').to_owned() } else { code(reason) };
    let hint = if reason.contains(NO_APPROVER) { " Type it yourself, or ask with `--approve all`." } else { "" };
    format!("{text}.{hint}")
}

/// A plan's access to the conversation.
pub(super) struct Run<'a> {
    exchanges: VecDeque<Exchange<'a>>,
    tools: Vec<&'a str>,
    /// The question with the shell's history.
    pub(super) question: &'a Question,
    /// The meaning of "it": the subject of the plan before, in this turn or in an earlier one.
    pub(super) subject: Subject,
}

impl<'a> Run<'a> {
    /// `exchanges` are the exchanges since the question, `tools` the tools that may be called now.
    pub(super) fn new(question: &'a Question, exchanges: &[Exchange<'a>], tools: Vec<&'a str>) -> Self {
        Self { exchanges: exchanges.iter().copied().collect(), tools, question, subject: Subject::Nothing }
    }

    /// Sets the meaning of "it".
    pub(super) fn about(self, subject: Subject) -> Self {
        Self { subject, ..self }
    }

    /// Runs a shell line; a failing command is a result.
    pub(super) fn attempt(&mut self, line: &str) -> Result<Output, Halt> {
        if !self.has_tool("bash") && self.exchanges.is_empty() {
            return Err(Halt::Over(format!("I may not run commands here. This line gives the answer: {}", code(line))));
        }
        let result = self.call("bash", json!({ "command": line }), line)?;
        Ok(read_output(line, result))
    }

    /// Runs a shell line that must succeed.
    pub(super) fn shell(&mut self, line: &str) -> Result<Output, Halt> {
        let output = self.attempt(line)?;
        if output.failed { Err(Halt::Over(output.failure())) } else { Ok(output) }
    }

    /// Writes a file with the tool for it, so that the gate can show the change.
    pub(super) fn write(&mut self, path: &str, content: &str) -> Result<(), Halt> {
        if !self.has_tool("write") && self.exchanges.is_empty() {
            return Err(Halt::Over("I may not write files here.".to_owned()));
        }
        self.call("write", json!({ "path": path, "content": content }), path).map(|_| ())
    }

    /// Searches what was done before, and answers with what was found.
    pub(super) fn search_past(&mut self, question: &str) -> Step {
        if !self.has_tool(SEARCH_TOOL) && self.exchanges.is_empty() {
            return Err(Halt::Over(
                "Memory is off: what was done is not kept. `cohab memory on` turns it on.".to_owned(),
            ));
        }
        let result = self.call(SEARCH_TOOL, json!({ "queries": [question], "kinds": ["done"] }), question)?;
        let has_command = result.content.contains("```");
        let hint = if has_command { "`? /insert 1` puts the first of these commands on your prompt." } else { "" };
        Ok(Reply::new(format!("{}\n\n{hint}", result.content.trim_end())))
    }

    fn has_tool(&self, name: &str) -> bool {
        self.tools.contains(&name)
    }

    fn call(&mut self, tool: &'static str, args: Value, title: &str) -> Result<&'a ToolResult, Halt> {
        let Value::Object(args) = args else { unreachable!("arguments are written as an object") };
        // An answer to another call, as an older plan may have made it, does not answer this call.
        let Some(Exchange { result, .. }) = self.exchanges.pop_front().filter(|exchange| *exchange.args == args) else {
            return Err(Halt::Call { tool, args });
        };
        if result.is_error {
            // A command that ran and failed is not an error of the tool; a call with an error never ran.
            let reason = result.content.trim();
            let said = if UserRefusal::read(reason).is_some() {
                format!("You refused {}, so it was not done.", code(title))
            } else {
                format!("{} was not done: {}", code(title), sentence(reason))
            };
            return Err(Halt::Over(said));
        }
        Ok(result)
    }
}

/// Removes the tool's last line, `[exit 3; cwd /w; 0.04 s; ...]`, from the output.
fn read_output(command: &str, result: &ToolResult) -> Output {
    let content = result.content.trim_end();
    let (body, last) = content.rsplit_once('\n').unwrap_or(("", content));
    let note = last.strip_prefix('[').and_then(|note| note.strip_suffix(']')).filter(|note| note.contains("; cwd"));
    let ending = note.and_then(|note| note.split(';').next());
    let is_gap = |line: &str| line.starts_with('[') && line.ends_with(" bytes left out]");
    Output {
        is_cut: note.is_some_and(|note| note.contains("left out")) || content.lines().any(is_gap),
        command: command.to_owned(),
        text: if note.is_some() { body.to_owned() } else { result.content.clone() },
        failed: result.is_error || ending.is_some_and(|ending| ending != "exit 0"),
        sticks: !note.is_some_and(|note| note.contains("did not stick")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(content: &str, is_error: bool) -> ToolResult {
        ToolResult { call_id: "offline_0".into(), tool: "bash".into(), content: content.into(), is_error }
    }

    #[test]
    fn the_note_of_the_tool_is_taken_off() {
        let output = read_output("x", &result("a\n\nb\n[exit 1; cwd /w; 0.04 s]", false));
        assert_eq!((output.text.as_str(), output.failed, output.sticks), ("a\n\nb", true, true));
        let output = read_output(
            "x",
            &result(
                "[exit 0; cwd is now /w; 0.04 s; ran in a subshell: `cd`, `export` and the like did not stick]",
                false,
            ),
        );
        assert_eq!((output.text.as_str(), output.failed, output.sticks), ("", false, false));
        assert!(read_output("x", &result("a\n[still running after 2.00 s; cwd /w]", false)).failed);
    }

    #[test]
    fn output_with_a_gap_is_known_as_such() {
        for (content, is_cut) in [
            ("a\n[900 bytes left out]\nb\n[exit 0; cwd /w; 0.04 s]", true),
            ("a\n[exit 0; cwd /w; 0.04 s; 890 of 900 bytes of output left out]", true),
            ("a\n[exit 0; cwd /w; 0.04 s]", false),
        ] {
            assert_eq!(read_output("x", &result(content, false)).is_cut, is_cut, "{content}");
        }
    }

    #[test]
    fn output_without_a_note_stays_whole() {
        let output = read_output("x", &result("[exit 3]\n[doors]", false));
        assert_eq!((output.text.as_str(), output.failed), ("[exit 3]\n[doors]", false));
    }

    #[test]
    fn a_refusal_ends_the_plan_with_words() {
        let question = Question::default();
        let refused = result("the user refused: not now", true);
        let args = JsonObject::from_iter([("command".to_owned(), json!("rm x"))]);
        let exchange = Exchange { args: &args, result: &refused };
        let mut run = Run::new(&question, &[exchange], vec!["bash"]);
        let Err(Halt::Over(text)) = run.attempt("rm x") else { panic!("the plan went on") };
        assert!(text.starts_with("You refused `rm x`") && text.contains("not done"), "{text}");
        let mut other = Run::new(&question, &[exchange], vec!["bash"]);
        assert!(matches!(other.attempt("rm y"), Err(Halt::Call { .. })), "the answer belongs to another command");
    }

    #[test]
    fn without_the_tool_the_line_is_only_named() {
        let question = Question::default();
        let mut run = Run::new(&question, &[], vec!["read"]);
        assert!(matches!(run.attempt("ls"), Err(Halt::Over(text)) if text.contains("`ls`")));
    }
}
