#![expect(clippy::print_stderr, reason = "a skipped test says why")]

use std::{
    ffi::OsStr,
    fs,
    os::unix::ffi::OsStrExt,
    path::PathBuf,
    process::{Command, Stdio},
};

use proptest::prelude::*;

use super::*;
use crate::shell::Shell;

mod rewind;

const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Zsh, Shell::Fish];

fn program(shell: Shell) -> Option<&'static str> {
    let (name, path) = match shell {
        Shell::Bash => ("bash", "/bin/bash"),
        Shell::Zsh => ("zsh", "/bin/zsh"),
        _ => ("fish", "/usr/bin/fish"),
    };
    if !std::path::Path::new(path).exists() {
        eprintln!("SKIPPED: {name} is not installed");
        return None;
    }
    Some(path)
}

/// Runs steps in a real shell that starts with `variables`; returns its state after each.
fn listings(shell: Shell, variables: &[(&str, &[u8])], steps: &[&str]) -> Option<Vec<Listing>> {
    let dir = tempfile::tempdir().unwrap();
    let files: Vec<PathBuf> = (0..steps.len()).map(|n| dir.path().join(format!("state.{n}"))).collect();
    let mut text = script(shell).to_owned();
    // The steps change the mask from this value.
    text.push_str("umask 022\n");
    // As in an interactive shell.
    text.push_str(match shell {
        Shell::Bash => "shopt -s expand_aliases\n",
        Shell::Zsh => "zmodload zsh/zle\n",
        _ => "",
    });
    let traps = if shell == Shell::Bash { "builtin trap -p >|\"$__cohab_dir/traps\"; " } else { "" };
    let set_dir = if shell == Shell::Fish { "set -g __cohab_dir " } else { "__cohab_dir=" };
    text.push_str(&format!("{set_dir}'{}'\n", dir.path().display()));
    for (step, file) in steps.iter().zip(&files) {
        text.push_str(&format!("{step}\n{traps}__cohab_state '{}'\n", file.display()));
    }
    let file = dir.path().join("script");
    fs::write(&file, text).unwrap();
    let mut command = Command::new(program(shell)?);
    match shell {
        Shell::Bash => command.args(["--norc", "--noprofile"]),
        Shell::Zsh => command.arg("-f"),
        _ => command.arg("--no-config"),
    };
    command.arg(&file).env_clear().current_dir("/").stdin(Stdio::null());
    command.env("HOME", dir.path()).env("PATH", "/usr/bin:/bin").env("LC_ALL", "C.UTF-8");
    for (name, value) in variables {
        command.env(name, OsStr::from_bytes(value));
    }
    let output = command.output().unwrap();
    let read = |file: &PathBuf| Listing {
        shell,
        bytes: fs::read(file).unwrap_or_else(|_| panic!("{shell:?} wrote nothing: {output:?}")),
    };
    Some(files.iter().map(read).collect())
}

fn snapshots(shell: Shell, steps: &[&str]) -> Option<Vec<Snapshot>> {
    let listings = listings(shell, &[("OLD", b"was here"), ("LATER", b"1")], steps)?;
    Some(
        listings.iter().map(|listing| listing.snapshot().unwrap_or_else(|| panic!("{shell:?}: {listing:?}"))).collect(),
    )
}

fn text(value: &str) -> Value {
    vec![value.as_bytes().to_vec()]
}

/// Changes of every kind, in each shell's syntax.
fn changes(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => {
            "x=1; cd /usr; export NEW='a b'; unset OLD; LATER=$'2\\n\\'\\xff'; alias ll=\"ls 'x'\"; f() { :; }
             set -o noclobber; shopt -s dotglob; umask 077; pushd /tmp >/dev/null; PS1='new> '; sleep 9 >/dev/null 2>&1 & disown -a"
        }
        Shell::Zsh => {
            "x=1; cd /usr; export NEW='a b'; unset OLD; LATER=$'2\\n\\'\\xff'; alias ll=\"ls 'x'\"; f() { : }
             setopt noclobber dotglob; umask 077; pushd /tmp >/dev/null; PS1='new> '; alias -g G='| grep'; alias -s txt=cat"
        }
        _ => {
            "set -g x 1; cd /usr; set -gx NEW 'a b'; set -e OLD; set LATER 2\\n\\'\\Xff; function f; end; umask 077
             pushd /tmp >/dev/null; abbr -a gco 'git checkout'; sh -c : & wait"
        }
    }
}

fn kinds(change: &StateChange) -> Vec<Item> {
    change.steps.keys().cloned().collect()
}

