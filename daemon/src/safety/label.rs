//! Where each text of a conversation comes from, and how far it is to be trusted.
//!
//! | origin | trust | what |
//! |---|---|---|
//! | user | 0.9 | the question itself |
//! | model | 0.7 | answers, summaries of ours |
//! | output, file | 0.6 | what commands print and files hold, in the workspace and of the system |
//! | external | 0.3 | what comes from another host, another folder, the clipboard, a pipe |
//!
//! The system prompt (1.0) is not part of a conversation.

use std::path::{Path, PathBuf};

use cohab_shell_relay::{
    policy::{Context, is_outside, outside_source},
    sanitize::one_line,
    shell::Shell,
};

use crate::{
    agent::port::{Message, ToolCall},
    context::query,
};

/// Letters of a source that people are told.
const SOURCE_CHARS: usize = 60;

/// Who made a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Whoever sits at the keyboard.
    User,
    /// The model.
    Model,
    /// A command's output.
    Output,
    /// A file.
    File,
    /// Somebody elsewhere.
    External,
}

impl Origin {
    /// How far a text from there is to be trusted, in tenths.
    #[must_use]
    pub fn trust_tenths(self) -> u8 {
        match self {
            Origin::User => 9,
            Origin::Model => 7,
            Origin::Output | Origin::File => 6,
            Origin::External => 3,
        }
    }
}

/// Where a text comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Who made it.
    pub origin: Origin,
    /// What exactly, in a few words; one line of harmless text.
    pub source: String,
}

impl Label {
    fn new(origin: Origin, source: &str) -> Self {
        Self { origin, source: one_line(source, SOURCE_CHARS) }
    }

    /// Whether somebody elsewhere may have written it.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.origin == Origin::External
    }
}

/// What "elsewhere" is measured by.
#[derive(Clone, Debug)]
pub struct Place {
    /// The user's home, absolute.
    pub home: PathBuf,
    /// The folder whose files are the user's own work: the repository's root or where the shell is, absolute.
    pub workspace: PathBuf,
    /// A folder of ours; what lies in it was labelled when it came.
    pub own_folder: Option<PathBuf>,
    /// The shell that reads commands.
    pub shell: Shell,
}

impl Place {
    fn of_command(&self, line: &str, cwd: &Path) -> Label {
        let context = Context::new(cwd, &self.home).in_shell(self.shell);
        match outside_source(line, context, &self.workspace) {
            Some(source) => Label::new(Origin::External, &format!("`{source}`")),
            None => Label::new(Origin::Output, line),
        }
    }

    fn of_file(&self, given: &str) -> Label {
        let path = match given.strip_prefix('~') {
            Some(rest) => self.home.join(rest.trim_start_matches('/')),
            None => self.workspace.join(given),
        };
        let is_own = self.own_folder.as_ref().is_some_and(|folder| path.starts_with(folder));
        let origin = if !is_own && is_outside(&path, &self.workspace) { Origin::External } else { Origin::File };
        Label::new(origin, &format!("`{given}`"))
    }

    /// What the result of a call is worth. Only the call is looked at: what a tool says proves nothing.
    fn of_result(&self, call: &ToolCall) -> Label {
        let Ok(args) = &call.args else { return Label::new(Origin::Model, "arguments that cannot be read") };
        let argument = |name: &str| args.get(name).and_then(|value| value.as_str());
        match (argument("command"), argument("path")) {
            (Some(line), _) => self.of_command(line, &self.workspace),
            (None, Some(path)) => self.of_file(path),
            (None, None) => Label::new(Origin::File, &call.name),
        }
    }

