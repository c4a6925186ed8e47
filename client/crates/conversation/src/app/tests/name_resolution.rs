//! Names are looked at before something runs unasked.

use cohab_shell_state::state::{AliasKind, Item, Listing, StateChange, Step};

use super::*;

/// One that looks at names.
pub(super) fn bench() -> Bench {
    let mut bench = Bench::in_a_turn();
    bench.app.options.looks_at_names = true;
    bench
}

/// The shell reports its aliases after the command that does nothing.
fn tell(bench: &mut Bench, effects: &[Effect], aliases: &str) -> Vec<Effect> {
    let asked = effects.iter().filter(|effect| !matches!(effect, Effect::TakeKeyboard(false)));
    let [Effect::RunAsItIs(request)] = asked.collect::<Vec<_>>()[..] else { panic!("{effects:?}") };
    assert_eq!(request.text, ":");
    let text = format!("{CWD}\0\0\0\0\x30022\0declare -x PATH=\"/usr/bin:/bin\"\n\0{aliases}{}.", "\0".repeat(11));
    let listing = Listing { shell: Shell::Bash, bytes: text.into_bytes() };
    let id = request.id.clone();
    bench.live(LiveEvent::ShellObserved { id: id.clone(), change: StateChange::default(), listing });
    let outcome = CommandOutcome { cwd: CWD.into(), env_delta: Vec::new(), ..outcome(Ending::Exited) };
    assert!(bench.live(LiveEvent::CommandFinished { id, outcome }).is_empty());
    bench.live(LiveEvent::AnswerReady)
}

#[test]
fn the_shell_is_asked_once_and_a_plain_name_runs() {
    let mut bench = bench();
    let effects = bench.daemon(execute("ls -l", None));
    let effects = tell(&mut bench, &effects, "alias ls='ls --color=auto'\n");
    assert_eq!(runs(&effects), Some("ls -l"));
    bench.live(undo::observed(&CALL.to_string(), &[]));
    bench.live(undo::finished(&CALL.to_string()));
    bench.live(LiveEvent::AnswerReady);
}

#[test]
fn an_alias_that_does_something_else_is_asked_about_and_may_be_confirmed() {
    let mut bench = bench();
    let effects = bench.daemon(execute("ls -l", None));
    let effects = tell(&mut bench, &effects, "alias ls='rm -rf'\n");
    assert!(runs(&effects).is_none(), "{effects:?}");
    let shown = bench.shown();
    assert!(shown.contains("`ls` is an alias in this shell: `rm -rf`"), "{shown}");
    bench.pass(301);
    assert_eq!(runs(&bench.key("y")), Some("ls -l"));
}

#[test]
fn what_was_confirmed_of_one_name_says_nothing_of_another() {
    let mut bench = bench();
    let effects = bench.daemon(execute("ls -l", None));
    tell(&mut bench, &effects, "alias ls='ls -R'\nalias wc='sh'\n");
    bench.pass(301);
    assert_eq!(runs(&bench.key("y")), Some("ls -l"));
    bench.app.activity.turn_mut().expect("a turn").command = None;
    bench.app.surface = Surface::Ours;
    let mut another = execute("ls -l | wc", None);
    let DaemonMessage::ExecuteCommand(request) = &mut another else { unreachable!() };
    request.call_id = CallId(Uuid::from_u128(CALL.0.as_u128() + 1));
    assert!(runs(&bench.daemon(another)).is_none());
    assert!(bench.shown().contains("`wc` is an alias in this shell: `sh`"), "{}", bench.shown());
}

#[test]
fn a_shell_that_does_not_tell_is_asked_about() {
    let mut bench = bench();
    let effects = bench.daemon(execute("ls", None));
    let [Effect::RunAsItIs(request)] = &effects[..] else { panic!("{effects:?}") };
    bench.live(undo::finished(&request.id.clone()));
    bench.live(LiveEvent::AnswerReady);
    assert!(bench.shown().contains("does not report what its names stand for"));
}

/// The user has said yes to a command that the daemon asks about, and it is on its way.
fn agreed(bench: &mut Bench, command: &str) -> Vec<Effect> {
    bench.daemon(ask(command, false));
    bench.pass(301);
    bench.key("y");
    bench.daemon(execute(command, Some(QUESTION)))
}

#[test]
fn a_yes_to_what_only_reads_leaves_its_names_to_be_looked_at() {
    // As after a text from elsewhere, where also what only reads is asked about.
    let mut bench = bench();
    let effects = agreed(&mut bench, "base64 notes.txt");
    let effects = tell(&mut bench, &effects, "alias base64='curl -T'\n");
    assert!(runs(&effects).is_none(), "{effects:?}");
    assert!(bench.shown().contains("`base64` is an alias in this shell: `curl -T`"), "{}", bench.shown());
    bench.pass(301);
    assert_eq!(runs(&bench.key("y")), Some("base64 notes.txt"));
}

#[test]
fn a_yes_to_changes_of_the_shell_is_one_to_its_names_only_if_they_were_told() {
    for is_told in [true, false] {
        let mut bench = bench();
        let alias = (Item::Alias(AliasKind::Command, "ls".into()), vec![b"rm -rf".to_vec()]);
        let step = Step { before: None, after: Some(alias.1.clone()) };
        bench.app.shell.drift.saw(StateChange { steps: [(alias.0.clone(), step)].into() });
        bench.app.shell.seen = is_told.then(|| [alias].into());
        assert!(runs(&bench.daemon(execute("ls -l", None))).is_none());
        let told = "`ls` is an alias in this shell: `rm -rf`";
        let shown = bench.shown();
        assert!(
            shown.contains("changed what this shell runs: alias `ls`") && shown.contains(told) == is_told,
            "{shown}"
        );
        bench.pass(301);
        let effects = bench.key("y");
        if !is_told {
            let effects = tell(&mut bench, &effects, "alias ls='rm -rf'\n");
            assert!(runs(&effects).is_none() && bench.shown().contains(told), "{effects:?}");
            bench.pass(301);
            assert_eq!(runs(&bench.key("y")), Some("ls -l"));
        } else {
            assert_eq!(runs(&effects), Some("ls -l"));
        }
    }
}

#[test]
fn what_was_agreed_to_needs_no_look() {
    let mut bench = bench();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("y");
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}
