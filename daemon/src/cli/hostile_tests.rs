//! Whatever stands in a field of what is kept, no command prints what a terminal obeys: each by itself, without the net of
//! [`Command::execute`] but for errors and settings.

use cohab_shell_relay::sanitize::is_invisible;

use super::{
    testing::{Home, at, call, question, result},
    *,
};
use crate::{
    agent::port::{Message, TokenUsage},
    audit::{
        Journal, Places,
        record::{Answer, Consent, Deed, Event as Audited, Note},
    },
    hostile_table::HOSTILE,
    store::{
        Store,
        row::{CallRow, ModelKey},
        sessions::{
            Entry, Limits, StateStore,
            event::{Approval, Event},
            steps::{
                AgentState, AgentStatus, Checkpoint, CheckpointStore as _, Metadata, Step, StepStatus, StepType, Turn,
            },
        },
    },
    tasks::{Status, Task},
};

/// What is printed from it. Each says something.
const COMMANDS: &[&[&str]] = &[
    &["sessions"],
    &["sessions", "--json"],
    &["sessions", "show"],
    &["sessions", "show", "--json"],
    &["history"],
    &["history", "--json"],
    &["why", "6"],
    &["why", "6", "--json"],
    &["trace"],
    &["trace", "--json"],
    &["export", "--markdown"],
    &["export", "--script"],
    &["export", "--cast"],
    &["audit", "show"],
    &["audit", "show", "--json"],
    &["audit", "tail"],
    &["tasks", "--all"],
    &["tasks", "--all", "--json"],
    &["resume", "--list"],
    &["resume", "--list", "--json"],
    &["usage", "--by", "model", "--since", "2020-01-01"],
    &["usage", "--by", "model", "--since", "2020-01-01", "--json"],
    &["stats", "--since", "2020-01-01"],
    &["stats", "--since", "2020-01-01", "--json"],
    &["config", "get", "client.shell", "--origin"],
    &["config", "list"],
    &["config", "list", "--json"],
];

/// What fails, and why, with this text in it.
fn mistakes(text: &str) -> Vec<Vec<&str>> {
    let commands: [&[&str]; 8] = [
        &["sessions", "show", text],
        &["sessions", "title", "last", text],
        &["history", "--session", text],
        &["trace", text],
        &["export", text],
        &["config", "get", text],
        &["config", "set", "client.gate", text],
        &["trust", text],
    ];
    commands.iter().map(|words| words.to_vec()).collect()
}

fn turn(home: &Home, text: &str) {
    let events = [
        Event::Shell {
            line: Some(text.into()),
            exit_code: 1,
            cwd: text.into(),
            duration_ms: 4,
            output_tail: text.into(),
        },
        question(text, "bash"),
        Event::Reasoning { text: text.into() },
        testing::answer(text),
        Event::Approval {
            subject: text.into(),
            reasons: vec![text.into()],
            is_dangerous: true,
            decision: Approval::Edited,
            note: text.into(),
        },
        call(text, text, Approval::Once),
        result(text, Some(3), text),
        Event::Error { message: text.into() },
        Event::Ended { reason: text.into() },
    ];
    home.turn("shell:1", "t1", 0, text, &events);
    let tasks = vec![Task { text: text.into(), status: Status::InProgress }];
    let messages = vec![Message::User { text: text.into() }];
    let entries = [
        Entry::Turn {
            session: "shell:1".into(),
            at: at(1),
            title: text.into(),
            cwd: text.into(),
            model: text.into(),
            limits: Limits::of_days(90),
        },
        Entry::Tasks { session: "shell:1".into(), tasks },
        Entry::Conversation { session: "shell:1".into(), from: 0, messages },
    ];
    home.store().append(&entries).expect("they are kept");
}

fn steps(home: &Home, text: &str) {
    let step = Step {
        id: format!("{:032x}", 1),
        session: "shell:1".into(),
        turn: "t1".into(),
        number: 1,
        at: at(1),
        kind: StepType::ToolCall,
        input: text.into(),
        output: Some(text.into()),
        status: StepStatus::Failed,
        duration_ms: Some(1),
        error: Some(text.into()),
        metadata: Metadata {
            tool: Some(text.into()),
            model: Some(text.into()),
            title: text.into(),
            summary: text.into(),
            ..Metadata::default()
        },
    };
    let turn = Turn {
        turn: "t1".into(),
        session: "shell:1".into(),
        started: at(0),
        last_activity: at(2),
        question: text.into(),
        resumed_from: None,
        // More than any system gives.
        pid: 1 << 30,
        state: AgentState {
            status: AgentStatus::Running,
            steps: 1,
            messages: 2,
            sent_tokens: 1,
            received_tokens: 1,
            cost_microusd: 0,
        },
        ended: None,
        error: Some(text.into()),
    };
    home.store().checkpoint(&[Checkpoint::Turn(turn), Checkpoint::Step(step)]).expect("they are kept");
}

