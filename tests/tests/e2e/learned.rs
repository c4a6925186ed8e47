//! `cohab memory learn`, and the model that searches what was learned.

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually};
use serde_json::{Value, json};

/// The trust of the turn that is kept with these words.
fn trust(home: &Home, words: &str) -> Option<f64> {
    let printed = home.run(&["memory", "past", "--json", words]).stdout;
    let found: Value = serde_json::from_str(&printed).ok()?;
    found["found"].as_array()?.iter().find(|item| item["kind"] == "turn")?["trust"].as_f64()
}

#[test]
fn a_model_finds_passages_and_trusts_them_as_their_file() {
    for (folder, is_foreign) in [("docs", false), ("Downloads", true)] {
        let search = json!({"queries": ["how do I pull the zebra lever"], "kinds": ["knowledge"]});
        let answers = [Answer::call("memory_search", &search), Answer::bash("echo pulled"), Answer::text("Pulled it.")];
        let server = ModelServer::start(Wire::OpenAiChat, answers);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
        home.write(&format!("{folder}/deploy.md"), "# Staging\n\nPull the zebra lever twice.\n");
        home.write(&format!("{folder}/.env"), "PASSWORD=zebra-lever\n");
        let learned = home.run(&["memory", "learn", folder]).stdout;
        assert!(learned.starts_with(&format!("Learned ~/{folder}: 1 file, 1 passage.\n")), "{learned}");
        let shell = home.cohab();
        shell.ask("pull the lever for staging", "Pulled it.");
        let conversation = server.wait_for_calls(3)[2].conversation();
        for part in [&format!("{folder}/deploy.md:1, under "), "Pull the zebra lever twice."] {
            assert!(conversation.contains(part), "{part} is not in {conversation}");
        }
        eventually("the turn is kept", || trust(&home, "pull the lever").is_some());
        assert_eq!(trust(&home, "pull the lever").is_some_and(|trust| trust < 0.5), is_foreign, "{folder}");
    }
}

#[test]
fn what_is_unlearned_is_in_no_file() {
    let home = Home::new();
    home.write("docs/deploy.md", "Pull the zanzibar lever.\n");
    assert!(home.run(&["memory", "learn", "docs"]).stdout.contains("1 file, 1 passage"));
    assert!(home.run(&["memory", "learned", "zanzibar"]).stdout.starts_with("docs/deploy.md:1\n"));
    assert!(home.run(&["memory", "unlearn", "docs"]).stdout.contains("1 file deleted"));
    let file = std::fs::read(home.paths().knowledge_file()).expect("the file is there");
    assert!(!file.windows(8).any(|part| part == b"zanzibar"));
}
