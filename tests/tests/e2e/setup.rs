//! Tests `cohab setup`, `cohab models` and profiles from the user's side.

use std::{fs, os::unix::fs::PermissionsExt as _};

use cohab_e2e::{Answer, Home, ModelServer, Request, Terminal, Wire, binaries, keys};
use serde_json::{Value, json};

use crate::ask::{events, text};

/// The right key. It may stand in one file and in requests, and nowhere else.
pub(crate) const KEY: &str = "sk-setup-5e7f00d5e7f00d5e7f00d";
/// Another one, which the server refuses.
pub(crate) const WRONG_KEY: &str = "sk-wrong-0bad0bad0bad0bad0bad";

fn refused(request: &Request) -> Option<Answer> {
    let is_right = request.header("authorization") == Some(&format!("Bearer {KEY}"));
    (!is_right).then(|| Answer::status(401, &format!("no such key {:?}", request.header("authorization"))))
}

/// A service with two models that wants the right key.
pub(crate) fn service() -> ModelServer {
    let server = ModelServer::respond_with(Wire::OpenAiChat, |request| {
        refused(request).unwrap_or_else(|| Answer::text("Ready when you are."))
    });
    let list = json!({"data": [{"id": "tiny"}, {"id": "grand", "context_length": 131_072}]});
    server.listing(move |request| refused(request).unwrap_or_else(|| Answer::json(&list)))
}

fn setup(home: &Home, arguments: &[&str]) -> Terminal {
    let arguments: Vec<&str> = ["setup"].iter().chain(arguments).copied().collect();
    Terminal::spawn(home.in_terminal(binaries::program("cohab"), &arguments))
}

fn config(home: &Home) -> String {
    fs::read_to_string(home.paths().config_file()).unwrap_or_default()
}

fn keys_file(home: &Home) -> String {
    fs::read_to_string(home.paths().config_dir.join("keys.toml")).unwrap_or_default()
}

/// Waits for a question and gives the answer.
#[track_caller]
fn answer(terminal: &Terminal, question: &str, keys: &str) {
    terminal.wait_text(question);
    terminal.send(keys);
}

#[test]
fn questions_lead_from_nothing_to_an_answering_model() {
    let (server, home) = (service(), Home::new());
    home.write_config("# mine\n[log]\nlevel = \"debug\" # loud\n");
    let terminal = setup(&home, &[]);
    answer(&terminal, "Which service should answer?", "another server\r");
    answer(&terminal, "At which URL?", "nonsense\r");
    answer(&terminal, "write a URL such as", keys::CTRL_U);
    terminal.send(&format!("{}\r", server.base_url()));
    // It has no key yet, and the server requires one.
    terminal.wait_text("needs a key");
    answer(&terminal, "Where is the key", "paste\r");
    answer(&terminal, "not shown", WRONG_KEY);
    terminal.wait_text("••••");
    terminal.send("\r");
    answer(&terminal, "refused the key", "");
    answer(&terminal, "What now?", "\r");
    answer(&terminal, "Where is the key", "paste\r");
    answer(&terminal, "not shown", &format!("{KEY}\r"));
    answer(&terminal, "128k tokens", "gra\r");
    terminal.wait_text("? what is in this folder");
    assert_eq!(terminal.wait_exit().exit_code(), 0, "{}", terminal.dump());
    let shown = terminal.look(cohab_e2e::terminal::View::history);
    assert!(shown.contains("Ready when you are."), "{shown}");
    assert!(shown.contains("keys.toml"), "{shown}");
    let base_url = server.base_url();
    assert_eq!(
        config(&home),
        format!(
            "# mine\n[log]\nlevel = \"debug\" # loud\n\n[model]\nprovider = \"openai-chat\"\nbase_url = \"{base_url}\"\n\
             name = \"grand\"\nkey_store = \"file\"\ncontext_window_tokens = 131072\n"
        )
    );
    let mode = fs::metadata(home.paths().config_dir.join("keys.toml")).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    let finished = home.run(&["ask", "--json", "hello"]);
    assert_eq!(text(&events(&finished)), "Ready when you are.", "{finished:?}");
    assert_eq!(server.wait_for_calls(2)[1].body["model"], "grand");
    let raw = terminal.look(|view| String::from_utf8_lossy(view.raw()).into_owned());
    for (name, text) in [("screen", raw), ("log", home.daemon_log()), ("config", config(&home))] {
        assert!(!text.contains(KEY) && !text.contains(WRONG_KEY), "a key is in the {name}: {text}");
    }
    assert!(keys_file(&home).contains(KEY));
}

