//! Tests that every session store must pass.

use std::time::Duration;

use cohab_agent::tasks::Status;
use cohab_model_api::{AssistantMessage, BrokenArguments, ProviderData, ToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::json;

use super::super::{
    event::{Approval, Call, CallResult},
    *,
};

pub(super) const LIMITS: Limits = Limits { sessions: 500, bytes: u64::MAX, age: Duration::from_secs(90 * 24 * 3600) };

pub(super) fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(1_770_000_000 + seconds).expect("a time")
}

pub(super) fn turn(session: &str, seconds: i64, title: &str) -> Entry {
    Entry::Turn {
        session: session.into(),
        at: at(seconds),
        title: title.into(),
        cwd: "/home/ann".into(),
        model: "wire/model".into(),
        limits: LIMITS,
    }
}

pub(super) fn event(session: &str, turn: &str, event: Event) -> Entry {
    Entry::Event { session: session.into(), turn: turn.into(), at: at(7), event }
}

pub(super) fn answer(text: &str) -> Event {
    Event::Answer { text: text.into() }
}

pub(super) fn command(text: &str) -> Event {
    Event::Call(Call {
        tool: "bash".into(),
        title: text.into(),
        command: Some(text.into()),
        proposed: None,
        cwd: "/".into(),
        approval: Approval::Once,
    })
}

pub(super) fn user(text: &str) -> Message {
    Message::user(text.into())
}

fn conversation(session: &str, from: usize, messages: &[&str]) -> Entry {
    let messages = messages.iter().map(|text| user(text)).collect();
    Entry::Conversation { session: session.into(), from, messages }
}

fn titles(store: &dyn StateStore, words: &[&str]) -> Vec<String> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    store.sessions(&words, 20).expect("they can be read").into_iter().map(|session| session.title).collect()
}

fn texts(store: &dyn StateStore, session: &str) -> Vec<String> {
    let messages = store.conversation(session).expect("it can be read");
    messages
        .iter()
        .map(|message| if let Message::User { text, .. } = message { text.clone() } else { String::new() })
        .collect()
}

fn a_session_is_listed_as_it_was_left_last(store: &mut dyn StateStore) {
    store.keep_all(&[turn("shell:1", 0, "first"), turn("shell:2", 5, "second")]).expect("it is kept");
    let later = Entry::Turn {
        session: "shell:1".into(),
        at: at(9),
        title: "another title".into(),
        cwd: "/srv".into(),
        model: "wire/other".into(),
        limits: LIMITS,
    };
    store.keep_all(&[later]).expect("it is kept");
    let sessions = store.sessions(&[], 20).expect("they can be read");
    assert_eq!(sessions.iter().map(|session| session.title.as_str()).collect::<Vec<_>>(), ["first", "second"]);
    let SessionRow { key, created, active, cwd, model, turns, id, .. } = &sessions[0];
    assert_eq!((key.as_str(), *created, *active, *turns), ("shell:1", at(0), at(9), 2));
    assert_eq!((cwd.as_str(), model.as_str(), id.as_str()), ("/srv", "wire/other", id::of_key("shell:1").as_str()));
    assert_eq!(store.sessions(&[], 1).expect("they can be read").len(), 1);
    assert!(store.set_title("shell:2", "new").expect("it is kept") && !store.set_title("no", "x").expect("nothing"));
    assert_eq!(titles(store, &[]), ["first", "new"]);
    let name = |session: &str, instead_of: &str| Entry::Title {
        session: session.into(),
        instead_of: instead_of.into(),
        title: "named".into(),
    };
    store.keep_all(&[name("shell:1", "first"), name("shell:2", "second"), name("no", "")]).expect("they are kept");
    assert_eq!(titles(store, &[]), ["named", "new"], "what the user called it stays");
}

fn an_id_is_found_by_its_start(store: &mut dyn StateStore) {
    assert_eq!(store.find("last").expect("it can be read"), Found::None);
    let entries: Vec<Entry> = (0..40).map(|n| turn(&format!("shell:{n}"), n, &format!("t{n}"))).collect();
    store.keep_all(&entries).expect("they are kept");
    let id = id::of_key("shell:7");
    for prefix in [id.clone(), id[..8].to_owned(), id.to_uppercase()] {
        let Found::One(session) = store.find(&prefix).expect("it can be read") else { panic!("{prefix}") };
        assert_eq!(session.key, "shell:7");
    }
    let Found::One(last) = store.find("last").expect("it can be read") else { panic!("one") };
    assert_eq!(last.key, "shell:39");
    let several = (0..16).map(|digit| store.find(&format!("{digit:x}")).expect("it can be read"));
    assert!(several.filter(|found| matches!(found, Found::Several(named) if named.len() > 1)).count() > 0);
    for nobody in ["", "*", "[0-f]", "zz", "0000000000000000", "'; DROP TABLE sessions; --"] {
        assert_eq!(store.find(nobody).expect("it can be read"), Found::None, "{nobody}");
    }
}

