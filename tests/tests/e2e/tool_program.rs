//! Tools of the model as programs of a script: the policy and hooks decide as they do for the model.

use std::{fs, os::unix::fs::PermissionsExt as _};

use cohab_e2e::{Answer, Home, ModelServer, Wire};
use serde_json::{Value, json};

fn call_tool(home: &Home, tool: &str, arguments: &Value) -> (Option<i32>, Value) {
    let done = home.run_with_input(&["tool", tool, "--json-in", "-", "--json-out"], &arguments.to_string());
    let told = serde_json::from_str(&done.stdout).unwrap_or_else(|error| panic!("{error}: {done:?}"));
    (done.status, told)
}

#[test]
fn a_script_reads_searches_and_runs_what_only_reads() {
    let home = Home::new();
    home.write("notes.txt", "one\nTODO two\n");
    let (status, read) = call_tool(&home, "read", &json!({"path": "notes.txt"}));
    assert!(status == Some(0) && read["output"].as_str().is_some_and(|text| text.contains("TODO two")), "{read}");
    let (status, found) = call_tool(&home, "grep", &json!({"pattern": "TODO", "path": "notes.txt"}));
    assert!(status == Some(0) && found["output"].as_str().is_some_and(|text| text.contains("notes.txt:2:")), "{found}");
    let (status, ran) = call_tool(&home, "bash", &json!({"command": "cat notes.txt"}));
    assert_eq!((status, &ran["status"]), (Some(0), &json!(0)), "{ran}");
    let (status, failed) = call_tool(&home, "bash", &json!({"command": "cat none.txt"}));
    assert_eq!((status, &failed["ok"], &failed["status"]), (Some(1), &json!(false), &json!(1)), "{failed}");
}

#[test]
fn what_needs_consent_is_refused_without_a_terminal() {
    let home = Home::new();
    let (status, refused) = call_tool(&home, "write", &json!({"path": "made.txt", "content": "x"}));
    assert_eq!((status, &refused["refused"]), (Some(3), &json!(true)), "{refused}");
    let (status, refused) = call_tool(&home, "bash", &json!({"command": "rm -rf ."}));
    assert_eq!((status, &refused["refused"]), (Some(3), &json!(true)), "{refused}");
    assert!(!home.path("made.txt").exists());
    let file = home.path("in.json");
    fs::write(&file, json!({"path": "made.txt", "content": "x"}).to_string()).expect("it can be written");
    let words = ["tool", "write", "--approve", "auto", "--json-in", &file.display().to_string()];
    assert_eq!(home.run(&words).status, Some(0));
    assert!(home.path("made.txt").exists());
}

#[test]
fn a_hook_objects_to_a_script_too() {
    let home = Home::new();
    let hooks = json!({"hooks": {"PreToolUse": [{"matcher": "Read", "hooks": [
        {"type": "command", "command": "grep -q secret && { echo not this one >&2; exit 2; }; exit 0"}
    ]}]}});
    fs::create_dir_all(home.paths().config_dir).expect("it can be made");
    fs::write(home.paths().config_dir.join("hooks.json"), hooks.to_string()).expect("it can be written");
    home.write("secret.txt", "x\n");
    let (status, refused) = call_tool(&home, "read", &json!({"path": "secret.txt"}));
    assert_eq!(status, Some(3), "{refused}");
    assert!(refused["error"].as_str().is_some_and(|text| text.ends_with("objects: not this one")), "{refused}");
}

#[test]
fn tools_describe_themselves() {
    let home = Home::new();
    let guide: Value = serde_json::from_str(&home.run(&["tool", "--agent-guide"]).stdout).expect("a list");
    let names: Vec<&str> = guide.as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["bash", "edit", "glob", "grep", "read", "write"]);
    let help = home.run(&["tool", "edit", "--help"]);
    assert!(help.status == Some(0) && help.stdout.contains("  old_string (string, required)\n"), "{help:?}");
    assert_eq!(home.run(&["tool", "none"]).status, Some(1));
    assert_eq!(home.run(&["tool", "read", "--json-out"]).status, Some(2));
}

const HELLO: &str = r#"#!/bin/sh
if [ "$1" = --agent-guide ]; then
    echo '{"name": "hello", "description": "Greets a person.", "parameters": {"type": "object", "properties": {"to": {"type": "string"}}}}'
    exit 0
fi
sed 's/.*"to":"\([^"]*\)".*/Hello \1, from /' && pwd
"#;

#[test]
fn a_tool_of_the_user_is_asked_about_until_it_may_run_unasked() {
    let call = || Answer::call("own_hello", &json!({"to": "Ann"}));
    let server =
        ModelServer::start(Wire::OpenAiChat, [call(), Answer::text("All done."), call(), Answer::text("Next done.")]);
    let home = Home::with_model(&server);
    let folder = home.paths().config_dir.join("tools");
    fs::create_dir_all(&folder).expect("it can be made");
    let file = folder.join("hello");
    fs::write(&file, HELLO).expect("it can be written");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o700)).expect("it is ours");
    let shell = home.cohab();
    let mark = shell.submit("? greet Ann");
    shell.wait_text("a tool of yours");
    shell.outwait_deaf_card();
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    let result = &server.wait_for_calls(2)[1].tool_results()[0].content;
    assert!(result.contains("Hello Ann, from"), "{result}");
    let (status, refused) = call_tool(&home, "own_hello", &json!({"to": "Ann"}));
    assert_eq!(status, Some(3), "{refused}");
    assert_eq!(home.run(&["tool", "--unasked", &file.display().to_string(), "--yes"]).status, Some(0));
    let (status, greeted) = call_tool(&home, "own_hello", &json!({"to": "Bob"}));
    assert!(
        status == Some(0) && greeted["output"].as_str().is_some_and(|text| text.contains("Hello Bob")),
        "{greeted}"
    );
}
