//! Questions for consent: what is shown, which keys count, and what may run afterwards.

use super::*;

#[test]
fn a_command_without_consent_is_refused_by_the_terminal_itself() {
    let mut bench = Bench::in_a_turn();
    let effects = bench.daemon(execute("rm -rf x", None));
    assert_eq!(refusal_in(&effects), "not_approved");
    let effects = bench.daemon(execute("rm -rf x", Some(QUESTION)));
    assert_eq!(refusal_in(&effects), "not_approved");
}

#[test]
fn a_command_is_judged_as_the_users_own_shell_reads_it() {
    let hides_its_end_from_bash = "echo 'x\\' '; rm y #'";
    let mut bash = Bench::in_a_turn_of(Shell::Bash);
    assert_eq!(runs(&bash.daemon(execute(hides_its_end_from_bash, None))), Some(hides_its_end_from_bash));
    let mut fish = Bench::in_a_turn_of(Shell::Fish);
    assert_eq!(refusal_in(&fish.daemon(execute(hides_its_end_from_bash, None))), "not_approved");
    assert_eq!(runs(&fish.daemon(execute("ls -la | head", None))), Some("ls -la | head"));
}

#[test]
fn an_approved_command_runs_once() {
    let mut bench = Bench::in_a_turn();
    assert_eq!(bench.daemon(ask("touch a", false)), [Effect::TakeKeyboard(true)]);
    assert!(bench.shown().contains("touch a"));
    assert!(bench.keys("y").is_empty(), "a key that was typed before the question could be read");
    bench.pass(301);
    let effects = bench.keys("y");
    assert_eq!(effects[0], Effect::TakeKeyboard(false));
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Once));
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}

#[test]
fn consent_to_one_text_is_no_consent_to_another() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.keys("y");
    assert_eq!(refusal_in(&bench.daemon(execute("touch b", Some(QUESTION)))), "not_approved");
}

#[test]
fn an_edited_command_is_what_was_agreed_to() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.keys("e");
    let effects = bench.keys("bc\r");
    let expected = ApprovalDecision::Edited { command: "touch abc".into() };
    assert_eq!(decision_in(&effects), Some(&expected));
    assert_eq!(runs(&bench.daemon(execute("touch abc", Some(QUESTION)))), Some("touch abc"));
}

#[test]
fn no_may_carry_a_word() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    assert!(decision_in(&bench.keys("n")).is_none());
    let effects = bench.keys("use /tmp\r");
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Refused { note: "use /tmp".into() }));
}

#[test]
fn danger_wants_the_word_yes_and_is_never_remembered() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("rm -rf x", true));
    bench.pass(301);
    assert!(decision_in(&bench.keys("a")).is_none());
    assert!(decision_in(&bench.keys("y")).is_none());
    assert!(decision_in(&bench.keys("y\r")).is_none(), "y is not yes");
    bench.keys("y");
    assert_eq!(decision_in(&bench.keys("yes\r")), Some(&ApprovalDecision::Once));
}

#[test]
fn a_paste_decides_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    assert!(bench.keys("\u{1b}[200~y\u{1b}[201~").is_empty());
}

#[test]
fn a_lone_escape_stops_the_turn_after_a_moment() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    assert!(bench.keys("\u{1b}").is_empty());
    assert_eq!(bench.app.deadline(), Some(bench.now + LONE_ESCAPE));
    bench.pass(51);
    let effects = bench.event(Event::Deadline);
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::CancelTurn));
    assert!(effects.contains(&Effect::Send(ClientMessage::CancelTurn { turn_id: TURN })));
    assert_eq!(effects.last(), Some(&Effect::EndAnswerWithLine));
}

#[test]
fn a_card_too_tall_for_the_screen_goes_to_the_scrollback_whole() {
    let mut bench = Bench::in_a_turn();
    let command: String = (0..40).map(|n| format!("echo {n}\n")).collect();
    bench.daemon(ask(&command, false));
    let shown = bench.shown();
    let (above, area) = shown.split_once("----\n").unwrap();
    assert!((0..40).all(|n| above.contains(&format!("echo {n}"))), "{shown}");
    assert!(area.lines().count() < 4 && area.contains("once"), "{shown}");
}

#[test]
fn a_dangerous_command_needs_its_yes_also_from_the_editor() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("rm -rf x", true));
    bench.pass(300);
    assert_eq!(bench.keys("e\r"), []);
    assert_eq!(bench.keys("\r"), [], "an empty word is no yes");
    assert_eq!(bench.keys("e\r"), []);
    let effects = bench.keys("yes\r");
    let reply = ApprovalReply { approval_id: QUESTION, decision: ApprovalDecision::Once };
    assert_eq!(effects[1], Effect::Send(ClientMessage::ApprovalReply(reply)));
}
