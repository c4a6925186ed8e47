//! Starts or reaches one server, and speaks with it until it is dropped.

use std::{
    collections::HashMap,
    path::Path,
    process::Stdio,
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use cohab_models::http;
use cohab_system::process::{Signal, signal_group};
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::{
    RoleClient,
    model::{ProtocolVersion, ServerPeerInfo},
    service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle},
    transport::{
        StreamableHttpClientTransport, async_rw::AsyncRwTransport, auth::AuthClient,
        streamable_http_client::StreamableHttpClientTransportConfig,
    },
};
use tokio::{
    process::{Child, Command},
    time::timeout,
};

use crate::{
    guarded_reader::{GuardedReader, MAX_MESSAGE_BYTES, Signals},
    handler::Handler,
    keys::KeySource,
    log_file::{self, Tail},
    questions::Questions,
    server::{Author, Server, argument_problem},
    sign_in::{self, SignIns},
    start_error,
    surroundings::{Surroundings, address_of, filled},
    wire::Wire,
};

/// A server has so long to start; the first start may download it.
const START_LIMIT: Duration = Duration::from_secs(60);
/// For a connection to an address.
const CONNECT_LIMIT: Duration = Duration::from_secs(10);
/// So long after it closed its output a program is expected to be over.
const EXIT_LIMIT: Duration = Duration::from_millis(200);
/// A program has so long to end by itself.
const END_LIMIT: Duration = Duration::from_secs(2);

/// A running server.
pub(crate) struct Connection {
    service: RunningService<RoleClient, Handler>,
    /// Name of the server.
    name: String,
    program: Option<ServerProcess>,
    signals: Arc<Signals>,
}

/// Why a server cannot be used.
#[derive(Debug)]
pub(crate) struct Refused {
    /// A sentence.
    pub reason: String,
    /// The header `WWW-Authenticate` of a server that wants the user to sign in.
    pub challenge: Option<String>,
}

impl From<String> for Refused {
    fn from(reason: String) -> Self {
        Self { reason, challenge: None }
    }
}

/// The process of a server, with all that it started. Dropping it kills them.
struct ServerProcess {
    // Dropped before the child: its number is the child's until that is waited for.
    group: ProcessGroup,
    child: Child,
    tail: Tail,
}

/// The number of the process group of a server, 0 once it was killed. Processes that a server started outlive it in its group.
struct ProcessGroup(i32);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default())
    }

    /// Ends all processes of the group at once.
    fn kill(&mut self) {
        signal_group(self.0, Signal::Kill);
        // Its number may soon be another group's.
        self.0 = 0;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}

impl ServerProcess {
    /// Whether it ends within the limit. Then what it started ends, too.
    async fn ends_within(&mut self, limit: Duration) -> bool {
        let has_ended = timeout(limit, self.child.wait()).await.is_ok();
        if has_ended {
            self.group.kill();
        }
        has_ended
    }
}

impl Connection {
    /// Starts or reaches the server. The error is a sentence.
    pub(crate) async fn start(
        server: &Server,
        surroundings: &Surroundings,
        keys: &dyn KeySource,
        sign_ins: &SignIns,
        log: &Path,
    ) -> Result<Self, Refused> {
        let starting = async {
            match &server.settings.command {
                Some(command) => Ok(Self::spawn(server, command, surroundings, keys, log).await?),
                None => Self::reach(server, surroundings, keys, sign_ins).await,
            }
        };
        timeout(START_LIMIT, starting).await.unwrap_or_else(|_| Err(start_error::too_slow(START_LIMIT).into()))
    }

    async fn spawn(
        server: &Server,
        program: &str,
        surroundings: &Surroundings,
        keys: &dyn KeySource,
        log: &Path,
    ) -> Result<Self, String> {
        if let Some(problem) = argument_problem(&server.settings.args) {
            return Err(problem);
        }
        let mut command = Command::new(program);
        command.args(&server.settings.args).env_clear().envs(surroundings.harmless());
        for (name, value) in &server.settings.env {
            command.env(name, filled(value, &server.author, surroundings, keys).await?);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.kill_on_drop(true).process_group(0);
        let folder = match &server.author {
            Author::User => &surroundings.folder,
            Author::Project(folder) => folder,
        };
        if folder.is_dir() {
            command.current_dir(folder);
        }
        let mut child =
            command.spawn().map_err(|error| start_error::reason(&format!("`{program}` cannot be started: {error}")))?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err("its input and output cannot be reached".into());
        };
        let group = ProcessGroup::of(&child);
        let mut program = ServerProcess { group, child, tail: log_file::follow(errors, log.to_owned()) };
        let signals = Arc::new(Signals::default());
        let reader = GuardedReader::new(output, Arc::clone(&signals));
        let pipes = AsyncRwTransport::new(reader, input).with_max_line_length(2 * MAX_MESSAGE_BYTES);
        match serve(Wire::Pipes(pipes), newest_first()).await {
            Ok(service) => Ok(Self { service, name: server.name.clone(), program: Some(program), signals }),
            Err(error) => {
                let reason = match program.ends_within(EXIT_LIMIT).await {
                    true => start_error::ENDED.to_owned(),
                    false => start_error::of_start(&server.name, &error),
                };
                program.tail.read_rest().await;
                Err(with_last_line(&signals.fault().unwrap_or(reason), &program.tail))
            }
        }
    }

