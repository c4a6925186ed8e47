//! A daemon with a scripted model behind a real socket, and a client that speaks the protocol.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{
    TurnLimits,
    port::{Effect, Intent, Tool, ToolContext, ToolOutput},
    runner::CommandRunner,
};
use cohab_assembly::assembly::{Assembly, Guards, Jobs, Parts, ProviderChooser, TurnSettings};
use cohab_config::model_settings::ModelSettings;
use cohab_model_api::{
    JsonObject, Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, TokenUsage, ToolCall, ToolSpec,
};
use cohab_models::{
    detect::LocalServer,
    resolution::{Choice, ChoiceError},
};
use cohab_policy::{Context, Level, Verdict};
use cohab_protocol::*;
use cohab_sandbox::profile::Profile;
use cohab_store::Store;
use cohab_types::{
    command::{CommandOutcome, CommandRequest, RelayError},
    environment::Variables,
};
use cohabd::lifecycle::{self, Ended};
use futures::{
    SinkExt, StreamExt,
    stream::{self, BoxStream},
};
use serde_json::json;
use tempfile::TempDir;
use tokio::{net::UnixStream, task::JoinHandle, time::timeout};
use tokio_util::{codec::Framed, sync::CancellationToken};

/// Time limit of a step of a test, also on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Obeys the question: `say TEXT`, `run COMMAND`, `delegate NUMBER TASK`, `spend TOKENS`, `flood`, `hang`, `panic`. After a tool it
/// repeats the result.
struct Obedient;

impl ModelProvider for Obedient {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "scripted".into(), model: "obedient".into(), origin: "test".into(), is_offline: false }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let text = |text: &str| ModelEvent::TextDelta(text.to_owned());
        let stop = ModelEvent::Stop { class: StopClass::End, provider_data: None };
        if let Some(statement) = statement(&request) {
            let usage = TokenUsage { input: Some(100), output: Some(10), ..TokenUsage::default() };
            return stream::iter([text(&statement), ModelEvent::Usage(usage), stop]).boxed();
        }
        let question = match request.messages.last() {
            Some(Message::ToolResults(results)) => {
                return stream::iter([text(&unmarked(&results[0].content)), stop]).boxed();
            }
            Some(Message::User { text, .. }) => {
                text.split("<question>\n").last().unwrap().split('\n').next().unwrap().to_owned()
            }
            other => panic!("a request ends with {other:?}"),
        };
        let (verb, rest) = question.split_once(' ').unwrap_or((&question, ""));
        match verb {
            "spend" => {
                let usage = TokenUsage { input: rest.parse().ok(), output: Some(7), ..TokenUsage::default() };
                stream::iter([text("spent"), ModelEvent::Usage(usage), stop]).boxed()
            }
            "say" => stream::iter([text(rest), stop]).boxed(),
            "run" => {
                let args = json!({ "command": rest }).as_object().cloned().unwrap();
                let id = uuid::Uuid::new_v4().simple().to_string();
                let call = ModelEvent::ToolCallDone(ToolCall { id, name: "bash".into(), args: Ok(args.into()) });
                stream::iter([call, stop]).boxed()
            }
            // Gives the same task to that many subagents.
            "delegate" => {
                let (count, task) = rest.split_once(' ').expect("a number and a task");
                let order = |number: u32| {
                    let args = json!({"agent": "explore", "task": task, "label": format!("part {number}")});
                    let (id, args) = (format!("order-{number}"), args.as_object().cloned().unwrap());
                    ModelEvent::ToolCallDone(ToolCall { id, name: "delegate".into(), args: Ok(args.into()) })
                };
                let orders: Vec<ModelEvent> = (1..=count.parse().unwrap()).map(order).chain([stop]).collect();
                stream::iter(orders).boxed()
            }
            // The message with the result of a check.
            "[check" => stream::iter([text("tried again"), stop]).boxed(),
            // The judge of attempts, who is told so.
            "These" => stream::iter([text("I cannot say."), stop]).boxed(),
            "flood" => stream::repeat(text(&"x".repeat(1000))).take(3000).chain(stream::iter([stop])).boxed(),
            // The beginning of a request for a summary.
            "[user]" => stream::iter([text("Goal: look\nDecisions: none\nFiles: none"), stop]).boxed(),
            "hang" => stream::iter([text("half")]).chain(stream::pending()).boxed(),
            "panic" => panic!("as asked"),
            other => panic!("{other} is no verb"),
        }
    }
}