#[test]
fn leaving_at_any_question_changes_nothing() {
    let server = service();
    let base_url = server.base_url();
    let key_flags = ["--base-url", base_url.as_str(), "--key-command", "echo sk-x"];
    let steps: [(&[&str], &str, &str); 4] = [
        (&[], "Which service should answer?", keys::CTRL_C),
        (&["--provider", "openai"], "Where is the key", keys::ESC),
        (&["--base-url", &base_url], "Where is the key", keys::CTRL_C),
        (&key_flags, "What now?", "leave\r"),
    ];
    for (flags, question, key) in steps {
        let home = Home::new();
        home.write_config("[log]\nlevel = \"info\"\n");
        let terminal = setup(&home, flags);
        answer(&terminal, question, key);
        assert_eq!(terminal.wait_exit().exit_code(), 130, "{flags:?}: {}", terminal.dump());
        assert_eq!(config(&home), "[log]\nlevel = \"info\"\n");
        assert_eq!(keys_file(&home), "");
        assert!(terminal.look(|view| view.shows("Nothing was changed.")), "{}", terminal.dump());
        assert!(terminal.look(|view| !view.screen().hide_cursor()), "{}", terminal.dump());
    }
}

#[test]
fn poor_terminals_get_numbered_lines() {
    let (server, home) = (service(), Home::new().env("TERM", "dumb").env("MY_KEY", KEY));
    let terminal = setup(&home, &["--base-url", &server.base_url(), "--api-key-env", "MY_KEY"]);
    answer(&terminal, "2. grand (128k tokens)", "");
    answer(&terminal, "Number, or a part of the name [1]:", "2\n");
    terminal.wait_text("? what is in this folder");
    assert_eq!(terminal.wait_exit().exit_code(), 0, "{}", terminal.dump());
    assert!(config(&home).contains("name = \"grand\"\napi_key_env = \"MY_KEY\"\n"), "{}", config(&home));
    assert!(terminal.look(|view| !view.raw().contains(&0x1b)), "{}", terminal.dump());
}

#[test]
fn flags_alone_set_up_a_profile_with_a_key_from_a_pipe() {
    let (server, home) = (service(), Home::new());
    let base_url = server.base_url();
    let flags = ["setup", "--base-url", &base_url, "--model", "tiny", "--profile", "work", "--key-stdin", "--json"];
    let finished = home.run_with_input(&flags, &format!("{KEY}\n"));
    assert_eq!(finished.status, Some(0), "{finished:?}");
    let written: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(
        (&written["table"], &written["model"], &written["key_store"], &written["test"]["text"]),
        (&json!("profiles.work"), &json!("tiny"), &json!("file"), &json!("Ready when you are."))
    );
    assert!(!format!("{finished:?}").contains(KEY));
    // The profile answers when it is requested; without it no model is set up.
    let asked = home.run(&["ask", "--json", "--profile", "work", "hello"]);
    assert_eq!(text(&events(&asked)), "Ready when you are.", "{asked:?}");
    let asked = home.run(&["ask", "--json", "--profile", "work", "--model", "grand", "hello"]);
    assert_eq!(text(&events(&asked)), "Ready when you are.", "{asked:?}");
    assert_eq!(server.wait_for_calls(3)[2].body["model"], "grand");
    let unknown = home.run(&["ask", "--profile", "wrok", "hello"]);
    assert_eq!(unknown.status, Some(1), "{unknown:?}");
    assert!(
        unknown.stderr.contains("no profile `wrok`") && unknown.stderr.contains("did you mean `work`?"),
        "{unknown:?}"
    );
    let models = home.run(&["models", "--profile", "work"]);
    assert!(models.stdout.contains("2 models") && models.stdout.contains("* tiny"), "{models:?}");
    assert!(models.stdout.contains("  grand   128k"), "{models:?}");
    let listed: Value = serde_json::from_str(&home.run(&["models", "--profile", "work", "--json"]).stdout).unwrap();
    assert_eq!(listed["models"][1]["context_window_tokens"], 131_072);
}

#[test]
fn a_shell_opened_with_a_profile_hands_it_to_what_runs_in_it() {
    let (server, home) = (service(), Home::new().env("MY_KEY", KEY));
    home.write_config(&format!(
        "[profiles.work]\nprovider = \"openai-chat\"\nbase_url = \"{}\"\nname = \"tiny\"\napi_key_env = \"MY_KEY\"\n",
        server.base_url()
    ));
    // Variables for another service do not count against a requested profile.
    let home = home.env("COHAB_PROVIDER", "offline");
    let terminal = Terminal::spawn(home.in_terminal(binaries::program("cohab"), &["--profile", "work"]));
    terminal.wait_text("ready$");
    terminal.send("? hello\r");
    terminal.wait_text("Ready when you are.");
    let program = binaries::program("cohab");
    terminal.send(&format!("echo profile:$COHAB_PROFILE; {} ask hello again\r", program.display()));
    terminal.wait_text("profile:work");
    let requests = server.wait_for_calls(2);
    assert!(requests.iter().all(|request| request.body["model"] == "tiny"), "{requests:?}");
}

