//! One value of every variant of every enum on the wire, by name. The matches have no wildcard, so a new variant does not
//! compile here until it has a sample.

mod approvals;
mod errors;
mod tasks;

use std::collections::BTreeSet;

use approvals::subjects;
use cohab_protocol::{codec::to_bytes, *};
use errors::{error_kinds, error_subjects};
use serde::Serialize;
use serde_bytes::ByteBuf;
use tasks::{task_details, task_ends, task_summary, team_messages};
use uuid::Uuid;

/// The names of all variants of an enum, and the name of a value's variant.
macro_rules! variants {
    ($type:ident { $($variant:ident),+ $(,)? }) => {
        impl Named for $type {
            const NAMES: &'static [&'static str] = &[$(concat!(stringify!($type), "::", stringify!($variant))),+];

            fn name(&self) -> &'static str {
                match self {
                    $($type::$variant { .. } => concat!(stringify!($type), "::", stringify!($variant)),)+
                }
            }
        }
    };
}

trait Named {
    const NAMES: &'static [&'static str];
    fn name(&self) -> &'static str;
}

variants!(ClientMessage {
    Hello,
    UserQuery,
    CancelTurn,
    CommandOutput,
    CommandExecutionResult,
    ApprovalReply,
    ShellEvent,
    SessionRequest,
    Shutdown,
    CommandWaiting,
    ResumeTurn,
    PauseTurn,
    ExtendTurn,
    AwaitFirings,
    FiringShown,
});
variants!(DaemonMessage {
    Welcome,
    TurnStarted,
    AgentStreamChunk,
    StepStarted,
    StepFinished,
    ExecuteCommand,
    InterruptCommand,
    ApprovalRequest,
    TurnEnded,
    SessionReply,
    Notice,
    Error,
    Goodbye,
    TurnProgress,
    TurnUnfinished,
    TurnPaused,
    BudgetUsed,
    TurnExtended,
    SubagentProgress,
    TaskEnded,
    WatcherFired,
    StepProgress,
});
variants!(SubagentState { Working, Ended });
variants!(TaskStatus { Queued, Running, Ended });
variants!(TaskEnd { Done, Limit, Refused, Failed, Cancelled, Interrupted });
variants!(CommandEnding { Exited, Interrupted, Stopped, StillRunning, ShellExited, Refused });
variants!(Interrupter { User, Turn, TimeLimit });
variants!(RunMode { Live, Subshell, Isolated });
variants!(StateAfter { Prompt, InFront, Ended });
variants!(ApprovalDecision { Once, Session, Edited, Refused, CancelTurn, Folder, Always });
variants!(SessionAction {
    Attach,
    Status,
    Clear,
    SetApproval,
    Context,
    Compact,
    Usage,
    Rewind,
    StartTask,
    Tasks,
    Task,
    CancelTask,
    RetryTask,
    Commands,
});
variants!(ApprovalMode { ReadOnly, Ask, All, Auto });
variants!(ChunkDelta { Text, Reasoning, Reset });
variants!(StepActivity { ModelCall, ToolCall, Shared, Compaction, Attachment });
variants!(StepDetail { Change, Output, Lines });
variants!(StepOutcome { Done, Failed, Refused, Cancelled });
variants!(ApprovalSubject {
    Command,
    FileChange,
    FileRead,
    LocalServer,
    Commands,
    GoOn,
    Search,
    FileChanges,
    Foreign,
    Input
});
variants!(TurnEndReason { Answered, Cancelled, StepLimit, Refused, Length, Failed });
variants!(SessionAnswer {
    Attached,
    Status,
    Done,
    Context,
    Compacted,
    Usage,
    Rewound,
    TaskStarted,
    Tasks,
    Task,
    Commands
});
variants!(NoticeKind { Info, Warning, Retry });
variants!(ErrorSubject { Connection, Turn, Request, Call });
variants!(WireErrorKind { Version, Protocol, Settings, Provider, Busy, NotFound, Internal });

pub const TURN: TurnId = TurnId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0001));
const CALL: CallId = CallId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0002));
const APPROVAL: ApprovalId = ApprovalId(Uuid::from_u128(0x0190_0000_0000_7000_8000_0000_0000_0003));

fn path(text: &str) -> WirePath {
    std::path::Path::new(text).into()
}