/// What a debater says: the second one is for spaces, until it has read the others. The question says how sure one model alone is.
fn statement(request: &ModelRequest) -> Option<String> {
    let system = &request.system;
    let is_alone = system.starts_with("Answer the user's question. Answer with one JSON object");
    let (is_second, has_read) = (system.contains("You are debater 2 "), system.contains(" said:\n"));
    let said = |position: &str, confidence: &str, evidence: &str| {
        let (answer, evidence) = (format!("because of {position}"), evidence.to_owned());
        json!({"position": position, "answer": answer, "confidence": confidence, "evidence": evidence}).to_string()
    };
    let question = format!("{:?}", request.messages.last());
    match (is_alone, is_second) {
        (true, _) => Some(said("tabs", if question.contains("surely") { "0.9" } else { "0.5" }, "")),
        (false, true) if has_read => Some(said("tabs", "0.7", "they said why")),
        (false, true) => Some(said("spaces", "0.7", "")),
        (false, false) => system.contains("You are debater ").then(|| said("tabs", "0.6", "")),
    }
}

#[async_trait]
impl ProviderChooser for Obedient {
    async fn choose(&self, _: &ModelSettings, variables: &Variables) -> Result<Choice, ChoiceError> {
        let provider: Arc<dyn ModelProvider> = Arc::new(Self);
        match variables.get("COHAB_PROVIDER").map(String::as_str) {
            Some("broken") => Err(ChoiceError { message: "no such provider".into(), hint: None }),
            Some("found") => Ok(Choice::AskLocal {
                found: LocalServer {
                    url: "http://127.0.0.1:11434".into(),
                    wire: "ollama",
                    server: "Ollama".into(),
                    models: Vec::new(),
                    model: "obedient".into(),
                    can_call_tools: Some(false),
                    context_window_tokens: None,
                },
                otherwise: Arc::clone(&provider),
                provider,
            }),
            _ => Ok(Choice::Ready(provider)),
        }
    }
}

struct Bash;

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: "bash".into(), description: "runs".into(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _: &Path) -> Result<Intent, String> {
        let command = args["command"].as_str().unwrap().to_owned();
        Ok(Intent { title: command.clone(), effect: Effect::RunCommand { command: command.into() } })
    }

    async fn call(&self, args: &JsonObject, context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        let request = CommandRequest {
            id: uuid::Uuid::new_v4().simple().to_string(),
            text: args["command"].as_str().unwrap().to_owned(),
            timeout: Duration::from_secs(60),
            wants_env_delta: true,
        };
        let outcome = context.runner.run(request, context.cancel).await.map_err(|error| error.to_string())?;
        let content = format!("exit {:?}: {}", outcome.status, outcome.output);
        Ok(ToolOutput { is_failure: outcome.status != Some(0), ..ToolOutput::text(content, "ran".into()) })
    }
}

struct NoShell;

#[async_trait]
impl CommandRunner for NoShell {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Err(RelayError::NoClient)
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

fn policy(effect: &Effect, _: Context<'_>) -> Verdict {
    let is_allowed = match effect {
        Effect::RunCommand { command } => command.starts_with("ls"),
        Effect::Internal => true,
        Effect::Read { .. } | Effect::Write { .. } | Effect::Foreign { .. } => false,
    };
    Verdict::new(if is_allowed { Level::Allow } else { Level::Ask }, vec!["new".into()])
}

pub struct Server {
    folder: TempDir,
    pub task: JoinHandle<Ended>,
}

impl Server {
    pub async fn start() -> Self {
        Self::playing(Stage::default()).await
    }

    /// A server with another model and other tools.
    pub async fn playing(stage: Stage) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        let task = tokio::spawn(serve_with(paths.clone(), CancellationToken::new(), stage));
        while UnixStream::connect(paths.socket()).await.is_err() {
            assert!(!task.is_finished(), "the daemon did not start");
            tokio::task::yield_now().await;
        }
        Self { folder, task }
    }

