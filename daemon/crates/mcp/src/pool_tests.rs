//! Tests of running servers, with a program that misbehaves.

use serde_json::{Map, Value, json};

use super::*;
use crate::{
    render,
    testing::{fake, fake_with, pool, surroundings},
};

fn no_arguments() -> Map<String, Value> {
    Map::new()
}

async fn called(pool: &ServerPool, server: &Server, tool: &str) -> Result<String, String> {
    let open = pool.open(server, &surroundings()).await?;
    let result = open.call(tool, no_arguments()).await;
    result.map(|result| render::of_call(&result, 10_000))
}

#[tokio::test]
async fn both_lifecycles_are_spoken() {
    for (manner, protocol) in [("", "2025-11-25"), ("modern", "2026-07-28")] {
        let (_folder, pool) = pool();
        let server = fake(manner);
        let started = pool.start(&server, &surroundings()).await.unwrap();
        assert_eq!((started.protocol.as_str(), started.tools.tools.len()), (protocol, 8), "{manner}");
        assert_eq!(called(&pool, &server, "now").await.as_deref(), Ok("12:00"));
        pool.stop().await;
    }
}

#[tokio::test]
async fn one_process_answers_all_and_a_second_start_is_none() {
    let (_folder, pool) = pool();
    let server = fake("");
    assert!(!pool.is_running(&server));
    let surroundings = surroundings();
    let (first, second) = tokio::join!(pool.tools(&server, &surroundings), pool.tools(&server, &surroundings));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(pool.slots.lock().unwrap().len(), 1);
    assert!(pool.is_running(&server));
    let arguments = json!({"a": 1}).as_object().cloned().unwrap();
    let result = pool.open(&server, &surroundings).await.unwrap().call("echo", arguments).await.unwrap();
    assert_eq!(render::of_call(&result, 1_000), "{\"a\":1}");
    pool.stop().await;
    assert!(!pool.is_running(&server));
}

#[tokio::test]
async fn a_program_gets_no_secrets_unless_its_definition_names_them() {
    let (_folder, pool) = pool();
    let mut server = fake("");
    let names = called(&pool, &server, "environment").await.unwrap();
    assert!(names.contains("PATH") && !names.contains("GITHUB_TOKEN"), "{names}");
    server.settings.env.insert("TOKEN".into(), "${GITHUB_TOKEN}".into());
    let names = called(&pool, &server, "environment").await.unwrap();
    assert!(names.contains("TOKEN") && !names.contains("GITHUB_TOKEN"), "{names}");
}

#[tokio::test]
async fn a_dead_server_costs_one_line_and_is_not_started_again_at_once() {
    let (_folder, pool) = pool();
    let server = fake("die");
    let error = pool.tools(&server, &surroundings()).await.unwrap_err();
    assert!(error.contains("it ended before it answered; it wrote: no module named time"), "{error}");
    let again = pool.tools(&server, &surroundings()).await.unwrap_err();
    assert!(again.contains("it can be tried again in"), "{again}");
    let mut missing = fake("");
    missing.settings.command = Some("/no/such/program".into());
    let error = pool.tools(&missing, &surroundings()).await.unwrap_err();
    assert!(error.contains("cannot be started") && error.lines().count() == 1, "{error}");
}

#[tokio::test]
async fn a_server_that_crashes_in_a_call_says_why_and_is_started_again_later() {
    let (_folder, pool) = pool();
    let server = fake("crash");
    let error = called(&pool, &server, "now").await.unwrap_err();
    assert!(error.contains("it ended"), "{error}");
    let error = called(&pool, &server, "now").await.unwrap_err();
    assert!(error.contains("it can be tried again in"), "{error}");
}

#[tokio::test]
async fn answers_that_are_too_large_are_refused_while_they_come() {
    let (_folder, pool) = pool();
    let error = called(&pool, &fake("huge"), "now").await.unwrap_err();
    assert!(error.contains("a message of more than 8 MB"), "{error}");
    let error = called(&pool, &fake("flood"), "now").await.unwrap_err();
    assert!(error.contains("without being asked"), "{error}");
}

#[tokio::test]
async fn ten_thousand_tools_and_lists_without_end_are_survived() {
    let (_folder, pool) = pool();
    let many = pool.tools(&fake("many"), &surroundings()).await.unwrap();
    assert_eq!((many.tools.len(), many.left_out), (listing::MAX_TOOLS, 500));
    let endless = pool.tools(&fake("endless"), &surroundings()).await.unwrap();
    assert_eq!(endless.tools.len(), 200, "as many as pages");
    let imitating = pool.tools(&fake("imitate"), &surroundings()).await.unwrap();
    assert_eq!((imitating.tools.len(), imitating.left_out), (1, 1), "a name with an escape is none");
}

