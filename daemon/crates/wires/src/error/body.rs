//! Reads the body of an error, in any of the forms that services send.

use std::time::Duration;

use serde_json::Value;

/// Longest text that is kept.
const MAX_TEXT_BYTES: usize = 8 * 1024;

/// An error that a service reported, in any form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorBody {
    /// HTTP status, or the status named inside an event.
    pub status: Option<u16>,
    /// `code`, `type` and `status` words, lower case, separated by spaces.
    pub codes: String,
    /// Text for people, in one line.
    pub text: String,
    /// Whether the body is a web page and not an answer of an API.
    pub is_html: bool,
    /// Wait that the body asks for.
    pub retry_after: Option<Duration>,
    /// Tokens of the prompt, if a field of the body names them.
    pub prompt_tokens: Option<u64>,
    /// Tokens of the model's context, if a field of the body names them.
    pub window_tokens: Option<u64>,
}

impl ErrorBody {
    /// Reads the body of an answer with `status`.
    pub fn from_bytes(status: u16, bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        // Gateways answer a request for a stream with a stream, even if it holds only an error.
        let event = || text.lines().find_map(|line| serde_json::from_str::<Value>(line.strip_prefix("data:")?).ok());
        let mut body = match serde_json::from_slice::<Value>(bytes).ok().or_else(event) {
            Some(value) => Self::from_value(&value),
            None => Self::from_text(&text),
        };
        body.status = Some(status);
        body
    }

    /// Reads an error object, or an object or array around one.
    pub fn from_value(value: &Value) -> Self {
        let value = value.as_array().and_then(|items| items.first()).unwrap_or(value);
        let inner = value.get("error").filter(|error| error.is_object()).unwrap_or(value);
        let detail = value.get("detail");
        let candidates = [
            inner.pointer("/metadata/raw").and_then(Value::as_str),
            inner.get("message").and_then(Value::as_str),
            value.get("error").and_then(Value::as_str),
            value.get("message").and_then(Value::as_str),
            detail.and_then(Value::as_str),
            detail.and_then(|list| list.pointer("/0/msg")).and_then(Value::as_str),
            value.as_str(),
        ];
        let text = candidates.into_iter().flatten().find(|text| !text.trim().is_empty()).unwrap_or_default();
        // Gateways pass on the body of the service behind them as text.
        let nested = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Value>(text).ok()).flatten();
        let mut body =
            nested.map_or_else(|| Self { text: one_line(text), ..Self::default() }, |nested| Self::from_value(&nested));
        // Such lists name the field in a separate place, and describe every unknown field with the same text.
        if let Some(field) = detail.and_then(|list| list.pointer("/0/loc")).and_then(field_of)
            && !body.text.contains(field)
        {
            body.text.push_str(&format!(" ({field})"));
        }
        for key in ["code", "type", "status", "error_type"] {
            for holder in [inner, value] {
                match holder.get(key) {
                    Some(Value::String(word)) => body.add_code(word),
                    Some(Value::Number(number)) => {
                        let status = number.as_u64().and_then(|number| u16::try_from(number).ok());
                        body.status = body.status.or(status.filter(|status| (400..600).contains(status)));
                    }
                    _ => {}
                }
            }
        }
        if inner.pointer("/metadata/reasons").is_some() {
            body.add_code("moderation");
        }
        let count = |key: &str| inner.get(key).and_then(Value::as_u64).filter(|count| *count > 0);
        body.prompt_tokens = body.prompt_tokens.or_else(|| count("n_prompt_tokens"));
        body.window_tokens = body.window_tokens.or_else(|| count("n_ctx"));
        body.retry_after = body.retry_after.or_else(|| retry_info(inner));
        for reason in details(inner).filter_map(|detail| detail.get("reason").and_then(Value::as_str)) {
            body.add_code(reason);
        }
        body
    }

    fn from_text(text: &str) -> Self {
        let is_html = text.trim_start().starts_with('<');
        Self { text: one_line(text), is_html, ..Self::default() }
    }

    fn add_code(&mut self, word: &str) {
        if !self.codes.is_empty() {
            self.codes.push(' ');
        }
        self.codes.push_str(&word.to_ascii_lowercase());
    }

    pub(super) fn has_code(&self, words: &[&str]) -> bool {
        self.codes.split(' ').any(|code| words.contains(&code))
    }
}

fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error.get("details").and_then(Value::as_array).into_iter().flatten()
}

/// The field in a place like `["body", "stream_options"]`.
fn field_of(place: &Value) -> Option<&str> {
    place.as_array()?.get(1..)?.last()?.as_str()
}

fn retry_info(error: &Value) -> Option<Duration> {
    let delay = details(error).find_map(|detail| detail.get("retryDelay").and_then(Value::as_str))?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    Duration::try_from_secs_f64(seconds).ok().filter(|delay| !delay.is_zero())
}

/// `text` without tags and control characters, with whitespace collapsed; cut if it is longer than any message.
fn one_line(text: &str) -> String {
    let mut line = String::new();
    let mut in_tag = false;
    let is_page = text.trim_start().starts_with('<');
    for c in text.chars() {
        if line.len() >= MAX_TEXT_BYTES {
            break;
        }
        match c {
            '<' if is_page => in_tag = true,
            '>' if in_tag => in_tag = false,
            _ if in_tag => continue,
            _ => {}
        }
        let blank = c.is_whitespace() || c.is_control() || (is_page && matches!(c, '<' | '>'));
        if blank && (line.is_empty() || line.ends_with(' ')) {
            continue;
        }
        line.push(if blank { ' ' } else { c });
    }
    line.trim_end().to_owned()
}
