//! Tests the daemon over its socket.

#[cfg(test)]
mod goals;
#[cfg(test)]
mod requests;
#[cfg(test)]
mod shell;
#[cfg(test)]
mod support;
#[cfg(test)]
mod teams;

use std::{os::unix::fs::PermissionsExt, time::Instant};

use cohab_protocol::*;
use cohabd::lifecycle::{Ended, Lock};
use support::{Client, PATIENCE, Server, attach, hello, paths, result, serve};
use tokio::{io::AsyncWriteExt, time::timeout};
use tokio_util::sync::CancellationToken;

fn resume(session: &str, turn_id: TurnId, next_seq: u64) -> Attach {
    Attach { resume: Some(ResumePoint { turn_id, next_seq }), ..attach(session) }
}

/// Number of running turns.
async fn running(client: &mut Client) -> u32 {
    match client.request(SessionAction::Status).await {
        DaemonMessage::SessionReply(SessionReply { answer: SessionAnswer::Status(status), .. }) => status.turns_running,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_socket_and_its_folder_are_private() {
    let server = Server::start().await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let socket = server.paths().socket();
    assert_eq!((mode(socket.parent().unwrap()), mode(&socket)), (0o700, 0o600));
}

#[tokio::test]
async fn of_fifty_starts_one_wins() {
    let folder = tempfile::tempdir().unwrap();
    let shutdown = CancellationToken::new();
    let mut starts = tokio::task::JoinSet::new();
    for _ in 0..50 {
        starts.spawn(serve(paths(folder.path()), shutdown.clone()));
    }
    for _ in 0..49 {
        assert_eq!(starts.join_next().await.unwrap().unwrap(), Ended::AnotherRuns);
    }
    shutdown.cancel();
    assert_eq!(starts.join_next().await.unwrap().unwrap(), Ended::Served);
    assert!(Lock::take(&paths(folder.path()).lock_file()).unwrap().is_some());
}

#[tokio::test]
async fn another_version_is_told_what_to_do() {
    let server = Server::start().await;
    for other in [Hello { protocol_version: 99, ..hello() }, Hello { schema_hash: 1, ..hello() }] {
        let mut client = Client::over(server.raw().await);
        client.send(ClientMessage::Hello(other)).await;
        let error = client.error().await;
        let hint = error.hint.unwrap_or_default();
        assert!(error.kind == WireErrorKind::Version && hint.contains("`cohab daemon restart`"), "{hint}");
        assert_eq!(client.try_next().await, None);
    }
}

#[tokio::test]
async fn faults_of_a_handshake_end_that_connection_only() {
    let server = Server::start().await;
    let http = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n".to_vec();
    let huge = u32::MAX.to_be_bytes().to_vec();
    let too_long_for_now = [&100_000_u32.to_be_bytes()[..], &[0; 1000]].concat();
    let nonsense = [&8_u32.to_be_bytes()[..], &[0xff; 8]].concat();
    for bytes in [http, huge, too_long_for_now, nonsense] {
        let mut stream = server.raw().await;
        stream.write_all(&bytes).await.unwrap();
        let mut client = Client::over(stream);
        assert_eq!(client.error().await.kind, WireErrorKind::Protocol);
        assert_eq!(client.try_next().await, None);
    }
    let mut hasty = Client::over(server.raw().await);
    hasty.send(ClientMessage::Shutdown).await;
    assert_eq!(hasty.error().await.kind, WireErrorKind::Protocol);
    let mut silent = Client::over(server.raw().await);
    assert_eq!(silent.error().await.message, "no greeting arrived in time");
    server.client("shell:1").await;
}

#[tokio::test]
async fn an_oversize_frame_after_the_handshake_ends_the_connection() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let length = u32::try_from(MAX_FRAME_BYTES + 1).unwrap();
    client.0.get_mut().write_all(&length.to_be_bytes()).await.unwrap();
    assert_eq!(client.error().await.kind, WireErrorKind::Protocol);
    assert_eq!(client.try_next().await, None);
}

#[tokio::test]
async fn a_question_is_answered_and_a_second_one_meanwhile_is_refused() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("say hello").await;
    assert_eq!(client.answer().await, ("hello".into(), TurnEndReason::Answered));
    let hanging = client.ask("hang").await;
    client.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    client.ask("say no").await;
    assert_eq!(client.error().await.kind, WireErrorKind::Busy);
    client.send(ClientMessage::CancelTurn { turn_id: hanging }).await;
    let (_, ended) = client.answer_from(1).await;
    assert_eq!((ended.turn_id, ended.reason), (hanging, TurnEndReason::Cancelled));
}

#[tokio::test]
async fn a_question_without_a_session_and_wrong_settings_are_errors() {
    let server = Server::start().await;
    let mut client = server.greeted().await;
    let variable = EnvSetting { name: "COHAB_PROVIDER".into(), value: "broken".into() };
    let answer = client.attach(Attach { settings: vec![variable], ..attach("shell:1") }).await;
    assert!(matches!(answer, DaemonMessage::Error(error) if error.kind == WireErrorKind::Settings));
    client.ask("say hello").await;
    assert_eq!(client.error().await.kind, WireErrorKind::Protocol);
}

