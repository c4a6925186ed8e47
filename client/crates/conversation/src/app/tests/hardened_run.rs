//! Tests for commands that run unasked: the typed form, the check of git's own settings, and the lock.

use cohab_policy::{Caveat, Setting};
use cohab_shell_state::state::Item;

use super::*;
use crate::background_task::{Task, TaskResult};

const STATUS: &str = "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null -c core.pager=cat \
                      -c diff.submodule=short -c log.showSignature=false status --ignore-submodules=all";

/// A turn in a shell that has reported its names.
fn bench() -> Bench {
    let mut bench = name_resolution::bench();
    see_shell(&mut bench, &[]);
    bench
}

pub(super) fn see_shell(bench: &mut Bench, variables: &[&str]) {
    let path = (Item::Exported("PATH".into()), vec![b"/usr/bin:/bin".to_vec()]);
    let others = variables.iter().map(|name| (Item::Exported((*name).to_owned()), vec![b"x".to_vec()]));
    bench.app.shell.seen = Some(others.chain([path]).collect());
}

fn end(bench: &mut Bench, call: CallId) {
    bench.live(undo::finished(&call.to_string()));
    bench.live(LiveEvent::AnswerReady);
    see_shell(bench, &[]);
}

pub(super) fn wish(bench: &mut Bench, call: u128, command: &str) -> Vec<Effect> {
    bench.daemon(execute_as(CallId(Uuid::from_u128(call)), command, None))
}

fn asks_git(effects: &[Effect]) -> CallId {
    let [Effect::Begin(Task::AskGit { call, folders, environment: Some(_) })] = effects else { panic!("{effects:?}") };
    assert_eq!(folders, &[Path::new(CWD)]);
    *call
}

fn told(bench: &mut Bench, call: CallId, caveat: Option<Caveat>) -> Vec<Effect> {
    bench.event(Event::Done(TaskResult::GitTold { call, caveat }))
}

/// A repository that starts a program with each look at its files.
fn watched(top: &str) -> Option<Caveat> {
    let setting = Setting { key: "core.fsmonitor".into(), value: "./evil".into() };
    Some(Caveat::GitSettings { settings: vec![setting], top: top.into() })
}

#[test]
fn git_is_typed_so_that_it_only_reads_once_its_settings_are_looked_at() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git status"));
    assert_eq!(runs(&told(&mut bench, call, None)), Some(STATUS));
    let shown = bench.app.last_frame().above.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown, ["❯ git status", "  ↳ typed to stay read-only · ? /typed"]);
    end(&mut bench, call);
    // Once is enough.
    let call = asks_git(&wish(&mut bench, 21, "git status"));
    assert_eq!(runs(&told(&mut bench, call, None)), Some(STATUS));
    assert_eq!(bench.app.last_frame().above.len(), 1);
}

#[test]
fn settings_that_name_programs_are_asked_about_once_and_the_card_shows_what_is_typed() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git status"));
    let effects = told(&mut bench, call, watched("/x"));
    assert!(runs(&effects).is_none(), "{effects:?}");
    assert!(effects.contains(&Effect::Send(ClientMessage::CommandWaiting { call_id: call })));
    let shown = bench.shown();
    assert!(shown.contains("`./evil`, in /x") && shown.contains("-c core.pager=cat"), "{shown}");
    bench.pass(301);
    assert_eq!(runs(&bench.key("y")), Some(STATUS));
    end(&mut bench, call);
    let call = asks_git(&wish(&mut bench, 21, "git status"));
    assert_eq!(runs(&told(&mut bench, call, watched("/x"))), Some(STATUS));
    end(&mut bench, call);
    let call = asks_git(&wish(&mut bench, 22, "git status"));
    assert!(runs(&told(&mut bench, call, watched("/y"))).is_none(), "another repository");
}

#[test]
fn a_git_that_tells_nothing_is_asked_about_when_its_time_is_up() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git log"));
    assert!(bench.app.deadline().is_some());
    bench.pass(2_999);
    bench.event(Event::Deadline);
    assert!(!bench.shown().contains("in time"));
    bench.pass(1);
    bench.event(Event::Deadline);
    assert!(bench.shown().contains("git did not report its settings here in time"));
    assert!(told(&mut bench, call, None).is_empty(), "it is too late");
}

