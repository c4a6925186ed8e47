//! The socket of the live shell for one agent. Only this user's processes that know the token come in.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError, Weak},
    time::Duration,
};

use cohab_protocol::socket::{SocketError, check_peer, secure_directory};
use serde_json::Value;
use tokio::{
    io::{AsyncWriteExt as _, BufReader},
    net::{UnixListener, UnixStream},
    sync::{Semaphore, mpsc, oneshot},
    task::JoinHandle,
    time::{sleep, timeout},
};
use uuid::Uuid;

use crate::{
    ask::{Ask, Reply, ToolAnswer, Wish},
    inbox::AgentEvent,
    lines::{LINE_MAX_BYTES, next_line},
    link::Link,
    mcp::{self, OfferedShell, Reaction},
    wire,
};

/// Longest path of a socket that every system takes.
const MAX_PATH_BYTES: usize = 103;
/// Most connections at one time.
const MAX_CONNECTIONS: usize = 8;
/// Time for a connection to show the token.
const TOKEN_WAIT: Duration = Duration::from_secs(10);
/// Most answers that wait until they are read.
const MAX_OUTGOING: usize = 256;
/// Most calls of one connection that are not answered; further ones are refused.
const MAX_CALLS: usize = 64;
/// Wait after the system refused a connection.
const BACK_OFF: Duration = Duration::from_millis(100);

/// An open socket; closes with its drop.
pub(crate) struct Door {
    path: PathBuf,
    token: String,
    offered: Arc<OfferedShell>,
    link: Owner,
    accepting: JoinHandle<()>,
}

/// The agent whose shell it is; known once it is started.
type Owner = Arc<OnceLock<Weak<Link>>>;

impl Door {
    /// Opens a socket below `folder`.
    ///
    /// # Errors
    /// The folder is not safely ours, or the system refused.
    pub(crate) fn open(folder: &Path, offered: OfferedShell) -> Result<Self, SocketError> {
        let name = Uuid::new_v4().simple().to_string();
        let (folder, path) = place(folder, &name[..16]);
        secure_directory(&folder)?;
        let io = |source| SocketError::Io { path: path.clone(), source };
        // The folder is closed to others before the socket is there.
        let listener = UnixListener::bind(&path).map_err(io)?;
        fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).map_err(io)?;
        let token = Uuid::new_v4().simple().to_string();
        let link = Owner::default();
        let offered = Arc::new(offered);
        let accepting = tokio::spawn(accept(listener, token.clone(), Arc::clone(&link), Arc::clone(&offered)));
        Ok(Self { path, token, offered, link, accepting })
    }

    /// Lets calls reach this agent.
    pub(crate) fn lead_to(&self, link: &Arc<Link>) {
        // It is set once.
        let _ = self.link.set(Arc::downgrade(link));
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What the agent is offered.
    pub(crate) fn offered(&self) -> &OfferedShell {
        &self.offered
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        self.accepting.abort();
        let _ = fs::remove_file(&self.path);
    }
}

/// The folder and the path of a socket; a long path moves to a short folder of this user.
fn place(folder: &Path, name: &str) -> (PathBuf, PathBuf) {
    let file = format!("a{name}.sock");
    let path = folder.join(&file);
    if path.as_os_str().len() <= MAX_PATH_BYTES {
        return (folder.to_owned(), path);
    }
    let short = PathBuf::from(format!("/tmp/cohab-{}", rustix::process::getuid().as_raw()));
    let path = short.join(file);
    (short, path)
}

async fn accept(listener: UnixListener, token: String, link: Owner, offered: Arc<OfferedShell>) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            sleep(BACK_OFF).await;
            continue;
        };
        let Ok(permit) = Arc::clone(&room).try_acquire_owned() else { continue };
        if check_peer(&stream).is_err() {
            continue;
        }
        let (token, link, offered) = (token.clone(), Arc::clone(&link), Arc::clone(&offered));
        tokio::spawn(async move {
            serve(stream, &token, &link, &offered).await;
            drop(permit);
        });
    }
}

/// The calls of one connection that are not over: the id of the request and that of the call.
type Running = Arc<Mutex<HashMap<String, String>>>;

async fn serve(stream: UnixStream, token: &str, link: &Owner, offered: &OfferedShell) {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader);
    let mut line = Vec::new();
    let shown = timeout(TOKEN_WAIT, next_line(&mut reader, &mut line, token.len())).await;
    if !matches!(shown, Ok(Ok(()))) || line != token.as_bytes() {
        return;
    }
    let (out, mut outgoing) = mpsc::channel::<Value>(MAX_OUTGOING);
    let writing = tokio::spawn(async move {
        while let Some(message) = outgoing.recv().await {
            let line = message.to_string() + "\n";
            if writer.write_all(line.as_bytes()).await.is_err() {
                return;
            }
        }
    });
    let running = Running::default();
    let mut is_known = false;
    while next_line(&mut reader, &mut line, LINE_MAX_BYTES).await.is_ok() {
        let Ok(message) = serde_json::from_slice::<Value>(&line) else { continue };
        let Some(link) = link.get().and_then(Weak::upgrade) else { break };
        if let Some(name) = mcp::introduced(&message).filter(|_| offered.is_shared && !is_known) {
            is_known = true;
            link.inbox.room().await;
            // Only calls find no room.
            let _ = link.inbox.push(AgentEvent::Notice(format!("`{name}` uses this shell.")));
        }
        match mcp::reaction(&message, offered) {
            Reaction::None => {}
            // A caller that reads no answers is not read, either.
            Reaction::Send(answer) => drop(out.send(answer).await),
            Reaction::Cancel(id) => {
                let call_id = lock(&running).get(&id.to_string()).cloned();
                call_id.into_iter().for_each(|call_id| link.desk.give_up(&call_id, link.as_ref()));
            }
            Reaction::Call { id, wish } => match call(&link, &running, &id, wish) {
                Ok(answer) => drop(tokio::spawn(pass_on(id, answer, out.clone(), Arc::clone(&running)))),
                Err(refusal) => drop(out.send(refusal).await),
            },
        }
    }
    // Nobody waits for what it asked for.
    if let Some(link) = link.get().and_then(Weak::upgrade) {
        let calls: Vec<String> = lock(&running).values().cloned().collect();
        calls.iter().for_each(|call_id| link.desk.give_up(call_id, link.as_ref()));
    }
    drop(out);
    let _ = writing.await;
}