    pub fn paths(&self) -> Paths {
        paths(self.folder.path())
    }

    pub async fn raw(&self) -> UnixStream {
        UnixStream::connect(self.paths().socket()).await.unwrap()
    }

    pub async fn greeted(&self) -> Client {
        let mut client = Client::over(self.raw().await);
        client.send(ClientMessage::Hello(hello())).await;
        assert!(matches!(client.next().await, DaemonMessage::Welcome(_)));
        client.0.codec_mut().handshake_done();
        client
    }

    /// A client with a live shell and a person.
    pub async fn client(&self, session: &str) -> Client {
        let mut client = self.greeted().await;
        let answer = client.attach(attach(session)).await;
        assert!(matches!(answer, DaemonMessage::SessionReply(_)), "{answer:?}");
        client
    }
}

pub fn paths(folder: &Path) -> Paths {
    Paths::new(|name| (name == "COHAB_HOME").then(|| folder.to_owned()), 0)
}

/// What a test can choose of a daemon.
pub struct Stage {
    pub chooser: Arc<dyn ProviderChooser>,
    pub tools: Vec<Arc<dyn Tool>>,
    pub model_calls: u32,
}

impl Default for Stage {
    fn default() -> Self {
        Self { chooser: Arc::new(Obedient), tools: vec![Arc::new(Bash)], model_calls: 5 }
    }
}

pub async fn serve(paths: Paths, shutdown: CancellationToken) -> Ended {
    serve_with(paths, shutdown, Stage::default()).await
}

async fn serve_with(paths: Paths, shutdown: CancellationToken, stage: Stage) -> Ended {
    let Stage { chooser, tools, model_calls } = stage;
    let settings = TurnSettings {
        output_max_bytes: 65_536,
        mcp: Arc::default(),
        context: cohab_config::ContextSettings::default(),
        model: ModelSettings::default(),
        models: Arc::default(),
        approval: ApprovalMode::Ask,
        limits: TurnLimits { model_calls },
        tools,
        kept: None,
        audit_days: None,
        sandbox: Profile::Full,
        guards: Guards::default(),
        is_cache_on: false,
        jobs: Jobs::default(),
    };
    let parts = Parts {
        load_settings: Box::new(move |_, _| Ok(settings.clone())),
        chooser,
        isolated_shell: Arc::new(|_, _, _| Arc::new(NoShell)),
        policy,
        home: "/home/ann".into(),
        store: Arc::new(Store::in_memory()),
        secrets: Arc::default(),
    };
    lifecycle::run(&paths, Arc::new(Assembly::new(paths.clone(), parts)), Arc::default(), shutdown).await.unwrap()
}

pub fn hello() -> Hello {
    Hello { protocol_version: PROTOCOL_VERSION, schema_hash: SCHEMA_HASH, build: BUILD.into(), pid: 1 }
}

pub fn attach(session: &str) -> Attach {
    Attach {
        session: SessionKey(session.into()),
        live_shell: Some("bash".into()),
        approval: ApprovalMode::Ask,
        can_approve: true,
        has_lock: false,
        settings: Vec::new(),
        environment: Vec::new(),
        resume: None,
    }
}

pub fn result(call_id: CallId, output: &str) -> ClientMessage {
    result_with(call_id, output, 0)
}

pub fn result_with(call_id: CallId, output: &str, exit_code: i32) -> ClientMessage {
    ClientMessage::CommandExecutionResult(CommandExecutionResult {
        call_id,
        ending: CommandEnding::Exited,
        exit_code: Some(exit_code),
        output: output.into(),
        total_bytes: output.len() as u64,
        truncated_bytes: 0,
        cwd: PathBuf::from("/tmp").into(),
        env_delta: EnvDelta::default(),
        duration_ms: 1,
        mode: RunMode::Live,
        state_after: StateAfter::Prompt,
        first_run: None,
    })
}

pub struct Client(pub Framed<UnixStream, FrameCodec<DaemonMessage, ClientMessage>>);

