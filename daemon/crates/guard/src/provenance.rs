//! Labels each text of a conversation with its origin and trust.
//!
//! | origin | trust | what |
//! |---|---|---|
//! | system | 1.0 | the system prompt, which is not part of a conversation |
//! | user | 0.9 | the question itself |
//! | model | 0.7 | answers, summaries of ours |
//! | output, file, tool | 0.6 | what commands print and files hold, of the user and of the system; results of tools of ours |
//! | external | 0.3 | what comes from another host, a file that others can write, a download, the clipboard, a pipe |
//!
//! The trust of a conversation is that of its least trusted text.

use std::path::{Path, PathBuf};

use cohab_agent::{PlannedCall, port::Effect, state::NOTE_MARK};
use cohab_context::{
    attachments::{attached_of_servers, attached_paths},
    query, query_text,
};
use cohab_memory::knowledge::quote;
use cohab_model_api::{Message, ToolCall, ToolResult};
use cohab_policy::{Context, Files, brought_nothing, is_foreign_file, outside_source};
use cohab_shell_state::shell::Shell;
use cohab_teams::outside_source as reported_outside;
use cohab_text::sanitize::one_line;

/// Letters of a source that people are told.
const SOURCE_CHARS: usize = 60;
/// Lower trust, in tenths, means untrusted.
const FOREIGN_BELOW: u8 = 5;

/// The author of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The user at the keyboard.
    User,
    /// The model.
    Model,
    /// A command's output.
    Output,
    /// A file.
    File,
    /// A tool of ours that reads no file.
    Tool,
    /// An outside author.
    External,
}

impl Origin {
    /// The trust of a text of this origin, in tenths.
    #[must_use]
    pub fn trust_tenths(self) -> u8 {
        match self {
            Origin::User => 9,
            Origin::Model => 7,
            Origin::Output | Origin::File | Origin::Tool => 6,
            Origin::External => 3,
        }
    }
}

/// The origin of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// Its author.
    pub origin: Origin,
    /// Its source, in a few words; one line of harmless text.
    pub source: String,
}

impl Label {
    fn new(origin: Origin, source: &str) -> Self {
        Self { origin, source: one_line(source, SOURCE_CHARS) }
    }

    /// Whether it is untrusted: an outside author may have written it.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.origin.trust_tenths() < FOREIGN_BELOW
    }
}

/// The places that count as the user's.
#[derive(Clone, Debug)]
pub struct UserPlaces {
    /// The user's home, absolute.
    pub home: PathBuf,
    /// The folder whose files are the user's own work: the repository's root or where the shell is, absolute.
    pub workspace: PathBuf,
    /// The folder of long outputs; its files were labelled when they came.
    pub outputs: Option<PathBuf>,
    /// The shell that reads commands.
    pub shell: Shell,
    /// Resolves paths; without it they are judged by their text alone.
    pub files: Option<&'static dyn Files>,
}

impl UserPlaces {
    fn context<'a>(&'a self, cwd: &'a Path) -> Context<'a> {
        Context { files: self.files.map(|files| files as &dyn Files), ..Context::new(cwd, &self.home) }
            .in_shell(self.shell)
    }

    fn of_command(&self, line: &str, cwd: &Path) -> Label {
        match outside_source(line, self.context(cwd), &self.workspace) {
            Some(source) => Label::new(Origin::External, &format!("`{source}`")),
            None if self.is_outside(cwd) => Label::new(Origin::External, &format!("`{}`", cwd.display())),
            None => Label::new(Origin::Output, line),
        }
    }

    /// The same, of a command that printed this: a line that names a place of others may have brought nothing.
    pub(super) fn of_run(&self, line: &str, cwd: &Path, printed: Option<Printed<'_>>) -> Label {
        let label = self.of_command(line, cwd);
        let is_empty = |ran: Printed<'_>| brought_nothing(line, self.context(cwd), ran.exit_code, ran.output);
        match label.is_foreign() && printed.is_some_and(is_empty) {
            true => Label::new(Origin::Output, line),
            false => label,
        }
    }

    fn is_outside(&self, path: &Path) -> bool {
        is_foreign_file(path, self.context(&self.workspace), &self.workspace)
    }

    fn of_file(&self, path: &Path, given: &str) -> Label {
        let is_own = self.outputs.as_ref().is_some_and(|folder| path.starts_with(folder));
        let origin = if !is_own && self.is_outside(path) { Origin::External } else { Origin::File };
        Label::new(origin, &format!("`{given}`"))
    }

