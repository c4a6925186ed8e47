//! Strategies for arbitrary messages.

use cohab_protocol::*;
use proptest::{collection::vec, option, prelude::*};
use uuid::Uuid;

fn uuid() -> impl Strategy<Value = Uuid> {
    any::<u128>().prop_map(Uuid::from_u128)
}

fn turn_id() -> impl Strategy<Value = TurnId> {
    uuid().prop_map(TurnId)
}

fn call_id() -> impl Strategy<Value = CallId> {
    uuid().prop_map(CallId)
}

fn approval_id() -> impl Strategy<Value = ApprovalId> {
    uuid().prop_map(ApprovalId)
}

fn text() -> impl Strategy<Value = String> {
    vec(any::<char>(), 0..40).prop_map(|chars| chars.into_iter().collect())
}

/// Any bytes: a path need not be UTF-8.
fn path() -> impl Strategy<Value = WirePath> {
    use std::os::unix::ffi::OsStringExt;
    vec(any::<u8>(), 0..40).prop_map(|bytes| std::path::PathBuf::from(std::ffi::OsString::from_vec(bytes)).into())
}

fn approval_mode() -> impl Strategy<Value = ApprovalMode> {
    prop::sample::select(vec![ApprovalMode::ReadOnly, ApprovalMode::Ask, ApprovalMode::All, ApprovalMode::Auto])
}

fn run_mode() -> impl Strategy<Value = RunMode> {
    prop::sample::select(vec![RunMode::Live, RunMode::Subshell, RunMode::Isolated])
}

pub fn client_message() -> impl Strategy<Value = ClientMessage> {
    prop_oneof![
        (any::<u32>(), any::<u64>(), text(), any::<u32>()).prop_map(|(protocol_version, schema_hash, build, pid)| {
            ClientMessage::Hello(Hello { protocol_version, schema_hash, build, pid })
        }),
        (turn_id(), text(), path(), any::<u16>(), option::of(text()), any::<bool>()).prop_map(
            |(turn_id, text, cwd, columns, piped_input, is_private)| {
                ClientMessage::UserQuery(UserQuery { turn_id, text, cwd, columns, piped_input, is_private })
            }
        ),
        turn_id().prop_map(|turn_id| ClientMessage::CancelTurn { turn_id }),
        (call_id(), vec(any::<u8>(), 0..200))
            .prop_map(|(call_id, bytes)| ClientMessage::CommandOutput { call_id, bytes: bytes.into() }),
        execution_result().prop_map(ClientMessage::CommandExecutionResult),
        (approval_id(), decision()).prop_map(|(approval_id, decision)| {
            ClientMessage::ApprovalReply(ApprovalReply { approval_id, decision })
        }),
        (option::of(text()), any::<i32>(), path(), any::<u64>(), text(), any::<u64>(), path(), any::<u64>()).prop_map(
            |(line, exit_code, cwd, duration_ms, output_tail, output_bytes, ran_in, ended_ms)| {
                let event =
                    ShellEvent { line, exit_code, cwd, duration_ms, output_tail, output_bytes, ran_in, ended_ms };
                ClientMessage::ShellEvent(event)
            }
        ),
        (any::<u64>(), action()).prop_map(|(id, action)| {
            ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(id), action })
        }),
        Just(ClientMessage::Shutdown),
        call_id().prop_map(|call_id| ClientMessage::CommandWaiting { call_id }),
        (turn_id(), path()).prop_map(|(turn_id, cwd)| ClientMessage::ResumeTurn(ResumeTurn { turn_id, cwd })),
        (turn_id(), any::<bool>()).prop_map(|(turn_id, is_paused)| ClientMessage::PauseTurn { turn_id, is_paused }),
        (turn_id(), any::<u32>(), text()).prop_map(|(turn_id, number, text)| ClientMessage::ExtendTurn(ExtendTurn {
            turn_id,
            number,
            text
        })),
        text().prop_map(|terminal| ClientMessage::AwaitFirings { terminal: SessionKey(terminal) }),
        (any::<u32>(), any::<u64>()).prop_map(|(watcher, fired)| ClientMessage::FiringShown { watcher, fired }),
    ]
}

fn interrupter() -> impl Strategy<Value = Interrupter> {
    prop_oneof![Just(Interrupter::User), Just(Interrupter::Turn), Just(Interrupter::TimeLimit)]
}

