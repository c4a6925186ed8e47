//! Commands that run unasked: how they are typed, and what is asked after all.

use cohab_policy::{Caveat, Setting};
use cohab_shell_state::state::{Item, Snapshot};

use super::*;
use crate::background_task::TaskResult;

/// The assistant wants a command that only reads, in a shell that has reported its names; git reports its settings where it is started.
fn wish(stage: &mut Stage, command: &str, caveat: Option<Caveat>) {
    stage.bench.app.options.looks_at_names = true;
    stage.ask("what have I changed");
    let path: Snapshot = [(Item::Exported("PATH".into()), vec![b"/usr/bin:/bin".to_vec()])].into();
    stage.bench.app.shell.seen = Some(path);
    stage.text(0, "I look at it.");
    stage.daemon(step(1, tool("bash", command)));
    stage.daemon(execute(command, None));
    stage.event(Event::Done(TaskResult::GitTold { call: CALL, caveat }));
}

/// The same, run and answered.
fn ran(stage: &mut Stage, command: &str) {
    wish(stage, command, None);
    stage.command_ran(" M src/main.rs\n", 0, &[]);
    stage.daemon(step_ended(1, StepOutcome::Done, "exit 0", 12));
    stage.text(1, "Only `src/main.rs`.");
    stage.end(TurnEndReason::Answered);
}

#[test]
fn commands_that_are_typed_with_more_words_than_the_assistant_wrote() {
    let states: &[State] = &[
        ("git only reads", |stage| ran(stage, "git status --short")),
        ("as it was typed", |stage| {
            ran(stage, "git status --short && git diff | head -5");
            stage.enter("? /typed");
        }),
        ("nothing was typed otherwise", |stage| {
            stage.connect();
            stage.enter("? /typed");
        }),
        ("settings of the repository that name programs", |stage| {
            let filters = ["a", "b", "c", "d"].map(|name| (format!("filter.{name}.clean"), "sh -c evil"));
            let settings = [("core.fsmonitor".to_owned(), "./tools/watch")].into_iter().chain(filters);
            let settings = settings.map(|(key, value)| Setting { key, value: value.to_owned() });
            let caveat = Caveat::GitSettings { settings: settings.collect(), top: "/home/ann/src".into() };
            wish(stage, "git status --short", Some(caveat));
        }),
    ];
    insta::assert_snapshot!("unasked", seen(states));
}

/// A command ran locked and was refused something.
fn stopped(stage: &mut Stage, command: &str, output: &str) {
    stage.bench.app.options.launcher = || Some("/opt/cohab-confine".into());
    wish(stage, command, None);
    stage.command_ran(output, 1, &[]);
    stage.bench.now += Duration::from_millis(301);
}

fn link_is_stopped(stage: &mut Stage) {
    let output = "ls: cannot read symbolic link '/proc/self/exe': Permission denied\n";
    stopped(stage, "ls -l /proc/self/exe", output);
}

#[test]
fn commands_that_the_lock_has_stopped() {
    let states: &[State] = &[
        ("the card", link_is_stopped),
        ("y, and it has run once more", |stage| {
            link_is_stopped(stage);
            stage.keys("y");
            stage.ran_as(TURN.to_string(), "/proc/self/exe -> /usr/bin/ls\n", 0, &[]);
            stage.daemon(step_ended(1, StepOutcome::Done, "exit 0", 12));
            stage.text(1, "It is `ls`.");
            stage.end(TurnEndReason::Answered);
        }),
        ("n, with a word", |stage| {
            link_is_stopped(stage);
            stage.keys("nleave it\r");
            stage.daemon(step_ended(1, StepOutcome::Done, "exit 1", 12));
            stage.text(1, "I cannot tell.");
            stage.end(TurnEndReason::Answered);
        }),
        ("Esc", |stage| {
            link_is_stopped(stage);
            stage.keys("\u{1b}");
            stage.pass(100);
        }),
        ("a line of several commands, and the network", |stage| {
            let line = "for f in *.conf; do grep -n listen \"$f\" | sort; done";
            stopped(stage, line, "sort: cannot connect to the bus: Operation not permitted\n");
        }),
    ];
    insta::assert_snapshot!("stopped", seen_at(states, [100, 60]));
}
