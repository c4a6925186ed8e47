//! `cohab ask` answers one question, for people, pipes and programs.

use std::{
    io::Write,
    process::{Child, Stdio},
};

use cohab_e2e::{
    Answer, Home, ModelServer, Wire, binaries, deadline,
    home::{API_KEY, Finished},
    terminal::keys,
};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The events of `--json`, one a line.
pub(crate) fn events(finished: &Finished) -> Vec<Value> {
    let event = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("`{line}` is no JSON: {error}"));
    finished.stdout.lines().map(event).collect()
}

pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap_or("?")).collect()
}

/// The answer according to the events: a `reset` voids the text before it.
pub(crate) fn text(events: &[Value]) -> String {
    let mut text = String::new();
    for event in events {
        match event["type"].as_str() {
            Some("text") => text.push_str(event["delta"].as_str().unwrap_or_default()),
            Some("reset") => text.clear(),
            _ => {}
        }
    }
    text
}

fn interrupt(child: &Child) {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw).expect("a process id");
    kill_process(pid, Signal::INT).expect("it runs");
}

#[test]
fn a_question_is_answered_on_stdout() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::text("Forty-two, plainly.")]);
        let home = Home::with_model(&server);
        let finished = home.run(&["ask", "what is it"]);
        assert_eq!(finished.status, Some(0), "{finished:?}");
        assert!(finished.stdout.contains("Forty-two, plainly."), "{finished:?}");
        assert!(!finished.stdout.contains('\u{1b}'), "escapes in a pipe: {finished:?}");
        assert!(server.wait_for_calls(1)[0].conversation().contains("what is it"));
    }
}

#[test]
fn json_is_one_typed_event_a_line() {
    let server = ModelServer::start(
        Wire::Anthropic,
        [Answer::bash("echo from-the-tool"), Answer::text("It said so.").usage(30, 9)],
    );
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--json", "--approve", "all", "run it"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let events = events(&finished);
    let types = types(&events);
    assert_eq!((types.first(), types.last()), (Some(&"turn_started"), Some(&"turn_ended")), "{types:?}");
    assert_eq!(text(&events), "It said so.");
    let tool =
        events.iter().find(|event| event["type"] == "step_started" && event["tool"] == "bash").expect("a tool step");
    assert!(tool["argument"].as_str().is_some_and(|text| text.contains("echo from-the-tool")), "{tool}");
    let end =
        events.iter().find(|event| event["type"] == "step_finished" && event["step"] == tool["step"]).expect("its end");
    assert!(end["outcome"] == "done" && end["elapsed_ms"].is_u64(), "{end}");
    let last = events.last().expect("there are events");
    assert_eq!(last["reason"], "answered");
    assert_eq!(last["usage"]["output_tokens"].as_u64().map(|tokens| tokens >= 9), Some(true), "{last}");
}

#[test]
fn a_pipe_is_context() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("A panic.")]);
    let home = Home::with_model(&server);
    let finished = home.run_with_input(&["ask", "explain this"], "thread main panicked at line 9\n");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let conversation = server.wait_for_calls(1)[0].conversation();
    assert!(
        conversation.contains("thread main panicked at line 9") && conversation.contains("explain this"),
        "{conversation}"
    );
}

#[test]
fn a_huge_pipe_is_cut_in_the_middle() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Long.")]);
    let home = Home::with_model(&server);
    let mut child = home.cohab_process(&["ask", "explain this"]).stdin(Stdio::piped()).spawn().expect("cohab starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let writer = std::thread::spawn(move || {
        let _ = pipe.write_all(b"the-very-first ");
        for _ in 0..400 {
            let _ = pipe.write_all(&[b'm'; 10_000]);
        }
        let _ = pipe.write_all(b" the-very-last");
    });
    let finished = home.finish(child);
    writer.join().expect("the writer ends");
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let conversation = server.wait_for_calls(1)[0].conversation();
    assert!(conversation.contains("the-very-first") && conversation.contains("the-very-last"));
    assert!(conversation.len() < 2_000_000, "{} bytes were sent", conversation.len());
}