#[test]
fn every_kind_of_change_is_seen_in_real_shells() {
    for shell in SHELLS {
        let Some(listings) = listings(shell, &[("OLD", b"was here"), ("LATER", b"1")], &["", changes(shell)]) else {
            continue;
        };
        let change = listings[0].change_until(&listings[1]).unwrap();
        let whole = StateChange::between(&listings[0].snapshot().unwrap(), &listings[1].snapshot().unwrap());
        assert_eq!(change, whole, "{shell:?}: what is the same need not be read");
        let name = str::to_owned;
        let mut expected = vec![
            Item::Folder,
            Item::Exported(name("LATER")),
            Item::Exported(name("NEW")),
            Item::Exported(name("OLD")),
            Item::Variable(name("x")),
            Item::Function(name("f")),
            Item::Umask,
            Item::DirectoryStack,
        ];
        if shell != Shell::Fish {
            expected.push(Item::Prompt(name("PS1")));
            expected.push(Item::Alias(AliasKind::Command, name("ll")));
        }
        match shell {
            Shell::Bash => expected.extend([
                Item::Option(OptionKind::Set, name("noclobber")),
                Item::Option(OptionKind::Shopt, name("dotglob")),
            ]),
            Shell::Zsh => expected.extend([
                Item::Option(OptionKind::Set, name("noclobber")),
                Item::Option(OptionKind::Set, name("globdots")),
                Item::Alias(AliasKind::Global, name("G")),
                Item::Alias(AliasKind::Suffix, name("txt")),
            ]),
            _ => expected.push(Item::Abbreviation(name("gco"))),
        }
        expected.sort();
        assert_eq!(kinds(&change), expected, "{shell:?}");
        let step = |name: &str| change.steps[&Item::Exported(name.to_owned())].clone();
        assert_eq!(step("NEW"), Step { before: None, after: Some(text("a b")) });
        assert_eq!(step("OLD"), Step { before: Some(text("was here")), after: None });
        assert_eq!(
            step("LATER"),
            Step { before: Some(text("1")), after: Some(vec![b"2\n'\xff".to_vec()]) },
            "{shell:?}"
        );
        let folder = &change.steps[&Item::Folder];
        assert_eq!(*folder, Step { before: Some(text("/")), after: Some(text("/tmp")) });
    }
}

