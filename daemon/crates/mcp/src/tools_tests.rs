//! Tests of the model's tools, with a fake server.

use std::{
    path::{Path, PathBuf},
    sync::Mutex,
};

use async_trait::async_trait;
use cohab_agent::{
    port::{
        Agreed, ApprovalAnswer, ApprovalSubject, Effect, EventSink, Lasts, NoSink, ToolContext, ToolOutput, TurnEvent,
    },
    runner::CommandRunner,
};
use cohab_model_api::JsonObject;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::{
    catalog::Catalog,
    consents::{ConsentFile, Consents, ToolConsent},
    server::Server,
    testing::{Person, fake, fake_with, pool, surroundings},
};

fn turn(servers: Vec<Server>, consents: Consents) -> (tempfile::TempDir, Arc<TurnServers>) {
    turn_of("", servers, consents)
}

/// The turn of a question.
fn turn_of(question: &str, servers: Vec<Server>, consents: Consents) -> (tempfile::TempDir, Arc<TurnServers>) {
    let (folder, pool) = pool();
    let paths = cohab_protocol::Paths::new(
        |name| (name == "HOME").then(|| folder.path().to_owned()),
        rustix::process::getuid().as_raw(),
    );
    let turn = TurnServers {
        pool: Arc::new(pool),
        catalog: Catalog { servers, consents: Some(consents) },
        surroundings: surroundings(),
        consents: ConsentFile::of(&paths),
        search_wait: SEARCH_WAIT,
        output_max_bytes: 10_000,
        user: Person::answering(&[]),
        question: question.to_owned(),
        judged: Mutex::default(),
    };
    (folder, Arc::new(turn))
}

fn named(servers: &Arc<TurnServers>, name: &str) -> Arc<dyn Tool> {
    tools(servers).into_iter().find(|tool| tool.spec().name == name).unwrap()
}

fn object(value: &Value) -> JsonObject {
    value.as_object().cloned().unwrap()
}

struct NoShell;

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        unreachable!("no tool of servers runs a command")
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

async fn run(tool: &Arc<dyn Tool>, args: &Value) -> Result<ToolOutput, String> {
    let cancel = CancellationToken::new();
    run_with(tool, args, &cancel).await
}

async fn run_with(tool: &Arc<dyn Tool>, args: &Value, cancel: &CancellationToken) -> Result<ToolOutput, String> {
    let context =
        ToolContext { runner: &NoShell, approval: None, run_id: String::new(), is_check: false, cancel, sink: &NoSink };
    tool.intent(&object(args), Path::new("/"))?;
    tool.call(&object(args), &context).await
}

fn effect(tool: &Arc<dyn Tool>, args: &Value) -> (String, String, Agreed) {
    match tool.intent(&object(args), Path::new("/")).unwrap().effect {
        Effect::Foreign { by, action, details, agreed } => (format!("{by}: {action}"), details.to_string(), agreed),
        other => panic!("{other:?}"),
    }
}

fn allowing(tool: &str, consent: ToolConsent) -> Consents {
    let mut consents = Consents::default();
    consents.servers.entry("fake".into()).or_default().tools.insert(tool.into(), consent);
    consents
}

#[test]
fn without_servers_there_are_no_tools() {
    let (_folder, turn) = turn(Vec::new(), Consents::default());
    assert!(tools(&turn).is_empty());
}

#[tokio::test]
async fn a_tool_is_found_by_words_and_called() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let found = run(&named(&turn, "mcp_search"), &json!({"query": "current time"})).await.unwrap();
    assert_eq!(found.summary, "1 tool");
    let expected =
        "[outside text: MCP server fake]\nserver fake, tool now\nReturns the current time of a city.\narguments: ";
    assert!(found.content.starts_with(expected), "{}", found.content);
    let call = named(&turn, "mcp_call");
    let args = json!({"server": "fake", "tool": "now", "arguments": {"city": "Rome"}});
    assert_eq!(effect(&call, &args), ("MCP server fake: now".into(), "{\"city\":\"Rome\"}".into(), Agreed::No));
    let answer = run(&call, &args).await.unwrap();
    assert_eq!(answer.content, "[outside text: MCP server fake]\n12:00");
    let failed = run(&call, &json!({"server": "fake", "tool": "fail"})).await.unwrap();
    assert_eq!((failed.is_failure, failed.summary.as_str()), (true, "failed"));
}

