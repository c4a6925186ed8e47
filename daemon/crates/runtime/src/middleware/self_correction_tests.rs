use cohab_model_api::BrokenArguments;
use serde_json::json;

use super::*;

fn end(watch: &mut Watch, name: &str, argument: &str, outcome: StepResult, result: &str, is_error: bool) {
    let args = json!({"x": argument}).as_object().cloned().ok_or_else(|| panic!());
    let call = ToolCall { id: "1".into(), name: name.into(), args: args.map(Into::into) };
    let result = ToolResult { call_id: "1".into(), tool: name.into(), content: result.into(), is_error };
    watch.call_ended(&call, outcome, &result);
}

/// A step in words: `tool argument result`; `!` before the tool for a call that could not be made, `~` for a command that failed.
fn run(watch: &mut Watch, step: &str) -> char {
    for call in step.split(';').filter(|call| !call.is_empty()) {
        let mut words = call.split_whitespace();
        let (name, argument, result) = (words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        let (outcome, is_error) = match name.as_bytes()[0] {
            b'!' => (StepResult::Failed, true),
            b'~' => (StepResult::Failed, false),
            b'-' => (StepResult::Refused, true),
            _ => (StepResult::Done, false),
        };
        end(watch, name.trim_start_matches(['!', '~', '-']), argument, outcome, result, is_error);
    }
    match watch.verdict() {
        CallVerdict::Fine => '.',
        CallVerdict::Tell(note) if note.contains("failed") => 'n',
        CallVerdict::Tell(_) => 'T',
        CallVerdict::Ask(_) => '?',
    }
}

#[test]
fn steps_and_what_is_said_before_the_next_model_call() {
    for (what, steps, expected) in [
        ("nothing ran", &["", ""][..], ".."),
        ("new things", &["ls a 1", "ls b 1", "ls a 2"], "..."),
        ("a call that could not be made", &["!read a gone", "ls a 1", "!read b gone"], "n.n"),
        ("a command that says no", &["~grep a 1", "ls a 1", "~grep b 1", "~make a 2", "~make a 3"], "...nn"),
        ("a refusal is no failure", &["-rm a no", "-rm b no"], ".."),
        ("the same again and again", &["ls a 1", "ls a 1", "ls a 1", "ls a 1", "ls a 1", "ls a 1"], "..T.??"),
        ("three at once", &["ls a 1;ls a 1;ls a 1", "ls a 1;ls a 1;ls a 1"], ".T"),
        ("in turns", &["ls a 1", "ls b 2", "ls a 1", "ls b 2", "ls a 1", "ls b 2", "ls a 1", "ls b 2"], ".....T?"),
        ("something new in between", &["ls a 1", "ls a 1", "ls b 1", "ls a 1", "ls a 1", "ls c 1"], "......"),
        ("it finds a way", &["ls a 1", "ls a 1", "ls a 1", "ls b 1", "ls a 1", "ls a 1"], "..T..."),
        (
            "wrong arguments, each time other ones",
            &["!read a x", "!read b x", "!read c x", "!read d x", "!read e x", "!read f x", "!read g x"],
            "nnnT?",
        ),
    ] {
        let mut watch = Watch::new(5);
        let said: String = steps.iter().map(|step| run(&mut watch, step)).collect();
        assert!(said.starts_with(expected), "{what}: {said}, not {expected}");
    }
}

#[test]
fn stalled_steps_is_when_the_user_is_asked() {
    for (patience, expected) in [(1, ".?"), (2, ".T?"), (3, "..T?"), (4, "..T.?"), (5, "..T.?")] {
        let mut watch = Watch::new(patience);
        let said: String = (0..expected.len()).map(|_| run(&mut watch, "ls a 1")).collect();
        assert_eq!(said, expected, "{patience}");
    }
}

#[test]
fn a_command_that_took_another_time_is_no_news() {
    let mut watch = Watch::new(0xff);
    let verdicts = ["0.01 s", "0.02 s", "1 min 2 s", "0.01 s", "9.99 s"].map(|took| {
        end(&mut watch, "bash", "make", StepResult::Done, &format!("same\n[exit 0; cwd /x; {took}]"), false);
        watch.verdict()
    });
    assert!(matches!(verdicts[2], CallVerdict::Tell(_)), "{verdicts:?}");
    assert!(matches!(verdicts[4], CallVerdict::Ask(_)), "{verdicts:?}");
}

#[test]
fn who_is_to_go_on_may_get_stuck_anew_and_patience_without_end_asks_nobody() {
    let mut watch = Watch::new(5);
    let said: String = (0..5).map(|_| run(&mut watch, "ls a 1")).collect();
    assert_eq!(said, "..T.?");
    watch.forget();
    let said: String = (0..5).map(|_| run(&mut watch, "ls a 1")).collect();
    assert_eq!(said, "..T.?");
    let mut watch = Watch::new(0);
    let said: String = (0..20).map(|_| run(&mut watch, "ls a 1")).collect();
    assert_eq!(said, ".".repeat(20));
}

#[test]
fn failures_of_the_turn_are_counted_and_told() {
    let mut watch = Watch::new(5);
    run(&mut watch, "!read a gone;ls a 1");
    for call in ["!read b gone", "!edit c gone"] {
        let mut words = call.split_whitespace();
        let name = words.next().unwrap().trim_start_matches('!');
        end(&mut watch, name, words.next().unwrap(), StepResult::Failed, "gone", true);
    }
    let CallVerdict::Tell(note) = watch.verdict() else { panic!("a note") };
    insta::assert_snapshot!(note);
    assert_eq!(watch.failures(), 3);
}

#[test]
fn broken_arguments_are_known_again_by_their_text() {
    let mut watch = Watch::new(9);
    let broken = BrokenArguments { raw: "{".into(), error: "no end".into() };
    let call = ToolCall { id: "1".into(), name: "ls".into(), args: Err(broken) };
    let result = ToolResult { call_id: "1".into(), tool: "ls".into(), content: "no end".into(), is_error: true };
    let mut last = CallVerdict::Fine;
    for _ in 0..3 {
        watch.call_ended(&call, StepResult::Failed, &result);
        last = watch.verdict();
    }
    insta::assert_snapshot!(format!("{last:?}"));
}

/// Gives this answer and records the questions.
struct Says(ApprovalAnswer, Mutex<Vec<String>>);

#[async_trait]
impl Approver for Says {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        let ApprovalSubject::GoOn { what } = question.subject else { panic!("another question") };
        self.1.lock().unwrap().push(what);
        self.0.clone()
    }
}

