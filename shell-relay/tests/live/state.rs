//! Tests for changes that a command made in the shell: observed and undone in the live shell itself.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use cohab_shell_relay::live::{LiveEvent, UNDO_PREFIX};
use cohab_shell_state::{
    shell::Shell,
    state::{AliasKind, Item, Listing, OptionKind, Snapshot, StateChange, Undo},
};
use cohab_types::command::{CommandRequest, Ending, Mode};

use crate::terminal::{BY_USER, Kind, Options, Terminal};

const KINDS: [Kind; 4] = [Kind::Bash, Kind::Zsh, Kind::Fish, Kind::Fish4];

fn every_kind(test: impl Fn(Kind)) {
    KINDS.into_iter().filter(|kind| kind.program().is_some()).for_each(test);
}

/// Runs a command as it is; returns its changes and the state of the shell after it.
fn observe(t: &mut Terminal, text: &str) -> (StateChange, Listing) {
    let id = begin(t, text, Duration::from_secs(60));
    t.result(&id).unwrap_or_else(|error| panic!("{text}: {error:?}\n{}", t.text()));
    t.settle();
    told(t, &id).unwrap_or_else(|| panic!("the shell did not tell about {text}\n{}", t.text()))
}

fn begin(t: &mut Terminal, text: &str, timeout: Duration) -> String {
    let request = CommandRequest { wants_env_delta: true, timeout, ..t.request(text) };
    t.begin_request_as(request, Mode::Live)
}

/// The changes of a command and the state of the shell after it, if the shell reported them.
fn told(t: &Terminal, id: &str) -> Option<(StateChange, Listing)> {
    t.events.iter().find_map(|event| match event {
        LiveEvent::ShellObserved { id: of, change, listing } if of == id => Some((change.clone(), listing.clone())),
        _ => None,
    })
}

/// Names of files in which the shell reported its state.
fn listings_left(t: &Terminal) -> Vec<String> {
    let files = |path: &Path| -> Vec<PathBuf> {
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
    };
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let dir = files(&t.home_path()).into_iter().find(|path| name(path).starts_with("shell-"));
    let dir = dir.expect("the relay's folder");
    files(&dir).iter().map(name).filter(|name| name.starts_with("env.")).collect()
}

fn look(t: &mut Terminal) -> Snapshot {
    observe(t, ":").1.snapshot().expect("a listing")
}

fn changes(shell: Shell) -> &'static str {
    match shell {
        Shell::Fish => "cd /usr; set -gx NEW 'a b'; set -e OLD; function f; end; set -g x 1; umask 077",
        Shell::Zsh => {
            "cd /usr; export NEW='a b'; unset OLD; f() { :; }; x=1; umask 077; alias ll='ls -l'; PS1='new> '; setopt globdots"
        }
        _ => {
            "cd /usr; export NEW='a b'; unset OLD; f() { :; }; x=1; umask 077; alias ll='ls -l'; PS1='new> '; shopt -s dotglob"
        }
    }
}

fn with_old(kind: Kind) -> Terminal {
    Terminal::with(&Options { kind, variables: &[("OLD", "1")], rc: kind.plain_rc(), ..Options::default() })
}

#[test]
fn a_command_that_changes_nothing_is_told_so() {
    every_kind(|kind| {
        let mut t = with_old(kind);
        for text in ["true", "false", "/bin/ls / >/dev/null", "echo hi"] {
            assert_eq!(observe(&mut t, text).0, StateChange::default(), "{kind:?}: {text}");
        }
    });
}

#[test]
fn what_a_command_changes_is_seen_and_taken_back_silently() {
    every_kind(|kind| {
        let mut t = with_old(kind);
        let shell = kind.shell();
        let before = look(&mut t);
        let change = observe(&mut t, changes(shell)).0;
        let name = str::to_owned;
        let mut expected = vec![
            Item::Folder,
            Item::Exported(name("NEW")),
            Item::Exported(name("OLD")),
            Item::Variable(name("x")),
            Item::Function(name("f")),
            Item::Umask,
        ];
        if shell != Shell::Fish {
            let alias = Item::Alias(AliasKind::Command, name("ll"));
            expected.extend([Item::Prompt(name("PS1")), alias]);
        }
        match shell {
            Shell::Bash => expected.push(Item::Option(OptionKind::Shopt, name("dotglob"))),
            Shell::Zsh => expected.push(Item::Option(OptionKind::Set, name("globdots"))),
            _ => {}
        }
        expected.sort();
        assert_eq!(change.steps.keys().cloned().collect::<Vec<_>>(), expected, "{kind:?}");

        let now = look(&mut t);
        let undo = Undo::of(&change, &now, shell);
        let id = t.begin_as(undo.script(), Mode::Live);
        let outcome = t.result(&id).expect("it runs");
        assert_eq!((outcome.output.as_str(), outcome.status), ("", Some(0)), "{kind:?}");
        t.settle();
        let after = look(&mut t);
        assert_eq!(undo.outcome(&after).1, Vec::<&Item>::new(), "{kind:?}");
        let left: Vec<Item> = StateChange::between(&before, &after).steps.into_keys().collect();
        assert_eq!(left, [Item::Variable(name("x")), Item::Function(name("f"))], "{kind:?}");
    });
}