impl Client {
    pub fn over(stream: UnixStream) -> Self {
        Self(Framed::new(stream, FrameCodec::new()))
    }

    pub async fn send(&mut self, message: ClientMessage) {
        self.0.send(message).await.unwrap();
    }

    /// The next message; the connection must not end.
    pub async fn next(&mut self) -> DaemonMessage {
        self.try_next().await.expect("the connection ended")
    }

    pub async fn try_next(&mut self) -> Option<DaemonMessage> {
        timeout(PATIENCE, self.0.next()).await.expect("nothing came").map(|message| message.unwrap())
    }

    /// The first message that `wanted` accepts.
    pub async fn wait<T>(&mut self, wanted: impl Fn(&DaemonMessage) -> Option<T>) -> T {
        loop {
            let message = self.next().await;
            if let Some(found) = wanted(&message) {
                return found;
            }
        }
    }

    pub async fn attach(&mut self, attach: Attach) -> DaemonMessage {
        self.request(SessionAction::Attach(attach)).await
    }

    pub async fn request(&mut self, action: SessionAction) -> DaemonMessage {
        self.send(ClientMessage::SessionRequest(SessionRequest { request_id: RequestId(1), action })).await;
        self.next().await
    }

    pub async fn ask(&mut self, text: &str) -> TurnId {
        self.ask_in(Path::new("/home/ann"), text).await
    }

    pub async fn ask_in(&mut self, cwd: &Path, text: &str) -> TurnId {
        let turn_id = TurnId::fresh();
        let query = UserQuery {
            turn_id,
            text: text.into(),
            cwd: cwd.into(),
            columns: 80,
            piped_input: None,
            is_private: false,
        };
        self.send(ClientMessage::UserQuery(query)).await;
        turn_id
    }

    /// Reads to the end of the turn: the text, in chunks without gaps from `next_seq`, and the end.
    pub async fn answer_from(&mut self, mut next_seq: u64) -> (String, TurnEnded) {
        let mut text = String::new();
        loop {
            match self.next().await {
                DaemonMessage::AgentStreamChunk(chunk) => {
                    assert_eq!(chunk.seq, next_seq);
                    next_seq += 1;
                    if let ChunkDelta::Text(more) = chunk.delta {
                        text.push_str(&more);
                    }
                }
                DaemonMessage::TurnEnded(ended) => {
                    assert_eq!(ended.chunks, next_seq);
                    return (text, ended);
                }
                _ => {}
            }
        }
    }

    pub async fn answer(&mut self) -> (String, TurnEndReason) {
        let (text, ended) = self.answer_from(0).await;
        (text, ended.reason)
    }

    pub async fn execute(&mut self) -> ExecuteCommand {
        self.wait(|message| match message {
            DaemonMessage::ExecuteCommand(command) => Some(command.clone()),
            _ => None,
        })
        .await
    }

    pub async fn question(&mut self) -> ApprovalRequest {
        self.wait(|message| match message {
            DaemonMessage::ApprovalRequest(request) => Some(request.clone()),
            _ => None,
        })
        .await
    }

    pub async fn reply(&mut self, approval_id: ApprovalId, decision: ApprovalDecision) {
        self.send(ClientMessage::ApprovalReply(ApprovalReply { approval_id, decision })).await;
    }

    pub async fn started(&mut self, call_id: CallId) {
        self.send(ClientMessage::CommandOutput { call_id, bytes: Vec::new().into() }).await;
    }

    pub async fn error(&mut self) -> WireError {
        self.wait(|message| match message {
            DaemonMessage::Error(error) => Some(error.clone()),
            _ => None,
        })
        .await
    }
}

/// A tool result without the marks and bars added for the model.
fn unmarked(content: &str) -> String {
    let marked = content.strip_prefix("<output ").and_then(|rest| rest.split_once(">\n"));
    let (inner, notes) = marked.and_then(|(_, rest)| rest.split_once("</output>")).expect("it is marked as data");
    let bare = |line: &str| line.strip_prefix("| ").expect("each line is behind a bar").to_owned();
    inner.lines().map(bare).collect::<Vec<_>>().join("\n") + notes
}
