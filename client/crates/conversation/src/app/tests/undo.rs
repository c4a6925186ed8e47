use cohab_shell_relay::live::UntouchedPrompt;
use cohab_shell_state::state::{Item, Listing, StateChange, Step};
use cohab_types::command::CommandRequest;

use super::*;
use crate::slash::own_output::{self, OwnOutput};

fn value(text: &str) -> Vec<Vec<u8>> {
    vec![text.as_bytes().to_vec()]
}

/// A listing of a bash in `folder` with these exported variables.
pub(super) fn listing(folder: &str, variables: &[(&str, &str)]) -> Listing {
    let exported: String = variables.iter().map(|(name, value)| format!("declare -x {name}=\"{value}\"\n")).collect();
    let bytes = format!("{folder}\0\0\0\0{}\0{exported}{}.", "0022", "\0".repeat(12));
    Listing { shell: Shell::Bash, bytes: bytes.into_bytes() }
}

/// What the relay reports about exported variables before a command's end.
pub(super) fn observed(id: &str, changes: &[(&str, Option<&str>, Option<&str>)]) -> LiveEvent {
    let step = |(name, before, after): &(&str, Option<&str>, Option<&str>)| {
        let step = Step { before: before.map(value), after: after.map(value) };
        (Item::Exported((*name).to_owned()), step)
    };
    LiveEvent::ShellObserved {
        id: id.to_owned(),
        change: StateChange { steps: changes.iter().map(step).collect() },
        listing: listing("/", &[]),
    }
}

pub(super) fn finished(id: &str) -> LiveEvent {
    let outcome = CommandOutcome { cwd: CWD.into(), env_delta: Vec::new(), ..outcome(Ending::Exited) };
    LiveEvent::CommandFinished { id: id.to_owned(), outcome }
}

/// A turn has changed variables in this way, and its prompt is about to come.
fn before_the_prompt_of_a_turn(changes: &[(&str, Option<&str>, Option<&str>)]) -> Bench {
    let mut bench = Bench::in_a_turn();
    let id = CALL.to_string();
    bench.daemon(execute("ls", None));
    bench.live(observed(&id, changes));
    bench.live(finished(&id));
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.app.last_frame();
    bench
}

/// A turn has changed variables in this way, and its prompt stands.
fn after_a_turn(changes: &[(&str, Option<&str>, Option<&str>)]) -> Bench {
    let mut bench = before_the_prompt_of_a_turn(changes);
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    bench
}

fn own_command(effects: &[Effect]) -> &CommandRequest {
    match effects {
        [Effect::RunAsItIs(request)] => request,
        other => panic!("{other:?}"),
    }
}

/// The command of the undo ends with the shell like this.
fn answer(bench: &mut Bench, id: &str, variables: &[(&str, &str)]) -> Vec<Effect> {
    let change = StateChange::default();
    bench.live(LiveEvent::ShellObserved { id: id.into(), change, listing: listing("/", variables) });
    bench.live(finished(id));
    bench.live(LiveEvent::AnswerReady)
}

#[test]
fn undo_looks_restores_looks_again_and_tells() {
    let mut bench = after_a_turn(&[("FOO", None, Some("1")), ("PATH", Some("/bin"), Some("/x"))]);
    assert_eq!(bench.enter(" cohab  undo "), [Effect::DecideLine(LineDecision::Assistant)]);
    let look = bench.live(LiveEvent::AnswerReady);
    assert_eq!(own_command(&look).text, ":");
    let id = own_command(&look).id.clone();
    let restore = answer(&mut bench, &id, &[("FOO", "1"), ("PATH", "/x")]);
    let request = own_command(&restore).clone();
    assert!(request.text.contains("unset -v FOO") && request.text.contains("export PATH='/bin'"), "{}", request.text);
    let effects = answer(&mut bench, &request.id, &[("PATH", "/bin")]);
    assert!(matches!(&effects[..], [Effect::Send(ClientMessage::ShellEvent(event)), Effect::EndAnswer]
        if event.line.as_deref() == Some("cohab undo") && event.output_tail.contains("-FOO ~PATH")));
    let shown: Vec<String> = bench.app.last_frame().above.iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["cohab undo", "  ↶ -FOO ~PATH", "Files and programs are as the commands left them."]);

    bench.live(LiveEvent::AnswerEnded);
    bench.enter("cohab undo");
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    assert!(bench.app.last_frame().above[1].to_string().starts_with("Nothing to undo"));
}

#[test]
fn what_failed_and_what_the_user_changed_is_told_and_nothing_else_runs() {
    let mut bench = after_a_turn(&[("A", Some("1"), Some("2")), ("B", None, Some("2")), ("C", None, Some("2"))]);
    bench.enter("cohab undo");
    let id = own_command(&bench.live(LiveEvent::AnswerReady)).id.clone();
    let now = [("A", "2"), ("B", "mine")];
    let request = own_command(&answer(&mut bench, &id, &now)).clone();
    assert!(!request.text.contains('B') && !request.text.contains('C'), "{}", request.text);
    answer(&mut bench, &request.id, &now);
    let shown: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert!(shown.contains("The shell refused: variable A.\nChanged since, and left alone: variable B.\n"), "{shown}");
}