fn execution_result() -> impl Strategy<Value = CommandExecutionResult> {
    let ending = prop_oneof![
        Just(CommandEnding::Exited),
        interrupter().prop_map(|by| CommandEnding::Interrupted { by }),
        Just(CommandEnding::Stopped),
        Just(CommandEnding::StillRunning),
        Just(CommandEnding::ShellExited),
        (text(), text()).prop_map(|(code, reason)| CommandEnding::Refused { code, reason }),
    ];
    let change = (text(), option::of(text())).prop_map(|(name, value)| EnvChange { name, value });
    let env_delta = (vec(change, 0..4), vec(text(), 0..4)).prop_map(|(set, unset)| EnvDelta { set, unset });
    let counts = (any::<u64>(), any::<u64>(), any::<u64>());
    let state_after = prop_oneof![
        Just(StateAfter::Prompt),
        (text(), any::<bool>()).prop_map(|(program, is_full_screen)| StateAfter::InFront { program, is_full_screen }),
        Just(StateAfter::Ended),
    ];
    let place = (path(), env_delta, run_mode(), state_after, option::of(text()));
    (call_id(), ending, option::of(any::<i32>()), text(), counts, place).prop_map(
        |(call_id, ending, exit_code, output, counts, (cwd, env_delta, mode, state_after, first_run))| {
            let (total_bytes, truncated_bytes, duration_ms) = counts;
            CommandExecutionResult {
                call_id,
                ending,
                exit_code,
                output,
                total_bytes,
                truncated_bytes,
                cwd,
                env_delta,
                duration_ms,
                mode,
                state_after,
                first_run,
            }
        },
    )
}

fn decision() -> impl Strategy<Value = ApprovalDecision> {
    prop_oneof![
        Just(ApprovalDecision::Once),
        Just(ApprovalDecision::Session),
        text().prop_map(|command| ApprovalDecision::Edited { command }),
        text().prop_map(|note| ApprovalDecision::Refused { note }),
        Just(ApprovalDecision::CancelTurn),
        Just(ApprovalDecision::Folder),
        Just(ApprovalDecision::Always),
    ]
}

fn action() -> impl Strategy<Value = SessionAction> {
    let setting = || vec((text(), text()).prop_map(|(name, value)| EnvSetting { name, value }), 0..4);
    let resume = (turn_id(), any::<u64>()).prop_map(|(turn_id, next_seq)| ResumePoint { turn_id, next_seq });
    let variables = (setting(), setting());
    let can = (any::<bool>(), any::<bool>());
    let attach = (text(), option::of(text()), approval_mode(), can, variables, option::of(resume)).prop_map(
        |(session, live_shell, approval, (can_approve, has_lock), (settings, environment), resume)| {
            let session = SessionKey(session);
            let attach = Attach { session, live_shell, approval, can_approve, has_lock, settings, environment, resume };
            SessionAction::Attach(attach)
        },
    );
    prop_oneof![
        attach,
        Just(SessionAction::Status),
        Just(SessionAction::Clear),
        approval_mode().prop_map(|mode| SessionAction::SetApproval { mode }),
        Just(SessionAction::Context),
        Just(SessionAction::Compact),
        Just(SessionAction::Usage),
        Just(SessionAction::Rewind),
        (option::of(text()), text(), path(), any::<u32>()).prop_map(|(session, text, cwd, attempts)| {
            SessionAction::StartTask(StartTask { session: session.map(SessionKey), text, cwd, attempts })
        }),
        Just(SessionAction::Tasks),
        any::<u32>().prop_map(|id| SessionAction::Task { id }),
        any::<u32>().prop_map(|id| SessionAction::CancelTask { id }),
        any::<u32>().prop_map(|id| SessionAction::RetryTask { id }),
        path().prop_map(|cwd| SessionAction::Commands { cwd }),
    ]
}

