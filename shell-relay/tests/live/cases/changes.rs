//! Cases with commands whose changes to the shell persist.

use std::{fs, process::Command};

use super::{assert_line_is_back, by, half_typed};
use crate::terminal::{Kind, Options, Terminal};

case!(case_003_cd_shows_in_the_prompt [bash zsh fish fish4] |kind| {
    let rc = match kind {
        Kind::Bash => "PS1='\\w> '\n",
        Kind::Zsh => "PS1='%~> '\n",
        Kind::Fish | Kind::Fish4 => "set -g fish_greeting\nfunction fish_prompt; printf '%s> ' $PWD; end\n",
    };
    let mut t = Terminal::with(&Options { kind, rc, ..Options::default() });
    t.run("cd /usr/share");
    t.wait("the prompt", |t| t.text().ends_with("\n/usr/share>"));
});

case!(case_004_export [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    assert_eq!(t.run("export FOO='b ar'").status, Some(0));
    assert!(t.run("env").output.lines().any(|line| line == "FOO=b ar"));
    assert_eq!(t.line("echo \"<$FOO>\"").output_tail, "<b ar>\n");
});

case!(case_005_alias [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    assert_eq!(t.run("alias greet='echo hello'").status, Some(0));
    assert_eq!(t.run("greet you").output, "hello you\n");
    assert_line_is_back(&mut t);
});

case!(case_006_function [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    t.run(by(kind, "f() { echo \"f $1\"; return 7; }", "function f; echo \"f $argv[1]\"; return 7; end"));
    let outcome = t.run("f x");
    assert_eq!((outcome.output.as_str(), outcome.status), ("f x\n", Some(7)));
    assert_line_is_back(&mut t);
});

case!(case_007_variable_that_is_not_exported [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    t.run(by(kind, "declare V=1", "set V 1"));
    assert_eq!(t.run("echo \"<$V>\"; env | grep -c '^V='").output, "<1>\n0\n");
    assert_eq!(t.line("echo \"<$V>\"").output_tail, "<1>\n");
    t.run(by(kind, "unset V", "set -e V"));
    assert_eq!(t.run("echo \"<$V>\"").output, "<>\n");
});

case!(case_008_virtual_environment [bash zsh fish fish4] |kind| {
    let mut t = Terminal::of(kind);
    let made = Command::new("/usr/bin/python3").args(["-m", "venv", "--without-pip", "ve"]).current_dir(t.home_path()).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: python3 makes no virtual environment");
        return;
    }
    assert_eq!(t.run(by(kind, ". ve/bin/activate", ". ve/bin/activate.fish")).status, Some(0));
    t.wait("the changed prompt", |t| t.text().ends_with("\n(ve) $"));
    let python = format!("{}/ve/bin/python3\n", t.home_path().display());
    assert_eq!(t.run("command -v python3").output, python);
    assert_eq!(t.line("basename $VIRTUAL_ENV").output_tail, "ve\n");
    assert_eq!(t.run("deactivate").status, Some(0));
    t.wait("the plain prompt", |t| t.text().ends_with("\n$"));
    assert_eq!(t.run("echo \"<$VIRTUAL_ENV>\"").output, "<>\n");
    t.line("true");
    t.wait("the plain prompt", |t| t.text().ends_with("\n$ true\n$"));
});

case!(case_009_directory_stack [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let outcome = t.run("pushd /usr; pushd /var; dirs");
    assert_eq!((outcome.cwd.to_str(), outcome.status), (Some("/var"), Some(0)));
    assert_eq!(t.run("dirs").output.trim_end(), "/var /usr ~");
    assert_eq!(t.run("popd >/dev/null").cwd.to_str(), Some("/usr"));
    assert_line_is_back(&mut t);
});

case!(case_010_umask [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    t.run("umask 077");
    let mask = if kind == Kind::Zsh { "077\n" } else { "0077\n" };
    assert_eq!(t.run("umask").output, mask);
    assert_eq!(t.run("touch new; stat -c %a new").output, "600\n");
    assert_line_is_back(&mut t);
});

case!(case_011_folder_with_blank_and_accent [bash zsh fish fish4] |kind| {
    goes_to(kind, &["ä b", "quo'te", "per%cent", "tab\there", "-", "日本 🎉", "$HOME `x`"]);
});

case!(case_012_folder_with_newline_and_semicolon [bash zsh fish fish4] |kind| {
    goes_to(kind, &["new\nline;x", "ends\n", "\u{1b}]7391;0;0;B\u{7}", "a;b;stopped"]);
});

fn goes_to(kind: Kind, names: &[&str]) {
    let mut t = half_typed(kind);
    for name in names {
        let path = t.home_path().join(name);
        fs::create_dir(&path).unwrap();
        let quoted = name.replace('\'', by(kind, "'\\''", "\\'"));
        let outcome = t.run(&format!("cd ~; cd ./'{quoted}'"));
        assert_eq!((outcome.status, outcome.cwd.as_path(), t.live.cwd()), (Some(0), path.as_path(), path.as_path()));
    }
    t.wait("the half-typed line", |t| t.text().lines().last() == Some("$ echo half"));
}

case!(case_013_folder_that_is_gone [bash zsh fish fish4] |kind| {
    let mut t = half_typed(kind);
    let gone = t.home_path().join("gone");
    fs::create_dir(&gone).unwrap();
    t.run("cd gone");
    fs::remove_dir(&gone).unwrap();
    let outcome = t.run("pwd; true");
    assert_eq!((outcome.cwd, outcome.status), (gone, Some(0)));
    assert_eq!(t.run("cd /usr; pwd").output, "/usr\n");
    assert_line_is_back(&mut t);
});
