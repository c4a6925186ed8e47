//! Some model always answers, and the configuration decides which.

use cohab_e2e::{Answer, Home, ModelServer, Wire, home::PROMPT};

use crate::ask::{events, text};

#[test]
fn without_any_configuration_the_offline_assistant_answers_and_says_what_it_is() {
    let home = Home::new();
    let finished = home.run(&["ask", "--approve", "read-only", "how much disk space is free"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let answer = finished.stdout.to_lowercase();
    assert!(answer.contains("built-in assistant"), "{finished:?}");
    assert!(answer.contains('%') || answer.contains("available") || answer.contains("free"), "{finished:?}");
}

#[test]
fn the_offline_assistant_acts_in_the_live_shell() {
    let home = Home::new().env("COHAB_PROVIDER", "offline").env("COHAB_APPROVAL", "all");
    home.write("logs/huge.bin", &"x".repeat(3_000_000));
    let shell = home.cohab();
    shell.submit("? what are the biggest files here");
    // There are prompts before the command and before the answer as well.
    shell.wait_for("the answer and the prompt", |view| {
        let shown = view.history().to_lowercase();
        view.is_at_prompt(PROMPT) && shown.contains("huge.bin") && shown.contains("built-in assistant")
    });
    assert!(shell.run("echo usable").contains("usable"));
}

#[test]
fn what_it_does_not_know_it_says_and_how_to_add_a_model() {
    let home = Home::new().env("COHAB_PROVIDER", "offline");
    let finished = home.run(&["ask", "compose a sonnet about the moon"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(
        finished.stdout.contains("OPENAI_API_KEY") || finished.stdout.contains("ANTHROPIC_API_KEY"),
        "{finished:?}"
    );
}

#[test]
fn the_offline_assistant_changes_nothing_unasked() {
    let home = Home::new().env("COHAB_PROVIDER", "offline");
    home.write("precious.txt", "keep me");
    let finished = home.run(&["ask", "delete the file precious.txt"]);
    assert!(finished.status.is_some_and(|status| status <= 1), "{finished:?}");
    assert!(home.path("precious.txt").exists());
}

#[test]
fn a_key_in_the_environment_chooses_its_service() {
    for (wire, key, base) in [
        (Wire::Anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
        (Wire::OpenAiChat, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ] {
        let server = ModelServer::start(wire, [Answer::text("From the service.")]);
        let home = Home::new().env(key, "sk-from-the-environment").env(base, &server.base_url());
        let finished = home.run(&["ask", "--json", "who are you"]);
        assert_eq!(text(&events(&finished)), "From the service.", "{finished:?}");
        let request = &server.wait_for_calls(1)[0];
        assert!(request.headers.iter().any(|(_, value)| value.contains("sk-from-the-environment")), "{request:?}");
    }
}

#[test]
fn the_settings_file_goes_before_keys_in_the_environment() {
    let chosen = ModelServer::start(Wire::OpenAiChat, [Answer::text("Chosen.")]);
    let other = ModelServer::start(Wire::Anthropic, []);
    let home = Home::new().env("ANTHROPIC_API_KEY", "sk-other").env("ANTHROPIC_BASE_URL", &other.base_url());
    home.write_config(&format!(
        "[model]\nprovider = \"openai-chat\"\nbase_url = \"{}\"\nname = \"from-file\"\napi_key = \"sk-file\"\n",
        chosen.base_url()
    ));
    let finished = home.run(&["ask", "--json", "who are you"]);
    assert_eq!(text(&events(&finished)), "Chosen.", "{finished:?}");
    assert_eq!(chosen.wait_for_calls(1)[0].body["model"], "from-file");
    assert!(other.requests().is_empty());
}

#[test]
fn one_daemon_serves_clients_with_different_settings() {
    let first = ModelServer::start(Wire::OpenAiChat, [Answer::text("First.")]);
    let second = ModelServer::start(Wire::Anthropic, [Answer::text("Second.")]);
    let home = Home::with_model(&first);
    assert_eq!(text(&events(&home.run(&["ask", "--json", "hello"]))), "First.");
    let home = home.env("COHAB_PROVIDER", "anthropic").env("COHAB_BASE_URL", &second.base_url());
    assert_eq!(text(&events(&home.run(&["ask", "--json", "hello"]))), "Second.");
    assert_eq!(home.daemon_pids().len(), 1);
}
