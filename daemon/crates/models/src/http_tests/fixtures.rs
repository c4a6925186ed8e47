//! Fixtures describe the answers of each wire. A wire joins all tests of this folder by one row in [`FIXTURES`].

use cohab_wires::{
    WIRES,
    wire::{Framing, Wire},
};
use serde_json::{Value, json};

use super::server::Reply;

/// The end of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Stop,
    Tool,
    Length,
}

/// Kinds of errors inside an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// Passes.
    Overload,
    /// Does not.
    Invalid,
}

/// The format of one wire. All functions return payloads: JSON, or a string that is sent as it is.
pub(super) struct Fixture {
    pub(super) wire: &'static str,
    /// A text, without the end.
    pub(super) text: fn(&str) -> Vec<Value>,
    /// A call of `bash` with this id and command, without the end.
    pub(super) call: fn(&str, &str) -> Vec<Value>,
    /// All up to the end mark.
    pub(super) end: fn(Ended) -> Vec<Value>,
    /// Payloads that may follow the end mark.
    pub(super) after: &'static [&'static str],
    /// An answer that is a refusal, if there is such.
    pub(super) refusal: fn() -> Vec<Value>,
    /// An error inside an answer, if there is such.
    pub(super) error: fn(Fault, &str) -> Option<Value>,
    /// Shows nothing and ends nothing.
    pub(super) idle: fn() -> Value,
    /// A text in one piece.
    pub(super) whole: fn(&str) -> Value,
}

/// All wires.
static FIXTURES: &[Fixture] = &[ANTHROPIC, OPENAI_CHAT, OPENAI_RESPONSES, GEMINI, OLLAMA];

/// The rows of all wires that there are.
pub(super) fn fixtures() -> impl Iterator<Item = &'static Fixture> {
    FIXTURES.iter().filter(|fixture| WIRES.iter().any(|wire| wire.name() == fixture.wire))
}

pub(super) fn fixture(wire: &str) -> &'static Fixture {
    FIXTURES.iter().find(|fixture| fixture.wire == wire).expect("each wire has a row in FIXTURES")
}

#[test]
fn every_wire_has_fixtures() {
    for wire in WIRES {
        fixture(wire.name());
    }
}

impl Fixture {
    pub(super) fn wire(&self) -> &'static dyn Wire {
        super::wire(self.wire)
    }

    /// Payloads as bytes.
    pub(super) fn bytes(&self, payloads: &[Value]) -> String {
        let texts = payloads.iter().map(|payload| payload.as_str().map_or_else(|| payload.to_string(), str::to_owned));
        match self.wire().framing() {
            Framing::Events => texts.map(|text| format!("data: {text}\n\n")).collect(),
            Framing::Lines => texts.map(|text| format!("{text}\n")).collect(),
        }
    }

    /// A stream of these bytes.
    pub(super) fn stream(&self, bytes: &str) -> Reply {
        Reply::new(200, self.content_type(), bytes.as_bytes())
    }

    pub(super) fn content_type(&self) -> &'static str {
        match self.wire().framing() {
            Framing::Events => "content-type: text/event-stream",
            Framing::Lines => "content-type: application/x-ndjson",
        }
    }

    /// A text without its end.
    pub(super) fn half(&self, text: &str) -> String {
        self.bytes(&(self.text)(text))
    }

    /// A text.
    pub(super) fn answer(&self, text: &str) -> String {
        self.ended((self.text)(text), Ended::Stop)
    }

    /// The text `Look é.` and the call `c1`.
    pub(super) fn call_answer(&self, ended: Ended) -> String {
        self.ended(self.look_and_call(), ended)
    }

    /// Bytes of that up to the end mark. A clean end needs no blank line behind the mark.
    pub(super) fn complete_from(&self) -> usize {
        let mark = self.look_and_call().into_iter().chain((self.end)(Ended::Tool)).collect::<Vec<_>>();
        self.bytes(&mark).trim_end().len()
    }

    fn look_and_call(&self) -> Vec<Value> {
        (self.text)("Look \u{e9}.").into_iter().chain((self.call)("c1", "echo \u{1f600}")).collect()
    }

    /// These payloads and an end.
    pub(super) fn ended(&self, mut payloads: Vec<Value>, ended: Ended) -> String {
        payloads.extend((self.end)(ended));
        payloads.extend(self.after.iter().map(|text| json!(text)));
        self.bytes(&payloads)
    }

    /// A good answer.
    pub(super) fn good(&self) -> Reply {
        self.stream(&self.answer("ok"))
    }
}

/// Arguments in two pieces.
fn args(command: &str) -> [String; 2] {
    let whole = json!({"command": command}).to_string();
    let (head, tail) = whole.split_at(6);
    [head.to_owned(), tail.to_owned()]
}