#[tokio::test]
async fn what_cannot_be_called_is_refused_with_advice() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let call = named(&turn, "mcp_call");
    for (args, reason) in [
        (json!({"server": "fak", "tool": "now"}), "did you mean `fake`?"),
        (json!({"server": "fake", "tool": "nov"}), "did you mean `now`?"),
        (json!({"server": "fake", "tool": "now", "arguments": 3}), "must be an object"),
        (json!({"server": "fake", "tool": "now", "arguments": {"x": "y".repeat(200_000)}}), "more than 128 kB"),
        (json!({"server": "fake"}), "missing field `tool`"),
    ] {
        let error = run(&call, &args).await.unwrap_err();
        assert!(error.contains(reason), "{error}");
    }
    let search = named(&turn, "mcp_search");
    let error = run(&search, &json!({"query": " "})).await.unwrap_err();
    assert!(error.contains("name a `server`"), "{error}");
    let args = json!({"server": "fake", "tool": "echo", "arguments": "{\"a\": 1}"});
    assert!(run(&call, &args).await.unwrap().content.ends_with("{\"a\":1}"), "text that is an object");
}

#[tokio::test]
async fn lists_of_the_user_decide_and_a_changed_tool_is_asked_about_again() {
    let mut server = fake("");
    server.settings.allow = vec!["now".into()];
    server.settings.deny = vec!["fail".into()];
    let (_folder, turn) = turn(vec![server.clone()], Consents::default());
    let call = named(&turn, "mcp_call");
    let now = json!({"server": "fake", "tool": "now"});
    assert_eq!(effect(&call, &now).2, Agreed::ByRule, "the settings allow it");
    let error = call.intent(&object(&json!({"server": "fake", "tool": "fail"})), Path::new("/")).unwrap_err();
    assert!(error.contains("never allows"), "{error}");
    run(&call, &now).await.unwrap();
    let seen = turn.consents.read().unwrap();
    let ToolConsent::Seen { definition } = &seen.servers["fake"].tools["now"] else { panic!("{seen:?}") };
    // The server announces another definition.
    run(&call, &json!({"server": "fake", "tool": "change"})).await.unwrap();
    while turn.pool.tools(&server, &surroundings()).await.unwrap().find("now").unwrap().digest == *definition {
        tokio::task::yield_now().await;
    }
    let later = TurnServers {
        question: String::new(),
        pool: Arc::clone(&turn.pool),
        catalog: Catalog { servers: vec![server], consents: Some(seen.clone()) },
        surroundings: surroundings(),
        consents: turn.consents.clone(),
        search_wait: SEARCH_WAIT,
        output_max_bytes: 10_000,
        user: Person::answering(&[]),
        judged: Mutex::default(),
    };
    let later = Arc::new(later);
    let (what, _, agreed) = effect(&named(&later, "mcp_call"), &now);
    assert!(what.contains("now (changed, ") && agreed == Agreed::No, "{what} {definition}");
}

#[tokio::test]
async fn a_tool_that_changes_between_question_and_call_is_not_called() {
    let server = fake("");
    let (_folder, turn) = turn(vec![server.clone()], Consents::default());
    let call = named(&turn, "mcp_call");
    turn.pool.tools(&server, &surroundings()).await.unwrap();
    let now = object(&json!({"server": "fake", "tool": "now"}));
    call.intent(&now, Path::new("/")).unwrap();
    run(&call, &json!({"server": "fake", "tool": "change"})).await.unwrap();
    while turn.pool.tools(&server, &surroundings()).await.unwrap().find("echo").is_some() {
        tokio::task::yield_now().await;
    }
    let cancel = CancellationToken::new();
    let context = ToolContext {
        runner: &NoShell,
        approval: None,
        run_id: String::new(),
        is_check: false,
        cancel: &cancel,
        sink: &NoSink,
    };
    let error = call.call(&now, &context).await.unwrap_err();
    assert!(error.contains("has changed the tool"), "{error}");
}

#[tokio::test]
async fn tools_that_the_user_read_and_allowed_bring_no_outside_text() {
    let server = fake("");
    let (_folder, first) = turn(vec![server.clone()], Consents::default());
    let tools = first.pool.tools(&server, &surroundings()).await.unwrap();
    let allowed = ToolConsent::Allowed { definition: tools.find("now").unwrap().digest.clone() };
    let (_folder, turn) = turn(vec![server], allowing("now", allowed));
    let found = run(&named(&turn, "mcp_search"), &json!({"query": "city"})).await.unwrap();
    assert!(found.content.starts_with("server fake, tool now"), "{}", found.content);
    assert_eq!(effect(&named(&turn, "mcp_call"), &json!({"server": "fake", "tool": "now"})).2, Agreed::ByRule);
    let found = run(&named(&turn, "mcp_search"), &json!({"query": "arguments"})).await.unwrap();
    assert!(found.content.starts_with("[outside text: "), "{}", found.content);
}

#[tokio::test]
async fn a_server_that_cannot_be_asked_does_not_hide_the_others() {
    let mut dead = fake("die");
    dead.name = "dead".into();
    let (_folder, turn) = turn(vec![dead, fake("many")], Consents::default());
    let found = run(&named(&turn, "mcp_search"), &json!({"query": "many"})).await.unwrap();
    assert_eq!(found.summary, "10000 tools");
    assert!(found.content.contains("Not available: dead: it ended"), "{}", found.content);
    assert!(found.content.len() < 40_000, "{}", found.content.len());
}