#[tokio::test]
async fn an_announced_list_is_read_again_and_a_changed_tool_has_another_action() {
    let (_folder, pool) = pool();
    let server = fake("");
    let before = pool.tools(&server, &surroundings()).await.unwrap();
    let digest = |tools: &Listing| tools.find("now").unwrap().digest.clone();
    assert_eq!(pool.action(&server, "now", Some(&digest(&before))), "now");
    called(&pool, &server, "change").await.unwrap();
    let mut after = pool.tools(&server, &surroundings()).await.unwrap();
    while digest(&before) == digest(&after) {
        tokio::task::yield_now().await;
        after = pool.tools(&server, &surroundings()).await.unwrap();
    }
    let action = pool.action(&server, "now", Some(&digest(&after)));
    assert!(action.starts_with("now (changed, "), "{action}");
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once_and_the_server_goes_on_for_others() {
    let (_folder, pool) = pool();
    let server = fake("");
    pool.tools(&server, &surroundings()).await.unwrap();
    let open = pool.open(&server, &surroundings()).await.unwrap();
    let waiting = open.call("wait", no_arguments());
    assert!(timeout(Duration::from_millis(50), waiting).await.is_err());
    assert!(pool.is_running(&server));
}

#[tokio::test]
async fn garbage_and_silence_end_with_the_time_limit() {
    tokio::time::pause();
    for manner in ["hang", "garbage"] {
        let (_folder, pool) = pool();
        let error = pool.tools(&fake(manner), &surroundings()).await.unwrap_err();
        assert!(error.contains("it did not answer within 60 s") || error.contains("it ended"), "{manner}: {error}");
    }
}

#[tokio::test]
async fn an_idle_server_is_stopped() {
    let (_folder, pool) = pool();
    let pool = pool.with_idle(Duration::from_millis(20));
    let server = fake("");
    pool.tools(&server, &surroundings()).await.unwrap();
    while pool.is_running(&server) {
        tokio::task::yield_now().await;
    }
    assert!(pool.known_tools(&server).is_some(), "its tools are still known");
    assert_eq!(called(&pool, &server, "now").await.as_deref(), Ok("12:00"), "it is started again");
}

#[tokio::test]
async fn resources_are_listed_and_read() {
    let (_folder, pool) = pool();
    let server = fake("");
    let resources = pool.resources(&server, &surroundings()).await.unwrap();
    assert_eq!(resources.listed[0].uri, "note:1");
    let read = pool.read(&server, &surroundings(), "note:1").await.unwrap();
    assert_eq!(render::of_resource(&read, 100), "a note");
}

#[tokio::test]
async fn an_address_of_another_machine_needs_https() {
    let (_folder, pool) = pool();
    let settings = cohab_config::mcp::McpServer::at("http://example.org/mcp".into());
    let server = Server { name: "docs".into(), author: crate::server::Author::User, settings, files: Vec::new() };
    let error = pool.tools(&server, &surroundings()).await.unwrap_err();
    assert!(error.contains("must start with `https://`"), "{error}");
}

#[test]
fn the_pause_after_failures_grows_and_is_bounded() {
    let pause = |failures| SlotState { failures, ..SlotState::default() }.pause().as_secs();
    assert_eq!([1, 2, 3, 4, 20].map(pause), [2, 4, 8, 16, 300]);
}

#[tokio::test]
async fn after_a_stop_the_tools_are_listed_again_before_a_call() {
    let (folder, pool) = pool();
    let pool = pool.with_idle(Duration::from_millis(20));
    let server = fake_with("other each time", &folder.path().join("was-here"));
    let before = pool.tools(&server, &surroundings()).await.unwrap();
    while pool.is_running(&server) {
        tokio::task::yield_now().await;
    }
    assert_eq!(pool.tools(&server, &surroundings()).await.unwrap().tools.len(), before.tools.len(), "as it was known");
    let open = pool.open(&server, &surroundings()).await.unwrap();
    let digest = |tools: &Listing| tools.find("now").unwrap().digest.clone();
    assert_ne!(digest(&open.tools), digest(&before));
}

#[tokio::test]
async fn a_call_after_the_server_ended_starts_no_other_process() {
    let (_folder, pool) = pool();
    let server = fake("crash");
    let open = pool.open(&server, &surroundings()).await.unwrap();
    for _ in 0..2 {
        let error = open.call("now", no_arguments()).await.unwrap_err();
        assert!(error.contains("it ended"), "{error}");
    }
}

/// Waits until no process of this number runs.
async fn wait_for_end(process: &str) {
    let is_running = || {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    while is_running() {
        sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn what_a_server_started_ends_with_it() {
    let (folder, pool) = pool();
    let file = folder.path().join("child");
    let server = fake_with("with child", &file);
    pool.tools(&server, &surroundings()).await.unwrap();
    let child = std::fs::read_to_string(&file).unwrap();
    assert!(std::path::Path::new(&format!("/proc/{child}")).exists(), "it runs");
    pool.stop().await;
    timeout(Duration::from_secs(20), wait_for_end(&child)).await.expect("stopped in order");
    pool.tools(&server, &surroundings()).await.unwrap();
    let child = std::fs::read_to_string(&file).unwrap();
    let slots = std::mem::take(&mut *pool.slots.lock().unwrap());
    for slot in slots.values() {
        drop(slot.state.lock().await.connection.take());
    }
    timeout(Duration::from_secs(20), wait_for_end(&child)).await.expect("dropped");
}

#[tokio::test]
async fn an_answer_makes_the_pause_short_again() {
    let (_folder, pool) = pool();
    let server = fake("");
    let open = pool.open(&server, &surroundings()).await.unwrap();
    open.slot.state.lock().await.failures = 5;
    open.call("now", no_arguments()).await.unwrap();
    assert_eq!(open.slot.state.lock().await.failures, 0);
}

#[tokio::test]
async fn what_a_server_started_ends_with_a_start_that_fails() {
    let (folder, pool) = pool();
    let file = folder.path().join("child");
    let mut server = fake("");
    server.settings.command = Some("sh".into());
    let line = format!("sleep 3600 </dev/null >/dev/null 2>&1 & echo $! >'{}'; exit 3", file.display());
    server.settings.args = vec!["-c".into(), line];
    let error = pool.tools(&server, &surroundings()).await.unwrap_err();
    assert!(error.contains("it ended"), "{error}");
    let child = std::fs::read_to_string(&file).unwrap();
    timeout(Duration::from_secs(20), wait_for_end(child.trim())).await.unwrap();
}
