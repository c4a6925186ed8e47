//! An agent in the place of a model, with a real process behind it: the test plays the loop.

use std::time::{Duration, Instant};

use crate::played::{End, Place, Scripted, pid, pool, printing};
use crate::processes::gone;
use cohab_model_api::{Message, ModelEvent, ModelRequest, StopClass};
use futures::StreamExt as _;

#[tokio::test]
async fn text_and_thoughts_stream_and_the_next_question_continues() {
    let place = Place::new();
    let (played, end) = place.asked("think hm ;; say hello ;; count").await;
    assert_eq!(end, End::Stop(StopClass::End));
    assert!(played.texts.starts_with("helloprompt 1 of session-"), "{}", played.texts);
    assert_eq!(played.notices, ["thought: hm"]);
    drop(played);
    let (played, _) = place.asked("count").await;
    assert!(played.texts.starts_with("prompt 2 of session-"), "{}", played.texts);
}

#[tokio::test]
async fn a_terminal_is_a_call_of_the_loop_and_gets_its_result() {
    let place = Place::new();
    let (mut played, end) = place.asked("bash cd sub && export FOO=bar ;; say done").await;
    assert_eq!((end, played.calls[0].name.as_str()), (End::Stop(StopClass::Tool), "bash"));
    assert_eq!(played.command(), "cd sub && export FOO=bar");
    let end = played.run(&printing("hi\n[exit 3; cwd /; 0.01 s]", 3)).await;
    assert_eq!((end, played.texts.as_str()), (End::Stop(StopClass::End), "[exit 3: hi]done"));
}

#[tokio::test]
async fn a_refusal_is_told_to_the_agent() {
    let place = Place::new();
    let (mut played, _) = place.asked("terminal rm -rf x ;; say so").await;
    let refused = Scripted { refusal: "the user refused".into(), ..Scripted::default() };
    let end = played.run(&refused).await;
    assert_eq!((end, played.texts.as_str()), (End::Stop(StopClass::End), "[not run: the user refused]so"));
}

#[tokio::test]
async fn calls_that_come_meanwhile_wait_for_their_turn() {
    let place = Place::new();
    let (mut played, _) = place.asked("twice ls").await;
    let mut ran = 0;
    loop {
        ran += played.calls.len();
        if played.run(&printing("x\n[exit 0; cwd /; 0.01 s]", 0)).await == End::Stop(StopClass::End) {
            break;
        }
    }
    assert_eq!((ran, played.texts.as_str()), (2, "[exit 0: x][exit 0: x]"));
}

