//! Commands of `cohab ask` run confined; a command that the sandbox stops is explained, and runs outside after the user agreed.

use std::fs;

use cohab_e2e::{Answer, Home, ModelServer, Wire};
use cohab_shell_state::quote;
use serde_json::json;
use tempfile::TempDir;

#[test]
fn a_command_cannot_write_outside_unless_the_user_agrees() {
    if !cohab_sandbox::profile::present().keeps_writes() {
        return;
    }
    let folder = TempDir::new().expect("a folder");
    let outside = folder.path().join("outside");
    let write = format!("echo x >{}", quote::word(&outside.display().to_string()));
    let answers = [
        Answer::bash(&write),
        Answer::text("It did not work."),
        Answer::bash(&write),
        Answer::call("bash_unconfined", &json!({"command": write})),
        Answer::text("Now it did."),
    ];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let first = home.run(&["ask", "--approve", "all", "write it"]);
    assert!(first.stdout.contains("It did not work.") && !outside.exists(), "{first:?}");
    let told = server.requests().last().expect("a request").conversation();
    assert!(told.contains("[sandbox: this ran with `workspace-write`") && told.contains("bash_unconfined"), "{told}");
    assert!(first.stderr.contains("the sandbox may have stopped it"), "{first:?}");
    let second = home.run(&["ask", "--approve", "all", "write it"]);
    assert!(second.stdout.contains("Now it did."), "{second:?}");
    assert_eq!(fs::read_to_string(&outside).expect("it is there"), "x\n");
}

#[test]
fn what_the_user_agreed_to_have_outside_is_not_locked_either() {
    if !cohab_sandbox::profile::present().can_launch() {
        return;
    }
    // Links of other processes can be read by their user, but by no locked program.
    let link = format!("ls -l /proc/{}/exe", std::process::id());
    let answers =
        [Answer::bash(&link), Answer::call("bash_unconfined", &json!({"command": link})), Answer::text("It is that.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let finished = home.run(&["ask", "--approve", "all", "which program is that"]);
    assert!(finished.stdout.contains("It is that."), "{finished:?}");
    let told = server.wait_for_calls(3)[2].tool_results().into_iter().map(|result| result.content.clone());
    let [first, second] = told.collect::<Vec<_>>().try_into().expect("two results");
    assert!(first.contains("Permission denied") && first.contains("bash_unconfined"), "{first}");
    assert!(second.contains(" -> /"), "{second}");
}

#[test]
fn the_profile_is_a_setting() {
    let folder = TempDir::new().expect("a folder");
    let outside = folder.path().join("outside");
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [Answer::bash(&format!("echo x >{}", quote::word(&outside.display().to_string()))), Answer::text("Done.")],
    );
    let home = Home::with_model(&server);
    home.write_config("[sandbox]\nprofile = \"full\"\n");
    let finished = home.run(&["ask", "--approve", "all", "write it"]);
    assert!(outside.exists(), "{finished:?}");
    let tools = server.requests()[0].body.to_string();
    assert!(!tools.contains("bash_unconfined"), "{tools}");
}

#[test]
fn the_card_says_that_it_runs_outside_and_consent_to_the_same_command_inside_does_not_hold() {
    let command = json!({"command": "make made"});
    let answers = [Answer::bash("make made"), Answer::call("bash_unconfined", &command), Answer::text("Both done.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server);
    let shell = home.bash();
    shell.submit(&format!("{} ask make it", cohab_e2e::binaries::word("cohab")));
    shell.wait_approval("make made");
    shell.send("d");
    shell.wait_text("stores it");
    shell.outwait_deaf_card();
    shell.send("y");
    shell.wait_approval("outside of the sandbox");
    shell.send("y");
    shell.wait_text("Both done.");
}

#[test]
fn where_the_sandbox_would_stop_a_command_the_card_says_so() {
    if !cohab_sandbox::profile::present().keeps_writes() {
        return;
    }
    for (command, status, line) in [("mkdir -p dir1", 0, None), ("touch missing/x", 1, Some("missing/x"))] {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(command), Answer::text("Said and done.")]);
        let home = Home::with_model(&server);
        let shell = home.bash();
        shell.submit(&format!("{} ask make it; echo status=$?", cohab_e2e::binaries::word("cohab")));
        shell.wait_approval("the sandbox will not let it write here: y runs it without the sandbox");
        shell.send("y");
        shell.wait_text(&format!("status={status}"));
        assert!(
            shell.look(|view| line.is_none_or(|line| view.shows(&format!("'{line}': No such file")))),
            "{}",
            shell.dump()
        );
        assert_eq!(home.path("dir1").exists(), status == 0, "{}", shell.dump());
        let told = &server.wait_for_calls(2)[1].tool_results()[0].content.clone();
        assert!(told.contains("it ran without the sandbox") && !told.contains("[sandbox: "), "{told}");
    }
}
