//! Questions for consent: what is shown, which keys count, and what may run afterwards.

use cohab_impact::{Impact, Note, Tally};
use cohab_policy::user_rules::{self, Rule};
use cohab_protocol::{FileDiff, ProposedCommand, StepDetail};

use super::*;
use crate::background_task::{Task, TaskResult};

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
    assert!(bench.key("y").is_empty(), "a key that was typed before the question could be read");
    bench.pass(301);
    let effects = bench.key("y");
    assert_eq!(effects[0], Effect::TakeKeyboard(false));
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Once));
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}

#[test]
fn consent_to_one_text_is_no_consent_to_another() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("y");
    assert_eq!(refusal_in(&bench.daemon(execute("touch b", Some(QUESTION)))), "not_approved");
}

#[test]
fn an_edited_command_is_what_was_agreed_to() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("e");
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
    assert!(decision_in(&bench.key("n")).is_none());
    let effects = bench.keys("use /tmp\r");
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Refused { note: "use /tmp".into() }));
}

#[test]
fn i_puts_the_command_on_the_prompt_and_runs_nothing() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("rm -rf x\u{1b}[2J", true));
    bench.pass(301);
    let effects = bench.key("i");
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::CancelTurn));
    assert!(effects.contains(&Effect::Insert("rm -rf x".into())), "{effects:?}");
    assert_eq!((runs(&effects), effects.last()), (None, Some(&Effect::EndAnswer)));
}

#[test]
fn danger_wants_the_word_yes_and_is_never_remembered() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("rm -rf x", true));
    bench.pass(301);
    assert!(decision_in(&bench.keys("sda")).is_none());
    bench.pass(301);
    assert!(decision_in(&bench.key("y")).is_none());
    assert!(decision_in(&bench.keys("y\r")).is_none(), "y is not yes");
    bench.key("y");
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
    assert_eq!(effects.last(), Some(&Effect::EndAnswer));
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
    assert_eq!([bench.key("e"), bench.keys("\r")], [[], []]);
    assert_eq!(bench.keys("\r"), [], "an empty word is no yes");
    assert_eq!([bench.key("e"), bench.keys("\r")], [[], []]);
    let effects = bench.keys("yes\r");
    let reply = ApprovalReply { approval_id: QUESTION, decision: ApprovalDecision::Once };
    assert_eq!(effects[1], Effect::Send(ClientMessage::ApprovalReply(reply)));
}

/// What is begun on the side, with the question it is for.
fn stored_rule(effects: &[Effect]) -> Rule {
    match effects {
        [Effect::Begin(Task::Store { question: QUESTION, rules })] if rules.len() == 1 => rules[0].clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn s_runs_the_same_again_in_this_folder_and_says_where_it_is_remembered() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    assert_eq!(decision_in(&bench.key("s")), Some(&ApprovalDecision::Session));
    assert!(bench.shown().contains("Remembered for this shell"));
    assert_eq!(runs(&bench.daemon(execute("touch a", None))), Some("touch a"));
}

#[test]
fn d_is_answered_when_the_rule_is_stored() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    assert_eq!(bench.key("d"), [], "the rule is shown first");
    bench.pass(300);
    let rule = stored_rule(&bench.key("y"));
    assert_eq!(rule, Rule::of("touch a", Some(Path::new(CWD)), Shell::Bash).unwrap());
    assert_eq!(bench.app.deadline(), Some(bench.now + Duration::from_secs(1)));
    let effects = bench.event(Event::Done(TaskResult::Stored { question: QUESTION, result: Ok(()) }));
    assert_eq!(effects[0], Effect::TakeKeyboard(false));
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Folder));
    assert!(bench.shown().contains("Remembered for ~/src, in ~/.config/cohab/rules.toml"));
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}

#[test]
fn a_disk_that_hangs_does_not_keep_the_answer_from_the_daemon() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("a");
    bench.pass(300);
    bench.key("y");
    bench.pass(1_000);
    let effects = bench.event(Event::Deadline);
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Session));
    let shown = bench.shown();
    assert!(shown.contains("Warning") || shown.contains("! Not stored"), "{shown}");
    assert_eq!(bench.event(Event::Done(TaskResult::Stored { question: QUESTION, result: Ok(()) })), []);
    // What is left is the clock of the status line.
    assert!(bench.app.deadline().is_none_or(|due| due > bench.now), "{:?}", bench.app.deadline());
    assert!(bench.app.activity.turn().is_some_and(|turn| turn.question.is_none()));
}

#[test]
fn a_rule_of_the_file_lets_a_command_run_that_nobody_asked_about() {
    let allowed = |line: &str, folder: Option<&str>| {
        let rule = Rule::of(line, folder.map(Path::new), Shell::Bash).unwrap();
        let mut bench = Bench::in_a_turn();
        let loaded = user_rules::parse(&user_rules::with_rule("", &rule).unwrap());
        bench.app.options.remembered = Arc::new(Allowed(std::sync::Mutex::new(Arc::new(loaded))));
        bench
    };
    assert_eq!(runs(&allowed("touch a", None).daemon(execute("touch a", None))), Some("touch a"));
    assert_eq!(runs(&allowed("touch a", Some(CWD)).daemon(execute("touch a", None))), Some("touch a"));
    for (rule, folder, command) in [
        ("touch a", Some("/home/ann"), "touch a"),
        ("touch a", None, "touch a; rm b"),
        ("touch a", None, "touch a > b"),
        // Sound when it was written; in this folder it is known to do harm.
        ("touch /etc/passwd", None, "touch /etc/passwd"),
    ] {
        assert_eq!(refusal_in(&allowed(rule, folder).daemon(execute(command, None))), "not_approved", "{command}");
    }
}

