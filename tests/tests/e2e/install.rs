//! `scripts/install` puts everything into the user's usual folders, and removes all of it again.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use cohab_e2e::{
    Home, Terminal,
    binaries::{self, workspace_root},
    home::{Finished, PROMPT},
};

fn install(home: &Home, arguments: &[&str]) -> Finished {
    let script = workspace_root().join("scripts/install");
    home.finish(home.process(script, arguments).spawn().expect("the script starts"))
}

fn installed(home: &Home, arguments: &[&str]) -> Finished {
    let folder = binaries::folder().display().to_string();
    let arguments: Vec<&str> = ["--from", &folder].iter().chain(arguments).copied().collect();
    let finished = install(home, &arguments);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    finished
}

/// Every file of the home and its text; programs without theirs.
fn files(home: &Home) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else {
                let is_program = path.parent().is_some_and(|parent| parent.ends_with("bin"));
                let text = if is_program { Vec::new() } else { fs::read(&path).unwrap_or_default() };
                found.insert(path, text);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(&home.path(""), &mut found);
    found
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|_| panic!("{} is missing", path.display())).permissions().mode() & 0o777
}

#[test]
fn what_is_installed_is_complete_works_and_goes_away_again() {
    let home = Home::new().rc("alias mine=true");
    let before = files(&home);
    installed(&home, &["--service", "--shell", "bash", "--shell", "fish"]);
    for program in ["cohab", "cohabd", "cohab-confine"] {
        assert_eq!(mode(&home.path(".local/bin").join(program)), 0o755, "{program}");
    }
    let text = |name: &str| fs::read_to_string(home.path(name)).unwrap_or_else(|_| panic!("{name} is missing"));
    assert!(text(".local/share/man/man1/cohab.1").contains(".TH cohab"));
    for completions in [
        ".local/share/bash-completion/completions/cohab",
        ".local/share/zsh/site-functions/_cohab",
        ".config/fish/completions/cohab.fish",
    ] {
        assert!(text(completions).contains("since"), "{completions}");
    }
    assert!(text(".bashrc").contains("alias mine=true") && text(".bashrc").contains("COHAB_OUTER"));
    assert!(text(".config/fish/config.fish").contains("COHAB_OUTER"));

    let once = files(&home);
    installed(&home, &["--service", "--shell", "bash", "--shell", "fish"]);
    assert!(files(&home) == once, "a second run changes something");

    let finished = install(&home, &["--uninstall"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let (after, left): (Vec<_>, Vec<_>) = (files(&home).into_keys().collect(), before.keys().cloned().collect());
    assert_eq!(after, left);
    assert!(files(&home) == before, "a file is not as it was");
}

#[test]
fn a_shell_opens_inside_what_was_installed() {
    let home = Home::new();
    installed(&home, &["--shell", "bash"]);
    let terminal = Terminal::spawn(home.in_terminal("/bin/bash", &["-i"]));
    terminal.wait_for("an empty prompt", |view| view.is_at_prompt(PROMPT));
    terminal.send("echo \"in=$COHAB_TTY.\"\r");
    terminal.wait_text("in=/dev/");
}

#[test]
fn the_unit_is_one_that_systemd_takes_and_names_the_places_of_this_user() {
    let home = Home::new();
    installed(&home, &["--service", "--prefix", &home.path("a b").display().to_string()]);
    let unit = home.path(".config/systemd/user/cohabd.service");
    let text = fs::read_to_string(&unit).expect("a unit");
    let cohab_home = home.paths().config_dir.parent().expect("a folder above").display().to_string();
    assert!(text.contains("/a b/bin/cohabd\" run") && text.contains(&format!("\"COHAB_HOME={cohab_home}\"")), "{text}");
    if binaries::is_installed_or_skip("systemd-analyze") {
        let verify = home.process("systemd-analyze", &["--user", "verify", &unit.display().to_string()]);
        let finished = home.finish({ verify }.spawn().expect("it starts"));
        let complaints: Vec<&str> = finished.stderr.lines().filter(|line| line.contains("cohabd.service")).collect();
        assert!(complaints.is_empty(), "{finished:?}");
    }
}

#[test]
fn on_macos_it_is_an_agent() {
    let home = Home::new();
    // A system that says it is macOS, and a launchd that takes everything.
    for (name, text) in [("uname", "echo Darwin"), ("launchctl", "true")] {
        home.write(&format!("fake/{name}"), &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(home.path(&format!("fake/{name}")), fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    let path = format!("{}:{}", home.path("fake").display(), std::env::var("PATH").unwrap_or_default());
    let home = home.env("PATH", &path);
    installed(&home, &["--service"]);
    let agent = home.path("Library/LaunchAgents/io.github.cohab.cohabd.plist");
    let text = fs::read_to_string(&agent).expect("an agent");
    assert!(text.contains(&format!("<string>{}</string>", home.path(".local/bin/cohabd").display())), "{text}");
    assert_eq!(text.matches('<').count(), text.matches('>').count());
    assert_eq!(install(&home, &["--uninstall"]).status, Some(0));
    assert!(!agent.exists());
}

#[test]
fn a_dry_run_changes_nothing() {
    let home = Home::new();
    let before = files(&home);
    let said = installed(&home, &["--dry-run", "--service", "--shell", "zsh"]);
    assert!(said.stdout.contains("would write") && said.stdout.contains(".zshrc"), "{said:?}");
    let said = install(&home, &["--uninstall", "--dry-run"]);
    assert_eq!(said.status, Some(0), "{said:?}");
    assert!(files(&home) == before);
}

#[test]
fn settings_and_history_stay_unless_they_are_to_go() {
    let home = Home::new();
    installed(&home, &[]);
    home.write_config("[model]\nprovider = \"offline\"\n");
    let said = install(&home, &["--uninstall"]);
    assert!(said.stdout.contains("kept ") && home.paths().config_file().exists(), "{said:?}");
    let said = install(&home, &["--uninstall", "--purge"]);
    assert!(said.status == Some(0) && !home.paths().config_dir.exists(), "{said:?}");
}

#[test]
fn a_broken_block_is_not_guessed_at_and_wrong_words_are_refused() {
    let home = Home::new();
    home.write(".bashrc", "one\n# >>> cohab >>>\ntwo\n");
    let folder = binaries::folder().display().to_string();
    let said = install(&home, &["--from", &folder, "--shell", "bash"]);
    assert!(said.status == Some(1) && said.stderr.contains("correct it by hand"), "{said:?}");
    assert!(!home.path(".local/bin").exists(), "half of it is installed");
    assert_eq!(fs::read_to_string(home.path(".bashrc")).expect("it is there"), "one\n# >>> cohab >>>\ntwo\n");
    for wrong in [&["--nonsense"][..], &["--shell", "csh"], &["--from"], &["--purge"]] {
        assert_eq!(install(&home, wrong).status, Some(2), "{wrong:?}");
    }
    assert_eq!(install(&home, &["--from", "/nonexistent"]).status, Some(1));
}
