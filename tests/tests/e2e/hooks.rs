//! Hooks in a live shell: they object, they never allow, and public examples run as their authors wrote them.

use std::{fs, os::unix::fs::PermissionsExt as _};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell, deadline::eventually};
use serde_json::{Value, json};

/// A home whose user has these hooks.
fn home_with(server: &ModelServer, hooks: &Value) -> Home {
    let home = Home::with_model(server);
    write_hooks(&home, hooks);
    home
}

fn write_hooks(home: &Home, hooks: &Value) {
    let file = home.paths().config_dir.join("hooks.json");
    fs::create_dir_all(file.parent().expect("a folder")).expect("it can be made");
    fs::write(&file, json!({"hooks": hooks}).to_string()).expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("it is ours");
}

fn command(matcher: &str, command: &str) -> Value {
    json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 20}]}])
}

/// A program in the home that can be run.
fn script(home: &Home, name: &str, text: &str) {
    home.write(name, text);
    fs::set_permissions(home.path(name), fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// The model's commands, one per call, and then its answer.
fn model(commands: &[&str]) -> ModelServer {
    let calls: Vec<Answer> = commands.iter().map(|command| Answer::bash(command)).collect();
    ModelServer::start(
        Wire::OpenAiChat,
        calls.into_iter().chain([Answer::text("All done."), Answer::text("Next done.")]),
    )
}

/// Refuses commands that delete folders, as guards for Claude Code do it.
const NO_DELETE: &str = r#"#!/usr/bin/env python3
import json, re, sys

call = json.load(sys.stdin)
command = call.get("tool_input", {}).get("command", "")
if call["tool_name"] == "Bash" and re.search(r"\brm\s+-\w*[rf]\w*", command):
    print(f"Blocked: {command!r} deletes for good; move it to ./trash instead.", file=sys.stderr)
    sys.exit(2)
"#;

#[test]
fn a_hook_blocks_a_command_in_each_shell() {
    in_each_shell(|name| {
        let server = model(&["rm -rf old", "echo fine"]);
        let home = home_with(&server, &json!({"PreToolUse": command("Bash", "python3 ~/no_delete.py")})).shell(name);
        script(&home, "no_delete.py", NO_DELETE);
        fs::create_dir(home.path("old")).expect("it can be made");
        let shell = home.cohab();
        let mark = shell.submit("? clean up");
        shell.wait_answer(mark, "All done.");
        assert!(home.path("old").exists(), "{name}: it ran");
        let calls = server.wait_for_calls(3);
        let blocked = &calls[1].tool_results()[0].content;
        assert!(blocked.contains("no_delete.py` objects: Blocked: 'rm -rf old'"), "{name}: {blocked}");
        assert!(calls[2].tool_results().last().expect("a result").content.contains("fine"), "{name}");
        let audit = home.run(&["audit", "tail"]).stdout;
        assert!(audit.contains("hook objected: python3 ~/no_delete.py"), "{name}: {audit}");
    });
}

#[test]
fn a_hook_that_allows_still_leaves_the_card() {
    let allow = r#"echo '{"decision": "approve", "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'"#;
    let server = model(&["rm -rf old"]);
    let hooks = json!({"PreToolUse": command("", allow), "PermissionRequest": command("", allow)});
    let home = home_with(&server, &hooks);
    fs::create_dir(home.path("old")).expect("it can be made");
    let shell = home.cohab();
    let mark = shell.submit("? clean up");
    shell.wait_approval("rm -rf old");
    assert!(home.path("old").exists());
    shell.outwait_deaf_card();
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send(cohab_e2e::keys::ENTER);
    shell.wait_answer(mark, "All done.");
    assert!(home.path("old").exists());
}

#[test]
fn a_hook_may_ask_about_what_runs_unasked_and_change_a_call() {
    let hook = r#"input=$(cat); case $input in
        *'echo one'*) echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "is it time?"}}';;
        *'echo two'*) echo '{"hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"command": "touch made"}}}';;
    esac"#;
    let server = model(&["echo one", "echo two"]);
    let home = home_with(&server, &json!({"PreToolUse": command("Bash", hook)}));
    let shell = home.cohab();
    let mark = shell.submit("? count");
    shell.wait_approval("echo one");
    assert!(shell.look(|view| view.shows("is it time?")), "{}", shell.dump());
    shell.send("y");
    shell.wait_approval("touch made");
    assert!(!home.path("made").exists(), "the changed command ran without a question");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(home.path("made").exists());
    let results = server.wait_for_calls(3)[2].tool_results();
    assert!(results.last().expect("a result").content.contains("changed the call; what ran instead: touch made"));
}

#[test]
fn a_guard_that_hangs_or_breaks_lets_nothing_pass() {
    let server = model(&["echo one"]);
    let slow = json!({"PreToolUse": [{"hooks": [{"type": "command", "command": "sleep 1000", "timeout": 1}]}]});
    let home = home_with(&server, &slow);
    let shell = home.cohab();
    let mark = shell.submit("? count");
    shell.wait_answer(mark, "All done.");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results[0].content.contains("did not end within 1 s and was killed"), "{results:?}");
    fs::write(home.paths().config_dir.join("hooks.json"), "{\"hooks\": 1}").expect("it can be written");
    shell.submit("? and now");
    shell.wait_text("hooks.json cannot be read");
    assert_eq!(server.requests().len(), 2, "a model was asked without the guards");
}

