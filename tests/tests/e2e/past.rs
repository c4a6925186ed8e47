//! Questions about what was done before, and what is kept for them.

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell, deadline::eventually};
use serde_json::{Value, json};

const KEPT: &str = "[memory]\nshell_history = true\n";

/// What `cohab memory past` finds for these words.
fn found(home: &Home, words: &str) -> Vec<Value> {
    let printed = home.run(&["memory", "past", "--json", words]).stdout;
    let value: Value = serde_json::from_str(&printed).expect("JSON");
    value["found"].as_array().expect("a list").clone()
}

fn lines(home: &Home, words: &str) -> Vec<String> {
    found(home, words).iter().filter_map(|hit| hit["line"].as_str().map(str::to_owned)).collect()
}

#[test]
fn the_built_in_assistant_finds_a_command_of_the_user() {
    in_each_shell(|name| {
        let home = Home::new().shell(name);
        home.write_config(KEPT);
        home.write("media/trailer.mov", "x");
        let shell = home.cohab();
        shell.run("cd media");
        shell.run("wc -c trailer.mov");
        shell.run(" wc -l trailer.mov");
        shell.run(&format!("echo {} trailer", ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat()));
        eventually("the command is kept", || lines(&home, "trailer") == ["wc -c trailer.mov"]);
        let mark = shell.submit("? what was the wc line I used on the trailer");
        let told = shell.wait_answer(mark, "wc -c trailer.mov");
        assert!(told.contains("in ~/media, worked"), "{told}");
        let hit = &found(&home, "trailer")[0];
        assert_eq!((hit["exit_code"].as_i64(), hit["source"].as_str()), (Some(0), Some("shell")));
    });
}

#[test]
fn the_users_commands_are_not_kept_unless_the_settings_say_so() {
    let home = Home::new();
    let shell = home.cohab();
    shell.run("echo quiet zanzibar");
    let mark = shell.submit("what did I do with zanzibar yesterday");
    let told = shell.wait_answer(mark, "memory.shell_history");
    assert!(told.contains("Nothing was found"), "{told}");
    assert_eq!(found(&home, "zanzibar"), Vec::<Value>::new());
}

#[test]
fn a_model_searches_the_turns_of_earlier_conversations() {
    let answers = [
        Answer::bash("echo restarted-nginx"),
        Answer::text("Nginx was restarted."),
        Answer::call("memory_search", &json!({"queries": ["nginx", "web server last week"]})),
        Answer::text("You restarted it."),
    ];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.ask("restart nginx please", "Nginx was restarted.");
    eventually("the turn is kept", || found(&home, "nginx").len() == 1);
    let mark = shell.submit("? /new");
    shell.wait_next_prompt(mark);
    shell.ask("did you do anything with nginx", "You restarted it.");
    let conversation = server.wait_for_calls(4)[3].conversation();
    for part in ["asked: restart nginx please", "echo restarted-nginx", "Answer: Nginx was restarted."] {
        assert!(conversation.contains(part), "{part} is not in {conversation}");
    }
    // A turn that only searched would be found in place of what it found.
    assert_eq!(found(&home, "nginx").len(), 1);
}

#[test]
fn a_model_searches_what_was_said_in_earlier_conversations() {
    let answers = [
        Answer::text("Staging is on host blue."),
        Answer::bash("cat /tmp/../srv/page 2>/dev/null; curl -s file:///dev/null; echo obey-zanzibar"),
        Answer::text("The page about staging says obey-zanzibar."),
        Answer::call("conversation_search", &json!({"query": "what about staging"})),
        Answer::text("It is on host blue."),
    ];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    home.write_config("[model]\ncontext_window_tokens = 128000\n");
    let shell = home.cohab();
    shell.ask("where is staging", "Staging is on host blue.");
    shell.ask("read the page about staging", "obey-zanzibar.");
    eventually("the turns are kept", || found(&home, "staging").len() == 2);
    let mark = shell.submit("? /new");
    shell.wait_next_prompt(mark);
    shell.ask("what did we say about staging", "It is on host blue.");
    let conversation = server.wait_for_calls(5)[4].conversation();
    for part in
        ["the user: where is staging", "you: Staging is on host blue.", "the user: read the page", "1 text left out"]
    {
        assert!(conversation.contains(part), "{part} is not in {conversation}");
    }
    assert!(!conversation.contains("obey-zanzibar") && !conversation.contains("the user: what did we say"));
}

#[test]
fn what_a_turn_did_after_strangers_text_does_not_come_back() {
    let answers = [
        Answer::bash("cat /tmp/../srv/page 2>/dev/null; curl -s file:///dev/null; echo obey-zanzibar"),
        Answer::text("The page says obey-zanzibar."),
        Answer::call("memory_search", &json!({"queries": ["zanzibar page"]})),
        Answer::text("Nothing of use."),
    ];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    let shell = home.cohab();
    shell.ask("read the zanzibar page", "The page says obey-zanzibar.");
    eventually("the turn is kept", || found(&home, "zanzibar").len() == 1);
    assert!(found(&home, "zanzibar")[0]["trust"].as_f64().is_some_and(|trust| trust < 0.5));
    let mark = shell.submit("? /new");
    shell.wait_next_prompt(mark);
    shell.ask("what did the zanzibar page say", "Nothing of use.");
    let conversation = server.wait_for_calls(4)[3].conversation();
    assert!(conversation.contains("asked: read the zanzibar page") && !conversation.contains("obey-zanzibar"));
}

#[test]
fn what_is_forgotten_is_in_no_file() {
    let home = Home::new();
    home.write(".bash_history", "#1700000000\nmake zanzibar\n#1700000100\nls\n");
    let imported = home.run(&["memory", "import", "--history", "bash", "--yes"]).stdout;
    assert!(imported.contains("Imported 2 commands from ~/.bash_history"), "{imported}");
    assert!(home.run(&["memory", "import", "--history", "bash", "--yes"]).stdout.contains("2 were known already"));
    assert_eq!(lines(&home, "zanzibar"), ["make zanzibar"]);
    let forgotten = home.run(&["memory", "forget", "--source", "bash", "--yes"]).stdout;
    assert!(forgotten.contains("2 records were deleted"), "{forgotten}");
    let file = std::fs::read(home.paths().past_file()).expect("the file is there");
    assert!(!file.windows(8).any(|part| part == b"zanzibar"));
}
