//! A request as the server received it.

use std::{
    io::{self, BufRead},
    time::Instant,
};

use serde_json::Value;

use super::wire::{SentToolResult, Wire};

/// Largest request body that is read.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// The API that it should speak.
    pub wire: Wire,
    /// `POST`, `GET`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The JSON body; `Null` if it is not JSON.
    pub body: Value,
    /// When its last byte was read.
    pub received_at: Instant,
}

impl Request {
    /// Reads one request; nothing at the end of the connection.
    pub(super) fn read(stream: &mut impl BufRead, wire: Wire) -> io::Result<Option<Self>> {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut headers = Vec::new();
        loop {
            line.clear();
            stream.read_line(&mut line)?;
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
        let length =
            headers.iter().find(|(name, _)| name == "content-length").and_then(|(_, value)| value.parse().ok());
        let length: usize = length.unwrap_or(0);
        if length > MAX_BODY_BYTES {
            return Err(io::ErrorKind::InvalidData.into());
        }
        let mut body = vec![0; length];
        stream.read_exact(&mut body)?;
        let body = serde_json::from_slice(&body).unwrap_or(Value::Null);
        Ok(Some(Self { wire, method, path, headers, body, received_at: Instant::now() }))
    }

    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// The key that came with it.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        let (header, prefix) = self.wire.key_header();
        self.header(header)?.strip_prefix(prefix)
    }

    /// The requested model; on some wires it is in the path.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        let in_path = || self.path.split_once("/models/")?.1.split(':').next();
        self.body["model"].as_str().or_else(in_path)
    }

    /// Every string of the conversation (not of the tools on offer), one per line. Marks for the service's cache, which move from
    /// request to request, are left out.
    #[must_use]
    pub fn conversation(&self) -> String {
        let mut text = String::new();
        for part in ["system", "instructions", "systemInstruction", "messages", "input", "contents"] {
            collect_strings(&self.body[part], &mut text);
        }
        text
    }

    /// The tool results in the conversation, oldest first, without the marks and bars around them.
    #[must_use]
    pub fn tool_results(&self) -> Vec<SentToolResult> {
        let mut results = self.wire.tool_results(&self.body);
        results.iter_mut().for_each(|result| result.content = unmarked(&result.content));
        results
    }

    /// Names of the tools on offer, in the order sent.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let tools = tools.first().and_then(|tool| tool["functionDeclarations"].as_array()).map_or(tools, Vec::as_slice);
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

/// A tool result without marks and bars; cohab's notes follow it.
fn unmarked(content: &str) -> String {
    // Some wires have no other place for it.
    let error = if content.starts_with("ERROR: ") { "ERROR: " } else { "" };
    let marked = content[error.len()..].strip_prefix("<output ").and_then(|rest| rest.split_once(">\n"));
    let Some((inner, notes)) = marked.and_then(|(_, rest)| rest.split_once("</output>")) else {
        return content.to_owned();
    };
    let bare = |line: &str| line.strip_prefix("| ").unwrap_or(line).to_owned();
    error.to_owned() + &inner.lines().map(bare).collect::<Vec<_>>().join("\n") + notes
}

fn collect_strings(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => {
            out.push_str(text);
            out.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| collect_strings(item, out)),
        Value::Object(fields) => {
            let told = fields.iter().filter(|(name, _)| *name != "cache_control");
            told.for_each(|(_, field)| collect_strings(field, out));
        }
        _ => {}
    }
}