    async fn reach(
        server: &Server,
        surroundings: &Surroundings,
        keys: &dyn KeySource,
        sign_ins: &SignIns,
    ) -> Result<Self, Refused> {
        let url = address_of(server, surroundings, keys).await?;
        let client = http::client(&url, CONNECT_LIMIT)?;
        let mut headers = HashMap::new();
        for (name, value) in &server.settings.headers {
            let filled = filled(value, &server.author, surroundings, keys).await?;
            let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(filled).ok());
            let (name, mut value) = header.ok_or_else(|| format!("its header `{name}` is not valid"))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(url.as_str()).custom_headers(headers);
        config.max_json_response_size = MAX_MESSAGE_BYTES;
        config.max_sse_event_size = MAX_MESSAGE_BYTES;
        let client = AuthClient::new(client, sign_in::signed_in(server, &url, sign_ins).await?);
        let wire = || Wire::Http(StreamableHttpClientTransport::with_client(client.clone(), config.clone()));
        let mut service = serve(wire(), newest_first()).await;
        // Some servers answer a request that they do not know with nothing instead of an error.
        if let Err(ClientInitializeError::ExpectedInitResult(_)) = service {
            service = serve(wire(), ClientLifecycleMode::Initialize).await;
        }
        let service = service.map_err(|error| Refused {
            reason: start_error::of_start(&server.name, &error),
            challenge: error.auth_challenge().map(str::to_owned),
        })?;
        Ok(Self { service, name: server.name.clone(), program: None, signals: Arc::default() })
    }

    /// The service, about to be asked.
    pub(crate) fn ask(&self) -> &RunningService<RoleClient, Handler> {
        self.signals.asked();
        &self.service
    }

    /// What the server said of itself.
    pub(crate) fn info(&self) -> Option<Arc<ServerPeerInfo>> {
        self.service.peer().peer_info()
    }

    /// The calls that are on, with the users that it may ask.
    pub(crate) fn questions(&self) -> &Questions {
        &self.service.service().questions
    }

    /// How often it has announced another list of tools.
    pub(crate) fn revision(&self) -> u64 {
        self.service.service().revision.load(Ordering::Relaxed)
    }

    /// Whether nothing more can be asked.
    pub(crate) fn is_over(&self) -> bool {
        self.service.is_closed() || self.service.peer().is_transport_closed()
    }

    /// Why a request failed.
    pub(crate) fn refused(&self, error: &rmcp::service::ServiceError) -> Refused {
        let reason = self.signals.fault().unwrap_or_else(|| start_error::of_request(&self.name, error));
        let reason = match &self.program {
            Some(program) if self.is_over() => with_last_line(&reason, &program.tail),
            _ => reason,
        };
        Refused { reason, challenge: error.auth_challenge().map(str::to_owned) }
    }

    /// Closes its input, and waits a moment for it to end.
    pub(crate) async fn stop(mut self) {
        let _ = self.service.close_with_timeout(END_LIMIT).await;
        let Some(mut program) = self.program.take() else { return };
        if !program.ends_within(END_LIMIT).await {
            signal_group(program.group.0, Signal::Terminate);
            // What is left then is killed.
            program.ends_within(END_LIMIT).await;
        }
    }
}

async fn serve(
    wire: Wire,
    lifecycle: ClientLifecycleMode,
) -> Result<RunningService<RoleClient, Handler>, ClientInitializeError> {
    serve_client_with_lifecycle(Handler::default(), wire, lifecycle).await
}

/// The newest protocol first, and the older one where the server knows no other.
fn newest_first() -> ClientLifecycleMode {
    ClientLifecycleMode::Auto {
        preferred_versions: vec![ProtocolVersion::LATEST],
        legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
    }
}

fn with_last_line(reason: &str, tail: &Tail) -> String {
    match tail.last_line() {
        Some(line) => start_error::reason(&format!("{reason}; it wrote: {line}")),
        None => reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::NoKeys;

    #[tokio::test]
    async fn arguments_name_no_variables_or_keys() {
        let folder = tempfile::tempdir().unwrap();
        for argument in ["${TOKEN}", "--key=${key:docs}"] {
            let settings = cohab_config::mcp::McpServer::program("true".into(), vec![argument.into()]);
            let server = Server { name: "a".into(), author: Author::User, settings, files: Vec::new() };
            let log = folder.path().join("log");
            let sign_ins = SignIns::at(folder.path().join("sign-ins.json"), Arc::default());
            let started = Connection::start(&server, &Surroundings::default(), &NoKeys, &sign_ins, &log).await;
            let Refused { reason, .. } = started.err().unwrap();
            assert!(reason.contains("all users of this machine can read arguments"), "{reason}");
        }
    }
}
