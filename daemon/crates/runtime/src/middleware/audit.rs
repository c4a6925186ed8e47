//! The one observer that writes the audit log: actions of the assistant and the consents to them. A record is on disk before its action
//! happens; nothing else waits.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use async_trait::async_trait;
use cohab_agent::{
    Fact, PlannedCall, TurnObserver, TurnResult,
    hook::BY_RULE,
    port::{ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Effect, EventSink, Lasts, StepResult, TurnEvent},
    runner::CommandRunner,
};
use cohab_model_api::{ToolCall, ToolResult};
use cohab_policy::{self, Context, Level, Verdict, user_rules::RuleSource};
use cohab_policy_io::files::FileSystem;
use cohab_protocol::ApprovalMode;
use cohab_shell_state::shell::Shell;
use cohab_store::{
    audit::{
        AuditLog, Kept, PolicySeen,
        record::{Answer, Consent, Deed, Event, Note, reasons, text},
        rule_shown,
    },
    worker::Hold,
};
use cohab_text::cut::head;
use cohab_types::command::{CommandOutcome, CommandRequest, RelayError};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::recording::end_word;

/// Most approved effects that have not begun; beyond, the oldest is forgotten.
const MAX_ASKED: usize = 64;
/// Most bytes of the reason for an action that was not done.
const REASON_BYTES: usize = 1_024;
/// Reported once, when records can no longer be written.
const NOT_RECORDED: &str = "Actions are not recorded: the audit log cannot be written. cohab continues without it; \
                            see `cohab audit verify` and the daemon's log.";

/// The turn that is recorded.
pub struct AuditedTurn {
    /// Name of its session.
    pub session: String,
    /// Its id.
    pub turn: String,
    /// Its first folder.
    pub cwd: PathBuf,
    /// The user's home.
    pub home: PathBuf,
    /// Days that its records are kept.
    pub keep_days: u32,
    /// The shell that reads its commands.
    pub shell: Shell,
    /// Whether its question is private.
    pub is_private: bool,
}

/// The policy on unasked actions.
pub struct Policy {
    /// Its last seen state.
    pub seen: Arc<PolicySeen>,
    /// The mode in force.
    pub mode: Box<dyn Fn() -> ApprovalMode + Send + Sync>,
    /// The user's rules.
    pub rules: Arc<dyn RuleSource>,
}

/// Records one turn.
pub struct Audit {
    log: AuditLog,
    turn: AuditedTurn,
    policy: Policy,
    sink: Arc<dyn EventSink>,
    state: Mutex<AuditState>,
}

#[derive(Default)]
struct AuditState {
    hold: Option<Hold<Note>>,
    /// Effects that the user approved in this turn.
    asked: Vec<Effect>,
    /// Calls with a recorded action that are not over, by id, with the name of their run.
    begun: BTreeMap<String, String>,
}

