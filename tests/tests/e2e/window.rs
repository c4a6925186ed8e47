//! Long work in a small context: what grows too long is summed up, what is too long to show is paged through.

use std::{fs, os::unix::fs::PermissionsExt};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::json;

use super::ask::events;

const SETTINGS: &str = "[context]\ncompact_over_messages = 10\nkeep_messages = 5\n";
const SUMMARY: &str =
    "Goal: count to five\nDecisions: none\nFiles: none\nShell: nothing changed\nOpen points: five is left";

/// Five calls, a summary, an answer.
fn counting() -> ModelServer {
    let counts = (1..=5).map(|count| Answer::bash(&format!("echo count {count}")));
    let last = [Answer::text(SUMMARY).usage(300, 30), Answer::text("Counted.")];
    ModelServer::start(Wire::OpenAiChat, counts.chain(last))
}

#[test]
fn a_long_turn_is_summed_up_on_its_way_and_what_happened_stays_on_record() {
    let server = counting();
    let home = Home::with_model(&server);
    home.write_config(SETTINGS);
    let finished = home.run(&["ask", "--json", "--approve", "all", "count to five"]);
    let events = events(&finished);
    let notice = events.iter().find(|event| event["type"] == "notice").unwrap_or_else(|| panic!("{finished:?}"));
    let text = notice["text"].as_str().expect("a text");
    assert!(text.starts_with("The conversation grew long: 6 earlier messages were summed up (now about "), "{text}");
    let calls = server.wait_for_calls(7);
    assert!(calls[5].conversation().contains("[assistant calls]\n    bash {\"command\":\"echo count 1\"}"));
    assert!(calls[5].tool_names().is_empty());
    let last = calls[6].conversation();
    assert!(last.contains("<earlier-conversation>") && last.contains("five is left"), "{last}");
    assert!(!last.contains("echo count 1") && last.contains("echo count 5"), "{last}");
    assert_eq!(calls[6].tool_results().len(), 2);

    let mut shown = String::new();
    eventually("the turn is kept", || {
        shown = home.run(&["sessions", "show", "last"]).stdout;
        shown.contains("Counted.")
    });
    assert!(
        shown.contains("echo count 1") && shown.contains("(6 messages before this left the conversation"),
        "{shown}"
    );
    let told: serde_json::Value = serde_json::from_str(&home.run(&["usage", "--json"]).stdout).expect("JSON");
    assert_eq!((told["total"]["calls"].as_u64(), told["total"]["input_tokens"].as_u64() >= Some(300)), (Some(7), true));
}

#[test]
fn a_long_output_is_whole_in_a_file_that_the_model_may_read_and_goes_with_its_session() {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |request| match request.tool_results().last() {
        None => Answer::bash("seq 1 60000"),
        Some(result) => {
            match result.content.split_once("more of it is in ").and_then(|(_, rest)| rest.split_once(',')) {
                Some((path, _)) => Answer::call("read", &json!({"path": path, "offset": 30_000, "limit": 2})),
                None => Answer::text(&format!("It says:\n{}", result.content)),
            }
        }
    });
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--approve", "read-only", "what is in the middle?"]);
    assert!(finished.stdout.contains("30001"), "{finished:?}");
    let calls = server.wait_for_calls(3);
    let cut = &calls[1].tool_results()[0].content;
    assert!(cut.starts_with("1\n2\n") && cut.contains("\n60000\n") && cut.len() < 8_000, "{}", cut.len());
    let outputs = home.paths().state_dir.join("outputs");
    let file = || {
        let folder = fs::read_dir(&outputs).ok()?.flatten().next()?.path();
        Some(fs::read_dir(folder).ok()?.flatten().next()?.path())
    };
    let path = file().expect("a file");
    assert!(fs::read_to_string(&path).expect("text").contains("\n30001\n"));
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o600);
    eventually("the session is kept", || home.run(&["sessions"]).stdout.contains("what is in the middle?"));
    assert_eq!(home.run(&["sessions", "rm", "--all", "--yes"]).status, Some(0));
    assert_eq!(file(), None);
}
