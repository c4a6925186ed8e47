//! Tests of the live shell's owner: one client, one command.

use cohab_protocol::*;

use crate::support::{Client, Server, attach, result};

async fn status(client: &mut Client) -> DaemonStatus {
    match client.request(SessionAction::Status).await {
        DaemonMessage::SessionReply(SessionReply { answer: SessionAnswer::Status(status), .. }) => status,
        other => panic!("{other:?}"),
    }
}

/// Asks until the turn before is over.
async fn run_ls(client: &mut Client) -> ExecuteCommand {
    loop {
        client.ask("run ls").await;
        let command = client
            .wait(|message| match message {
                DaemonMessage::ExecuteCommand(command) => Some(Some(command.clone())),
                DaemonMessage::Error(error) if error.kind == WireErrorKind::Busy => Some(None),
                _ => None,
            })
            .await;
        if let Some(command) = command {
            return command;
        }
    }
}

#[tokio::test]
async fn of_two_clients_the_newer_one_has_the_session_and_the_older_one_is_told() {
    let server = Server::start().await;
    let mut old = server.client("shell:1").await;
    let first = run_ls(&mut old).await;
    old.started(first.call_id).await;
    let mut new = server.client("shell:1").await;
    let reason = old
        .wait(|message| match message {
            DaemonMessage::Goodbye { reason } => Some(reason.clone()),
            _ => None,
        })
        .await;
    assert_eq!(reason, "another client took over this session");
    assert_eq!(old.try_next().await, None, "what it says now is not heard");
    let second = run_ls(&mut new).await;
    assert_ne!(second.call_id, first.call_id, "the command of the one shell does not run in the other");
    new.send(result(first.call_id, "forged")).await;
    new.send(result(second.call_id, "files")).await;
    assert_eq!(new.answer_from(0).await.0, "exit Some(0): files");
}

#[tokio::test]
async fn the_status_counts_commands_in_live_shells() {
    let server = Server::start().await;
    let mut observer = server.greeted().await;
    let mut client = server.client("shell:1").await;
    let command = run_ls(&mut client).await;
    let during = status(&mut observer).await;
    assert_eq!((during.commands_running, during.commands_waiting), (1, 0));
    client.send(result(command.call_id, "files")).await;
    client.answer_from(0).await;
    while status(&mut observer).await.commands_running > 0 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_client_that_comes_back_learns_whether_its_turn_goes_on() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("hang").await;
    client.wait(|message| matches!(message, DaemonMessage::AgentStreamChunk(_)).then_some(())).await;
    drop(client);
    for (turn_id, goes_on) in [(turn_id, true), (TurnId::fresh(), false)] {
        let mut client = server.greeted().await;
        let resume = Some(ResumePoint { turn_id, next_seq: 1 });
        match client.attach(Attach { resume, ..attach("shell:1") }).await {
            DaemonMessage::SessionReply(SessionReply { answer: SessionAnswer::Attached(attached), .. }) => {
                assert_eq!(attached.is_resumed, goes_on);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_session_without_a_live_shell_does_not_wait_for_anothers() {
    let server = Server::start().await;
    let mut busy = server.client("shell:1").await;
    let command = run_ls(&mut busy).await;
    busy.started(command.call_id).await;
    let mut other = server.greeted().await;
    other.attach(Attach { live_shell: None, ..attach("cli:1") }).await;
    other.ask("run ls").await;
    // The separate shell of these tests gives that answer.
    assert!(other.answer().await.0.starts_with("no client with a live shell is connected\n"));
}

#[tokio::test]
async fn what_the_user_runs_while_a_turn_works_is_told_with_the_next_result_and_only_once() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let event = |line: &str, cwd: &str| {
        ClientMessage::ShellEvent(ShellEvent {
            line: Some(line.into()),
            exit_code: 2,
            cwd: std::path::Path::new(cwd).into(),
            duration_ms: 5,
            output_tail: "no rule\n".into(),
            output_bytes: 8,
            ran_in: std::path::Path::new(cwd).into(),
            ended_ms: 0,
        })
    };
    client.send(event("before", "/")).await;
    let command = run_ls(&mut client).await;
    client.send(event("make", "/tmp")).await;
    client.send(result(command.call_id, "files")).await;
    let note = "[While you were working the user ran in the same shell:\n`make` (exit 2) in /tmp; end of output:\n    no \
                rule\n]";
    assert_eq!(client.answer_from(0).await.0, format!("exit Some(0): files\n\n{note}"));
    let command = run_ls(&mut client).await;
    client.send(result(command.call_id, "files")).await;
    assert_eq!(client.answer_from(0).await.0, "exit Some(0): files");
}
