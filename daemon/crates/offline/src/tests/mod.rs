//! Tests of the whole assistant: tables of phrasings, plans over several steps, hostile values, and real commands.

use std::process::Command;

use futures::FutureExt as _;
use proptest::prelude::*;
use serde_json::json;

mod failures;
mod heldout;
mod policy;
mod steps;

use cohab_model_api::{AssistantMessage, JsonObject, ToolResult, ToolSpec};

use super::*;

/// `intent
/// phrasing
/// first command`; the patterns were made for these.
const PHRASINGS: &str = include_str!("phrasings.txt");
/// Questions that the assistant cannot answer: knowledge, code, small talk.
const BEYOND: &str = include_str!("beyond.txt");
/// `intent | phrasing`, written after the patterns and not used to improve them.
const UNSEEN: &str = include_str!("unseen.txt");
/// Hits on the unseen table, in percent, at the time of writing. Fewer is a regression.
const UNSEEN_HITS_PERCENT: usize = 93;

fn request(messages: Vec<Message>) -> ModelRequest {
    let tool =
        |name: &str| ToolSpec { name: name.into(), description: String::new(), parameters: json!({"type": "object"}) };
    ModelRequest { tools: vec![tool("bash"), tool("write")], ..ModelRequest::of(messages) }
}

fn user(text: &str) -> Message {
    Message::user(text.into())
}

/// Plays the conversation; `answer` returns the content of each call's result and whether it is an error. Returns commands and answer.
fn play(question: &str, answer: impl FnMut(&str) -> (String, bool)) -> (Vec<String>, String) {
    converse(&[question], answer)
}

/// Plays several questions one after the other. Returns all commands and the last answer.
fn converse(questions: &[&str], mut answer: impl FnMut(&str) -> (String, bool)) -> (Vec<String>, String) {
    let mut messages = Vec::new();
    let mut commands = Vec::new();
    let mut text = String::new();
    for question in questions {
        messages.push(user(question));
        text = turn(&mut messages, &mut commands, &mut answer);
    }
    (commands, text)
}

fn turn(
    messages: &mut Vec<Message>,
    commands: &mut Vec<String>,
    answer: &mut impl FnMut(&str) -> (String, bool),
) -> String {
    const MAX_STEPS: usize = 12;
    for _ in 0..MAX_STEPS {
        let events: Vec<ModelEvent> =
            OfflineAssistant::new("test").stream(request(messages.clone())).collect().now_or_never().unwrap();
        let mut said = AssistantMessage::default();
        for event in &events {
            match event {
                ModelEvent::TextDelta(text) => said.text.push_str(text),
                ModelEvent::ToolCallDone(call) => said.tool_calls.push(call.clone()),
                _ => {}
            }
        }
        let terminal = if said.tool_calls.is_empty() { StopClass::End } else { StopClass::Tool };
        assert_eq!(events.last(), Some(&ModelEvent::Stop { class: terminal, provider_data: None }));
        let Some(call) = said.tool_calls.first().cloned() else {
            let text = said.text.clone();
            messages.push(Message::Assistant(said));
            return text;
        };
        assert_eq!(call.id, format!("offline_{}", commands.len()));
        let args = call.args.clone().unwrap();
        let command = args.get("command").or(args.get("path")).and_then(|value| value.as_str()).unwrap().to_owned();
        let (content, is_error) = answer(&command);
        commands.push(command);
        messages.push(Message::Assistant(said));
        messages.push(Message::ToolResults(vec![ToolResult { call_id: call.id, tool: call.name, content, is_error }]));
    }
    panic!("the plan does not end: {commands:?}");
}

/// Output in the form in which the tool reports success.
fn done(output: &str) -> (String, bool) {
    (format!("{output}\n[exit 0; cwd /w; 0.01 s]"), false)
}

fn first_command(question: &str) -> String {
    match decide(&request(vec![user(question)])) {
        Next::Call { args, .. } => args.get("command").and_then(|value| value.as_str()).unwrap_or_default().to_owned(),
        Next::Answer(_) => "-".to_owned(),
    }
}

fn names(question: &str) -> String {
    match understand(question) {
        Understood::Patterns(meant) => meant.iter().map(|meant| meant.intent.name).collect::<Vec<_>>().join("+"),
        Understood::Table(request) => request.name().to_owned(),
        Understood::Past => "past".to_owned(),
        Understood::Unsure(_) => String::new(),
    }
}

