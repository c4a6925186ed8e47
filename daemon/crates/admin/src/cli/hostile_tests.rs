//! Hostile text reaches each command's output clean, also without the sanitizing writer that is the last line of defence.

use clap::CommandFactory as _;
use cohab_agent::tasks::{Status, Task};
use cohab_graph::{
    conformance::new_run,
    port::{NewRun, RunStore as _},
};
use cohab_memory::{
    blocks::{
        conformance::block,
        record::{Block, BlockDeed},
        store::BlockStore as _,
    },
    record::{NewMemory, Origin, Scope},
    store::MemoryStore as _,
};
use cohab_model_api::TokenUsage;
use cohab_store::{
    Store,
    audit::{
        Journal, Places,
        record::{Answer, Consent, Deed, Event as Audited, Note},
    },
    memory::SqliteMemory,
    row::{CallRow, ModelKey},
    sessions::{
        Entry, KeepAll as _,
        event::{Approval, Event},
        steps::{AgentState, Checkpoint, CheckpointStore as _, Metadata, Step, StepStatus, StepType, Turn},
    },
    watchers::{FiringRow, NewWatcher, WatcherStore},
};
use cohab_text::{sanitize::sanitize, terminal_attack_fixtures::HOSTILE};
use cohab_work::flows::FlowRuns;

use super::testing::{Home, at, call, question, result};
use super::*;

/// Commands that print untrusted text from disk. Of the others `run`, `setup`, `models`, `probe-model`, `who`, `jobs` and `stores` ask
/// services, `tool` asks programs, `mcp-shell` passes bytes on, and `definitions` prints only cohab's own texts.
const READING: &[&[&str]] = &[
    &["sessions"],
    &["sessions", "--json"],
    &["sessions", "show", "last"],
    &["sessions", "show", "last", "--json"],
    &["sessions", "search", "found"],
    &["history"],
    &["history", "--json"],
    &["why", "5"],
    &["why", "5", "--json"],
    &["trace"],
    &["trace", "--json"],
    &["trace", "--output", "1"],
    &["watch"],
    &["watch", "list", "--json"],
    &["todo"],
    &["todo", "--json"],
    &["hooks"],
    &["hooks", "--json"],
    &["mcp", "list"],
    &["mcp", "list", "--json"],
    &["mcp", "show", "evil"],
    &["agents"],
    &["agents", "--json"],
    &["memory"],
    &["memory", "--json"],
    &["memory", "search", "found"],
    &["memory", "why", "1"],
    &["memory", "blocks"],
    &["memory", "blocks", "show", "evil"],
    &["memory", "blocks", "history", "evil"],
    &["memory", "export"],
    &["flow", "list"],
    &["flow", "list", "--json"],
    &["usage", "--since", "2026-01-01", "--by", "model"],
    &["usage", "--since", "2026-01-01", "--by", "session"],
    &["usage", "--since", "2026-01-01", "--by", "model", "--json"],
    &["stats", "--since", "2026-01-01"],
    &["stats", "--since", "2026-01-01", "--json"],
    &["resume", "--list"],
    &["context"],
    &["context", "--json"],
    &["undo"],
    &["diff"],
    &["trust"],
    &["config", "list"],
    &["config", "check"],
    &["audit", "tail"],
    &["audit", "tail", "--json"],
    &["audit", "show"],
    &["audit", "show", "--json"],
    &["audit", "verify"],
    &["export", "--script"],
    &["export", "--markdown"],
    &["export", "--cast"],
];

/// Those of them without output for that home: nothing was interrupted, changed or trusted.
const QUIET: &[&str] = &["resume", "context", "undo", "diff", "trust", "stats"];

