//! The gate decides about a tool call: by the policy, then by stored rules, then by the session's consents, then by asking the user.

mod batch;
mod data_flow;
mod decided;
mod git_settings_check;
mod sandbox_reach;
mod standard;

use std::{
    borrow::Cow,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
};

use async_trait::async_trait;
use cohab_policy::{
    Context, Level, Lock, Verdict,
    consent::{Decision, Grants, Ground, Hazards, RunConsent, Side, Situation, WhyNot, decide},
    reaches_out,
    user_rules::{Guard, NoRules, RuleSource, Safety},
};
use cohab_protocol::ApprovalMode;
use cohab_secrets::holds_placeholder;
use cohab_shell_state::shell::Shell;
use decided::{Changes, Decided};
use serde_json::Value;
use tokio::time::Instant;

pub use crate::consents::Consents;
pub use sandbox_reach::SandboxReach;
pub use standard::standard_policy;

use cohab_agent::{
    Denial, Middleware, PlannedCall,
    builtin_tools::UNCONFINED,
    hook::BY_RULE,
    port::{Agreed, ApprovalAnswer, ApprovalQuestion, ApprovalSubject, Approver, Effect, Lasts},
};
use cohab_model_api::{Channel, JsonObject, NO_APPROVER, Secrets};

use super::{
    expired_approvals::is_too_old,
    pipeline::{self, Action, Item, Outcome, ScanContext},
    repository::RepositorySettings,
};

/// The argument that holds the text of a command.
const COMMAND_ARGUMENT: &str = "command";

