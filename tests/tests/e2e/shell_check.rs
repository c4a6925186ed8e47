//! `cohab shell-check` reports the true state of the user's shell, and leaves shell, history and machine unchanged.

use std::{fs, path::Path, process::Stdio, time::Duration};

use cohab_e2e::{Home, Terminal, binaries, deadline::eventually, home::Finished, keys};
use serde_json::Value;

fn check(home: &Home, arguments: &[&str]) -> Finished {
    let arguments: Vec<&str> = ["shell-check"].iter().chain(arguments).copied().collect();
    home.run(&arguments)
}

fn check_json(home: &Home, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
    let finished = check(home, &arguments);
    let value: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("no JSON: {finished:?}"));
    assert_eq!(finished.status, Some(if value["works"] == true { 0 } else { 1 }), "{value:#}");
    assert!(home.daemon_pids().is_empty(), "a daemon was started");
    value
}

/// Verdict and text of a finding.
fn finding<'a>(report: &'a Value, id: &str) -> (&'a str, &'a str) {
    let all = report["findings"].as_array().expect("a list");
    let found = all.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no {id}: {report:#}"));
    (found["verdict"].as_str().expect("a word"), found["text"].as_str().expect("a text"))
}

fn hint<'a>(report: &'a Value, id: &str) -> &'a str {
    let all = report["findings"].as_array().expect("a list");
    all.iter().find(|finding| finding["id"] == id).and_then(|finding| finding["hint"].as_str()).unwrap_or_default()
}

/// Names of the processes that have this home in their environment.
fn processes_of(home: &Home) -> Vec<String> {
    let marker = format!("HOME={}", home.path("").display());
    let marker = marker.trim_end_matches('/').as_bytes();
    let is_of_home = |folder: &Path| {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == marker)
    };
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten().map(|entry| entry.path());
    let name = |folder: &Path| fs::read_to_string(folder.join("comm")).unwrap_or_default().trim().to_owned();
    folders.filter(|folder| is_of_home(folder)).map(|folder| name(&folder)).collect()
}

fn assert_nothing_is_left(home: &Home) {
    eventually("the end of the hidden shell", || processes_of(home).is_empty());
    let run = fs::read_dir(home.paths().runtime_dir).into_iter().flatten().flatten();
    let left: Vec<_> = run.map(|entry| entry.file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_bare_bash_works_in_every_point() {
    let home = Home::new();
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(true), &Value::from("live")), "{report:#}");
    assert_eq!((&report["version"], &report["shell"]["kind"]), (&Value::from(1), &Value::from("bash")));
    assert!(report["shell"]["path"] == "/bin/bash" && report["shell"]["version"].is_string(), "{report:#}");
    let verdicts: Vec<&Value> = report["findings"].as_array().expect("a list").iter().map(|f| &f["verdict"]).collect();
    assert!(verdicts.len() >= 16 && verdicts.iter().all(|verdict| *verdict == "ok"), "{report:#}");
    for times in [&report["start_ms"]["with"], &report["start_ms"]["without"], &report["round_trip_ms"]["relayed"]] {
        assert!(times.as_f64().is_some_and(|time| time > 0.0), "{report:#}");
    }
    assert!(report["round_trip_ms"]["samples"].as_u64().is_some_and(|count| (1..=20).contains(&count)), "{report:#}");
    assert_nothing_is_left(&home);
}

#[test]
fn people_get_an_aligned_list_without_colours_in_a_pipe() {
    let home = Home::new();
    let finished = check(&home, &[]);
    assert_eq!((finished.status, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
    assert!(finished.stdout.ends_with("\n\nThe assistant works in this shell.\n"), "{}", finished.stdout);
    let lines: Vec<&str> = finished.stdout.lines().take_while(|line| !line.is_empty()).collect();
    assert!(lines.iter().all(|line| line.starts_with("ok    ") && !line.contains('\x1b')), "{}", finished.stdout);
}

#[test]
fn in_a_terminal_there_are_colours_unless_refused() {
    for (home, is_coloured) in [(Home::new(), true), (Home::new().env("NO_COLOR", "1"), false)] {
        let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["shell-check"]));
        assert_eq!(terminal.wait_exit().exit_code(), 0, "{}", terminal.dump());
        assert_eq!(terminal.raw_since(0).contains("\x1b[32mok"), is_coloured, "{}", terminal.dump());
    }
}

#[test]
fn an_rc_file_that_ends_the_shell_is_named() {
    let home = Home::new().rc("exit 3");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("plain-shell")));
    assert_eq!(finding(&report, "start"), ("fail", "it ended with status 3 before its first prompt"));
    assert!(hint(&report, "start").contains("~/.bashrc line 2: `exit 3`"), "{report:#}");
    assert_nothing_is_left(&home);
}

#[test]
fn a_syntax_error_is_told_and_the_relay_works_all_the_same() {
    let home = Home::new().rc("if true; then\n");
    let report = check_json(&home, &[]);
    assert_eq!(report["works"], true, "{report:#}");
    let (verdict, text) = finding(&report, "rc-files");
    assert!(verdict == "warn" && text.contains(".bashrc: line") && text.contains("syntax error"), "{report:#}");
}

