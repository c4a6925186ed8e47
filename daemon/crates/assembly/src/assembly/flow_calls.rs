//! Runs what the tool nodes of a flow call: after the gate of any turn, on record, in a confined separate shell.
//!
//! Nodes that ask a model or a debate are not run here.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    Denial, Fact, Middleware as _, ObservedApprover, PlannedCall, TurnError, TurnObserver as _,
    builtin_tools::{LIVE, UNCONFINED},
    port::{Approver, Effect, EventSink, NoSink, StepResult, Tool, ToolContext, TurnEvent},
    runner::CommandRunner,
};
use cohab_context::workspace::root_of;
use cohab_graph::port::{NodeAnswer, ToolRequest};
use cohab_guard::{
    gate::{Consents, Gate},
    repository::RepositorySettings,
};
use cohab_hooks::{
    approver::HookedApprover,
    hook_set::Moment,
    turn::{HookedTurn, TurnHooks},
};
use cohab_model_api::{JsonObject, Secrets, ToolCall, ToolResult, ToolSpec};
use cohab_policy_io::files::program_folders;
use cohab_protocol::ApprovalMode;
use cohab_runtime::middleware::audit::{Audit, AuditedRunner, AuditedTurn, Policy as PolicyInForce};
use cohab_sandbox::lock;
use cohab_shell_state::{quote, shell::Shell};
use cohab_text::sanitize::{one_line, sanitize};
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending},
    environment::Variables,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::{Assembly, TurnSettings, hooks::HookUser, shells::OwnShells};
use crate::temporary::TemporaryFolder;

/// Longest command of a flow. The user can end it before.
const COMMAND_LIMIT: Duration = Duration::from_secs(3_600);
/// Longest title of a call, in columns.
const TITLE_COLUMNS: usize = 60;
/// What the user is told of the values of a flow's state.
const EARLIER_RESULTS: &str = "the results of earlier nodes";

/// Whose calls these are, and who is asked.
pub struct FlowCaller {
    /// What makes the calls, for records: `flow`, or `tool` for a single call of a program.
    pub kind: &'static str,
    /// The run.
    pub run: String,
    /// The folder in which it works, links resolved.
    pub folder: PathBuf,
    /// What runs unasked; as the settings say with `None`.
    pub mode: Option<ApprovalMode>,
    /// Asks the user.
    pub approver: Arc<dyn Approver>,
}

/// Who makes calls, in records.
struct CallerName {
    session: String,
    run: String,
}

/// Runs calls of one run of a flow.
pub struct FlowCalls {
    gate: Gate,
    hooks: Option<Arc<TurnHooks>>,
    approver: Arc<dyn Approver>,
    /// Are taken out of each result before it is cut, so that none is cut into a part that nothing recognises.
    secrets: Arc<Secrets>,
    audit: Option<Arc<Audit>>,
    consents: Consents,
    /// Why the last call that was refused did not run.
    refusal: Mutex<Option<String>>,
    confined: Arc<dyn CommandRunner>,
    free: Option<Arc<dyn CommandRunner>>,
    tools: BTreeMap<String, Arc<dyn Tool>>,
    /// For the commands' temporary files: it is removed with the last owner.
    _temporary: Arc<TemporaryFolder>,
}