#[test]
fn what_decides_what_runs_is_seen_also_from_a_file_and_after_ctrl_c() {
    let name = str::to_owned;
    let (trap, function) = (Item::Trap(name("DEBUG")), Item::Function(name("f")));
    every_kind(|kind| {
        let mut t = with_old(kind);
        let (script, again, mut expected) = match kind.shell() {
            Shell::Fish => (
                "function ls; id; end; bind \\ct id; function f --on-variable X; end",
                "function f --on-variable Y; end",
                vec![Item::Function(name("ls")), function.clone(), Item::Handler(name("f")), Item::Keys],
            ),
            Shell::Zsh => (
                "trap : DEBUG; f() { echo 1 }; hash ls=/tmp/evil; precmd_functions+=(f); disable test; bindkey '^T' beep",
                "trap 'true' DEBUG",
                vec![
                    Item::Variable(name("precmd_functions")),
                    function.clone(),
                    trap.clone(),
                    Item::Hashed(name("ls")),
                    Item::Builtin(name("test")),
                    Item::Keys,
                ],
            ),
            _ => (
                "trap : DEBUG; f() { echo 1; }; hash -p /tmp/evil ls; PROMPT_COMMAND+=(:); enable -n test; bind -x '\"\\C-t\": id'
complete -W x git",
                "trap 'true' DEBUG",
                vec![
                    Item::Variable(name("PROMPT_COMMAND")),
                    function.clone(),
                    trap.clone(),
                    Item::Hashed(name("ls")),
                    Item::Builtin(name("test")),
                    Item::Keys,
                    Item::Completion(name("git")),
                ],
            ),
        };
        expected.sort();
        let file = t.home_path().join("env");
        fs::write(&file, script).expect("the home can be written");
        let change = observe(&mut t, &format!("source {}", file.display())).0;
        assert_eq!(change.steps.keys().cloned().collect::<Vec<_>>(), expected, "{kind:?}");
        assert_eq!(observe(&mut t, "true").0, StateChange::default(), "{kind:?}: a later command is not blamed");

        let id = begin(&mut t, &format!("{again}; sleep 20"), Duration::from_secs(60));
        t.wait_foreground("sleep");
        t.keys("\x03");
        assert_eq!(t.result(&id).expect("a result").ending, BY_USER, "{kind:?}");
        t.settle();
        let (change, _) = told(&t, &id).unwrap_or_else(|| panic!("{kind:?} did not tell\n{}", t.text()));
        let item = if kind.is_fish() { Item::Handler(name("f")) } else { trap.clone() };
        assert!(change.steps.contains_key(&item), "{kind:?}: {change:?}");
    });
}

#[test]
fn options_of_the_users_do_not_hide_a_change() {
    let options = [
        (Kind::Bash, "set -eu; set -f; set -o noclobber; shopt -s failglob nullglob"),
        (Kind::Zsh, "setopt ksh_arrays sh_word_split null_glob err_return no_unset noclobber glob_subst"),
        (Kind::Zsh, "setopt err_exit rc_quotes ignore_braces ignore_close_braces"),
    ];
    for (kind, options) in options.into_iter().filter(|(kind, _)| kind.program().is_some()) {
        let mut t = with_old(kind);
        t.line(options);
        let (change, now) = observe(&mut t, "export NEW=1; unset OLD");
        let items = [Item::Exported("NEW".into()), Item::Exported("OLD".into())];
        assert_eq!(change.steps.keys().cloned().collect::<Vec<_>>(), items, "{options}");
        let undo = Undo::of(&change, &now.snapshot().expect("a listing"), kind.shell());
        let undone = observe(&mut t, undo.script()).1.snapshot().expect("a listing");
        assert_eq!(undo.outcome(&undone).1, Vec::<&Item>::new(), "{options}");
        t.line("true");
    }
}

#[test]
fn status_and_last_word_are_the_commands_and_the_users() {
    for kind in [Kind::Bash, Kind::Zsh].into_iter().filter(|kind| kind.program().is_some()) {
        let mut t = with_old(kind);
        t.line("echo keepme last_arg");
        observe(&mut t, "export A=1; false");
        t.line("echo \"<$? $_>\"");
        t.wait_text("<1 last_arg>");
    }
}

