use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf};

use clap::Parser;
use cohab_context::trust::TrustedFolders;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    command: McpCommand,
}

struct Bench {
    _folder: tempfile::TempDir,
    paths: Paths,
    home: PathBuf,
    project: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        let paths = Paths::new(|name| (name == "HOME").then(|| home.clone()), rustix::process::getuid().as_raw());
        let project = home.join("shop");
        fs::create_dir(&project).unwrap();
        Self { _folder: folder, paths, home, project }
    }

    /// What `cohab mcp ...` says; of an error the sentence and the hint.
    fn says(&self, words: &[&str]) -> String {
        self.says_at(words, None)
    }

    /// The same; `answer` is what the user types at a terminal.
    fn says_at(&self, words: &[&str], answer: Option<&str>) -> String {
        let words = ["mcp"].into_iter().chain(words.iter().copied());
        let command = match Line::try_parse_from(words) {
            Ok(line) => line.command,
            Err(error) => return error.to_string(),
        };
        let place = McpFiles::at(&self.paths, self.home.clone(), self.project.clone());
        let (mut input, mut output) = (answer.unwrap_or_default().as_bytes(), Vec::new());
        let mut asker = Asker { input: &mut input, is_terminal: answer.is_some() };
        let said = match place.and_then(|place| done(&place, &command, &mut asker, &mut output)) {
            Ok(text) => text,
            Err(Failure::Other(message, hint)) => format!("error: {message}\n{}\n", hint.unwrap_or_default()),
            Err(Failure::Config(problems)) => format!("error: {}\n", problems[0]),
            Err(other) => panic!("{other:?}"),
        };
        String::from_utf8(output).unwrap() + &said
    }

    fn settings(&self) -> String {
        fs::read_to_string(self.paths.config_file()).unwrap_or_default()
    }
}

#[test]
fn a_server_is_added_listed_shown_and_removed() {
    let bench = Bench::new();
    assert!(bench.says(&["list"]).starts_with("There are no MCP servers."));
    let added = bench.says(&["add", "time", "--env", "TZ=UTC", "--", "uvx", "mcp-server-time", "--local"]);
    assert!(added.starts_with("Added the MCP server `time`."), "{added}");
    let expected = "[mcp.time]\ncommand = \"uvx\"\nargs = [\"mcp-server-time\", \"--local\"]\nenv = { TZ = \"UTC\" }\n";
    assert_eq!(bench.settings(), expected);
    let header = "Authorization: Bearer ${DOCS}";
    bench.says(&["add", "docs", "https://example.org/mcp", "--header", header, "--description", "Looks things up"]);
    assert!(bench.settings().contains("[mcp.docs]\nurl = \"https://example.org/mcp\""), "{}", bench.settings());
    let listed = bench.says(&["list"]);
    assert_eq!(listed, "docs  ready  https://example.org/mcp\ntime  ready  uvx mcp-server-time --local\n");
    let json: serde_json::Value = serde_json::from_str(&bench.says(&["list", "--json"])).unwrap();
    assert_eq!(json["servers"][0]["headers"][0], "Authorization", "names of headers, never values");
    assert!(bench.says(&["show", "time"]).contains("variables  TZ\n"));
    assert!(bench.says(&["add", "time", "--", "x"]).contains("there is a server `time` already"));
    assert_eq!(bench.says(&["rm", "time"]), "Removed the MCP server `time`.\n");
    assert!(bench.says(&["show", "tim"]).starts_with("error: there is no MCP server `tim` here"));
    bench.says(&["rm", "docs"]);
    assert_eq!(bench.settings(), "");
}