/// The same call five times: the notes to the model, and the course of the turn.
async fn stuck(answer: ApprovalAnswer) -> (Vec<Option<String>>, ControlFlow<TurnResult>, Vec<String>) {
    let approver = Arc::new(Says(answer, Mutex::default()));
    let middleware = SelfCorrection::new(5, Arc::clone(&approver) as _);
    let mut state = TurnState::new(Vec::new(), "q".into());
    let mut notes = Vec::new();
    let mut flow = ControlFlow::Continue(());
    for _ in 0..5 {
        end(&mut middleware.watch(), "ls", "a", StepResult::Done, "1", false);
        flow = middleware.before_step(StepKind::ModelCall { allow_tools: true }, &mut state).await;
        notes.push(middleware.pending_notes());
    }
    let asked = approver.1.lock().unwrap().clone();
    (notes, flow, asked)
}

#[tokio::test]
async fn the_model_is_told_once_and_then_the_user_decides() {
    let approved = ApprovalAnswer::Approved { approval: None, lasts: cohab_agent::port::Lasts::Once };
    let (notes, flow, asked) = stuck(approved).await;
    assert_eq!(notes.iter().map(Option::is_some).collect::<Vec<_>>(), [false, false, true, false, false]);
    assert!(flow.is_continue());
    assert_eq!(asked, ["The same call of `ls` came 5 times, each time with the same result."]);
    let (_, flow, _) = stuck(ApprovalAnswer::CancelTurn).await;
    assert_eq!(flow, ControlFlow::Break(Ok(StopReason::Cancelled)));
    let (_, flow, _) = stuck(ApprovalAnswer::Refused { reason: "nobody".into() }).await;
    let ControlFlow::Break(Err(error)) = flow else { panic!("it goes on") };
    assert_eq!(
        error.to_string(),
        "the model got stuck: the same call of `ls` came 5 times, each time with the same result"
    );
}
