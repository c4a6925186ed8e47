//! Tests of subagents, goals and background tasks.

use support::result_with;

use super::*;

/// What the client is told of subagents until the turn ends, and the answer.
async fn with_subagents(client: &mut Client) -> (Vec<SubagentProgress>, String, TurnEnded) {
    let (mut news, mut text) = (Vec::new(), String::new());
    loop {
        match client.next().await {
            DaemonMessage::SubagentProgress(progress) => news.push(progress),
            DaemonMessage::AgentStreamChunk(AgentStreamChunk { delta: ChunkDelta::Text(more), .. }) => {
                text.push_str(&more);
            }
            DaemonMessage::TurnEnded(ended) => return (news, text, ended),
            _ => {}
        }
    }
}

async fn answer_to(client: &mut Client, action: SessionAction) -> SessionAnswer {
    match client.request(action).await {
        DaemonMessage::SessionReply(SessionReply { answer, .. }) => answer,
        other => panic!("{other:?}"),
    }
}

async fn start(client: &mut Client, text: &str) -> u32 {
    start_often(client, text, 1).await
}

async fn start_often(client: &mut Client, text: &str, attempts: u32) -> u32 {
    let task = StartTask { session: None, text: text.into(), cwd: std::path::Path::new("/home/ann").into(), attempts };
    match answer_to(client, SessionAction::StartTask(task)).await {
        SessionAnswer::TaskStarted { id } => id,
        other => panic!("{other:?}"),
    }
}

async fn ended(client: &mut Client) -> TaskEnded {
    client
        .wait(|message| match message {
            DaemonMessage::TaskEnded(ended) => Some(ended.clone()),
            _ => None,
        })
        .await
}

async fn details(client: &mut Client, id: u32) -> TaskDetails {
    match answer_to(client, SessionAction::Task { id }).await {
        SessionAnswer::Task(details) => *details,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn subagents_work_side_by_side_and_their_reports_come_back() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("delegate 3 say it is in a.rs").await;
    let (news, text, ended) = with_subagents(&mut client).await;
    assert_eq!(ended.reason, TurnEndReason::Answered);
    assert!(text.starts_with("[explore ") && text.contains(": done]\nit is in a.rs"), "{text}");
    let over = |progress: &&SubagentProgress| progress.state == SubagentState::Ended(StepOutcome::Done);
    let mut numbers: Vec<u32> = news.iter().filter(over).map(|progress| progress.number).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, [1, 2, 3]);
    assert!(news.iter().all(|progress| progress.kind == "explore" && progress.label.starts_with("part ")));
}

#[tokio::test]
async fn the_turn_is_charged_for_its_subagents() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("delegate 2 spend 1000").await;
    let (_, _, ended) = with_subagents(&mut client).await;
    assert_eq!((ended.usage.input_tokens, ended.usage.output_tokens), (Some(2_000), Some(14)));
}

#[tokio::test]
async fn a_subagent_runs_nothing_in_the_live_shell_and_asks_nobody() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("delegate 1 run rm -r x").await;
    loop {
        match client.next().await {
            DaemonMessage::ExecuteCommand(_) | DaemonMessage::ApprovalRequest(_) => panic!("it reached the client"),
            DaemonMessage::TurnEnded(ended) => {
                assert_eq!(ended.reason, TurnEndReason::Answered);
                return;
            }
            _ => {}
        }
    }
}

#[tokio::test]
async fn cancelling_a_turn_stops_its_subagents() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let turn_id = client.ask("delegate 8 hang").await;
    let mut begun = std::collections::BTreeSet::new();
    while begun.len() < 8 {
        if let DaemonMessage::SubagentProgress(progress) = client.next().await {
            begun.insert(progress.number);
        }
    }
    let since = Instant::now();
    client.send(ClientMessage::CancelTurn { turn_id }).await;
    assert_eq!(with_subagents(&mut client).await.2.reason, TurnEndReason::Cancelled);
    assert!(since.elapsed() < PATIENCE);
    client.ask("say still here").await;
    assert_eq!(client.answer().await.0, "still here");
}

#[tokio::test]
async fn a_goal_is_reached_when_its_check_succeeds_and_not_before() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("/goal say first try :: ls tests").await;
    for status in [1, 2, 0] {
        let call = client.execute().await;
        assert_eq!(call.command, "ls tests");
        client.send(result_with(call.call_id, "output", status)).await;
    }
    let (_, text, ended) = with_subagents(&mut client).await;
    assert_eq!(ended.reason, TurnEndReason::Answered);
    assert!(text.ends_with("The goal is reached: `ls tests` succeeds."), "{text}");
}

#[tokio::test]
async fn a_goal_that_is_not_reached_ends_at_its_limit() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("/goal say x :: ls").await;
    let mut checks = 0;
    let reason = loop {
        match client.next().await {
            DaemonMessage::ExecuteCommand(call) => {
                checks += 1;
                client.send(result_with(call.call_id, "", 1)).await;
            }
            DaemonMessage::TurnEnded(ended) => break ended.reason,
            _ => {}
        }
    };
    // The model may be asked five times in these settings, once more for a summary.
    assert!(checks > 3 && reason == TurnEndReason::StepLimit, "{checks} {reason:?}");
}