#[test]
fn without_a_terminal_what_is_missing_is_said() {
    let home = Home::new();
    for (flags, missing) in [
        (&["setup"][..], "--provider"),
        (&["setup", "--provider", "openai", "--yes"], "--api-key-env, --key-stdin, --key-command"),
        (&["setup", "--base-url", "http://192.0.2.1/v1"], "--model"),
    ] {
        let finished = home.run(flags);
        assert_eq!(finished.status, Some(2), "{finished:?}");
        assert!(finished.stderr.contains(missing), "{finished:?}");
    }
    for wrong in [&["--provider", "nobody"][..], &["--provider", "openai", "--base-url", "x"], &["--profile", "a b"]] {
        let flags: Vec<&str> = ["setup"].iter().chain(wrong).copied().collect();
        assert_eq!(home.run(&flags).status, Some(2), "{wrong:?}");
    }
    assert_eq!(config(&home), "");
}

#[test]
fn a_failed_test_writes_nothing_and_the_key_is_in_no_error() {
    let (server, home) = (service(), Home::new());
    let flags = ["setup", "--base-url", &server.base_url(), "--model", "tiny", "--key-stdin"];
    let finished = home.run_with_input(&flags, WRONG_KEY);
    assert_eq!(finished.status, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("refused the key") && finished.stderr.contains("--no-test"), "{finished:?}");
    assert!(!format!("{finished:?}").contains(WRONG_KEY), "{finished:?}");
    assert_eq!((config(&home), keys_file(&home)), (String::new(), String::new()));
    let untested: Vec<&str> = flags.iter().copied().chain(["--no-test"]).collect();
    assert_eq!(home.run_with_input(&untested, WRONG_KEY).status, Some(0));
    assert!(keys_file(&home).contains(WRONG_KEY));
}

#[test]
fn a_keyring_is_used_where_there_is_one_and_sees_no_key_in_its_arguments() {
    let (server, home) = (service(), Home::new());
    // It stores one key, and the arguments that the kernel showed to all users.
    home.write(
        "bin/secret-tool",
        "#!/bin/sh\ntr '\\0' ' ' < /proc/$$/cmdline >> $HOME/arguments\n\
         case $1 in store) cat > $HOME/ring;; lookup) cat $HOME/ring;; esac\n",
    );
    fs::set_permissions(home.path("bin/secret-tool"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", home.path("bin").display(), std::env::var("PATH").unwrap());
    let home = home.env("PATH", &path).env("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nonexistent");
    let flags = ["setup", "--base-url", &server.base_url(), "--model", "tiny", "--key-stdin"];
    let finished = home.run_with_input(&flags, KEY);
    assert_eq!(finished.status, Some(0), "{finished:?}");
    assert!(finished.stdout.contains("stored in the system's keyring"), "{finished:?}");
    assert!(config(&home).contains("key_store = \"keyring\""), "{}", config(&home));
    assert_eq!(fs::read_to_string(home.path("ring")).unwrap(), KEY);
    let asked = home.run(&["ask", "--json", "hello"]);
    assert_eq!(text(&events(&asked)), "Ready when you are.", "{asked:?}");
    let arguments = fs::read_to_string(home.path("arguments")).unwrap();
    assert!(arguments.contains("lookup") && !arguments.contains(KEY), "{arguments}");
}

#[test]
fn a_command_may_print_the_key_and_runs_only_for_questions() {
    let (server, home) = (service(), Home::new());
    home.write("pass", &format!("echo asked >> $HOME/asked\necho {KEY}\necho 'url: example'\n"));
    let command = format!("sh {}", home.path("pass").display());
    let base_url = server.base_url();
    let flags = ["setup", "--base-url", &base_url, "--model", "tiny", "--key-command", &command, "--no-test", "--yes"];
    assert_eq!(home.run(&flags).status, Some(0));
    let asked = || fs::read_to_string(home.path("asked")).unwrap_or_default().lines().count();
    let shell = home.cohab();
    shell.run("echo usable");
    assert_eq!(asked(), 0);
    shell.ask("hello", "Ready when you are.");
    shell.ask("again", "Ready when you are.");
    assert_eq!(asked(), 1);
    assert!(!home.daemon_log().contains(KEY));
    home.write("pass", "echo 'gpg: no secret key' >&2; exit 2");
    let models = home.run(&["models"]);
    assert_eq!(models.status, Some(1), "{models:?}");
    assert!(models.stderr.contains("`key_command` under [model] failed: gpg: no secret key"), "{models:?}");
}