#[test]
fn what_cannot_be_a_server_is_refused_and_nothing_is_written() {
    let bench = Bench::new();
    for (words, reason) in [
        (&["add", "a b", "--", "x"] as &[&str], "cannot be a name"),
        (&["add", "a"], "required"),
        (&["add", "a", "ftp://x"], "must start with `https://`"),
        (&["add", "a", "https://x", "--header", "Authorization: secret"], "holds a secret"),
        (&["add", "a", "--env", "TZ", "--", "x"], "must be written as NAME=VALUE"),
        (&["add", "a", "--", "x", "--token=${TOKEN}"], "all users of this machine can read arguments"),
        (&["add", "a", "https://x", "--env", "A=b"], "are for a server with `command`"),
        (&["rm", "none"], "there is no MCP server"),
    ] {
        let said = bench.says(words);
        assert!(said.contains(reason), "{words:?}: {said}");
    }
    assert_eq!(bench.settings(), "");
}

#[test]
fn a_projects_server_is_used_only_after_trust_and_allow() {
    let bench = Bench::new();
    let write = |program: &str| {
        let text = format!(r#"{{"mcpServers": {{"db": {{"command": "{program}", "args": ["--ro"]}}}}}}"#);
        fs::write(bench.project.join(".mcp.json"), text).unwrap();
    };
    write("db-server");
    assert!(bench.says(&["list"]).starts_with("db  not trusted  db-server --ro\n"));
    assert!(bench.says(&["allow", "db"]).contains("the project's folder is not trusted"));
    let trust = TrustedFolders::new(bench.paths.trusted_folders_file(), bench.home.clone());
    trust.add(&bench.project).unwrap();
    assert!(bench.says(&["list"]).contains("`cohab mcp allow db` allows it"));
    assert!(bench.says(&["test", "db"]).contains("`cohab mcp allow db`"), "it is not started before");
    assert!(bench.says(&["allow", "db", "--yes"]).contains("starts     db-server\nargument   --ro\nAllowed"));
    assert!(bench.says(&["list"]).starts_with("db  ready"));
    write("other");
    assert!(bench.says(&["list"]).starts_with("db  changed"));
    write("db-server");
    assert!(bench.says(&["rm", "db"]).contains("`cohab mcp deny db`"));
    assert!(bench.says(&["deny", "db"]).contains("is no longer used"));
    assert!(bench.says(&["list"]).starts_with("db  not allowed"));
}

#[test]
fn a_server_that_fails_says_why_and_where_its_output_is() {
    let bench = Bench::new();
    bench.says(&["add", "bad", "--", "sh", "-c", "echo no such module >&2; exit 3"]);
    let said = bench.says(&["test", "bad"]);
    assert!(
        said.starts_with("error: `bad` cannot be used: it ended before it answered; it wrote: no such module\n"),
        "{said}"
    );
    assert!(said.contains("bad.log"), "{said}");
    assert!(bench.says(&["allow", "bad"]).contains("is your own server"));
    assert!(bench.says(&["allow", "bad", "x"]).contains("cannot be used"));
    assert!(bench.says(&["deny", "bad", "x"]).contains("is never called"));
    assert!(bench.says(&["show", "bad"]).contains("denied     x\n"));
}

#[test]
fn all_of_a_projects_server_is_shown_before_the_user_agrees() {
    let bench = Bench::new();
    let trust = TrustedFolders::new(bench.paths.trusted_folders_file(), bench.home.clone());
    trust.add(&bench.project).unwrap();
    let text = r#"{"mcpServers": {
        "db": {"command": "node", "args": ["run.js", "two words"], "env": {"URL": "http://${HOST}/\u001b[2J", "NODE_OPTIONS": "-r x"}},
        "web": {"url": "https://example.org/mcp", "headers": {"X-Token": "${TOKEN}"}}
    }}"#;
    fs::write(bench.project.join(".mcp.json"), text).unwrap();
    fs::write(bench.project.join("run.js"), "1").unwrap();
    let kept = || fs::read_to_string(bench.paths.config_dir.join("mcp-consents.json")).unwrap_or_default();
    let shown = bench.says_at(&["allow", "db"], Some("n\n"));
    let place = bench.project.display().to_string();
    let shown = shown.replace(&place, "PROJECT");
    insta::assert_snapshot!(shown);
    assert!(bench.says_at(&["allow", "db"], Some("")).ends_with("Not allowed.\n"));
    assert!(bench.says(&["allow", "db"]).contains("without your answer at a terminal"));
    assert_eq!(kept(), "", "nothing is kept without a yes");
    let header = bench.says_at(&["allow", "web"], Some("y\n"));
    assert!(header.contains("header     X-Token: ${TOKEN}\n") && header.contains("Allowed, "), "{header}");
    assert!(bench.says_at(&["allow", "db"], Some("y\n")).contains("Allowed, "));
    assert!(bench.says(&["show", "db"]).contains("variable   NODE_OPTIONS=-r x\n"));
    assert!(bench.says(&["list"]).starts_with("db   ready"));
    fs::write(bench.project.join("run.js"), "2").unwrap();
    assert!(bench.says(&["list"]).starts_with("db   changed"), "the content of its file counts");
}