#[test]
fn without_knowing_the_shell_nothing_is_done_to_it() {
    let mut bench = after_a_turn(&[("A", Some("1"), Some("2"))]);
    for _ in 0..2 {
        bench.enter("cohab undo");
        let id = own_command(&bench.live(LiveEvent::AnswerReady)).id.clone();
        bench.live(finished(&id));
        assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
        bench.live(LiveEvent::AnswerEnded);
    }
}

#[test]
fn the_key_counts_once_right_after_a_turn_that_changed_something() {
    let mut bench = after_a_turn(&[("A", None, Some("2"))]);
    assert!(bench.app.takes_undo_key(UntouchedPrompt::Stands));
    assert_eq!(bench.event(Event::UndoKeyPressed), [Effect::BeginAnswer]);
    assert!(!bench.app.takes_undo_key(UntouchedPrompt::Stands));
    own_command(&bench.live(LiveEvent::AnswerReady));

    let mut bench = after_a_turn(&[("A", None, Some("2"))]);
    bench.live(LiveEvent::PromptReady);
    assert!(!bench.app.takes_undo_key(UntouchedPrompt::Stands), "another prompt stands");
    assert!(!after_a_turn(&[]).app.takes_undo_key(UntouchedPrompt::Stands), "nothing changed");
    assert!(!Bench::connected().app.takes_undo_key(UntouchedPrompt::Stands));
}

#[test]
fn the_key_pressed_ahead_of_the_prompt_undoes_there() {
    let mut bench = before_the_prompt_of_a_turn(&[("A", None, Some("2"))]);
    assert!(bench.app.takes_undo_key(UntouchedPrompt::Coming) && !bench.app.takes_undo_key(UntouchedPrompt::No));
    assert_eq!(bench.event(Event::UndoKeyPressed), []);
    assert_eq!(bench.live(LiveEvent::AnswerEnded), []);
    assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::BeginAnswer]);
    own_command(&bench.live(LiveEvent::AnswerReady));

    assert!(!before_the_prompt_of_a_turn(&[]).app.takes_undo_key(UntouchedPrompt::Coming), "nothing changed");
}

#[test]
fn the_key_does_not_count_while_the_turn_goes_on_behind_the_prompt() {
    let mut bench = Bench::in_a_turn();
    let id = CALL.to_string();
    bench.daemon(execute("ls", None));
    bench.live(observed(&id, &[("A", None, Some("2"))]));
    bench.live(finished(&id));
    bench.live(LiveEvent::AnswerReady);
    bench.live(LiveEvent::KeysWait);
    bench.pass(1_000);
    assert_eq!(bench.event(Event::Deadline), [Effect::EndAnswer]);
    assert!(!bench.app.takes_undo_key(UntouchedPrompt::Coming));
}

#[test]
fn other_lines_with_these_words_are_the_shells() {
    let mut bench = after_a_turn(&[("A", None, Some("2"))]);
    for line in ["cohab undo --help", "cohab undo; ls", "cohab", "undo", "echo cohab undo"] {
        assert_eq!(bench.enter(line), [Effect::DecideLine(LineDecision::Shell)], "{line}");
    }
}

#[test]
fn of_a_command_that_was_stopped_the_folder_is_known_and_the_rest_is_said_not_to_be() {
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    bench.live(LiveEvent::CommandFinished { id: CALL.to_string(), outcome: outcome(BY_USER) });
    bench.live(LiveEvent::AnswerReady);
    bench.live(LiveEvent::AnswerEnded);
    bench.enter("cohab undo");
    let id = own_command(&bench.live(LiveEvent::AnswerReady)).id.clone();
    let change = StateChange::default();
    let there = listing("/home/ann/src/big", &[]);
    bench.live(LiveEvent::ShellObserved { id: id.clone(), change: change.clone(), listing: there });
    bench.live(finished(&id));
    let request = own_command(&bench.live(LiveEvent::AnswerReady)).clone();
    assert!(request.text.contains("builtin cd -- '/home/ann/src'"), "{}", request.text);
    bench.live(LiveEvent::ShellObserved { id: request.id.clone(), change, listing: listing(CWD, &[]) });
    bench.live(finished(&request.id));
    bench.live(LiveEvent::AnswerReady);
    let shown: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert!(shown.contains("↶ cd ~/src\n") && shown.contains("One command was stopped or is still running"), "{shown}");
}

/// A turn has changed a file, and maybe the shell; its prompt stands.
fn after_a_change_of_a_file(tool: &str, outcome: StepOutcome, with_shell: bool) -> Bench {
    let mut bench = Bench::in_a_turn();
    let activity = StepActivity::ToolCall { tool: tool.into(), argument: "notes.txt".into() };
    bench.daemon(DaemonMessage::StepStarted(StepStarted { turn_id: TURN, step: 1, activity }));
    let summary = "+1 -1".to_owned();
    bench.daemon(DaemonMessage::StepFinished(StepFinished {
        turn_id: TURN,
        step: 1,
        outcome,
        summary,
        elapsed_ms: 5,
        detail: None,
        only_reads: false,
    }));
    if with_shell {
        bench.daemon(execute("ls", None));
        bench.live(observed(&CALL.to_string(), &[("A", None, Some("2"))]));
        bench.live(finished(&CALL.to_string()));
        bench.live(LiveEvent::AnswerReady);
    }
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    bench
}