const FIRST: ApprovalId = ApprovalId(Uuid::from_u128(21));
const SECOND: ApprovalId = ApprovalId(Uuid::from_u128(22));

fn ask_all() -> DaemonMessage {
    let proposed = |approval_id, command: &str| ProposedCommand {
        approval_id,
        command: command.into(),
        cwd: Path::new(CWD).into(),
        mode: RunMode::Live,
        reasons: vec!["writes a file".into()],
    };
    DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id: QUESTION,
        turn_id: TURN,
        subject: ApprovalSubject::Commands(vec![proposed(FIRST, "touch a"), proposed(SECOND, "touch b")]),
        is_dangerous: false,
        reasons: Vec::new(),
        is_each_time: false,
    })
}

#[test]
fn one_yes_lets_each_command_of_a_batch_run_once_where_it_was_shown() {
    let mut bench = Bench::in_a_turn();
    assert_eq!(bench.daemon(ask_all()), [Effect::TakeKeyboard(true)]);
    assert!(bench.shown().contains("Run these 2 commands?"));
    bench.pass(301);
    let effects = bench.key("y");
    assert_eq!(decision_in(&effects), Some(&ApprovalDecision::Once));
    assert_eq!(refusal_in(&bench.daemon(execute("touch b", Some(FIRST)))), "not_approved", "another one's consent");
    bench.app.shell.cwd = "/elsewhere".into();
    assert_eq!(refusal_in(&bench.daemon(execute("touch b", Some(SECOND)))), "not_approved", "another folder");
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask_all());
    bench.pass(301);
    bench.key("y");
    assert_eq!(runs(&bench.daemon(execute("touch b", Some(SECOND)))), Some("touch b"));
}

#[test]
fn a_yes_to_a_batch_is_asked_again_once_an_earlier_command_of_it_changed_the_shell() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask_all());
    bench.pass(301);
    bench.key("y");
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(FIRST)))), Some("touch a"));
    let id = CALL.to_string();
    bench.live(undo::observed(&id, &[("PATH", Some("/bin"), Some("/tmp:/bin"))]));
    bench.live(undo::finished(&id));
    bench.live(LiveEvent::AnswerReady);
    let second = execute_as(CallId(Uuid::from_u128(78)), "touch b", Some(SECOND));
    assert_eq!(runs(&bench.daemon(second)), None);
    assert!(bench.shown().contains("changed what this shell runs: `PATH`"), "{}", bench.shown());
    bench.pass(301);
    assert_eq!(runs(&bench.key("y")), Some("touch b"));
}

#[test]
fn an_old_yes_runs_nothing_however_long_the_card_stood_before_it() {
    for (minutes, expected) in [(9, Some("touch a")), (11, None)] {
        let mut bench = Bench::in_a_turn();
        bench.daemon(ask("touch a", false));
        bench.pass(3_600_000);
        bench.key("y");
        bench.pass(minutes * 60_000);
        assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), expected, "{minutes} minutes");
    }
}

#[test]
fn one_by_one_each_reply_goes_out_under_its_own_id() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(ask_all());
    bench.pass(301);
    assert_eq!(bench.key("o"), []);
    assert!(bench.shown().contains("Run this command?"));
    assert_eq!(bench.daemon(ask_all()), [], "the same batch, told again");
    bench.pass(301);
    let first = ApprovalReply { approval_id: FIRST, decision: ApprovalDecision::Once };
    assert_eq!(bench.key("y"), [Effect::Send(ClientMessage::ApprovalReply(first))]);
    bench.pass(301);
    let second = ApprovalReply { approval_id: SECOND, decision: ApprovalDecision::Refused { note: String::new() } };
    bench.key("n");
    assert_eq!(bench.keys("\r"), [Effect::TakeKeyboard(false), Effect::Send(ClientMessage::ApprovalReply(second))]);
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(FIRST)))), Some("touch a"));
}

#[test]
fn what_would_be_touched_is_filled_in_when_it_is_known() {
    let mut bench = Bench::in_a_turn();
    let effects = bench.daemon(ask("rm a.log", false));
    assert!(
        matches!(effects.as_slice(), [Effect::TakeKeyboard(true), Effect::Begin(Task::Look { .. })]),
        "{effects:?}"
    );
    assert!(bench.shown().contains("touches: looking"));
    let tally = Tally { files: 1, bytes: 10, named: 1, ..Tally::default() };
    let impacts = vec![Impact { notes: vec![Note::Removes(tally)] }];
    bench.event(Event::Done(TaskResult::Looked { question: QUESTION, impacts }));
    assert!(bench.shown().contains("touches: 1 file, 10 bytes"));
    assert_eq!(bench.app.deadline(), None, "nothing wakes the client any more");
}

#[test]
fn a_change_stays_on_the_screen_without_a_card() {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::ToolCall { tool: "edit".into(), argument: "src/a.py".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    bench.daemon(DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: 1,
        outcome: StepOutcome::Done,
        summary: "+1 -1".into(),
        elapsed_ms: 5,
        detail: Some(StepDetail::Change(FileDiff { diff: "@@ -7 +7 @@\n-old\n+new\n".into(), left_out_lines: 2 })),
        only_reads: false,
    }));
    let shown = bench.shown();
    let kept = "● edit  src/a.py\n    7 -old\n    7 +new\n    … 2 more lines: `? /diff`\n  ✓ +1 -1";
    assert!(shown.contains(kept), "{shown}");
}
