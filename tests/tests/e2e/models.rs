//! Several models share the work: tiers, fallbacks, and repeated answers.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::Value;

use super::ask::{events, text};

/// A home whose settings have these profiles; the first is `[model]`.
fn home(settings: &str, servers: &[(&str, &ModelServer)]) -> Home {
    let home = Home::new();
    let mut text = String::new();
    for (number, (name, server)) in servers.iter().enumerate() {
        let table = if number == 0 { "model".to_owned() } else { format!("profiles.{name}") };
        let url = server.base_url();
        text +=
            &format!("[{table}]\nprovider = \"openai-chat\"\nbase_url = \"{url}\"\nname = \"{name}\"\nretries = 0\n");
        if number == 0 {
            text += settings;
        }
    }
    home.write_config(&text);
    home
}

fn notices(events: &[Value]) -> Vec<&str> {
    let notices = events.iter().filter(|event| event["type"] == "notice");
    notices.filter_map(|event| event["text"].as_str()).collect()
}

fn answering(text: &'static str) -> ModelServer {
    ModelServer::respond_with(Wire::OpenAiChat, move |_| Answer::text(text).usage(10, 2))
}

#[test]
fn a_model_that_has_no_credit_gives_way_after_its_tools_have_run_once() {
    let credit = r#"{"error":{"message":"You have no credit","code":"insufficient_quota"}}"#;
    let first = ModelServer::start(Wire::OpenAiChat, [Answer::bash("echo x >> ran"), Answer::status(402, credit)]);
    let second = answering("Done by another.");
    let home = home("fallback = [\"spare\"]\n[sandbox]\nprofile = \"full\"\n", &[("main", &first), ("spare", &second)]);
    let finished = home.run(&["ask", "--json", "--approve", "all", "write x once"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let events = events(&finished);
    assert!(notices(&events).iter().any(|notice| notice.ends_with("spare answers now.")), "{events:?}");
    assert_eq!(text(&events), "Done by another.", "{finished:?}");
    assert_eq!(fs::read_to_string(home.path("ran")).expect("it ran"), "x\n", "once");
    assert!(second.requests()[0].conversation().contains("echo x"), "it knows what was done");
    eventually("each call is booked on who answered it", || {
        let usage = home.run(&["usage", "--by", "model"]).stdout;
        usage.contains("spare") && usage.contains("main")
    });
}

#[test]
fn a_short_question_goes_to_the_low_tier_and_hard_work_to_the_main_model() {
    let (main, cheap) = (answering("By main."), answering("By cheap."));
    let home = home("[tiers]\nlow = \"cheap\"\n", &[("main", &main), ("cheap", &cheap)]);
    assert!(home.run(&["ask", "what is a symlink?"]).stdout.contains("By cheap."));
    assert!(home.run(&["ask", "refactor the parser"]).stdout.contains("By main."));
    assert!(home.run(&["ask", "--model", "main", "what is a symlink?"]).stdout.contains("By main."));
}

#[test]
fn the_same_question_is_answered_again_without_the_model_until_something_changes() {
    let server = answering("A link is a name.");
    let home = Home::with_model(&server);
    let shell = home.cohab();
    shell.ask("what is a hard link", "A link is a name.");
    let again = shell.ask("What is the hard link??", "A link is a name.");
    assert!(again.contains("without asking the model"), "{again}");
    assert_eq!(server.requests().len(), 1);
    // Another tone, and other instructions, are another question to the model.
    let identity = home.paths().config_file().with_file_name("IDENTITY.md");
    for (asked, change) in [(2, "WHAT IS THE HARD LINK"), (3, "what is a hard link")] {
        let shown = shell.ask(change, "A link is a name.");
        assert!(!shown.contains("without the model"), "{shown}");
        assert_eq!(server.requests().len(), asked);
        fs::create_dir_all(identity.parent().expect("a folder")).expect("a folder");
        fs::write(&identity, "Speak of inodes.\n").expect("it is ours");
    }
    shell.run("echo something happened");
    shell.submit("? what is a hard link");
    assert_eq!(server.wait_for_calls(4).len(), 4);
}

#[test]
fn a_conversation_is_named_in_the_background_by_the_model_that_has_that_role() {
    let main = answering("Clean /var/log.");
    let namer = ModelServer::start(Wire::OpenAiChat, [Answer::text("\"Disk full on /var\"").usage(30, 5)]);
    let home = home("[roles]\nnamer = \"cheap\"\n", &[("main", &main), ("cheap", &namer)]);
    let shell = home.cohab();
    shell.ask("why is my disk full", "Clean /var/log.");
    eventually("the name", || home.run(&["sessions"]).stdout.contains("Disk full on /var"));
    shell.ask("and now", "Clean /var/log.");
    let asked = namer.requests();
    assert_eq!(asked.len(), 1, "only the first answer is followed by a name");
    assert!(asked[0].conversation().contains("why is my disk full") && asked[0].tool_names().is_empty());
    eventually("it is accounted for", || home.run(&["usage", "--by", "model"]).stdout.contains("cheap"));
}