#[test]
fn every_phrasing_of_the_table_leads_to_its_intent_and_command() {
    let mut wrong = Vec::new();
    for line in PHRASINGS.lines() {
        let (intent, rest) = line.split_once(" | ").unwrap();
        let (phrasing, command) = rest.split_once(" | ").unwrap();
        if (names(phrasing).as_str(), first_command(phrasing).as_str()) != (intent, command) {
            wrong.push(format!("{phrasing}: {} {}", names(phrasing), first_command(phrasing)));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(PHRASINGS.lines().count() >= 200);
}

#[test]
fn most_phrasings_never_seen_before_are_understood() {
    let table: Vec<(&str, &str)> = UNSEEN.lines().filter_map(|line| line.split_once(" | ")).collect();
    let missed: Vec<String> = table
        .iter()
        .filter(|(intent, phrasing)| names(phrasing) != *intent && !agreement::agree(intent, &names(phrasing)))
        .map(|(intent, phrasing)| format!("{phrasing}: {} instead of {intent}", names(phrasing)))
        .collect();
    let hits = table.len() - missed.len();
    assert!(
        table.len() >= 80 && hits * 100 >= UNSEEN_HITS_PERCENT * table.len(),
        "{hits} of {}: {missed:#?}",
        table.len()
    );
}

/// Questions beyond the table that are taken for something else.
const CLAIMED: [&str; 2] = ["what does this regex match", "find users older than 30 days in the database"];

#[test]
fn questions_beyond_the_table_are_not_understood() {
    let mut claimed = Vec::new();
    for question in [
        "write me a poem",
        "explain monads",
        "why is the sky blue",
        "translate this sentence to french",
        "refactor the parser to use iterators",
        "how do I bake a cake",
        "who won the world cup in 1998",
        "implement a binary search tree in rust",
        "what is the capital of France?",
        "summarize the plot of hamlet",
        "is rust better than go",
        "design a database schema for a shop",
        "why does my heart hurt",
        "what should I cook tonight",
        "set an alarm",
        "review my pull request",
        "find the bug in my code",
        "write a function that sorts a list",
        "add a unit test for the parser",
        "find me a good restaurant in Berlin",
        "explain how tcp congestion control works",
        "run the tests and fix what breaks",
        "what is wrong with my code in lib.rs",
        "show me how to write a loop in python",
        "why does the login page show an error for new users",
        "document all public functions",
        "convert this python script to bash",
        "how many people live in Tokyo",
        "who are the Beatles",
        "",
        "?!",
    ]
    .into_iter()
    .chain(BEYOND.lines())
    {
        if !names(question).is_empty() {
            claimed.push(question);
            continue;
        }
        let (commands, answer) = play(question, |_| done(""));
        assert!(commands.is_empty() && answer.contains("cohab setup") && answer.contains(LABEL), "{question}");
        let proposals = answer.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        let (offered, proposals) = (answer.matches("\n- ").count(), proposals.count());
        // Up to three proposals and three programs, or three examples and three ways to a model.
        let is_short = offered <= 3 && proposals <= 3 && offered + proposals > 0;
        assert!(is_short || offered == 6 && proposals == 0, "{answer}");
    }
    assert_eq!(claimed, CLAIMED);
}

#[test]
fn every_intent_is_reached_by_its_own_example() {
    let mut seen = std::collections::HashSet::new();
    for intent in topic::intents() {
        assert!(seen.insert(intent.name), "{} stands twice", intent.name);
        assert!(
            names(intent.example).split('+').any(|name| name == intent.name || is_alias(intent.name, name)),
            "{}: {}",
            intent.example,
            names(intent.example)
        );
    }
    assert!(seen.len() >= 180, "{}", seen.len());
}

/// Intents whose plan hands over to the other one, so that either is right.
fn is_alias(name: &str, other: &str) -> bool {
    [("archives.list", "files.list"), ("network.http", "network.ping")].contains(&(name, other))
}

#[test]
fn going_to_the_biggest_folder_and_setting_a_variable_takes_three_steps() {
    let (commands, answer) = play("go to the biggest folder and set FOO=1", |command| {
        done(if command.starts_with("du ") { "3.0G\t.\n2.0G\t./my data\n1.0G\t./src" } else { "" })
    });
    assert_eq!(commands, ["du -h -d 1 . 2> /dev/null | sort -rh | head -n 5", "cd './my data'", "export FOO=1"]);
    assert!(answer.contains("`./my data` with 2.0G") && answer.contains("`FOO` is set to `1`"), "{answer}");
}

#[test]
fn what_did_not_stick_is_not_claimed() {
    let (_, answer) = play("cd into src", |_| {
        ("[exit 0; cwd /w; 0.01 s; ran in a shell of its own: `cd`, `export` and the like did not stick]".into(), false)
    });
    assert!(answer.contains("your shell is unchanged"), "{answer}");
}

#[test]
fn a_refused_step_ends_the_plan_and_the_rest_is_not_done() {
    let (commands, answer) = play("delete a.txt and then git push", |command| {
        if command.starts_with("ls") {
            done("-rw-r--r-- 1 ann ann 0 Nov 1 10:00 a.txt")
        } else {
            ("the user refused".into(), true)
        }
    });
    assert_eq!(commands, ["ls -l -d a.txt", "rm a.txt"]);
    assert!(answer.contains("not done") && answer.contains("did not do the rest"), "{answer}");
}

#[test]
fn a_name_with_a_line_break_does_not_lead_elsewhere() {
    let (commands, answer) = play("go to the biggest folder", |_| done("9.0G\t.\n8.0G\t./a\n7.0G\t/etc\n6.0G\t../x"));
    assert_eq!(commands[1], "cd ./a");
    assert!(answer.contains("./a"));
    let (commands, _) = play("go to the biggest folder", |_| done("9.0G\t.\n8.0G\t/etc\n7.0G\t../x"));
    assert_eq!(commands.len(), 1, "{commands:?}");
}

#[test]
fn only_what_is_running_is_killed() {
    let (commands, answer) =
        play("kill node", |command| done(if command.starts_with("pgrep") { "41 node a.js\n42 node b.js" } else { "" }));
    assert_eq!(commands[1], "kill 41 42");
    assert!(answer.contains("41, 42"));
    let (commands, _) = play("kill node", |_| ("[exit 1; cwd /w; 0.01 s]".into(), false));
    assert_eq!(commands.len(), 1);
    let (commands, _) = play("kill process 1", |_| done(""));
    assert!(commands.is_empty());
}

#[test]
fn whole_trees_are_never_deleted() {
    for question in ["delete /", "delete ~", "delete ..", "delete the folder .", "delete '/../'", "delete '~/'"] {
        let (commands, _) = play(question, |_| done("drwxr-xr-x 1 a a 0 x"));
        assert!(commands.iter().all(|command| !command.starts_with("rm")), "{question}: {commands:?}");
    }
}

const HOSTILE: &[&str] = &[
    "-rf",
    "--no-preserve-root",
    "$(touch pwned)",
    "`touch pwned`",
    "a;touch pwned",
    "a\ntouch pwned",
    "x' touch pwned '",
    "*",
    "a|touch pwned",
    "&& touch pwned",
    "~root",
    "!!",
];

/// Lines that quote a hostile name run in a real shell and never start another command, for every such intent.
#[test]
fn hostile_names_stay_names_in_a_real_shell() {
    let templates = [
        "delete \"{}\"",
        "cd into \"{}\"",
        "show the file \"{}\"",
        "make a folder named \"{}\"",
        "copy \"{}\" to \"{}\"",
        "who owns \"{}\"",
        "make \"{}\" executable",
        "find files named \"{}\"",
        "find the text \"{}\"",
        "is \"{}\" running?",
        "is \"{}\" installed?",
        "install \"{}\"",
        "man \"{}\"",
        "stage \"{}\"",
        "switch to branch \"{}\"",
        "size of \"{}\"",
        "set FOO=\"{}\"",
        "ping \"{}\"",
        "download \"{}\"",
        "first 3 lines of \"{}\"",
        "extract \"{}\"",
        "status of the service \"{}\"",
    ];
    for template in templates {
        for name in HOSTILE.iter().filter(|name| !name.contains('"')) {
            let folder = tempfile::tempdir().unwrap();
            let (commands, _) = play(&template.replace("{}", name), |command| {
                let parsed = shlex::split(command);
                assert!(parsed.is_some(), "{command:?} does not end its quotes");
                if !command.starts_with("sudo") {
                    Command::new("bash")
                        .args(["-c", command])
                        .current_dir(folder.path())
                        .env("HOME", folder.path())
                        .output()
                        .unwrap();
                }
                done("")
            });
            assert!(!folder.path().join("pwned").exists(), "{commands:?}");
        }
    }
}

fn bash(folder: &std::path::Path, command: &str) -> (String, bool) {
    let output = Command::new("bash").args(["-c", command]).current_dir(folder).env("LC_ALL", "C").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (format!("{}\n[exit {}; cwd /w; 0.01 s]", text.trim_end(), output.status.code().unwrap_or(1)), false)
}

#[test]
fn real_output_is_read_into_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::create_dir_all(root.join("big one")).unwrap();
    std::fs::create_dir_all(root.join("other")).unwrap();
    std::fs::write(root.join("big one/blob.bin"), vec![1; 300_000]).unwrap();
    std::fs::write(root.join("other/a.txt"), "alpha\nbeta\n").unwrap();
    std::fs::write(root.join("other/b.txt"), "alpha\nbeta\n").unwrap();
    std::fs::write(root.join("empty.log"), "").unwrap();
    for (question, expected) in [
        ("what is big here?", "`./big one` is the largest"),
        ("the 3 biggest files", "`./big one/blob.bin` with 293.0 KiB"),
        ("find duplicate files", "`./other/a.txt`, `./other/b.txt`"),
        ("find empty files", "- `./empty.log`"),
        ("how many files are here", "**4 files**"),
        ("how many lines has other/a.txt?", "**2 lines**"),
        ("find the text beta in other", "occurs in 2 lines of 2 files"),
        ("count matches of 'alpha' in other", "**2 lines**"),
        ("count lines in all txt files", "**4** lines in 2 files"),
        ("newest files here", "| Changed | File |"),
        ("show the folder tree", "blob.bin"),
        ("compare other/a.txt with other/b.txt", "are the same"),
        ("show other/a.txt", "alpha\nbeta"),
        ("how much free space is left?", "are free here"),
        ("permissions of other/a.txt", "- the owner"),
        ("replace 'beta' with 'a/b&c' in other/b.txt", "I replaced"),
        ("show other/b.txt", "a/b&c"),
        ("make a folder named \"new stuff\"", "is there"),
        ("delete other/nothing.txt", "Nothing was deleted"),
        ("rename empty.log to other/full.log", "is now"),
        ("delete other", "is gone"),
        ("what listens on port 1", "**Nothing**"),
        ("is no-such-program running?", "**No**"),
        ("is bash installed?", "**Yes**"),
    ] {
        let (commands, answer) = play(question, |command| bash(root, command));
        assert!(answer.contains(expected), "{question}: {commands:?}\n{answer}");
        assert!(answer.trim_end().ends_with(LABEL), "{answer}");
    }
    assert!(!root.join("other").exists());
}

#[test]
fn git_is_read_in_a_real_repository() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    std::fs::write(root.join("a.txt"), "one\n").unwrap();
    let identity = "-c user.name=Ann -c user.email=a@b.c";
    let setup = format!(
        "git init -q -b main . && git add . && git {identity} commit -q -m first && git {identity} commit -q --allow-empty -m second && echo two >> a.txt"
    );
    assert!(bash(root, &setup).0.contains("[exit 0;"));
    for (question, expected) in [
        ("git status", "| changed | `a.txt` |"),
        ("show the last 5 commits", "Ann: second"),
        ("which branch am i on", "`main`"),
        ("show the diff", "+two"),
        ("who committed the most?", "`Ann` has the most commits, 2"),
        ("how many commits are there", "**2** commits"),
        ("undo the last commit", "I undid"),
        ("how many commits are there", "**1** commits"),
    ] {
        let (commands, answer) = play(question, |command| bash(root, command));
        assert!(answer.contains(expected), "{question}: {commands:?}\n{answer}");
    }
}