#[tokio::test]
async fn a_cancelled_turn_ends_at_once_and_keeps_what_was_shown() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("hang").await;
    client.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    let started = Instant::now();
    client.send(ClientMessage::CancelTurn { turn_id }).await;
    let (_, ended) = client.answer_from(1).await;
    assert_eq!(ended.reason, TurnEndReason::Cancelled);
    assert!(started.elapsed().as_millis() < 200, "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_panic_ends_its_turn_only() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("panic").await;
    let error = client.error().await;
    assert_eq!((error.kind, error.message.as_str()), (WireErrorKind::Internal, "internal error"));
    assert!(error.hint.unwrap().contains("state/log"));
    client.answer_from(0).await;
    client.ask("say still here").await;
    assert_eq!(client.answer().await, ("still here".into(), TurnEndReason::Answered));
}

#[tokio::test]
async fn an_allowed_command_runs_in_the_live_shell_without_a_question() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("run ls").await;
    let command = client.execute().await;
    assert_eq!((command.command.as_str(), command.timeout_ms, command.approval_id), ("ls", 60_000, None));
    client.started(command.call_id).await;
    client.send(result(command.call_id, "files")).await;
    client.send(result(command.call_id, "a repeat")).await;
    assert_eq!(client.answer().await, ("exit Some(0): files".into(), TurnEndReason::Answered));
}

#[tokio::test]
async fn a_command_that_was_refused_is_told_to_the_model() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("run ls").await;
    let call_id = client.execute().await.call_id;
    let ClientMessage::CommandExecutionResult(mut refused) = result(call_id, "") else { unreachable!() };
    refused.ending = CommandEnding::Refused { code: "shell_busy".into(), reason: "vim runs".into() };
    client.send(ClientMessage::CommandExecutionResult(refused)).await;
    let told = client.answer().await.0;
    assert!(told.starts_with("vim runs\n\n[1 of 1 calls failed"), "{told}");
}

#[tokio::test]
async fn consent_travels_with_the_command_and_its_edit() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    for (decision, expected) in [
        (ApprovalDecision::Once, "make"),
        (ApprovalDecision::Edited { command: "make -n".into() }, "make -n"),
        (ApprovalDecision::Session, "make"),
    ] {
        client.ask("run make").await;
        let question = client.question().await;
        let cwd = std::path::Path::new("/home/ann").into();
        let subject = ApprovalSubject::Command { command: "make".into(), cwd, mode: RunMode::Live };
        assert_eq!((question.subject, question.reasons), (subject, vec!["new".to_owned()]));
        client.reply(question.approval_id, decision).await;
        let command = client.execute().await;
        assert_eq!((command.command.as_str(), command.approval_id), (expected, Some(question.approval_id)));
        client.send(result(command.call_id, "ok")).await;
        client.answer().await;
    }
    client.ask("run make").await;
    let command = client.execute().await;
    assert!(command.approval_id.is_some());
    client.send(result(command.call_id, "ok")).await;
    client.answer().await;
}

#[tokio::test]
async fn a_refused_command_never_reaches_the_shell() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("run make").await;
    let question = client.question().await;
    client.reply(question.approval_id, ApprovalDecision::Refused { note: "too slow".into() }).await;
    assert_eq!(client.answer().await, ("the user refused: too slow".into(), TurnEndReason::Answered));
    client.ask("run make").await;
    let question = client.question().await;
    client.reply(question.approval_id, ApprovalDecision::CancelTurn).await;
    assert_eq!(client.answer().await.1, TurnEndReason::Cancelled);
}

#[tokio::test]
async fn a_client_without_a_person_or_in_read_only_mode_is_not_asked() {
    let server = Server::start().await;
    for (session, wish) in [
        ("cli:1", Attach { can_approve: false, ..attach("cli:1") }),
        ("cli:2", Attach { approval: ApprovalMode::ReadOnly, ..attach("cli:2") }),
    ] {
        let mut client = server.greeted().await;
        client.attach(wish).await;
        client.ask("run make").await;
        let (text, reason) = client.answer().await;
        assert_eq!(reason, TurnEndReason::Answered, "{session}");
        assert!(text.contains("no client is attached") || text.contains("read-only"), "{text}");
    }
}

#[tokio::test]
async fn a_server_on_this_machine_is_asked_for_once() {
    let server = Server::start().await;
    let mut client = server.greeted().await;
    let variable = EnvSetting { name: "COHAB_PROVIDER".into(), value: "found".into() };
    client.attach(Attach { settings: vec![variable], ..attach("shell:1") }).await;
    client.ask("say one").await;
    let question = client.question().await;
    assert!(matches!(question.subject, ApprovalSubject::LocalServer { .. }));
    assert!(question.reasons.iter().any(|reason| reason.contains("tools")), "{:?}", question.reasons);
    client.reply(question.approval_id, ApprovalDecision::Once).await;
    assert_eq!(client.answer().await.0, "one");
    client.ask("say two").await;
    assert_eq!(client.answer().await.0, "two");
}

