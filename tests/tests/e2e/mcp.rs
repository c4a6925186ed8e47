//! MCP servers in a live shell: found, called after a card, refused.

use std::{env, fs};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, keys, model_server::Request};
use serde_json::json;

/// Path of the fake server, which is built with these tests.
fn fake_server() -> String {
    let tests = env::current_exe().expect("this program");
    let folder = tests.parent().and_then(|deps| deps.parent()).expect("target/debug");
    folder.join("fake-mcp-server").display().to_string()
}

/// A model that looks for a tool, calls it, and says what it got.
fn asking_for_the_time() -> ModelServer {
    ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::call("mcp_search", &json!({"query": "current time"})),
            Answer::call("mcp_call", &json!({"server": "clock", "tool": "now", "arguments": {"city": "Rome"}})),
            Answer::text("All done."),
        ],
    )
}

fn home_with_server(model: &ModelServer) -> Home {
    let home = Home::with_model(model);
    let added = home.run(&["mcp", "add", "clock", "--description", "Tells the time", "--", &fake_server()]);
    assert!(added.stdout.contains("Added the MCP server `clock`"), "{} {}", added.stdout, added.stderr);
    home
}

fn tools(request: &Request) -> Vec<String> {
    let tools = request.body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().filter_map(|tool| tool["function"]["name"].as_str().map(str::to_owned)).collect()
}

#[test]
fn a_tool_of_a_server_is_called_after_a_yes() {
    let model = asking_for_the_time();
    let home = home_with_server(&model);
    let shell = home.cohab();
    let mark = shell.submit("? what time is it in Rome");
    shell.wait_text("Let another program do this?");
    shell.wait_text("{\"city\":\"Rome\"}");
    shell.wait_approval("MCP server clock · now");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    let calls = model.wait_for_calls(3);
    assert!(tools(&calls[0]).contains(&"mcp_call".to_owned()), "{:?}", tools(&calls[0]));
    assert!(calls[0].body.to_string().contains("- clock: Tells the time"), "the prompt names the server");
    let found = &calls[1].tool_results()[0].content;
    assert!(found.contains("server clock, tool now") && found.contains("[outside text: "), "{found}");
    let answers = calls[2].tool_results();
    assert!(answers[1].content.contains("12:00"), "{answers:?}");
}

#[test]
fn a_refused_call_reaches_no_server() {
    let model = asking_for_the_time();
    let home = home_with_server(&model);
    let shell = home.cohab();
    let mark = shell.submit("? what time is it in Rome");
    shell.wait_approval("MCP server clock · now");
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    let answers = model.wait_for_calls(3)[2].tool_results();
    assert!(!answers[1].content.contains("12:00"), "{answers:?}");
}

#[test]
fn a_server_asks_the_user_on_cards_of_its_own() {
    let model = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::call("mcp_search", &json!({"query": "ask the user"})),
            Answer::call("mcp_call", &json!({"server": "clock", "tool": "ask"})),
            Answer::text("All done."),
        ],
    );
    let home = home_with_server(&model);
    let shell = home.cohab();
    let mark = shell.submit("? make a note");
    shell.wait_approval("MCP server clock · ask");
    shell.send("y");
    shell.wait_text("colour · optional · one of red, green");
    shell.wait_text("value: green");
    shell.outwait_deaf_card();
    shell.send("y");
    shell.wait_text("Name of the project");
    shell.outwait_deaf_card();
    shell.send("e");
    shell.wait_text("Enter sends it, Esc goes back.");
    shell.send("shop");
    shell.wait_text("> shop");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    let answers = model.wait_for_calls(3)[2].tool_results();
    assert!(answers[1].content.contains(r#"{"colour":"green","name":"shop"}"#), "{answers:?}");
}

#[test]
fn without_servers_nothing_is_offered() {
    let model = ModelServer::start(Wire::OpenAiChat, [Answer::text("All done.")]);
    let home = Home::with_model(&model);
    let shell = home.cohab();
    shell.ask("hello", "All done.");
    let call = &model.wait_for_calls(1)[0];
    assert!(!tools(call).iter().any(|name| name.starts_with("mcp_")), "{:?}", tools(call));
    assert!(!call.body.to_string().contains("MCP"), "{}", call.body);
}

#[test]
fn an_allowed_tool_runs_without_a_card() {
    let model = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::call("mcp_call", &json!({"server": "clock", "tool": "now"})), Answer::text("All done.")],
    );
    let home = home_with_server(&model);
    let tried = home.run(&["mcp", "test", "clock"]);
    assert!(tried.stdout.contains("protocol 2025-11-25, 8 tools"), "{} {}", tried.stdout, tried.stderr);
    assert!(tried.stdout.contains("? /clock:sum PAGE [LENGTH]  Sums a page up."), "{}", tried.stdout);
    let allowed = home.run(&["mcp", "allow", "clock", "now", "--yes"]);
    assert!(allowed.stdout.contains("Returns the current time of a city."), "{} {}", allowed.stdout, allowed.stderr);
    let shell = home.cohab();
    shell.ask("what time is it", "All done.");
    assert!(model.wait_for_calls(2)[1].tool_results()[0].content.contains("12:00"));
}

