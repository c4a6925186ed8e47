//! A turn with long arguments takes little more memory than the arguments. The test has a separate binary, as it counts all memory.

mod counting;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use cohab_agent::{TurnLimits, runner::CommandRunner};
use cohab_assembly::assembly::{Assembly, Guards, Jobs, Parts, ProviderChooser, TurnSettings};
use cohab_config::model_settings::ModelSettings;
use cohab_guard::gate::standard_policy;
use cohab_model_api::{ModelEvent, ModelInfo, ModelProvider, ModelRequest, StopClass, ToolCall};
use cohab_models::resolution::{Choice, ChoiceError};
use cohab_protocol::*;
use cohab_sandbox::profile::Profile;
use cohab_store::{Store, sessions::Limits};
use cohab_tools::ToolOptions;
use cohab_types::{
    command::{CommandOutcome, CommandRequest, Ending, Mode, RelayError, StateAfter},
    environment::Variables,
};
use cohabd::lifecycle;
use futures::{
    SinkExt, StreamExt,
    stream::{self, BoxStream},
};
use serde_json::json;
use tokio::{net::UnixStream, time::timeout};
use tokio_util::{codec::Framed, sync::CancellationToken};

#[global_allocator]
static ALLOCATOR: counting::Counting = counting::Counting;

const MIB: usize = 1024 * 1024;
/// All arguments of the answer together.
const LONG_BYTES: usize = 2 * MIB;
/// Calls of an answer, and the most bytes that the turn may hold, including the arguments.
const CASES: [(usize, usize); 2] = [(1, 20 * MIB), (16, 9 * MIB)];
/// Time limit of a step, also on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// Answers its first question with this many commands, then with text.
struct Talkative {
    calls: usize,
    has_called: Arc<AtomicBool>,
}

impl ModelProvider for Talkative {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "scripted".into(), model: "talkative".into(), origin: "test".into(), is_offline: false }
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let stop = ModelEvent::Stop { class: StopClass::End, provider_data: None };
        if self.has_called.swap(true, Ordering::Relaxed) {
            return stream::iter([ModelEvent::TextDelta("Done.".into()), stop]).boxed();
        }
        let length = LONG_BYTES / self.calls;
        let call = move |number: usize| {
            let line = "# a comment that is no secret, and ends here\n";
            let command = format!("true {number}\n{}", line.repeat(length / line.len() - 1));
            let args = json!({ "command": command }).as_object().cloned().expect("an object");
            ModelEvent::ToolCallDone(ToolCall { id: number.to_string(), name: "bash".into(), args: Ok(args.into()) })
        };
        stream::iter((0..self.calls).map(call).chain([stop])).boxed()
    }
}

#[async_trait]
impl ProviderChooser for Talkative {
    async fn choose(&self, _: &ModelSettings, _: &Variables) -> Result<Choice, ChoiceError> {
        Ok(Choice::Ready(Arc::new(Self { calls: self.calls, has_called: Arc::clone(&self.has_called) })))
    }
}

/// A shell whose commands end at once.
struct Quick;

#[async_trait]
impl CommandRunner for Quick {
    async fn run(&self, _: CommandRequest, _: &CancellationToken) -> Result<CommandOutcome, RelayError> {
        Ok(CommandOutcome {
            ending: Ending::Exited,
            status: Some(0),
            cwd: "/".into(),
            output: String::new(),
            total_bytes: 0,
            truncated_bytes: 0,
            duration: Duration::ZERO,
            mode: Mode::Isolated,
            state_after: StateAfter::Ended,
            env_delta: Vec::new(),
            first_run: None,
        })
    }

    fn cwd(&self) -> PathBuf {
        "/".into()
    }
}

