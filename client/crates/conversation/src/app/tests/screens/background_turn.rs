//! The user's prompt while a turn continues.

use super::*;

impl Stage {
    /// A question is asked, keys are typed, and the turn goes behind the prompt.
    fn go_to_background(&mut self) {
        self.ask("why is it big");
        self.live(LiveEvent::KeysWait);
        self.pass(200);
    }

    /// The user enters a line that the shell runs.
    fn user_runs(&mut self, line: &str, output: &str) {
        self.bench.enter(line);
        self.terminal.process(format!("{line}\r\n{output}\r\n").as_bytes());
        self.terminal.process(PROMPT);
    }

    fn queue(&mut self, question: &str) {
        self.enter(&format!("? {question}"));
    }
}

#[test]
fn the_prompt_while_a_turn_goes_on() {
    let states: &[State] = &[
        ("the assistant steps aside", Stage::go_to_background),
        ("in the middle of a text", |stage| {
            stage.ask("why is it big");
            stage.text(0, "Because of the build outp");
            stage.live(LiveEvent::KeysWait);
            stage.pass(1_000);
        }),
        ("it comes back with text", |stage| {
            stage.go_to_background();
            stage.user_runs("ls", "Cargo.toml");
            stage.text(0, "Because of the build output.");
            stage.live(LiveEvent::AnswerReady);
        }),
        ("it comes back with a card", |stage| {
            stage.go_to_background();
            stage.user_runs("ls", "Cargo.toml");
            stage.daemon(ask("touch x", false));
            stage.live(LiveEvent::AnswerReady);
        }),
        ("it comes back with its end", |stage| {
            stage.go_to_background();
            stage.user_runs("ls", "Cargo.toml");
            stage.text(0, "Because.");
            stage.end(TurnEndReason::Answered);
            stage.live(LiveEvent::AnswerReady);
        }),
        ("more text than is kept", |stage| {
            stage.go_to_background();
            stage.text(0, "Because.\n\n");
            stage.text(1, &"\n".repeat(2 * 1024 * 1024));
            stage.text(2, "The rest.");
            stage.live(LiveEvent::AnswerReady);
        }),
        ("a queued question", |stage| {
            stage.go_to_background();
            stage.queue("and what is in it");
        }),
        ("a queued question, very long", |stage| {
            stage.go_to_background();
            stage.queue(&"and what is in it ".repeat(10));
        }),
        ("a queued question is answered next", |stage| {
            stage.go_to_background();
            stage.queue("and what is in it");
            stage.text(0, "Because.");
            stage.end(TurnEndReason::Answered);
        }),
        ("too many wait", |stage| {
            stage.go_to_background();
            for number in 1..=9 {
                stage.queue(&format!("question {number}"));
                stage.live(LiveEvent::KeysWait);
                stage.pass(200);
            }
        }),
        ("stopped by Ctrl-C at the empty line", |stage| {
            stage.go_to_background();
            stage.event(Event::StopKeyPressed);
            stage.live(LiveEvent::AnswerReady);
        }),
        ("stopped with questions in the queue", |stage| {
            stage.go_to_background();
            stage.queue("and what is in it");
            stage.live(LiveEvent::CancelRequested { is_escape: false });
        }),
    ];
    insta::assert_snapshot!("aside", seen(states));
}

#[test]
fn words_that_are_added_to_a_turn() {
    let states: &[State] = &[
        ("words are added to the question", |stage| {
            stage.go_to_background();
            stage.enter("?+ only in src");
            stage.daemon(DaemonMessage::TurnExtended { turn_id: TURN, number: 1 });
            stage.text(0, "In src it is the build output.");
        }),
        ("stopped before what was added is read", |stage| {
            stage.go_to_background();
            stage.enter("?+ only in src");
            stage.live(LiveEvent::CancelRequested { is_escape: false });
        }),
        ("the daemon is gone before what was added is read", |stage| {
            stage.go_to_background();
            stage.enter("?+ only in src");
            stage.event(Event::LinkLost);
            stage.event(Event::LinkDown { message: "no daemon".into(), hint: "ask again".into() });
        }),
    ];
    insta::assert_snapshot!("additions", seen(states));
}