#[test]
fn an_rc_file_that_replaces_the_shell_is_named() {
    let home = Home::new().rc("exec sleep 100");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("pass-through")));
    assert_eq!(finding(&report, "start"), ("fail", "sleep took its place before the first prompt"));
    assert!(hint(&report, "start").contains("~/.bashrc line 2: `exec sleep 100`"), "{report:#}");
    assert_nothing_is_left(&home);
}

#[test]
fn an_rc_file_that_waits_is_not_waited_for_without_end() {
    let home = Home::new().rc("sleep 300");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("pass-through")));
    assert_eq!(finding(&report, "start"), ("fail", "no prompt within 10 s: sleep ran"), "{report:#}");
    assert_nothing_is_left(&home);
}

#[test]
fn ctrl_c_ends_the_check_and_the_hidden_shell() {
    let home = Home::new().rc("sleep 300");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["shell-check"]));
    eventually("the hidden shell's start", || processes_of(&home).iter().any(|name| name == "sleep"));
    terminal.send(keys::CTRL_C);
    assert_eq!(terminal.wait_exit().exit_code(), 130, "{}", terminal.dump());
    assert_nothing_is_left(&home);
}

#[test]
fn promptvars_switched_off_is_what_stops_the_marks() {
    let home = Home::new().rc("shopt -u promptvars");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("pass-through")));
    assert_eq!(finding(&report, "start").0, "fail", "{report:#}");
    assert!(hint(&report, "start").contains("~/.bashrc line 2: `shopt -u promptvars`"), "{report:#}");
}

/// Whether a question typed into the real program is taken away from the shell.
fn takes_questions(home: &Home) -> bool {
    let shell = home.cohab();
    let mark = shell.submit("? who are you");
    shell.wait_next_prompt(mark).contains("built-in assistant")
}

fn assert_the_verdict_is_true(home: &Home, rc: &str, takes: bool) {
    let report = check_json(home, &[]);
    let all = report["findings"].as_array().expect("a list");
    let enter = all.iter().find(|finding| finding["id"] == "enter").map(|finding| &finding["verdict"]);
    let promised = report["works"] == true && enter.is_some_and(|verdict| *verdict == "ok");
    assert_eq!((promised, takes_questions(home)), (takes, takes), "`{rc}`: {report:#}");
}

#[test]
fn the_verdict_is_what_cohab_then_does() {
    for (rc, takes) in [
        ("", true),
        ("shopt -u promptvars", false),
        ("set -o vi; set -eu; HISTCONTROL=ignoreboth", true),
        ("f() { PS1='ready$ ' PS0= PS2='> '; }; PROMPT_COMMAND=f", true),
        ("readonly PS1", false),
    ] {
        assert_the_verdict_is_true(&Home::new().rc(rc), rc, takes);
    }
}

/// A home of `zsh` or `fish` with more lines in its start-up file, and the file's name.
fn home_of(shell: &str, rc: &str) -> (Home, &'static str) {
    let home = Home::new().shell(shell);
    let file = if shell == "zsh" { ".zshrc" } else { ".config/fish/config.fish" };
    let text = fs::read_to_string(home.path(file)).expect("it is there");
    home.write(file, &format!("{text}{rc}\n"));
    (home, file)
}

/// The checks that must pass in every shell.
const EVERYWHERE: [&str; 11] =
    ["shell", "folder", "start", "relay", "marks", "status", "folder-change", "shapes", "enter", "hotkey", "answer"];

#[test]
fn zsh_works_and_its_verdicts_are_true() {
    if !binaries::is_installed_or_skip("zsh") {
        return;
    }
    let (home, _) = home_of("zsh", "HISTFILE=~/history SAVEHIST=50 HISTSIZE=50; setopt share_history");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["shell"]["kind"]), (&Value::Bool(true), &Value::from("zsh")), "{report:#}");
    for id in EVERYWHERE {
        assert_eq!(finding(&report, id).0, "ok", "{id}: {report:#}");
    }
    assert!(!home.path("history").exists());
    assert_nothing_is_left(&home);
    for (rc, takes) in [
        ("bindkey -v; setopt errexit noclobber", true),
        ("bindkey '^M' accept-line-and-down-history", false),
        ("TRAPEXIT() { :; }; function zle-line-init { :; }; zle -N zle-line-init", true),
    ] {
        assert_the_verdict_is_true(&home_of("zsh", rc).0, rc, takes);
    }
}

#[test]
fn fish_works_and_its_verdicts_are_true() {
    if !binaries::is_installed_or_skip("fish") {
        return;
    }
    let (home, _) = home_of("fish", "");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["shell"]["kind"]), (&Value::Bool(true), &Value::from("fish")), "{report:#}");
    for id in EVERYWHERE {
        assert_eq!(finding(&report, id).0, "ok", "{id}: {report:#}");
    }
    let history = fs::read_to_string(home.path(".local/share/fish/fish_history")).unwrap_or_default();
    assert_eq!(history, "");
    assert_nothing_is_left(&home);
    for rc in ["fish_vi_key_bindings; function fish_mode_prompt; end", "bind \\r 'commandline -f execute'"] {
        assert_the_verdict_is_true(&home_of("fish", rc).0, rc, true);
    }
}