#[tokio::test]
async fn an_agent_interrupts_its_own_command() {
    let place = Place::new();
    let (mut played, _) = place.asked("kill sleep 1000").await;
    let waiting = Scripted { waits: true, output: "^C\n[interrupted]".into(), ..Scripted::default() };
    let end = tokio::time::timeout(Duration::from_secs(20), played.run(&waiting)).await.expect("an end");
    assert_eq!((end, played.texts.as_str()), (End::Stop(StopClass::End), r#"killed {"exitCode":130}"#));
}

#[tokio::test]
async fn files_are_calls_and_a_changed_text_is_not_written_back() {
    let place = Place::new();
    let (mut played, _) = place.asked("read /w/a ;; write /w/a new").await;
    assert_eq!(played.calls[0].name, "read_text");
    // Nothing was noted as exact, so the loop may have changed it.
    let end = played.run(&printing("text", 0)).await;
    assert_eq!(end, End::Stop(StopClass::End));
    assert!(
        played.texts.starts_with(r#"{"content":"text"}{"error":"cohab showed this file with parts left out"#),
        "{}",
        played.texts
    );
    drop(played);
    let (mut played, _) = place.asked("read /w/b ;; write /w/b new").await;
    played.turn.note_exact("text");
    assert_eq!(played.run(&printing("text", 0)).await, End::Stop(StopClass::Tool));
    assert_eq!(played.calls[0].name, "write");
    assert_eq!(played.run(&printing("written", 0)).await, End::Stop(StopClass::End));
    assert_eq!(played.texts, r#"{"content":"text"}{}"#);
}

#[tokio::test]
async fn a_permission_is_asked_once_and_never_lasts() {
    let place = Place::new();
    let (mut played, _) = place.asked("permit edit a.rs").await;
    assert_eq!(played.calls[0].name, "agent_action");
    played.run(&printing("allowed", 0)).await;
    assert_eq!(played.texts, r#"{"outcome":"selected","optionId":"yes"}"#);
    drop(played);
    let (mut played, _) = place.asked("permit edit a.rs").await;
    played.run(&Scripted { refusal: "no".into(), ..Scripted::default() }).await;
    assert_eq!(played.texts, r#"{"outcome":"selected","optionId":"no"}"#);
}

#[tokio::test]
async fn what_it_does_itself_is_said_if_it_changes_something() {
    let place = Place::new();
    let (played, _) = place.asked("own edit a.rs ;; own read b.rs ;; own execute ls").await;
    assert_eq!(
        played.notices,
        ["@fake changed files itself: a.rs", "@fake ran a command itself, outside of your shell: ls"]
    );
}

#[tokio::test]
async fn an_end_without_text_is_still_an_answer() {
    let (played, end) = Place::new().asked("own read a").await;
    assert_eq!((end, played.texts.as_str()), (End::Stop(StopClass::End), "(@fake ended without a word.)"));
}

#[tokio::test]
async fn no_step_more_than_allowed() {
    let place = Place::new();
    let (mut played, _) = place.asked("terminal a ;; terminal b ;; say end").await;
    played.end_calls(&printing("x\n[exit 0; cwd /; 0.01 s]", 0)).await;
    let request = ModelRequest { allow_tools: false, ..ModelRequest::of(played.messages.clone()) };
    let events: Vec<ModelEvent> = played.model.stream(request).collect().await;
    let text: String = events
        .iter()
        .filter_map(|event| if let ModelEvent::TextDelta(text) = event { Some(text.as_str()) } else { None })
        .collect();
    assert!(text.starts_with("[exit 0: x][not run: cohab's limit of steps") && text.ends_with("]end"), "{text}");
    assert!(matches!(events.last(), Some(ModelEvent::Stop { class: StopClass::End, .. })), "{events:?}");
}

#[tokio::test]
async fn words_that_are_added_become_the_next_prompt() {
    let place = Place::new();
    let (mut played, _) = place.asked("terminal ls").await;
    played.end_calls(&printing("x\n[exit 0; cwd /; 0.01 s]", 0)).await;
    played.messages.push(Message::user("count".into()));
    assert_eq!(played.read().await, End::Stop(StopClass::End));
    assert!(played.texts.contains("[exit 0: x]prompt 2 of"), "{}", played.texts);
}

#[tokio::test]
async fn dropping_an_answer_cancels_the_prompt_and_the_agent_lives_on() {
    let place = Place::new();
    let pid = pid(&place).await;
    let mut played = place.turn(false);
    played.messages.push(Message::user("<question>\nsay a ;; hang\n</question>".into()));
    let mut events = played.model.stream(ModelRequest::of(played.messages.clone()));
    assert!(matches!(events.next().await, Some(ModelEvent::TextDelta(_))));
    let began = Instant::now();
    drop(events);
    drop(played);
    // Far less on a machine that does nothing else.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    let (played, _) = place.asked("count").await;
    assert!(played.texts.ends_with(&format!("session-{pid}")), "{} is not {pid}", played.texts);
}

#[tokio::test]
async fn one_that_does_not_stop_is_ended() {
    let place = Place::new();
    let pid = pid(&place).await;
    let mut played = place.turn(false);
    played.messages.push(Message::user("<question>\ndeaf\n</question>".into()));
    let mut events = played.model.stream(ModelRequest::of(played.messages.clone()));
    assert!(matches!(events.next().await, Some(ModelEvent::TextDelta(_))));
    drop((events, played));
    gone(&pid).await;
    let (played, end) = place.asked("count").await;
    assert_eq!(end, End::Stop(StopClass::End));
    assert!(played.texts.starts_with("prompt 1 of"), "{}", played.texts);
    assert_eq!(played.notices, ["@fake was started afresh and does not know what you asked it before."]);
}

#[tokio::test]
async fn a_death_is_one_line_with_what_it_said_last() {
    let place = Place::new();
    let (_, end) = place.asked("say a ;; die").await;
    let End::Failed(message, hint) = end else { panic!("{end:?}") };
    assert!(message.starts_with("@fake is gone: it ended with status 7: thread main panicked / "), "{message}");
    assert!(!message.contains(['\u{1b}', '\u{202e}', '\n']), "{message:?}");
    assert_eq!(hint.as_deref(), Some("ask again: it is started afresh"));
    assert_eq!(place.asked("say b").await.1, End::Stop(StopClass::End));
}

#[tokio::test]
async fn floods_and_garbage_end_the_agent() {
    for (word, reason) in
        [("flood", "a message of more than 8 MiB"), ("garbage", "is not the Agent Client Protocol: no JSON")]
    {
        let place = Place::new();
        let pid = pid(&place).await;
        let (_, end) = place.asked(word).await;
        let End::Failed(message, _) = end else { panic!("{end:?}") };
        assert!(message.contains(reason) && !message.contains('\u{1b}'), "{message}");
        gone(&pid).await;
    }
}

#[tokio::test]
async fn one_that_talks_without_end_waits_until_it_is_read() {
    let place = Place::new();
    let pid = pid(&place).await;
    let mut played = place.turn(false);
    played.messages.push(Message::user("<question>\nchatter\n</question>".into()));
    let mut events = played.model.stream(ModelRequest::of(played.messages.clone()));
    let mut bytes = 0;
    while bytes < 4 * 1024 * 1024 {
        match events.next().await {
            Some(ModelEvent::TextDelta(text)) => bytes += text.len(),
            other => panic!("{other:?}"),
        }
    }
    drop((events, played));
    // It does not listen while it talks.
    gone(&pid).await;
}

#[tokio::test]
async fn other_versions_and_missing_keys_are_clear_errors() {
    let failed = async |place: Place| match place.asked("say a").await.1 {
        End::Failed(message, hint) => (message, hint),
        other => panic!("{other:?}"),
    };
    let (message, _) = failed(Place::new().with("FAKE_VERSION", "2")).await;
    assert_eq!(message, "@fake speaks version 2 of the Agent Client Protocol, and cohab speaks version 1");
    let (message, _) = failed(Place::new().with("FAKE_AUTH", "1")).await;
    assert_eq!(message, "@fake is not signed in: Authentication required");
}

#[tokio::test]
async fn a_later_daemon_continues_the_conversation_or_says_that_it_cannot() {
    let mut place = Place::new().with("FAKE_LOAD", "1");
    let (first, _) = place.asked("count").await;
    let name = first.texts.rsplit_once(" of ").expect("a name").1.to_owned();
    drop(first);
    place.pool = pool(place.folder.path());
    let (second, _) = place.asked("count").await;
    assert_eq!(second.texts, format!("prompt 1 of {name}"), "the old text is not shown again");
    drop(second);
    place.variables.clear();
    place.pool = pool(place.folder.path());
    let (third, _) = place.asked("count").await;
    assert_eq!(third.notices, ["@fake was started afresh and does not know what you asked it before."]);
}

#[tokio::test]
async fn a_variable_that_the_user_exports_does_not_end_the_agent() {
    let mut place = Place::new();
    let (first, _) = place.asked("count").await;
    drop(first);
    place.variables.insert("FOO".to_owned(), "bar".to_owned());
    let (second, _) = place.asked("count").await;
    assert!(second.texts.starts_with("prompt 2 of"), "{}", second.texts);
}

#[tokio::test]
async fn a_private_turn_leaves_no_agent_behind() {
    let place = Place::new();
    let mut played = place.turn(true);
    played.ask("count").await;
    let pid = played.texts.rsplit_once("session-").expect("a name").1.to_owned();
    drop(played);
    gone(&pid).await;
    assert!(!place.folder.path().join("home/state/agents").exists());
}
