//! An agent for tests: it speaks the Agent Client Protocol and does what the question says, good or bad.
//!
//! The question is a list of steps with ` ;; ` between them: `say WORDS`, `think WORDS`, `terminal LINE`, `bash LINE`, `kill LINE`,
//! `twice LINE`, `run LINE` and `look TOOL JSON` (by the MCP server of the live shell), `read PATH`, `write PATH TEXT`, `permit KIND TITLE`,
//! `own KIND TITLE` (a tool of its own), `count`, `env NAME`, `hang`, `deaf`, `flood`, `chatter`, `loop`, `garbage`, `die`,
//! `busy-die LINE` (while the command runs), `leave LINE` (ends the prompt while the command runs, then makes the file `left`), `late LINE`
//! (asks behind the end of the prompt), `late-answer`, `cut` (ends for lack of tokens).
//! `FAKE_SILENT`, `FAKE_VERSION`, `FAKE_AUTH`, `FAKE_LOAD` change how it begins.

use std::{
    collections::HashMap,
    env,
    io::{self, BufRead, BufReader, Write},
    process::{Child, Command, ExitCode, Stdio},
};

use serde_json::{Value, json};

/// The reason to end a prompt early.
enum Stop {
    /// The client said so.
    Cancelled,
    /// The client is gone.
    Gone,
}

struct Fake {
    input: Box<dyn BufRead>,
    next_id: u64,
    session: String,
    prompts: u32,
    /// Whether `session/cancel` is ignored.
    is_deaf: bool,
    is_signed_in: bool,
    server: Option<Value>,
    mcp: Option<Mcp>,
    /// Responses that came before they were waited for.
    early: HashMap<u64, Value>,
    /// What happens behind the end of the prompt.
    after: After,
    late_answer: Value,
    stop_reason: &'static str,
}

/// What happens behind the end of a prompt.
enum After {
    Nothing,
    /// A file is made.
    Leave,
    /// A terminal is asked for.
    Ask(String),
}

/// The MCP server of the live shell.
struct Mcp {
    child: Child,
    output: BufReader<std::process::ChildStdout>,
    next_id: u64,
}