#[tokio::test]
async fn a_cancelled_turn_ends_the_call() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let call = named(&turn, "mcp_call");
    turn.pool.tools(&fake(""), &surroundings()).await.unwrap();
    let cancel = CancellationToken::new();
    let args = json!({"server": "fake", "tool": "wait"});
    let waiting = run_with(&call, &args, &cancel);
    let cancelling = async {
        tokio::task::yield_now().await;
        cancel.cancel();
    };
    let (answer, ()) = tokio::join!(waiting, cancelling);
    assert_eq!(answer.unwrap_err(), "cancelled before it ended");
}

#[tokio::test]
async fn resources_are_text_of_others() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let read = named(&turn, "mcp_read");
    let listed = run(&read, &json!({"server": "fake"})).await.unwrap().content;
    assert!(listed.starts_with("[outside text: MCP server fake]\nnote:1 one"), "{listed}");
    let args = json!({"server": "fake", "uri": "note:1"});
    assert_eq!(effect(&read, &args), ("MCP server fake: read a resource".into(), "note:1".into(), Agreed::No));
    assert!(run(&read, &args).await.unwrap().content.ends_with("a note"));
}

/// What a later turn with the same servers shares.
fn next_turn(turn: &Arc<TurnServers>) -> Arc<TurnServers> {
    Arc::new(TurnServers {
        question: String::new(),
        pool: Arc::clone(&turn.pool),
        catalog: turn.catalog.clone(),
        surroundings: surroundings(),
        consents: turn.consents.clone(),
        search_wait: turn.search_wait,
        output_max_bytes: 10_000,
        user: Person::answering(&[]),
        judged: Mutex::default(),
    })
}

#[tokio::test]
async fn a_consent_to_a_tool_does_not_cover_another_process_with_another_one() {
    let (folder, turn) = turn(Vec::new(), Consents::default());
    let server = fake_with("other each time", &folder.path().join("was-here"));
    let mut turn = Arc::into_inner(turn).unwrap();
    turn.catalog.servers.push(server);
    let turn = Arc::new(turn);
    let now = json!({"server": "fake", "tool": "now"});
    let call = named(&turn, "mcp_call");
    assert!(run(&call, &now).await.unwrap().content.ends_with("12:00"));
    // As after a crash: nothing is known of the tools.
    turn.pool.stop().await;
    let turn = next_turn(&turn);
    let call = named(&turn, "mcp_call");
    assert_eq!(effect(&call, &now).0, "MCP server fake: now", "a consent for the session is to this name");
    let error = run(&call, &now).await.unwrap_err();
    assert!(error.contains("has changed the tool"), "{error}");
    let action = effect(&named(&next_turn(&turn), "mcp_call"), &now).0;
    assert!(action.contains("now (changed, "), "{action}");
}

#[tokio::test]
async fn without_readable_consents_every_tool_is_asked_about() {
    let mut server = fake("");
    server.settings.allow = vec!["now".into()];
    server.settings.deny = vec!["fail".into()];
    let (_folder, turn) = turn(vec![server], Consents::default());
    let mut turn = Arc::into_inner(turn).unwrap();
    turn.catalog.consents = None;
    let turn = Arc::new(turn);
    let call = named(&turn, "mcp_call");
    let now = json!({"server": "fake", "tool": "now"});
    assert_eq!(effect(&call, &now).2, Agreed::No);
    assert!(call.intent(&object(&json!({"server": "fake", "tool": "fail"})), Path::new("/")).is_err());
    run(&call, &now).await.unwrap();
    assert_eq!(turn.consents.read().unwrap(), Consents::default(), "nothing counts as seen");
}

