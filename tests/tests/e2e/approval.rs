//! No change happens without the user's approval.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Session, Wire, keys, session::CARD_KEYS};
use serde_json::json;

/// A model that touches files, one command per call, and then says so.
fn touching(files: &[&str]) -> ModelServer {
    let calls: Vec<Answer> = files.iter().map(|file| Answer::bash(&format!("touch {file}"))).collect();
    ModelServer::start(
        Wire::OpenAiChat,
        calls.into_iter().chain([Answer::text("All done."), Answer::text("Next done.")]),
    )
}

/// No, without a word.
fn refuse(shell: &Session<'_>) {
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send(keys::ENTER);
}

#[test]
fn y_approves_once() {
    let server = touching(&["made.txt", "made-too.txt"]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make two files");
    shell.wait_approval("touch made.txt");
    assert!(shell.look(|view| view.shows("in: ~")), "no cwd\n{}", shell.dump());
    assert!(!home.path("made.txt").exists(), "it ran before the answer");
    shell.send("y");
    shell.wait_approval("touch made-too.txt");
    assert!(home.path("made.txt").exists());
    assert!(!home.path("made-too.txt").exists(), "the second ran without a question");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(home.path("made-too.txt").exists());
}

#[test]
fn s_approves_the_same_command_for_the_session() {
    let server = touching(&["same.txt", "same.txt", "other.txt"]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? again and again");
    shell.wait_approval("touch same.txt");
    shell.send("s");
    shell.wait_approval("touch other.txt");
    assert!(shell.look(|view| view.history().contains("Remembered for this shell")), "{}", shell.dump());
    assert_eq!(server.wait_for_calls(3).len(), 3, "the same command was asked for again");
    refuse(&shell);
    shell.wait_answer(mark, "All done.");
    assert!(home.path("same.txt").exists() && !home.path("other.txt").exists());
}

#[test]
fn n_is_an_answer_to_the_model_and_may_carry_a_word() {
    let server = touching(&["unwanted.txt"]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("touch unwanted.txt");
    shell.send("n");
    shell.wait_text("Reason (optional).");
    shell.send("use another name");
    shell.wait_text("use another name");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    assert!(!home.path("unwanted.txt").exists());
    let results = server.wait_for_calls(2)[1].tool_results();
    assert!(results[0].content.contains("use another name"), "{results:?}");
}

#[test]
fn e_runs_what_the_user_made_of_it() {
    let server = touching(&["wrong.txt"]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("touch wrong.txt");
    shell.send("e");
    shell.wait_text("Change the command.");
    shell.send(keys::CTRL_U);
    shell.send("touch right.txt");
    shell.wait_text("touch right.txt");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    assert!(home.path("right.txt").exists() && !home.path("wrong.txt").exists());
    let conversation = server.wait_for_calls(2)[1].conversation();
    assert!(conversation.contains("touch right.txt"), "the model does not know what ran:\n{conversation}");
}

#[test]
fn escape_ends_the_turn() {
    for key in [keys::ESC, keys::CTRL_C] {
        let server = touching(&["never.txt"]);
        let home = Home::with_model(&server);
        let shell = home.cohab();
        let mark = shell.submit("? make it");
        shell.wait_approval("touch never.txt");
        shell.send(key);
        shell.wait_text("Stopped.");
        // Escape brings the question back to the prompt.
        shell.send(keys::CTRL_U);
        shell.wait_next_prompt(mark);
        assert!(!home.path("never.txt").exists());
        assert_eq!(server.wait_for_calls(1).len(), 1, "the turn went on");
        // The conversation stays valid: the call has a result.
        shell.ask("and now", "All done.");
        assert_eq!(server.wait_for_calls(2)[1].tool_results().len(), 1);
    }
}

#[test]
fn danger_takes_more_than_a_key() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("rm -rf precious"), Answer::text("All done.")]);
    let home = Home::with_model(&server);
    home.write("precious/file", "keep me");
    let shell = home.cohab();
    let mark = shell.submit("? tidy up");
    shell.wait_approval("rm -rf precious");
    assert!(shell.look(|view| view.shows("Dangerous")), "{}", shell.dump());
    shell.send("y");
    shell.wait_text("Type yes");
    assert!(home.path("precious/file").exists(), "one key was enough");
    shell.send("yes");
    shell.send(keys::ENTER);
    shell.wait_answer(mark, "All done.");
    assert!(!home.path("precious").exists());
}

#[test]
fn the_card_leaves_nothing_behind() {
    let server = touching(&["made.txt"]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? make it");
    shell.wait_approval("touch made.txt");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert!(
        !shell.look(|view| CARD_KEYS.iter().any(|keys| view.history().contains(keys))),
        "the card is still there\n{}",
        shell.dump()
    );
    assert!(shell.run("echo clean").contains("clean"));
}

#[test]
fn what_only_reads_is_not_asked() {
    let server = ModelServer::start(Wire::Anthropic, [Answer::bash("ls -la && pwd"), Answer::text("Seen.")]);
    let home = Home::with_model(&server);
    home.write("present.txt", "");
    home.cohab().ask("look around", "Seen.");
    assert!(server.wait_for_calls(2)[1].tool_results()[0].content.contains("present.txt"));
}

#[test]
fn a_file_is_not_written_before_its_change_was_shown_and_approved() {
    let arguments = json!({ "path": "list.txt", "old_string": "old line", "new_string": "new line" });
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::call("edit", &arguments), Answer::text("All done.")]);
    let home = Home::with_model(&server);
    home.write("list.txt", "first\nold line\nlast\n");
    let shell = home.cohab();
    let mark = shell.submit("? change the list");
    shell.wait_approval("list.txt");
    assert!(shell.look(|view| view.shows("old line") && view.shows("new line")), "no diff\n{}", shell.dump());
    assert_eq!(fs::read_to_string(home.path("list.txt")).expect("it exists"), "first\nold line\nlast\n");
    shell.send("y");
    shell.wait_answer(mark, "All done.");
    assert_eq!(fs::read_to_string(home.path("list.txt")).expect("it exists"), "first\nnew line\nlast\n");
}

