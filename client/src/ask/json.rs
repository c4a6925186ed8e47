//! `cohab ask --json`: one object per event and line. The field `type` says what it is; more types and fields may come, so
//! readers skip what they don't know.
//!
//! | type | fields |
//! |---|---|
//! | `turn_started` | `turn_id` |
//! | `text` | `delta`: markdown, as it comes |
//! | `reasoning` | `delta` |
//! | `reset` | the text since the last step is void |
//! | `step_started` | `step`, `activity` (`model` or `tool`), `model` or `tool` and `argument` |
//! | `step_finished` | `step`, `outcome` (`done`, `failed`, `refused`, `cancelled`), `summary`, `elapsed_ms` |
//! | `approval` | `subject`, `dangerous`, `reasons`: asked, and refused since no terminal is attached |
//! | `notice` | `kind` (`info`, `warning`, `retry`), `text`, `after_ms` |
//! | `error` | `kind`, `message`, `hint` |
//! | `turn_ended` | `reason`, `usage` (tokens and `cost_usd`; `null` is unknown; `is_cost_partial`: some of it is not known) |

use std::io::{self, Write};

use cohab_conversation::approval::OpenQuestion;
use cohab_protocol::{
    ApprovalSubject, ChunkDelta, DaemonMessage, NoticeKind, ProposedChange, ProposedCommand, StepActivity, StepOutcome,
    TurnEndReason, Usage, WireErrorKind,
};
use cohab_text::sanitize::escaped_json;
use serde_json::{Value, json};

use super::{View, write_line};

/// Events as lines of JSON.
#[derive(Debug)]
pub(super) struct JsonView<W> {
    out: W,
}

impl<W: Write> JsonView<W> {
    pub fn new(out: W) -> Self {
        Self { out }
    }
}

impl<W: Write> View for JsonView<W> {
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()> {
        event(message).map_or(Ok(()), |event| write_line(&mut self.out, &escaped_json(&event.to_string())))
    }

    fn show_question(&mut self, _question: Option<&OpenQuestion>) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

fn event(message: &DaemonMessage) -> Option<Value> {
    Some(match message {
        DaemonMessage::TurnStarted { turn_id } => json!({"type": "turn_started", "turn_id": turn_id.to_string()}),
        DaemonMessage::AgentStreamChunk(chunk) => match &chunk.delta {
            ChunkDelta::Text(delta) => json!({"type": "text", "delta": delta}),
            ChunkDelta::Reasoning(delta) => json!({"type": "reasoning", "delta": delta}),
            ChunkDelta::Reset => json!({"type": "reset"}),
        },
        DaemonMessage::StepStarted(started) => match &started.activity {
            StepActivity::ModelCall { model } => {
                json!({"type": "step_started", "step": started.step, "activity": "model", "model": model})
            }
            StepActivity::ToolCall { tool, argument } => json!({
                "type": "step_started", "step": started.step, "activity": "tool", "tool": tool, "argument": argument
            }),
            StepActivity::Attachment { path } => json!({
                "type": "step_started", "step": started.step, "activity": "attachment", "path": path
            }),
            StepActivity::Compaction => {
                json!({"type": "step_started", "step": started.step, "activity": "compaction"})
            }
        },
        DaemonMessage::StepFinished(finished) => json!({
            "type": "step_finished", "step": finished.step, "outcome": outcome(finished.outcome),
            "summary": finished.summary, "elapsed_ms": finished.elapsed_ms
        }),
        DaemonMessage::ApprovalRequest(request) => json!({
            "type": "approval", "subject": subject(&request.subject),
            "dangerous": request.is_dangerous, "reasons": request.reasons
        }),
        DaemonMessage::Notice(notice) => match notice.kind {
            NoticeKind::Info => json!({"type": "notice", "kind": "info", "text": notice.text}),
            NoticeKind::Warning => json!({"type": "notice", "kind": "warning", "text": notice.text}),
            NoticeKind::Retry { after_ms } => {
                json!({"type": "notice", "kind": "retry", "text": notice.text, "after_ms": after_ms})
            }
        },
        DaemonMessage::Error(error) => json!({
            "type": "error", "kind": error_kind(error.kind), "message": error.message, "hint": error.hint
        }),
        DaemonMessage::Goodbye { reason } => {
            json!({"type": "error", "kind": "not_found", "message": reason, "hint": null})
        }
        DaemonMessage::TurnEnded(ended) => {
            json!({"type": "turn_ended", "reason": end_reason(ended.reason), "usage": usage(ended.usage)})
        }
        DaemonMessage::Welcome(_)
        | DaemonMessage::TurnProgress(_)
        | DaemonMessage::TurnUnfinished(_)
        | DaemonMessage::TurnPaused { .. }
        | DaemonMessage::BudgetUsed(_)
        | DaemonMessage::TurnExtended { .. }
        | DaemonMessage::SessionReply(_)
        | DaemonMessage::ExecuteCommand(_)
        | DaemonMessage::InterruptCommand { .. } => return None,
    })
}

fn outcome(outcome: StepOutcome) -> &'static str {
    match outcome {
        StepOutcome::Done => "done",
        StepOutcome::Failed => "failed",
        StepOutcome::Refused => "refused",
        StepOutcome::Cancelled => "cancelled",
    }
}

