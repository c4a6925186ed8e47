//! Messages of JSON-RPC 2.0, one JSON object a line. Batches are not taken: MCP and ACP have none, and events come between answers.

use cohab_protocol::{MAX_PIPED_INPUT_BYTES, MAX_QUERY_BYTES};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The code for a line that is not JSON.
pub const PARSE_ERROR: i64 = -32_700;
/// The code for JSON that is not a message.
pub const INVALID_REQUEST: i64 = -32_600;
/// The code for a method that does not exist.
pub const METHOD_NOT_FOUND: i64 = -32_601;
/// The code for parameters that a method does not take.
pub const INVALID_PARAMS: i64 = -32_602;
/// The code for a request that failed.
pub const REQUEST_FAILED: i64 = -32_000;

/// A message that came in.
#[derive(Clone, Debug, PartialEq)]
pub enum Incoming {
    /// A request, to be answered.
    Request {
        /// A string or a number.
        id: Value,
        /// The method.
        method: String,
        /// Its parameters; `null` without.
        params: Value,
    },
    /// A notification.
    Notification {
        /// The method.
        method: String,
        /// Its parameters; `null` without.
        params: Value,
    },
    /// The answer to a request of ours.
    Response {
        /// The id of our request.
        id: Value,
        /// The result, or why there is none.
        outcome: Result<Value, RpcError>,
    },
}

/// Why a request has no result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RpcError {
    /// A code of JSON-RPC, or of the method.
    pub code: i64,
    /// What happened, a sentence.
    pub message: String,
    /// What the user can do.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub data: Option<Hint>,
}

/// What the user can do about a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hint {
    /// A sentence.
    pub hint: String,
}

impl RpcError {
    /// A failure with this code and message.
    #[must_use]
    pub fn new(code: i64, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same, with what the user can do.
    #[must_use]
    pub fn hint(mut self, hint: Option<String>) -> Self {
        self.data = hint.map(|hint| Hint { hint });
        self
    }
}

/// Checks what the daemon would not take whole.
///
/// # Errors
/// A question or what comes with it is too long.
pub fn is_short_enough(text: &str, piped_input: Option<&str>) -> Result<(), RpcError> {
    let is_short =
        text.len() <= MAX_QUERY_BYTES && piped_input.is_none_or(|piped| piped.len() <= MAX_PIPED_INPUT_BYTES);
    let message = "a question and what comes with it may have 1 MiB each";
    if is_short { Ok(()) } else { Err(RpcError::new(INVALID_PARAMS, message)) }
}

/// The failure of a request to a session whose daemon is behind.
#[must_use]
pub fn session_busy() -> RpcError {
    RpcError::new(REQUEST_FAILED, "the session takes no more messages for now")
}

/// A line that is no message: the answer that it gets.
#[derive(Clone, Debug, PartialEq)]
pub struct NoMessage {
    /// The id that could be read; else `null`.
    pub id: Value,
    /// Why it is none.
    pub failure: RpcError,
}

/// Reads a line.
///
/// # Errors
/// It is not JSON, or not a message.
pub fn parse(line: &[u8]) -> Result<Incoming, Box<NoMessage>> {
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let failure = RpcError::new(PARSE_ERROR, format!("the line is not JSON: {error}"));
        Box::new(NoMessage { id: Value::Null, failure })
    })?;
    let Value::Object(mut fields) = value else {
        return Err(invalid(Value::Null, "a message is one JSON object"));
    };
    let id = fields.remove("id").filter(|id| id.is_string() || id.is_number());
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return Err(invalid(id.unwrap_or(Value::Null), "`jsonrpc` must be \"2.0\""));
    }
    let params = fields.remove("params").unwrap_or(Value::Null);
    match (fields.remove("method"), id) {
        (Some(Value::String(method)), Some(id)) => Ok(Incoming::Request { id, method, params }),
        (Some(Value::String(method)), None) => Ok(Incoming::Notification { method, params }),
        (Some(_), id) => Err(invalid(id.unwrap_or(Value::Null), "`method` must be a string")),
        (None, Some(id)) => {
            let outcome = match (fields.remove("result"), fields.remove("error")) {
                (Some(result), None) => Ok(result),
                (_, Some(error)) => Err(serde_json::from_value(error)
                    .unwrap_or_else(|_| RpcError::new(REQUEST_FAILED, "the other side reported an error"))),
                (None, None) => return Err(invalid(id, "neither `method` nor `result` nor `error`")),
            };
            Ok(Incoming::Response { id, outcome })
        }
        (None, None) => Err(invalid(Value::Null, "neither `method` nor `id`")),
    }
}

fn invalid(id: Value, message: &str) -> Box<NoMessage> {
    Box::new(NoMessage { id, failure: RpcError::new(INVALID_REQUEST, message) })
}

/// The answer to a request.
#[must_use]
pub fn answer(id: &Value, outcome: Result<Value, RpcError>) -> Value {
    match outcome {
        Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
        Err(failure) => json!({"jsonrpc": "2.0", "id": id, "error": failure}),
    }
}

/// A request of ours.
#[must_use]
pub fn request(id: u64, method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

/// A notification of ours.
#[must_use]
pub fn notification(method: &str, params: &Value) -> Value {
    json!({"jsonrpc": "2.0", "method": method, "params": params})
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn requests_notifications_and_answers_are_told_apart() {
        let request = parse(br#"{"jsonrpc":"2.0","id":"a","method":"m","params":{"x":1}}"#).unwrap();
        assert_eq!(request, Incoming::Request { id: json!("a"), method: "m".into(), params: json!({"x": 1}) });
        let told = parse(br#"{"jsonrpc":"2.0","method":"m"}"#).unwrap();
        assert_eq!(told, Incoming::Notification { method: "m".into(), params: Value::Null });
        let answered = parse(br#"{"jsonrpc":"2.0","id":3,"result":null}"#).unwrap();
        assert_eq!(answered, Incoming::Response { id: json!(3), outcome: Ok(Value::Null) });
        let failed = parse(br#"{"jsonrpc":"2.0","id":3,"error":{"code":-1,"message":"no"}}"#).unwrap();
        assert_eq!(failed, Incoming::Response { id: json!(3), outcome: Err(RpcError::new(-1, "no")) });
    }

    #[test]
    fn what_is_no_message_gets_its_reason() {
        for (line, code) in [
            (&b"{"[..], PARSE_ERROR),
            (b"\xff", PARSE_ERROR),
            (b"[]", INVALID_REQUEST),
            (b"{}", INVALID_REQUEST),
            (br#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, INVALID_REQUEST),
            (br#"{"jsonrpc":"2.0","id":1,"method":1}"#, INVALID_REQUEST),
            (br#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
        ] {
            assert_eq!(parse(line).unwrap_err().failure.code, code, "{}", line.escape_ascii());
        }
    }

    proptest! {
        #[test]
        fn no_line_makes_it_fail_otherwise(line: Vec<u8>) {
            let _ = parse(&line);
        }
    }
}
