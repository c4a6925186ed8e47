use std::{path::Path, sync::Mutex, time::Duration};

use cohab_agent::{
    ObservedApprover, StopReason,
    port::{Approver, Intent},
};
use cohab_model_api::JsonObject;
use cohab_policy::user_rules::{Loaded, NoRules};
use cohab_store::audit::{
    Places,
    record::Record,
    verify::{self, verify},
};
use cohab_types::command::{Ending, Mode, StateAfter};

use super::*;

#[derive(Default)]
struct Told(Mutex<Vec<TurnEvent>>);

#[async_trait]
impl EventSink for Told {
    fn pause(&self) {}

    async fn emit(&self, event: TurnEvent) {
        self.0.lock().expect("one at a time").push(event);
    }
}

struct Says(ApprovalAnswer);

#[async_trait]
impl Approver for Says {
    async fn ask(&self, _question: ApprovalQuestion) -> ApprovalAnswer {
        self.0.clone()
    }
}

#[derive(Debug)]
struct Rules(&'static str);

impl RuleSource for Rules {
    fn loaded(&self, _cwd: &Path) -> Arc<Loaded> {
        Arc::new(cohab_policy::user_rules::parse(self.0))
    }
}

struct Bench {
    folder: tempfile::TempDir,
    audit: Arc<Audit>,
    told: Arc<Told>,
    mode: Arc<Mutex<ApprovalMode>>,
}

fn places(folder: &Path) -> Places {
    Places { folder: folder.join("state/audit"), apart: folder.join("config/audit") }
}

fn bench(rules: Arc<dyn RuleSource>) -> Bench {
    let folder = tempfile::tempdir().expect("a folder");
    let told = Arc::new(Told::default());
    let mode = Arc::new(Mutex::new(ApprovalMode::Ask));
    let in_force = Arc::clone(&mode);
    let policy =
        Policy { seen: Arc::default(), mode: Box::new(move || *in_force.lock().expect("one at a time")), rules };
    let turn = AuditedTurn {
        is_private: false,
        session: "shell:1".into(),
        turn: "t".into(),
        cwd: "/srv".into(),
        home: "/home/ann".into(),
        keep_days: 90,
        shell: Shell::Bash,
    };
    let audit = Arc::new(Audit::new(AuditLog::at(places(folder.path())), turn, policy, Arc::clone(&told) as _));
    Bench { folder, audit, told, mode }
}

impl Bench {
    fn records(&self) -> Vec<Event> {
        let records = verify::last(&places(self.folder.path()), 100).expect("they can be read");
        records.into_iter().map(|Record { event, .. }| event).collect()
    }

    async fn begin(&self, id: &str, effect: Effect, level: Level, approval: Option<&str>) -> ToolCall {
        let call = ToolCall { id: id.into(), name: "bash".into(), args: Ok(JsonObject::new().into()) };
        let intent = Intent { title: String::new(), effect };
        let planned = PlannedCall::new(&call, JsonObject::new(), intent, "/srv".into());
        let verdict = Some(Verdict::new(level, vec!["why".into()]));
        let run_id = format!("run of {id}");
        let planned = PlannedCall { run_id, verdict, approval: approval.map(str::to_owned), ..planned };
        self.audit.observe(Fact::CallReached(&planned)).await;
        call
    }

    async fn ended(&self, call: &ToolCall, outcome: StepResult, result: &ToolResult) {
        self.audit.observe(Fact::CallEnded(call, outcome, result)).await;
    }

    async fn end(&self) {
        let result = Ok(StopReason::Answered);
        self.audit.observe(Fact::TurnEnded(&cohab_agent::TurnState::default(), &result)).await;
        self.flush().await;
    }

    /// Waits until all records are on disk.
    async fn flush(&self) {
        let flushed = || self.audit.note(Event::TurnEnded { reason: "flushed".into() });
        while self.audit.log.keep_now(flushed()).await != Kept::Yes {}
    }
}

fn run(command: &str) -> Effect {
    Effect::RunCommand { command: command.into() }
}

fn consents(events: &[Event]) -> Vec<(String, Consent, String)> {
    let consent = |event: &Event| match event {
        Event::Action { text, consent, rule, .. } => Some((text.clone(), *consent, rule.clone())),
        _ => None,
    };
    events.iter().filter_map(consent).collect()
}

#[tokio::test]
async fn an_action_is_on_disk_before_it_happens_with_verdict_and_consent() {
    let bench = bench(Arc::new(NoRules));
    bench.begin("1", run("ls"), Level::Allow, None).await;
    let events = bench.records();
    assert!(matches!(&events[0], Event::TurnBegan { mode, rules: 0, .. } if mode == "ask"), "{events:?}");
    assert!(
        matches!(&events[1], Event::Action { text, verdict, reasons, consent: Consent::Policy, .. }
            if text == "ls" && verdict == "allow" && reasons == &["why"]),
        "{events:?}"
    );
}

#[tokio::test]
async fn a_command_that_is_typed_otherwise_is_recorded_as_it_is_typed_too() {
    let bench = bench(Arc::new(NoRules));
    bench.begin("1", run("git status"), Level::Allow, None).await;
    bench.begin("2", run("git push"), Level::Ask, Some("7")).await;
    let typed: Vec<String> = bench
        .records()
        .into_iter()
        .filter_map(|event| match event {
            Event::Action { typed, .. } => Some(typed),
            _ => None,
        })
        .collect();
    assert!(typed[0].ends_with(" status --ignore-submodules=all") && typed[1].is_empty(), "{typed:?}");
}

#[tokio::test]
async fn who_agreed_is_told_apart() {
    let rules = "[[rule]]\ndecision = \"allow\"\nargv = [\"just\", \"fmt\"]\n";
    let bench = bench(Arc::new(Rules(rules)));
    let once = ApprovalAnswer::Approved { approval: Some("7".into()), lasts: Lasts::Once };
    let approver = ObservedApprover { inner: Arc::new(Says(once)), observers: vec![Arc::clone(&bench.audit) as _] };
    let subject = ApprovalSubject::Effect { tool: "bash".into(), effect: run("rm x") };
    approver.ask(ApprovalQuestion { is_dangerous: true, ..ApprovalQuestion::about(subject) }).await;
    bench.begin("1", run("rm x"), Level::Danger, Some("7")).await;
    bench.begin("2", run("rm x"), Level::Ask, Some("7")).await;
    bench.begin("3", run("just fmt"), Level::Ask, Some(BY_RULE)).await;
    *bench.mode.lock().expect("one at a time") = ApprovalMode::All;
    bench.begin("4", run("rm y"), Level::Danger, None).await;
    let events = bench.records();
    let expected =
        [("rm x", Consent::Asked, ""), ("rm x", Consent::Session, ""), ("just fmt", Consent::Rule, "just fmt")];
    let expected = expected.into_iter().chain([("rm y", Consent::Mode, "")]);
    let expected: Vec<_> = expected.map(|(text, consent, rule)| (text.to_owned(), consent, rule.to_owned())).collect();
    assert_eq!(consents(&events), expected);
    assert!(
        matches!(&events[1], Event::Asked { subject, is_dangerous: true, answer: Answer::Once, .. } if subject == "rm x"),
        "{events:?}"
    );
    let changed = Event::ModeChanged { from: "ask".into(), to: "all".into() };
    assert!(events.contains(&changed), "{events:?}");
}

#[tokio::test]
async fn reads_are_recorded_where_they_may_be_of_secrets_and_refusals_and_ends_always() {
    let bench = bench(Arc::new(NoRules));
    let read = |path: &str| Effect::Read { path: path.into(), pattern: None };
    bench.begin("1", read("/srv/a"), Level::Allow, None).await;
    let call = bench.begin("2", read("/srv/.env"), Level::Danger, None).await;
    let result = |id: &str, content: &str| ToolResult {
        call_id: id.into(),
        tool: "bash".into(),
        content: content.into(),
        is_error: false,
    };
    bench.ended(&call, StepResult::Done, &result("2", "SECRET=1")).await;
    let args = serde_json::json!({"command": "rm -rf /"}).as_object().cloned().expect("an object");
    let refused = ToolCall { id: "3".into(), name: "bash".into(), args: Ok(args.into()) };
    bench.ended(&refused, StepResult::Refused, &result("3", "the user refused")).await;
    bench.end().await;
    let events = bench.records();
    assert_eq!(consents(&events).len(), 1);
    let text = format!("{events:?}");
    assert!(!text.contains("SECRET"), "{text}");
    assert!(events.contains(&Event::Done { call: "2".into(), outcome: "done".into() }), "{text}");
    assert!(
        events.iter().any(|event| matches!(event, Event::Refused { text, reason, .. }
            if text == "rm -rf /" && reason == "the user refused")),
        "{text}"
    );
    assert!(events.contains(&Event::TurnEnded { reason: "answered".into() }), "{text}");
    assert_eq!(verify(&places(bench.folder.path())).expect("read").faults, []);
}

/// A shell in which the lock stopped each command first.
struct Stopped;

#[async_trait]
impl CommandRunner for Stopped {
    async fn run(&self, _request: CommandRequest, _cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Ok(CommandOutcome {
            ending: Ending::Exited,
            status: Some(0),
            cwd: self.cwd(),
            output: String::new(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::ZERO,
            mode: Mode::Live,
            state_after: StateAfter::Prompt,
            env_delta: Vec::new(),
            first_run: Some("it could only read".into()),
        })
    }

    fn cwd(&self) -> PathBuf {
        "/srv".into()
    }
}

#[tokio::test]
async fn a_second_run_without_the_lock_is_recorded_with_its_call() {
    let bench = bench(Arc::new(NoRules));
    bench.begin("1", run("cat a"), Level::Allow, None).await;
    let request = CommandRequest {
        id: "run of 1".into(),
        text: "cat a".into(),
        timeout: Duration::from_secs(1),
        wants_env_delta: false,
    };
    let runner = AuditedRunner::new(Arc::new(Stopped), Arc::clone(&bench.audit));
    assert!(runner.run(request, &CancellationToken::new()).await.is_ok());
    bench.flush().await;
    let again = Event::RanWithoutLock { call: "1".into(), first_run: "it could only read".into() };
    assert!(bench.records().contains(&again), "{:?}", bench.records());
}

#[tokio::test]
async fn a_broken_disk_is_told_once_and_stops_nothing() {
    let bench = bench(Arc::new(NoRules));
    std::fs::write(bench.folder.path().join("config"), "no folder").expect("written");
    bench.begin("1", run("ls"), Level::Allow, None).await;
    bench.begin("2", run("ls"), Level::Allow, None).await;
    let told = |bench: &Bench| bench.told.0.lock().expect("nobody tells").len();
    assert_eq!(told(&bench), 1);
    std::fs::remove_file(bench.folder.path().join("config")).expect("removed");
    bench.begin("3", run("ls -a"), Level::Allow, None).await;
    bench.flush().await;
    assert_eq!((told(&bench), consents(&bench.records()).len()), (1, 1));
}