#[tokio::test]
async fn cancelling_while_a_command_runs_interrupts_it() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("run ls").await;
    let call_id = client.execute().await.call_id;
    client.started(call_id).await;
    client.send(ClientMessage::CancelTurn { turn_id }).await;
    let interrupted = client
        .wait(|message| match message {
            DaemonMessage::InterruptCommand { call_id, .. } => Some(*call_id),
            _ => None,
        })
        .await;
    assert_eq!(interrupted, call_id);
    assert_eq!(client.answer().await.1, TurnEndReason::Cancelled);
}

#[tokio::test]
async fn a_client_that_comes_back_gets_the_rest_and_its_command_runs_once() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("run ls").await;
    let call_id = client.execute().await.call_id;
    client.started(call_id).await;
    // An answer to a request proves that `started` was received.
    client.request(SessionAction::Status).await;
    drop(client);
    let mut client = server.greeted().await;
    client.attach(resume("shell:1", turn_id, 0)).await;
    client.send(result(call_id, "files")).await;
    let mut commands = 0;
    let ended = loop {
        match client.next().await {
            DaemonMessage::ExecuteCommand(_) => commands += 1,
            DaemonMessage::TurnEnded(ended) => break ended,
            _ => {}
        }
    };
    assert_eq!((commands, ended.reason, ended.chunks), (0, TurnEndReason::Answered, 1));
    drop(client);
    let mut client = server.greeted().await;
    client.attach(resume("shell:1", turn_id, 0)).await;
    assert_eq!(client.answer_from(0).await.0, "exit Some(0): files");
}

#[tokio::test]
async fn a_client_that_stays_away_leaves_the_fate_of_its_command_unknown() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("run ls").await;
    let call_id = client.execute().await.call_id;
    client.started(call_id).await;
    drop(client);
    let mut observer = server.greeted().await;
    while running(&mut observer).await > 0 {
        tokio::task::yield_now().await;
    }
    observer.attach(resume("shell:1", turn_id, 0)).await;
    assert!(observer.answer_from(0).await.0.contains("whether it finished is unknown"));
}

#[tokio::test]
async fn a_stalled_reader_stops_its_own_turn_only_and_gets_everything_later() {
    let server = Server::start().await;
    let mut stalled = server.client("shell:1").await;
    stalled.ask("flood").await;
    let mut other = server.client("shell:2").await;
    other.ask("say quick").await;
    assert_eq!(other.answer().await.0, "quick");
    let (text, ended) = stalled.answer_from(0).await;
    assert_eq!((text.len(), ended.reason), (3_000_000, TurnEndReason::Answered));
    assert!(ended.chunks < 3000, "{} chunks: nothing was joined", ended.chunks);
}

#[tokio::test]
async fn a_stalled_reader_can_still_cancel() {
    let server = Server::start().await;
    let mut stalled = server.client("shell:1").await;
    let turn_id = stalled.ask("flood").await;
    stalled.wait(|message| matches!(message, DaemonMessage::TurnStarted { .. }).then_some(())).await;
    let mut observer = server.greeted().await;
    assert_eq!(running(&mut observer).await, 1);
    stalled.send(ClientMessage::CancelTurn { turn_id }).await;
    while running(&mut observer).await > 0 {
        tokio::task::yield_now().await;
    }
    let (text, ended) = stalled.answer_from(0).await;
    assert_eq!(ended.reason, TurnEndReason::Cancelled);
    assert!(text.len() < 3_000_000, "{} bytes: the turn did not wait for its reader", text.len());
}

#[tokio::test]
async fn another_client_of_the_session_takes_over() {
    let server = Server::start().await;
    let mut old = server.client("shell:1").await;
    let mut new = server.client("shell:1").await;
    assert!(matches!(old.next().await, DaemonMessage::Goodbye { .. }));
    assert_eq!(old.try_next().await, None);
    new.ask("say mine").await;
    assert_eq!(new.answer().await.0, "mine");
}

#[tokio::test]
async fn a_shutdown_leaves_turns_as_they_are_says_goodbye_and_removes_the_socket() {
    let server = Server::start().await;
    let mut hanging = server.client("shell:1").await;
    hanging.ask("hang").await;
    hanging.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    let mut running = server.client("shell:2").await;
    running.ask("run ls -l").await;
    running.wait(|message| matches!(message, DaemonMessage::ExecuteCommand(_)).then_some(())).await;
    let mut single = server.client("cli:1").await;
    single.ask("hang").await;
    single.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    let mut idle = server.client("shell:3").await;
    let mut other = server.greeted().await;
    other.send(ClientMessage::Shutdown).await;
    for client in [&mut hanging, &mut running] {
        assert_eq!(client.try_next().await, None, "neither an end of the turn nor of the command");
    }
    for client in [&mut single, &mut idle] {
        assert!(matches!(client.next().await, DaemonMessage::Goodbye { .. }));
        assert_eq!(client.try_next().await, None);
    }
    let socket = server.paths().socket();
    assert_eq!(timeout(PATIENCE, server.task).await.unwrap().unwrap(), Ended::Served);
    assert!(!socket.exists());
}
