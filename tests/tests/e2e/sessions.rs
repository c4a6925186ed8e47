//! Conversations outlive the daemon and the shell.

use std::{fs, process::Command};

use cohab_e2e::{Answer, Home, ModelServer, Wire, deadline::eventually, terminal::View};
use serde_json::Value;

fn json(home: &Home, arguments: &[&str]) -> Value {
    let finished = home.run(arguments);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"))
}

/// Waits until the last session has a turn that is over.
fn wait_until_kept(home: &Home, questions: u64) -> String {
    let mut id = String::new();
    eventually("the turn is kept", || {
        let listed = json(home, &["sessions", "--json"]);
        let Some(newest) = listed["sessions"].get(0).filter(|one| one["questions"] == questions) else { return false };
        id = newest["id"].as_str().expect("an id").to_owned();
        let shown = json(home, &["sessions", "show", &id, "--json"]);
        let events = shown["events"].as_array().expect("events");
        events.iter().filter(|event| event["type"] == "ended").count() as u64 == questions
    });
    id
}

#[test]
fn a_conversation_goes_on_in_a_new_shell_after_the_daemon_died() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::bash("mkdir -p shop && cd shop && export NODE_ENV=dev"),
            Answer::text("The shop is open."),
            Answer::text("As I said."),
        ],
    );
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    {
        let shell = home.cohab();
        shell.run("false");
        shell.ask("open the shop", "The shop is open.");
    }
    let id = wait_until_kept(&home, 1);
    assert!(home.run(&["sessions"]).stdout.contains("open the shop"));
    assert!(home.run(&["sessions", "shop", "open"]).stdout.contains(&id[..6]));
    home.kill_daemon();

    let shell = home.cohab();
    let mark = shell.submit(&format!("cohab sessions resume {}", &id[..6]));
    shell.wait_text("any other key leaves the shell as it is");
    let offer = shell.look(View::history);
    assert!(offer.contains("Resumed \"open the shop\" in this shell.") && offer.contains("with NODE_ENV"), "{offer}");
    shell.send("y");
    shell.wait_next_prompt(mark);
    assert!(shell.run("echo \"<$NODE_ENV ${PWD##*/}>\"").contains("<dev shop>"), "{}", shell.dump());
    shell.ask("is it open", "As I said.");
    let told = server.wait_for_calls(3)[2].conversation();
    for old in ["open the shop", "The shop is open.", "mkdir -p shop"] {
        assert!(told.contains(old), "the model knows {old}: {told}");
    }
    wait_until_kept(&home, 2);
    assert_eq!(json(&home, &["sessions", "--json"])["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn commands_are_on_record_with_what_stood_behind_them_and_can_be_run_again() {
    let server = ModelServer::start(
        Wire::Anthropic,
        [Answer::bash("printf 'a b\\n' > made && cat made"), Answer::bash("exit 3"), Answer::text("Made it.")],
    );
    let home = Home::with_model(&server);
    home.open_sandbox();
    assert_eq!(home.run(&["ask", "--approve", "all", "make a file"]).status, Some(1), "the last command failed");
    wait_until_kept(&home, 1);

    let commands = json(&home, &["history", "--json"])["commands"].clone();
    let facts: Vec<_> =
        commands.as_array().expect("a list").iter().map(|one| (&one["exit_code"], &one["approval"])).collect();
    assert_eq!(facts, [(&0.into(), &"mode all".into()), (&3.into(), &"mode all".into())]);
    assert!(commands[0]["question"] == "make a file");
    let why = home.run(&["why", &commands[0]["number"].to_string()]).stdout;
    assert!(why.contains("? make a file") && why.contains("    a b\n") && why.contains("Made it."), "{why}");

    let script = home.path("again.sh");
    let path = script.to_str().expect("a path");
    assert_eq!(home.run(&["export", "--script", "-o", path]).status, Some(0));
    let check = |option: &str| Command::new("bash").args([option, path]).status().expect("bash starts").success();
    let text = fs::read_to_string(&script).expect("it is written");
    assert!(check("-n") && text.contains("#   exit 3"), "{text}");
    fs::remove_file(home.path("made")).expect("it was made");
    assert!(check("-e"), "{text}");
    assert_eq!(fs::read_to_string(home.path("made")).expect("it is made again"), "a b\n");
    assert!(home.run(&["export", "--markdown"]).stdout.starts_with("# make a file\n"));
    assert!(home.run(&["export", "--cast"]).stdout.starts_with("{\""));
}

#[test]
fn nothing_is_kept_where_the_settings_say_so() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("One."), Answer::text("Two.")]);
    let home = Home::with_model(&server);
    assert_eq!(home.run(&["config", "set", "sessions.enabled", "false"]).status, Some(0));
    assert_eq!(home.run(&["ask", "one"]).status, Some(0));
    assert_eq!(home.run(&["config", "set", "sessions.enabled", "true"]).status, Some(0));
    assert_eq!(home.run(&["ask", "two"]).status, Some(0));
    wait_until_kept(&home, 1);
    let listed = json(&home, &["sessions", "--json"]);
    assert_eq!(listed["sessions"].as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(home.run(&["sessions", "rm", "--all", "--yes"]).stdout, "Removed 1 session.\n");
    assert!(home.run(&["sessions"]).stdout.starts_with("There are no sessions yet."));
}

#[test]
fn a_conversation_that_is_open_elsewhere_is_not_taken_but_can_be_copied() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("It is blue."), Answer::text("Still blue.")]);
    let home = Home::with_model(&server);
    let first = home.cohab();
    first.ask("what colour", "It is blue.");
    let id = wait_until_kept(&home, 1);
    let second = home.cohab();
    assert!(second.run(&format!("cohab sessions resume {id}")).contains("is open in another shell"));
    assert!(second.run(&format!("cohab sessions fork {id}")).contains("Resumed "), "{}", second.dump());
    second.ask("and now", "Still blue.");
    assert!(server.wait_for_calls(2)[1].conversation().contains("It is blue."));
    eventually("the copy has a question of its own", || {
        let listed = json(&home, &["sessions", "--json"]);
        listed["sessions"][0]["questions"] == 2 && listed["sessions"][0]["forked_from"] == id.as_str()
    });
}
