//! `cohab doctor` reports the true state of cohab's surroundings, starts nothing and shows no key.

use std::{fs, os::unix::fs::PermissionsExt, time::Duration};

use cohab_e2e::{
    Answer, Home, ModelServer, Wire,
    deadline::{eventually, limit},
    home::{API_KEY, Finished},
};
use serde_json::{Value, json};

fn doctor(home: &Home, arguments: &[&str]) -> (Finished, Value) {
    let arguments: Vec<&str> = ["doctor", "--json"].iter().chain(arguments).copied().collect();
    let finished = home.run(&arguments);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("no JSON: {finished:?}"));
    assert_eq!(finished.status, Some(i32::from(report["ok"] != true)), "{report:#}");
    (finished, report)
}

/// Verdict, text and hint of a finding.
fn finding<'a>(report: &'a Value, id: &str) -> (&'a str, &'a str, &'a str) {
    let all = report["findings"].as_array().expect("a list");
    let found = all.iter().find(|finding| finding["id"] == id).unwrap_or_else(|| panic!("no {id}: {report:#}"));
    let word = |key: &str| found[key].as_str().unwrap_or_default();
    (word("verdict"), word("text"), word("hint"))
}

#[test]
fn in_a_fresh_home_nothing_fails_and_nothing_is_started() {
    let home = Home::new();
    let (_, report) = doctor(&home, &[]);
    assert_eq!((&report["version"], &report["ok"]), (&Value::from(1), &Value::Bool(true)), "{report:#}");
    assert!(finding(&report, "model").1.contains("built-in assistant"), "{report:#}");
    assert!(finding(&report, "shell").1.contains("/bin/bash"), "{report:#}");
    assert!(finding(&report, "daemon").1.contains("not running") && home.daemon_pids().is_empty());
    assert!(report.get("latency").is_none());
}

#[test]
fn the_service_is_asked_for_its_list_only_and_its_key_is_not_shown() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Never asked.")]);
    let home = Home::with_model(&server);
    let (finished, report) = doctor(&home, &[]);
    let (verdict, text, _) = finding(&report, "model");
    assert_eq!(verdict, "ok");
    assert!(text.contains("scripted-model") && text.contains("key from COHAB_API_KEY"), "{text}");
    assert!(finding(&report, "reachable").1.contains("127.0.0.1"), "{report:#}");
    assert!(!finished.stdout.contains(API_KEY) && !finished.stderr.contains(API_KEY), "{finished:?}");
    assert!(
        server.requests().iter().all(|request| !request.path.ends_with("/chat/completions")),
        "a question was asked"
    );
}

#[test]
fn a_list_is_counted_and_a_wrong_key_is_a_failure() {
    for (answer, verdict) in [(Some(2), "ok"), (None, "fail")] {
        let server = ModelServer::start(Wire::OpenAiChat, []).listing(move |_| match answer {
            Some(_) => Answer::json(&json!({"object": "list", "data": [{"id": "scripted-model"}, {"id": "other"}]})),
            None => Answer::status(401, "bad key"),
        });
        let (_, report) = doctor(&Home::with_model(&server), &[]);
        let (found, text, _) = finding(&report, "reachable");
        assert_eq!(found, verdict, "{report:#}");
        assert!(answer.is_none() || text.contains("2 models"), "{text}");
    }
}

#[test]
fn a_service_that_is_not_there_is_a_failure_with_a_hint_and_soon() {
    let home = Home::new()
        .env("COHAB_PROVIDER", "openai-chat")
        .env("COHAB_BASE_URL", "http://127.0.0.1:9/v1")
        .env("COHAB_MODEL", "m");
    let started = std::time::Instant::now();
    let (_, report) = doctor(&home, &[]);
    assert_eq!(finding(&report, "reachable").0, "fail", "{report:#}");
    assert!(started.elapsed() < limit(Duration::from_secs(5)), "it took {:?}", started.elapsed());
}

#[test]
fn a_key_command_is_not_run() {
    let home = Home::new();
    let trace = home.path("it-ran");
    home.write_config(&format!(
        "[model]\nprovider = \"mistral\"\nname = \"m\"\nkey_command = \"touch {}\"\n",
        trace.display()
    ));
    let (_, report) = doctor(&home, &[]);
    assert!(finding(&report, "reachable").1.contains("not run") && !trace.exists(), "{report:#}");
}