/// A file of hooks that holds `text` wherever it can.
fn write_hooks(home: &Home, text: &str) {
    let hook = serde_json::json!({"type": "command", "command": text});
    let hooks = serde_json::json!({"Stop": [{"hooks": [hook, {"type": text}]}], text: []});
    std::fs::create_dir_all(&home.paths.config_dir).expect("it is made");
    let file = home.paths.config_dir.join("hooks.json");
    std::fs::write(&file, serde_json::json!({"hooks": hooks}).to_string()).expect("it is written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("it is ours");
}

/// Settings with a server and an agent whose command lines hold `text`.
fn write_settings(home: &Home, text: &str) {
    let word = toml_edit::Value::from(text);
    let table = |name: &str| format!("[{name}.evil]\ncommand = {word}\nargs = [{word}]\n");
    let file = home.paths.config_file();
    std::fs::write(&file, table("mcp") + &table("agents")).expect("it is written");
}

/// A home in which every foreign text holds `evil`.
fn home(evil: &str) -> Home {
    let home = Home::empty();
    let text = || format!("found it {evil} there");
    let events = [
        question(&text(), &text()),
        Event::Shell { line: Some(text()), exit_code: 1, cwd: text(), duration_ms: 4, output_tail: text() },
        Event::Reasoning { text: text() },
        Event::Approval {
            subject: text(),
            reasons: vec![text()],
            is_dangerous: true,
            decision: Approval::Refused,
            note: text(),
        },
        call(&text(), &text(), Approval::Once),
        result(&text(), Some(1), &text()),
        Event::Error { message: text() },
        Event::Summary { text: text(), messages: 3 },
        Event::Answer { text: text() },
        Event::Ended { reason: text() },
    ];
    home.turn(&text(), "t1", 0, &text(), &events);
    write_hooks(&home, &text().replace('\0', ""));
    write_settings(&home, &text());
    home.store().checkpoint(&stored_steps(&text())).expect("it is kept");
    let tasks = vec![Task { text: text(), status: Status::Pending }];
    home.store().keep_all(&[Entry::Tasks { session: text(), tasks }]).expect("they are kept");
    let store = Store::at(home.paths.usage_file());
    store.record(CallRow {
        at: at(0),
        session: text(),
        turn: "t1".into(),
        wire: text(),
        model: ModelKey { host: text(), model: text() },
        usage: TokenUsage { input: Some(1), output: Some(1), ..TokenUsage::default() },
        cost_source: None,
        took_ms: Some(1),
    });
    drop(store);
    let runs = FlowRuns::at(&home.paths.state_dir, std::sync::Arc::default());
    drop(runs.create(&NewRun { file: text(), ..new_run(&text()) }).expect("kept"));
    audited(&home, &text());
    remembered(&home, &text());
    watched(&home, &text());
    std::fs::create_dir_all(&home.paths.config_dir).expect("a folder");
    // Escaped as TOML wants it.
    let key = serde_json::to_string(&text()).expect("text").replace('\x7f', "\\u007f");
    std::fs::write(home.paths.config_file(), format!("{key} = 1\n")).expect("written");
    home
}

/// The turn `t1` of the session `evil` with a call of a tool.
fn stored_steps(evil: &str) -> [Checkpoint; 2] {
    let text = || evil.to_owned();
    let turn = Turn {
        turn: "t1".into(),
        session: text(),
        started: at(0),
        last_activity: at(1),
        question: text(),
        resumed_from: None,
        // More than any system gives.
        pid: 1 << 30,
        state: AgentState::default(),
        ended: Some(text()),
        error: Some(text()),
    };
    let step = Step {
        id: text(),
        session: text(),
        turn: "t1".into(),
        number: 0,
        at: at(0),
        kind: StepType::ToolCall,
        input: serde_json::json!(evil).into(),
        output: Some(text()),
        status: StepStatus::Completed,
        duration_ms: Some(1),
        error: None,
        metadata: Metadata { tool: Some(text()), title: text(), summary: text(), ..Metadata::default() },
    };
    [Checkpoint::Turn(turn), Checkpoint::Step(step)]
}

/// A fact and a block with this text.
fn remembered(home: &Home, evil: &str) {
    let paths = &home.paths;
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).expect("made");
    let (scope, origin) = (Scope::Everywhere, Origin::Import);
    let new = NewMemory::stated(evil.to_owned(), scope, origin, evil.into());
    store.remember(&new, at(0)).expect("kept");
    let block = Block { description: evil.to_owned(), ..block("evil", evil) };
    store.write_block(&block, BlockDeed::Set, at(0)).expect("kept");
}

