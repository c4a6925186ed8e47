//! Commands that let the user pick from a list, which runs in the shell.

use cohab_protocol::{ErrorSubject, SessionAction, SessionAnswer, WireError, WireErrorKind};
use cohab_shell_relay::live::UNDO_PREFIX;
use cohab_types::picked_line::report;

use super::{
    slash::{attached_to, begin, reply, request, said},
    *,
};
use crate::session_override::{ModelWish, SessionOverride};

/// The list of models runs in the shell, and ends so; the effects when the terminal is ours again.
fn pick_model(bench: &mut Bench, status: i32, output: &str) -> Vec<Effect> {
    let effects = begin(bench, "? /model");
    let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(request.text, "'/opt/a b/cohab' models --pick --model 'm'");
    let outcome = CommandOutcome { status: Some(status), output: output.into(), ..outcome(Ending::Exited) };
    assert!(bench.live(LiveEvent::CommandFinished { id: request.id.clone(), outcome }).is_empty());
    bench.live(LiveEvent::AnswerReady)
}

#[test]
fn a_picked_model_answers_from_now_on() {
    let mut bench = Bench::connected();
    let effects = pick_model(&mut bench, 0, &format!("drawn\n{}", report("high")));
    let wish = ModelWish::Named("high".into());
    let [Effect::AttachAgain { request_id, change }] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(*change, Some(SessionOverride::Model(wish.clone())), "it is a name, also if a tier has it");
    let effects = reply(&mut bench, *request_id, attached_to("high"));
    assert_eq!(effects, [Effect::KeepForAttach(SessionOverride::Model(wish)), Effect::EndAnswer]);
}

#[test]
fn without_a_pick_the_user_learns_who_answers() {
    for (status, output) in [(0, ""), (0, "a list\n"), (1, "❯ x\n")] {
        let mut bench = Bench::connected();
        let effects = pick_model(&mut bench, status, output);
        let [Effect::AttachAgain { request_id, change: None }] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(reply(&mut bench, *request_id, attached_to("other")), [Effect::EndAnswer]);
        assert!(bench.shown().contains("scripted/other answers here (COHAB_MODEL)."));
    }
}

#[test]
fn a_list_of_models_that_cannot_run_is_no_failure() {
    let mut bench = Bench::connected();
    let effects = begin(&mut bench, "? /model");
    let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
    let error = cohab_types::command::RelayError::ShellGone;
    let effects = bench.live(LiveEvent::CommandRefused { id: request.id.clone(), error });
    assert!(matches!(&effects[..], [Effect::AttachAgain { change: None, .. }]), "{effects:?}");
}

#[test]
fn the_built_in_assistant_has_no_models_to_pick_from() {
    let mut bench = Bench::new();
    let model =
        ModelIdentity { provider: "offline".into(), model: String::new(), origin: String::new(), is_offline: true };
    bench.event(Event::LinkUp(Attached { model, ..resume::attached(None) }));
    let effects = begin(&mut bench, "? /model");
    assert!(matches!(&effects[..], [Effect::AttachAgain { change: None, .. }]), "{effects:?}");
}

#[test]
fn with_nothing_to_resume_a_conversation_is_picked() {
    for (output, expected) in [
        (report("cohab sessions resume a3f9"), Effect::Join(SessionKey("resume:a3f9".into()))),
        (String::new(), Effect::EndAnswer),
    ] {
        let mut bench = Bench::connected();
        begin(&mut bench, "? /resume");
        let nothing = WireError {
            about: ErrorSubject::Turn(TURN),
            kind: WireErrorKind::NotFound,
            message: "Nothing to resume.".into(),
            hint: None,
        };
        let effects = bench.daemon(DaemonMessage::Error(nothing));
        let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(request.text, "'/opt/a b/cohab' sessions --pick");
        assert!(bench.daemon(ended(TurnEndReason::Failed)).is_empty(), "its end is not awaited");
        let outcome = CommandOutcome { output, ..outcome(Ending::Exited) };
        bench.live(LiveEvent::CommandFinished { id: request.id.clone(), outcome });
        assert_eq!(bench.live(LiveEvent::AnswerReady), [expected]);
    }
}

/// The list of questions runs in the shell and reports this; the effects when the terminal is ours again.
fn pick_question(bench: &mut Bench, line: &str) -> Vec<Effect> {
    let effects = begin(bench, "? /rewind");
    let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(request.text, "'/opt/a b/cohab' rewind --session 'shell:1'");
    end_list(bench, request.id.clone(), &report(line))
}

fn end_list(bench: &mut Bench, id: String, output: &str) -> Vec<Effect> {
    let outcome = CommandOutcome { output: output.into(), cwd: CWD.into(), ..outcome(Ending::Exited) };
    bench.live(LiveEvent::CommandFinished { id, outcome });
    bench.live(LiveEvent::AnswerReady)
}