#[tokio::test]
async fn a_check_that_is_refused_is_no_success() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("/goal say x :: make deploy").await;
    let question = client.question().await;
    client.reply(question.approval_id, ApprovalDecision::Refused { note: String::new() }).await;
    let error = client.error().await;
    assert!(error.message.contains("nothing shows whether the goal is reached"), "{}", error.message);
}

#[tokio::test]
async fn a_debate_is_agreed_to_before_it_costs_much_and_ends_when_the_debaters_agree() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("/debate tabs or spaces").await;
    let question = client.question().await;
    let ApprovalSubject::GoOn { what } = question.subject else { panic!("{:?}", question.subject) };
    assert!(what.starts_with("A debate asks obedient up to 9 times, about "), "{what}");
    client.reply(question.approval_id, ApprovalDecision::Once).await;
    let (news, text, ended) = with_subagents(&mut client).await;
    assert!(
        text.starts_with("**tabs**\n\nbecause of tabs") && text.contains("(100 % of 3 debaters after 2 rounds.)"),
        "{text}"
    );
    assert_eq!((ended.reason, ended.usage.input_tokens), (TurnEndReason::Answered, Some(700)));
    assert!(news.iter().any(|one| one.number == 2 && one.label == "spaces"), "{news:?}");
}

#[tokio::test]
async fn there_is_no_debate_where_one_model_is_sure_or_the_user_refuses() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    client.ask("/debate surely tabs").await;
    let (news, text, _) = with_subagents(&mut client).await;
    assert!(news.is_empty() && text.ends_with("(One model was sure; there was no debate.)"), "{text}");
    client.ask("/debate tabs or spaces").await;
    let question = client.question().await;
    client.reply(question.approval_id, ApprovalDecision::Refused { note: String::new() }).await;
    let (news, text, _) = with_subagents(&mut client).await;
    assert!(news.is_empty() && text.ends_with("(One answer, without a debate.)"), "{text}");
}

#[tokio::test]
async fn a_task_is_worked_on_while_questions_are_answered() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let id = start(&mut client, "hang").await;
    client.ask("say meanwhile").await;
    assert_eq!(client.answer().await.0, "meanwhile");
    let SessionAnswer::Tasks(tasks) = answer_to(&mut client, SessionAction::Tasks).await else { panic!("tasks") };
    assert_eq!((tasks.len(), tasks[0].id, tasks[0].question.as_str()), (1, id, "hang"));
    assert!(matches!(answer_to(&mut client, SessionAction::CancelTask { id }).await, SessionAnswer::Done));
    assert_eq!(ended(&mut client).await.end, TaskEnd::Cancelled);
    let again = start(&mut client, "say it is done").await;
    let over = ended(&mut client).await;
    assert_eq!((over.id, over.end, over.has_changes), (again, TaskEnd::Done, false));
    let shown = details(&mut client, again).await;
    assert_eq!((shown.answer.as_str(), shown.question.as_str()), ("it is done", "say it is done"));
    assert!(matches!(client.request(SessionAction::Task { id: 99 }).await, DaemonMessage::Error(_)));
}

#[tokio::test]
async fn the_best_of_several_attempts_is_the_answer() {
    let server = Server::start().await;
    let mut client = server.client("shell:1").await;
    let id = start_often(&mut client, "say mended", 3).await;
    assert_eq!(ended(&mut client).await.end, TaskEnd::Done);
    // The judge repeats its question, which names no attempt.
    assert_eq!(details(&mut client, id).await.answer, "mended\n\n(attempt 1 of 3; they could not be compared)");
}

#[tokio::test]
async fn tasks_outlive_the_daemon_and_one_that_worked_is_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let paths = paths(folder.path());
    let run = |shutdown: &CancellationToken| tokio::spawn(serve(paths.clone(), shutdown.clone()));
    let client = async |session: &str| {
        let stream = loop {
            if let Ok(stream) = tokio::net::UnixStream::connect(paths.socket()).await {
                break stream;
            }
            tokio::task::yield_now().await;
        };
        let mut client = Client::over(stream);
        client.send(ClientMessage::Hello(hello())).await;
        assert!(matches!(client.next().await, DaemonMessage::Welcome(_)));
        client.0.codec_mut().handshake_done();
        client.attach(attach(session)).await;
        client
    };
    let shutdown = CancellationToken::new();
    let first = run(&shutdown);
    let mut user = client("shell:1").await;
    let done = start(&mut user, "say yes").await;
    ended(&mut user).await;
    let lost = start(&mut user, "hang").await;
    shutdown.cancel();
    first.await.unwrap();
    let shutdown = CancellationToken::new();
    let second = run(&shutdown);
    // The shell that asked is gone.
    let mut user = client("cli:2").await;
    assert_eq!(details(&mut user, done).await.answer, "yes");
    assert_eq!(details(&mut user, lost).await.summary.status, TaskStatus::Ended(TaskEnd::Interrupted));
    let again = match answer_to(&mut user, SessionAction::RetryTask { id: done }).await {
        SessionAnswer::TaskStarted { id } => id,
        other => panic!("{other:?}"),
    };
    assert_eq!((again, ended(&mut user).await.end), (3, TaskEnd::Done));
    shutdown.cancel();
    second.await.unwrap();
}