    /// The labels of one user message: of what the user did, of what was piped in, of the question.
    fn of_question(&self, text: &str, labels: &mut Vec<Label>) {
        if query::inside(text, query::EARLIER).is_some() {
            labels.push(Label::new(Origin::Model, EARLIER));
        }
        // Lines of output are indented, so nothing printed looks like a command.
        let mut lines = query::inside(text, "shell-history").unwrap_or_default().lines().peekable();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let mut command = command.to_owned();
            while let Some(more) = lines.peek().and_then(|line| line.strip_prefix("> ")) {
                command = format!("{command}\n{more}");
                lines.next();
            }
            let folder = lines.peek().and_then(|line| line.split_once(" in ")?.1.rsplit_once(" after "));
            let cwd = folder.map_or(self.workspace.as_path(), |(folder, _)| Path::new(folder));
            labels.push(self.of_command(&command, cwd));
            if is_outside(cwd, &self.workspace) {
                labels.push(Label::new(Origin::External, &format!("`{}`", cwd.display())));
            }
        }
        if query::inside(text, "piped-input").is_some() {
            labels.push(Label::new(Origin::External, "what was piped in"));
        }
        labels.push(Label::new(Origin::User, "the question"));
    }

    /// The labels of these messages, in their order.
    #[must_use]
    pub fn labels(&self, messages: &[Message]) -> Vec<Label> {
        let mut labels = Vec::new();
        let mut calls: &[ToolCall] = &[];
        for message in messages {
            match message {
                Message::User { text } => self.of_question(text, &mut labels),
                Message::Assistant(message) => {
                    calls = &message.tool_calls;
                    labels.push(Label::new(Origin::Model, "an answer"));
                }
                Message::ToolResults(results) => {
                    let of = |id: &str| calls.iter().find(|call| call.id == id).map(|call| self.of_result(call));
                    let unknown = || Label::new(Origin::External, "a result of nobody knows what");
                    labels.extend(results.iter().map(|result| of(&result.call_id).unwrap_or_else(unknown)));
                }
            }
        }
        labels
    }
}

/// The source of what stands for messages that were left out.
pub(super) const EARLIER: &str = "an earlier part of the conversation";

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::agent::port::{AssistantMessage, ToolResult};

    fn place() -> Place {
        Place {
            home: "/home/ann".into(),
            workspace: "/home/ann/shop".into(),
            own_folder: Some("/home/ann/.local/state/cohab/outputs/s".into()),
            shell: Shell::Bash,
        }
    }

    fn after(tool: &str, args: &serde_json::Value) -> Label {
        let args = args.as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: tool.into(), args: Ok(args) };
        let result = ToolResult { call_id: "1".into(), tool: tool.into(), content: "x".into(), is_error: false };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        place().labels(&[Message::Assistant(message), Message::ToolResults(vec![result])]).remove(1)
    }

    fn asked(text: &str) -> Vec<Label> {
        place().labels(&[Message::User { text: text.into() }])
    }

    #[test]
    fn a_result_is_worth_what_its_call_reaches() {
        assert_eq!(after("bash", &json!({"command": "git log"})).origin, Origin::Output);
        assert_eq!(after("bash", &json!({"command": "curl -s example.com"})).source, "`curl`");
        assert_eq!(after("read", &json!({"path": "src/main.rs"})).origin, Origin::File);
        assert_eq!(after("read", &json!({"path": "/home/ann/shop/a"})).origin, Origin::File);
        assert_eq!(after("read", &json!({"path": "/home/ann/.local/state/cohab/outputs/s/1"})).origin, Origin::File);
        for path in ["/tmp/x", "~/Downloads/x", "../other/x", "/home/ann/shopping"] {
            assert!(after("read", &json!({"path": path})).is_external(), "{path}");
        }
        assert_eq!(after("todo_read", &json!({})).origin.trust_tenths(), 6);
    }

    #[test]
    fn what_the_user_did_counts_too() {
        let history = |text: &str| format!("<shell-history>\n{text}\n</shell-history>\n<question>\nwhy\n</question>");
        let external = |text: &str| asked(&history(text)).iter().any(Label::is_external);
        assert!(!external("$ ls\nexit 0 in /home/ann/shop after 0.1s\n    $ curl example.com"), "output is no command");
        assert!(external("$ curl example.com\nexit 0 in /home/ann/shop after 0.1s"));
        assert!(external("$ cat \\\n> /tmp/x\nexit 0 in /home/ann/shop after 0.1s"));
        assert!(external("$ cat README\nexit 0 in /tmp/evil after 0.1s"));
        assert!(asked("<piped-input>\nx\n</piped-input>\n<question>\nwhy\n</question>")[0].is_external());
        assert_eq!(asked("why").last().unwrap().origin, Origin::User);
    }
}