#[test]
fn a_failure_is_status_1_with_a_reason_and_without_the_key() {
    for wire in Wire::ALL {
        let server = ModelServer::start(wire, [Answer::status(401, "invalid key")]);
        let home = Home::with_model(&server);
        let finished = home.run(&["ask", "hello"]);
        assert_eq!(finished.status, Some(1), "{finished:?}");
        assert!(!finished.stderr.trim().is_empty() && finished.stdout.trim().is_empty(), "{finished:?}");
        assert!(!format!("{finished:?}").contains(API_KEY), "{finished:?}");
        assert!(!home.daemon_log().contains(API_KEY), "the key is in the log");
        assert_eq!(server.wait_for_calls(1).len(), 1, "a refused key is not tried again");
    }
}

#[test]
fn a_failure_is_an_event_too() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::status(401, "invalid key")]);
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--json", "hello"]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let events = events(&finished);
    let error = events.iter().find(|event| event["type"] == "error").expect("an error event");
    assert!(error["message"].as_str().is_some_and(|text| !text.is_empty()), "{error}");
    assert_eq!(events.last().map(|event| event["reason"].clone()), Some("failed".into()), "{events:?}");
}

#[test]
fn a_wrong_command_line_is_status_2() {
    let home = Home::new();
    for arguments in
        [&["ask"][..], &["ask", "--no-such-flag", "x"], &["ask", "--approve", "perhaps", "x"], &["nonsense"]]
    {
        let finished = home.run(arguments);
        assert_eq!(finished.status, Some(2), "{arguments:?}: {finished:?}");
        assert!(!finished.stderr.is_empty(), "{arguments:?}");
    }
    assert!(home.daemon_pids().is_empty(), "a daemon was started for nothing");
}

#[test]
fn ctrl_c_is_status_130_and_closes_the_request() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("a b c").stall_after(2)]);
    let home = Home::with_model(&server);
    let child = home.cohab_process(&["ask", "--json", "wait"]).spawn().expect("cohab starts");
    server.wait_until_streaming();
    interrupt(&child);
    let closed_after = server.wait_until_quiet();
    let finished = home.finish(child);
    assert_eq!(finished.status, Some(130), "{finished:?}");
    let last = events(&finished).pop().expect("there are events");
    assert_eq!((&last["type"], &last["reason"]), (&json!("turn_ended"), &json!("cancelled")), "{finished:?}");
    assert!(closed_after <= deadline::limit(std::time::Duration::from_millis(200)), "{closed_after:?}");
}

#[test]
fn at_a_terminal_consent_is_asked_for_there() {
    for (key, status, is_made) in [("y", 0, true), (keys::ESC, 130, false)] {
        let server =
            ModelServer::start(Wire::OpenAiChat, [Answer::bash("touch made.txt"), Answer::text("Said and done.")]);
        let home = Home::with_model(&server);
        home.open_sandbox();
        let shell = home.bash();
        shell.submit(&format!("{} ask make it; echo status=$?", binaries::word("cohab")));
        shell.wait_approval("touch made.txt");
        shell.send(key);
        shell.wait_text(&format!("status={status}"));
        assert_eq!(home.path("made.txt").exists(), is_made);
        assert!(shell.run("stty -a").contains(" echo "), "the terminal is as before\n{}", shell.dump());
    }
}

/// Keys, and the text to wait for after each.
type Keys<'a> = &'a [(&'a str, &'a str)];