const ANTHROPIC: Fixture = Fixture {
    wire: "anthropic",
    text: |text| {
        vec![
            json!({"type": "message_start", "message": {"id": "m"}}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
        ]
    },
    call: |id, command| {
        let block = json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
        let start = json!({"type": "content_block_start", "index": 1, "content_block": block});
        let delta = |json: String| json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": json}});
        std::iter::once(start).chain(args(command).map(delta)).collect()
    },
    end: |ended| {
        let reason = match ended {
            Ended::Stop => "end_turn",
            Ended::Tool => "tool_use",
            Ended::Length => "max_tokens",
        };
        vec![json!({"type": "message_delta", "delta": {"stop_reason": reason}}), json!({"type": "message_stop"})]
    },
    after: &[],
    refusal: || {
        let details = json!({"stop_reason": "refusal", "stop_details": {"explanation": "I will not."}});
        vec![json!({"type": "message_delta", "delta": details}), json!({"type": "message_stop"})]
    },
    error: |fault, text| {
        let kind = if fault == Fault::Overload { "overloaded_error" } else { "invalid_request_error" };
        Some(json!({"type": "error", "error": {"type": kind, "message": text}}))
    },
    idle: || json!({"type": "ping"}),
    whole: |text| json!({"type": "message", "id": "m", "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]}),
};

const OPENAI_CHAT: Fixture = Fixture {
    wire: "openai-chat",
    text: |text| vec![json!({"choices": [{"index": 0, "delta": {"content": text}}]})],
    call: |id, command| {
        let [head, tail] = args(command);
        let first = json!({"index": 0, "id": id, "type": "function", "function": {"name": "bash", "arguments": head}});
        let second = json!({"index": 0, "function": {"arguments": tail}});
        [first, second].map(|tool| json!({"choices": [{"index": 0, "delta": {"tool_calls": [tool]}}]})).to_vec()
    },
    end: |ended| {
        let reason = match ended {
            Ended::Stop => "stop",
            Ended::Tool => "tool_calls",
            Ended::Length => "length",
        };
        vec![json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})]
    },
    after: &["[DONE]"],
    refusal: || {
        vec![
            json!({"choices": [{"index": 0, "delta": {"refusal": "I will not."}}]}),
            json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}),
        ]
    },
    error: |fault, text| {
        Some(json!({"error": {"code": if fault == Fault::Overload { 503 } else { 400 }, "message": text}}))
    },
    idle: || json!({"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}),
    whole: |text| json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}]}),
};

const OPENAI_RESPONSES: Fixture = Fixture {
    wire: "openai-responses",
    text: |text| {
        let item = json!({"type": "message", "id": "i0", "role": "assistant", "content": []});
        vec![
            json!({"type": "response.created", "response": {"id": "r", "status": "in_progress"}}),
            json!({"type": "response.output_item.added", "output_index": 0, "item": item}),
            json!({"type": "response.output_text.delta", "output_index": 0, "content_index": 0, "item_id": "i0", "delta": text}),
        ]
    },
    call: |id, command| {
        let item =
            |args: &str| json!({"type": "function_call", "id": "i1", "call_id": id, "name": "bash", "arguments": args});
        let delta = |json: String| json!({"type": "response.function_call_arguments.delta", "output_index": 1, "item_id": "i1", "delta": json});
        let start = json!({"type": "response.output_item.added", "output_index": 1, "item": item("")});
        let done =
            json!({"type": "response.output_item.done", "output_index": 1, "item": item(&args(command).concat())});
        std::iter::once(start).chain(args(command).map(delta)).chain([done]).collect()
    },
    end: |ended| {
        let response = json!({"id": "r", "status": "completed", "output": []});
        let cut = json!({"id": "r", "status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}, "output": []});
        match ended {
            Ended::Stop | Ended::Tool => vec![json!({"type": "response.completed", "response": response})],
            Ended::Length => vec![json!({"type": "response.incomplete", "response": cut})],
        }
    },
    after: &[],
    refusal: || {
        let response = json!({"id": "r", "status": "completed", "output": []});
        vec![
            json!({"type": "response.refusal.delta", "output_index": 0, "item_id": "i0", "delta": "I will not."}),
            json!({"type": "response.completed", "response": response}),
        ]
    },
    error: |fault, text| {
        let code = if fault == Fault::Overload { "overloaded" } else { "invalid_request_error" };
        Some(json!({"type": "error", "error": {"code": code, "message": text}}))
    },
    idle: || json!({"type": "response.in_progress", "response": {"id": "r"}}),
    whole: |text| {
        let content = json!([{"type": "output_text", "text": text}]);
        let item = json!({"type": "message", "id": "i0", "role": "assistant", "content": content});
        json!({"id": "r", "object": "response", "status": "completed", "output": [item]})
    },
};

const GEMINI: Fixture = Fixture {
    wire: "gemini",
    text: |text| vec![gemini(&json!([{"text": text}]), None)],
    call: |id, command| {
        vec![gemini(&json!([{"functionCall": {"id": id, "name": "bash", "args": {"command": command}}}]), None)]
    },
    end: |ended| vec![gemini(&json!([]), Some(if ended == Ended::Length { "MAX_TOKENS" } else { "STOP" }))],
    after: &[],
    refusal: || vec![gemini(&json!([]), Some("SAFETY"))],
    error: |fault, text| {
        let (code, status) = if fault == Fault::Overload { (503, "UNAVAILABLE") } else { (400, "INVALID_ARGUMENT") };
        Some(json!({"error": {"code": code, "message": text, "status": status}}))
    },
    idle: || gemini(&json!([{"text": ""}]), None),
    whole: |text| gemini(&json!([{"text": text}]), Some("STOP")),
};

fn gemini(parts: &Value, finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    json!({"candidates": [candidate]})
}

const OLLAMA: Fixture = Fixture {
    wire: "ollama",
    text: |text| vec![json!({"message": {"role": "assistant", "content": text}, "done": false})],
    call: |id, command| {
        let call = json!({"id": id, "function": {"name": "bash", "arguments": {"command": command}}});
        vec![json!({"message": {"role": "assistant", "content": "", "tool_calls": [call]}, "done": false})]
    },
    end: |ended| {
        let reason = if ended == Ended::Length { "length" } else { "stop" };
        vec![json!({"message": {"role": "assistant", "content": ""}, "done": true, "done_reason": reason})]
    },
    after: &[],
    refusal: Vec::new,
    error: |fault, text| (fault == Fault::Overload).then(|| json!({"error": text})),
    idle: || json!({"message": {"role": "assistant", "content": ""}, "done": false}),
    whole: |text| json!({"message": {"role": "assistant", "content": text}, "done": true, "done_reason": "stop"}),
};