#[test]
fn a_question_names_a_resource_and_asks_for_a_prompt() {
    let model = ModelServer::start(Wire::OpenAiChat, [Answer::text("All done."), Answer::text("So be it.")]);
    let home = home_with_server(&model);
    let shell = home.cohab();
    shell.ask("what says @clock:note:7?", "All done.");
    shell.ask("/clock:sum intro 'very short'", "So be it.");
    let calls = model.wait_for_calls(2);
    let (first, second) = (calls[0].body.to_string(), calls[1].body.to_string());
    assert!(first.contains("resource: clock:note:7") && first.contains("a note"), "{first}");
    assert!(second.contains("prompt: /clock:sum") && second.contains("Sum up intro, very short."), "{second}");
}

#[test]
fn the_status_row_says_how_far_a_call_is() {
    let index = Answer::call("mcp_call", &json!({"server": "clock", "tool": "index"}));
    let model = ModelServer::start(Wire::OpenAiChat, [index, Answer::text("All done.")]);
    let home = Home::with_model(&model);
    let heard = home.path("heard").display().to_string();
    let _ = home.run(&["mcp", "add", "clock", "--", &fake_server(), "", &heard]);
    let _ = home.run(&["mcp", "allow", "clock", "index", "--yes"]);
    let shell = home.cohab();
    let mark = shell.submit("? index the notes");
    shell.wait_text("40 %, reading files");
    fs::write(heard, "").expect("a file");
    shell.wait_answer(mark, "All done.");
    assert!(model.wait_for_calls(2)[1].tool_results()[0].content.contains("indexed"));
}

#[test]
fn the_daemons_end_ends_servers_and_what_they_started() {
    let search = Answer::call("mcp_search", &json!({"query": "current time"}));
    let model = ModelServer::start(Wire::OpenAiChat, [search, Answer::text("All done.")]);
    let home = Home::with_model(&model);
    let child = home.path("child");
    // As `npx` does, but this one does not care about its child.
    let line =
        format!("sleep 3600 </dev/null >/dev/null 2>&1 & echo $! >'{}'; exec '{}'", child.display(), fake_server());
    let added = home.run(&["mcp", "add", "clock", "--", "sh", "-c", &line]);
    assert!(added.stdout.contains("Added"), "{} {}", added.stdout, added.stderr);
    let shell = home.cohab();
    shell.ask("what time is it", "All done.");
    let id = fs::read_to_string(child).expect("the server was started");
    let state = || fs::read_to_string(format!("/proc/{}/stat", id.trim())).unwrap_or_default();
    assert!(!state().is_empty(), "it runs");
    let stopped = home.run(&["daemon", "stop"]);
    assert_eq!(stopped.status, Some(0), "{stopped:?}");
    eventually("the end of what the server started", || state().is_empty() || state().contains(") Z "));
}