#[test]
fn enter_ends_each_text_field_of_a_card() {
    // The command, the keys, and what there is of made.txt and other.txt then.
    let cases: [(&str, Keys<'_>, [bool; 2]); 3] = [
        ("touch made.txt", &[("n", "Reason (optional)."), ("not now", "no: not now")], [false, false]),
        (
            "touch made.txt",
            &[("e", "Change the command."), (keys::CTRL_U, ""), ("touch other.txt", "$ touch other.txt")],
            [false, true],
        ),
        ("rm -rf other.txt; touch made.txt", &[("y", "Type yes"), ("yes", "yes? yes")], [true, false]),
    ];
    for (command, typed, made) in cases {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(command), Answer::text("Said and done.")]);
        let home = Home::with_model(&server);
        home.open_sandbox();
        let shell = home.bash();
        shell.submit(&format!("{} ask make it; echo status=$?", binaries::word("cohab")));
        shell.wait_approval(command);
        assert!(!shell.look(|view| view.shows("this session")), "an answer has no session\n{}", shell.dump());
        for (keys, shown) in typed {
            shell.send(keys);
            shell.wait_text(shown);
        }
        shell.send(keys::ENTER);
        shell.wait_text("status=0");
        assert_eq!(["made.txt", "other.txt"].map(|name| home.path(name).exists()), made, "{command}\n{}", shell.dump());
        assert!(shell.run("stty -a").contains(" icrnl "), "the terminal is as before\n{}", shell.dump());
    }
}

#[test]
fn without_a_terminal_nothing_is_approved() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("touch made.txt"), Answer::text("I could not.")]);
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--json", "make it"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(!home.path("made.txt").exists());
    let events = events(&finished);
    assert!(events.iter().any(|event| event["type"] == "step_finished" && event["outcome"] == "refused"), "{events:?}");
    assert_eq!(server.wait_for_calls(2)[1].tool_results().len(), 1, "the model is told");
}

#[test]
fn approve_says_how_much_may_happen() {
    for (mode, is_made) in [("read-only", false), ("all", true)] {
        let calls = [Answer::bash("ls -a"), Answer::bash("touch made.txt"), Answer::text("Tried.")];
        let server = ModelServer::start(Wire::Anthropic, calls);
        let home = Home::with_model(&server);
        home.open_sandbox();
        home.write("present.txt", "");
        let finished = home.run(&["ask", "--approve", mode, "make it"]);
        assert_eq!(finished.status, Some(0), "{finished:?}");
        assert_eq!(home.path("made.txt").exists(), is_made, "--approve {mode}");
        let results = server.wait_for_calls(3)[2].tool_results();
        assert!(results[0].content.contains("present.txt"), "{results:?}");
    }
}

#[test]
fn the_environment_cannot_approve_what_the_command_line_did_not() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("touch made.txt"), Answer::text("Tried.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let finished = home.run(&["ask", "--approve", "read-only", "make it"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(!home.path("made.txt").exists(), "the stricter of the two counts");
}

#[test]
fn commands_run_where_the_user_is() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("pwd"), Answer::text("There.")]);
    let home = Home::with_model(&server);
    home.write("deep/er/file", "");
    let mut process = home.cohab_process(&["ask", "where"]);
    let finished = home.finish(process.current_dir(home.path("deep/er")).spawn().expect("cohab starts"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results[0].content.contains(&home.path("deep/er").display().to_string()), "{results:?}");
}

#[test]
fn a_reader_that_leaves_early_is_no_panic() {
    let lines: Vec<String> = (0..5_000).map(|number| format!("line {number}\n\n")).collect();
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::pieces(lines)]);
    let home = Home::with_model(&server);
    let mut child = home.cohab_process(&["ask", "list"]).spawn().expect("cohab starts");
    drop(child.stdout.take());
    let finished = home.finish(child);
    assert!(!finished.stderr.contains("panicked"), "{finished:?}");
    assert_ne!(finished.status, Some(101), "{finished:?}");
}