#[test]
fn without_tools_the_line_is_named_instead_of_run() {
    let mut asked = request(vec![user("free disk space")]);
    asked.allow_tools = false;
    let Next::Answer(text) = decide(&asked) else { panic!("a tool was called") };
    assert!(text.contains("`df -h .`"));
}

#[test]
fn ids_go_on_counting_in_the_next_turn() {
    let said = AssistantMessage {
        tool_calls: vec![ToolCall { id: "offline_0".into(), name: "bash".into(), args: Ok(JsonObject::new().into()) }],
        ..AssistantMessage::default()
    };
    let messages = vec![user("df"), Message::Assistant(said), Message::ToolResults(vec![]), user("uptime")];
    let events = answer_events(&request(messages));
    assert!(matches!(&events[0], ModelEvent::ToolCallDone(call) if call.id == "offline_1"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_question_and_any_output_lead_to_an_end(
        question in "((delete|find|go to|files|biggest|folder|named|and|set|FOO=1|kill|in|last 2 days|'\\PC{0,8}'|\\PC{1,6}) ?){0,8}",
        output in "\\PC{0,40}(\n\\PC{0,30}){0,3}",
    ) {
        let (_, answer) = play(&question, |_| done(&output));
        prop_assert!(answer.contains(LABEL));
    }
}