fn files_are_back(bench: &mut Bench) -> Vec<Effect> {
    let text = "~/notes.txt: restored\n".to_owned();
    bench.event(Event::ProgramEnded(OwnOutput { text, ending: own_output::ProgramEnding::Exited(0) }))
}

#[test]
fn changed_files_are_brought_back_by_our_program_and_told() {
    let mut bench = after_a_change_of_a_file("edit", StepOutcome::Done, false);
    let shown: String = bench.app.last_frame().above.iter().map(|line| format!("{line}\n")).collect();
    assert!(shown.contains("+1 -1 · undo: cohab undo · "), "{shown}");
    assert!(bench.app.takes_undo_key(UntouchedPrompt::Stands));
    assert_eq!(bench.event(Event::UndoKeyPressed), [Effect::BeginAnswer]);
    let effects = bench.live(LiveEvent::AnswerReady);
    assert!(
        matches!(&effects[..], [Effect::RunProgram { args, .. }] if args[..2] == ["undo", "--turn"]
        && args[2] == TURN.to_string()),
        "{effects:?}"
    );
    let effects = files_are_back(&mut bench);
    assert!(
        matches!(&effects[..], [Effect::Send(ClientMessage::ShellEvent(event)), Effect::EndAnswer]
        if event.output_tail == "~/notes.txt: restored"),
        "{effects:?}"
    );
    bench.live(LiveEvent::AnswerEnded);
    bench.enter("cohab undo");
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
}

#[test]
fn files_come_back_before_the_shell_does() {
    let mut bench = after_a_change_of_a_file("write", StepOutcome::Done, true);
    bench.enter("cohab undo");
    bench.live(LiveEvent::AnswerReady);
    let id = own_command(&files_are_back(&mut bench)).id.clone();
    let request = own_command(&answer(&mut bench, &id, &[("A", "2")])).clone();
    let effects = answer(&mut bench, &request.id, &[]);
    assert!(
        matches!(&effects[..], [Effect::Send(ClientMessage::ShellEvent(event)), Effect::EndAnswer]
        if event.output_tail == "~/notes.txt: restored\n  ↶ -A"),
        "{effects:?}"
    );
}

#[test]
fn what_reads_or_was_not_done_leaves_nothing_to_undo() {
    for (tool, outcome) in [("read", StepOutcome::Done), ("edit", StepOutcome::Failed), ("edit", StepOutcome::Refused)]
    {
        let bench = after_a_change_of_a_file(tool, outcome, false);
        assert!(!bench.app.takes_undo_key(UntouchedPrompt::Stands), "{tool} {outcome:?}");
    }
}

/// A turn ran this command after a yes.
fn after_a_command(command: &str) -> Bench {
    let mut bench = Bench::in_a_turn();
    bench.app.options.approval = ApprovalMode::All;
    let id = CALL.to_string();
    bench.daemon(execute(command, None));
    bench.live(observed(&id, &[]));
    bench.live(finished(&id));
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.app.last_frame();
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    bench
}

#[test]
fn a_turn_that_ran_a_command_is_the_one_that_is_undone() {
    let mut bench = after_a_command("touch two.txt && rm -f todo.txt");
    bench.enter("cohab undo");
    let effects = bench.live(LiveEvent::AnswerReady);
    assert!(matches!(&effects[..], [Effect::RunProgram { args, .. }] if args[2] == TURN.to_string()), "{effects:?}");
    let silent = OwnOutput { text: String::new(), ending: own_output::ProgramEnding::Exited(0) };
    let mut effects = Vec::new();
    bench.app.on_files_undone(&silent, &mut effects);
    let shown: Vec<String> = bench.app.last_frame().above.iter().map(ToString::to_string).collect();
    assert_eq!(shown[1], "Nothing to undo: no change of a file by this turn is known.");

    let mut bench = after_a_command("ls");
    bench.enter("cohab undo");
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
}

#[test]
fn an_earlier_turn_is_named_before_it_is_undone() {
    let mut bench = after_a_turn(&[("FOO", None, Some("1"))]);
    bench.enter("? what is this");
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.app.last_frame();
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    bench.enter("cohab undo");
    assert_eq!(bench.live(LiveEvent::AnswerReady), [Effect::EndAnswer]);
    let shown: Vec<String> = bench.app.last_frame().above.iter().map(ToString::to_string).collect();
    assert!(
        shown[1].starts_with("The last turn changed nothing. `cohab undo` again undoes an earlier one: \""),
        "{shown:?}"
    );
    bench.live(LiveEvent::AnswerEnded);
    bench.enter("cohab undo");
    assert_eq!(own_command(&bench.live(LiveEvent::AnswerReady)).text, ":");
}