pub fn daemon_message() -> impl Strategy<Value = DaemonMessage> {
    prop_oneof![
        (any::<u32>(), any::<u64>(), text(), any::<u32>()).prop_map(|(protocol_version, schema_hash, build, pid)| {
            DaemonMessage::Welcome(Welcome { protocol_version, schema_hash, build, pid })
        }),
        turn_id().prop_map(|turn_id| DaemonMessage::TurnStarted { turn_id }),
        (turn_id(), any::<u64>(), delta()).prop_map(|(turn_id, seq, delta)| {
            DaemonMessage::AgentStreamChunk(AgentStreamChunk { turn_id, seq, delta })
        }),
        (turn_id(), any::<u32>(), activity()).prop_map(|(turn_id, step, activity)| {
            DaemonMessage::StepStarted(StepStarted { turn_id, step, activity })
        }),
        (turn_id(), any::<u32>(), outcome(), text(), any::<u64>(), option::of(detail()), any::<bool>()).prop_map(
            |(turn_id, step, outcome, summary, elapsed_ms, detail, only_reads)| {
                DaemonMessage::StepFinished(StepFinished {
                    turn_id,
                    step,
                    outcome,
                    summary,
                    elapsed_ms,
                    detail,
                    only_reads,
                })
            }
        ),
        (turn_id(), call_id(), text(), any::<u64>(), option::of(approval_id())).prop_map(
            |(turn_id, call_id, command, timeout_ms, approval_id)| {
                DaemonMessage::ExecuteCommand(ExecuteCommand { turn_id, call_id, command, timeout_ms, approval_id })
            }
        ),
        (call_id(), interrupter()).prop_map(|(call_id, by)| DaemonMessage::InterruptCommand { call_id, by }),
        (approval_id(), turn_id(), subject(), any::<bool>(), vec(text(), 0..4), any::<bool>()).prop_map(
            |(approval_id, turn_id, subject, is_dangerous, reasons, is_each_time)| {
                let request = ApprovalRequest { approval_id, turn_id, subject, is_dangerous, reasons, is_each_time };
                DaemonMessage::ApprovalRequest(request)
            }
        ),
        (turn_id(), end_reason(), usage(), any::<u64>()).prop_map(|(turn_id, reason, usage, chunks)| {
            DaemonMessage::TurnEnded(TurnEnded { turn_id, reason, usage, chunks })
        }),
        (any::<u64>(), answer()).prop_map(|(id, answer)| {
            DaemonMessage::SessionReply(SessionReply { request_id: RequestId(id), answer })
        }),
        (option::of(turn_id()), notice_kind(), text())
            .prop_map(|(turn_id, kind, text)| { DaemonMessage::Notice(Notice { turn_id, kind, text }) }),
        wire_error().prop_map(DaemonMessage::Error),
        text().prop_map(|reason| DaemonMessage::Goodbye { reason }),
        (turn_id(), usage()).prop_map(|(turn_id, usage)| DaemonMessage::TurnProgress(TurnProgress { turn_id, usage })),
        (text(), any::<u32>(), vec(text(), 0..4)).prop_map(|(question, steps_done, unknown)| {
            DaemonMessage::TurnUnfinished(TurnUnfinished { question, steps_done, unknown })
        }),
        (turn_id(), any::<bool>()).prop_map(|(turn_id, is_paused)| DaemonMessage::TurnPaused { turn_id, is_paused }),
        (turn_id(), any::<u32>()).prop_map(|(turn_id, number)| DaemonMessage::TurnExtended { turn_id, number }),
        (any::<u32>(), text(), task_end(), any::<bool>()).prop_map(|(id, question, end, has_changes)| {
            DaemonMessage::TaskEnded(TaskEnded { id, question, end, has_changes })
        }),
        (turn_id(), any::<u32>(), text(), text(), subagent_state(), any::<u64>(), any::<u64>()).prop_map(
            |(turn_id, number, kind, label, state, tokens, elapsed_ms)| {
                let progress = SubagentProgress { turn_id, number, kind, label, state, tokens, elapsed_ms };
                DaemonMessage::SubagentProgress(progress)
            }
        ),
        (turn_id(), budget(), any::<u16>()).prop_map(|(turn_id, budget, percent)| {
            DaemonMessage::BudgetUsed(BudgetUsed { turn_id, budget, percent })
        }),
        (any::<u32>(), any::<u64>(), [text(), text(), text()], option::of(text()), option::of(text()), path())
            .prop_map(|(watcher, fired, [label, what, at], question, detail, folder)| {
                DaemonMessage::WatcherFired(WatcherFired { watcher, fired, label, what, at, question, detail, folder })
            }),
        (turn_id(), text()).prop_map(|(turn_id, text)| DaemonMessage::StepProgress { turn_id, text }),
    ]
}

fn delta() -> impl Strategy<Value = ChunkDelta> {
    prop_oneof![text().prop_map(ChunkDelta::Text), text().prop_map(ChunkDelta::Reasoning), Just(ChunkDelta::Reset)]
}

fn activity() -> impl Strategy<Value = StepActivity> {
    prop_oneof![
        text().prop_map(|model| StepActivity::ModelCall { model }),
        Just(StepActivity::Shared),
        (text(), text()).prop_map(|(tool, argument)| StepActivity::ToolCall { tool, argument }),
        Just(StepActivity::Compaction),
        text().prop_map(|path| StepActivity::Attachment { path }),
    ]
}