fn events_keep_their_order_and_their_numbers(store: &mut dyn StateStore) {
    let entries = [
        turn("s", 0, "t"),
        event("s", "t1", answer("one")),
        event("s", "t1", command("ls")),
        event("s", "t2", answer("two")),
    ];
    store.keep_all(&entries).expect("they are kept");
    let events = store.events("s", None).expect("they can be read");
    let found: Vec<(&Event, &str)> = events.iter().map(|row| (&row.event, row.turn.as_str())).collect();
    assert_eq!(found, [(&answer("one"), "t1"), (&command("ls"), "t1"), (&answer("two"), "t2")]);
    assert!(events.windows(2).all(|pair| pair[0].number < pair[1].number) && events[0].at == at(7));
    assert_eq!(store.events("s", Some("t2")).expect("they can be read"), events[2..]);
    assert_eq!(store.event(events[1].number).expect("it can be read").as_ref(), Some(&events[1]));
    assert_eq!(store.event(u64::MAX).expect("it can be read"), None);
    let newest = events[2].number;
    store.remove(&["s".into()]).expect("it is removed");
    store.keep_all(&[turn("s", 1, "t"), event("s", "t3", answer("three"))]).expect("they are kept");
    assert!(store.events("s", None).expect("they can be read")[0].number > newest, "no number is given twice");
}

fn a_conversation_grows_and_is_replaced(store: &mut dyn StateStore) {
    store
        .keep_all(&[turn("s", 0, "t"), conversation("s", 0, &["a"]), conversation("s", 1, &["b", "c"])])
        .expect("kept");
    assert_eq!(texts(store, "s"), ["a", "b", "c"]);
    store.keep_all(&[conversation("s", 0, &["a", "B", "c", "d"])]).expect("it is kept");
    assert_eq!(texts(store, "s"), ["a", "B", "c", "d"]);
    store.keep_all(&[conversation("s", 0, &["B"])]).expect("it is kept");
    assert_eq!(texts(store, "s"), ["B"]);
    store.keep_all(&[conversation("s", 3, &["after a hole"])]).expect("it is passed over");
    assert_eq!(texts(store, "s"), ["B"]);
    store.keep_all(&[conversation("s", 0, &[])]).expect("it is kept");
    assert!(texts(store, "s").is_empty());
}

fn a_message_comes_back_as_the_provider_gave_it(store: &mut dyn StateStore) {
    let args = json!({"command": "ls", "nested": {"a": [1, 2.5, null]}}).as_object().cloned().expect("an object");
    let broken = BrokenArguments { raw: "{".into(), error: "no end".into() };
    let messages = vec![
        user("<question>\u{0}\u{1b}[31m</question>"),
        Message::Assistant(AssistantMessage {
            text: "I look.".into(),
            tool_calls: vec![
                ToolCall { id: "1".into(), name: "bash".into(), args: Ok(args.into()) },
                ToolCall { id: "2".into(), name: "bash".into(), args: Err(broken) },
            ],
            provider_data: Some(ProviderData {
                wire: "w".into(),
                host: "h".into(),
                model: "m".into(),
                json: json!([{"signature": "ab==", "thinking": ""}]).into(),
            }),
        }),
        Message::ToolResults(vec![ToolResult {
            call_id: "1".into(),
            tool: "bash".into(),
            content: "x".into(),
            is_error: true,
        }]),
    ];
    let entry = Entry::Conversation { session: "s".into(), from: 0, messages: messages.clone() };
    store.keep_all(&[turn("s", 0, "t"), entry]).expect("it is kept");
    assert_eq!(store.conversation("s").expect("it can be read"), messages);
}

fn what_belongs_to_no_session_is_dropped(store: &mut dyn StateStore) {
    let left = Entry::Left { session: "gone".into(), left: Left::default() };
    let entries = [event("gone", "t", answer("x")), conversation("gone", 0, &["x"]), left];
    store.keep_all(&entries).expect("nothing happens");
    assert!(store.events("gone", None).expect("it can be read").is_empty() && texts(store, "gone").is_empty());
    assert_eq!(store.left("gone").expect("it can be read"), None);
    assert_eq!(store.session("gone").expect("it can be read"), None);
}

