use std::time::Duration;

use cohab_protocol::{ClientMessage, CommandEnding, CommandExecutionResult, DaemonMessage, Interrupter};

use super::{super::live::tests as live, *};

const OLD: TurnId = TurnId(Uuid::from_u128(7));

/// The result of a claim for this id with a client that gives this answer.
async fn claim(
    answer: impl FnOnce(CallId) -> Option<ClientMessage>,
) -> (Option<Claimed>, Result<CommandOutcome, RelayError>) {
    let bench = live::Bench::new();
    let id = CallId::fresh();
    let runner = Claims::new(Arc::clone(&bench.session), OLD);
    let request = CommandRequest {
        id: id.0.simple().to_string(),
        text: "make".into(),
        timeout: Duration::from_secs(1),
        wants_env_delta: false,
    };
    let claiming = tokio::spawn(async move {
        let outcome = runner.run(request, &CancellationToken::new()).await;
        (runner.claimed(), outcome)
    });
    let Some(DaemonMessage::ExecuteCommand(asked)) = bench.session.next_outgoing(1).await.map(Arc::unwrap_or_clone)
    else {
        panic!("it asks")
    };
    assert_eq!((asked.call_id, asked.turn_id), (id, OLD), "an old turn's command is never run");
    if let Some(ClientMessage::CommandExecutionResult(result)) = answer(id) {
        assert!(bench.session.command_ended(result));
    }
    claiming.await.expect("it ends")
}

fn result(call_id: CallId, ending: CommandEnding) -> Option<ClientMessage> {
    let result = live::result(ending);
    Some(ClientMessage::CommandExecutionResult(CommandExecutionResult { call_id, ..result }))
}

#[tokio::test(start_paused = true)]
async fn a_result_that_the_client_has_is_claimed() {
    let (claimed, outcome) = claim(|id| result(id, CommandEnding::Exited)).await;
    assert_eq!(claimed, Some(Claimed::Ended));
    assert_eq!(outcome.expect("the result").output, "out");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_ran_it_and_one_that_says_nothing_have_no_result() {
    let refusals = [
        ("turn_over", true),
        ("cancelled", true),
        ("unknown_turn", false),
        ("repeated", false),
        ("nested", false),
        ("not_ready", false),
        ("timed_out", false),
    ];
    for (code, is_certain) in refusals {
        let refused = CommandEnding::Refused { code: code.into(), reason: "no".into() };
        let (claimed, outcome) = claim(|id| result(id, refused)).await;
        assert!(outcome.is_err() && claimed == is_certain.then_some(Claimed::NeverBegun), "{code}");
    }
    let (claimed, outcome) = claim(|_| None).await;
    assert!(matches!(outcome, Err(RelayError::Unknown)) && claimed.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_command_that_was_begun_and_did_not_finish_is_no_command_that_ran() {
    let interrupted = |by| CommandEnding::Interrupted { by };
    for ending in [
        interrupted(Interrupter::User),
        interrupted(Interrupter::Turn),
        interrupted(Interrupter::TimeLimit),
        CommandEnding::Stopped,
        CommandEnding::StillRunning,
    ] {
        let (claimed, outcome) = claim(|id| result(id, ending.clone())).await;
        assert!(claimed == Some(Claimed::NotFinished) && outcome.is_ok(), "{ending:?}");
    }
}
