//! Snapshots of cohab's visible texts: every help text, every setting, a short session in each shell. Code that moves leaves these
//! snapshots as they are; only an intended change of wording may change them.

use std::fs;

use cohab_e2e::{
    Answer, Home, ModelServer, Wire,
    binaries::{in_each_shell, workspace_root},
    terminal::{Size, View},
};
use serde_json::Value;

/// Headings of help texts with commands below them.
const COMMAND_HEADINGS: &[&str] =
    &["Commands:", "Ask and go on:", "Look back:", "Look after:", "For scripts and other tools:"];

/// The names of the commands in a help text.
fn commands_in(help: &str) -> Vec<String> {
    let (mut heading, mut names) = ("", Vec::new());
    for row in help.lines() {
        if !row.starts_with(' ') {
            heading = row;
        } else if COMMAND_HEADINGS.contains(&heading) && row.as_bytes().get(2).is_some_and(u8::is_ascii_lowercase) {
            names.extend(row.split_whitespace().next().map(str::to_owned));
        }
    }
    names
}

/// The help of a command and of all below it.
fn help_below(home: &Home, command: &[&str], seen: &mut String) {
    let arguments: Vec<&str> = command.iter().copied().chain(["--help"]).collect();
    let help = home.run(&arguments);
    assert_eq!(help.status, Some(0), "{arguments:?}: {help:?}");
    *seen += &format!("==== cohab {}\n{}\n", arguments.join(" "), help.stdout);
    for name in commands_in(&help.stdout).iter().filter(|name| *name != "help") {
        help_below(home, &[command, &[name]].concat(), seen);
    }
}

#[test]
fn every_help_text_is_as_it_was() {
    let (home, mut seen) = (Home::new(), String::new());
    help_below(&home, &[], &mut seen);
    insta::assert_snapshot!(seen);
}

#[test]
fn the_reference_of_the_settings_is_as_it_was() {
    let home = Home::new();
    let list = home.run(&["config", "list"]);
    assert_eq!(list.status, Some(0), "{list:?}");
    insta::assert_snapshot!(list.stdout.replace(&home.paths().config_file().display().to_string(), "FILE"));
}

/// The page of the guide that lists the settings, made from the output of `cohab config list`.
fn configuration_page(home: &Home) -> String {
    let list = home.run(&["config", "list", "--json"]);
    let keys: Vec<Value> = serde_json::from_str(&list.stdout).expect("a list of keys");
    let text = |key: &Value, field: &str| key[field].as_str().unwrap_or_default().replace('|', "\\|");
    let mut page = "# Configuration\n\nAll settings of `config.toml`. `cohab config path` prints the file's path, `cohab config set KEY \
                    VALUE` changes a value,\n`cohab config check` checks the file. Without a default, (not set), the meaning says what \
                    holds.\n"
        .to_owned();
    let mut section = String::new();
    for key in &keys {
        let name = text(key, "key");
        let its_section = name.rsplit_once('.').map_or("General", |(section, _)| section).to_owned();
        if its_section != section {
            page += &format!("\n## {its_section}\n\n| key | meaning | allowed | default |\n|---|---|---|---|\n");
            section = its_section;
        }
        let default = match &key["default"] {
            Value::Null => "(not set)".to_owned(),
            Value::String(default) => format!("`{default}`"),
            other => format!("`{other}`"),
        };
        page += &format!("| `{name}` | {} | {} | {default} |\n", text(key, "description"), text(key, "allowed"));
    }
    page
}

/// `COHAB_BLESS=1` writes the page.
#[test]
fn the_page_on_configuration_lists_all_settings() {
    let path = workspace_root().join("docs/guide/configuration.md");
    let page = configuration_page(&Home::new());
    if std::env::var_os("COHAB_BLESS").is_some() {
        fs::write(&path, &page).expect("the page can be written");
    }
    assert_eq!(fs::read_to_string(&path).unwrap_or_default(), page, "write it again with COHAB_BLESS=1");
}

/// A question, an approved command of the model, its answer, a command of the user.
fn session(shell: &str) -> String {
    let answers = [Answer::bash("cd work && touch made"), Answer::text("The file **made** is in `work`.")];
    let server = ModelServer::start(Wire::OpenAiChat, answers);
    let home = Home::with_model(&server).shell(shell);
    home.write("work/notes.txt", "one\n");
    let session = home.cohab_sized(Size { rows: 40, columns: 80 });
    let text = |view: &View| view.rows().join("\n").trim_end().to_owned();
    let mut seen = String::new();
    let mark = session.submit("? make a file in work");
    session.wait_approval("touch made");
    session.outwait_deaf_card();
    seen += &format!("==== the card\n{}\n", session.look(text));
    session.send("y");
    session.wait_answer(mark, "The file made is in work.");
    session.run("ls");
    seen += &format!("==== the end\n{}\n", session.look(text));
    let seen = seen.replace(home.path("").display().to_string().trim_end_matches('/'), "HOME");
    // A card names the user only if that is root.
    let rows = seen.lines().map(|row| row.strip_suffix(" · as root").unwrap_or(row));
    rows.map(without_time).collect::<Vec<_>>().join("\n")
}

/// A row without the durations behind other facts, which are not shown for what is fast.
fn without_time(row: &str) -> String {
    let is_time =
        |fact: &str| fact.starts_with(|c: char| c.is_ascii_digit()) && (fact.ends_with(" ms") || fact.ends_with(" s"));
    let facts = row.split(" · ").enumerate().filter(|(index, fact)| *index == 0 || !is_time(fact));
    facts.map(|(_, fact)| fact).collect::<Vec<_>>().join(" · ")
}

#[test]
fn a_session_looks_as_it_did() {
    in_each_shell(|shell| insta::assert_snapshot!(format!("a_session_in_{shell}"), session(shell)));
}
