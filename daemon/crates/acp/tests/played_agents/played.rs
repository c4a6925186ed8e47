//! Plays the loop for an agent that is a real process.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use async_trait::async_trait;
use cohab_acp::{AgentPool, AgentStart, AgentTurn, AgentTurnParts, find::Launch, known};
use cohab_agent::{
    Fact, PlannedCall, TurnObserver as _,
    port::{Effect, Intent, StepResult},
    runner::CommandRunner,
};
use cohab_config::agents::{OwnAgent, OwnAgents};
use cohab_model_api::{
    AssistantMessage, Message, ModelEvent, ModelProvider, ModelRequest, StopClass, ToolCall, ToolResult,
};
use cohab_protocol::Paths;
use cohab_shell_state::shell::Shell;
use cohab_types::command::{CommandOutcome, CommandRequest, Ending, Interrupter, Mode, RelayError, StateAfter};
use futures::StreamExt as _;
use tokio_util::sync::CancellationToken;

/// The place of one daemon.
pub struct Place {
    pub folder: tempfile::TempDir,
    pub pool: Arc<AgentPool>,
    pub variables: BTreeMap<String, String>,
}

/// A loop that runs the calls of an agent as the test says.
pub struct Played {
    pub turn: Arc<AgentTurn>,
    pub model: Arc<dyn ModelProvider>,
    pub messages: Vec<Message>,
    pub calls: Vec<ToolCall>,
    pub texts: String,
    pub notices: Vec<String>,
}

/// How an answer ended.
#[derive(Debug, PartialEq)]
pub enum End {
    Stop(StopClass),
    Failed(String, Option<String>),
    Incomplete(String),
}

impl Place {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let pool = pool(folder.path());
        Self { folder, pool, variables: BTreeMap::new() }
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.variables.insert(name.to_owned(), value.to_owned());
        self
    }

    pub fn turn(&self, is_private: bool) -> Played {
        self.turn_of("s1", is_private)
    }

    pub fn turn_of(&self, session: &str, is_private: bool) -> Played {
        let own = OwnAgent { command: program(), args: Vec::new(), env: BTreeMap::new() };
        let agent = known::find("fake", &OwnAgents::from([("fake".to_owned(), own)])).expect("an own agent");
        let cwd = self.folder.path().to_owned();
        let start = AgentStart {
            agent,
            launch: Launch { program: program().into(), args: Vec::new(), environment: self.variables.clone() },
            session: session.to_owned(),
            is_for_one_turn: is_private,
            shell: Shell::Bash,
            cwd: Box::new(move || cwd.clone()),
        };
        let parts = AgentTurnParts {
            start,
            secrets: Arc::default(),
            pool: Arc::clone(&self.pool),
            before_prompt: Box::new(|| {}),
        };
        let turn = AgentTurn::new(parts);
        let model = turn.model();
        Played { turn, model, messages: Vec::new(), calls: Vec::new(), texts: String::new(), notices: Vec::new() }
    }

    pub async fn asked(&self, question: &str) -> (Played, End) {
        let mut played = self.turn(false);
        let end = played.ask(question).await;
        (played, end)
    }
}

pub fn pool(folder: &Path) -> Arc<AgentPool> {
    let home = folder.join("home");
    let paths = Paths {
        config_dir: home.join("config"),
        state_dir: home.join("state"),
        cache_dir: home.join("cache"),
        runtime_dir: home.join("run"),
    };
    std::fs::create_dir_all(&paths.runtime_dir).expect("a folder");
    AgentPool::new(&paths, home, None)
}

pub fn program() -> String {
    env!("CARGO_BIN_EXE_cohab-fake-agent").to_owned()
}

impl Played {
    pub async fn ask(&mut self, question: &str) -> End {
        self.messages.push(Message::user(format!("<question>\n{question}\n</question>")));
        self.read().await
    }

