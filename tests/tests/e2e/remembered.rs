//! A command that the user allowed for good is not asked about again: in another turn, another shell, another daemon. Several commands
//! share one card.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries, deadline::eventually, keys};
use serde_json::json;

/// A model that runs `command` in every turn.
fn repeating(command: &str, turns: usize) -> ModelServer {
    let turn = || [Answer::bash(command), Answer::text("All done.")];
    ModelServer::start(Wire::OpenAiChat, (0..turns).flat_map(|_| turn()))
}

fn rules(home: &Home) -> String {
    fs::read_to_string(home.paths().rules_file()).unwrap_or_default()
}

#[test]
fn a_shows_the_rule_and_stores_it_and_nothing_is_asked_any_more() {
    let server = repeating("touch made.txt", 4);
    let home = Home::with_model(&server);
    {
        let shell = home.cohab();
        let mark = shell.submit("? make it");
        shell.wait_approval("touch made.txt");
        shell.send("a");
        shell.wait_text("allow `touch made.txt` in every folder");
        shell.outwait_deaf_card();
        assert_eq!(rules(&home), "", "stored before the user said so");
        shell.send("y");
        shell.wait_answer(mark, "All done.");
        let told = format!("Remembered for every folder, in {}", home.paths().rules_file().display());
        assert!(shell.look(|view| view.history().contains(&told)), "{}", shell.dump());
        assert!(rules(&home).contains("argv = [\"touch\", \"made.txt\"]"), "{}", rules(&home));
        fs::remove_file(home.path("made.txt")).unwrap();
        shell.ask("again", "All done.");
        assert!(home.path("made.txt").exists(), "it was asked again\n{}", shell.dump());
    }
    let _ = home.run(&["daemon", "stop"]);
    let shell = home.cohab();
    fs::create_dir(home.path("elsewhere")).unwrap();
    shell.run("cd elsewhere");
    shell.ask("and in another shell", "All done.");
    assert!(home.path("elsewhere/made.txt").exists(), "{}", shell.dump());
    // It is written after the answer.
    eventually("three commands by a rule", || home.run(&["history"]).stdout.matches("by a rule").count() == 3);
}

#[test]
fn d_holds_in_its_folder_and_in_no_other() {
    let server = repeating("touch made.txt", 3);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("touch made.txt");
    shell.send("d");
    shell.wait_text("stores it");
    assert!(rules(&home).is_empty(), "the rule is shown before it is stored");
    shell.outwait_deaf_card();
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(rules(&home).contains("folder = "), "{}", rules(&home));
    let other = home.cohab();
    other.ask("and there", "All done.");
    fs::create_dir(home.path("elsewhere")).unwrap();
    other.run("cd elsewhere");
    let mark = other.submit("? and elsewhere");
    other.wait_approval("touch made.txt");
    other.send("n");
    other.wait_text("Reason (optional).");
    other.send(keys::ENTER);
    other.wait_answer(mark, "All done.");
    assert!(!home.path("elsewhere/made.txt").exists());
}

#[test]
fn without_a_shell_the_same_rules_hold_and_are_made() {
    let server = repeating("touch made.txt", 2);
    let home = Home::with_model(&server);
    home.open_sandbox();
    let shell = home.bash();
    shell.submit(&format!("{} ask make it; echo status=$?", binaries::word("cohab")));
    shell.wait_approval("touch made.txt");
    shell.send("d");
    shell.wait_text("stores it");
    shell.outwait_deaf_card();
    shell.send("y");
    shell.wait_text("status=0");
    assert!(shell.look(|view| view.history().contains("Remembered for ~, in ")), "{}", shell.dump());
    fs::remove_file(home.path("made.txt")).unwrap();
    // No user is there who could be asked.
    let finished = home.run(&["ask", "--json", "again"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(home.path("made.txt").exists(), "{finished:?}");
}

/// A model that runs three commands at once.
fn three_at_once() -> ModelServer {
    let call = |name: &str| json!({ "command": format!("touch {name}") });
    let answer = Answer::bash("touch one.txt").and_call("bash", &call("two.txt")).and_call("bash", &call("three.txt"));
    ModelServer::start(Wire::OpenAiChat, [answer, Answer::text("All done."), Answer::text("Next done.")])
}

#[test]
fn commands_of_one_answer_stand_on_one_card_and_one_key_runs_them() {
    let server = three_at_once();
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make three");
    shell.wait_approval("1 $ touch one.txt");
    let all = ["Run these 3 commands?", "1 $ touch one.txt", "2 $ touch two.txt", "3 $ touch three.txt"];
    assert!(shell.look(|view| all.iter().all(|text| view.shows(text))), "{}", shell.dump());
    assert!(!home.path("one.txt").exists());
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    for name in ["one.txt", "two.txt", "three.txt"] {
        assert!(home.path(name).exists(), "{name}\n{}", shell.dump());
    }
}

#[test]
fn a_batch_is_refused_as_one_or_decided_one_by_one() {
    let server = three_at_once();
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make three");
    shell.wait_approval("1 $ touch one.txt");
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send("later");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results.len() == 3 && results.iter().all(|result| result.content.contains("later")), "{results:?}");

    let server = three_at_once();
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make three");
    shell.wait_approval("1 $ touch one.txt");
    shell.send("o");
    shell.wait_approval("command 1 of 3");
    shell.send("y");
    shell.wait_approval("touch two.txt");
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send(keys::ENTER);
    shell.wait_approval("touch three.txt");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(home.path("one.txt").exists() && !home.path("two.txt").exists() && home.path("three.txt").exists());
}

#[test]
fn a_batch_is_asked_about_without_a_shell_too_and_history_tells_who_agreed() {
    let server = three_at_once();
    let home = Home::with_model(&server);
    home.open_sandbox();
    let shell = home.bash();
    shell.submit(&format!("{} ask make three; echo status=$?", binaries::word("cohab")));
    shell.wait_approval("1 $ touch one.txt");
    shell.send("y");
    shell.wait_text("status=0");
    assert!(["one.txt", "two.txt", "three.txt"].iter().all(|name| home.path(name).exists()), "{}", shell.dump());
    let history = home.run(&["history"]).stdout;
    assert_eq!(history.matches("asked once").count(), 3, "{history}");
}