fn main() -> ExitCode {
    let mut fake = Fake {
        input: Box::new(BufReader::new(io::stdin())),
        next_id: 1000,
        session: String::new(),
        prompts: 0,
        is_deaf: false,
        is_signed_in: env::var_os("FAKE_AUTH").is_none(),
        server: None,
        mcp: None,
        early: HashMap::new(),
        after: After::Nothing,
        late_answer: Value::Null,
        stop_reason: "end_turn",
    };
    while let Some(message) = fake.receive() {
        if fake.answer(&message).is_none() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn send(message: &Value) {
    let mut output = io::stdout().lock();
    // Without a reader there is nothing to do.
    let _ = writeln!(output, "{message}").and_then(|()| output.flush());
}

fn complain(text: &str) {
    let _ = writeln!(io::stderr(), "{text}");
}

impl Fake {
    fn receive(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.input.read_line(&mut line) {
            Ok(1..) => serde_json::from_str(&line).ok(),
            _ => None,
        }
    }

    fn answer(&mut self, message: &Value) -> Option<()> {
        let (id, params) = (&message["id"], &message["params"]);
        let reply = |result: Value| send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let refuse = |code: i64, text: &str| {
            send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}}));
        };
        match message["method"].as_str().unwrap_or_default() {
            "initialize" if env::var_os("FAKE_SILENT").is_some() => {}
            "initialize" => {
                let version: u64 = env::var("FAKE_VERSION").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
                reply(json!({
                    "protocolVersion": version,
                    "agentCapabilities": {"loadSession": env::var_os("FAKE_LOAD").is_some()},
                    "authMethods": [{"id": "fake-key", "name": "A key"}],
                }));
            }
            "authenticate" => {
                self.is_signed_in = true;
                reply(json!({}));
            }
            "session/new" if !self.is_signed_in => refuse(-32000, "Authentication required"),
            "session/new" => {
                self.session = format!("session-{}", std::process::id());
                self.server = params["mcpServers"].get(0).cloned();
                reply(json!({"sessionId": self.session}));
            }
            "session/load" => {
                params["sessionId"].as_str()?.clone_into(&mut self.session);
                self.server = params["mcpServers"].get(0).cloned();
                self.update("agent_message_chunk", "OLD TEXT");
                reply(json!({}));
            }
            "session/prompt" => {
                self.prompts += 1;
                let text = params["prompt"][0]["text"].as_str().unwrap_or_default().to_owned();
                match self.work(&text) {
                    Ok(()) => {
                        let usage = json!({"inputTokens": 7, "outputTokens": 3});
                        let result = json!({"stopReason": self.stop_reason, "usage": usage});
                        return self.end(&json!({"jsonrpc": "2.0", "id": id, "result": result})).ok();
                    }
                    Err(Stop::Cancelled) => reply(json!({"stopReason": "cancelled"})),
                    Err(Stop::Gone) => return None,
                }
            }
            "session/cancel" => {}
            _ if !id.is_null() => refuse(-32601, "no such method"),
            _ => {}
        }
        Some(())
    }

    /// Ends a prompt, and does what is to happen behind its end.
    fn end(&mut self, response: &Value) -> Result<(), Stop> {
        self.stop_reason = "end_turn";
        match std::mem::replace(&mut self.after, After::Nothing) {
            After::Nothing => send(response),
            After::Leave => {
                send(response);
                // The end was read before this is answered.
                self.ask("terminal/output", json!({"terminalId": "none"}))?;
                let _ = std::fs::write("left", "");
            }
            After::Ask(line) => {
                self.next_id += 1;
                let params = json!({"sessionId": self.session, "command": line});
                let ask = json!({"jsonrpc": "2.0", "id": self.next_id, "method": "terminal/create", "params": params});
                // In one piece: nothing comes between them.
                let _ = io::stdout().lock().write_all(format!("{response}\n{ask}\n").as_bytes());
                let _ = io::stdout().flush();
                self.late_answer = self.finish(self.next_id)?;
            }
        }
        Ok(())
    }

    fn update(&self, kind: &str, text: &str) {
        let update = json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}});
        send(
            &json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": self.session, "update": update}}),
        );
    }

    fn say(&self, text: &str) {
        self.update("agent_message_chunk", text);
    }

    fn begin(&mut self, method: &str, mut params: Value) -> u64 {
        self.next_id += 1;
        params["sessionId"] = self.session.clone().into();
        send(&json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params}));
        self.next_id
    }

    /// Waits for the response of a request: its result, or `{"error": ...}`.
    fn finish(&mut self, id: u64) -> Result<Value, Stop> {
        loop {
            let found = self.early.remove(&id);
            let message = match found {
                Some(message) => message,
                None => self.receive().ok_or(Stop::Gone)?,
            };
            if message["method"] == "session/cancel" && !self.is_deaf {
                return Err(Stop::Cancelled);
            }
            match message["id"].as_u64() {
                Some(other) if other == id => {
                    let error = message.get("error").map(|error| json!({"error": error["message"]}));
                    return Ok(error.unwrap_or_else(|| message["result"].clone()));
                }
                Some(other) if message.get("method").is_none() => drop(self.early.insert(other, message)),
                _ => {}
            }
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Result<Value, Stop> {
        let id = self.begin(method, params);
        self.finish(id)
    }

    fn work(&mut self, prompt: &str) -> Result<(), Stop> {
        let question = prompt.rsplit_once("<question>\n").map_or(prompt, |(_, rest)| rest);
        let question = question.split("\n</question>").next().unwrap_or_default();
        for step in question.split(" ;; ") {
            let (word, rest) = step.trim().split_once(' ').unwrap_or((step.trim(), ""));
            self.step(word, rest)?;
        }
        Ok(())
    }

    fn step(&mut self, word: &str, rest: &str) -> Result<(), Stop> {
        match word {
            "say" => self.say(rest),
            "think" => self.update("agent_thought_chunk", rest),
            "terminal" => self.terminal(&json!({"command": rest}))?,
            "bash" => self.terminal(&json!({"command": "bash", "args": ["-lc", rest]}))?,
            "kill" => {
                let made = self.ask("terminal/create", json!({"command": rest}))?;
                self.ask("terminal/kill", made.clone())?;
                let end = self.ask("terminal/wait_for_exit", made)?;
                self.say(&format!("killed {end}"));
            }
            "twice" => {
                let ids = [0, 1].map(|_| self.begin("terminal/create", json!({"command": rest})));
                for id in ids {
                    let made = self.finish(id)?;
                    self.ended(made)?;
                }
            }
            "run" => self.tool("run", &json!({"command": rest}))?,
            "look" => {
                let (tool, args) = rest.split_once(' ').unwrap_or((rest, "{}"));
                self.tool(tool, &serde_json::from_str(args).unwrap_or_default())?;
            }
            "read" => {
                let read = self.ask("fs/read_text_file", json!({"path": rest}))?;
                self.say(&read.to_string());
            }
            "write" => {
                let (path, content) = rest.split_once(' ').unwrap_or((rest, ""));
                let written = self.ask("fs/write_text_file", json!({"path": path, "content": content}))?;
                self.say(&written.to_string());
            }
            "permit" | "own" => self.own_tool(word == "permit", rest)?,
            "count" => self.say(&format!("prompt {} of {}", self.prompts, self.session)),
            "late" => self.after = After::Ask(rest.to_owned()),
            "late-answer" => self.say(&self.late_answer.to_string()),
            "cut" => self.stop_reason = "max_tokens",
            "env" => self.say(&env::var(rest).unwrap_or_else(|_| "unset".to_owned())),
            _ => self.misbehave(word, rest)?,
        }
        Ok(())
    }

    fn misbehave(&mut self, word: &str, rest: &str) -> Result<(), Stop> {
        match word {
            "hang" => drop(self.finish(u64::MAX)?),
            "deaf" => {
                self.is_deaf = true;
                self.say("deaf");
                self.finish(u64::MAX)?;
            }
            "flood" => self.say(&"x".repeat(100 * 1024 * 1024)),
            "chatter" => loop {
                self.say(&"many words ".repeat(1000));
            },
            "loop" => loop {
                self.terminal(&json!({"command": rest}))?;
            },
            "garbage" => {
                for number in 0..1000 {
                    let _ = writeln!(io::stdout(), "no JSON {number} \u{1b}[31m");
                }
                self.finish(u64::MAX)?;
            }
            "leave" => {
                self.ask("terminal/create", json!({"command": rest}))?;
                self.after = After::Leave;
            }
            "busy-die" => {
                self.ask("terminal/create", json!({"command": rest}))?;
                std::process::exit(7);
            }
            "die" => {
                complain("thread main panicked\n\u{1b}[31mat the \u{202e}disco\u{1b}[m");
                std::process::exit(7);
            }
            _ => self.say(&format!("(no step `{word}`)")),
        }
        Ok(())
    }

    fn terminal(&mut self, request: &Value) -> Result<(), Stop> {
        let made = self.ask("terminal/create", request.clone())?;
        self.ended(made)
    }

    fn ended(&mut self, made: Value) -> Result<(), Stop> {
        if let Some(error) = made.get("error") {
            self.say(&format!("[not run: {}]", error.as_str().unwrap_or_default()));
            return Ok(());
        }
        let end = self.ask("terminal/wait_for_exit", made.clone())?;
        let output = self.ask("terminal/output", made.clone())?;
        self.ask("terminal/release", made)?;
        self.say(&format!("[exit {}: {}]", end["exitCode"], output["output"].as_str().unwrap_or_default()));
        Ok(())
    }

    fn own_tool(&mut self, asks: bool, rest: &str) -> Result<(), Stop> {
        let (kind, title) = rest.split_once(' ').unwrap_or((rest, ""));
        let call = json!({"toolCallId": "own-1", "title": title, "kind": kind, "rawInput": {"what": title}});
        if asks {
            let options = json!([
                {"optionId": "always", "name": "Always", "kind": "allow_always"},
                {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
                {"optionId": "no", "name": "No", "kind": "reject_once"},
            ]);
            let answer = self.ask("session/request_permission", json!({"toolCall": call, "options": options}))?;
            self.say(&answer["outcome"].to_string());
            return Ok(());
        }
        for (update, status) in [("tool_call", "in_progress"), ("tool_call_update", "completed")] {
            let mut update = json!({"sessionUpdate": update, "toolCallId": "own-1", "status": status});
            if status == "in_progress" {
                (update["title"], update["kind"]) = (title.into(), kind.into());
            }
            let params = json!({"sessionId": self.session, "update": update});
            send(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
        }
        Ok(())
    }

    fn tool(&mut self, name: &str, arguments: &Value) -> Result<(), Stop> {
        if self.mcp.is_none() {
            self.mcp = self.server.as_ref().and_then(Mcp::start);
        }
        let Some(mcp) = &mut self.mcp else {
            self.say("[no MCP server]");
            return Ok(());
        };
        let result = mcp.request("tools/call", &json!({"name": name, "arguments": arguments})).ok_or(Stop::Gone)?;
        let text = result["content"][0]["text"].as_str().unwrap_or_default().to_owned();
        self.say(&format!("[{} {}]", if result["isError"] == true { "error" } else { "result" }, text));
        Ok(())
    }
}

impl Mcp {
    fn start(server: &Value) -> Option<Self> {
        let args = server["args"].as_array()?.iter().filter_map(Value::as_str);
        let variables =
            server["env"].as_array()?.iter().filter_map(|one| Some((one["name"].as_str()?, one["value"].as_str()?)));
        let mut command = Command::new(server["command"].as_str()?);
        command.args(args).envs(variables).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().ok()?;
        let output = BufReader::new(child.stdout.take()?);
        let mut mcp = Self { child, output, next_id: 0 };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fake", "version": "1"}});
        mcp.request("initialize", &params)?;
        Some(mcp)
    }

    fn request(&mut self, method: &str, params: &Value) -> Option<Value> {
        self.next_id += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params});
        writeln!(self.child.stdin.as_mut()?, "{message}").ok()?;
        loop {
            let mut line = String::new();
            if self.output.read_line(&mut line).ok()? == 0 {
                return None;
            }
            let message: Value = serde_json::from_str(&line).ok()?;
            if message["id"] == self.next_id {
                return Some(message["result"].clone());
            }
        }
    }
}
