//! A request as the server got it.

use std::{
    io::{self, BufRead},
    time::Instant,
};

use serde_json::Value;

/// Largest request body that is read.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// One request.
#[derive(Clone, Debug)]
pub struct Request {
    /// `POST`, `GET`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
    /// The JSON body; `Null` if it is none.
    pub body: Value,
    /// When its last byte was read.
    pub received_at: Instant,
}

/// The result of a tool call as the model would get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentToolResult {
    /// Id of the call.
    pub call_id: String,
    /// The text.
    pub content: String,
}

impl Request {
    /// Reads one request; nothing at the end of the connection.
    pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Self>> {
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
        Ok(Some(Self { method, path, headers, body, received_at: Instant::now() }))
    }

    /// The value of a header, by its name in lower case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Every string of the conversation (not of the tools on offer), a line each. Marks for the service's cache, which move
    /// from request to request, are no part of it.
    #[must_use]
    pub fn conversation(&self) -> String {
        let mut text = String::new();
        for part in ["system", "messages"] {
            collect_strings(&self.body[part], &mut text);
        }
        text
    }

    /// The tool results in the conversation, oldest first, on either wire.
    #[must_use]
    pub fn tool_results(&self) -> Vec<SentToolResult> {
        let messages = self.body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
        let mut results = Vec::new();
        for message in messages {
            if message["role"] == "tool" {
                results.push(result(&message["tool_call_id"], &message["content"]));
            }
            let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
            let blocks = blocks.iter().filter(|block| block["type"] == "tool_result");
            results.extend(blocks.map(|block| result(&block["tool_use_id"], &block["content"])));
        }
        results
    }

    /// Names of the tools on offer, on either wire, in the order sent.
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.body["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        let name = |tool: &Value| tool["name"].as_str().or(tool["function"]["name"].as_str()).map(str::to_owned);
        tools.iter().filter_map(name).collect()
    }
}

fn result(id: &Value, content: &Value) -> SentToolResult {
    let mut text = String::new();
    collect_text(content, &mut text);
    SentToolResult { call_id: id.as_str().unwrap_or_default().to_owned(), content: text }
}

/// The text of a content: a string, or a list of blocks with a `text`.
fn collect_text(content: &Value, out: &mut String) {
    match content {
        Value::String(text) => out.push_str(text),
        Value::Array(blocks) => blocks.iter().for_each(|block| collect_text(&block["text"], out)),
        _ => {}
    }
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