/// A watcher that has fired, with this text.
fn watched(home: &Home, evil: &str) {
    let text = || evil.to_owned();
    let mut store = WatcherStore::create(&home.paths.watchers_file(), &home.paths.watchers_signal()).expect("made");
    let watcher = NewWatcher {
        name: Some(text()),
        condition: text(),
        question: Some(text()),
        folder: evil.into(),
        terminal: text(),
        is_repeat: true,
        made: at(0),
        anchor: text(),
        due: Some(at(9)),
    };
    let id = store.add(&watcher).expect("kept").expect("room");
    let firing = FiringRow { at: at(1), summary: text(), detail: text(), anchor: text(), due: None };
    store.fired(id, &firing).expect("kept");
}

/// One record of each kind.
fn audited(home: &Home, evil: &str) {
    let text = || evil.to_owned();
    let events = [
        Audited::TurnBegan { mode: text(), rules: 1, cwd: text(), is_private: false },
        Audited::Asked { subject: text(), is_dangerous: true, reasons: vec![text()], answer: Answer::No, note: text() },
        Audited::Action {
            call: text(),
            tool: text(),
            does: Deed::Run,
            text: text(),
            typed: text(),
            cwd: text(),
            verdict: text(),
            reasons: vec![text()],
            consent: Consent::Rule,
            rule: text(),
        },
        Audited::Done { call: text(), outcome: text() },
        Audited::Done { call: "another".into(), outcome: text() },
        Audited::Refused { call: text(), tool: text(), text: text(), reason: text() },
        Audited::HookObjected { on: text(), tool: text(), hook: text(), reason: text() },
        Audited::ModeChanged { from: text(), to: text() },
        Audited::RuleStored { rule: text() },
        Audited::RuleRemoved { rule: text() },
        Audited::Undone { paths: vec![text()] },
        Audited::Broken { reason: text() },
        Audited::TurnEnded { reason: text() },
    ];
    let note = |event| Note { at: at(0), session: text(), turn: text(), keep_days: 9_999, event };
    let notes: Vec<Note> = events.into_iter().map(note).collect();
    Journal::at(Places::of(&home.paths)).append(&notes).expect("kept");
}

#[test]
fn each_command_prints_clean_text_by_itself() {
    let evil: Vec<&str> = HOSTILE.iter().map(|row| row.bytes).collect();
    let home = home(&evil.join(" "));
    for args in READING {
        let words = ["cohabd"].iter().chain(*args).map(OsString::from).collect();
        let command = parse_from(words).unwrap_or_else(|error| panic!("{args:?}: {error}"));
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let _ = command.run_on(&home.paths, &mut output, &mut errors);
        let shown = String::from_utf8([output, errors].concat()).expect("text");
        assert!(sanitize(&shown) == shown, "{args:?}: {shown:?}");
        assert!(QUIET.contains(&args[0]) || shown.contains("found"), "{args:?}: {shown:?}");
    }
}

#[test]
fn no_command_that_reads_is_left_out() {
    let asking = [
        "run",
        "setup",
        "models",
        "probe-model",
        "definitions",
        "who",
        "jobs",
        "stores",
        "rewind",
        "tool",
        "mcp-shell",
        "mcp-share",
    ];
    for command in Cli::command().get_subcommands() {
        let name = command.get_name();
        let is_read = READING.iter().any(|args| args[0] == name);
        assert!(is_read != asking.contains(&name), "{name}");
    }
}
