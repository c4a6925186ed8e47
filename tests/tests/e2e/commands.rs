//! Tests the command line around the shell: daemon, settings, version, help, completions.

use std::{fs, os::unix::fs::PermissionsExt};

use cohab_e2e::{Home, binaries::workspace_root, deadline::eventually};
use serde_json::Value;

fn status(home: &Home) -> Value {
    let finished = home.run(&["daemon", "status", "--json"]);
    serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("no JSON: {error}: {finished:?}"))
}

#[test]
fn the_version_is_that_of_the_packages() {
    let manifest = fs::read_to_string(workspace_root().join("Cargo.toml")).expect("the workspace has a manifest");
    let version =
        manifest.lines().find_map(|line| line.strip_prefix("version = ")).expect("a version").trim_matches('"');
    let finished = Home::new().run(&["--version"]);
    assert_eq!((finished.status, finished.stdout.trim()), (Some(0), format!("cohab {version}").as_str()));
}

#[test]
fn help_fits_a_screen() {
    let home = Home::new();
    for arguments in [
        &["--help"][..],
        &["ask", "--help"],
        &["shell-check", "--help"],
        &["undo", "--help"],
        &["daemon", "--help"],
        &["config", "--help"],
        &["probe-model", "--help"],
        &["usage", "--help"],
        &["completions", "--help"],
    ] {
        let finished = home.run(arguments);
        assert_eq!(finished.status, Some(0), "{arguments:?}");
        let lines: Vec<&str> = finished.stdout.lines().collect();
        // The overview lists all commands.
        let most = if arguments == ["--help"] { 50 } else { 24 };
        assert!(!lines.is_empty() && lines.len() <= most, "{arguments:?}: {} lines", lines.len());
        let widest = lines.iter().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{arguments:?}: {widest:?} columns");
    }
    let help = home.run(&["--help"]).stdout;
    for command in ["ask", "undo", "shell-check", "daemon", "config", "probe-model", "usage", "completions"] {
        assert!(help.contains(command), "no {command} in\n{help}");
    }
}

/// A line that was broken by hand and then again leaves a word or two on a separate line.
#[test]
fn no_text_of_a_help_is_broken_twice() {
    let home = Home::new();
    for command in [
        "ask",
        "audit",
        "completions",
        "config",
        "context",
        "daemon",
        "doctor",
        "export",
        "flow",
        "gate",
        "history",
        "init",
        "man",
        "memory",
        "models",
        "policy",
        "probe-model",
        "resume",
        "scrub",
        "sessions",
        "setup",
        "shell-check",
        "stats",
        "tasks",
        "trace",
        "trust",
        "undo",
        "usage",
        "why",
    ] {
        let finished = home.run(&[command, "--help"]);
        assert_eq!(finished.status, Some(0), "{command}");
        let lines: Vec<&str> = finished.stdout.lines().collect();
        let is_prose = |line: &str| !line.is_empty() && !line.starts_with([' ', '-']);
        for three in lines.windows(3).filter(|three| is_prose(three[1]) && !three[2].is_empty()) {
            let is_left_over = three[0].len() > 60 && three[1].len() < 25 && !three[1].ends_with(['.', ':']);
            assert!(!is_left_over, "cohab {command} --help: {three:?}");
        }
    }
}

#[test]
fn the_guide_has_three_right_lines_for_each_provider() {
    let guide = fs::read_to_string(workspace_root().join("docs/guide/models.md")).expect("there is a page on models");
    let home = Home::new();
    let mut told = Vec::new();
    for row in guide.lines().filter(|line| line.starts_with('|') && line.contains("`provider = ")) {
        let settings: Vec<&str> = row.split('`').filter(|cell| cell.contains(" = ")).collect();
        assert_eq!(settings.len(), 3, "{row}");
        home.write_config(&format!("[model]\n{}\n", settings.join("\n")));
        let checked = home.run(&["config", "check"]);
        assert_eq!(checked.status, Some(0), "{row}: {checked:?}");
        told.push(home.run(&["config", "get", "model.provider"]).stdout.trim().to_owned());
    }
    home.write_config("");
    let list = home.run(&["config", "list", "--json"]).stdout;
    let list: Value = serde_json::from_str(&list).expect("JSON");
    let provider = list.as_array().into_iter().flatten().find(|key| key["key"] == "model.provider").expect("a key");
    let allowed = provider["allowed"].as_str().expect("text");
    for name in allowed.split('`').skip(1).step_by(2).filter(|name| !["offline", "scripted"].contains(name)) {
        assert!(told.iter().any(|told| told == name), "docs/guide/models.md has no row for {name}");
    }
}

#[test]
fn the_programs_of_the_readme_and_the_guide_take_their_arguments() {
    let guide = fs::read_dir(workspace_root().join("docs/guide")).expect("there is a guide").flatten();
    let pages = guide.map(|entry| entry.path()).chain([workspace_root().join("README.md")]);
    let text: String = pages.map(|page| fs::read_to_string(page).expect("pages are UTF-8") + "\n").collect();
    let home = Home::new();
    for line in text.lines().map(|line| line.trim().trim_start_matches("$ ")) {
        let Some(rest) = line.strip_prefix("cohab ") else { continue };
        let words: Vec<&str> =
            rest.split_whitespace().take_while(|word| word.chars().all(|c| c.is_ascii_lowercase())).collect();
        let command: Vec<&str> = words.first().copied().into_iter().chain(["--help"]).collect();
        assert_eq!(home.run(&command).status, Some(0), "a page says `{line}`");
    }
}