#[test]
fn what_an_interrupted_command_changed_is_seen_and_taken_back() {
    every_kind(|kind| {
        let mut t = with_old(kind);
        let text = if kind.is_fish() {
            "set -gx NEW 1; set -gx OLD 2; cd /usr; sleep 20; set -gx LATER 1"
        } else {
            "export NEW=1 OLD=2; cd /usr; sleep 20; export LATER=1"
        };
        let id = begin(&mut t, text, Duration::from_secs(60));
        t.wait_foreground("sleep");
        t.keys("\x03");
        assert_eq!(t.result(&id).expect("a result").ending, BY_USER, "{kind:?}");
        t.settle();
        let (change, now) = told(&t, &id).unwrap_or_else(|| panic!("{kind:?} did not tell\n{}", t.text()));
        let items = [Item::Folder, Item::Exported("NEW".into()), Item::Exported("OLD".into())];
        assert_eq!(change.steps.keys().cloned().collect::<Vec<_>>(), items, "{kind:?}");
        let undo = Undo::of(&change, &now.snapshot().expect("a listing"), kind.shell());
        let undone = observe(&mut t, undo.script()).1.snapshot().expect("a listing");
        assert_eq!(undo.outcome(&undone).1, Vec::<&Item>::new(), "{kind:?}");
        t.line(if kind.is_fish() { r#"echo "<$NEW $OLD $LATER>""# } else { r#"echo "<${NEW-} $OLD ${LATER-}>""# });
        t.wait_text("< 1 >");
    });
}

#[test]
fn a_command_that_still_runs_tells_nothing_and_leaves_nothing() {
    every_kind(|kind| {
        let mut t = with_old(kind);
        let change = if kind.is_fish() { "set -gx NEW 1" } else { "export NEW=1" };
        let id = begin(&mut t, &format!("{change}; read line; cd /usr"), Duration::from_millis(100));
        assert_eq!(t.result(&id).expect("a result").ending, Ending::StillRunning, "{kind:?}");
        t.events.clear();
        t.keys("\r");
        t.wait("the prompt", |t| t.events.contains(&LiveEvent::PromptReady));
        assert_eq!(told(&t, &id), None, "{kind:?}");
        assert_eq!(observe(&mut t, ":").0, StateChange::default(), "{kind:?}: nothing is left to the next command");
        assert_eq!(listings_left(&t), Vec::<String>::new(), "{kind:?}");
    });
}

#[test]
fn a_command_in_a_subshell_or_one_that_ends_the_shell_changes_nothing() {
    every_kind(|kind| {
        let mut t = with_old(kind);
        if !kind.is_fish() {
            let request = CommandRequest { wants_env_delta: true, ..t.request("export NEW=1; cd /usr; exit 3") };
            let id = t.begin_request(request);
            let outcome = t.result(&id).expect("a result");
            assert_eq!((outcome.mode, outcome.status), (Mode::Subshell, Some(3)), "{kind:?}");
            t.settle();
            assert_eq!(told(&t, &id), None, "{kind:?}");
            assert_eq!(observe(&mut t, ":").0, StateChange::default(), "{kind:?}");
        }
        let pid = if kind.is_fish() { "$fish_pid" } else { "$$" };
        let id = begin(&mut t, &format!("kill -9 {pid}"), Duration::from_secs(60));
        assert_eq!(t.result(&id).expect("a result").ending, Ending::ShellExited, "{kind:?}");
        assert_eq!(told(&t, &id), None, "{kind:?}");
        assert_eq!(listings_left(&t), Vec::<String>::new(), "{kind:?}");
    });
}

/// Runs an undo as the client does: under an id with the prefix for it.
fn run_undo(t: &mut Terminal, undo: &Undo) {
    let mut request = CommandRequest { wants_env_delta: true, ..t.request(undo.script()) };
    request.id = format!("{UNDO_PREFIX}{}", request.id);
    let id = t.begin_request_as(request, Mode::Live);
    assert_eq!(t.result(&id).expect("a result").status, Some(0));
    t.settle();
}

#[test]
fn hooks_of_bash_preexec_see_a_command_but_no_undo_and_the_history_keeps_neither() {
    let rc = concat!(
        include_str!("../rc/preexec.bash"),
        "\npreexec() { echo \"hook: $1\" >>~/seen; }\nHISTFILE=~/history PS1='$ ' PROMPT_COMMAND+=$'\\nhistory -a'\n"
    );
    for control in ["", "HISTCONTROL=ignoredups\n", "HISTSIZE=3\n"] {
        let mut t = Terminal::with(&Options {
            rc: &format!("{rc}{control}"),
            variables: &[("OLD", "s3cret")],
            ..Options::default()
        });
        t.line("echo one");
        t.line("export OLD=mine");
        observe(&mut t, "export OLD=s3cret");
        let (change, now) = observe(&mut t, "export OLD=2");
        run_undo(&mut t, &Undo::of(&change, &now.snapshot().expect("a listing"), Kind::Bash.shell()));
        t.keys("\x10");
        t.wait("one line up", |t| t.text().ends_with("$ export OLD=mine"));
        t.keys("\x15");
        t.line("set | grep 's3cre[t]'");
        t.wait_text("[t]'\nOLD=s3cret\n$");
        let read = |name: &str| fs::read_to_string(t.home_path().join(name)).unwrap_or_default();
        let seen: Vec<_> = read("seen").lines().map(str::to_owned).collect();
        let relayed = ["hook: export OLD=s3cret", "hook: export OLD=2", "hook: cohab undo"];
        assert!(seen.windows(3).any(|three| three == relayed), "{control}: {seen:?}");
        let kept = read("history");
        assert!(
            kept.contains("echo one\nexport OLD=mine\nset | grep") && !kept.contains("OLD=s3cret"),
            "{control}: {kept}"
        );
    }
}
