use super::*;

pub(in crate::shell) fn result(ending: wire::CommandEnding) -> wire::CommandExecutionResult {
    wire::CommandExecutionResult {
        call_id: CallId::fresh(),
        ending,
        exit_code: Some(3),
        output: "out".into(),
        total_bytes: 3,
        truncated_bytes: 0,
        cwd: PathBuf::from("/tmp").into(),
        env_delta: wire::EnvDelta {
            set: vec![
                wire::EnvChange { name: "KEY".into(), value: None },
                wire::EnvChange { name: "A".into(), value: Some("1".into()) },
            ],
            unset: vec!["B".into()],
        },
        duration_ms: 1500,
        mode: wire::RunMode::Live,
        state_after: wire::StateAfter::Prompt,
        first_run: Some("it could only read".into()),
    }
}

#[test]
fn a_result_becomes_an_outcome_with_secrets_masked() {
    let outcome = outcome(result(wire::CommandEnding::Exited), true).unwrap();
    assert_eq!(
        (outcome.ending, outcome.status, outcome.duration),
        (Ending::Exited, Some(3), Duration::from_millis(1500))
    );
    let change = |name: &str, value: Option<&str>| EnvChange { name: name.into(), value: value.map(Into::into) };
    assert_eq!(outcome.env_delta, [change("A", Some("1")), change("B", None), change("KEY", Some("<masked>"))]);
}

#[test]
fn the_environment_is_left_out_unless_it_was_asked_for() {
    assert!(outcome(result(wire::CommandEnding::Exited), false).unwrap().env_delta.is_empty());
}

#[test]
fn a_refusal_keeps_its_code_and_its_reason() {
    for (code, expected) in [("shell_busy", "shell_busy"), ("nested", "nested"), ("something new", "refused")] {
        let refused = wire::CommandEnding::Refused { code: code.into(), reason: "vim runs".into() };
        let error = outcome(result(refused), true).unwrap_err();
        assert_eq!((error.code(), error.to_string()), (expected, "vim runs".into()));
    }
}

/// A command on behalf of a caller, and its cancellation.
pub(in crate::shell) type Running = (tokio::task::JoinHandle<Result<CommandOutcome, RelayError>>, CancellationToken);

/// A session whose client is this test.
pub(in crate::shell) struct Bench {
    pub(in crate::shell) session: Arc<Session>,
    connection: u64,
}

impl Bench {
    pub(in crate::shell) fn new() -> Self {
        let bench = Self { session: Arc::new(Session::new(wire::SessionKey("shell:1".into()))), connection: 1 };
        bench.attach(1, None);
        bench
    }

    pub(in crate::shell) fn attach(&self, connection: u64, resume: Option<wire::ResumePoint>) -> bool {
        let attach = wire::Attach {
            session: self.session.key().clone(),
            live_shell: Some("bash".into()),
            approval: wire::ApprovalMode::All,
            can_approve: true,
            has_lock: false,
            settings: Vec::new(),
            environment: Vec::new(),
            resume,
        };
        self.session.attach(attach, wire::ApprovalMode::All, connection, CancellationToken::new())
    }

    /// Begins to run a command; the token cancels it, aborting the task drops it.
    pub(in crate::shell) fn run(&self, id: &str, text: &str) -> Running {
        let runner = LiveRunner::new(Arc::clone(&self.session), TurnId::fresh());
        let timeout = Duration::from_secs(60);
        let request = CommandRequest { id: id.into(), text: text.into(), timeout, wants_env_delta: true };
        let cancel = CancellationToken::new();
        let cancelled = cancel.clone();
        (tokio::spawn(async move { runner.run(request, &cancelled).await }), cancel)
    }

    async fn next(&self) -> DaemonMessage {
        self.session.next_outgoing(self.connection).await.map(Arc::unwrap_or_clone).unwrap()
    }

    async fn executed(&self) -> ExecuteCommand {
        match self.next().await {
            DaemonMessage::ExecuteCommand(command) => command,
            other => panic!("{other:?}"),
        }
    }