#[test]
fn a_start_up_file_of_zsh_or_fish_that_replaces_the_shell_is_named() {
    for shell in ["zsh", "fish"].into_iter().filter(|shell| binaries::is_installed_or_skip(shell)) {
        let (home, file) = home_of(shell, "exec sleep 100");
        let report = check_json(&home, &[]);
        assert_eq!(finding(&report, "start").1, "sleep took its place before the first prompt", "{report:#}");
        let hint = hint(&report, "start");
        assert!(hint.contains(&format!("~/{file} line ")) && hint.contains("`exec sleep 100`"), "{report:#}");
        assert_nothing_is_left(&home);
    }
}

#[test]
fn prompt_tools_are_recognised_inside_the_shell() {
    let home =
        Home::new().rc("starship_precmd() { PS1='two\\nready$ '; }; PROMPT_COMMAND=starship_precmd; BLE_VERSION=");
    let report = check_json(&home, &[]);
    assert_eq!(report["prompt_tools"], serde_json::json!(["starship"]), "{report:#}");
    assert_eq!(finding(&report, "prompt-tools"), ("ok", "starship: the marks are kept"));
}

#[test]
fn the_history_stays_as_it_was() {
    let rc = "HISTFILE=~/history; HISTSIZE=500; HISTFILESIZE=500; shopt -s histappend; PROMPT_COMMAND='history -a; history -n'";
    for more in ["", "\nreadonly HISTFILE"] {
        let home = Home::new().rc(&format!("{rc}{more}"));
        home.write("history", "echo mine\necho and mine\n");
        assert_eq!(check_json(&home, &[])["works"], true);
        let history = fs::read_to_string(home.path("history")).expect("it is there");
        assert_eq!(history, "echo mine\necho and mine\n");
        let mut names: Vec<_> =
            fs::read_dir(home.path("")).expect("it is there").flatten().map(|entry| entry.file_name()).collect();
        names.sort();
        assert_eq!(names, [".bashrc", "history"], "{rc}{more}");
    }
}

#[test]
fn a_runtime_folder_that_cannot_be_used_is_told() {
    let home = Home::new();
    home.write("../cohab/run", "in the way");
    let report = check_json(&home, &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("plain-shell")));
    assert_eq!(finding(&report, "folder").0, "fail", "{report:#}");
    assert!(finding(&report, "folder").1.contains("/cohab/run"), "{report:#}");
}

#[test]
fn a_shell_of_another_kind_passes_through() {
    let home = Home::new();
    let report = check_json(&home, &["--shell", "/bin/sh"]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("pass-through")));
    assert_eq!(finding(&report, "shell"), ("fail", "/bin/sh passes through: no questions at its prompt"));
    assert_nothing_is_left(&home);
}

#[test]
fn a_shell_that_is_not_there_is_told() {
    let report = check_json(&Home::new(), &["--shell", "/no/such/shell"]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("not-started")));
    assert!(finding(&report, "shell").1.contains("/no/such/shell"), "{report:#}");
}

#[test]
fn a_dumb_terminal_has_no_assistant() {
    let report = check_json(&Home::new().env("TERM", "dumb"), &[]);
    assert_eq!((&report["works"], &report["mode"]), (&Value::Bool(false), &Value::from("plain-shell")));
    assert_eq!(finding(&report, "terminal").0, "fail");
}

#[test]
fn a_login_shell_reads_the_files_of_one() {
    let home = Home::new();
    home.write(".bash_profile", "touch ~/was-a-login-shell\nPS1='ready$ '\n");
    let report = check_json(&home, &["--login"]);
    assert_eq!((&report["works"], &report["shell"]["login"]), (&Value::Bool(true), &Value::Bool(true)), "{report:#}");
    assert!(home.path("was-a-login-shell").exists());
}

#[test]
fn what_the_shell_prints_and_asks_harms_nobody() {
    let home = Home::new().rc("printf '\\033]0;evil\\007\\033[6n\\033[c'; yes | head -c 300000; PS1=$'\\e[31mready$ '");
    let mut process = home.cohab_process(&["shell-check"]);
    let finished = home.finish(process.stdin(Stdio::null()).spawn().expect("cohab starts"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(!finished.stdout.contains('\x1b') && !finished.stdout.contains("evil"), "{finished:?}");
}

#[test]
fn inside_cohab_it_says_so() {
    let home = Home::new();
    let shell = home.cohab();
    let program = binaries::word("cohab");
    let output = shell.run(&format!("{program} shell-check"));
    assert!(output.contains("inside cohab") && output.contains("The assistant works"), "{output}");
    assert!(!shell.holds_within(Duration::from_millis(50), |view| view.shows("7391")));
}