#[test]
fn changes_of_one_answer_are_decided_together_or_one_by_one() {
    for (keys, made) in [(&["y"][..], [true, true]), (&["o", "y", "n"], [true, false])] {
        let write = |path: &str| json!({ "path": path, "content": "one\n" });
        let calls = Answer::call("write", &write("a.txt")).and_call("write", &write("b.txt"));
        let server = ModelServer::start(Wire::OpenAiChat, [calls, Answer::text("All done.")]);
        let home = Home::with_model(&server);
        let shell = home.cohab();
        let mark = shell.submit("? write them");
        shell.wait_approval("Make these 2 changes?");
        assert!(shell.look(|view| view.shows("file 1: ~/a.txt") && view.shows("file 2: ~/b.txt")), "{}", shell.dump());
        for key in keys {
            match *key {
                "n" => refuse(&shell),
                key => shell.send(key),
            }
            match *key {
                "o" => shell.wait_approval("change 1 of 2"),
                "y" if keys.len() > 1 => shell.wait_approval("change 2 of 2"),
                _ => {}
            }
        }
        shell.wait_answer(mark, "All done.");
        assert_eq!(["a.txt", "b.txt"].map(|name| home.path(name).exists()), made, "{}", shell.dump());
    }
}

#[test]
fn a_change_without_a_question_is_shown_and_stays_to_be_looked_at() {
    let arguments = json!({ "path": "list.txt", "old_string": "old line", "new_string": "new line" });
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::call("edit", &arguments), Answer::text("All done.")]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "all");
    home.write("list.txt", "first\nold line\nlast\n");
    let shell = home.cohab();
    shell.ask("change the list", "All done.");
    let rows = ["2 -old line", "2 +new line"];
    assert!(shell.look(|view| rows.iter().all(|row| view.history().contains(row))), "{}", shell.dump());
    let mark = shell.submit("? /diff");
    shell.wait_answer(mark, "~/list.txt  +1 -1");
    shell.wait_text("2 +new line");
    let plain = home.run(&["diff", "--all"]);
    assert!(plain.stdout.contains("@@ -1,3 +1,3 @@\n first\n-old line\n+new line\n last\n"), "{plain:?}");
}

#[test]
fn read_only_refuses_without_a_question() {
    let server = touching(&["made.txt"]);
    let home = Home::with_model(&server).env("COHAB_APPROVAL", "read-only");
    home.cohab().ask("make it", "All done.");
    assert!(!home.path("made.txt").exists());
    assert_eq!(server.wait_for_calls(2)[1].tool_results().len(), 1, "the model is told");
}

#[test]
fn escapes_in_a_command_cannot_dress_up_the_card() {
    let command = "touch real.txt # \u{1b}[2K\u{1b}[1A\u{1b}[8m\u{202e}harmless";
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(command), Answer::text("All done.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? trick me");
    shell.wait_approval("touch real.txt");
    refuse(&shell);
    let raw = shell.wait_answer(mark, "All done.");
    assert!(!raw.contains("\u{1b}[8m") && !raw.contains('\u{202e}'), "{raw:?}");
    assert!(!home.path("real.txt").exists());
}

#[test]
fn a_link_to_a_key_is_asked_about_as_the_key_itself() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash("cat notes.txt"), Answer::text("All done.")]);
    let home = Home::with_model(&server);
    fs::create_dir(home.path(".ssh")).expect("a fresh home");
    fs::write(home.path(".ssh/id_rsa"), "very private").expect("a fresh home");
    std::os::unix::fs::symlink(".ssh/id_rsa", home.path("notes.txt")).expect("a fresh home");
    let shell = home.cohab();
    let mark = shell.submit("? read my notes");
    shell.wait_approval("cat notes.txt");
    shell.wait_text("reads secrets");
    refuse(&shell);
    shell.wait_answer(mark, "All done.");
    assert!(!shell.look(|view| view.shows("very private")));
}

#[test]
fn what_a_command_leaves_in_the_terminal_does_not_hide_the_next_question() {
    let hide = r"printf '\033[8m\033(0\016\033[4h\033[?6h'";
    let calls = [Answer::bash(hide), Answer::bash("touch made.txt"), Answer::text("All done.")];
    let server = ModelServer::start(Wire::OpenAiChat, calls);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? hide and touch");
    shell.wait_approval("touch made.txt");
    refuse(&shell);
    shell.wait_answer(mark, "All done.");
    assert!(!home.path("made.txt").exists());
}
