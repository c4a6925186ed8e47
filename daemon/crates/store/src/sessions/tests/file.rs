//! Tests of properties that only a file has.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use cohab_model_api::{AssistantMessage, ProviderData};

use super::{
    super::*,
    conformance::{answer, event, turn, user},
};

fn file(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("state/sessions.db")
}

fn titles(path: &Path) -> Vec<String> {
    let store = SqliteStore::open_existing(path).expect("it can be opened").expect("it is there");
    store.sessions(&[], 9).expect("they can be read").into_iter().map(|session| session.title).collect()
}

#[test]
fn the_file_is_its_owners_alone_and_closed_while_nothing_happens() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::at(file(&folder));
    assert!(!file(&folder).exists() && archive.load("s").expect("nothing").is_none());
    archive.keep(turn("s", 0, "t"));
    archive.flush();
    assert_eq!(fs::metadata(file(&folder)).expect("it is there").permissions().mode() & 0o777, 0o600);
    let names: Vec<_> = fs::read_dir(folder.path().join("state")).expect("a folder").flatten().collect();
    assert_eq!(names.len(), 1, "the journal is gone when nobody writes: {names:?}");
}

#[test]
fn what_is_written_moves_into_the_file_itself_when_nobody_waits() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut store = SqliteStore::create(&file(&folder).with_file_name("s.db")).expect("it can be made");
    let alone = |name: &str| {
        let path = folder.path().join(name);
        fs::copy(folder.path().join("state/s.db"), &path).expect("it can be copied");
        SqliteStore::open_existing(&path)
            .ok()
            .flatten()
            .and_then(|store| store.sessions(&[], 999).ok())
            .unwrap_or_default()
            .len()
    };
    (0..255).for_each(|number| store.keep_all(&[turn(&number.to_string(), 0, "t")]).expect("it can be written"));
    store.settle().expect("there is nothing to do");
    assert_eq!(alone("before.db"), 0, "too little to bother");
    store.keep_all(&[turn("last", 0, "t")]).expect("it can be written");
    store.settle().expect("it can be written");
    assert_eq!(alone("after.db"), 256);
}

#[test]
fn what_is_kept_is_there_in_the_next_life() {
    let folder = tempfile::tempdir().expect("a folder");
    let archive = Archive::at(file(&folder));
    archive.keep(turn("s", 0, "t"));
    archive.keep(Entry::Conversation { session: "s".into(), from: 0, messages: vec![user("hello")] });
    drop(archive);
    let stored = Archive::at(file(&folder)).load("s").expect("it can be read").expect("it is there");
    assert_eq!((stored.session.title.as_str(), &stored.conversation[..1]), ("t", &[user("hello")][..]));
    assert_eq!(stored.left.cwd, "/home/ann");
}

#[test]
fn a_broken_file_is_moved_aside_and_nothing_new_is_lost() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir_all(folder.path().join("state")).expect("a folder");
    fs::write(file(&folder), "this is no database, whatever its name says; ".repeat(100)).expect("it can be written");
    let archive = Archive::at(file(&folder));
    assert!(archive.load("s").is_err(), "reading tells it");
    archive.keep(turn("s", 0, "t"));
    archive.flush();
    assert_eq!(titles(&file(&folder)), ["t"]);
    let aside = file(&folder).with_file_name("sessions.db.broken");
    assert!(fs::read_to_string(aside).expect("it is kept").starts_with("this is no database"));
}

#[test]
fn a_file_of_a_later_release_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    drop(SqliteStore::create(&file(&folder)).expect("it is made"));
    let connection = rusqlite::Connection::open(file(&folder)).expect("it can be opened");
    connection.pragma_update(None, "user_version", 99).expect("it can be written");
    drop(connection);
    let archive = Archive::at(file(&folder));
    archive.keep(turn("s", 0, "t"));
    archive.flush();
    let error = archive.load("s").expect_err("it is refused").to_string();
    assert_eq!(error, "a later release of cohab wrote it (version 99)");
}