    fn absolute(&self, given: &str, cwd: &Path) -> PathBuf {
        match given.strip_prefix('~') {
            Some(rest) => self.home.join(rest.trim_start_matches('/')),
            None => cwd.join(given),
        }
    }

    /// The label of the result of a call that is about to run, in its folder.
    #[must_use]
    pub fn of_planned(&self, call: &PlannedCall) -> Label {
        match &call.intent.effect {
            Effect::RunCommand { command } => self.of_command(command, &call.cwd),
            Effect::Read { path, .. } | Effect::Write { path, .. } => self.of_file(path, &path.to_string_lossy()),
            Effect::Internal => Label::new(Origin::Tool, &call.tool),
            Effect::Foreign { by, .. } => Label::new(Origin::External, by),
        }
    }

    /// The label of an old result. Judged by the call: of the tool's text only the absence of others' text counts.
    fn of_result(&self, call: &ToolCall, result: &ToolResult) -> Label {
        let Ok(args) = &call.args else { return Label::new(Origin::Model, "arguments that cannot be read") };
        let argument = |name: &str| args.get(name).and_then(|value| value.as_str());
        match (argument("command"), argument("path")) {
            // The text of a command that did not run is cohab's own.
            (Some(_), _) if result.is_error => Label::new(Origin::Tool, &call.name),
            (Some(line), _) => self.of_run(line, &self.workspace, Printed::of_result(&result.content)),
            (None, Some(given)) => self.of_file(&self.absolute(given, &self.workspace), given),
            (None, None) => self.of_quotes(&call.name, &result.content),
        }
    }

    /// The label of a result of a tool of ours: that of the least trusted document that it quotes, if it quotes any; of a subagent's report
    /// that of the outside text that it names.
    pub(super) fn of_quotes(&self, tool: &str, content: &str) -> Label {
        if let Some(source) = reported_outside(content) {
            return Label::new(Origin::External, source);
        }
        let labels = quote::files(content).map(|file| self.of_file(file, &file.to_string_lossy()));
        labels.min_by_key(|label| label.origin.trust_tenths()).unwrap_or_else(|| Label::new(Origin::Tool, tool))
    }

    /// The labels of one user message: of the user's commands, of piped text, of the question.
    fn of_question(&self, text: &str, labels: &mut Vec<Label>) {
        if query_text::inside(text, query::EARLIER).is_some() {
            labels.push(Label::new(Origin::Model, EARLIER));
        }
        // Lines of output are indented, so nothing printed looks like a command.
        let mut lines = query_text::inside(text, "shell-history").unwrap_or_default().lines().peekable();
        while let Some(line) = lines.next() {
            let Some(command) = line.strip_prefix("$ ") else { continue };
            let mut command = command.to_owned();
            while let Some(more) = lines.peek().and_then(|line| line.strip_prefix("> ")) {
                command = format!("{command}\n{more}");
                lines.next();
            }
            let status = lines.next_if(|line| !line.starts_with("$ ")).and_then(|line| line.split_once(" in "));
            let folder = status.and_then(|(_, rest)| rest.rsplit_once(" after "));
            let cwd = folder.map_or(self.workspace.as_path(), |(folder, _)| Path::new(folder));
            let exit_code = status.and_then(|(exit, _)| exit.strip_prefix("exit ")?.parse().ok());
            let mut output = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                output += line;
                output.push('\n');
            }
            let printed = exit_code.map(|exit_code| Printed { exit_code, output: &output });
            labels.push(self.of_run(&command, cwd, printed));
        }
        if query_text::inside(text, "piped-input").is_some() {
            labels.push(Label::new(Origin::External, "what was piped in"));
        }
        if query_text::inside(text, query::DOUBTFUL_MEMORY).is_some() {
            labels.push(Label::new(Origin::External, "a doubtful memory"));
        }
        let cwd = query_text::inside(text, "environment").and_then(|lines| lines.lines().next()?.strip_prefix("cwd: "));
        let cwd = cwd.map_or(self.workspace.as_path(), Path::new);
        labels.extend(attached_paths(text).map(|given| self.of_file(&self.absolute(given, cwd), given)));
        labels.extend(attached_of_servers(text).map(|name| Label::new(Origin::External, name)));
        labels.push(Label::new(Origin::User, "the question"));
    }

    /// The labels of these messages, in their order.
    #[must_use]
    pub fn labels(&self, messages: &[Message]) -> Vec<Label> {
        self.labels_but(messages, &|_| false)
    }

    /// The same, without results of calls that are judged already.
    pub(super) fn labels_but(&self, messages: &[Message], is_judged: &dyn Fn(&str) -> bool) -> Vec<Label> {
        let mut labels = Vec::new();
        let mut calls: &[ToolCall] = &[];
        for message in messages {
            match message {
                Message::User { text, .. } => self.of_question(text, &mut labels),
                Message::Assistant(message) => {
                    calls = &message.tool_calls;
                    labels.push(Label::new(Origin::Model, "an answer"));
                }
                Message::ToolResults(results) => {
                    let of = |result: &ToolResult| {
                        let call = calls.iter().find(|call| call.id == result.call_id);
                        let unknown = || Label::new(Origin::External, "a result of unknown origin");
                        call.map_or_else(unknown, |call| self.of_result(call, result))
                    };
                    labels.extend(results.iter().filter(|result| !is_judged(&result.call_id)).map(of));
                }
            }
        }
        labels
    }
}