fn words_are_found_in_titles_questions_commands_and_answers(store: &mut dyn StateStore) {
    let question = |text: &str| Event::Question { text: text.into(), cwd: "/".into(), shell: None, piped_bytes: 0 };
    let entries = [
        turn("1", 1, "the disk is full"),
        event("1", "t", question("why is the disk full?")),
        event("1", "t", command("du -h --max-depth=1")),
        turn("2", 2, "deploy the shop"),
        event("2", "t", answer("It needs a *token*: см. документацию 日本語")),
        turn("3", 3, "100% \"quoted\""),
    ];
    store.keep_all(&entries).expect("they are kept");
    for (words, expected) in [
        (&["disk"][..], &["the disk is full"][..]),
        (&["DEPTH"], &["the disk is full"]),
        (&["max-depth"], &["the disk is full"]),
        (&["why", "full"], &["the disk is full"]),
        (&["disk", "token"], &[]),
        (&["tok"], &["deploy the shop"]),
        (&["документ"], &["deploy the shop"]),
        (&["日本語"], &["deploy the shop"]),
        (&["0%"], &["100% \"quoted\""]),
        (&["\"quoted\""], &["100% \"quoted\""]),
        (&["the"], &["deploy the shop", "the disk is full"]),
        (&[""], &["100% \"quoted\"", "deploy the shop", "the disk is full"]),
    ] {
        assert_eq!(titles(store, words), expected, "{words:?}");
    }
    store.remove(&["1".into()]).expect("it is removed");
    assert!(titles(store, &["depth"]).is_empty(), "what is removed is not found");
}

fn a_copy_goes_its_own_way(store: &mut dyn StateStore) {
    let left = Left { cwd: "/srv".into(), environment: [("A".to_owned(), "1".to_owned())].into() };
    let entries = [
        turn("s", 0, "t"),
        event("s", "t1", command("make")),
        conversation("s", 0, &["a"]),
        Entry::Left { session: "s".into(), left: left.clone() },
    ];
    store.keep_all(&entries).expect("they are kept");
    assert!(store.fork("s", "copy", at(50)).expect("it is copied"));
    assert!(!store.fork("s", "copy", at(50)).expect("it is there"), "a name is taken once");
    assert!(!store.fork("nobody", "other", at(50)).expect("nothing to copy"));
    assert_eq!(store.left("copy").expect("it can be read"), Some(left));
    store.keep_all(&[conversation("copy", 1, &["b"])]).expect("it is kept");
    assert_eq!((texts(store, "s"), texts(store, "copy")), (vec!["a".to_owned()], vec!["a".into(), "b".into()]));
    let copy = store.session("copy").expect("it can be read").expect("a copy");
    assert_eq!((copy.forked_from, copy.created), (Some(id::of_key("s")), at(50)));
    let numbers = |key: Option<&str>| -> Vec<u64> {
        store.commands(key, 9).expect("they can be read").iter().map(|row| row.number).collect()
    };
    assert_eq!(numbers(None), numbers(Some("s")), "a command ran once");
    assert!(numbers(Some("copy")).len() == 1 && numbers(Some("copy")) != numbers(Some("s")));
    assert_eq!(titles(store, &["make"]).len(), 2);
    store.remove(&["s".into()]).expect("it is removed");
    assert_eq!(texts(store, "copy"), ["a", "b"]);
}

fn a_session_set_aside_keeps_its_id(store: &mut dyn StateStore) {
    let aside = Entry::SetAside { session: "s".into(), under: "old".into() };
    let first = [turn("s", 0, "first"), conversation("s", 0, &["a", "b"]), event("s", "t", command("make"))];
    store.keep_all(&[vec![aside.clone()], first.into(), vec![aside.clone()]].concat()).expect("they are kept");
    assert_eq!(store.session("s").expect("it can be read"), None);
    store.keep_all(&[turn("s", 9, "second"), conversation("s", 0, &["c"])]).expect("they are kept");
    assert_eq!(titles(store, &[]), ["second", "first"]);
    assert_eq!((texts(store, "old"), texts(store, "s")), (vec!["a".into(), "b".into()], vec!["c".to_owned()]));
    assert_eq!(titles(store, &["make"]), ["first"]);
    let row = |key: &str| store.session(key).expect("it can be read").expect("it is there");
    assert_eq!((row("old").id, row("old").turns, row("s").turns), (id::of_key("s"), 1, 1));
    assert_ne!(row("s").id, id::of_key("s"));
    let id = row("s").id;
    store.keep_all(&[turn("s", 12, "third")]).expect("it is kept");
    assert_eq!(store.session("s").expect("it can be read").map(|row| (row.id, row.turns)), Some((id, 2)));
}