#[test]
fn two_writers_at_once_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder);
    std::thread::scope(|scope| {
        for writer in ["a", "b"] {
            let path = &path;
            scope.spawn(move || {
                for n in 0..20 {
                    let mut store = SqliteStore::create(path).expect("it can be opened");
                    let entries = [turn(writer, n, writer), event(writer, "t", answer(&n.to_string()))];
                    store.keep_all(&entries).expect("it is kept");
                }
            });
        }
    });
    let store = SqliteStore::create(&path).expect("it can be opened");
    for writer in ["a", "b"] {
        assert_eq!(store.events(writer, None).expect("they can be read").len(), 20);
    }
}

#[test]
fn removing_gives_the_room_back_and_leaves_no_trace() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = file(&folder);
    let mut store = SqliteStore::create(&path).expect("it is made");
    let long = answer(&"xylophone ".repeat(50_000));
    store.keep_all(&[turn("s", 0, "t"), event("s", "t", long)]).expect("it is kept");
    drop(store);
    let size = || fs::metadata(&path).expect("it is there").len();
    assert!(size() > 500_000, "{}", size());
    let mut store = SqliteStore::create(&path).expect("it can be opened");
    assert_eq!(store.remove(&["s".into()]).expect("it is removed"), 1);
    drop(store);
    assert!(size() < 200_000, "{}", size());
    let bytes = fs::read(&path).expect("it can be read");
    assert!(!bytes.windows(9).any(|bytes| bytes == b"xylophone"));
}

#[test]
fn what_an_earlier_release_wrote_can_be_read() {
    // As the first release wrote it: a later one must not change the meaning of these words.
    let line =
        r#"{"type":"call","tool":"bash","title":"ls","command":"ls","proposed":null,"cwd":"/","approval":"once"}"#;
    let read: Event = serde_json::from_str(line).expect("an event");
    assert_eq!(serde_json::to_string(&read).expect("JSON"), line);
    let line =
        r#"{"Assistant":{"text":"t","tool_calls":[{"id":"1","name":"n","args":{"Ok":{}}}],"provider_data":null}}"#;
    let read: Message = serde_json::from_str(line).expect("a message");
    assert_eq!(serde_json::to_string(&read).expect("JSON"), line);
    serde_json::from_str::<Message>(r#"{"User":{"text":"t"}}"#).expect("a question");
}

#[test]
fn nothing_that_is_kept_holds_a_secret() {
    let folder = tempfile::tempdir().expect("a folder");
    let token = ["glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
    let archive = Archive::at(file(&folder));
    archive.keep(turn("s", 1, &format!("why is {token} refused?")));
    let json = serde_json::json!({ "content": [{ "text": token }] });
    let data = ProviderData { wire: "w".into(), host: "h".into(), model: "m".into(), json: json.into() };
    let said = AssistantMessage { text: token.clone(), provider_data: Some(data), ..AssistantMessage::default() };
    let messages = vec![user(&token), Message::Assistant(said)];
    archive.keep(Entry::Conversation { session: "s".into(), from: 0, messages });
    let environment =
        [("GITLAB", token.as_str()), ("LANG", "C")].map(|(name, value)| (name.to_owned(), value.to_owned()));
    let left = Left { cwd: "/tmp".into(), environment: environment.into() };
    archive.keep(Entry::Left { session: "s".into(), left });
    drop(archive);
    let stored = Archive::at(file(&folder)).load("s");
    let stored = stored.expect("it can be read").expect("it is there");
    let told = format!("{stored:?}");
    assert!(!told.contains(&token) && told.contains("why is <secret:gitlab-token#1> refused?"), "{told}");
    assert!(told.contains("provider_data: None"), "what cannot be changed is left out: {told}");
    assert_eq!(stored.left.environment.into_keys().collect::<Vec<_>>(), ["LANG"]);
}