impl Assembly {
    /// The calls of a run of a flow, by the settings as they are now.
    ///
    /// # Errors
    /// The settings are wrong.
    pub fn flow_calls(&self, caller: FlowCaller) -> Result<FlowCalls, TurnError> {
        let settings = (self.parts.load_settings)(&self.paths, &Variables::default())?;
        let FlowCaller { kind, run, folder, mode, approver } = caller;
        let run = CallerName { session: format!("{kind}:{run}"), run };
        let mode = mode.unwrap_or(settings.approval);
        let root = root_of(&folder, &self.parts.home);
        let OwnShells { confined, free, reach } =
            self.own_shells((&folder, &Variables::default()), &settings, Some(&root));
        let audit = self.flow_audit(&run, &folder, mode, &settings);
        let approver: Arc<dyn Approver> = match &audit {
            Some(audit) => Arc::new(ObservedApprover { inner: approver, observers: vec![Arc::clone(audit) as _] }),
            None => approver,
        };
        let consents = Consents::default();
        let hooks = self.hooks_of_flow(&root, flow_turn(&run, &folder, mode), {
            let (taint, workspace) = (consents.taint().clone(), root.clone());
            HookUser { sink: Arc::new(LoggedNotices), audit: audit.clone(), taint, workspace, shell: Shell::Bash }
        })?;
        let approver: Arc<dyn Approver> = match hooks.clone() {
            Some(hooks) => Arc::new(HookedApprover { inner: approver, hooks }),
            None => approver,
        };
        let on_record = |shell: Arc<dyn CommandRunner>| match &audit {
            Some(audit) => Arc::new(AuditedRunner::new(shell, Arc::clone(audit))) as _,
            None => shell,
        };
        let (confined, free) = (on_record(confined), free.map(on_record));
        let rules = Arc::clone(&settings.guards.rules);
        let lock = lock::launcher().is_ok().then(|| settings.guards.lock());
        let programs = std::env::var_os("PATH").map_or_else(Vec::new, |path| program_folders(&path));
        let home = self.parts.home.clone();
        let repository = RepositorySettings::new(&home, &Variables::default(), consents.clone());
        let asked = Arc::clone(&approver);
        let secrets = Arc::clone(&self.parts.secrets);
        let gate = Gate::new(self.parts.policy, Arc::new(move || mode), asked, consents.clone(), home, Shell::Bash)
            .with_repository_settings(Some(repository))
            .with_lock(lock)
            .with_reach(reach)
            .with_remembered(Arc::clone(&self.rules) as _)
            .with_own_folders(self.paths.own_folders())
            .with_program_folders(programs)
            .in_workspace(root)
            .with_secrets(Arc::clone(&secrets))
            .that_asks(Box::new(move |tool: &str| rules.must_ask(tool, "")));
        let tools = settings.tools.iter().map(|tool| (tool.spec().name, Arc::clone(tool))).collect();
        hooks.iter().for_each(|hooks| hooks.know_tools(&tools));
        let _temporary = Arc::clone(&self.temporary);
        let refusal = Mutex::default();
        Ok(FlowCalls { gate, hooks, approver, secrets, audit, consents, refusal, confined, free, tools, _temporary })
    }

    fn flow_audit(
        &self,
        run: &CallerName,
        folder: &Path,
        mode: ApprovalMode,
        settings: &TurnSettings,
    ) -> Option<Arc<Audit>> {
        let turn = AuditedTurn {
            session: run.session.clone(),
            turn: run.run.clone(),
            cwd: folder.to_owned(),
            home: self.parts.home.clone(),
            keep_days: settings.audit_days?,
            shell: Shell::Bash,
            is_private: false,
        };
        let (seen, rules) = (Arc::clone(&self.policy_seen), Arc::clone(&self.rules) as _);
        let policy = PolicyInForce { seen, mode: Box::new(move || mode), rules };
        Some(Arc::new(Audit::new(self.audit.clone(), turn, policy, Arc::new(LoggedNotices))))
    }
}

/// The run as a turn that hooks run around.
fn flow_turn(run: &CallerName, folder: &Path, mode: ApprovalMode) -> HookedTurn {
    let (session, cwd) = (run.session.clone(), folder.to_owned());
    let name = session.clone();
    let moment = move || Moment { session: name.clone(), cwd: cwd.clone(), environment: Variables::default(), mode };
    let cancel = CancellationToken::new();
    HookedTurn { session, question: None, subagent: None, is_private: false, cancel, moment: Box::new(moment) }
}

/// Nobody follows the events of a run: its notices go to the log.
struct LoggedNotices;

#[async_trait]
impl EventSink for LoggedNotices {
    async fn emit(&self, event: TurnEvent) {
        if let TurnEvent::Notice(notice) = event {
            tracing::warn!(notice);
        }
    }

    fn pause(&self) {}
}

