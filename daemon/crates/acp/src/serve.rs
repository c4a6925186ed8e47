//! `cohab mcp serve`: an MCP server over standard input and output, for agents that run elsewhere. It answers what needs no shell, and
//! passes calls on to the shell that the user shares at that moment.

use std::{
    collections::HashMap,
    io::{self, BufRead, BufReader, Write},
    os::unix::net::UnixStream,
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
};

use cohab_shell_state::shell::Shell;
use serde_json::{Value, json};

use crate::{
    lines::{LINE_MAX_BYTES, read_line},
    mcp::{self, OfferedShell, Reaction},
    shares::{NONE_SHARED, SharedShell, Shares},
    wire,
};

/// The reason for a call whose shell is no longer shared.
const ENDED: &str =
    "The shell is no longer shared; whether the command ran is not known. The user shares one with `? /share`.";

/// Serves one caller until its input ends. `wanted` is the name of the only shell that may be used.
///
/// # Errors
/// The streams cannot be read or written, or a message is too long.
pub fn run(
    shares: &Shares,
    wanted: Option<&str>,
    input: &mut impl BufRead,
    output: Box<dyn Write + Send>,
) -> io::Result<()> {
    let mut serving = Serving { shares, wanted, output: Arc::new(Mutex::new(output)), client: json!({}), line: None };
    let mut line = Vec::new();
    while read_line(input, &mut line, LINE_MAX_BYTES)? {
        if let Ok(message) = serde_json::from_slice::<Value>(&line) {
            serving.take(&message)?;
        }
    }
    Ok(())
}

type Output = Arc<Mutex<Box<dyn Write + Send>>>;

struct Serving<'a> {
    shares: &'a Shares,
    wanted: Option<&'a str>,
    output: Output,
    /// How the caller introduced itself.
    client: Value,
    line: Option<Line>,
}

/// The connection to a shared shell.
struct Line {
    shell: SharedShell,
    stream: UnixStream,
    calls: Calls,
}

/// The ids of calls that are not answered; absent once the connection is over.
type Calls = Arc<Mutex<Option<HashMap<String, Value>>>>;

impl Serving<'_> {
    fn take(&mut self, message: &Value) -> io::Result<()> {
        if message["method"] == "initialize" {
            self.client = message["params"].clone();
        }
        match mcp::reaction(message, &self.offered()) {
            Reaction::None => Ok(()),
            Reaction::Send(answer) => send(&self.output, &answer),
            Reaction::Cancel(_) => {
                if let Some(line) = &mut self.line {
                    // A connection that is over has no call to cancel.
                    let _ = line.write(message);
                }
                Ok(())
            }
            Reaction::Call { id, .. } => match self.call(&id, message) {
                Ok(()) => Ok(()),
                Err(reason) => send(&self.output, &wire::response(&id, &mcp::result(&reason, true))),
            },
        }
    }

    /// The shell as far as it is known.
    fn offered(&self) -> OfferedShell {
        let kind = self.line.as_ref().map_or("", |line| line.shell.shell.as_str());
        let shell = match Shell::of(Path::new(kind)) {
            Shell::Other => "shell",
            known => known.name(),
        };
        OfferedShell { shell, server: String::new(), is_in_tool_names: false, is_shared: true }
    }

    /// Passes a call on. Its answer comes by itself.
    ///
    /// # Errors
    /// The reason for the caller.
    fn call(&mut self, id: &Value, message: &Value) -> Result<(), String> {
        let line = self.connected()?;
        match lock(&line.calls).as_mut() {
            None => return Err(ENDED.to_owned()),
            Some(calls) => match calls.entry(id.to_string()) {
                std::collections::hash_map::Entry::Occupied(_) => return Err("this id is in use".to_owned()),
                std::collections::hash_map::Entry::Vacant(place) => drop(place.insert(id.clone())),
            },
        }
        if line.write(message).is_err() {
            // The reader of the connection answers, unless it did not see the call.
            let was_left = lock(&line.calls).as_mut().is_none_or(|calls| calls.remove(&id.to_string()).is_some());
            return if was_left { Err(ENDED.to_owned()) } else { Ok(()) };
        }
        Ok(())
    }

    /// The connection to the shell that is shared now.
    fn connected(&mut self) -> Result<&mut Line, String> {
        let is_current = |line: &Line| self.shares.has(&line.shell) && lock(&line.calls).is_some();
        if !self.line.as_ref().is_some_and(is_current) {
            self.line = None;
            let shell = chosen(self.shares.list(), self.wanted)?;
            let line = Line::open(shell, &self.client, &self.output);
            self.line = Some(line.map_err(|error| format!("the shell cannot be reached: {error}"))?);
        }
        self.line.as_mut().ok_or_else(|| NONE_SHARED.to_owned())
    }
}