/// `Name hex` lines in the order of declaration: messages first, then the enums inside them.
pub fn golden_lines() -> Vec<String> {
    let mut lines = Vec::new();
    section(&mut lines, &client_messages());
    section(&mut lines, &daemon_messages());
    section(&mut lines, &endings());
    section(&mut lines, &[Interrupter::User, Interrupter::Turn, Interrupter::TimeLimit]);
    section(&mut lines, &[RunMode::Live, RunMode::Subshell, RunMode::Isolated]);
    section(&mut lines, &states_after());
    section(&mut lines, &decisions());
    section(&mut lines, &actions());
    section(&mut lines, &[ApprovalMode::ReadOnly, ApprovalMode::Ask, ApprovalMode::All, ApprovalMode::Auto]);
    section(&mut lines, &[ChunkDelta::Text("Hé".into()), ChunkDelta::Reasoning("so".into()), ChunkDelta::Reset]);
    section(&mut lines, &activities());
    section(&mut lines, &[StepOutcome::Done, StepOutcome::Failed, StepOutcome::Refused, StepOutcome::Cancelled]);
    section(&mut lines, &details());
    section(&mut lines, &subjects());
    section(&mut lines, &end_reasons());
    section(&mut lines, &[SubagentState::Working(StepActivity::Compaction), SubagentState::Ended(StepOutcome::Done)]);
    section(&mut lines, &[TaskStatus::Queued, TaskStatus::Running, TaskStatus::Ended(TaskEnd::Done)]);
    section(&mut lines, &task_ends());
    section(&mut lines, &answers());
    section(&mut lines, &[NoticeKind::Info, NoticeKind::Warning, NoticeKind::Retry { after_ms: 300 }]);
    section(&mut lines, &error_subjects());
    section(&mut lines, &error_kinds());
    lines
}

fn section<T: Named + Serialize>(lines: &mut Vec<String>, samples: &[T]) {
    let seen: BTreeSet<_> = samples.iter().map(Named::name).collect();
    let all: BTreeSet<_> = T::NAMES.iter().copied().collect();
    assert_eq!(seen, all, "each variant needs exactly one sample");
    assert_eq!(samples.len(), all.len(), "each variant needs exactly one sample");
    for sample in samples {
        let bytes = to_bytes(sample).expect("samples keep the wire rules");
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        lines.push(format!("{} {hex}", sample.name()));
    }
}

pub fn client_messages() -> Vec<ClientMessage> {
    vec![
        // Not `SCHEMA_HASH`: that hash is made of these bytes.
        ClientMessage::Hello(Hello { protocol_version: 1, schema_hash: 2, build: "0.1.0".into(), pid: 70_000 }),
        ClientMessage::UserQuery(UserQuery {
            turn_id: TURN,
            text: "why?".into(),
            cwd: path("/tmp"),
            columns: 80,
            piped_input: Some("in".into()),
            is_private: true,
        }),
        ClientMessage::CancelTurn { turn_id: TURN },
        ClientMessage::CommandOutput { call_id: CALL, bytes: ByteBuf::from(vec![0, 27, 255]) },
        ClientMessage::CommandExecutionResult(CommandExecutionResult {
            call_id: CALL,
            ending: CommandEnding::Exited,
            exit_code: Some(130),
            output: "out".into(),
            total_bytes: 3,
            truncated_bytes: 0,
            cwd: path("/a\nb"),
            env_delta: EnvDelta {
                set: vec![
                    EnvChange { name: "FOO".into(), value: Some("1".into()) },
                    EnvChange { name: "API_KEY".into(), value: None },
                ],
                unset: vec!["BAR".into()],
            },
            duration_ms: 1_500,
            mode: RunMode::Live,
            state_after: StateAfter::Prompt,
            first_run: Some("it could only read".into()),
        }),
        ClientMessage::ApprovalReply(ApprovalReply { approval_id: APPROVAL, decision: ApprovalDecision::Once }),
        ClientMessage::ShellEvent(ShellEvent {
            line: Some("cargo test".into()),
            exit_code: 101,
            cwd: path("/src"),
            duration_ms: 9,
            output_tail: "failed".into(),
            output_bytes: 6,
            ran_in: path("/src"),
            ended_ms: 1_700_000_000_000,
        }),
        ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(1), action: SessionAction::Status }),
        ClientMessage::Shutdown,
        ClientMessage::CommandWaiting { call_id: CALL },
        ClientMessage::ResumeTurn(ResumeTurn { turn_id: TURN, cwd: path("/home/ann") }),
        ClientMessage::PauseTurn { turn_id: TURN, is_paused: true },
        ClientMessage::ExtendTurn(ExtendTurn { turn_id: TURN, number: 1, text: "only src".into() }),
        ClientMessage::AwaitFirings { terminal: SessionKey("shell:1".into()) },
        ClientMessage::FiringShown { watcher: 3, fired: 2 },
    ]
}