#[test]
fn a_rewind_takes_back_as_many_questions_as_were_picked() {
    let mut bench = Bench::connected();
    let effects = pick_question(&mut bench, "2 questions back");
    let (first, action) = request(&effects);
    assert_eq!(action, &SessionAction::Rewind);
    let effects = reply(&mut bench, first, SessionAnswer::Rewound { question: Some("and now".into()) });
    let (second, action) = request(&effects);
    assert!(second != first && action == &SessionAction::Rewind);
    let effects = reply(&mut bench, second, SessionAnswer::Rewound { question: Some("what is here".into()) });
    assert_eq!(effects, [Effect::EndAnswer], "it is not asked again");
    assert!(bench.shown().contains("The conversation is as it was before \"what is here\"."));
}

#[test]
fn a_rewind_of_the_folder_runs_in_the_shell_first() {
    let mut bench = Bench::connected();
    let effects = pick_question(&mut bench, "1 question back, to /srv/it's");
    let [Effect::RunAsItIs(cd)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(cd.text, r"cd -- '/srv/it'\''s'");
    let effects = end_list(&mut bench, cd.id.clone(), "");
    assert_eq!(request(&effects).1, &SessionAction::Rewind);
    let mut bench = Bench::connected();
    let effects = pick_question(&mut bench, &format!("0 questions back, to {CWD}"));
    assert_eq!(effects, [Effect::EndAnswer], "the shell is there");
}

#[test]
fn nothing_is_taken_back_without_a_pick_or_a_conversation() {
    for line in ["rm -rf /", "many questions back", "2 questions"] {
        let mut bench = Bench::connected();
        assert_eq!(pick_question(&mut bench, line), [Effect::EndAnswer], "{line}");
    }
    let mut bench = Bench::new();
    assert!(said(&mut bench, "? /rewind").contains("This shell has no conversation yet."));
}

#[test]
fn a_rewind_of_the_shell_restores_what_the_turns_changed() {
    let id = CALL.to_string();
    let mut bench = Bench::in_a_turn();
    bench.daemon(execute("ls", None));
    bench.live(undo::observed(&id, &[("FOO", None, Some("1")), ("PATH", Some("/bin"), Some("/x"))]));
    bench.live(undo::finished(&id));
    bench.live(LiveEvent::AnswerReady);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.app.last_frame();
    bench.live(LiveEvent::AnswerEnded);
    bench.live(LiveEvent::PromptReady);
    let effects = begin(&mut bench, "? /rewind");
    let [Effect::RunAsItIs(list)] = &effects[..] else { panic!("{effects:?}") };
    let known = list.text.split("--shell ").nth(1).expect("the turns").trim_matches('\'').to_owned();
    let turn = known.strip_suffix('*').expect("it changed the shell");
    let line = report(&format!("1 question back, shell before {turn}"));
    let effects = end_list(&mut bench, list.id.clone(), &line);
    let [Effect::RunAsItIs(look)] = &effects[..] else { panic!("{effects:?}") };
    assert_eq!(look.text, ":");
    let seen = |id: &str, variables: &[(&str, &str)]| LiveEvent::ShellObserved {
        id: id.to_owned(),
        change: StateChange::default(),
        listing: undo::listing("/", variables),
    };
    bench.live(seen(&look.id, &[("FOO", "1"), ("PATH", "/x")]));
    let effects = end_list(&mut bench, look.id.clone(), "");
    let [Effect::RunAsItIs(restore)] = &effects[..] else { panic!("{effects:?}") };
    assert!(restore.text.contains("unset -v FOO") && restore.text.contains("PATH='/bin'"), "{}", restore.text);
    bench.live(seen(&restore.id, &[("PATH", "/bin")]));
    let effects = end_list(&mut bench, restore.id.clone(), "");
    let (asked, action) = request(&effects[effects.len() - 1..]);
    assert_eq!(action, &SessionAction::Rewind, "the conversation is next: {effects:?}");
    let effects = reply(&mut bench, asked, SessionAnswer::Rewound { question: Some("list it".into()) });
    assert_eq!(effects, [Effect::EndAnswer]);
    assert!(bench.shown().contains("\u{21b6} -FOO ~PATH"), "{}", bench.shown());
}

#[test]
fn a_shell_whose_turns_are_not_known_stays_and_says_so() {
    let mut bench = Bench::connected();
    let effects = pick_question(&mut bench, "1 question back, shell before another");
    assert_eq!(request(&effects).1, &SessionAction::Rewind);
    assert!(bench.shown().contains("The shell stays as it is"));
}

#[test]
fn the_output_of_a_step_is_shown_in_the_pager_of_the_shell() {
    for (line, number) in [("? /output", 1), ("? /output 3", 3)] {
        let mut bench = Bench::connected();
        let effects = begin(&mut bench, line);
        let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
        assert_eq!(request.text, format!("'/opt/a b/cohab' trace --output {number} --session 'shell:1'"));
        assert!(request.id.starts_with(UNDO_PREFIX), "the shell would take the pager away");
        assert_eq!(end_list(&mut bench, request.id.clone(), "bash  ls\n"), [Effect::EndAnswer]);
    }
    for line in ["? /output 0", "? /output x", "? /output 1 2"] {
        assert!(said(&mut Bench::connected(), line).contains("? /output [N]"), "{line}");
    }
    assert!(said(&mut Bench::new(), "? /output").contains("This shell has no conversation yet."));
}