#[tokio::test]
async fn a_start_that_takes_longer_than_a_search_continues() {
    let (folder, turn) = turn(Vec::new(), Consents::default());
    let file = folder.path().join("downloaded");
    let server = fake_with("slow", &file);
    let mut turn = Arc::into_inner(turn).unwrap();
    turn.catalog.servers.push(server.clone());
    turn.search_wait = std::time::Duration::from_millis(20);
    let turn = Arc::new(turn);
    let found = run(&named(&turn, "mcp_search"), &json!({"query": "time"})).await.unwrap();
    assert!(found.content.contains("it has not started yet"), "{}", found.content);
    std::fs::write(&file, "").unwrap();
    while turn.pool.known_tools(&server).is_none() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_asks_the_user_of_the_call_in_its_middle() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let typed = |text: &str| ApprovalAnswer::Edited { command: text.into(), approval: None };
    let yes = ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once };
    let person = Person::answering(&[yes, typed("shop")]);
    let later = next_turn(&turn);
    let later = Arc::new(TurnServers { user: Arc::clone(&person) as _, ..Arc::into_inner(later).unwrap() });
    let output = run(&named(&later, "mcp_call"), &json!({"server": "fake", "tool": "ask"})).await.unwrap();
    assert!(output.content.contains(r#""content":{"colour":"green","name":"shop"}"#), "{}", output.content);
    let asked = person.asked.lock().unwrap();
    let ApprovalSubject::Input { by, message, label, .. } = &asked[0].subject else { panic!("no input") };
    assert_eq!((by.as_str(), message.as_str()), ("MCP server fake", "Where does the note go?"));
    assert_eq!(label, "1 of 2: colour · optional · one of red, green");
}

#[tokio::test]
async fn a_prompt_is_filled_in_for_the_user_who_asks_for_it() {
    let (_folder, turn) = turn_of("/fake:sum notes in short", vec![fake("")], Consents::default());
    let prompt = named(&turn, "mcp_prompt");
    let args = json!({"server": "fake", "prompt": "sum", "words": "notes in short"});
    assert_eq!(
        effect(&prompt, &args),
        ("MCP server fake: read a prompt".into(), "sum notes in short".into(), Agreed::InQuestion)
    );
    assert_eq!(
        effect(&prompt, &json!({"server": "fake", "prompt": "sum", "words": "/etc"})).2,
        Agreed::No,
        "other words"
    );
    let filled = run(&prompt, &args).await.unwrap();
    let expected = "[outside text: MCP server fake]\nSum up notes, in short.\nassistant: With pleasure.";
    assert_eq!(filled.content, expected);
    for (args, advice) in [
        (json!({"server": "fake", "prompt": "sun"}), "did you mean `/fake:sum`?"),
        (json!({"server": "fake", "prompt": "x"}), "`cohab mcp test fake` lists its prompts"),
        (json!({"server": "fake", "prompt": "sum"}), "it wants more words: `/fake:sum PAGE [LENGTH]`"),
    ] {
        let error = run(&prompt, &args).await.unwrap_err();
        assert!(error.contains(advice), "{error}");
    }
}

#[tokio::test]
async fn only_a_question_that_asks_for_a_prompt_has_the_tool_for_it() {
    for question in ["/other:sum x", "sum up", "/fake sum", "say /fake:sum"] {
        let (_folder, turn) = turn_of(question, vec![fake("")], Consents::default());
        assert_eq!(tools(&turn).len(), 3, "{question}");
    }
}

#[tokio::test]
async fn a_resource_that_the_question_names_is_agreed_to() {
    let (_folder, turn) = turn_of("what says @fake:note:1?", vec![fake("")], Consents::default());
    let read = named(&turn, "mcp_read");
    assert_eq!(effect(&read, &json!({"server": "fake", "uri": "note:1"})).2, Agreed::InQuestion);
    assert_eq!(effect(&read, &json!({"server": "fake", "uri": "note:2"})).2, Agreed::No);
    assert_eq!(effect(&read, &json!({"server": "fake"})).2, Agreed::No);
}

#[tokio::test]
async fn resources_are_listed_page_by_page_with_templates_of_addresses() {
    let (_folder, turn) = turn(vec![fake("")], Consents::default());
    let listed = run(&named(&turn, "mcp_read"), &json!({"server": "fake"})).await.unwrap();
    let expected =
        "[outside text: MCP server fake]\nnote:1 one: \nnote:2 two: \nnote:{number} any (a template): By its number.\n";
    assert_eq!(listed.content, expected);
}

/// Takes the first event, and makes a file then.
struct Heard {
    file: PathBuf,
    events: Mutex<Vec<TurnEvent>>,
}

#[async_trait]
impl EventSink for Heard {
    async fn emit(&self, event: TurnEvent) {
        self.events.lock().unwrap().push(event);
        std::fs::write(&self.file, "").unwrap();
    }

    fn pause(&self) {}
}

#[tokio::test]
async fn the_user_hears_how_far_a_call_is_while_it_runs() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("heard");
    let (_folder, turn) = turn(vec![fake_with("", &file)], Consents::default());
    let (tool, cancel) = (named(&turn, "mcp_call"), CancellationToken::new());
    let heard = Heard { file, events: Mutex::default() };
    let context = ToolContext {
        runner: &NoShell,
        approval: None,
        run_id: String::new(),
        is_check: false,
        cancel: &cancel,
        sink: &heard,
    };
    let args = object(&json!({"server": "fake", "tool": "index"}));
    tool.intent(&args, Path::new("/")).unwrap();
    let output = tool.call(&args, &context).await.unwrap();
    assert!(output.content.ends_with("\nindexed"), "{}", output.content);
    assert_eq!(*heard.events.lock().unwrap(), [TurnEvent::StepProgress("40 %, reading files".into())]);
}
