//! Prints events and their fold as one JSON object per line. The field `type` names its kind; more types and fields may come, so
//! readers skip unknown ones. Every event has `at_ms`, the time since the request.
//!
//! | type | fields |
//! |---|---|
//! | `text`, `reasoning`, `refusal` | `delta` |
//! | `tool_call` | `id`, `name`, `arguments` (an object, or `null` if broken), `raw` and `error` if broken |
//! | `usage` | tokens so far: `input_tokens`, `output_tokens`, `cache_read_tokens`, `cache_write_tokens`, `reasoning_tokens`, and `cost_usd`; `null` is unknown |
//! | `notice` | `text` |
//! | `retry` | `reason`, `after_ms`, `discard_shown` |
//! | `stop` | `class`: `end`, `tool`, `length`, `refusal`, `pause` |
//! | `failed` | `error`: `kind`, `message`, `hint`, `retry_after_ms` |
//! | `incomplete` | `reason` |
//! | `fold` | the last line: `text`, `reasoning`, `refusal`, `tool_calls`, `stop`, `usage`, `error`, `incomplete`, `retries`, `first_event_ms`, `total_ms` |

use std::{
    io::{self, Write},
    time::Duration,
};

use cohab_model_api::{ModelEvent, ProviderError, TokenUsage, ToolCall};
use cohab_text::sanitize::escaped_json;
use serde_json::{Value, json};

use super::{End, Fold, Show, class_name};

/// Writes the lines to `W`.
pub struct JsonLines<W>(pub W);

impl<W: Write> JsonLines<W> {
    fn line(&mut self, value: &Value) -> io::Result<()> {
        writeln!(self.0, "{}", escaped_json(&value.to_string()))?;
        self.0.flush()
    }
}

impl<W: Write> Show for JsonLines<W> {
    fn event(&mut self, event: &ModelEvent, at: Duration) -> io::Result<()> {
        let mut value = of_event(event);
        value["at_ms"] = json!(millis(at));
        self.line(&value)
    }

    fn fold(&mut self, fold: &Fold) -> io::Result<()> {
        let (stop, error, incomplete) = match &fold.end {
            Some(End::Stop(class)) => (json!(class_name(*class)), Value::Null, Value::Null),
            Some(End::Failed(error)) => (Value::Null, of_error(error), Value::Null),
            Some(End::Incomplete(reason)) => (Value::Null, Value::Null, json!(reason)),
            None => (Value::Null, Value::Null, json!("the stream ended without an end mark")),
        };
        self.line(&json!({
            "type": "fold",
            "text": fold.text,
            "reasoning": fold.reasoning,
            "refusal": fold.refusal,
            "tool_calls": fold.tool_calls.iter().map(of_call).collect::<Vec<_>>(),
            "stop": stop,
            "usage": of_usage(&fold.usage),
            "error": error,
            "incomplete": incomplete,
            "retries": fold.retries,
            "first_event_ms": fold.first_event.map(millis),
            "total_ms": millis(fold.total),
        }))
    }
}

fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

fn of_event(event: &ModelEvent) -> Value {
    match event {
        ModelEvent::TextDelta(delta) => json!({"type": "text", "delta": delta}),
        ModelEvent::ReasoningDelta(delta) => json!({"type": "reasoning", "delta": delta}),
        ModelEvent::RefusalDelta(delta) => json!({"type": "refusal", "delta": delta}),
        ModelEvent::ToolCallDone(call) => {
            let mut value = json!({"type": "tool_call"});
            merge(&mut value, of_call(call));
            value
        }
        ModelEvent::Usage(usage) => {
            let mut value = json!({"type": "usage"});
            merge(&mut value, of_usage(usage));
            value
        }
        ModelEvent::Notice(text) => json!({"type": "notice", "text": text}),
        ModelEvent::Retrying { reason, after, discard_shown } => {
            json!({"type": "retry", "reason": reason, "after_ms": millis(*after), "discard_shown": discard_shown})
        }
        ModelEvent::Stop { class, .. } => json!({"type": "stop", "class": class_name(*class)}),
        ModelEvent::Failed(error) => json!({"type": "failed", "error": of_error(error)}),
        ModelEvent::Incomplete { reason } => json!({"type": "incomplete", "reason": reason}),
    }
}

fn merge(value: &mut Value, more: Value) {
    if let (Value::Object(value), Value::Object(more)) = (value, more) {
        value.extend(more);
    }
}

fn of_call(call: &ToolCall) -> Value {
    match &call.args {
        Ok(args) => json!({"id": call.id, "name": call.name, "arguments": args}),
        Err(broken) => {
            json!({"id": call.id, "name": call.name, "arguments": null, "raw": broken.raw, "error": broken.error})
        }
    }
}

fn of_usage(usage: &TokenUsage) -> Value {
    json!({
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_read_tokens": usage.cache_read,
        "cache_write_tokens": usage.cache_write,
        "reasoning_tokens": usage.reasoning,
        "cost_usd": usage.cost_microusd.map(|cost| cost as f64 / 1e6),
    })
}

fn of_error(error: &ProviderError) -> Value {
    json!({
        "kind": error.kind.word(),
        "message": error.message,
        "hint": error.hint,
        "retry_after_ms": error.retry_after.map(millis),
    })
}