/// The shell that calls reach.
fn chosen(shells: Vec<SharedShell>, wanted: Option<&str>) -> Result<SharedShell, String> {
    let names = shells.iter().map(|shell| format!("`{}`", shell.name)).collect::<Vec<_>>().join(", ");
    let is_wanted = |shell: &SharedShell| wanted.is_none_or(|wanted| shell.name == wanted);
    let mut found: Vec<SharedShell> = shells.into_iter().filter(is_wanted).collect();
    match (found.pop(), found.is_empty(), wanted) {
        (Some(shell), true, _) => Ok(shell),
        (Some(_), false, _) => Err(format!(
            "Several shells are shared: {names}. The user says which one you may use with `cohab mcp serve --shell NAME`."
        )),
        (None, _, Some(wanted)) => Err(format!(
            "No shell is shared as `{wanted}`. The user shares it by typing `? /share {wanted}` at its prompt in cohab; call again \
             then."
        )),
        (None, _, None) => Err(NONE_SHARED.to_owned()),
    }
}

impl Line {
    /// Connects, and introduces the caller.
    fn open(shell: SharedShell, client: &Value, output: &Output) -> io::Result<Self> {
        let mut stream = UnixStream::connect(&shell.socket)?;
        // No caller has this id.
        let id = uuid::Uuid::new_v4().to_string();
        let hello = json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": client});
        stream.write_all(format!("{}\n{hello}\n", shell.token).as_bytes())?;
        let calls: Calls = Arc::new(Mutex::new(Some(HashMap::new())));
        let (from_shell, output, of_reader) = (stream.try_clone()?, Arc::clone(output), Arc::clone(&calls));
        thread::spawn(move || pass_on(from_shell, &output, &of_reader));
        Ok(Self { shell, stream, calls })
    }

    fn write(&mut self, message: &Value) -> io::Result<()> {
        self.stream.write_all(format!("{message}\n").as_bytes())
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // Its reader ends and answers what is left.
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
    }
}

/// Passes answers on to the caller; says of each call that is left when the connection ends.
fn pass_on(stream: UnixStream, output: &Output, calls: &Calls) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while matches!(read_line(&mut reader, &mut line, LINE_MAX_BYTES), Ok(true)) {
        let Ok(answer) = serde_json::from_slice::<Value>(&line) else { continue };
        let was_asked = lock(calls).as_mut().is_some_and(|calls| calls.remove(&answer["id"].to_string()).is_some());
        if was_asked && send(output, &answer).is_err() {
            break;
        }
    }
    let left = lock(calls).take().unwrap_or_default();
    for id in left.values() {
        // The caller may be gone, too.
        let _ = send(output, &wire::response(id, &mcp::result(ENDED, true)));
    }
}

fn lock(calls: &Calls) -> MutexGuard<'_, Option<HashMap<String, Value>>> {
    calls.lock().unwrap_or_else(PoisonError::into_inner)
}

