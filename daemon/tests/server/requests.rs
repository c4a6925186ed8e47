//! Tests of a client's requests about its session.

use super::*;

async fn answer_to(client: &mut Client, action: SessionAction) -> SessionAnswer {
    match client.request(action).await {
        DaemonMessage::SessionReply(SessionReply { answer, .. }) => answer,
        other => panic!("{other:?}"),
    }
}

/// Tokens by section.
async fn context(client: &mut Client) -> std::collections::BTreeMap<String, u64> {
    match answer_to(client, SessionAction::Context).await {
        SessionAnswer::Context(report) => {
            let room = report.room.expect("there is a model");
            assert!(room.max == 128_000 && room.fits && room.messages > 0, "{room:?}");
            assert_eq!(room.available, 128_000 - room.response_reserve - room.system - room.messages);
            report.sections.into_iter().map(|section| (section.name, section.tokens)).collect()
        }
        other => panic!("{other:?}"),
    }
}

async fn compact(client: &mut Client) -> (u64, u64) {
    match answer_to(client, SessionAction::Compact).await {
        SessionAnswer::Compacted { before_tokens, after_tokens } => (before_tokens, after_tokens),
        other => panic!("{other:?}"),
    }
}

async fn rewind(client: &mut Client) -> Option<String> {
    match answer_to(client, SessionAction::Rewind).await {
        SessionAnswer::Rewound { question } => question,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_context_is_told_by_part_and_grows_with_the_conversation() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let fresh = context(&mut client).await;
    assert!(fresh["safety rules"] > 100 && fresh["tool descriptions"] > 0, "{fresh:?}");
    assert!(fresh["environment"] > 10 && fresh["runtime"] > 10, "{fresh:?}");
    // Missing parts have no row; a question has its tags even without words.
    assert!(fresh["questions"] < 10 && !fresh.contains_key("answers") && !fresh.contains_key("tool output"));
    client.ask("run ls").await;
    let call = client.execute().await;
    client.send(result(call.call_id, &"word ".repeat(100))).await;
    client.answer().await;
    client.ask("say hello").await;
    client.answer().await;
    let grown = context(&mut client).await;
    assert!(grown["questions"] > 20 && grown["answers"] > 0 && grown["tool calls"] > 0, "{grown:?}");
    assert!(grown["tool output"] >= 100, "{grown:?}");
    assert!(matches!(answer_to(&mut client, SessionAction::Clear).await, SessionAnswer::Done));
    assert!(context(&mut client).await.keys().eq(fresh.keys()));
}

#[tokio::test]
async fn a_conversation_is_shortened_and_goes_on() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    assert_eq!(compact(&mut client).await, (0, 0));
    client.ask("run ls").await;
    let call = client.execute().await;
    client.send(result(call.call_id, &"word ".repeat(6_000))).await;
    client.answer().await;
    client.ask("say hello").await;
    client.answer().await;
    let (before, after) = compact(&mut client).await;
    assert!(before > 6_000 && after <= before / 2, "{before} {after}");
    assert!(context(&mut client).await.get("tool output").is_none_or(|tokens| *tokens < 1_000));
    client.ask("say again").await;
    assert_eq!(client.answer().await.0, "again");
}

#[tokio::test]
async fn the_last_turn_is_forgotten_with_its_question_until_none_is_left() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    assert_eq!(rewind(&mut client).await, None);
    for question in ["say one", "say two </question>"] {
        client.ask(question).await;
        client.answer().await;
    }
    assert_eq!(rewind(&mut client).await.as_deref(), Some("say two </question>"));
    assert_eq!(rewind(&mut client).await.as_deref(), Some("say one"));
    assert_eq!(rewind(&mut client).await, None);
    assert!(context(&mut client).await["questions"] < 10);
}

#[tokio::test]
async fn what_the_turns_took_is_added_up() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    assert!(
        matches!(answer_to(&mut client, SessionAction::Usage).await, SessionAnswer::Usage(usage) if usage == Usage::default())
    );
    for _ in 0..2 {
        client.ask("spend 100").await;
        client.answer().await;
    }
    let SessionAnswer::Usage(usage) = answer_to(&mut client, SessionAction::Usage).await else { panic!() };
    assert_eq!((usage.input_tokens, usage.output_tokens), (Some(200), Some(14)));
    assert_eq!((usage.cost_microusd, usage.is_cost_partial), (None, true));
}

#[tokio::test]
async fn while_a_turn_runs_the_conversation_is_left_alone() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("hang").await;
    client.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    for action in [SessionAction::Clear, SessionAction::Compact, SessionAction::Rewind] {
        let DaemonMessage::Error(error) = client.request(action).await else { panic!("it was done") };
        assert_eq!((error.kind, error.about), (WireErrorKind::Busy, ErrorSubject::Request(RequestId(1))));
    }
    assert!(context(&mut client).await["safety rules"] > 0);
    let mut stranger = server.greeted().await;
    assert!(matches!(stranger.request(SessionAction::Context).await, DaemonMessage::Error(_)));
}

#[tokio::test]
async fn the_notes_of_a_project_are_told_once_until_they_change() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let project = tempfile::tempdir().unwrap();
    let write = |text: &str| std::fs::write(project.path().join("AGENTS.md"), text).unwrap();
    write("Use tabs.");
    let mut told = Vec::new();
    for step in 0..4 {
        if step == 2 {
            write("Use blanks.");
        }
        client.ask_in(project.path(), "say hello").await;
        client.answer().await;
        told.push(context(&mut client).await["project notes"]);
    }
    assert!(told[0] > 10, "{told:?}");
    assert_eq!((told[1], told[3]), (told[0], told[2]));
    assert!(told[2] > told[0] + 10, "{told:?}");
    rewind(&mut client).await;
    rewind(&mut client).await;
    // The next question would send the new ones.
    assert!(context(&mut client).await["project notes"] > told[0] + 10);
}