pub fn daemon_messages() -> Vec<DaemonMessage> {
    let mut messages = vec![
        DaemonMessage::Welcome(Welcome { protocol_version: 1, schema_hash: 2, build: "0.1.0".into(), pid: 300 }),
        DaemonMessage::TurnStarted { turn_id: TURN },
        DaemonMessage::AgentStreamChunk(AgentStreamChunk {
            turn_id: TURN,
            seq: 251,
            delta: ChunkDelta::Text("Hi".into()),
        }),
        DaemonMessage::StepStarted(StepStarted {
            turn_id: TURN,
            step: 1,
            activity: StepActivity::ModelCall { model: "offline/offline".into() },
        }),
        DaemonMessage::StepFinished(StepFinished {
            turn_id: TURN,
            step: 1,
            outcome: StepOutcome::Done,
            summary: "12 lines".into(),
            elapsed_ms: 40,
            detail: Some(StepDetail::Output("no such file\n".into())),
            only_reads: true,
        }),
        DaemonMessage::ExecuteCommand(ExecuteCommand {
            turn_id: TURN,
            call_id: CALL,
            command: "true".into(),
            timeout_ms: 120_000,
            approval_id: Some(APPROVAL),
        }),
        DaemonMessage::InterruptCommand { call_id: CALL, by: Interrupter::TimeLimit },
        DaemonMessage::ApprovalRequest(ApprovalRequest {
            approval_id: APPROVAL,
            turn_id: TURN,
            subject: ApprovalSubject::Command { command: "rm x".into(), cwd: path("/"), mode: RunMode::Live },
            is_dangerous: true,
            reasons: vec!["deletes files".into()],
            is_each_time: true,
        }),
        DaemonMessage::TurnEnded(TurnEnded {
            turn_id: TURN,
            reason: TurnEndReason::Answered,
            usage: usage(),
            chunks: 252,
        }),
        DaemonMessage::SessionReply(SessionReply { request_id: RequestId(1), answer: SessionAnswer::Done }),
        DaemonMessage::Notice(Notice { turn_id: Some(TURN), kind: NoticeKind::Warning, text: "careful".into() }),
        DaemonMessage::Error(WireError {
            about: ErrorSubject::Connection,
            kind: WireErrorKind::Version,
            message: "other version".into(),
            hint: Some("cohab daemon restart".into()),
        }),
        DaemonMessage::Goodbye { reason: "bye".into() },
        DaemonMessage::TurnProgress(TurnProgress { turn_id: TURN, usage: usage() }),
        DaemonMessage::TurnUnfinished(TurnUnfinished {
            question: "deploy".into(),
            steps_done: 7,
            unknown: vec!["make install".into()],
        }),
        DaemonMessage::TurnPaused { turn_id: TURN, is_paused: true },
        DaemonMessage::BudgetUsed(BudgetUsed { turn_id: TURN, budget: BudgetKind::DayTokens, percent: 85 }),
        DaemonMessage::TurnExtended { turn_id: TURN, number: 1 },
    ];
    messages.extend(team_messages());
    messages
}

fn usage() -> Usage {
    Usage {
        input_tokens: Some(70_000),
        output_tokens: Some(2),
        cache_read_tokens: None,
        cache_write_tokens: Some(0),
        reasoning_tokens: None,
        cost_microusd: Some(12_345),
        is_cost_partial: true,
    }
}

fn endings() -> Vec<CommandEnding> {
    vec![
        CommandEnding::Exited,
        CommandEnding::Interrupted { by: Interrupter::Turn },
        CommandEnding::Stopped,
        CommandEnding::StillRunning,
        CommandEnding::ShellExited,
        CommandEnding::Refused { code: "shell_busy".into(), reason: "vim runs".into() },
    ]
}

fn states_after() -> Vec<StateAfter> {
    vec![StateAfter::Prompt, StateAfter::InFront { program: "vim".into(), is_full_screen: true }, StateAfter::Ended]
}

fn decisions() -> Vec<ApprovalDecision> {
    vec![
        ApprovalDecision::Once,
        ApprovalDecision::Session,
        ApprovalDecision::Edited { command: "ls".into() },
        ApprovalDecision::Refused { note: "no".into() },
        ApprovalDecision::CancelTurn,
        ApprovalDecision::Folder,
        ApprovalDecision::Always,
    ]
}

