//! An application with everything around it made up.

use super::*;
pub(super) use crate::test_messages::{QUESTION, TURN};

/// Where the shell is at a question.
pub(super) const CWD: &str = "/home/ann/src";
pub(super) const CALL: CallId = CallId(Uuid::from_u128(9));

/// What the user allowed for good.
#[derive(Debug, Default)]
pub(super) struct Allowed(pub(super) std::sync::Mutex<Arc<Loaded>>);

impl RuleSource for Allowed {
    fn loaded(&self, _cwd: &Path) -> Arc<Loaded> {
        Arc::clone(&self.0.lock().unwrap())
    }
}

/// An app with a clock that stands still until it is set.
pub(super) struct Bench {
    pub(super) app: App,
    pub(super) now: Instant,
}

impl Bench {
    pub(super) fn new() -> Self {
        Self::with_shell(Shell::Bash)
    }

    pub(super) fn with_shell(shell: Shell) -> Self {
        let options = Options {
            question_prefix: "?".into(),
            gate: false,
            failure_key: None,
            approval: ApprovalMode::Ask,
            looks_at_names: false,
            launcher: || None,
            why_stopped: lock::why_stopped,
            confined: ConfinedPrograms::Known,
            remembered: Arc::new(Allowed::default()),
            secrets: Arc::default(),
            environment: Arc::new(ApprovalEnvironment { shell, ..ApprovalEnvironment::of_ann(&FileSystem) }),
            output_style: OutputStyle::Rich,
            reasoning: Reasoning::default(),
            notify_after: Duration::from_secs(10),
            gutter: false,
            footer: true,
            own_program: "/opt/a b/cohab".into(),
            fresh_turn_id: || TURN,
            wall_clock_ms: || 1_700_000_000_000,
            keeps_commands: false,
            highlighter: None,
        };
        Self { app: App::new(options, CWD.into(), 80, 24), now: a_moment() }
    }

    /// Connected, with a turn that draws.
    pub(super) fn in_a_turn() -> Self {
        Self::in_a_turn_of(Shell::Bash)
    }

    pub(super) fn in_a_turn_of(shell: Shell) -> Self {
        let mut bench = Self::connected_in(shell);
        bench.enter("? why");
        bench.live(LiveEvent::AnswerReady);
        bench.daemon(DaemonMessage::TurnStarted { turn_id: TURN });
        bench.shown();
        bench
    }

    pub(super) fn connected() -> Self {
        Self::connected_in(Shell::Bash)
    }

    pub(super) fn connected_in(shell: Shell) -> Self {
        let mut bench = Self::with_shell(shell);
        assert_eq!(bench.live(LiveEvent::PromptReady), [Effect::LookForDaemon]);
        bench.link_up();
        bench
    }

    pub(super) fn link_up(&mut self) -> Vec<Effect> {
        self.attached(false)
    }

    pub(super) fn attached(&mut self, is_resumed: bool) -> Vec<Effect> {
        let model =
            ModelIdentity { provider: "scripted".into(), model: "m".into(), origin: "test".into(), is_offline: false };
        let session = SessionKey("shell:1".into());
        self.event(Event::LinkUp(Attached {
            session,
            model,
            approval: ApprovalMode::Ask,
            is_resumed,
            title: None,
            left: None,
            recap: None,
        }))
    }

    pub(super) fn event(&mut self, event: Event) -> Vec<Effect> {
        self.app.handle(event, self.now)
    }

    /// Enter is pressed on this line, by itself; the shell does not say what the line's first word is.
    pub(super) fn enter(&mut self, line: &str) -> Vec<Effect> {
        let (text, cwd) = (line.to_owned(), CWD.into());
        self.live(LiveEvent::LineEntered { text, cursor: 0, cwd, is_command: None, is_alone: true })
    }

    pub(super) fn live(&mut self, event: LiveEvent) -> Vec<Effect> {
        self.event(Event::Live(event))
    }

    pub(super) fn daemon(&mut self, message: DaemonMessage) -> Vec<Effect> {
        self.event(Event::Daemon(Box::new(message)))
    }