impl Audit {
    /// Records `turn` in `log`; `sink` informs the user when that fails.
    #[must_use]
    pub fn new(log: AuditLog, turn: AuditedTurn, policy: Policy, sink: Arc<dyn EventSink>) -> Self {
        Self { log, turn, policy, sink, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, AuditState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, event: Event) -> Note {
        let AuditedTurn { session, turn, keep_days, .. } = &self.turn;
        Note { at: Timestamp::now(), session: session.clone(), turn: turn.clone(), keep_days: *keep_days, event }
    }

    fn keep(&self, event: Event) {
        self.begin();
        self.log.keep(self.note(event));
    }

    /// Writes the first record of the turn before any other.
    fn begin(&self) {
        if self.state().hold.is_some() {
            return;
        }
        self.state().hold = Some(self.log.hold());
        let rules = self.policy.rules.loaded(&self.turn.cwd).rules.all().len();
        let (mode, cwd) = ((self.policy.mode)().to_string(), self.turn.cwd.to_string_lossy().into_owned());
        let is_private = self.turn.is_private;
        self.log.keep(self.note(Event::TurnBegan { mode, rules, cwd, is_private }));
        self.look_at_policy();
    }

    fn look_at_policy(&self) {
        let AuditedTurn { session, cwd, .. } = &self.turn;
        let rules = self.policy.rules.loaded(cwd);
        for change in self.policy.seen.changes(session, (self.policy.mode)(), cwd, &rules.rules) {
            self.log.keep(self.note(change));
        }
    }

    fn answered(&self, question: &ApprovalQuestion, answer: &ApprovalAnswer) {
        let (word, note) = match answer {
            ApprovalAnswer::Approved { lasts: Lasts::Once, .. } => (Answer::Once, String::new()),
            ApprovalAnswer::Approved { lasts: Lasts::Session, .. } => (Answer::Session, String::new()),
            ApprovalAnswer::Approved { lasts: Lasts::Rule, .. } => (Answer::Always, String::new()),
            // What a program got stays between the user and it.
            ApprovalAnswer::Edited { .. } if matches!(question.subject, ApprovalSubject::Input { .. }) => {
                (Answer::Edited, String::new())
            }
            ApprovalAnswer::Edited { command, .. } => (Answer::Edited, text(command)),
            ApprovalAnswer::Refused { reason } => (Answer::No, text(reason)),
            ApprovalAnswer::CancelTurn => (Answer::No, "the user ended the turn".to_owned()),
        };
        let agreed = match (&question.subject, answer) {
            (ApprovalSubject::Effect { effect, .. }, ApprovalAnswer::Approved { .. }) => Some(effect.clone()),
            (ApprovalSubject::Effect { .. }, ApprovalAnswer::Edited { command, .. }) => {
                Some(Effect::RunCommand { command: command.as_str().into() })
            }
            _ => None,
        };
        {
            let asked = &mut self.state().asked;
            if asked.len() == MAX_ASKED {
                asked.remove(0);
            }
            asked.extend(agreed);
        }
        self.keep(Event::Asked {
            subject: subject(&question.subject),
            is_dangerous: question.is_dangerous,
            reasons: reasons(&question.reasons),
            answer: word,
            note,
        });
        self.look_at_policy();
    }

    /// The consent to this call, and the rule if one allows it.
    fn consent(&self, call: &PlannedCall, level: Level) -> (Consent, String) {
        let effect = &call.intent.effect;
        let asked = &mut self.state().asked;
        if let Some(at) = asked.iter().position(|one| one == effect) {
            asked.remove(at);
            return (Consent::Asked, String::new());
        }
        if call.approval.as_deref() == Some(BY_RULE) {
            let rules = self.policy.rules.loaded(&call.cwd);
            let context = Context::new(&call.cwd, &self.turn.home).in_shell(self.turn.shell);
            let asked = Verdict::new(Level::Ask, Vec::new());
            let found = match effect {
                Effect::RunCommand { command } => rules.apply(command, context, asked).allowed_by,
                Effect::Read { .. } | Effect::Write { .. } | Effect::Internal | Effect::Foreign { .. } => None,
            };
            return (Consent::Rule, found.map(rule_shown).unwrap_or_default());
        }
        let consent = match (level, (self.policy.mode)()) {
            (Level::Allow, _) => Consent::Policy,
            (_, ApprovalMode::All) => Consent::Mode,
            (_, ApprovalMode::Auto) if call.approval.is_none() => Consent::Mode,
            _ => Consent::Session,
        };
        (consent, String::new())
    }

    /// The record of a call before it runs; none for one that only reads what is not secret.
    fn action(&self, call: &PlannedCall) -> Option<Event> {
        let judged = call.verdict.clone().unwrap_or(Verdict::new(Level::Allow, Vec::new()));
        let (does, what) = match &call.intent.effect {
            Effect::RunCommand { command } => (Deed::Run, text(command)),
            Effect::Write { path, .. } => (Deed::Write, text(&path.to_string_lossy())),
            Effect::Read { path, .. } if judged.level > Level::Allow => (Deed::Read, text(&path.to_string_lossy())),
            Effect::Foreign { by, action, details, .. } => (Deed::Foreign, text(&format!("{by}: {action} {details}"))),
            Effect::Read { .. } | Effect::Internal => return None,
        };
        let (consent, rule) = self.consent(call, judged.level);
        let typed = match &call.intent.effect {
            Effect::RunCommand { command } if (self.policy.mode)() != ApprovalMode::All => {
                let context = Context::new(&call.cwd, &self.turn.home).in_shell(self.turn.shell);
                let typed = cohab_policy::unasked(command, context.with_files(&FileSystem)).ok();
                typed.filter(|typed| *typed.text != **command).map(|typed| text(&typed.text))
            }
            _ => None,
        };
        Some(Event::Action {
            call: call.call_id.clone(),
            tool: call.tool.clone(),
            does,
            text: what,
            typed: typed.unwrap_or_default(),
            cwd: call.cwd.to_string_lossy().into_owned(),
            verdict: level_word(judged.level).to_owned(),
            reasons: reasons(&judged.reasons),
            consent,
            rule,
        })
    }

    async fn acts(&self, call: &PlannedCall) {
        let Some(action) = self.action(call) else { return };
        self.begin();
        self.look_at_policy();
        self.state().begun.insert(call.call_id.clone(), call.run_id.clone());
        if self.log.keep_now(self.note(action)).await == Kept::NoMore {
            self.sink.emit(TurnEvent::Notice(NOT_RECORDED.into())).await;
        }
    }

    fn call_ended(&self, call: &ToolCall, outcome: StepResult, result: &ToolResult) {
        if self.state().begun.remove(&call.id).is_some() {
            return self.keep(Event::Done { call: call.id.clone(), outcome: word(outcome).to_owned() });
        }
        if outcome == StepResult::Refused {
            let argument = |name| call.args.as_ref().ok()?.get(name)?.as_str();
            let what = argument("command").or_else(|| argument("path")).unwrap_or_default();
            self.keep(Event::Refused {
                call: call.id.clone(),
                tool: call.name.clone(),
                text: text(what),
                reason: head(&result.content, REASON_BYTES).to_owned(),
            });
        }
    }

    /// Records that a hook of the user's kept something from happening.
    pub fn hook_objected(&self, on: &str, tool: &str, hook: &str, reason: &str) {
        self.keep(Event::HookObjected {
            on: on.to_owned(),
            tool: tool.to_owned(),
            hook: text(hook),
            reason: head(reason, REASON_BYTES).to_owned(),
        });
    }

    fn command_ended(&self, run_id: &str, outcome: &CommandOutcome) {
        let Some(why) = &outcome.first_run else { return };
        let call = self.state().begun.iter().find_map(|(call, run)| (run == run_id).then(|| call.clone()));
        self.keep(Event::RanWithoutLock { call: call.unwrap_or_default(), first_run: text(why) });
    }

    fn turn_ended(&self, result: &TurnResult) {
        self.keep(Event::TurnEnded { reason: end_word(result).to_owned() });
        self.state().hold = None;
    }
}

#[async_trait]
impl TurnObserver for Audit {
    async fn observe(&self, fact: Fact<'_>) {
        match fact {
            Fact::CallReached(call) => self.acts(call).await,
            Fact::CallEnded(call, outcome, result) => self.call_ended(call, outcome, result),
            Fact::TurnEnded(_, result) => self.turn_ended(result),
            Fact::Answered(question, answer, _) => self.answered(question, answer),
            Fact::AllAnswered(questions, answers, _) => {
                questions.iter().zip(answers).for_each(|(question, answer)| self.answered(question, answer));
            }
            _ => {}
        }
    }
}

/// Records commands that ran once more without the lock.
pub struct AuditedRunner {
    inner: Arc<dyn CommandRunner>,
    audit: Arc<Audit>,
}

impl AuditedRunner {
    /// Runs commands through `inner`.
    #[must_use]
    pub fn new(inner: Arc<dyn CommandRunner>, audit: Arc<Audit>) -> Self {
        Self { inner, audit }
    }
}

#[async_trait]
impl CommandRunner for AuditedRunner {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        let run_id = request.id.clone();
        let outcome = self.inner.run(request, cancel).await?;
        self.audit.command_ended(&run_id, &outcome);
        Ok(outcome)
    }