#[test]
fn mistakes_in_the_settings_and_files_that_others_may_read_are_failures() {
    let home = Home::new();
    home.write_config("[model]\nprovidr = \"offline\"\n");
    let (_, report) = doctor(&home, &[]);
    let (verdict, text, _) = finding(&report, "settings");
    assert!(verdict == "fail" && text.contains("providr"), "{report:#}");

    home.write_config(
        "[model]\nprovider = \"openai-chat\"\nbase_url = \"http://127.0.0.1:9/v1\"\napi_key = \"sk-plain\"\n",
    );
    fs::set_permissions(home.paths().config_file(), fs::Permissions::from_mode(0o644)).expect("it is ours");
    let (finished, report) = doctor(&home, &[]);
    let told = finding(&report, "keys");
    assert!(told.0 == "fail" && told.2.contains("chmod 600"), "{report:#}");
    assert!(!finished.stdout.contains("sk-plain"), "{report:#}");
}

#[test]
fn what_is_kept_and_who_stands_in_are_looked_at() {
    let server = ModelServer::start(Wire::OpenAiChat, [Answer::text("Kept.")]);
    let home = Home::with_model(&server);
    home.write_config("[tiers]\nhigh = 'big'\n[profiles.big]\nprovider = 'mistral'\nname = 'm'\n");
    let (_, report) = doctor(&home, &[]);
    assert!(finding(&report, "sessions-store").1.contains("not there yet"), "{report:#}");
    assert!(!home.paths().sessions_file().exists(), "nothing is made");
    let (verdict, text, _) = finding(&report, "jobs");
    assert!(verdict == "warn" && text.contains("`big` (tier high) cannot answer"), "{report:#}");

    assert_eq!(home.run(&["ask", "why"]).status, Some(0));
    let mut report = Value::Null;
    eventually("it is sound", || {
        report = doctor(&home, &[]).1;
        finding(&report, "sessions-store").1.ends_with("sound") && finding(&report, "usage-store").1.ends_with("sound")
    });
    assert_eq!(home.run(&["daemon", "stop"]).status, Some(0));
    fs::write(home.paths().usage_file(), "no database").expect("it is ours");
    let (_, report) = doctor(&home, &[]);
    let (verdict, _, hint) = finding(&report, "usage-store");
    assert!(verdict == "fail" && hint.contains(".broken"), "{report:#}");
}

#[test]
fn people_see_aligned_rows_and_an_upshot_also_of_a_daemon_that_runs() {
    let home = Home::new();
    assert_eq!(home.run(&["daemon", "start"]).status, Some(0));
    let finished = home.run(&["doctor"]);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("cohabd ") && finished.stdout.contains(" runs, protocol "), "{finished:?}");
    assert!(finished.stdout.trim_end().lines().last().is_some_and(|line| line.ends_with('.')), "{finished:?}");
    assert!(finished.stdout.lines().all(|line| line.chars().count() <= 100), "{finished:?}");
}

#[test]
fn latency_has_four_figures_and_leaves_nothing_behind() {
    let home = Home::new();
    let temporary = home.path("tmp");
    fs::create_dir(&temporary).expect("the home is writable");
    let home = home.env("TMPDIR", &temporary.display().to_string());
    let (_, report) = doctor(&home, &["--latency"]);
    let figures = report["latency"].as_array().expect("a list");
    let ids: Vec<&str> = figures.iter().filter_map(|figure| figure["id"].as_str()).collect();
    assert_eq!(ids, ["echo", "glyph", "relay", "start"]);
    for figure in figures {
        assert!(figure["value_ms"].is_number() && figure["budget_ms"].is_number(), "{report:#}");
    }
    let marker = format!("HOME={}", temporary.display());
    eventually("the end of all that was started", || !has_process_below(&marker));
    assert_eq!(fs::read_dir(&temporary).expect("it is there").count(), 0, "a folder was left");
}

/// Whether a process has a variable that begins so.
fn has_process_below(marker: &str) -> bool {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let environments = folders.filter_map(|folder| fs::read(folder.path().join("environ")).ok());
    let begins = |entry: &[u8]| entry.starts_with(marker.as_bytes());
    environments.into_iter().any(|environment| environment.split(|byte| *byte == 0).any(begins))
}

#[test]
fn completions_and_the_manual_know_what_the_daemon_does() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).stdout;
        assert!(script.contains("since") && script.contains("key-stdin"), "{shell}");
    }
    let page = home.run(&["man"]).stdout;
    for word in ["cohab usage", "\\-\\-since", "cohab config set", ".SH FILES"] {
        assert!(page.contains(word), "{word}");
    }
    let one = home.run(&["man", "usage"]).stdout;
    assert!(one.contains("\\-\\-since") && !one.contains("cohab setup"), "{one}");
    assert_eq!(home.run(&["man", "nonsense"]).status, Some(1));
}