    pub(super) fn chunk(&mut self, seq: u64, text: &str) -> Vec<Effect> {
        let delta = ChunkDelta::Text(text.into());
        self.daemon(DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id: TURN, seq, delta }))
    }

    pub(super) fn keys(&mut self, keys: &str) -> Vec<Effect> {
        self.live(LiveEvent::AnswerKey(keys.as_bytes().to_vec()))
    }

    /// A key by itself, and the moment in which no other one follows it.
    pub(super) fn key(&mut self, key: &str) -> Vec<Effect> {
        let mut effects = self.keys(key);
        self.pass(200);
        effects.extend(self.event(Event::Deadline));
        effects
    }

    /// The source of the code in the answer that is coming, or else in the last one.
    pub(super) fn code_blocks(&self) -> &CodeBlocks {
        self.app.activity.turn().and_then(state::turn::Turn::code_blocks).unwrap_or(&self.app.code_blocks)
    }

    pub(super) fn pass(&mut self, milliseconds: u64) {
        self.now += Duration::from_millis(milliseconds);
    }

    /// What is drawn now: lines that stay, then the live area after a rule.
    pub(super) fn shown(&mut self) -> String {
        let frame = self.app.frame();
        let lines = |lines: &[Line<'_>]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        format!("{}----\n{}", lines(&frame.above), lines(&frame.area))
    }
}

pub(super) fn execute(command: &str, approval_id: Option<ApprovalId>) -> DaemonMessage {
    execute_as(CALL, command, approval_id)
}

/// A further command of the turn.
pub(super) fn execute_as(call_id: CallId, command: &str, approval_id: Option<ApprovalId>) -> DaemonMessage {
    DaemonMessage::ExecuteCommand(ExecuteCommand {
        turn_id: TURN,
        call_id,
        command: command.into(),
        timeout_ms: 1_000,
        approval_id,
    })
}

pub(super) fn ask(command: &str, is_dangerous: bool) -> DaemonMessage {
    DaemonMessage::ApprovalRequest(ApprovalRequest {
        approval_id: QUESTION,
        turn_id: TURN,
        subject: ApprovalSubject::Command {
            command: command.into(),
            cwd: Path::new("/home/ann/src").into(),
            mode: RunMode::Live,
        },
        is_dangerous,
        reasons: vec!["writes a file".into()],
        is_each_time: false,
    })
}

pub(super) fn ended(reason: TurnEndReason) -> DaemonMessage {
    DaemonMessage::TurnEnded(TurnEnded { turn_id: TURN, reason, usage: Usage::default(), chunks: 0 })
}

pub(super) fn outcome(ending: Ending) -> CommandOutcome {
    CommandOutcome {
        ending,
        status: Some(0),
        cwd: "/home/ann/src/big".into(),
        output: "out".into(),
        total_bytes: 3,
        truncated_bytes: 0,
        duration: Duration::from_millis(5),
        mode: Mode::Live,
        state_after: StateAfter::Prompt,
        first_run: None,
        env_delta: vec![
            EnvChange { name: "FOO".into(), value: Some("1".into()) },
            EnvChange { name: "MY_TOKEN".into(), value: Some("hunter2".into()) },
            EnvChange { name: "OLD".into(), value: None },
        ],
    }
}

pub(super) fn result_in(effects: &[Effect]) -> &CommandExecutionResult {
    let results = effects.iter().find_map(|effect| match effect {
        Effect::Send(ClientMessage::CommandExecutionResult(result)) => Some(result),
        _ => None,
    });
    results.unwrap_or_else(|| panic!("no result in {effects:?}"))
}

pub(super) fn refusal_in(effects: &[Effect]) -> &str {
    match &result_in(effects).ending {
        CommandEnding::Refused { code, .. } => code,
        other => panic!("not refused: {other:?}"),
    }
}

pub(super) fn decision_in(effects: &[Effect]) -> Option<&ApprovalDecision> {
    effects.iter().find_map(|effect| match effect {
        Effect::Send(ClientMessage::ApprovalReply(ApprovalReply { decision, .. })) => Some(decision),
        _ => None,
    })
}

pub(super) fn runs(effects: &[Effect]) -> Option<&str> {
    effects.iter().find_map(|effect| match effect {
        Effect::Run(request) => Some(request.text.as_str()),
        _ => None,
    })
}