fn tasks_belong_to_their_session(store: &mut dyn StateStore) {
    let task = |text: &str, status| Task { text: text.into(), status };
    let list = vec![task("one", Status::InProgress), task("two", Status::Pending)];
    let set = |session: &str, tasks: &[Task]| Entry::Tasks { session: session.into(), tasks: tasks.to_vec() };
    store.keep_all(&[turn("a", 0, "t"), set("a", &list), set("nobody", &list)]).expect("they are kept");
    let of = |store: &dyn StateStore, key: &str| store.tasks(key).expect("they can be read");
    assert_eq!((of(store, "a"), of(store, "nobody")), (list.clone(), Vec::new()));
    assert!(store.fork("a", "copy", at(3)).expect("it is copied"));
    store.keep_all(&[set("a", &list[1..])]).expect("they are kept");
    assert_eq!((of(store, "a"), of(store, "copy")), (list[1..].to_vec(), list));
    store.remove(&["a".into()]).expect("it is removed");
    assert_eq!((of(store, "a").len(), of(store, "copy").len()), (0, 2));
}

fn what_is_beyond_the_limits_goes_the_oldest_first(store: &mut dyn StateStore) {
    let limited = |session: &str, seconds: i64, limits: Limits| match turn(session, seconds, session) {
        Entry::Turn { session, at, title, cwd, model, .. } => Entry::Turn { session, at, title, cwd, model, limits },
        other => other,
    };
    let entries: Vec<Entry> = (0..5).map(|n| turn(&n.to_string(), n, &n.to_string())).collect();
    store.keep_all(&entries).expect("they are kept");
    store.keep_all(&[limited("0", 10, Limits { sessions: 3, ..LIMITS })]).expect("it is kept");
    assert_eq!(titles(store, &[]), ["0", "4", "3"]);
    let long = answer(&"long ".repeat(100_000));
    store.keep_all(&[event("4", "t", long.clone()), event("0", "t", long)]).expect("they are kept");
    store.keep_all(&[limited("3", 11, Limits { bytes: 1_600_000, ..LIMITS })]).expect("it is kept");
    assert_eq!(titles(store, &[]), ["3", "0"]);
    store.keep_all(&[limited("0", 12, Limits { bytes: 0, ..LIMITS })]).expect("it is kept");
    assert_eq!(titles(store, &[]), ["0"], "the one that is written now stays");
    let day = 24 * 3_600;
    store.keep_all(&[limited("new", 91 * day, LIMITS)]).expect("it is kept");
    assert_eq!(titles(store, &[]), ["new"]);
    assert_eq!(store.remove_older(at(91 * day + 1)).expect("it is removed"), 1);
    assert_eq!(store.remove(&["new".into()]).expect("nothing is left"), 0);
}

fn events_are_found_by_their_words(store: &mut dyn StateStore) {
    let said = |session: &str, text: &str| event(session, "t", answer(text));
    store
        .keep_all(&[
            turn("a", 0, "one"),
            turn("b", 1, "two"),
            said("a", "nginx runs on blue"),
            said("b", "the blue one is old"),
            event("b", "t", command("systemctl restart nginx")),
            said("a", "unrelated"),
        ])
        .expect("they are kept");
    assert!(store.fork("a", "copy", at(5)).expect("it is copied"));
    let found = |words: &[&str], key: Option<&str>, most: usize| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut found = Vec::new();
        let mut take = |row: EventRow| {
            found.push(format!("{} {}", row.session, row.event.searchable().unwrap_or_default()));
            found.len() < most
        };
        store.matching(&words, key, &mut take).expect("they can be read");
        found
    };
    assert_eq!(found(&["NGINX"], None, 9), ["b systemctl restart nginx", "a nginx runs on blue"]);
    assert_eq!(found(&["ngi", "blu"], None, 9), ["a nginx runs on blue"]);
    assert_eq!(found(&["blue"], None, 1), ["b the blue one is old"]);
    assert_eq!(found(&["blue"], Some("a"), 9), ["a nginx runs on blue"]);
    assert_eq!(found(&["blue"], Some("copy"), 9), ["copy nginx runs on blue"]);
    assert_eq!((found(&[], None, 9), found(&["-"], None, 9), found(&["blue"], Some("x"), 9)), (vec![], vec![], vec![]));
}