    fn cwd(&self) -> PathBuf {
        self.inner.cwd()
    }
}

fn word(outcome: StepResult) -> &'static str {
    match outcome {
        StepResult::Done => "done",
        StepResult::Failed => "failed",
        StepResult::Refused => "refused",
        StepResult::Cancelled => "cancelled",
    }
}

fn level_word(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Ask => "ask",
        Level::Danger => "danger",
        Level::Deny => "deny",
    }
}

fn subject(subject: &ApprovalSubject) -> String {
    match subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => text(command),
        ApprovalSubject::Effect { tool, effect: Effect::Read { path, .. } | Effect::Write { path, .. } } => {
            text(&format!("{tool} {}", path.display()))
        }
        ApprovalSubject::Effect { tool, effect: Effect::Internal } => tool.clone(),
        ApprovalSubject::Effect { effect: Effect::Foreign { by, action, details, .. }, .. } => {
            text(&format!("{by}: {action} {details}"))
        }
        ApprovalSubject::LocalServer { url, server, .. } => format!("send questions to {server} at {url}"),
        ApprovalSubject::GoOn { what } => text(&format!("continue: {what}")),
        ApprovalSubject::Input { by, label, .. } => text(&format!("tell {by}: {label}")),
    }
}

#[cfg(test)]
#[path = "audit_tests.rs"]
mod tests;
