//! A program that speaks JSON-RPC over its standard input and output, as its other side sees it.

use std::{
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    thread,
};

use serde_json::{Value, json};

use crate::deadline::deadline;

/// The program.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
    /// Notifications that came so far.
    pub notifications: Vec<Value>,
    requests: u64,
}

impl Peer {
    /// Starts it.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn().expect("it starts");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let message = serde_json::from_str(&line).unwrap_or_else(|error| panic!("`{line}`: {error}"));
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { input: child.stdin.take(), child, lines, notifications: Vec::new(), requests: 0 }
    }

    /// Writes a line.
    ///
    /// # Panics
    /// If it is not taken.
    pub fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("an open input");
        input.write_all(format!("{message}\n").as_bytes()).expect("it reads its input");
    }

    /// The next message.
    ///
    /// # Panics
    /// If none comes in time.
    #[must_use]
    pub fn message(&mut self) -> Value {
        self.lines.recv_timeout(deadline()).expect("a message")
    }

    /// Sends a request and returns its id.
    pub fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.requests += 1;
        self.write(&json!({"jsonrpc": "2.0", "id": self.requests, "method": method, "params": params}));
        self.requests
    }

    /// Waits for the answer to a request. `serve` answers the requests of the program meanwhile.
    ///
    /// # Panics
    /// If it does not come in time.
    pub fn answer(&mut self, id: u64, mut serve: impl FnMut(&str, &Value) -> Value) -> Value {
        loop {
            let message = self.message();
            match (message["method"].as_str(), &message["id"]) {
                (Some(method), Value::Null) => {
                    assert!(!method.is_empty());
                    self.notifications.push(message);
                }
                (Some(method), asked) => {
                    let result = serve(method, &message["params"]);
                    let answer = json!({"jsonrpc": "2.0", "id": asked, "result": result});
                    self.write(&answer);
                }
                (None, answered) if *answered == id => return message,
                (None, _) => panic!("an answer that nobody waits for: {message}"),
            }
        }
    }

    /// The result of a request of which nothing is asked back.
    ///
    /// # Panics
    /// If it fails, or something is asked back.
    pub fn call(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        let answer = self.answer(id, |method, _| panic!("{method} is asked back"));
        assert_eq!(answer.get("error"), None, "{method}");
        answer["result"].clone()
    }

    /// Closes its input, and waits for its end: the exit status.
    ///
    /// # Panics
    /// If it does not end in time.
    pub fn end(mut self) -> Option<i32> {
        drop(self.input.take());
        let mut status = None;
        crate::deadline::eventually("it ends with its input", || {
            status = self.child.try_wait().expect("a child");
            status.is_some()
        });
        status.and_then(|status| status.code())
    }
}
