//! The user's limits end or hold a turn: budgets, a stuck model, rules for steps, a pause.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    time::Duration,
};

use cohab_e2e::{Answer, Home, ModelServer, Wire, binaries::in_each_shell};
use serde_json::json;

/// Longer than any test waits; a failing test must not block the server's thread for good.
const PATIENCE: Duration = Duration::from_secs(60);
const CTRL_Z: &str = "\u{1a}";

#[test]
fn the_budget_of_a_day_holds_over_all_terminals_and_says_what_to_do() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("One.").usage(900, 150)]);
    let home = Home::with_model(&server);
    home.write_config("[budget]\ntokens_per_day = 1000\n");
    assert_eq!(home.run(&["ask", "one"]).status, Some(0));
    let refused = home.run(&["ask", "two"]);
    assert_eq!(refused.status, Some(1), "{refused:?}");
    let said = format!("{}{}", refused.stdout, refused.stderr);
    assert!(said.contains("the budget of 1.0k tokens a day is used up: 1.0k were used today"), "{said}");
    assert!(said.contains("budget.tokens_per_day 0"), "{said}");
    assert_eq!(server.requests().len(), 1);
    // Also for a daemon that has just started.
    home.kill_daemon();
    assert_eq!(home.run(&["ask", "three"]).status, Some(1));
    assert_eq!(server.requests().len(), 1);
    assert!(home.run(&["usage"]).stdout.contains("budget of today: 1.0k of 1.0k tokens (105 %), 0 left"));
}

#[test]
fn a_model_that_repeats_itself_is_told_and_then_the_user_is_asked() {
    let same = || Answer::bash("echo same");
    let server = ModelServer::start(Wire::OpenAiChat, [same(), same(), same(), same(), same(), Answer::text("I see.")]);
    let home = Home::with_model(&server);
    let shell = home.cohab();
    let mark = shell.submit("? do it");
    shell.wait_text("Continue?");
    shell.wait_text("The same call of `bash` came 5 times, each time with the same result.");
    let calls = server.wait_for_calls(5);
    let told = |call: usize| calls[call].conversation().contains("Stop and think about what is missing");
    assert_eq!((told(2), told(3)), (false, true), "told after the third time");
    shell.outwait_deaf_card();
    shell.send("n");
    shell.wait_answer(mark, "the model got stuck: the same call of `bash` came 5 times");
    assert_eq!(server.requests().len(), 5);
}

#[test]
fn rules_leave_a_tool_out_and_stop_a_turn() {
    let server = ModelServer::start(
        Wire::OpenAiChat,
        [
            Answer::bash("echo x"),
            Answer::call("write", &json!({"path": "made", "content": "x"})),
            Answer::text("Never asked for."),
        ],
    );
    let home = Home::with_model(&server);
    home.write_config(
        "[[step_rules]]\ntool = 'bash'\naction = 'skip'\nreason = 'no shell today'\n\
         [[step_rules]]\ntool = 'write'\naction = 'stop'\nreason = 'look only'\n",
    );
    let finished = home.run(&["ask", "--approve", "all", "do it"]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert!(said.contains("your rule stops the turn before `write`: look only"), "{said}");
    let calls = server.wait_for_calls(2);
    assert!(calls[1].conversation().contains("left out by a rule of the user's: no shell today"));
}

/// A model that gives each answer only when the test releases it.
fn held(answers: Vec<Answer>) -> (ModelServer, Receiver<()>, Sender<()>) {
    let ((tell, asked), (release, released)) = (channel(), channel());
    let mut answers = answers.into_iter();
    let server = ModelServer::respond_with(Wire::OpenAiChat, move |_| {
        let _ = tell.send(());
        let _ = released.recv_timeout(PATIENCE);
        answers.next().unwrap_or_else(|| Answer::status(400, "the script of this test has no more answers"))
    });
    (server, asked, release)
}

#[test]
fn a_turn_is_held_by_a_key_and_goes_on_by_a_word() {
    in_each_shell(|name| {
        let (server, asked, release) = held(vec![Answer::bash("echo by-agent"), Answer::text("All done.")]);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.submit("? do it");
        asked.recv_timeout(PATIENCE).expect("the model is asked");
        shell.wait_text("thinking");
        shell.send(CTRL_Z);
        shell.wait_text("pausing after this step");
        // The daemon knows it, too.
        shell.wait_idle();
        release.send(()).expect("the server lives");
        shell.wait_text("paused · Ctrl-Z or ? /resume continues");
        assert!(
            !shell.look(cohab_e2e::terminal::View::history).contains("by-agent"),
            "no tool starts: {}",
            shell.dump()
        );
        // The prompt is the user's meanwhile.
        shell.send("? /resume");
        shell.wait_for("the line at the prompt", |view| view.cursor_row().ends_with("? /resume"));
        let mark = shell.mark();
        shell.send(cohab_e2e::keys::ENTER);
        asked.recv_timeout(PATIENCE).expect("the model is asked again");
        release.send(()).expect("the server lives");
        shell.wait_answer(mark, "All done.");
        assert!(shell.look(cohab_e2e::terminal::View::history).contains("by-agent"), "{}", shell.dump());
    });
}

const LONG_COMMAND: &str = "sh -c 'echo be\"\"gun; exec sleep 300'";

#[test]
fn escape_stops_the_command_that_runs_and_the_turn_with_it() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(LONG_COMMAND), Answer::text("Went on.")]);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.submit("? do it");
        shell.wait_text("begun");
        shell.send(cohab_e2e::keys::ESC);
        shell.wait_text("Stopped.");
        shell.wait_for("the line at the prompt", |view| view.cursor_row().ends_with("? do it"));
        assert_eq!(server.requests().len(), 1, "{}", shell.dump());
    });
}

#[test]
fn ctrl_z_suspends_the_command_that_runs_and_holds_the_turn() {
    in_each_shell(|name| {
        let server = ModelServer::start(Wire::OpenAiChat, [Answer::bash(LONG_COMMAND), Answer::text("All done.")]);
        let home = Home::with_model(&server).env("COHAB_APPROVAL", "all").shell(name);
        let shell = home.cohab();
        shell.submit("? do it");
        shell.wait_text("begun");
        shell.send(CTRL_Z);
        shell.wait_text("paused · Ctrl-Z or ? /resume continues");
        assert!(shell.look(|view| view.shows("⏸ stopped, now a job of your shell")), "{}", shell.dump());
        assert_eq!(server.requests().len(), 1, "the next step began\n{}", shell.dump());
        shell.send("? /resume");
        shell.wait_for("the line at the prompt", |view| view.cursor_row().ends_with("? /resume"));
        let mark = shell.mark();
        shell.send(cohab_e2e::keys::ENTER);
        shell.wait_answer(mark, "All done.");
    });
}
