use std::{collections::BTreeSet, path::Path};

use cohab_shell_state::state::Snapshot;

use super::*;
use crate::launchable::{SHELLS, is_of_the_shell, rows, shell_of};
use crate::{Context, Level, assess_line, keeps_shell, unasked};

const LAUNCHER: &str = "/home/ann/.local/bin/cohab-confine";

fn typed(line: &str, shell: Shell, items: &[(Item, &str)]) -> Option<String> {
    let snapshot: Snapshot = items.iter().map(|(item, text)| (item.clone(), vec![text.as_bytes().to_vec()])).collect();
    let lock = Lock::new(Path::new(LAUNCHER), Some(&snapshot));
    assert!(lock.is_some(), "a plain path");
    let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")).in_shell(shell);
    let locked = unasked(line, Context { lock, ..context }).expect(line).locked;
    locked.map(|text| text.replace(&format!("{LAUNCHER} --"), "LOCK"))
}

fn alias(name: &str) -> Item {
    Item::Alias(AliasKind::Command, name.into())
}

#[test]
fn each_program_is_started_by_the_launcher_and_all_else_stays_to_the_byte() {
    for (line, expected) in [
        ("ls -l", "LOCK ls -l"),
        ("cat a  |  sort -u| wc -l", "LOCK cat a  |  LOCK sort -u| LOCK wc -l"),
        ("cd src && ls; pwd", "cd src && LOCK ls; pwd"),
        ("grep -n 'a | b' <f 2>/dev/null || echo no", "LOCK grep -n 'a | b' <f 2>/dev/null || echo no"),
        ("wc -l </etc/hosts", "LOCK wc -l </etc/hosts"),
        (
            "git branch -a",
            "LOCK git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.hooksPath=/dev/null \
                           -c core.pager=cat -c diff.submodule=short -c log.showSignature=false branch -a",
        ),
        ("rg x", "LOCK rg --no-config x"),
        ("find . -name x | xargs wc -l", "LOCK find . -name x | LOCK xargs wc -l --"),
        ("docker ps | grep web", "docker ps | LOCK grep web"),
        ("ls\ncat b", "LOCK ls\nLOCK cat b"),
    ] {
        assert_eq!(typed(line, Shell::Bash, &[]).as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn a_line_without_a_program_to_lock_is_typed_as_before() {
    for line in ["pwd", "cd src && pwd", "echo a", "systemctl status x", "type ls", "test -f a"] {
        assert_eq!(typed(line, Shell::Bash, &[]), None, "{line}");
    }
    for line in ["git commit -m x", "rm -r a", "make", "ls $(x)", "X=1 ls"] {
        assert_eq!(typed(line, Shell::Bash, &[]), None, "{line}: it was agreed to");
    }
    for path in ["/home/ann b/cohab-confine", "bin/cohab-confine", "/home/$x/cohab-confine"] {
        assert!(Lock::new(Path::new(path), None).is_none(), "{path}");
    }
}

#[test]
fn what_a_shell_runs_by_itself_differs_from_shell_to_shell() {
    assert_eq!(typed("realpath a", Shell::Bash, &[]).as_deref(), Some("LOCK realpath a"));
    assert_eq!(typed("realpath a", Shell::Fish, &[]), None);
    assert_eq!(typed("which ls", Shell::Bash, &[]).as_deref(), Some("LOCK which ls"));
    assert_eq!(typed("which ls", Shell::Zsh, &[]), None);
}

#[test]
fn what_only_this_shell_writes_so_stays_to_the_byte() {
    for (shell, line, expected) in [
        (Shell::Fish, "test -f a; and cat a", "test -f a; and LOCK cat a"),
        (Shell::Fish, "not grep -q x a; or wc -l {a,b}", "not LOCK grep -q x a; or LOCK wc -l {a,b}"),
        (Shell::Fish, "cat a | string upper", "LOCK cat a | string upper"),
        (Shell::Zsh, "ls -l *(.)", "LOCK ls -l *(.)"),
        (Shell::Zsh, "<a wc -l", "<a LOCK wc -l"),
        (Shell::Zsh, "<a sort | head -n 1", "<a LOCK sort | LOCK head -n 1"),
    ] {
        assert_eq!(typed(line, shell, &[]).as_deref(), Some(expected), "{line}");
    }
}

#[test]
fn what_the_policy_knows_as_the_shells_own_is_left_to_the_shell() {
    let rows = include_str!("../shells.table").lines().filter(|row| !row.starts_with('#'));
    let mut found = 0;
    for command in rows.filter_map(|row| row.split_once(" | ")).flat_map(|(commands, _)| commands.split(", ")) {
        let mut words = command.split(' ');
        let (who, names) = (words.next().expect("a shell"), words.next().expect("a command"));
        let shell = shell_of(who).expect(who);
        for name in names.split('/') {
            found += 1;
            assert!(is_of_the_shell(name, shell), "{who} {name}");
        }
    }
    assert!(found > 40, "{found}");
}

#[test]
fn what_an_alias_adds_is_typed() {
    let coloured = [(alias("ls"), "ls --color=auto -F"), (alias("ll"), "rm -r")];
    assert_eq!(typed("ls -l | cat", Shell::Zsh, &coloured).as_deref(), Some("LOCK ls --color=auto -F -l | LOCK cat"));
    assert_eq!(
        typed("ls | cat", Shell::Zsh, &[(alias("ls"), "rm -r")]).as_deref(),
        Some("ls | LOCK cat"),
        "it was agreed to"
    );
    let mine = [(Item::Function("ls".into()), "")];
    assert_eq!(typed("ls | cat", Shell::Bash, &mine).as_deref(), Some("ls | LOCK cat"), "it was agreed to");
    assert_eq!(typed("cat ls", Shell::Zsh, &coloured).as_deref(), Some("LOCK cat ls"));
    let function = [(Item::Function("ls".into()), "")];
    assert_eq!(typed("ls a", Shell::Fish, &function).as_deref(), Some("LOCK ls --color=auto a"));
    assert_eq!(typed("grep x a", Shell::Fish, &function).as_deref(), Some("LOCK grep x a"));
}

#[test]
fn the_table_names_each_program_once() {
    let mut seen = BTreeSet::new();
    for (who, names) in rows() {
        let names: Vec<&str> = names.collect();
        assert!(names.len() > 3, "{who}");
        if shell_of(who).is_none() {
            assert!(names.iter().all(|name| seen.insert(*name)), "{who}: {names:?}");
        }
    }
    let (_, prints) = rows().find(|(who, _)| *who == "prints").expect("it is there");
    assert!(prints.into_iter().all(|name| SHELLS.iter().all(|(_, shell)| is_of_the_shell(name, *shell))));
    assert!(seen.len() > 100 && SHELLS.iter().all(|(name, _)| rows().any(|(who, _)| who == *name)));
}

#[test]
fn only_programs_and_printing_keep_the_shell_as_it_is() {
    for (line, expected) in [
        ("ls -l | sort; pwd", true),
        ("[ -e a ] && printf '%s' a && command cat a", true),
        ("docker ps", true),
        ("for f in *; do sort \"$f\"; done", true),
        ("cd src && ls", false),
        ("cat a; read x", false),
        ("ls; export A=1", false),
        ("alias", false),
        ("if", false),
    ] {
        assert_eq!(keeps_shell(line, Shell::Bash), expected, "{line}");
    }
    assert!(keeps_shell("for f in *; sort $f; end", Shell::Fish) && !keeps_shell("set -x A 1", Shell::Fish));
}

#[test]
fn everyday_lines_are_locked_in_each_shell() {
    let lines = include_str!("../tests/daily_reading.txt")
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with(['#', '%']));
    let (mut locked, mut allowed) = (0, 0);
    for line in lines {
        for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
            let context = Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")).in_shell(shell);
            if assess_line(line, context).level == Level::Allow {
                allowed += 1;
                locked += usize::from(typed(line, shell, &[]).is_some());
            }
        }
    }
    assert!(locked * 10 > allowed * 7, "{locked} of {allowed}");
}

#[test]
fn what_is_allowed_for_the_lock_is_asked_where_a_name_stands_for_something_else() {
    let snapshot = Snapshot::from([(alias("sort"), vec![b"sort; touch x".to_vec()])]);
    let lock = Lock::new(Path::new(LAUNCHER), Some(&snapshot));
    let context = Context { lock, ..Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")) };
    assert_eq!(assess_line("sort *", context).level, Level::Allow);
    assert!(unasked("sort *", context).is_err());
    assert!(unasked("sort a", context).is_ok_and(|unasked| unasked.locked.is_none()));
}

#[test]
fn a_line_of_more_than_plain_commands_is_typed_for_a_shell_of_its_own() {
    let lock = Lock::new(Path::new(LAUNCHER), None);
    let context = Context { lock, ..Context::new(Path::new("/home/ann/work/app"), Path::new("/home/ann")) };
    for (shell, line, typed) in [
        (Shell::Bash, "sort \"$(which ls)\"", "LAUNCHER --line bash 'sort \"$(which ls)\"'"),
        (Shell::Zsh, "echo $(date '+%F')", "LAUNCHER --line zsh 'echo $(date '\\''+%F'\\'')'"),
        (Shell::Fish, "echo (date '+%F')", "LAUNCHER --line fish 'echo (date \\'+%F\\')'"),
        (Shell::Bash, "cd src && echo $(pwd)", "cd src && LAUNCHER --line bash 'echo $(pwd)'"),
        (Shell::Fish, "cd src; and echo (pwd)", "cd src; and LAUNCHER --line fish 'echo (pwd)'"),
    ] {
        let unasked = unasked(line, context.in_shell(shell)).expect(line);
        assert_eq!(unasked.locked, Some(typed.replace("LAUNCHER", LAUNCHER)), "{line}");
        assert_eq!(unasked.text, line);
    }
}