fn task_end() -> impl Strategy<Value = TaskEnd> {
    use TaskEnd::{Cancelled, Done, Failed, Interrupted, Limit, Refused};
    prop::sample::select(vec![Done, Limit, Refused, Failed, Cancelled, Interrupted])
}

fn task_summary() -> impl Strategy<Value = TaskSummary> {
    let status =
        prop_oneof![Just(TaskStatus::Queued), Just(TaskStatus::Running), task_end().prop_map(TaskStatus::Ended)];
    let times = (any::<i64>(), option::of(any::<i64>()), any::<u64>());
    (any::<u32>(), text(), path(), status, times, any::<bool>(), option::of(text())).prop_map(
        |(id, question, folder, status, (created_ms, ended_ms, tokens), has_changes, doing)| TaskSummary {
            id,
            question,
            folder,
            status,
            created_ms,
            ended_ms,
            tokens,
            has_changes,
            doing,
        },
    )
}

fn subagent_state() -> impl Strategy<Value = SubagentState> {
    prop_oneof![activity().prop_map(SubagentState::Working), outcome().prop_map(SubagentState::Ended)]
}

fn outcome() -> impl Strategy<Value = StepOutcome> {
    use StepOutcome::{Cancelled, Done, Failed, Refused};
    prop::sample::select(vec![Done, Failed, Refused, Cancelled])
}

fn end_reason() -> impl Strategy<Value = TurnEndReason> {
    use TurnEndReason::{Answered, Cancelled, Failed, Length, Refused, StepLimit};
    prop::sample::select(vec![Answered, Cancelled, StepLimit, Refused, Length, Failed])
}

fn budget() -> impl Strategy<Value = BudgetKind> {
    use BudgetKind::{DayCost, DayTokens, TurnTime, TurnTokens};
    prop::sample::select(vec![TurnTokens, DayTokens, DayCost, TurnTime])
}

fn subject() -> impl Strategy<Value = ApprovalSubject> {
    prop_oneof![
        (text(), path(), run_mode()).prop_map(|(command, cwd, mode)| ApprovalSubject::Command { command, cwd, mode }),
        (text(), path(), text()).prop_map(|(tool, path, diff)| ApprovalSubject::FileChange { tool, path, diff }),
        (text(), path()).prop_map(|(tool, path)| ApprovalSubject::FileRead { tool, path }),
        (text(), text(), text()).prop_map(|(url, server, model)| ApprovalSubject::LocalServer { url, server, model }),
        vec(proposed_command(), 0..4).prop_map(ApprovalSubject::Commands),
        text().prop_map(|what| ApprovalSubject::GoOn { what }),
        (text(), text(), text(), option::of(text())).prop_map(|(by, message, label, value)| ApprovalSubject::Input {
            by,
            message,
            label,
            value
        }),
        (text(), path(), text()).prop_map(|(tool, path, pattern)| ApprovalSubject::Search { tool, path, pattern }),
        vec(proposed_change(), 0..4).prop_map(ApprovalSubject::FileChanges),
        (text(), text(), text()).prop_map(|(by, action, details)| ApprovalSubject::Foreign { by, action, details }),
    ]
}

fn detail() -> impl Strategy<Value = StepDetail> {
    prop_oneof![
        (text(), any::<u32>()).prop_map(|(diff, left_out_lines)| StepDetail::Change(FileDiff { diff, left_out_lines })),
        text().prop_map(StepDetail::Output),
        any::<u32>().prop_map(StepDetail::Lines),
    ]
}

fn proposed_change() -> impl Strategy<Value = ProposedChange> {
    (approval_id(), text(), path(), text(), vec(text(), 0..3))
        .prop_map(|(approval_id, tool, path, diff, reasons)| ProposedChange { approval_id, tool, path, diff, reasons })
}

fn proposed_command() -> impl Strategy<Value = ProposedCommand> {
    (approval_id(), text(), path(), run_mode(), vec(text(), 0..3)).prop_map(
        |(approval_id, command, cwd, mode, reasons)| ProposedCommand { approval_id, command, cwd, mode, reasons },
    )
}

