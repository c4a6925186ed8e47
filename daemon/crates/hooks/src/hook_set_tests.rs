use std::time::{Duration, Instant};

use serde_json::json;

use super::*;
use crate::{input::ToolUse, matcher::Matcher};

fn hook(event: HookEvent, matcher: &str, command: &str) -> Hook {
    let matcher = Matcher::read(matcher).unwrap();
    Hook { event, matcher, command: command.into(), limit: Duration::from_secs(20), source: Path::new("/h").into() }
}

fn guards(commands: &[&str]) -> HookSet {
    let hooks = commands.iter().map(|command| hook(HookEvent::PreToolUse, "Bash", command));
    HookSet::of(hooks.collect(), "/".into())
}

fn moment() -> Moment {
    let path = std::env::var("PATH").unwrap();
    let environment = [("PATH", path.as_str()), ("API_TOKEN", "t0ken"), ("PLAIN", "seen")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    Moment { session: "shell:1".into(), cwd: "/".into(), environment, mode: ApprovalMode::Ask }
}

fn bash(command: &str) -> Occasion {
    let input = json!({"command": command}).as_object().cloned().unwrap();
    Occasion::PreToolUse(ToolUse { id: "1".into(), tool: "bash".into(), input })
}

async fn outcome(commands: &[&str]) -> HookOutcome {
    guards(commands).run(&bash("ls"), &moment()).await
}

const ALLOW: &str = r#"echo '{"hookSpecificOutput": {"permissionDecision": "allow"}}'"#;
const ASK: &str =
    r#"echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "sure?"}}'"#;
const LS_LA: &str = r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "ls -la"}}}'"#;

#[tokio::test]
async fn the_strictest_hook_counts_whatever_its_place() {
    assert_eq!(outcome(&[ALLOW]).await.objection, Objection::None);
    assert_eq!(outcome(&[ALLOW, ASK]).await.objection, Objection::Ask("sure?".into()));
    let blocked = outcome(&["echo no >&2; exit 2", ASK, ALLOW, "echo late >&2; exit 2"]).await;
    assert_eq!(blocked.blocked(), Some(Spoken { hook: "echo no >&2; exit 2".into(), text: "no".into() }));
}

#[tokio::test]
async fn a_change_holds_unless_hooks_disagree_or_object() {
    let changed = outcome(&[ALLOW, LS_LA]).await.updated_input.unwrap();
    assert_eq!(changed.1["command"], "ls -la");
    let other = LS_LA.replace("-la", "-l");
    assert!(outcome(&[LS_LA, &other]).await.blocked().unwrap().text.contains("in different ways"));
    let refused = outcome(&[LS_LA, "exit 2"]).await;
    assert!(refused.blocked().is_some() && refused.updated_input.is_none());
}

#[tokio::test]
async fn a_hook_that_changes_a_call_speaks() {
    assert_eq!(outcome(&[ALLOW, LS_LA]).await.speakers, [LS_LA]);
    assert_eq!(outcome(&[ALLOW]).await.speakers, Vec::<String>::new());
    let other = LS_LA.replace("-la", "-l");
    assert_eq!(outcome(&[LS_LA, &other]).await.speakers.len(), 2);
}

#[tokio::test]
async fn hooks_know_the_session_without_its_secrets() {
    let set = HookSet::of(
        vec![hook(HookEvent::SessionStart, "", "echo $PLAIN ${API_TOKEN-gone} $CLAUDE_PROJECT_DIR $COHAB_PROJECT_DIR")],
        "/p".into(),
    );
    let outcome = set.run(&Occasion::SessionStart { source: "startup" }, &moment()).await;
    assert_eq!(outcome.contexts[0].text, "seen gone /p /p");
    assert_eq!(outcome.speakers.len(), 1);
}

#[tokio::test]
async fn hooks_of_an_event_run_at_once_and_the_same_command_once() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let waits = |n: u32| format!("echo {n} >> {0}; while [ $(wc -l < {0}) -lt 3 ]; do sleep 0.01; done", log.display());
    let commands = [waits(1), waits(2), waits(3), waits(1)];
    let began = Instant::now();
    let outcome = outcome(&commands.each_ref().map(String::as_str)).await;
    assert_eq!((outcome.ran, outcome.objection), (3, Objection::None));
    assert!(began.elapsed() < Duration::from_secs(10), "each waits for the others");
}

#[tokio::test]
async fn only_hooks_for_the_event_and_its_subject_run() {
    let set = HookSet::of(
        vec![
            hook(HookEvent::PreToolUse, "Write|Edit", "exit 2"),
            hook(HookEvent::PostToolUse, "Bash", "exit 2"),
            hook(HookEvent::PreToolUse, "^ba.h$", "exit 0"),
        ],
        "/".into(),
    );
    let outcome = set.run(&bash("ls"), &moment()).await;
    assert_eq!((outcome.ran, outcome.objection), (1, Objection::None));
}

#[tokio::test]
async fn a_call_that_is_too_long_to_be_told_does_not_pass_a_guard() {
    let outcome = guards(&["true"]).run(&bash(&"x".repeat(9 * 1024 * 1024)), &moment()).await;
    assert!(outcome.blocked().unwrap().text.contains("larger than 8 MiB"));
}
