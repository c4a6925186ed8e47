//! Runs the commands that a shell has of its own, in that shell: they change no file, and nothing of the shell.

use std::{collections::BTreeSet, process::Command};

use cohab_policy::{Context, Level, assess_line, unasked};
use cohab_shell_state::shell::Shell;

use crate::{LIMIT, cannot_trace, effort, lines::of_row, machine::Machine, tables};

/// The allowed lines of the rows of `shell`, as they are typed, and the options that occur in none.
fn allowed(shell: Shell, machine: &Machine) -> (Vec<String>, Vec<String>) {
    let (home, cwd) = (machine.home(), machine.cwd());
    let context = Context::new(&cwd, &home).in_shell(shell);
    let (operands, effort) = (tables::operands(), effort());
    let (mut found, mut untested) = (BTreeSet::new(), Vec::new());
    for (_, row) in tables::of_shells().into_iter().filter(|(name, _)| *name == shell.name()) {
        let mut tested = BTreeSet::new();
        for group in of_row(&row, &operands, effort) {
            for line in group.lines.into_iter().filter(|line| assess_line(line, context).level == Level::Allow) {
                tested.extend(group.option);
                found.extend(unasked(&line, context).map(|typed| typed.text));
            }
        }
        let missing = row.options.iter().enumerate().filter(|(at, _)| !tested.contains(at));
        untested.extend(missing.map(|(_, option)| format!("{} {}", row.words.join(" "), option.name)));
    }
    (found.into_iter().collect(), untested)
}

fn is_missing(shell: Shell) -> bool {
    let is_missing = Command::new(shell.name()).arg("--version").output().is_err();
    if is_missing {
        eprintln!("skipped: no {} here", shell.name());
    }
    is_missing
}

#[test]
fn a_shell_s_own_commands_change_no_file() {
    if cannot_trace() {
        eprintln!("skipped: no strace here, or it is not allowed to trace");
        return;
    }
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish].into_iter().filter(|shell| !is_missing(*shell)) {
        let machine = Machine::new();
        let (lines, untested) = allowed(shell, &machine);
        eprintln!("{}: {} lines ran; in no allowed line: {}", shell.name(), lines.len(), untested.join(", "));
        assert!(lines.len() > 20, "{lines:?}");
        for (at, batch) in lines.chunks(64).enumerate() {
            let batch: Vec<&str> = batch.iter().map(String::as_str).collect();
            let found = machine.run_in(shell, &format!("own{at}"), &batch, LIMIT);
            let told: Vec<_> = found.harm.iter().map(|(row, harm)| format!("{}: {harm}", batch[*row])).collect();
            assert!(told.is_empty(), "{}: {}", shell.name(), told.join("\n"));
        }
    }
}

/// Lines that change a shell, to show that a change is seen.
fn changes(shell: Shell) -> &'static [&'static str] {
    match shell {
        Shell::Bash => &[
            "alias a=b",
            "shopt -s dotglob",
            "set -u",
            "trap : INT",
            "complete a",
            "hash -p /x a",
            "enable -n test",
            "x=1",
            "f() { :; }",
        ],
        Shell::Zsh => {
            &["alias a=b", "setopt null_glob", "bindkey '^X' -l", "zstyle a b c", "typeset x=1", "f() { :; }"]
        }
        _ => &["abbr -a a b", "set x 1", "bind a b", "function f; end"],
    }
}

#[test]
fn a_shell_s_own_commands_leave_it_as_it_was() {
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish].into_iter().filter(|shell| !is_missing(*shell)) {
        let machine = Machine::new();
        for change in changes(shell) {
            assert!(!machine.keeps_state(shell, &[change]), "{}: {change}", shell.name());
        }
        let (lines, _) = allowed(shell, &machine);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        if !machine.keeps_state(shell, &lines) {
            let changed: Vec<_> = lines.iter().filter(|line| !machine.keeps_state(shell, &[line])).collect();
            panic!("{}: one of {changed:#?} changes the shell", shell.name());
        }
    }
}