impl FlowCalls {
    /// Runs a call, after the user's consent where it is needed. `holds_values`: texts of others may be in it.
    pub async fn call(&self, request: ToolRequest, holds_values: bool, cancel: &CancellationToken) -> NodeAnswer {
        if holds_values {
            self.consents.taint().raise(EARLIER_RESULTS);
        }
        let called = tokio::select! {
            biased;
            () = cancel.cancelled() => return NodeAnswer::Cancelled,
            planned = self.planned(request, holds_values) => match planned {
                Ok(planned) => planned,
                Err(answer) => return answer,
            },
        };
        self.observe(Fact::CallReached(&called)).await;
        let answer = match &called.intent.effect {
            Effect::RunCommand { command } => self.run(&called, command, cancel).await,
            Effect::Read { .. } | Effect::Write { .. } | Effect::Internal | Effect::Foreign { .. } => {
                self.use_tool(&called, cancel).await
            }
        };
        let (outcome, content) = match &answer {
            NodeAnswer::Command { status: 0, .. } | NodeAnswer::Text(_) => (StepResult::Done, String::new()),
            NodeAnswer::Command { .. } | NodeAnswer::Later => (StepResult::Failed, String::new()),
            NodeAnswer::Failed(reason) => (StepResult::Failed, reason.clone()),
            NodeAnswer::Cancelled => (StepResult::Cancelled, String::new()),
        };
        self.ended(&called, outcome, content).await;
        self.tell_hooks(&called, outcome, &answer).await;
        answer
    }

    /// Has the hooks hear of a call that ran.
    async fn tell_hooks(&self, called: &PlannedCall, outcome: StepResult, answer: &NodeAnswer) {
        let Some(hooks) = self.hooks.as_ref().filter(|_| outcome != StepResult::Cancelled) else { return };
        let content = match answer {
            NodeAnswer::Command { text, .. } | NodeAnswer::Text(text) | NodeAnswer::Failed(text) => text.clone(),
            NodeAnswer::Later | NodeAnswer::Cancelled => String::new(),
        };
        let (call_id, tool) = (called.call_id.clone(), called.tool.clone());
        hooks.observe(Fact::ToolRan(called, outcome)).await;
        hooks.after_tool(&mut ToolResult { call_id, tool, content, is_error: false }).await;
    }

    /// The call as it may run. The error is what becomes of the node.
    async fn planned(&self, request: ToolRequest, holds_values: bool) -> Result<PlannedCall, NodeAnswer> {
        let is_named = matches!(request, ToolRequest::Tool { .. });
        let (name, args) = match request {
            ToolRequest::Line(line) => (LIVE.to_owned(), command_arguments(line)),
            ToolRequest::Words(words) => (LIVE.to_owned(), command_arguments(line_of(&words))),
            ToolRequest::Tool { name, arguments } => (name, arguments),
        };
        let tool = self.tool(&name)?;
        let cwd = self.confined.cwd();
        let intent = tool.intent(&args, &cwd).map_err(NodeAnswer::Failed)?;
        if is_named && holds_values && matches!(intent.effect, Effect::RunCommand { .. }) {
            let reason = "a value in a shell line would run as code; write the command as a list of words";
            return Err(NodeAnswer::Failed(reason.to_owned()));
        }
        let args = Arc::new(args);
        let call = ToolCall { id: Uuid::now_v7().simple().to_string(), name, args: Ok(Arc::clone(&args)) };
        let mut planned = PlannedCall { run_id: call.id.clone(), ..PlannedCall::new(&call, args, intent, cwd) };
        let passed = match &self.hooks {
            Some(hooks) => hooks.before_tool(&mut planned).await,
            None => Ok(()),
        };
        let passed = match passed {
            Ok(()) => self.gate.before_tool(&mut planned).await,
            Err(denial) => Err(denial),
        };
        match passed {
            Ok(()) => Ok(planned),
            Err(Denial::Refused { reason }) => {
                self.ended(&planned, StepResult::Refused, reason.clone()).await;
                *self.refusal.lock().unwrap_or_else(PoisonError::into_inner) = Some(reason.clone());
                Err(NodeAnswer::Failed(reason))
            }
            Err(Denial::CancelTurn) => Err(NodeAnswer::Cancelled),
        }
    }

    /// Adds tools; a name that is taken stays what it is.
    pub fn add_tools(&mut self, tools: Vec<Arc<dyn Tool>>) {
        for tool in tools {
            self.tools.entry(tool.spec().name).or_insert(tool);
        }
    }