fn hostile_words_find_nothing_and_break_nothing(store: &mut dyn StateStore) {
    store.keep_all(&[turn("s", 0, "t"), event("s", "t", answer("plain text"))]).expect("they are kept");
    for word in
        ["\"", "'", "\"\"\"", "text\" OR \"x", "NEAR(", "*", "-", "^plain", "text:plain", "\\", "%", "_", "\0", "{}"]
    {
        store.sessions(&[word.to_owned()], 5).unwrap_or_else(|error| panic!("{word:?}: {error}"));
    }
    assert_eq!(titles(store, &["plain\" OR \"nothing"]), Vec::<String>::new());
    proptest!(ProptestConfig::with_cases(64), |(words in proptest::collection::vec("\\PC{0,12}|[\"'*()^:. a-z-]{0,12}", 0..20))| {
        prop_assert!(store.sessions(&words, 5).is_ok(), "{words:?}");
        prop_assert!(store.matching(&words, None, &mut |_| true).is_ok(), "{words:?}");
    });
}

fn any_event_comes_back_as_it_was(store: &mut dyn StateStore) {
    store.keep_all(&[turn("s", 0, "t")]).expect("it is kept");
    let (number, store) = (std::cell::Cell::new(0), std::cell::RefCell::new(store));
    proptest!(ProptestConfig::with_cases(48), |(text in any::<String>(), note in any::<String>(), code in any::<i32>())| {
        number.set(number.get() + 1);
        let turn = number.get().to_string();
        let mut store = store.borrow_mut();
        let events = [
            Event::Question { text: text.clone(), cwd: note.clone(), shell: Some(note.clone()), piped_bytes: 3 },
            Event::Shell { line: Some(text.clone()), exit_code: code, cwd: note.clone(), duration_ms: u64::MAX, output_tail: text.clone() },
            Event::Reasoning { text: text.clone() },
            answer(&text),
            Event::Approval { subject: text.clone(), reasons: vec![note.clone()], is_dangerous: true, decision: Approval::Edited, note: note.clone() },
            command(&text),
            Event::Result(CallResult { output: text.clone(), is_error: true, exit_code: Some(code), cwd: Some(note.clone()), duration_ms: None }),
            Event::Error { message: text.clone() },
            Event::Usage { sent_tokens: None, received_tokens: Some(0), cost_microusd: Some(u64::MAX) },
            Event::Ended { reason: text.clone() },
        ];
        let entries: Vec<Entry> = events.iter().map(|one| event("s", &turn, one.clone())).collect();
        store.keep_all(&entries).expect("they are kept");
        let kept: Vec<Event> =
            store.events("s", Some(&turn)).expect("they can be read").into_iter().map(|row| row.event).collect();
        prop_assert_eq!(kept, events);
    });
}

fn the_first_question_of_each_session_is_found(store: &mut dyn StateStore) {
    let asked = |session: &str, text: &str| {
        let question = Event::Question { text: text.into(), cwd: "/".into(), shell: None, piped_bytes: 0 };
        event(session, text, question)
    };
    let none = turn("shell:3", 2, "without a question");
    store.keep_all(&[turn("shell:1", 0, "a"), turn("shell:2", 1, "b"), none]).expect("it is kept");
    store.keep_all(&[event("shell:1", "t", answer("no question"))]).expect("it is kept");
    store.keep_all(&[asked("shell:2", "two"), asked("shell:1", "one"), asked("shell:2", "more")]).expect("it is kept");
    let found = store.first_questions().expect("they can be read").into_iter().map(|row| (row.session, row.turn));
    assert_eq!(
        found.collect::<Vec<_>>(),
        [("shell:2", "two"), ("shell:1", "one")].map(|(session, text)| (session.to_owned(), text.to_owned()))
    );
}

macro_rules! conformance {
    ($($check:ident),* $(,)?) => {
        mod in_a_file {
            $(#[test]
            fn $check() {
                let folder = tempfile::tempdir().expect("a folder");
                let path = folder.path().join("state/sessions.db");
                super::$check(&mut super::SqliteStore::create(&path).expect("it is made"));
            })*
        }
        mod in_memory {
            $(#[test]
            fn $check() {
                super::$check(&mut super::SqliteStore::in_memory().expect("it is made"));
            })*
        }
    };
}

conformance!(
    a_session_is_listed_as_it_was_left_last,
    an_id_is_found_by_its_start,
    events_keep_their_order_and_their_numbers,
    a_conversation_grows_and_is_replaced,
    a_message_comes_back_as_the_provider_gave_it,
    what_belongs_to_no_session_is_dropped,
    words_are_found_in_titles_questions_commands_and_answers,
    a_session_set_aside_keeps_its_id,
    tasks_belong_to_their_session,
    a_copy_goes_its_own_way,
    what_is_beyond_the_limits_goes_the_oldest_first,
    events_are_found_by_their_words,
    hostile_words_find_nothing_and_break_nothing,
    any_event_comes_back_as_it_was,
    the_first_question_of_each_session_is_found,
);