fn actions() -> Vec<SessionAction> {
    vec![
        SessionAction::Attach(Attach {
            session: SessionKey("shell:1".into()),
            live_shell: Some("bash".into()),
            approval: ApprovalMode::Ask,
            can_approve: true,
            has_lock: false,
            settings: vec![EnvSetting { name: "COHAB_MODEL".into(), value: "m".into() }],
            environment: vec![EnvSetting { name: "PATH".into(), value: "/bin".into() }],
            resume: Some(ResumePoint { turn_id: TURN, next_seq: 7 }),
        }),
        SessionAction::Status,
        SessionAction::Clear,
        SessionAction::SetApproval { mode: ApprovalMode::All },
        SessionAction::Context,
        SessionAction::Compact,
        SessionAction::Usage,
        SessionAction::Rewind,
        SessionAction::StartTask(StartTask {
            session: Some(SessionKey("shell:1".into())),
            text: "fix the test".into(),
            cwd: path("/w"),
            attempts: 1,
        }),
        SessionAction::Tasks,
        SessionAction::Task { id: 3 },
        SessionAction::CancelTask { id: 3 },
        SessionAction::RetryTask { id: 3 },
        SessionAction::Commands { cwd: path("/w") },
    ]
}

fn activities() -> Vec<StepActivity> {
    vec![
        StepActivity::ModelCall { model: "a/b".into() },
        StepActivity::Shared,
        StepActivity::ToolCall { tool: "bash".into(), argument: "ls".into() },
        StepActivity::Compaction,
        StepActivity::Attachment { path: "src/main.rs".into() },
    ]
}

fn details() -> Vec<StepDetail> {
    vec![
        StepDetail::Change(FileDiff { diff: "@@ -1 +1 @@\n-a\n+b\n".into(), left_out_lines: 3 }),
        StepDetail::Output("no such file\n".into()),
        StepDetail::Lines(412),
    ]
}

fn end_reasons() -> Vec<TurnEndReason> {
    vec![
        TurnEndReason::Answered,
        TurnEndReason::Cancelled,
        TurnEndReason::StepLimit,
        TurnEndReason::Refused,
        TurnEndReason::Length,
        TurnEndReason::Failed,
    ]
}

fn answers() -> Vec<SessionAnswer> {
    vec![
        SessionAnswer::Attached(Attached {
            session: SessionKey("shell:1".into()),
            model: ModelIdentity {
                provider: "offline".into(),
                model: "offline".into(),
                origin: "nothing configured".into(),
                is_offline: true,
            },
            approval: ApprovalMode::ReadOnly,
            is_resumed: true,
            title: Some("a title".into()),
            left: Some(LeftState {
                cwd: path("/src"),
                environment: vec![EnvSetting { name: "EDITOR".into(), value: "vi".into() }],
            }),
            recap: Some(Box::new(Recap {
                question: "why".into(),
                answer_end: vec!["so".into()],
                open_tasks: vec!["test".into()],
                changed_files: vec!["/a".into()],
            })),
        }),
        SessionAnswer::Status(DaemonStatus {
            pid: 300,
            build: "0.1.0".into(),
            uptime_ms: 5,
            clients: 1,
            sessions: 2,
            turns_running: 0,
            commands_running: 1,
            commands_waiting: 0,
            log_dir: path("/log"),
            config_path: path("/config.toml"),
        }),
        SessionAnswer::Done,
        SessionAnswer::Context(ContextReport {
            sections: vec![ContextSection { name: "conversation".into(), tokens: 300 }],
            room: Some(ContextRoom {
                max: 8_192,
                system: 100,
                messages: 200,
                response_reserve: 2_048,
                total: 300,
                available: 5_844,
                percent: 3,
                fits: true,
            }),
        }),
        SessionAnswer::Compacted { before_tokens: 70_000, after_tokens: 300 },
        SessionAnswer::Usage(usage()),
        SessionAnswer::Rewound { question: Some("why?".into()) },
        SessionAnswer::TaskStarted { id: 3 },
        SessionAnswer::Tasks(vec![task_summary()]),
        SessionAnswer::Task(Box::new(task_details())),
        SessionAnswer::Commands(vec![NamedCommand {
            name: "release".into(),
            hint: "VERSION".into(),
            meaning: "How a release is made".into(),
            is_of_project: true,
        }]),
    ]
}