/// The state of a shell before, a change of a setting that decides which program runs, the undo, and the observed items.
type Deciding = (&'static str, &'static str, &'static str, Vec<Item>);

fn deciding(shell: Shell) -> Vec<Deciding> {
    match shell {
        Shell::Bash => [deciding_alike(), deciding_in_bash()].concat(),
        Shell::Zsh => [deciding_alike(), deciding_in_zsh()].concat(),
        _ => deciding_in_fish(),
    }
}

#[test]
fn a_search_path_of_cd_is_there_only_where_it_is_set() {
    for shell in SHELLS {
        let set = if shell == Shell::Fish { "set -g CDPATH /" } else { "CDPATH=/" };
        let Some(listings) = listings(shell, &[], &["", set]) else { continue };
        let is_there = |at: usize| listings[at].snapshot().unwrap().contains_key(&Item::Variable("CDPATH".to_owned()));
        assert_eq!((is_there(0), is_there(1)), (false, true), "{shell:?}");
    }
}

fn one(item: fn(String) -> Item, name: &str) -> Vec<Item> {
    vec![item(name.to_owned())]
}

fn deciding_alike() -> Vec<Deciding> {
    vec![
        ("f() { echo 1; }; g() { :; }", "f() { echo 2; }", "f() { echo 1; }", one(Item::Function, "f")),
        ("f() { cat <<X\ng () \n{ \nX\n}\ng() { :; }", "g() { id; }", "g() { :; }", one(Item::Function, "g")),
        (":", "trap 'id; ls' DEBUG", "trap - DEBUG", one(Item::Trap, "DEBUG")),
        ("trap 'echo\n:' USR1; trap : USR2", "trap 'echo\n:;id' USR1", "trap 'echo\n:' USR1", one(Item::Trap, "USR1")),
        ("IFS=' '", "IFS=x", "IFS=' '", one(Item::Variable, "IFS")),
        ("CDPATH=/", "CDPATH=/tmp", "CDPATH=/", one(Item::Variable, "CDPATH")),
        ("PS4='+ '", "PS4='$(id)'", "PS4='+ '", one(Item::Variable, "PS4")),
        ("PS4='+\n '", "PS4='+\n$(id) '", "PS4='+\n '", one(Item::Variable, "PS4")),
        ("hash -r", "ls / >/dev/null", "hash -r", vec![]),
    ]
}

fn deciding_in_bash() -> Vec<Deciding> {
    vec![
        (":", "PROMPT_COMMAND=id", "unset PROMPT_COMMAND", one(Item::Variable, "PROMPT_COMMAND")),
        ("PROMPT_COMMAND=(a b)", "PROMPT_COMMAND[1]=c", "PROMPT_COMMAND[1]=b", one(Item::Variable, "PROMPT_COMMAND")),
        (":", "trap id ERR RETURN", "trap - ERR RETURN", [one(Item::Trap, "ERR"), one(Item::Trap, "RETURN")].concat()),
        (":", "hash -p /bin/rm ls", "hash -d ls", one(Item::Hashed, "ls")),
        (":", "hash -p '/no such/a b' ls", "hash -d ls", one(Item::Hashed, "ls")),
        (":", "enable -n test", "enable test", one(Item::Builtin, "test")),
        (":", "complete -W 'a b' git", "complete -r git", one(Item::Completion, "git")),
        (":", "bind -x '\"\\C-t\": id'", "bind -r '\\C-t'", vec![Item::Keys]),
        (":", "export BASH_ENV=/tmp/x", "unset BASH_ENV", one(Item::Exported, "BASH_ENV")),
    ]
}

fn deciding_in_zsh() -> Vec<Deciding> {
    vec![
        (":", "precmd_functions=(id)", "unset precmd_functions", one(Item::Variable, "precmd_functions")),
        (
            "precmd_functions=()",
            "precmd_functions=(id)",
            "precmd_functions=()",
            one(Item::Variable, "precmd_functions"),
        ),
        (":", "trap id ZERR", "trap - ZERR", one(Item::Trap, "ZERR")),
        (":", "hash ls=/bin/rm", "unhash ls", one(Item::Hashed, "ls")),
        (":", "disable test", "enable test", one(Item::Builtin, "test")),
        (":", "bindkey '^T' beep", "bindkey '^T' transpose-chars", vec![Item::Keys]),
        (":", "zle -N mine", "zle -D mine", one(Item::Widget, "mine")),
        (":", "hash -d src=/usr/src", "unhash -d src", one(Item::NamedFolder, "src")),
    ]
}

fn deciding_in_fish() -> Vec<Deciding> {
    vec![
        (
            "function f; echo 1; end; function g; end",
            "function f; echo 2; end",
            "function f; echo 1; end",
            one(Item::Function, "f"),
        ),
        (
            ":",
            "function ls; id; end",
            "functions -e ls; source $__fish_data_dir/functions/ls.fish",
            one(Item::Function, "ls"),
        ),
        ("set -g CDPATH /", "set -g CDPATH /tmp", "set -g CDPATH /", one(Item::Variable, "CDPATH")),
        (
            "function f; end",
            "function f --on-event fish_prompt; end",
            "functions -e f; function f; end",
            [one(Item::Function, "f"), one(Item::Handler, "f")].concat(),
        ),
        ("abbr -a gs 'git status'", "abbr -a gs 'git stash'", "abbr -a gs 'git status'", one(Item::Abbreviation, "gs")),
        (":", "bind \\ct id", "bind -e \\ct", vec![Item::Keys]),
    ]
}

#[test]
fn what_decides_what_runs_is_seen_in_real_shells_until_it_is_taken_back() {
    for shell in SHELLS {
        for (before, change, back, expected) in deciding(shell) {
            let Some(states) = snapshots(shell, &[before, change, back]) else { continue };
            let seen = StateChange::between(&states[0], &states[1]);
            assert_eq!(kinds(&seen), expected, "{shell:?}: {change}");
            let left = StateChange::between(&states[0], &states[2]);
            assert_eq!(left, StateChange::default(), "{shell:?}: {back}");
            let lasting = Undo::of(&seen, &states[1], shell).lasting;
            let is_undone = |item: &&Item| matches!(item, Item::Exported(_));
            assert_eq!(
                lasting.iter().collect::<Vec<_>>(),
                expected.iter().filter(|item| !is_undone(item)).collect::<Vec<_>>()
            );
        }
    }
}

#[test]
fn undoing_brings_real_shells_back() {
    for shell in SHELLS {
        let Some(states) = snapshots(shell, &["", changes(shell)]) else { continue };
        let change = StateChange::between(&states[0], &states[1]);
        let undo = Undo::of(&change, &states[1], shell);
        let lasting = [Item::Variable("x".into()), Item::Function("f".into())];
        assert_eq!((undo.lasting.as_slice(), undo.changed_since.as_slice()), (&lasting[..], &[][..]), "{shell:?}");
        let states = snapshots(shell, &["", changes(shell), undo.script()]).unwrap();
        let (done, failed) = undo.outcome(&states[2]);
        assert_eq!(failed, Vec::<&Item>::new(), "{shell:?}: {}", undo.script());
        assert_eq!(done.len(), undo.wanted.len());
        let left = kinds(&StateChange::between(&states[0], &states[2]));
        assert_eq!(left, lasting, "{shell:?}: {}", undo.script());
    }
}

#[test]
fn what_the_user_changed_since_is_left_alone() {
    for shell in SHELLS {
        let later = if shell == Shell::Fish { "set -gx NEW mine; cd /" } else { "export NEW=mine; cd /" };
        let Some(states) = snapshots(shell, &["", changes(shell), later]) else { continue };
        let change = StateChange::between(&states[0], &states[1]);
        let undo = Undo::of(&change, &states[2], shell);
        assert_eq!(undo.changed_since, [Item::Exported("NEW".into())], "{shell:?}");
        assert!(!undo.wanted.iter().any(|(item, _)| matches!(item, Item::Folder)), "it is there already");
        assert!(!undo.script().contains("NEW") && undo.script().contains("OLD"), "{}", undo.script());
    }
}

#[test]
fn a_statement_that_fails_does_not_stop_the_next() {
    for (shell, changes, read_only) in [
        (Shell::Bash, "export A=2 B=2 C=2", "readonly B"),
        (Shell::Zsh, "export A=2 B=2 C=2", "readonly B; setopt err_return"),
    ] {
        let Some(states) = snapshots(shell, &["export A=1 B=1 C=1", changes]) else { continue };
        let undo = Undo::of(&StateChange::between(&states[0], &states[1]), &states[1], shell);
        let steps = ["export A=1 B=1 C=1", changes, read_only, undo.script()];
        let now = snapshots(shell, &steps).unwrap().pop().unwrap();
        let (done, failed) = undo.outcome(&now);
        assert_eq!((done.len(), failed), (2, vec![&Item::Exported("B".into())]), "{shell:?}");
    }
}

#[test]
fn a_variable_that_was_only_not_exported_loses_the_export() {
    for (shell, first, then, lasts) in [
        (Shell::Bash, "v=1", "export v", true),
        (Shell::Zsh, "v=1", "export v", true),
        (Shell::Fish, "set -g v 1", "set -gx v 1", true),
        (Shell::Bash, "export v=1", "export -n v", false),
        (Shell::Zsh, "export v=1", "typeset +x v", false),
        (Shell::Fish, "set -gx v 1", "set -gu v 1", false),
    ] {
        let Some(states) = snapshots(shell, &[first, then]) else { continue };
        let undo = Undo::of(&StateChange::between(&states[0], &states[1]), &states[1], shell);
        assert_eq!(undo.lasting.contains(&Item::Variable("v".into())), lasts, "its value may have been another");
        let states = snapshots(shell, &[first, then, undo.script()]).unwrap();
        let left = StateChange::between(&states[0], &states[2]);
        assert_eq!(left, StateChange::default(), "{shell:?}: {}", undo.script());
    }
}

#[test]
fn options_of_the_user_do_not_garble_a_listing() {
    let options = [
        (Shell::Bash, "set -euxvf -o noclobber -o pipefail -o posix; IFS=:a; LC_ALL=C"),
        (Shell::Bash, "set -T; trap : DEBUG RETURN ERR; shopt -s failglob nullglob extglob"),
        (Shell::Zsh, "setopt ksh_arrays sh_word_split null_glob err_return no_unset xtrace noclobber glob_subst"),
        (Shell::Zsh, "setopt err_exit rc_quotes bsd_echo posix_builtins ignore_braces ignore_close_braces; IFS=:a"),
        (Shell::Zsh, "emulate sh"),
        (Shell::Zsh, "emulate ksh"),
    ];
    for (shell, options) in options {
        let Some(states) = snapshots(shell, &["umask 022", options, "export NEW='a:b c'; umask 077 || :"]) else {
            continue;
        };
        let change = StateChange::between(&states[1], &states[2]);
        assert_eq!(kinds(&change), [Item::Exported("NEW".into()), Item::Umask], "{shell:?} {options}");
        assert_eq!(states[2][&Item::Exported("NEW".into())], text("a:b c"));
    }
}

#[test]
fn a_cut_or_foreign_text_is_no_listing() {
    for shell in SHELLS {
        let Some(listing) = listings(shell, &[], &[changes(shell)]).map(|all| all[0].clone()) else { continue };
        assert!(listing.snapshot().is_some());
        let length = listing.bytes.len();
        for cut in (0..length).step_by(23).chain(length - 40..length) {
            let cut = Listing { shell, bytes: listing.bytes[..cut].to_vec() };
            assert_eq!((cut.snapshot(), cut.change_until(&listing)), (None, None), "{shell:?}");
        }
        let foreign = Listing { shell: Shell::Other, bytes: listing.bytes.clone() };
        assert_eq!((foreign.snapshot(), foreign.change_until(&listing)), (None, None));
    }
}

#[test]
fn changes_add_up_and_cancel_out() {
    let snapshot = |value: &[&str]| -> Snapshot {
        value.iter().enumerate().map(|(n, value)| (Item::Exported(format!("V{n}")), text(value))).collect()
    };
    let mut change = StateChange::between(&snapshot(&["a", "b", "c"]), &snapshot(&["a2", "b2"]));
    change.then(StateChange::between(&snapshot(&["a2", "b2"]), &snapshot(&["a3", "b", "c"])));
    let step = Step { before: Some(text("a")), after: Some(text("a3")) };
    assert_eq!(change, StateChange { steps: [(Item::Exported("V0".into()), step)].into() });
    let job: Snapshot = [(Item::Job("17".into()), Value::new())].into();
    assert_eq!(StateChange::between(&Snapshot::new(), &job).steps.len(), 1);
    assert!(StateChange::between(&job, &Snapshot::new()).is_empty(), "it ended by itself");
}

#[test]
fn prompts_are_known_without_our_references() {
    let bytes = b"/\0\\$ ${__cohab_b-}\0\0\x00022\n\0declare -x PS2=\"\\${__cohab_p2-}> \"\n\0\0\0\0\0\0\0\0\0\0\0\0.";
    let snapshot = Listing { shell: Shell::Bash, bytes: bytes.to_vec() }.snapshot().unwrap();
    assert_eq!(snapshot[&Item::Prompt("PS1".into())], text("\\$ "));
    assert_eq!(snapshot[&Item::Exported("PS2".into())], text("> "));
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        prop::collection::vec(1u8..=255, 0..30),
        "[ -~\n\t]{0,30}".prop_map(String::into_bytes),
        "[^\u{0}]{0,12}".prop_map(String::into_bytes),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_value_is_read_and_brought_back_exactly(value in bytes(), alias in "[ -~\n]{1,20}") {
        for shell in SHELLS {
            let define = match shell {
                Shell::Fish => "set -gx SOME other".to_owned(),
                _ => format!("SOME=other; alias -- a={}", shell.quoted_in_ascii(alias.as_bytes())),
            };
            let Some(all) = listings(shell, &[("SOME", &value)], &["", &define]) else { continue };
            let states: Vec<Snapshot> = all.iter().map(|listing| listing.snapshot().unwrap()).collect();
            prop_assert_eq!(&states[0][&Item::Exported("SOME".into())], &vec![value.clone()], "{:?}", shell);
            if shell != Shell::Fish {
                prop_assert_eq!(&states[1][&Item::Alias(AliasKind::Command, "a".into())], &text(&alias));
            }
            let undo = Undo::of(&StateChange::between(&states[0], &states[1]), &states[1], shell);
            let all = listings(shell, &[("SOME", &value)], &["", &define, undo.script()]).unwrap();
            let end = all[2].snapshot().unwrap();
            prop_assert_eq!(undo.outcome(&end).1, Vec::<&Item>::new(), "{:?}: {}", shell, undo.script());
            prop_assert_eq!(&end[&Item::Exported("SOME".into())], &vec![value.clone()]);
        }
    }

    #[test]
    fn any_bytes_are_a_listing_or_none(bytes in prop::collection::vec(any::<u8>(), 0..200), at in 0usize..21) {
        for shell in SHELLS {
            let mut listing = vec![0; at];
            listing.extend_from_slice(&bytes);
            listing.extend_from_slice(&[0; 21][at.min(21)..]);
            listing.extend_from_slice(b"\0.");
            let listing = Listing { shell, bytes: listing };
            let _ = (listing.snapshot(), listing.change_until(&Listing { shell, bytes: vec![0; 10] }));
        }
    }
}