/// Queues a call. Returns what brings its answer.
///
/// # Errors
/// The response to a call that is refused.
fn call(link: &Arc<Link>, running: &Running, id: &Value, wish: Wish) -> Result<oneshot::Receiver<ToolAnswer>, Value> {
    let mut running = lock(running);
    if running.contains_key(&id.to_string()) {
        return Err(wire::error(id, wire::INVALID_REQUEST, "a call with this id is not answered yet"));
    }
    if running.len() >= MAX_CALLS {
        let reason = format!("{MAX_CALLS} calls are not answered yet: wait for an answer, and read it");
        return Err(wire::response(id, &mcp::result(&reason, true)));
    }
    let (sender, answer) = oneshot::channel();
    let call_id = link.desk.call_id();
    let ask = Ask { call_id: call_id.clone(), wish, reply: Reply::Tool(sender) };
    match link.desk.push(ask, link.as_ref()) {
        Ok(()) => {
            running.insert(id.to_string(), call_id);
            Ok(answer)
        }
        Err((_, reason)) => Err(wire::response(id, &mcp::result(reason, true))),
    }
}

fn lock(running: &Running) -> std::sync::MutexGuard<'_, HashMap<String, String>> {
    running.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn pass_on(id: Value, answer: oneshot::Receiver<ToolAnswer>, out: mpsc::Sender<Value>, running: Running) {
    let ToolAnswer { text, is_error } =
        answer.await.unwrap_or_else(|_| ToolAnswer { text: "cancelled".to_owned(), is_error: true });
    // The connection may be gone.
    let _ = out.send(wire::response(&id, &mcp::result(&text, is_error))).await;
    // It counts until there was room for its answer.
    lock(&running).remove(&id.to_string());
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, path::Path};

    use cohab_config::agents::OwnAgents;
    use serde_json::json;
    use tokio::io::AsyncBufReadExt as _;

    use super::*;
    use crate::{desk::Desk, find::Launch, known, process::Process};

    #[tokio::test]
    async fn calls_without_end_and_ids_that_run_are_refused() {
        let launch = Launch { program: "/bin/cat".into(), args: Vec::new(), environment: BTreeMap::new() };
        let (process, pipes) = Process::start(&launch, Path::new("/")).expect("a process");
        let agent = known::find("claude", &OwnAgents::new()).expect("known");
        let link = Link::over("claude", process, pipes, Desk::new(agent));
        link.desk.open();
        let running = Running::default();
        let call = |id: usize| {
            let wish = Wish::Run { command: "ls".into(), timeout_ms: None };
            call(&link, &running, &json!(id), wish)
        };
        let answers: Vec<_> = (0..MAX_CALLS).map(|id| call(id).expect("room")).collect();
        assert_eq!(call(7).expect_err("it runs")["error"]["code"], wire::INVALID_REQUEST);
        let refused = call(MAX_CALLS).expect_err("no room");
        assert!(refused["result"]["content"][0]["text"].as_str().expect("a text").starts_with("64 calls are not"));
        // The answer makes room, once there was room for it.
        drop(answers);
        let asks = link.inbox.withdraw_all();
        assert_eq!(asks.len(), MAX_CALLS);
        let (out, mut outgoing) = mpsc::channel(1);
        let (sender, cancelled) = oneshot::channel();
        drop(sender);
        pass_on(json!(7), cancelled, out, Arc::clone(&running)).await;
        assert_eq!(outgoing.recv().await.expect("an answer")["id"], 7);
        call(7).expect("room again");
        link.kill();
    }

    #[tokio::test]
    async fn a_refusal_comes_over_the_socket() {
        let folder = tempfile::tempdir().expect("a folder");
        let offered =
            OfferedShell { shell: "bash", server: "cohab-1".into(), is_in_tool_names: false, is_shared: false };
        let door = Door::open(&folder.path().join("agents"), offered).expect("a socket");
        let launch = Launch { program: "/bin/cat".into(), args: Vec::new(), environment: BTreeMap::new() };
        let (process, pipes) = Process::start(&launch, Path::new("/")).expect("a process");
        let agent = known::find("claude", &OwnAgents::new()).expect("known");
        let link = Link::over("claude", process, pipes, Desk::new(agent));
        door.lead_to(&link);
        let (reader, mut writer) = UnixStream::connect(door.path()).await.expect("a connection").into_split();
        let params = json!({"name": "run", "arguments": {"command": "ls"}});
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        writer.write_all(format!("{}\n{call}\n", door.token()).as_bytes()).await.expect("it is written");
        let mut line = String::new();
        timeout(Duration::from_secs(20), BufReader::new(reader).read_line(&mut line))
            .await
            .expect("in time")
            .expect("a line");
        assert!(line.contains("no prompt is running") && line.contains(r#""isError":true"#), "{line}");
        link.kill();
    }
}