#[test]
fn variables_of_git_s_in_the_shell_are_asked_about_before_anything_is_looked_at() {
    let mut bench = bench();
    see_shell(&mut bench, &["GIT_DIR"]);
    assert!(runs(&wish(&mut bench, 20, "git status")).is_none());
    assert!(bench.shown().contains("decides what git does: `GIT_DIR`"));
    bench.pass(301);
    // The settings are still looked at.
    asks_git(&bench.key("y").into_iter().filter(|effect| matches!(effect, Effect::Begin(_))).collect::<Vec<_>>());
}

#[test]
fn a_turn_that_is_stopped_meanwhile_runs_nothing() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git status"));
    bench.live(LiveEvent::CancelRequested { is_escape: false });
    assert!(runs(&told(&mut bench, call, None)).is_none());
}

#[test]
fn a_command_the_daemon_interrupts_while_git_is_asked_does_not_run_and_a_repeat_waits() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git status"));
    assert!(wish(&mut bench, 20, "git status").is_empty(), "the same call");
    assert_eq!(refusal_in(&wish(&mut bench, 21, "git status")), "shell_busy");
    let effects = bench.daemon(DaemonMessage::InterruptCommand { call_id: call, by: wire::Interrupter::Turn });
    assert_eq!(refusal_in(&effects), "cancelled");
    assert!(told(&mut bench, call, None).is_empty());
}

#[test]
fn what_starts_no_git_is_typed_at_once() {
    let mut bench = bench();
    assert_eq!(runs(&wish(&mut bench, 20, "rg --files | wc -l")), Some("rg --no-config --files | wc -l"));
    end(&mut bench, CallId(Uuid::from_u128(20)));
    assert_eq!(runs(&wish(&mut bench, 21, "git --version")), Some("git --version"));
}

#[test]
fn what_the_user_agreed_to_is_typed_as_it_was_shown() {
    let mut bench = bench();
    bench.daemon(ask("git status && make", false));
    bench.pass(301);
    bench.key("y");
    let request = execute_as(CallId(Uuid::from_u128(20)), "git status && make", Some(QUESTION));
    assert_eq!(runs(&bench.daemon(request)), Some("git status && make"));
}

#[test]
fn the_lines_of_a_turn_are_shown_as_they_were_typed() {
    let mut bench = bench();
    let call = asks_git(&wish(&mut bench, 20, "git status"));
    told(&mut bench, call, None);
    end(&mut bench, call);
    bench.daemon(ended(TurnEndReason::Answered));
    bench.live(LiveEvent::AnswerEnded);
    bench.shown();
    bench.enter("? /typed");
    bench.live(LiveEvent::AnswerReady);
    let shown = bench.shown().replace('\n', " ");
    assert!(shown.contains("/typed") && shown.contains(&format!("❯ {STATUS}")), "{shown}");
}

/// What is shown of a command, and what is typed in its place by the launcher.
pub(super) fn locked(effects: &[Effect]) -> Option<(&str, &str)> {
    effects.iter().find_map(|effect| match effect {
        Effect::RunFilled(request, typed) => Some((request.text.as_str(), typed.text())),
        _ => None,
    })
}

pub(super) fn locking_bench() -> Bench {
    let mut bench = bench();
    bench.app.options.launcher = || Some("/opt/cohab-confine".into());
    bench
}

#[test]
fn what_runs_unasked_is_locked_and_nobody_is_told() {
    let mut bench = locking_bench();
    let effects = wish(&mut bench, 30, "cat README.md | wc -l");
    let typed = "/opt/cohab-confine -- cat README.md | /opt/cohab-confine -- wc -l";
    assert_eq!(locked(&effects), Some(("cat README.md | wc -l", typed)));
    let shown = bench.app.last_frame().above.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(shown, ["❯ cat README.md | wc -l"]);
}

#[test]
fn what_the_user_agreed_to_is_not_locked() {
    let mut bench = locking_bench();
    bench.daemon(ask("touch a", false));
    bench.pass(301);
    bench.key("y");
    assert_eq!(runs(&bench.daemon(execute("touch a", Some(QUESTION)))), Some("touch a"));
}

#[test]
fn a_failure_that_has_nothing_to_do_with_the_lock_is_told_as_it_is() {
    let mut bench = locking_bench();
    assert!(locked(&wish(&mut bench, 30, "cat a")).is_some());
    let id = CallId(Uuid::from_u128(30)).to_string();
    let failed = CommandOutcome { status: Some(1), output: "cat: a: No such file".into(), ..outcome(Ending::Exited) };
    bench.live(LiveEvent::CommandFinished { id, outcome: failed });
    bench.live(LiveEvent::AnswerReady);
    see_shell(&mut bench, &[]);
    assert!(locked(&wish(&mut bench, 31, "cat a")).is_some());
}