/// Judges effects. A function, so that tests need no real policy.
pub type Policy = fn(&Effect, Context<'_>) -> Verdict;

/// The gate of one turn.
pub struct Gate {
    policy: Policy,
    mode: Arc<dyn Fn() -> ApprovalMode + Send + Sync>,
    approver: Arc<dyn Approver>,
    consents: Consents,
    home: PathBuf,
    shell: Shell,
    refused: Mutex<Vec<(Effect, PathBuf, String)>>,
    remembered: Arc<dyn RuleSource>,
    decided: Mutex<Vec<Decided>>,
    must_ask: MustAsk,
    changes: Mutex<Changes>,
    outputs: Option<PathBuf>,
    own_folders: Vec<PathBuf>,
    program_folders: Vec<PathBuf>,
    workspace: Option<PathBuf>,
    secrets: Arc<Secrets>,
    settings: Option<RepositorySettings>,
    lock: Option<Lock<'static>>,
    reach: Option<SandboxReach>,
}

/// The reason to ask about a tool's calls although they are harmless, if there is one.
pub type MustAsk = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

impl Gate {
    /// A gate for one turn with commands for `shell`. `mode` is read again for every call, since the user may change it meanwhile.
    #[must_use]
    pub fn new(
        policy: Policy,
        mode: Arc<dyn Fn() -> ApprovalMode + Send + Sync>,
        approver: Arc<dyn Approver>,
        consents: Consents,
        home: PathBuf,
        shell: Shell,
    ) -> Self {
        let (refused, decided, changes) = (Mutex::default(), Mutex::default(), Mutex::default());
        let remembered = Arc::new(NoRules);
        let (own_folders, program_folders) = (Vec::new(), Vec::new());
        let (outputs, workspace, must_ask) = (None, None, Box::new(|_: &str| None));
        Self {
            policy,
            mode,
            approver,
            consents,
            home,
            shell,
            refused,
            remembered,
            decided,
            changes,
            must_ask,
            outputs,
            own_folders,
            program_folders,
            workspace,
            secrets: Arc::default(),
            settings: None,
            lock: None,
            reach: None,
        }
    }

    /// The same gate, which checks git's settings, as for a separate shell, where nothing else does.
    #[must_use]
    pub fn with_repository_settings(self, settings: Option<RepositorySettings>) -> Self {
        Self { settings, ..self }
    }

    /// The same gate, which knows these secrets.
    #[must_use]
    pub fn with_secrets(self, secrets: Arc<Secrets>) -> Self {
        Self { secrets, ..self }
    }

    /// The same gate, which allows reading everything below `folder`, a path without links, unasked: cohab wrote it for that.
    #[must_use]
    pub fn with_outputs(self, folder: PathBuf) -> Self {
        Self { outputs: Some(folder), ..self }
    }

    /// The same gate, which keeps tools out of cohab's own folders, as paths without links and with them.
    #[must_use]
    pub fn with_own_folders(self, own_folders: Vec<PathBuf>) -> Self {
        Self { own_folders, ..self }
    }

    /// The same gate, with the folders in PATH: a file written there may be run by its name.
    #[must_use]
    pub fn with_program_folders(self, program_folders: Vec<PathBuf>) -> Self {
        Self { program_folders, ..self }
    }

    /// The same gate, where `lock` keeps the programs of unasked commands from writing.
    #[must_use]
    pub fn with_lock(self, lock: Option<Lock<'static>>) -> Self {
        Self { lock, ..self }
    }

    /// The same gate, which knows where the sandbox of a separate shell lets commands write.
    #[must_use]
    pub fn with_reach(self, reach: Option<SandboxReach>) -> Self {
        Self { reach, ..self }
    }

    /// The same gate, which knows the folder of the user's own work.
    #[must_use]
    pub fn in_workspace(self, folder: PathBuf) -> Self {
        Self { workspace: Some(folder), ..self }
    }

    /// The same gate, which knows the user's stored rules.
    #[must_use]
    pub fn with_remembered(self, remembered: Arc<dyn RuleSource>) -> Self {
        Self { remembered, ..self }
    }

    /// The same gate, which asks about more than the policy does.
    #[must_use]
    pub fn that_asks(self, must_ask: MustAsk) -> Self {
        Self { must_ask, ..self }
    }

    fn judge(&self, call: &PlannedCall) -> Verdict {
        if let (Effect::Read { path, .. }, Some(folder)) = (&call.intent.effect, &self.outputs)
            && path.starts_with(folder)
        {
            return Verdict::new(Level::Allow, Vec::new());
        }
        let context = Context::new(&call.cwd, &self.home).in_shell(self.shell);
        let context =
            Context { lock: self.lock, ..context.with_own(&self.own_folders).with_programs(&self.program_folders) };
        let mut verdict = (self.policy)(&call.intent.effect, context);
        if let Effect::RunCommand { command } = &call.intent.effect {
            self.look_elsewhere(command, context, &mut verdict);
            verdict = self.remembered.loaded(&call.cwd).apply(command, context, verdict).verdict;
        }
        if call.tool == UNCONFINED {
            verdict.level = verdict.level.max(Level::Ask);
            verdict.reasons.push("it runs outside of the sandbox: it may write anywhere and use the network".into());
        }
        self.judge_filling(&call.intent.effect, &mut verdict);
        if let Some(reason) = (self.must_ask)(&call.tool) {
            verdict.level = verdict.level.max(Level::Ask);
            verdict.reasons.push(reason);
        }
        if let Some(reason) = &call.must_ask {
            verdict.level = verdict.level.max(Level::Ask);
            verdict.reasons.push(reason.clone());
        }
        let outcome = self.look(call, verdict.level);
        verdict.level = outcome.level(verdict.level);
        verdict.reasons.extend(outcome.objections().map(str::to_owned));
        verdict
    }

    /// A secret may be filled in where the user agrees, but not in a command that leaves the machine and may stem from untrusted text.
    fn judge_filling(&self, effect: &Effect, verdict: &mut Verdict) {
        if !is_filled_in(effect) {
            return;
        }
        verdict.level = verdict.level.max(if is_outward(effect) { Level::Danger } else { Level::Ask });
        if let Some(source) = self.consents.taint().source().filter(|_| is_outward(effect)) {
            verdict.level = Level::Deny;
            let reason = format!("no secret is sent to another host after the model got text from {source}");
            verdict.reasons.insert(0, reason);
        }
    }

    /// The safety settings where the call runs.
    fn safety(&self, call: &PlannedCall) -> Safety {
        self.remembered.loaded(&call.cwd).safety.in_force()
    }

    /// The pipeline's outcome for a call with the policy's `level`.
    fn look(&self, call: &PlannedCall, level: Level) -> Outcome {
        let care = ScanContext { safety: self.safety(call), secrets: &self.secrets };
        let suspect = self.consents.suspicions().source();
        let (channel, text) = match &call.intent.effect {
            Effect::Internal => (Channel::MemoryWrite, Cow::Owned(strings_of(&call.args))),
            Effect::RunCommand { command: text } | Effect::Foreign { details: text, .. } => {
                (Channel::ToolArguments, Cow::Borrowed(&**text))
            }
            // The text does not leave the machine.
            Effect::Read { .. } | Effect::Write { .. } => (Channel::ToolArguments, Cow::default()),
        };
        let is_foreign = matches!(call.intent.effect, Effect::Foreign { .. });
        let reaches_out = is_foreign || is_outward(&call.intent.effect);
        let action = Action { level, reaches_out, suspect: suspect.as_deref() };
        pipeline::check(&Item { channel, text: &text, hides_letters: false, action: Some(action) }, &care)
    }

    /// Removes withheld text from the session's notes.
    fn clean_notes(&self, call: &mut PlannedCall) {
        if call.intent.effect == Effect::Internal {
            let personal = self.safety(call).personal;
            self.secrets.arguments(Channel::MemoryWrite, &mut call.args, personal);
        }
    }

    /// What is decided by: the user's rules and the text are looked at only for a question.
    fn situation(&self, call: &PlannedCall, verdict: &Verdict) -> Situation {
        let (effect, mode, is_question) = (&call.intent.effect, (self.mode)(), verdict.level == Level::Ask);
        let is_tainted = self.consents.taint().source().is_some();
        Situation {
            side: Side::Daemon,
            mode,
            level: verdict.level,
            is_firm: is_question && mode == ApprovalMode::Auto && self.is_firm(verdict, call),
            hazards: Hazards { reaches_out: self.may_reach_out(effect, is_tainted), ..hazards(call) },
            is_tainted,
            grants: Grants {
                answer: RunConsent::None,
                has_rule: is_question && self.has_rule(effect, &call.cwd),
                has_session: self.consents.recall(effect, &call.cwd).is_some(),
                was_refused: self.earlier_refusal(effect, &call.cwd).is_some(),
            },
        }
    }

    /// Whether the automatic mode asks, too: because of the policy, a rule of the user's for steps, the settings or the text.
    fn is_firm(&self, verdict: &Verdict, call: &PlannedCall) -> bool {
        verdict.is_firm()
            || (self.must_ask)(&call.tool).is_some()
            || self.safety(call).guard != Guard::Usual
            || self.look(call, Level::Allow).verdict >= pipeline::Verdict::Ask
    }

    /// Whether data may go to another host. Other programs may pass on what they get; the user answers for those with a rule, unless
    /// untrusted text may have chosen the data.
    fn may_reach_out(&self, effect: &Effect, is_tainted: bool) -> bool {
        match effect {
            Effect::Foreign { agreed, .. } => match agreed {
                Agreed::No => true,
                Agreed::ByRule => is_tainted,
                Agreed::InQuestion => false,
            },
            Effect::RunCommand { .. } | Effect::Read { .. } | Effect::Write { .. } | Effect::Internal => {
                is_outward(effect)
            }
        }
    }

    fn has_rule(&self, effect: &Effect, cwd: &Path) -> bool {
        let command = match effect {
            Effect::RunCommand { command } => command,
            Effect::Foreign { agreed, .. } => return *agreed == Agreed::ByRule,
            Effect::Read { .. } | Effect::Write { .. } | Effect::Internal => return false,
        };
        let context = Context::new(cwd, &self.home).in_shell(self.shell);
        let verdict = Verdict::new(Level::Ask, Vec::new());
        self.remembered.loaded(cwd).apply(command, context, verdict).allowed_by.is_some()
    }

    /// The untrusted text that the user should know of, also as the reason for asking again about a rule or a consent.
    fn suspended(&self, effect: &Effect, cwd: &Path) -> Option<String> {
        let reason = self.consents.taint().reason()?;
        let is_again = self.consents.is_suspended(effect, cwd) || self.has_rule(effect, cwd);
        Some(if is_again { format!("asked again: {reason}") } else { reason })
    }

    /// Asks, unless the user has decided about exactly this in this turn; with `is_each_time` only a refusal counts.
    async fn ask(&self, call: &mut PlannedCall, verdict: Verdict, is_each_time: bool) -> Result<(), Denial> {
        let effect = call.intent.effect.clone();
        let is_dangerous = verdict.level >= Level::Danger;
        if let Some(reason) = self.earlier_refusal(&effect, &call.cwd) {
            return Err(refusal(refused_already(&reason)));
        }
        let is_once = is_dangerous || is_each_time;
        let beforehand = self.take_decided(&effect, &call.cwd).filter(|_| !is_once);
        let (answer, answered_at) = match beforehand {
            Some(answer) => answer,
            None => {
                let mut reasons = verdict.reasons;
                reasons.extend(self.suspended(&effect, &call.cwd));
                reasons.extend(self.place_among_changes(&effect));
                let subject = ApprovalSubject::Effect { tool: call.tool.clone(), effect: effect.clone() };
                let question = ApprovalQuestion { subject, is_dangerous, reasons, is_each_time };
                (self.approver.ask(question).await, Instant::now())
            }
        };
        call.agreed_at = Some(answered_at);
        match answer {
            ApprovalAnswer::Approved { approval, lasts } => {
                if lasts != Lasts::Once && !is_once && !is_outward(&effect) {
                    self.consents.remember(effect, call.cwd.clone(), approval.clone());
                }
                call.approval = approval;
                Ok(())
            }
            ApprovalAnswer::Edited { command, approval } => {
                let args = Arc::make_mut(&mut call.args);
                args.insert(COMMAND_ARGUMENT.into(), Value::String(command.clone()));
                call.intent.title.clone_from(&command);
                call.note = Some(format!("the user changed the command; what ran instead: {command}"));
                call.intent.effect = Effect::RunCommand { command: command.into() };
                call.approval = approval;
                Ok(())
            }
            ApprovalAnswer::Refused { reason } => {
                let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
                refused.push((effect, call.cwd.clone(), reason.clone()));
                Err(refusal(reason))
            }
            ApprovalAnswer::CancelTurn => Err(Denial::CancelTurn),
        }
    }

    fn earlier_refusal(&self, effect: &Effect, cwd: &Path) -> Option<String> {
        let refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().find(|(one, place, _)| one == effect && place == cwd).map(|(.., reason)| reason.clone())
    }
}

#[async_trait]
impl Middleware for Gate {
    async fn before_tools(&self, calls: &[PlannedCall]) -> ControlFlow<()> {
        self.ask_together(calls).await
    }

    async fn before_tool(&self, call: &mut PlannedCall) -> Result<(), Denial> {
        let mut verdict = self.judge(call);
        self.leave_sandbox(call, &mut verdict);
        self.clean_notes(call);
        call.verdict = Some(verdict.clone());
        let reasons = verdict.reasons.join("; ");
        let situation = self.situation(call, &verdict);
        match decide(&situation) {
            Decision::Refuse(WhyNot::Never) => Err(refusal(format!("never allowed, do not try it again: {reasons}"))),
            Decision::Refuse(WhyNot::ReadOnly) => {
                Err(refusal(format!("not run: only plainly read-only things are allowed here ({reasons})")))
            }
            Decision::Run(Ground::Policy) => self.look_at_settings(call).await,
            Decision::Run(Ground::Rule) => {
                call.approval = Some(BY_RULE.into());
                Ok(())
            }
            Decision::Run(Ground::Session) => {
                call.approval = self.consents.recall(&call.intent.effect, &call.cwd).flatten();
                Ok(())
            }
            Decision::Run(_) => Ok(()),
            // The refusal has the user's reason.
            Decision::Refuse(WhyNot::RefusedBefore) | Decision::Ask => {
                self.ask(call, verdict, situation.hazards.is_asked_each_time()).await
            }
        }
    }
}

fn hazards(call: &PlannedCall) -> Hazards {
    let hazards = match &call.intent.effect {
        Effect::RunCommand { command } => Hazards::of(command),
        Effect::Read { .. } | Effect::Write { .. } | Effect::Internal | Effect::Foreign { .. } => Hazards::default(),
    };
    Hazards { leaves_sandbox: call.tool == UNCONFINED, is_objected_to: call.must_ask.is_some(), ..hazards }
}

/// Whether the user's terminal would fill a secret into it.
fn is_filled_in(effect: &Effect) -> bool {
    matches!(effect, Effect::RunCommand { command } if holds_placeholder(command))
}

/// Whether it sends data to another host: that is asked about each time.
fn is_outward(effect: &Effect) -> bool {
    matches!(effect, Effect::RunCommand { command } if reaches_out(command))
}

/// All texts among arguments, one per line.
fn strings_of(args: &JsonObject) -> String {
    fn collect(value: &Value, lines: &mut Vec<String>) {
        match value {
            Value::String(text) => lines.push(text.clone()),
            Value::Array(values) => values.iter().for_each(|value| collect(value, lines)),
            Value::Object(object) => object.values().for_each(|value| collect(value, lines)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut lines = Vec::new();
    args.values().for_each(|value| collect(value, &mut lines));
    lines.join("\n")
}

/// The text for a call that was refused before: by the user, or for want of one.
fn refused_already(reason: &str) -> String {
    match reason {
        NO_APPROVER => "refused already: no one can approve here".to_owned(),
        reason => format!("the user refused exactly this in this turn already: {reason}"),
    }
}

fn refusal(reason: String) -> Denial {
    Denial::Refused { reason }
}

#[cfg(test)]
mod tests;