#[test]
fn commands_in_a_shell_of_their_own_see_no_keys() {
    let home = Home::new().env("COHAB_PROVIDER", "offline").env("DEPLOY_KEY", "hush").env("DEPLOY_NAME", "shop");
    let name = home.run(&["ask", "--approve", "all", "value of $DEPLOY_NAME"]);
    assert!(name.stdout.contains("`DEPLOY_NAME` is `shop`"), "{name:?}");
    let key = home.run(&["ask", "--approve", "all", "value of $DEPLOY_KEY"]);
    assert!(key.stdout.contains("`DEPLOY_KEY` is not set") && !key.stdout.contains("hush"), "{key:?}");
}

#[test]
fn a_folder_that_cannot_be_used_is_told_at_once() {
    let home = Home::new().env("COHAB_HOME", "/proc/cohab-nowhere");
    let finished = home.run(&["ask", "where am i"]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("/proc/cohab-nowhere") && finished.stderr.contains("Hint: "), "{finished:?}");
}

#[test]
fn a_folder_that_is_gone_is_named_as_the_reason() {
    let home = Home::new().env("COHAB_PROVIDER", "offline");
    let program = home.cohab_process(&["ask", "where am i"]);
    let mut shell =
        home.process("/bin/sh", &["-c", "mkdir gone && cd gone && rmdir ../gone && exec \"$0\" ask where am i"]);
    let child = shell.arg(program.get_program()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let finished = home.finish(child.expect("sh starts"));
    assert_eq!(finished.status, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("the current folder is not there any more"), "{finished:?}");
}

const SCHEMA: &str = r#"{"type": "object", "properties": {"lines": {"type": "integer"}}, "required": ["lines"]}"#;

fn ask_for_json(home: &Home) -> Finished {
    home.write_config("[model]\ncontext_window_tokens = 128000\n");
    home.write("schema.json", SCHEMA);
    let schema = home.path("schema.json");
    home.run(&["ask", "--output-schema", schema.to_str().expect("text"), "count the lines"])
}

#[test]
fn an_answer_is_repaired_until_it_fits_its_schema() {
    for wire in Wire::ALL {
        let answers = ["About seven.", "```json\n{\"lines\": \"7\"}\n```", "```json\n{\"lines\": 7}\n```"];
        let server = ModelServer::start(wire, answers.map(Answer::text));
        let home = Home::with_model(&server);
        let finished = ask_for_json(&home);
        assert_eq!((finished.status, finished.stdout.as_str()), (Some(0), "{\"lines\": 7}\n"), "{finished:?}");
        let calls = server.wait_for_calls(3);
        assert!(calls[0].conversation().contains("required"), "the model gets the schema");
        assert!(calls[1].conversation().contains("the answer is not JSON"), "{}", calls[1].conversation());
        assert!(
            calls[2].conversation().contains("/lines: want integer, but got string"),
            "{}",
            calls[2].conversation()
        );
    }
}

#[test]
fn an_answer_that_never_fits_is_status_1_without_output() {
    let server = ModelServer::start(Wire::OpenAiChat, ["{}", "{\"lines\": 1.5}", "no"].map(Answer::text));
    let home = Home::with_model(&server);
    let finished = ask_for_json(&home);
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
    assert!(
        finished.stderr.contains("the answer is not valid against the schema: the answer is not JSON"),
        "{finished:?}"
    );
    assert_eq!(server.wait_for_calls(3).len(), 3, "it is repaired twice");
}

#[test]
fn a_schema_that_cannot_be_used_is_status_2_and_asks_nobody() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("{}")]);
    let home = Home::with_model(&server);
    home.write("schema.json", r#"{"$ref": "https://example.com/schema.json"}"#);
    let schema = home.path("schema.json");
    let finished = home.run(&["ask", "--output-schema", schema.to_str().expect("text"), "x"]);
    assert_eq!((finished.status, finished.stdout.as_str()), (Some(2), ""), "{finished:?}");
    assert!(finished.stderr.contains("cohab fetches nothing") && finished.stderr.contains("Hint: "), "{finished:?}");
    assert!(server.requests().is_empty(), "nothing was sent");
}