fn usage() -> impl Strategy<Value = Usage> {
    let count = || option::of(any::<u64>());
    let counts = (count(), count(), count(), count(), count());
    (counts, count(), any::<bool>()).prop_map(|((input, output, read, write, reasoning), cost, is_partial)| Usage {
        input_tokens: input,
        output_tokens: output,
        cache_read_tokens: read,
        cache_write_tokens: write,
        reasoning_tokens: reasoning,
        cost_microusd: cost,
        is_cost_partial: is_partial,
    })
}

fn answer() -> impl Strategy<Value = SessionAnswer> {
    let model = (text(), text(), text(), any::<bool>())
        .prop_map(|(provider, model, origin, is_offline)| ModelIdentity { provider, model, origin, is_offline });
    let setting = (text(), text()).prop_map(|(name, value)| EnvSetting { name, value });
    let left = (path(), vec(setting, 0..3)).prop_map(|(cwd, environment)| LeftState { cwd, environment });
    let texts = || vec(text(), 0..3);
    let recap = (text(), texts(), texts(), texts()).prop_map(|(question, answer_end, open_tasks, changed_files)| {
        Box::new(Recap { question, answer_end, open_tasks, changed_files })
    });
    let older = (option::of(text()), option::of(left), option::of(recap));
    let attached = (text(), model, approval_mode(), any::<bool>(), older).prop_map(
        |(session, model, approval, is_resumed, (title, left, recap))| {
            let session = SessionKey(session);
            SessionAnswer::Attached(Attached { session, model, approval, is_resumed, title, left, recap })
        },
    );
    let counts = any::<[u32; 6]>();
    let status =
        (counts, text(), any::<u64>(), path(), path()).prop_map(|(counts, build, uptime_ms, log_dir, config_path)| {
            let [pid, clients, sessions, turns_running, commands_running, commands_waiting] = counts;
            SessionAnswer::Status(DaemonStatus {
                pid,
                build,
                uptime_ms,
                clients,
                sessions,
                turns_running,
                commands_running,
                commands_waiting,
                log_dir,
                config_path,
            })
        });
    let section = (text(), any::<u64>()).prop_map(|(name, tokens)| ContextSection { name, tokens });
    let room = (any::<[u64; 7]>(), any::<bool>()).prop_map(
        |([max, system, messages, response_reserve, total, available, percent], fits)| ContextRoom {
            max,
            system,
            messages,
            response_reserve,
            total,
            available,
            percent,
            fits,
        },
    );
    let context = (vec(section, 0..4), option::of(room))
        .prop_map(|(sections, room)| SessionAnswer::Context(ContextReport { sections, room }));
    let compacted = any::<(u64, u64)>()
        .prop_map(|(before_tokens, after_tokens)| SessionAnswer::Compacted { before_tokens, after_tokens });
    let rewound = option::of(text()).prop_map(|question| SessionAnswer::Rewound { question });
    let started = any::<u32>().prop_map(|id| SessionAnswer::TaskStarted { id });
    let tasks = vec(task_summary(), 0..3).prop_map(SessionAnswer::Tasks);
    let task = (task_summary(), text(), text(), vec(text(), 0..3), option::of(text()), text(), option::of(path()))
        .prop_map(|(summary, question, answer, steps, error, diff, diff_file)| {
            let is_diff_whole = error.is_none();
            let details = TaskDetails { summary, question, answer, steps, error, diff, is_diff_whole, diff_file };
            SessionAnswer::Task(Box::new(details))
        });
    prop_oneof![
        started,
        tasks,
        task,
        attached,
        status,
        Just(SessionAnswer::Done),
        context,
        compacted,
        usage().prop_map(SessionAnswer::Usage),
        rewound,
    ]
}

fn notice_kind() -> impl Strategy<Value = NoticeKind> {
    prop_oneof![
        Just(NoticeKind::Info),
        Just(NoticeKind::Warning),
        any::<u64>().prop_map(|after_ms| NoticeKind::Retry { after_ms }),
    ]
}

fn wire_error() -> impl Strategy<Value = WireError> {
    use WireErrorKind::{Busy, Internal, NotFound, Protocol, Provider, Settings, Version};
    let about = prop_oneof![
        Just(ErrorSubject::Connection),
        turn_id().prop_map(ErrorSubject::Turn),
        any::<u64>().prop_map(|id| ErrorSubject::Request(RequestId(id))),
        call_id().prop_map(ErrorSubject::Call),
    ];
    let kind = prop::sample::select(vec![Version, Protocol, Settings, Provider, Busy, NotFound, Internal]);
    (about, kind, text(), option::of(text())).prop_map(|(about, kind, message, hint)| WireError {
        about,
        kind,
        message,
        hint,
    })
}