fn send(output: &Output, message: &Value) -> io::Result<()> {
    let mut output = output.lock().unwrap_or_else(PoisonError::into_inner);
    writeln!(output, "{message}")?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{PipeReader, PipeWriter, pipe},
        os::unix::net::UnixListener,
    };

    use super::*;
    use crate::shares::Published;

    /// A caller of a server that runs in a thread.
    struct Caller {
        to: PipeWriter,
        from: BufReader<PipeReader>,
    }

    impl Caller {
        fn start(shares: &Shares, wanted: Option<&'static str>) -> Self {
            let (input, to) = pipe().expect("a pipe");
            let (from, output) = pipe().expect("a pipe");
            let shares = shares.clone();
            thread::spawn(move || run(&shares, wanted, &mut BufReader::new(input), Box::new(output)));
            Self { to, from: BufReader::new(from) }
        }

        fn send(&mut self, message: &Value) {
            writeln!(self.to, "{message}").expect("it is read");
        }

        fn call(&mut self, id: u32) {
            let params = json!({"name": "run", "arguments": {"command": "ls"}});
            self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}));
        }

        fn answer(&mut self) -> Value {
            let mut line = String::new();
            self.from.read_line(&mut line).expect("an answer");
            serde_json::from_str(&line).expect("JSON")
        }

        fn text(&mut self) -> String {
            let answer = self.answer();
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            answer["result"]["content"][0]["text"].as_str().expect("a text").to_owned()
        }
    }

    /// The socket of a shell, which is shared under a name.
    fn shell(folder: &Path, name: &str) -> (UnixListener, Published) {
        let socket = folder.join(name);
        let listener = UnixListener::bind(&socket).expect("a socket");
        let (shell, token) = ("zsh".to_owned(), "token".to_owned());
        let shared = SharedShell { name: name.to_owned(), shell, folder: "/w".into(), socket, token };
        let published = Shares::at(folder.join("shared")).publish(shared).expect("published");
        (listener, published)
    }

    /// The next connection that says something.
    fn accepted(listener: &UnixListener) -> (BufReader<UnixStream>, String) {
        loop {
            let mut reader = BufReader::new(listener.accept().expect("a connection").0);
            let mut line = String::new();
            // A look whether the shell still takes calls says nothing.
            if reader.read_line(&mut line).expect("readable") > 0 {
                return (reader, line);
            }
        }
    }

    fn message(reader: &mut BufReader<UnixStream>) -> Value {
        let mut line = String::new();
        reader.read_line(&mut line).expect("a message");
        serde_json::from_str(&line).expect("JSON")
    }

    #[test]
    fn what_needs_no_shell_is_answered_and_a_call_waits_for_one_to_be_shared() {
        let folder = tempfile::tempdir().expect("a folder");
        let shares = Shares::at(folder.path().join("shared"));
        let mut caller = Caller::start(&shares, None);
        let hello = json!({"protocolVersion": "2025-11-25", "clientInfo": {"name": "claude-code", "version": "2.1"}});
        caller.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}));
        assert_eq!(caller.answer()["result"]["serverInfo"]["name"], "cohab");
        caller.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}));
        assert_eq!(caller.answer()["result"]["tools"][0]["name"], "run");
        caller.call(2);
        assert_eq!(caller.text(), NONE_SHARED);
        let (listener, published) = shell(folder.path(), "web");
        caller.call(3);
        let (mut reader, token) = accepted(&listener);
        assert_eq!((token.as_str(), &message(&mut reader)["params"]), ("token\n", &hello));
        let call = message(&mut reader);
        assert_eq!((&call["id"], &call["params"]["arguments"]["command"]), (&json!(3), &json!("ls")));
        // The answer to the introduction, and one to a call that was never made, stay here.
        let mut stream = reader.get_ref();
        for id in [json!("hello"), json!(77), json!(3)] {
            writeln!(stream, "{}", wire::response(&id, &mcp::result("done", false))).expect("it is read");
        }
        assert_eq!(caller.answer()["id"], 3);
        // The shell is no longer shared while a call waits.
        caller.call(4);
        assert_eq!(message(&mut reader)["id"], 4);
        drop((published, listener));
        drop(reader);
        assert_eq!(caller.text(), ENDED);
        caller.call(5);
        assert_eq!(caller.text(), NONE_SHARED);
    }

    #[test]
    fn one_of_several_shells_has_to_be_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let shares = Shares::at(folder.path().join("shared"));
        let (_api, _web) = (shell(folder.path(), "api"), shell(folder.path(), "web"));
        let mut caller = Caller::start(&shares, None);
        caller.call(1);
        assert!(caller.text().starts_with("Several shells are shared: `api`, `web`."));
        let mut caller = Caller::start(&shares, Some("db"));
        caller.call(1);
        assert!(caller.text().starts_with("No shell is shared as `db`."));
        assert_eq!(chosen(shares.list(), Some("web")).expect("one").name, "web");
    }

    #[test]
    fn what_is_no_message_is_passed_over_and_one_that_is_too_long_ends_it() {
        let shares = Shares::at("/nowhere/shared".into());
        let mut input: &[u8] = b"\n{\n[]\n\"x\"\n{\"id\":1,\"method\":\"ping\"}\n";
        let output = Box::new(Vec::new());
        run(&shares, None, &mut input, output).expect("it ends with its input");
        let long = vec![b'x'; LINE_MAX_BYTES + 1];
        assert!(run(&shares, None, &mut long.as_slice(), Box::new(Vec::new())).is_err());
    }
}