#[test]
fn a_task_behind_the_prompt_passes_the_guards_of_a_shell_that_asked_nothing() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("echo one"), Answer::text("All done.")]);
    let home = home_with(&server, &json!({"PreToolUse": command("Bash", "echo not here >&2; exit 2")}));
    let shell = home.cohab();
    shell.submit("? /bg count");
    shell.wait_text("task 1 is done: count");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results[0].content.contains("objects: not here"), "{results:?}");
}

#[test]
fn hooks_of_a_project_run_once_they_are_trusted_and_allowed() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::bash("echo one"), Answer::text("All done."), Answer::bash("echo two"), Answer::text("Next done.")],
    );
    let home = Home::with_model(&server);
    fs::create_dir_all(home.path("shop/.cohab")).expect("it can be made");
    fs::create_dir_all(home.path("shop/.git")).expect("it can be made");
    let hooks = json!({"hooks": {"PreToolUse": command("", "\"$CLAUDE_PROJECT_DIR\"/.cohab/guard.sh")}});
    home.write("shop/.cohab/hooks.json", &hooks.to_string());
    script(&home, "shop/.cohab/guard.sh", "#!/bin/sh\necho not here >&2\nexit 2\n");
    let shell = home.cohab();
    shell.run("cd shop");
    let mark = shell.submit("? count");
    shell.wait_text("The hooks in");
    shell.wait_answer(mark, "All done.");
    let file = home.path("shop/.cohab/hooks.json").display().to_string();
    assert_eq!(home.run(&["trust", &home.path("shop").display().to_string()]).status, Some(0));
    let allowed = shell.run(&format!("{} hooks allow --yes {file}", cohab_e2e::binaries::word("cohab")));
    assert!(allowed.contains("Allowed, from the next question on."), "{allowed}");
    let mark = shell.submit("? count again");
    shell.wait_answer(mark, "Next done.");
    let results = server.wait_for_calls(4)[3].tool_results();
    assert!(results.last().expect("a result").content.contains("objects: not here"), "{results:?}");
}

/// Keeps a log of all commands, and formats what was edited: two more examples, without any program but a shell and Python.
const LOG: &str = r#"#!/bin/sh
# The command is one JSON string; Python reads it, as jq need not be there.
python3 -c '
import json, sys
call = json.load(sys.stdin)
print(call["cwd"], call["tool_input"]["command"], sep="\t")
' >> "$HOME/commands.log"
"#;
const FORMAT: &str = r#"#!/usr/bin/env python3
import json, pathlib, sys

call = json.load(sys.stdin)
path = pathlib.Path(call["tool_input"]["file_path"])
if path.suffix == ".txt":
    text = "".join(line.rstrip() + "\n" for line in path.read_text().splitlines())
    path.write_text(text)
    print(json.dumps({"hookSpecificOutput": {
        "hookEventName": "PostToolUse", "additionalContext": f"{path.name} was formatted: read it again before you edit it."
    }}))
"#;

#[test]
fn examples_log_commands_and_format_files_and_a_stop_is_held() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::bash("echo one"),
            Answer::call("write", &json!({"path": "notes.txt", "content": "a  \nb\t\n"})),
            Answer::text("Enough."),
            Answer::text("All done."),
        ],
    );
    let once = "test -e ~/held && exit 0; touch ~/held; echo run the tests first >&2; exit 2";
    let home = home_with(
        &server,
        &json!({
            "PostToolUse": [
                {"matcher": "Bash", "hooks": [{"type": "command", "command": "~/log.sh"}]},
                {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "~/format.py"}]},
            ],
            "UserPromptSubmit": command("", "echo The ticket is SHOP-7."),
            "Stop": command("", once),
        }),
    );
    script(&home, "log.sh", LOG);
    script(&home, "format.py", FORMAT);
    let shell = home.cohab();
    let mark = shell.submit("? write notes");
    shell.wait_approval("notes.txt");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    let log = fs::read_to_string(home.path("commands.log")).expect("a log");
    assert!(log.ends_with("\techo one\n"), "{log}");
    assert_eq!(fs::read_to_string(home.path("notes.txt")).expect("a file"), "a\nb\n");
    let calls = server.wait_for_calls(4);
    assert!(calls[0].conversation().contains("The ticket is SHOP-7."));
    assert!(calls[2].conversation().contains("notes.txt was formatted"));
    assert!(calls[3].conversation().contains("does not let the turn end here: run the tests first"));
}

#[test]
fn hooks_hear_of_the_start_and_the_end_of_a_conversation() {
    let server = model(&[]);
    let log = |event: &str| {
        let line = format!("echo {event} $(grep -o '\"\\(source\\|reason\\)\":\"[a-z]*\"') >> ~/log");
        json!([{"hooks": [{"type": "command", "command": line}]}])
    };
    let home = home_with(&server, &json!({"SessionStart": log("start"), "SessionEnd": log("end")}));
    let shell = home.cohab();
    assert!(!home.path("log").exists(), "a shell without a question starts nothing");
    let mark = shell.submit("? one");
    shell.wait_answer(mark, "All done.");
    let mark = shell.submit("? /new");
    shell.wait_next_prompt(mark);
    let mark = shell.submit("? two");
    shell.wait_answer(mark, "Next done.");
    assert_eq!(home.run(&["daemon", "stop"]).status, Some(0));
    let ended = || fs::read_to_string(home.path("log")).unwrap_or_default();
    eventually("the last end is in the log", || ended().lines().count() == 4);
    let lines: Vec<String> = ended().lines().map(str::to_owned).collect();
    let expected = [
        "start \"source\":\"startup\"",
        "end \"reason\":\"clear\"",
        "start \"source\":\"clear\"",
        "end \"reason\":\"other\"",
    ];
    assert_eq!(lines, expected);
}