fn subject(subject: &ApprovalSubject) -> Value {
    match subject {
        ApprovalSubject::Command { command, cwd, .. } => {
            json!({"kind": "command", "command": command, "cwd": cwd.to_string()})
        }
        ApprovalSubject::FileChange { tool, path, diff } => {
            json!({"kind": "file_change", "tool": tool, "path": path.to_string(), "diff": diff})
        }
        ApprovalSubject::FileRead { tool, path } => {
            json!({"kind": "file_read", "tool": tool, "path": path.to_string()})
        }
        ApprovalSubject::Search { tool, path, pattern } => {
            json!({"kind": "search", "tool": tool, "path": path.to_string(), "pattern": pattern})
        }
        ApprovalSubject::Commands(commands) => {
            let one = |one: &ProposedCommand| json!({"command": one.command, "cwd": one.cwd.to_string()});
            json!({"kind": "commands", "commands": commands.iter().map(one).collect::<Vec<_>>()})
        }
        ApprovalSubject::FileChanges(changes) => {
            let one = |one: &ProposedChange| json!({"tool": one.tool, "path": one.path.to_string(), "diff": one.diff});
            json!({"kind": "file_changes", "changes": changes.iter().map(one).collect::<Vec<_>>()})
        }
        ApprovalSubject::LocalServer { url, server, model } => {
            json!({"kind": "local_server", "url": url, "server": server, "model": model})
        }
        ApprovalSubject::GoOn { what } => json!({"kind": "go_on", "what": what}),
    }
}

fn error_kind(kind: WireErrorKind) -> &'static str {
    match kind {
        WireErrorKind::Version => "version",
        WireErrorKind::Protocol => "protocol",
        WireErrorKind::Settings => "settings",
        WireErrorKind::Provider => "provider",
        WireErrorKind::Busy => "busy",
        WireErrorKind::NotFound => "not_found",
        WireErrorKind::Internal => "internal",
    }
}

fn end_reason(reason: TurnEndReason) -> &'static str {
    match reason {
        TurnEndReason::Answered => "answered",
        TurnEndReason::Cancelled => "cancelled",
        TurnEndReason::StepLimit => "step_limit",
        TurnEndReason::Refused => "refused",
        TurnEndReason::Length => "length",
        TurnEndReason::Failed => "failed",
    }
}

fn usage(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.input_tokens, "output_tokens": usage.output_tokens,
        "cache_read_tokens": usage.cache_read_tokens, "cache_write_tokens": usage.cache_write_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cost_usd": usage.cost_microusd.map(|cost| cost as f64 / 1e6), "is_cost_partial": usage.is_cost_partial
    })
}

#[cfg(test)]
mod tests {
    use cohab_protocol::{AgentStreamChunk, TurnEnded, TurnId};

    use super::*;

    fn lines(messages: &[DaemonMessage]) -> Vec<Value> {
        let mut out = Vec::new();
        let mut view = JsonView::new(&mut out);
        for message in messages {
            view.show(message).unwrap();
        }
        out.split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect()
    }

    #[test]
    fn every_event_is_one_line_even_if_its_text_has_several() {
        let turn_id = TurnId(uuid::Uuid::nil());
        let chunk = AgentStreamChunk { turn_id, seq: 0, delta: ChunkDelta::Text("a\nb \u{1b}[31m".into()) };
        let events = lines(&[DaemonMessage::AgentStreamChunk(chunk)]);
        assert_eq!(events, [json!({"type": "text", "delta": "a\nb \u{1b}[31m"})]);
    }

    #[test]
    fn unknown_usage_is_null_and_not_zero() {
        let usage = Usage { output_tokens: Some(3), cost_microusd: Some(12_345), ..Usage::default() };
        let ended = TurnEnded { turn_id: TurnId(uuid::Uuid::nil()), reason: TurnEndReason::Answered, usage, chunks: 1 };
        let events = lines(&[DaemonMessage::TurnEnded(ended)]);
        assert_eq!(events[0]["usage"]["input_tokens"], Value::Null);
        assert_eq!(events[0]["usage"]["output_tokens"], 3);
        assert_eq!(events[0]["reason"], "answered");
    }

    #[test]
    fn what_concerns_only_the_two_programs_is_no_event() {
        let interrupt = DaemonMessage::InterruptCommand {
            call_id: cohab_protocol::CallId(uuid::Uuid::nil()),
            by: cohab_protocol::Interrupter::Turn,
        };
        assert!(lines(&[interrupt]).is_empty());
    }

    #[test]
    fn a_terminal_finds_nothing_to_obey_and_a_program_finds_everything() {
        let text = "a\u{1b}[2J\u{9b}2J\u{202e}\u{e0041}\u{7f}b é";
        let line = escaped_json(&json!({ "delta": text }).to_string());
        assert!(!line.contains(|c: char| c.is_control() || cohab_text::sanitize::is_invisible(c)), "{line:?}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap()["delta"], text);
    }
}