fn assembly(paths: &Paths, home: &Path, calls: usize) -> Assembly {
    let ignore = cohab_context::ignore_rules::IgnoreRules::new(home.into(), home.join("ignore"));
    let tools = ToolOptions { home: home.into(), command_timeout: PATIENCE, output_max_bytes: 65_536, ignore };
    let settings = TurnSettings {
        output_max_bytes: 65_536,
        mcp: Arc::default(),
        context: cohab_config::ContextSettings::default(),
        model: ModelSettings::default(),
        models: Arc::default(),
        approval: ApprovalMode::All,
        limits: TurnLimits { model_calls: 5 },
        tools: cohab_tools::registry(&tools),
        kept: Some(Limits::of_days(30)),
        audit_days: Some(30),
        sandbox: Profile::Full,
        guards: Guards::default(),
        is_cache_on: false,
        jobs: Jobs::default(),
    };
    let parts = Parts {
        load_settings: Box::new(move |_, _| Ok(settings.clone())),
        chooser: Arc::new(Talkative { calls, has_called: Arc::default() }),
        isolated_shell: Arc::new(|_, _, _| Arc::new(Quick)),
        policy: standard_policy,
        home: home.into(),
        store: Arc::new(Store::in_memory()),
        secrets: Arc::default(),
    };
    Assembly::new(paths.clone(), parts)
}

type Client = Framed<UnixStream, FrameCodec<DaemonMessage, ClientMessage>>;

async fn wait(client: &mut Client, is_wanted: impl Fn(&DaemonMessage) -> bool) {
    loop {
        let message = timeout(PATIENCE, client.next()).await.expect("nothing came").expect("the connection ended");
        let message = message.expect("a message");
        assert!(!matches!(message, DaemonMessage::Error(_)), "{message:?}");
        if is_wanted(&message) {
            return;
        }
    }
}

async fn client(paths: &Paths) -> Client {
    let stream = loop {
        match UnixStream::connect(paths.socket()).await {
            Ok(stream) => break stream,
            Err(_) => tokio::task::yield_now().await,
        }
    };
    let mut client = Framed::new(stream, FrameCodec::new());
    let hello = Hello { protocol_version: PROTOCOL_VERSION, schema_hash: SCHEMA_HASH, build: BUILD.into(), pid: 1 };
    client.send(ClientMessage::Hello(hello)).await.expect("it is sent");
    wait(&mut client, |message| matches!(message, DaemonMessage::Welcome(_))).await;
    client.codec_mut().handshake_done();
    let attach = Attach {
        session: SessionKey("cli:1".into()),
        live_shell: None,
        approval: ApprovalMode::All,
        can_approve: false,
        has_lock: false,
        settings: Vec::new(),
        environment: Vec::new(),
        resume: None,
    };
    let (request_id, action) = (RequestId(1), SessionAction::Attach(attach));
    client.send(ClientMessage::SessionRequest(SessionRequest { request_id, action })).await.expect("it is sent");
    wait(&mut client, |message| matches!(message, DaemonMessage::SessionReply(_))).await;
    client
}

/// The most bytes that one turn has in use at once.
async fn most_of_a_turn(calls: usize) -> usize {
    let folder = tempfile::tempdir().expect("a folder");
    let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| folder.path().to_owned()), 0);
    let (shutdown, secrets) = (CancellationToken::new(), Arc::default());
    let assembly = Arc::new(assembly(&paths, folder.path(), calls));
    let (for_daemon, ended) = (paths.clone(), shutdown.clone());
    let daemon = tokio::spawn(async move { lifecycle::run(&for_daemon, assembly, secrets, ended).await });
    let mut client = client(&paths).await;
    let (turn_id, text, cwd) = (TurnId::fresh(), "go".to_owned(), Path::new("/").into());
    let before = counting::begin();
    let query = UserQuery { turn_id, text, cwd, columns: 80, piped_input: None, is_private: false };
    client.send(ClientMessage::UserQuery(query)).await.expect("it is sent");
    wait(&mut client, |message| matches!(message, DaemonMessage::TurnEnded(_))).await;
    // The end of the daemon waits for unwritten data.
    shutdown.cancel();
    daemon.await.expect("no panic").expect("an end");
    counting::most() - before
}

/// One test: two at once would count each other's memory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_holds_long_arguments_few_times_at_once() {
    for (calls, bound) in CASES {
        let most = most_of_a_turn(calls).await;
        assert!(most > LONG_BYTES / 2, "{calls} calls were not made");
        assert!(most < bound, "{calls} calls took {} MiB", most / MIB);
    }
}