/// A server for `sh` whose only tool is `now`.
const CLOCK: &str = r#"
while read -r line; do
    id=${line#*\"id\":}
    id=${id%%[!0-9]*}
    case $line in
    *'"initialize"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}}\n' "$id" ;;
    *'"tools/list"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"tools":[{"name":"now","description":"The time of a city.\\u001b]0;x","inputSchema":{"type":"object","properties":{"city":{"type":"string"}}}}]}}\n' "$id" ;;
    *'"id":'*) printf '{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no"}}\n' "$id" ;;
    esac
done
"#;

#[test]
fn a_tool_is_shown_with_its_schema_before_it_is_allowed() {
    let bench = Bench::new();
    let program = bench.home.join("clock.sh");
    fs::write(&program, CLOCK).unwrap();
    bench.says(&["add", "clock", "--", "sh", &program.display().to_string()]);
    let shown = bench.says_at(&["allow", "clock", "now"], Some("\n"));
    insta::assert_snapshot!(shown);
    assert!(!bench.says(&["show", "clock"]).contains("allowed"));
    assert!(bench.says(&["allow", "clock", "now", "-y"]).contains("Allowed, as long as"));
    assert!(bench.says(&["show", "clock"]).contains("allowed    now\n"));
}

#[test]
fn unreadable_consents_are_an_error_with_their_file() {
    let bench = Bench::new();
    bench.says(&["add", "time", "--", "uvx"]);
    let file = bench.paths.config_dir.join("mcp-consents.json");
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    for words in [&["list"] as &[&str], &["show", "time"], &["deny", "time", "x"]] {
        let said = bench.says(words);
        assert!(said.contains("mcp-consents.json: other users can write it"), "{said}");
    }
}

#[test]
fn signing_in_is_for_addresses_and_is_forgotten_with_the_server() {
    let bench = Bench::new();
    bench.says(&["add", "time", "--", "uvx", "mcp-server-time"]);
    assert!(bench.says(&["login", "time"]).starts_with("error: `time` is a program, not an address"));
    // Nobody listens there.
    bench.says(&["add", "docs", "http://127.0.0.1:1/mcp"]);
    let refused = bench.says(&["login", "docs", "--no-browser"]);
    assert!(refused.starts_with("error: `docs`: "), "{refused}");
    assert_eq!(bench.says(&["logout", "docs"]), "You were not signed in at `docs`.\n");
    let file = bench.paths.state_dir.join("mcp-sign-ins.json");
    assert!(!file.exists());
    let kept = r#"{"docs": {"address": "http://127.0.0.1:1/mcp", "credentials": {"client_id": "me", "token_response": null}}}"#;
    let keep = || {
        fs::create_dir_all(&bench.paths.state_dir).unwrap();
        fs::write(&file, kept).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    };
    keep();
    assert!(bench.says(&["logout", "docs"]).starts_with("cohab has forgotten how to reach `docs` as you."));
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
    keep();
    assert_eq!(bench.says(&["rm", "docs"]), "Removed the MCP server `docs`.\n");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}
