//! The ends of prompts and of conversations: what an agent does at the wrong time belongs to no other question.

use crate::played::{End, Place, Scripted, pid, pool, printing};
use crate::processes::{gone, one_gone};
use cohab_model_api::{Message, StopClass};

#[tokio::test]
async fn a_prompt_that_ends_while_a_call_runs_is_not_asked_again() {
    let place = Place::new();
    let (mut played, end) = place.asked("say a ;; leave ls").await;
    assert_eq!(end, End::Stop(StopClass::Tool));
    let runner =
        Scripted { until: Some(place.folder.path().join("left")), ..printing("x\n[exit 0; cwd /; 0.01 s]", 0) };
    assert_eq!(played.run(&runner).await, End::Stop(StopClass::End));
    drop(played);
    let (played, end) = place.asked("count").await;
    assert_eq!(end, End::Stop(StopClass::End));
    assert!(played.texts.starts_with("prompt 2 of"), "{}", played.texts);
}

#[tokio::test]
async fn a_death_while_a_call_runs_is_reported() {
    let place = Place::new();
    let (mut played, _) = place.asked("busy-die sleep 1000").await;
    // The death interrupts the command.
    let waiting = Scripted { waits: true, output: "^C".into(), ..Scripted::default() };
    let End::Failed(message, hint) = played.run(&waiting).await else { panic!("no failure") };
    assert_eq!(message, "@fake is gone: it ended with status 7");
    assert!(hint.is_some());
    drop(played);
    let (played, _) = place.asked("count").await;
    assert!(played.texts.starts_with("prompt 1 of"), "{}", played.texts);
}

#[tokio::test]
async fn a_call_between_turns_is_refused() {
    let place = Place::new();
    let (played, end) = place.asked("say a ;; late touch x").await;
    assert_eq!(end, End::Stop(StopClass::End));
    drop(played);
    let (played, end) = place.asked("late-answer").await;
    assert_eq!((end, played.calls.len()), (End::Stop(StopClass::End), 0));
    assert_eq!(played.texts, r#"{"error":"no prompt is running"}"#);
}

#[tokio::test]
async fn added_words_that_an_agent_did_not_see_are_mentioned() {
    let place = Place::new();
    let (mut played, _) = place.asked("cut ;; terminal ls").await;
    played.end_calls(&printing("x\n[exit 0; cwd /; 0.01 s]", 0)).await;
    played.messages.push(Message::user("count".into()));
    assert_eq!(played.read().await, End::Stop(StopClass::Length));
    assert_eq!(played.notices, ["@fake stopped before it saw what you added; ask again with it."]);
}

#[tokio::test]
async fn a_file_with_gaps_is_not_written_under_any_name() {
    let place = Place::new();
    let root = place.folder.path();
    std::fs::create_dir(root.join("x")).expect("a folder");
    std::fs::write(root.join("a"), "").expect("a file");
    std::os::unix::fs::symlink("a", root.join("link")).expect("a link");
    let (mut played, _) = place.asked("read a ;; write x/../a new ;; write link new ;; read a ;; write link new").await;
    // The first read is not noted as exact, so the loop may have changed it; the second one is.
    assert_eq!(played.run(&printing("text", 0)).await, End::Stop(StopClass::Tool));
    assert_eq!(played.texts.matches("cohab showed this file with parts left out").count(), 2, "{}", played.texts);
    assert_eq!(played.calls[0].name, "read_text");
    played.turn.note_exact("text");
    assert_eq!(played.run(&printing("text", 0)).await, End::Stop(StopClass::Tool));
    assert_eq!(played.calls[0].name, "write");
    assert_eq!(played.run(&printing("written", 0)).await, End::Stop(StopClass::End));
}

#[tokio::test]
async fn a_cleared_conversation_is_not_continued() {
    let mut place = Place::new().with("FAKE_LOAD", "1");
    let first = pid(&place).await;
    place.pool.forget("s1", true);
    gone(&first).await;
    let second = pid(&place).await;
    assert_ne!(first, second);
    // A conversation that ended but was not cleared is continued.
    place.pool.forget("s1", false);
    gone(&second).await;
    let (played, _) = place.asked("count").await;
    assert_eq!((played.texts.as_str(), played.notices.len()), (format!("prompt 1 of session-{second}").as_str(), 0));
    drop(played);
    place.pool.forget("s1", true);
    place.pool = pool(place.folder.path());
    assert_ne!(pid(&place).await, second);
}

#[tokio::test]
async fn agents_that_rest_make_room_for_others() {
    let place = Place::new();
    let mut pids = Vec::new();
    for number in 0..17 {
        let mut played = place.turn_of(&format!("s{number}"), false);
        assert_eq!(played.ask("count").await, End::Stop(StopClass::End), "{number}");
        pids.push(played.texts.rsplit_once("session-").expect("a name").1.to_owned());
    }
    one_gone(&pids).await;
}