/// The end of a command, for the model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Printed<'a> {
    exit_code: i32,
    output: &'a str,
}

impl<'a> Printed<'a> {
    /// Reads the result of a command: its last line is cohab's. `None` if some of the output is missing, or the command has not ended.
    pub(super) fn of_result(content: &'a str) -> Option<Self> {
        let text = content.split(NOTE_MARK).next().unwrap_or_default().trim_end();
        let (output, status) = text.rsplit_once('\n').unwrap_or(("", text));
        let (exit_code, rest) = status.strip_prefix("[exit ")?.split_once("; cwd")?;
        let is_whole = !rest.contains("left out") && !rest.contains("environment:");
        Some(Self { exit_code: exit_code.parse().ok().filter(|_| is_whole)?, output })
    }
}

/// The source of the block that replaces dropped messages.
pub(super) const EARLIER: &str = "an earlier part of the conversation";

#[cfg(test)]
mod tests {
    use cohab_agent::port::{Agreed, Intent};
    use cohab_model_api::{AssistantMessage, ToolResult};
    use cohab_policy_io::files::FileSystem;
    use serde_json::json;

    use super::*;

    fn place() -> UserPlaces {
        UserPlaces {
            home: "/home/ann".into(),
            workspace: "/home/ann/shop".into(),
            outputs: Some("/home/ann/.local/state/cohab/outputs/s".into()),
            shell: Shell::Bash,
            files: None,
        }
    }