    /// Reads the answer to its end, as the loop does.
    pub async fn read(&mut self) -> End {
        let mut events = self.model.stream(ModelRequest::of(self.messages.clone()));
        self.calls.clear();
        let mut text = String::new();
        let end = loop {
            let event = tokio::time::timeout(Duration::from_secs(60), events.next()).await.expect("an event in time");
            match event.expect("an end before the end of the stream") {
                ModelEvent::TextDelta(piece) => text.push_str(&piece),
                ModelEvent::ReasoningDelta(piece) => self.notices.push(format!("thought: {piece}")),
                ModelEvent::Notice(notice) => self.notices.push(notice),
                ModelEvent::ToolCallDone(call) => self.calls.push(call),
                ModelEvent::Stop { class, .. } => break End::Stop(class),
                ModelEvent::Failed(error) => break End::Failed(error.message, error.hint),
                ModelEvent::Incomplete { reason } => break End::Incomplete(reason),
                ModelEvent::Usage(usage) => assert_eq!((usage.input, usage.output), (Some(7), Some(3))),
                other => panic!("not expected: {other:?}"),
            }
        };
        self.texts.push_str(&text);
        let tool_calls = self.calls.clone();
        self.messages.push(Message::Assistant(AssistantMessage { text, tool_calls, provider_data: None }));
        end
    }

    /// Runs the calls with this result, and reads on.
    pub async fn run(&mut self, runner: &Scripted) -> End {
        self.end_calls(runner).await;
        self.read().await
    }

    pub async fn end_calls(&mut self, runner: &Scripted) {
        let wrapped = self.turn.runner(Arc::new(runner.clone()));
        let mut results = Vec::new();
        for call in self.calls.clone() {
            let args = call.args.clone().expect("arguments");
            let command = args.get("command").and_then(|command| command.as_str()).unwrap_or_default().to_owned();
            let mut result = ToolResult {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                content: runner.refusal.clone(),
                is_error: true,
            };
            let mut outcome = StepResult::Refused;
            if runner.refusal.is_empty() {
                let intent =
                    Intent { title: String::new(), effect: Effect::RunCommand { command: command.clone().into() } };
                let planned = PlannedCall { step: Some(1), ..PlannedCall::new(&call, args, intent, "/".into()) };
                self.turn.observe(Fact::CallReached(&planned)).await;
                let request = CommandRequest {
                    id: "1".into(),
                    text: command,
                    timeout: Duration::from_secs(9),
                    wants_env_delta: false,
                };
                let ran = wrapped.run(request, &CancellationToken::new()).await.expect("an outcome");
                (outcome, result.content, result.is_error) = (StepResult::Done, ran.output, false);
            }
            self.turn.observe(Fact::CallEnded(&call, outcome, &result)).await;
            results.push(result);
        }
        self.messages.push(Message::ToolResults(results));
    }

    pub fn command(&self) -> String {
        let args = self.calls[0].args.clone().expect("arguments");
        args["command"].as_str().expect("a command").to_owned()
    }
}

/// Runs nothing: gives this result.
#[derive(Clone, Default)]
pub struct Scripted {
    pub output: String,
    pub status: i32,
    /// Refuses, with this reason.
    pub refusal: String,
    /// Ends only when it is interrupted.
    pub waits: bool,
    /// Ends only when this file is there.
    pub until: Option<PathBuf>,
    pub ran: Arc<Mutex<Vec<String>>>,
}

pub fn printing(output: &str, status: i32) -> Scripted {
    Scripted { output: output.to_owned(), status, ..Scripted::default() }
}

#[async_trait]
impl CommandRunner for Scripted {
    async fn run(&self, request: CommandRequest, cancel: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        self.ran.lock().expect("a lock").push(request.text);
        let (mut ending, mut status) = (Ending::Exited, self.status);
        while self.until.as_ref().is_some_and(|file| !file.exists()) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        if self.waits {
            cancel.cancelled().await;
            (ending, status) = (Ending::Interrupted { by: Interrupter::Turn }, 130);
        }
        Ok(CommandOutcome {
            ending,
            status: Some(status),
            cwd: "/".into(),
            output: self.output.clone(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::ZERO,
            mode: Mode::Live,
            state_after: StateAfter::Prompt,
            env_delta: Vec::new(),
            first_run: None,
        })
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

/// The process of the agent, by the name that it gives its conversation.
pub async fn pid(place: &Place) -> String {
    let (played, _) = place.asked("count").await;
    played.texts.rsplit_once("session-").expect("a name").1.to_owned()
}