#[test]
fn completions_are_scripts_of_their_shells() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let finished = home.run(&["completions", shell]);
        assert_eq!(finished.status, Some(0), "{finished:?}");
        assert!(finished.stdout.contains("cohab") && finished.stdout.contains("daemon"), "{shell}");
        home.write(&format!("completion.{shell}"), &finished.stdout);
    }
    let file = home.path("completion.bash").display().to_string();
    assert!(home.process("/bin/bash", &["-n", &file]).status().expect("bash exists").success());
    assert_eq!(home.run(&["completions", "tcsh"]).status, Some(2));
}

#[test]
fn the_daemon_starts_reports_restarts_and_stops() {
    let home = Home::new();
    let absent = home.run(&["daemon", "status"]);
    assert!(absent.stdout.contains("not running") || absent.stderr.contains("not running"), "{absent:?}");
    assert!(home.daemon_pids().is_empty(), "asking for the status started a daemon");

    assert_eq!(home.run(&["daemon", "start"]).status, Some(0));
    let pid = status(&home)["pid"].as_u64().expect("a process id");
    assert_eq!(
        home.daemon_pids().iter().map(|pid| u64::from(pid.as_raw_nonzero().get().unsigned_abs())).collect::<Vec<_>>(),
        [pid]
    );
    assert!(home.run(&["daemon", "status"]).stdout.contains(&pid.to_string()));
    assert_eq!(home.run(&["daemon", "start"]).status, Some(0), "starting twice is fine");
    assert_eq!(status(&home)["pid"].as_u64(), Some(pid));

    assert_eq!(home.run(&["daemon", "restart"]).status, Some(0));
    let next = status(&home)["pid"].as_u64().expect("a process id");
    assert_ne!(next, pid);
    assert!(!home.run(&["daemon", "logs"]).stdout.is_empty(), "a daemon that started says so in its log");

    assert_eq!(home.run(&["daemon", "stop"]).status, Some(0));
    // Its lock is free when its files are closed, a moment before the kernel has removed it.
    eventually("its end", || home.daemon_pids().is_empty());
    assert_eq!(home.run(&["daemon", "stop"]).status, Some(0), "stopping nothing is fine");
}

#[test]
fn what_the_daemon_keeps_is_for_its_user_alone() {
    let home = Home::new();
    assert_eq!(home.run(&["daemon", "start"]).status, Some(0));
    let paths = home.paths();
    let mode = |path: &std::path::Path| fs::metadata(path).map(|metadata| metadata.permissions().mode() & 0o777).ok();
    assert_eq!(mode(&paths.runtime_dir), Some(0o700));
    assert_eq!(mode(&paths.socket()), Some(0o600));
    let logs: Vec<_> = fs::read_dir(paths.log_dir()).expect("it logs").flatten().map(|entry| entry.path()).collect();
    assert!(!logs.is_empty());
    for log in logs {
        assert_eq!(mode(&log), Some(0o600), "{}", log.display());
    }
}

#[test]
fn settings_are_set_and_read_back() {
    let home = Home::new();
    let path = home.run(&["config", "path"]);
    assert_eq!(path.stdout.trim(), home.paths().config_file().display().to_string());
    assert_eq!(home.run(&["config", "set", "model.name", "some-model"]).status, Some(0));
    assert_eq!(home.run(&["config", "get", "model.name"]).stdout.trim(), "some-model");
    assert_eq!(home.run(&["config", "check"]).status, Some(0));
    assert_eq!(home.run(&["config", "set", "model.retries", "1"]).status, Some(0));
    let text = fs::read_to_string(home.paths().config_file()).expect("it was written");
    assert!(text.contains("name = \"some-model\"") && text.contains("retries = 1"), "{text}");
    let mode = fs::metadata(home.paths().config_file()).expect("it exists").permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[test]
fn comments_in_the_settings_survive_a_change() {
    let home = Home::new();
    home.write_config("# mine\n[model]\n# the big one\nname = \"a\"\n");
    assert_eq!(home.run(&["config", "set", "model.name", "b"]).status, Some(0));
    let text = fs::read_to_string(home.paths().config_file()).expect("it exists");
    assert_eq!(text, "# mine\n[model]\n# the big one\nname = \"b\"\n");
}

#[test]
fn a_wrong_setting_is_shown_with_its_place_and_the_right_name() {
    let home = Home::new();
    home.write_config("[model]\nprovider = \"offline\"\nnaem = \"x\"\n");
    let finished = home.run(&["config", "check"]);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    let said = format!("{}{}", finished.stdout, finished.stderr);
    assert!(said.contains("config.toml:3:1") && said.contains("naem") && said.contains("name"), "{said}");
    let wrong = home.run(&["config", "set", "model.naem", "x"]);
    assert!(wrong.status.is_some_and(|status| status != 0), "{wrong:?}");
}

#[test]
fn a_broken_settings_file_does_not_take_the_shell_away() {
    let home = Home::new();
    home.write_config("this is = = not toml\n");
    let shell = home.cohab();
    assert!(shell.run("echo usable").contains("usable"));
    let mark = shell.submit("? hello");
    let raw = shell.wait_next_prompt(mark);
    assert!(raw.contains("config.toml"), "{raw}");
}