    /// The tools that can be called by name.
    #[must_use]
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec()).collect()
    }

    /// Why the last call did not run, if the policy, a hook or the user refused it.
    pub fn take_refusal(&self) -> Option<String> {
        self.refusal.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn tool(&self, name: &str) -> Result<&Arc<dyn Tool>, NodeAnswer> {
        self.tools.get(name).ok_or_else(|| {
            let names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
            let name = one_line(name, TITLE_COLUMNS);
            NodeAnswer::Failed(format!("there is no tool `{name}`; the tools are: {}", names.join(", ")))
        })
    }

    async fn run(&self, call: &PlannedCall, command: &str, cancel: &CancellationToken) -> NodeAnswer {
        let shell = self.free.as_ref().filter(|_| call.tool == UNCONFINED).unwrap_or(&self.confined);
        let wanted = call.args.get("timeout_ms").and_then(serde_json::Value::as_u64).map(Duration::from_millis);
        let timeout = wanted.unwrap_or(COMMAND_LIMIT).min(COMMAND_LIMIT);
        let request =
            CommandRequest { id: call.run_id.clone(), text: command.to_owned(), timeout, wants_env_delta: false };
        let CommandOutcome { ending, status, output, .. } = match shell.run(request, cancel).await {
            Ok(outcome) => outcome,
            Err(error) => return NodeAnswer::Failed(error.to_string()),
        };
        let text = self.clean(&output);
        match (ending, status) {
            (Ending::Exited | Ending::ShellExited, Some(status)) => NodeAnswer::Command { text, status },
            (Ending::Interrupted { .. }, _) if cancel.is_cancelled() => NodeAnswer::Cancelled,
            (Ending::Interrupted { .. } | Ending::StillRunning, _) => {
                NodeAnswer::Failed(format!("the command ran longer than {} s", timeout.as_secs_f32()))
            }
            (Ending::Stopped | Ending::Exited | Ending::ShellExited, _) => {
                NodeAnswer::Failed("the command ended without a status".to_owned())
            }
        }
    }

    async fn use_tool(&self, call: &PlannedCall, cancel: &CancellationToken) -> NodeAnswer {
        let tool = match self.tool(&call.tool) {
            Ok(tool) => tool,
            Err(answer) => return answer,
        };
        let (approval, run_id) = (call.approval.clone(), call.run_id.clone());
        let runner = self.confined.as_ref();
        let context = ToolContext { runner, approval, run_id, is_check: false, cancel, sink: &NoSink };
        match tool.call(&call.args, &context).await {
            Ok(output) if output.is_failure => NodeAnswer::Failed(self.clean(&output.content)),
            Ok(output) => NodeAnswer::Text(self.clean(&output.content)),
            Err(reason) => NodeAnswer::Failed(self.clean(&reason)),
        }
    }

    fn clean(&self, text: &str) -> String {
        let mut text = sanitize(text);
        self.secrets.text(&mut text);
        text
    }

    /// Who is asked for this run; answers are on record.
    #[must_use]
    pub fn approver(&self) -> Arc<dyn Approver> {
        Arc::clone(&self.approver)
    }

    async fn observe(&self, fact: Fact<'_>) {
        if let Some(audit) = &self.audit {
            audit.observe(fact).await;
        }
    }

    async fn ended(&self, planned: &PlannedCall, outcome: StepResult, content: String) {
        let args = Ok(Arc::clone(&planned.args));
        let call = ToolCall { id: planned.call_id.clone(), name: planned.tool.clone(), args };
        let is_error = outcome != StepResult::Done;
        let result = ToolResult { call_id: call.id.clone(), tool: call.name.clone(), content, is_error };
        self.observe(Fact::CallEnded(&call, outcome, &result)).await;
    }
}

/// The line of these words, each of which stays one word. A first one with `=` in it is a program, no assignment.
fn line_of(words: &[String]) -> String {
    let quoted = |(place, word): (usize, &String)| match place == 0 && word.contains('=') {
        true => Shell::Bash.quoted_text(word),
        false => quote::literal(word),
    };
    words.iter().enumerate().map(quoted).collect::<Vec<_>>().join(" ")
}

fn command_arguments(line: String) -> JsonObject {
    [("command".to_owned(), line.into())].into_iter().collect()
}

#[cfg(test)]
#[path = "flow_calls_tests.rs"]
mod tests;