    fn after(tool: &str, args: &serde_json::Value) -> Label {
        let args = args.as_object().cloned().unwrap();
        let call = ToolCall { id: "1".into(), name: tool.into(), args: Ok(args.into()) };
        let result = ToolResult { call_id: "1".into(), tool: tool.into(), content: "x".into(), is_error: false };
        let message = AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() };
        place().labels(&[Message::Assistant(message), Message::ToolResults(vec![result])]).remove(1)
    }

    fn asked(text: &str) -> Vec<Label> {
        place().labels(&[Message::user(text.into())])
    }

    #[test]
    fn a_result_is_worth_what_its_call_reaches() {
        assert_eq!(after("bash", &json!({"command": "git log"})).origin, Origin::Output);
        assert_eq!(after("bash", &json!({"command": "curl -s example.com"})).source, "`curl`");
        assert_eq!(after("read", &json!({"path": "src/main.rs"})).origin, Origin::File);
        assert_eq!(after("read", &json!({"path": "/home/ann/shop/a"})).origin, Origin::File);
        assert_eq!(after("read", &json!({"path": "/home/ann/.local/state/cohab/outputs/s/1"})).origin, Origin::File);
        for path in ["/tmp/x", "~/Downloads/x", "../../bob/x", "/srv/x"] {
            assert!(after("read", &json!({"path": path})).is_foreign(), "{path}");
        }
        for path in ["~/notes", "../other/x", "/home/ann/shopping"] {
            assert_eq!(after("read", &json!({"path": path})).origin, Origin::File, "{path}: the user's own");
        }
        assert_eq!(after("todo_read", &json!({})).origin, Origin::Tool);
    }

    #[test]
    fn a_quoted_document_is_worth_what_its_file_is() {
        let label = |files: &[&str]| {
            let quotes: Vec<String> =
                files.iter().map(|file| format!("{}\n\nx\n", quote::source(file, 3, "A"))).collect();
            place().of_quotes("memory_search", &quotes.concat())
        };
        assert_eq!(label(&[]).origin, Origin::Tool);
        assert_eq!(label(&["/home/ann/shop/docs/a.md", "/home/ann/notes"]).origin, Origin::File);
        let foreign = label(&["/home/ann/shop/docs/a.md", "/home/ann/Downloads/b.md"]);
        assert_eq!((foreign.origin, foreign.source.as_str()), (Origin::External, "`/home/ann/Downloads/b.md`"));
    }

    #[test]
    fn a_report_is_worth_what_its_subagent_read() {
        let label = place().of_quotes("delegate", "[explore 1: done]\n[outside text: `curl`]\nIt says so.");
        assert_eq!((label.origin, label.source.as_str()), (Origin::External, "`curl`"));
        assert_eq!(place().of_quotes("delegate", "[explore 1: done]\nIt says so.").origin, Origin::Tool);
    }

    #[test]
    fn an_attached_file_is_worth_what_its_place_is() {
        let attached = |file: &str| {
            let environment = "<environment>\ncwd: /home/ann/shop/src\n</environment>\n";
            asked(&format!(
                "{environment}<attached>\nfile: {file}\n| x\n| file: /srv/x\n</attached>\n<question>\nq\n</question>"
            ))
        };
        for file in ["main.rs", "../README.md", "~/notes", "/home/ann/shop/a", "/srv/x (not attached)"] {
            assert!(!attached(file).iter().any(Label::is_foreign), "{file}");
        }
        for file in ["../../../bob/x", "~/Downloads/x", "/tmp/x"] {
            assert_eq!(attached(file).iter().find(|label| label.is_foreign()).unwrap().source, format!("`{file}`"));
        }
    }

    #[test]
    fn what_a_server_keeps_is_somebody_elses() {
        for name in ["resource: docs:note:1", "prompt: /docs:sum"] {
            let attached = format!("<attached>\n{name}\n| x\n</attached>\n<question>\nq\n</question>");
            assert!(asked(&attached).iter().any(Label::is_foreign), "{name}");
        }
    }

    #[test]
    fn a_memory_that_strangers_may_have_written_counts_as_theirs() {
        let with = |tag: &str| asked(&format!("<{tag}>\n- x\n</{tag}>\n<question>\nq\n</question>"));
        assert!(!with("memory").iter().any(Label::is_foreign));
        assert!(with("doubtful-memory").iter().any(Label::is_foreign));
    }

    #[test]
    fn each_origin_has_its_trust_and_only_the_last_is_somebody_elses() {
        use Origin::{External, File, Model, Output, Tool, User};
        for (origin, tenths) in [(User, 9), (Model, 7), (Output, 6), (File, 6), (Tool, 6), (External, 3)] {
            assert_eq!(
                (origin.trust_tenths(), Label::new(origin, "x").is_foreign()),
                (tenths, tenths == 3),
                "{origin:?}"
            );
        }
    }

    #[test]
    fn a_call_is_worth_what_the_folder_is_that_it_runs_in() {
        let planned = |cwd: &str, effect: Effect| {
            let call = ToolCall { id: "1".into(), name: "t".into(), args: Ok(serde_json::Map::new().into()) };
            let intent = Intent { title: String::new(), effect };
            place().of_planned(&PlannedCall::new(&call, serde_json::Map::new(), intent, cwd.into()))
        };
        let run = |cwd: &str| planned(cwd, Effect::RunCommand { command: "cat README.md".into() });
        assert_eq!(run("/home/ann/shop/src").origin, Origin::Output);
        assert_eq!(run("/srv/clone").source, "`/srv/clone`");
        assert!(planned("/home/ann/shop", Effect::Read { path: "/srv/clone/a".into(), pattern: None }).is_foreign());
        assert_eq!(planned("/srv/clone", Effect::Internal).origin, Origin::Tool);
        let (by, action, details) = ("MCP server time".into(), "now".into(), "".into());
        let result = planned("/home/ann/shop", Effect::Foreign { by, action, details, agreed: Agreed::ByRule });
        assert_eq!((result.is_foreign(), result.source.as_str()), (true, "MCP server time"));
    }

    #[test]
    fn a_link_in_the_workspace_is_worth_what_it_leads_to() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let workspace = home.join("shop");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(home.join("Downloads")).unwrap();
        std::fs::write(home.join("Downloads/offer.txt"), "x").unwrap();
        std::fs::write(workspace.join("own.txt"), "x").unwrap();
        for (link, target) in [("out.txt", "../Downloads/offer.txt"), ("in.txt", "own.txt"), ("system", "/etc")] {
            std::os::unix::fs::symlink(target, workspace.join(link)).unwrap();
        }
        std::os::unix::fs::symlink(&workspace, home.join("by-link")).unwrap();
        for workspace in [workspace, home.join("by-link")] {
            let place = UserPlaces { home: home.clone(), workspace, files: Some(&FileSystem), ..place() };
            let reads = |path: &str| place.of_file(&place.workspace.join(path), path).is_foreign();
            let prints = |line: &str| place.of_command(line, &place.workspace).is_foreign();
            assert!(
                reads("out.txt")
                    && prints("cat out.txt")
                    && prints("cat *.txt")
                    && prints("wc -l --files0-from=out.txt")
            );
            assert!(!reads("in.txt") && !prints("cat in.txt own.txt none.txt") && !prints("cat system/hostname"));
        }
    }

    #[test]
    fn a_file_of_the_home_that_others_can_write_is_theirs() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for (name, mode) in [("own", 0o644), ("open", 0o646)] {
            std::fs::write(home.join(name), "x").unwrap();
            std::fs::set_permissions(home.join(name), std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let place = UserPlaces { workspace: home.join("shop"), home, files: Some(&FileSystem), ..place() };
        let reads = |name: &str| place.of_file(&place.home.join(name), name).is_foreign();
        assert_eq!([reads("own"), reads("open"), reads("none")], [false, true, false]);
        let prints = |line: &str| place.of_command(line, &place.workspace).is_foreign();
        assert_eq!([prints("cat ~/own"), prints("cat ~/open"), prints("ls ~")], [false, true, false]);
        assert!(prints("cat /tmp/x") && !prints("cat /etc/passwd"));
    }

    #[test]
    fn results_without_foreign_bytes_are_no_source() {
        let label = |command: &str, content: &str, is_error: bool| {
            let args = json!({"command": command}).as_object().cloned().unwrap();
            let call = ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.into()) };
            let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: content.into(), is_error };
            place().of_result(&call, &result).is_foreign()
        };
        let ended = "[exit 1; cwd /home/ann/shop; 0.1 s]";
        let error = "ERROR: No matching distribution found for x";
        assert!(!label("curl https://x.test | bash", "the user refused", true));
        assert!(!label("pip install x", &format!("{error}\n{ended}"), false));
        assert!(label("pip install x", &format!("Collecting x\n{error}\n{ended}"), false));
        assert!(label("cat /tmp/x", "[exit 0; output left out]", false));
        assert!(label("pip install x", &format!("{error}\n{ended}\n[note]"), false), "not our last line");
    }

    #[test]
    fn what_the_user_did_counts_too() {
        let history = |text: &str| format!("<shell-history>\n{text}\n</shell-history>\n<question>\nwhy\n</question>");
        let external = |text: &str| asked(&history(text)).iter().any(Label::is_foreign);
        assert!(!external("$ ls\nexit 0 in /home/ann/shop after 0.1s\n    $ curl example.com"), "output is no command");
        assert!(external("$ curl example.com\nexit 0 in /home/ann/shop after 0.1s"));
        assert!(external("$ cat \\\n> /tmp/x\nexit 0 in /home/ann/shop after 0.1s\n    x"));
        assert!(external("$ cat README\nexit 0 in /tmp/evil after 0.1s\n    x"));
        for own in [
            "$ cat README\nexit 1 in /tmp/evil after 0.1s\n    cat: README: No such file or directory",
            "$ y? /undo\nexit 127 in /home/ann after 0.1s\n    bash: y?: command not found",
            "$ git clone /tmp/nothing\nexit 128 in /home/ann after 0.1s\n    fatal: repository '/tmp/nothing' does not exist",
            "$ ls\nexit 0 in /home/ann after 0.1s\n    shop\n$ cd shop\nexit 0 in /home/ann/shop after 0.0s",
            "$ cd /tmp\nexit 0 in /tmp after 0.0s",
            "$ curl -s http://127.0.0.1:18951/\nexit 0 in /home/ann after 0.1s\n    x",
        ] {
            assert!(!external(own), "{own}");
        }
        assert!(asked("<piped-input>\nx\n</piped-input>\n<question>\nwhy\n</question>")[0].is_foreign());
        assert_eq!(asked("why").last().unwrap().origin, Origin::User);
    }
}