    fn end(&self, call_id: CallId, output: &str) {
        let result = result(wire::CommandEnding::Exited);
        self.session.command_ended(wire::CommandExecutionResult { call_id, output: output.into(), ..result });
    }

    /// Lets every task go on until nothing is left to do now.
    pub(in crate::shell) async fn settle(&self) {
        for _ in 0..50 {
            tokio::task::yield_now().await;
        }
    }
}

pub(in crate::shell) fn id(number: u128) -> String {
    Uuid::from_u128(number).simple().to_string()
}

pub(in crate::shell) fn interrupt(message: &DaemonMessage) -> bool {
    matches!(message, DaemonMessage::InterruptCommand { .. })
}

fn interrupted_by(message: &DaemonMessage) -> Option<wire::Interrupter> {
    match message {
        DaemonMessage::InterruptCommand { by, .. } => Some(*by),
        _ => None,
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_command_waits_visibly_until_the_first_has_ended() {
    let bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make all\necho done");
    let call = bench.executed().await.call_id;
    let (second, _) = bench.run(&id(2), "ls");
    let DaemonMessage::Notice(notice) = bench.next().await else { panic!("no notice") };
    assert_eq!(notice.text, "Waiting for the shell: `make all…` is using it.");
    assert_eq!(bench.session.lease().counts(), (1, 1));
    bench.session.command_started(call);
    bench.end(call, "made");
    let next = bench.executed().await;
    assert_eq!((next.command.as_str(), next.call_id.to_string()), ("ls", id(2)));
    bench.end(next.call_id, "files");
    assert_eq!(first.await.unwrap().unwrap().output, "made");
    assert_eq!(second.await.unwrap().unwrap().output, "files");
    bench.settle().await;
    assert_eq!(bench.session.lease().counts(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn the_timer_starts_with_the_command_and_stands_still_while_the_user_is_waited_for() {
    let bench = Bench::new();
    let (running, _) = bench.run(&id(1), "make");
    let call = bench.executed().await.call_id;
    // As long as it may wait for the prompt.
    tokio::time::advance(QUEUE_WAIT - Duration::from_secs(1)).await;
    bench.session.command_started(call);
    bench.settle().await;
    tokio::time::advance(Duration::from_secs(69)).await;
    bench.settle().await;
    assert!(!running.is_finished(), "60 s of its own and the margin");
    bench.session.command_waits(call);
    bench.settle().await;
    tokio::time::advance(Duration::from_secs(3600)).await;
    bench.settle().await;
    assert!(!running.is_finished(), "the user types a password");
    bench.end(call, "made");
    assert_eq!(running.await.unwrap().unwrap().output, "made");

    let (late, _) = bench.run(&id(2), "make");
    let call = bench.executed().await.call_id;
    bench.session.command_started(call);
    let error = late.await.unwrap().unwrap_err();
    assert_eq!(error, RelayError::TimedOut { reason: "it did not report on the command".into() });
    assert_eq!(interrupted_by(&bench.next().await), Some(wire::Interrupter::TimeLimit));
}

#[tokio::test(start_paused = true)]
async fn a_client_that_never_starts_a_command_is_told_to_forget_it() {
    let bench = Bench::new();
    let (running, _) = bench.run(&id(1), "make");
    bench.executed().await;
    let error = running.await.unwrap().unwrap_err();
    assert_eq!(error, RelayError::TimedOut { reason: "it did not start the command".into() });
    assert!(interrupt(&bench.next().await));
}

#[tokio::test(start_paused = true)]
async fn a_dropped_or_cancelled_holder_gives_the_shell_back_when_its_command_has_ended() {
    for is_dropped in [true, false] {
        let bench = Bench::new();
        let (first, cancel) = bench.run(&id(1), "make");
        let call = bench.executed().await.call_id;
        bench.session.command_started(call);
        let (second, _) = bench.run(&id(2), "ls");
        assert!(matches!(bench.next().await, DaemonMessage::Notice(_)));
        if is_dropped {
            first.abort();
        } else {
            cancel.cancel();
        }
        assert_eq!(interrupted_by(&bench.next().await), Some(wire::Interrupter::Turn));
        bench.settle().await;
        assert!(bench.session.next_waiting(1).is_none(), "the shell is not free yet");
        bench.end(call, "half");
        let next = bench.executed().await;
        assert_eq!(next.command, "ls");
        bench.end(next.call_id, "files");
        assert_eq!(second.await.unwrap().unwrap().output, "files");
    }
}

#[tokio::test(start_paused = true)]
async fn a_command_that_was_dropped_before_it_was_sent_never_goes_out() {
    let bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make");
    let call = bench.executed().await.call_id;
    let (second, cancel) = bench.run(&id(2), "ls");
    assert!(matches!(bench.next().await, DaemonMessage::Notice(_)));
    second.abort();
    cancel.cancel();
    bench.settle().await;
    bench.end(call, "made");
    first.await.unwrap().unwrap();
    bench.settle().await;
    assert!(bench.session.next_waiting(1).is_none());
    assert_eq!(bench.session.lease().counts(), (0, 0));
    // Sent, but the client has not taken it: the same.
    let (third, _) = bench.run(&id(3), "ls");
    bench.settle().await;
    third.abort();
    bench.settle().await;
    assert!(bench.session.next_waiting(1).is_none());
    assert_eq!(bench.session.lease().counts(), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_interrupted_command_that_does_not_end_keeps_the_shell_for_seconds_only() {
    let bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make");
    bench.executed().await;
    first.abort();
    assert!(interrupt(&bench.next().await));
    let begun = Instant::now();
    let (second, _) = bench.run(&id(2), "ls");
    assert!(matches!(bench.next().await, DaemonMessage::Notice(_)));
    assert_eq!(bench.executed().await.command, "ls");
    assert!(begun.elapsed() <= INTERRUPT_WAIT + Duration::from_secs(1), "{:?}", begun.elapsed());
    second.abort();
}

#[tokio::test(start_paused = true)]
async fn a_client_that_is_gone_gives_the_shell_back() {
    let bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make");
    let call = bench.executed().await.call_id;
    bench.session.command_started(call);
    assert!(bench.session.detach(1));
    assert_eq!(first.await.unwrap().unwrap_err(), RelayError::Unknown);
    bench.settle().await;
    assert_eq!(bench.session.lease().counts(), (0, 0));
    let (second, _) = bench.run(&id(2), "ls");
    assert_eq!(second.await.unwrap().unwrap_err(), RelayError::NoClient);
}

#[tokio::test(start_paused = true)]
async fn a_command_waits_a_moment_for_a_client_that_comes_back() {
    let bench = Bench::new();
    assert!(bench.session.detach(1));
    let (running, _) = bench.run(&id(1), "ls");
    bench.settle().await;
    tokio::time::advance(RECONNECT_GRACE - Duration::from_secs(1)).await;
    bench.attach(1, None);
    let call = bench.executed().await.call_id;
    bench.end(call, "files");
    assert_eq!(running.await.unwrap().unwrap().output, "files");
}

#[tokio::test(start_paused = true)]
async fn a_client_that_takes_over_has_none_of_the_old_ones_commands() {
    let mut bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make");
    let call = bench.executed().await.call_id;
    bench.session.command_started(call);
    assert!(!bench.attach(2, None));
    bench.connection = 2;
    assert_eq!(first.await.unwrap().unwrap_err(), RelayError::Unknown);
    assert!(
        bench.session.next_outgoing(1).await.map(Arc::unwrap_or_clone).is_none(),
        "the old one is told nothing more"
    );
    let (second, _) = bench.run(&id(2), "ls");
    assert_eq!(bench.executed().await.command, "ls");
    second.abort();
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_repeated_while_it_runs_is_sent_once_and_answered_twice() {
    let bench = Bench::new();
    let (first, _) = bench.run(&id(1), "make");
    let call = bench.executed().await.call_id;
    let (again, _) = bench.run(&id(1), "make");
    bench.settle().await;
    assert!(bench.session.next_waiting(1).is_none());
    bench.session.command_started(call);
    bench.end(call, "made");
    assert_eq!(first.await.unwrap().unwrap().output, "made");
    assert_eq!(again.await.unwrap().unwrap().output, "made");
}
