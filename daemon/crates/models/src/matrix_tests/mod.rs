//! Tests recorded answers of every wire, unchanged and changed in every way in which a good or a bad connection changes them.
//!
//! `fixtures/WIRE/NAME.txt` is an answer, `NAME.json` its result: `text`, `reasoning`, `refusal`, `calls`, `usage` (an absent field is
//! empty or unknown) and `stop`, the class of the stop or the kind of the failure. `in_one_piece` marks an answer that is no stream;
//! `mark` is the text of the terminal mark.

mod cuts;
mod framing;
mod limits;
mod mutations;
mod rewrite;

use std::{fs, path::PathBuf};

use bytes::Bytes;
use cohab_model_api::{ModelEvent, TokenUsage};
use cohab_wires::{
    WIRES,
    wire::{Framing, Wire},
};
use serde_json::{Map, Value, json};

use super::replay::Replay;

/// A recorded answer.
pub(super) struct Fixture {
    wire: &'static dyn Wire,
    name: String,
    text: String,
    /// Its expected turn.
    turn: Value,
    mark: Option<String>,
    is_in_one_piece: bool,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/matrix_tests/fixtures")
}

/// All fixtures, wire by wire.
fn all() -> Vec<Fixture> {
    WIRES.iter().flat_map(|wire| of(*wire)).collect()
}

/// All that are streams.
fn streams() -> impl Iterator<Item = Fixture> {
    all().into_iter().filter(|fixture| !fixture.is_in_one_piece)
}

/// All streams of events.
fn event_streams() -> impl Iterator<Item = Fixture> {
    streams().filter(|fixture| fixture.wire.framing() == Framing::Events)
}

fn of(wire: &'static dyn Wire) -> Vec<Fixture> {
    let Ok(entries) = fs::read_dir(folder().join(wire.name())) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder can be read").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    let load = |path: PathBuf| {
        let expected = fs::read(path.with_extension("json")).expect("each answer has what it comes to beside it");
        let mut turn: Map<String, Value> = serde_json::from_slice(&expected).expect("an object");
        Fixture {
            wire,
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            text: fs::read_to_string(&path).expect("fixtures are UTF-8"),
            mark: turn.remove("mark").and_then(|mark| mark.as_str().map(str::to_owned)),
            is_in_one_piece: turn.remove("in_one_piece").is_some(),
            turn: Value::Object(turn),
        }
    };
    paths.into_iter().map(load).collect()
}

impl Fixture {
    /// Name for people: wire and file.
    fn label(&self) -> String {
        format!("{}/{}", self.wire.name(), self.name)
    }

    fn replay(&self) -> Replay {
        let replay = Replay::of(self.wire.name()).expect("the wire is in the list");
        if self.is_in_one_piece { replay.in_one_piece() } else { replay }
    }

    /// The events of `chunks`, which end cleanly.
    fn read(&self, chunks: Vec<Bytes>) -> Vec<ModelEvent> {
        read(self.replay(), chunks)
    }

    /// The turn of `bytes` in one chunk.
    fn turn_of(&self, bytes: impl Into<Bytes>) -> Value {
        turn(&self.read(vec![bytes.into()]))
    }

    /// The blocks between blank lines, or the lines; each with its end.
    fn parts(&self) -> Vec<&str> {
        let end = if self.wire.framing() == Framing::Lines { "\n" } else { "\n\n" };
        self.text.split_inclusive(end).collect()
    }
}

/// The events of `chunks`: exactly one terminal event, and nothing after it.
fn read(replay: Replay, chunks: Vec<Bytes>) -> Vec<ModelEvent> {
    let events = replay.events(chunks);
    let is_terminal = |event: &ModelEvent| {
        matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. })
    };
    let last = events.iter().position(is_terminal);
    assert_eq!(last.map(|at| at + 1), Some(events.len()), "one terminal event, at the end: {events:?}");
    events
}

/// The turn of `events`, in the form of the fixtures.
fn turn(events: &[ModelEvent]) -> Value {
    let (mut text, mut reasoning, mut refusal) = (String::new(), String::new(), String::new());
    let (mut calls, mut usage, mut stop) = (Vec::new(), TokenUsage::default(), String::new());
    for event in events {
        match event {
            ModelEvent::TextDelta(piece) => text.push_str(piece),
            ModelEvent::ReasoningDelta(piece) => reasoning.push_str(piece),
            ModelEvent::RefusalDelta(piece) => refusal.push_str(piece),
            ModelEvent::ToolCallDone(call) => {
                let args = call.args.as_ref().map_or_else(|broken| json!(broken.raw), |args| json!(args));
                calls.push(json!({"id": call.id, "name": call.name, "args": args}));
            }
            ModelEvent::Usage(tokens) => usage = *tokens,
            ModelEvent::Stop { class, .. } => stop = format!("{class:?}"),
            ModelEvent::Failed(error) => stop = format!("Failed({:?})", error.kind),
            ModelEvent::Incomplete { .. } => "Incomplete".clone_into(&mut stop),
            ModelEvent::Notice(_) | ModelEvent::Retrying { .. } => {}
        }
    }
    let mut turn = json!({"text": text, "reasoning": reasoning, "refusal": refusal, "calls": calls, "stop": stop});
    turn["usage"] = known(usage);
    let fields = turn.as_object_mut().expect("made as an object");
    fields.retain(|_, value| !matches!(value, Value::String(text) if text.is_empty()));
    fields.retain(|_, value| !value.as_array().is_some_and(Vec::is_empty));
    fields.retain(|_, value| !value.as_object().is_some_and(Map::is_empty));
    turn
}

fn known(usage: TokenUsage) -> Value {
    let mut fields = Map::new();
    let counts = [
        ("input", usage.input),
        ("output", usage.output),
        ("cache_read", usage.cache_read),
        ("cache_write", usage.cache_write),
        ("reasoning", usage.reasoning),
        ("cost_microusd", usage.cost_microusd),
    ];
    for (name, count) in counts {
        fields.extend(count.map(|count| (name.to_owned(), json!(count))));
    }
    Value::Object(fields)
}

#[test]
fn every_wire_has_the_usual_answers_on_record() {
    for wire in WIRES {
        let names: Vec<String> = of(*wire).into_iter().map(|fixture| fixture.name).collect();
        for usual in ["text", "text_and_call", "parallel_calls", "reasoning_and_call", "error_in_the_middle"] {
            assert!(names.iter().any(|name| name == usual), "{} has no fixture {usual}", wire.name());
        }
    }
}

#[test]
fn every_answer_comes_to_what_stands_beside_it() {
    for fixture in all() {
        assert_eq!(fixture.turn_of(fixture.text.clone()), fixture.turn, "{}", fixture.label());
    }
}