fn audited(home: &Home, text: &str) {
    let text = || text.to_owned();
    let events = [
        Audited::Asked {
            subject: text(),
            is_dangerous: true,
            reasons: vec![text()],
            answer: Answer::Edited,
            note: text(),
        },
        Audited::Action {
            call: text(),
            tool: text(),
            does: Deed::Run,
            text: text(),
            cwd: text(),
            verdict: text(),
            reasons: vec![text()],
            consent: Consent::Rule,
            rule: text(),
        },
        Audited::Done { call: text(), outcome: text() },
        Audited::Refused { call: text(), tool: text(), text: text(), reason: text() },
        Audited::RuleStored { rule: text() },
        Audited::ModeChanged { from: text(), to: text() },
        Audited::Undone { paths: vec![text()] },
        Audited::TurnEnded { reason: text() },
    ];
    let note = |event| Note { at: at(0), session: "shell:1".into(), turn: "t1".into(), keep_days: 90, event };
    let notes: Vec<Note> = events.into_iter().map(note).collect();
    Journal::at(Places::of(&home.paths)).append(&notes).expect("kept");
}

fn used(home: &Home, text: &str) {
    Store::at(home.paths.usage_file()).record(CallRow {
        at: at(0),
        session: text.into(),
        turn: text.into(),
        wire: text.into(),
        model: ModelKey { host: text.into(), model: text.into() },
        usage: TokenUsage { input: Some(1), output: Some(2), ..TokenUsage::default() },
        cost_source: None,
        took_ms: Some(3),
    });
}

fn home_of(text: &str) -> Home {
    let home = Home::empty();
    turn(&home, text);
    steps(&home, text);
    audited(&home, text);
    used(&home, text);
    let settings = home.paths.config_file();
    std::fs::create_dir_all(settings.parent().expect("a folder")).expect("it is made");
    let mut file = toml_edit::DocumentMut::new();
    file["client"]["shell"] = toml_edit::value(text);
    std::fs::write(settings, file.to_string()).expect("it is written");
    home
}

fn printed(home: &Home, words: &[&str]) -> (String, String) {
    let args = ["cohabd"].iter().chain(words).map(Into::into).collect();
    let command = parse_from(args).unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let (mut output, mut errors) = (Vec::new(), Vec::new());
    let net = &mut HarmlessWriter::new(&mut errors);
    // Settings are shown as they are, through the net.
    if words[0] == "config" {
        command.run_on(&home.paths, &mut HarmlessWriter::new(&mut output), net).expect("a command");
    } else {
        command.run_on(&home.paths, &mut output, net).expect("a command");
    }
    (String::from_utf8(output).expect("text"), String::from_utf8(errors).expect("text"))
}

fn assert_harmless(name: &str, words: &[&str], shown: &str) {
    let is_odd = |c: char| (c.is_control() && !matches!(c, '\n' | '\t')) || is_invisible(c);
    assert!(!shown.contains(is_odd), "{name} in {words:?}: {shown:?}");
}

#[test]
fn no_command_prints_what_a_terminal_obeys() {
    for row in HOSTILE {
        let text = format!("a{}b", row.bytes);
        let home = home_of(&text);
        for words in COMMANDS {
            let (output, errors) = printed(&home, words);
            assert!(output.len() > 2 && errors.is_empty(), "{words:?}: {output:?} {errors:?}");
            assert_harmless(row.name, words, &output);
        }
        let (shell, _) = printed(&home, &["config", "get", "client.shell"]);
        assert_eq!(shell, format!("a{}b\n", row.left), "{}: only that is taken out", row.name);
        for words in mistakes(&text) {
            let (output, errors) = printed(&home, &words);
            assert_harmless(row.name, &words, &(output + &errors));
        }
    }
}
