//! Long work fits into a small context: a long conversation is summed up, a long output is paged through.

use std::{fs, os::unix::fs::PermissionsExt};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::json;

use super::ask::events;

const SETTINGS: &str = "[context]\ncompact_over_messages = 10\nkeep_messages = 5\n";
const SUMMARY: &str =
    "Goal: count to five\nDecisions: none\nFiles: none\nShell: nothing changed\nOpen points: five is left";

/// Commands of a long turn.
const COMMANDS: usize = 60;

#[test]
fn a_long_conversation_is_summed_up_on_its_way_and_what_happened_stays_on_record() {
    let answers = (1..=5).map(|count| Answer::text(&format!("Answer {count}.")));
    let last = [Answer::bash("echo count 1"), Answer::text(SUMMARY).usage(300, 30), Answer::text("Counted.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers.chain(last));
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    home.write_config(SETTINGS);
    let shell = home.cohab();
    for count in 1..=5 {
        shell.ask(&format!("what is {count}?"), &format!("Answer {count}."));
    }
    shell.ask("count to five", "Counted.");
    let shown = shell.look(|view| view.history().split_whitespace().collect::<Vec<_>>().join(" "));
    assert!(shown.contains("The conversation grew long: 6 earlier messages were summarized (now about "), "{shown}");
    let calls = server.wait_for_calls(8);
    assert!(calls[6].conversation().contains("[assistant]\n    Answer 1."));
    assert!(calls[6].tool_names().is_empty());
    let last = calls[7].conversation();
    assert!(last.contains("<earlier-conversation>") && last.contains("five is left"), "{last}");
    assert!(!last.contains("Answer 1.") && last.contains("echo count 1"), "{last}");
    assert_eq!(calls[7].tool_results().len(), 1);

    let mut shown = String::new();
    eventually("the turn is kept", || {
        shown = home.run(&["sessions", "show", "last"]).stdout;
        shown.contains("Counted.")
    });
    assert!(shown.contains("Answer 1.") && shown.contains("(6 earlier messages were removed"), "{shown}");
    // Usage is written in groups, behind the answer.
    let mut total = serde_json::Value::Null;
    eventually("all calls are counted", || {
        let told: serde_json::Value = serde_json::from_str(&home.run(&["usage", "--json"]).stdout).expect("JSON");
        total = told["total"].clone();
        total["calls"].as_u64() >= Some(8)
    });
    assert_eq!((total["calls"].as_u64(), total["input_tokens"].as_u64() >= Some(300)), (Some(8), true));
}

#[test]
fn a_model_that_repeats_what_it_does_not_see_runs_each_command_once() {
    let command = |number| format!("echo s-{number}- ; seq 1 300");
    for strategy in ["summarize", "sliding", "truncate"] {
        let server = ModelServer::respond_with(Wire::OpenAiChat, move |request| {
            let seen = request.conversation();
            match (0..COMMANDS).find(|&number| !seen.contains(&format!("s-{number}- "))) {
                _ if request.tool_names().is_empty() => Answer::text("I cannot sum that up."),
                Some(number) => Answer::bash(&command(number)),
                None => Answer::text("All is done."),
            }
        });
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
        home.write_config(&format!(
            "[context]\nstrategy = '{strategy}'\n[limits]\nsteps_per_turn = 0\n[model]\ncontext_window_tokens = 16000\n"
        ));
        let finished = home.run(&["ask", "--json", "do them all"]);
        let events = events(&finished);
        let ran: Vec<&str> = events.iter().filter_map(|event| event["argument"].as_str()).collect();
        assert_eq!(ran, (0..COMMANDS).map(command).collect::<Vec<_>>(), "{strategy}");
        let texts: Vec<&str> = events.iter().filter_map(|event| event["text"].as_str()).collect();
        assert!(texts.iter().any(|text| text.contains("steps were left out")), "{strategy}: {texts:?}");
        let last = server.requests().pop().expect("a call");
        assert!(last.tool_results().iter().any(|result| result.content == "[exit 0; output left out]"));
        assert!(!last.conversation().contains("Messages before this were left out"), "nothing is missing");
    }
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
    eventually("the session is kept", || home.run(&["sessions", "--all"]).stdout.contains("what is in the middle?"));
    assert_eq!(home.run(&["sessions", "rm", "--all", "--yes"]).status, Some(0));
    assert_eq!(file(), None);
}
