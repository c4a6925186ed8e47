//! `cohab ask --output-schema FILE`: the answer is JSON that is valid against a JSON Schema, or there is none.
//!
//! The model is told the schema with the question. What it answers is checked here, whatever service it comes from; it is told what is
//! wrong, [`MAX_REPAIRS`] times at most. Nothing is fetched: a schema can refer to parts of itself only.

use std::{
    error::Error,
    fs::File,
    io::{self, Read, Sink, Stderr},
    path::Path,
    time::Instant,
};

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use cohab_conversation::approval::OpenQuestion;
use cohab_protocol::DaemonMessage;
use cohab_rpc::answer_text::AnswerText;
use cohab_text::sanitize::{escaped_json, one_line};
use serde_json::Value;

use super::{plain::PlainView, view::View};

/// How often the model is told what is wrong with its answer.
pub(super) const MAX_REPAIRS: usize = 2;
/// Largest file with a schema: it is part of the question.
const MAX_SCHEMA_BYTES: u64 = 128 * 1024;
/// Most faults that are named.
const MAX_FAULTS: usize = 20;
/// Longest fault, in columns.
const FAULT_COLUMNS: usize = 300;
/// Where the schema is said to be. It is never opened.
const PLACE: &str = "cohab:/schema.json";

/// A schema for answers.
pub(super) struct OutputSchema {
    text: String,
    schemas: Schemas,
    index: SchemaIndex,
}

/// Refuses every reference out of the file.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, _url: &str) -> Result<Value, Box<dyn Error>> {
        Err("cohab fetches nothing; put it into the file, below `$defs`".into())
    }
}

impl OutputSchema {
    /// Reads a schema. Blocks.
    ///
    /// # Errors
    /// A sentence without its end that says what is wrong with the file.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        let named = |fault: &dyn std::fmt::Display| {
            let fault = one_line(&fault.to_string(), FAULT_COLUMNS);
            format!("--output-schema {}: {fault}", one_line(&path.to_string_lossy(), FAULT_COLUMNS))
        };
        let mut bytes = Vec::new();
        let file = File::open(path).map_err(|error| named(&error))?;
        file.take(MAX_SCHEMA_BYTES + 1).read_to_end(&mut bytes).map_err(|error| named(&error))?;
        if bytes.len() as u64 > MAX_SCHEMA_BYTES {
            return Err(named(&format!("is larger than {} KiB", MAX_SCHEMA_BYTES / 1024)));
        }
        let text = String::from_utf8(bytes).map_err(|_| named(&"is not UTF-8 text"))?;
        Self::of(text.strip_prefix('\u{feff}').unwrap_or(&text)).map_err(|fault| named(&fault))
    }

    fn of(text: &str) -> Result<Self, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| format!("is not JSON: {error}"))?;
        if !value.is_object() && !value.is_boolean() {
            return Err("is no JSON Schema: that is an object, such as {\"type\": \"object\"}".to_owned());
        }
        let mut compiler = Compiler::new();
        compiler.enable_format_assertions();
        compiler.use_loader(Box::new(NothingElse));
        let mut schemas = Schemas::new();
        compiler.add_resource(PLACE, value).map_err(|error| explain(&error))?;
        let index = compiler.compile(PLACE, &mut schemas).map_err(|error| explain(&error))?;
        Ok(Self { text: text.trim().to_owned(), schemas, index })
    }

    /// The question with what the answer must be.
    pub(super) fn question(&self, question: &str) -> String {
        format!(
            "{question}\n\nYour last message must be one JSON value that is valid against the following JSON Schema, and nothing else: \
             no other words, no code fence.\n{}",
            self.text
        )
    }

    /// What the model is told about an answer that is not valid.
    pub(super) fn repair(faults: &[String]) -> String {
        format!(
            "That answer is not valid against the JSON Schema:\n{}\nAnswer again with the whole JSON value, and nothing else.",
            faults.iter().map(|fault| format!("- {fault}\n")).collect::<String>()
        )
    }

    /// The JSON of a valid answer, harmless for terminals.
    ///
    /// # Errors
    /// What is wrong, a line each.
    pub(super) fn check(&self, answer: &str) -> Result<String, Vec<String>> {
        let (text, value) = json_of(answer).map_err(|fault| vec![fault])?;
        match self.schemas.validate(&value, self.index) {
            Ok(()) => Ok(harmless(text)),
            Err(error) => {
                let mut faults = Vec::new();
                collect(&error, &mut faults);
                if faults.len() > MAX_FAULTS {
                    let more = faults.len() - MAX_FAULTS;
                    faults.truncate(MAX_FAULTS);
                    faults.push(format!("and {more} more"));
                }
                Err(faults)
            }
        }
    }
}

/// The JSON of an answer: all of it, or its only code block.
fn json_of(answer: &str) -> Result<(&str, Value), String> {
    let whole = answer.trim();
    if whole.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    let fault = match serde_json::from_str(whole) {
        Ok(value) => return Ok((whole, value)),
        Err(error) => error,
    };
    let Some(inner) = only_block(whole) else {
        return Err(format!("the answer is not JSON: {fault}"));
    };
    serde_json::from_str(inner).map(|value| (inner, value)).map_err(|fault| format!("the answer is not JSON: {fault}"))
}

/// The text of the only fenced block.
fn only_block(answer: &str) -> Option<&str> {
    let (_, rest) = answer.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    let (inner, rest) = rest.rsplit_once("```")?;
    (!inner.contains("\n```") && !rest.contains("```")).then(|| inner.trim())
}

/// Its lines, with characters escaped that a terminal would obey or hide. Outside of strings JSON has none of them but blanks.
fn harmless(json: &str) -> String {
    let lines: Vec<String> = json.lines().map(|line| escaped_json(&line.replace('\t', " "))).collect();
    lines.join("\n")
}

/// The innermost faults of a value, each with its place in it.
fn collect(error: &ValidationError<'_, '_>, faults: &mut Vec<String>) {
    if !error.causes.is_empty() {
        return error.causes.iter().for_each(|cause| collect(cause, faults));
    }
    let place = error.instance_location.to_string();
    let place = if place.is_empty() { "the whole value".to_owned() } else { place };
    faults.push(one_line(&format!("{place}: {}", error.kind), FAULT_COLUMNS));
}

fn explain(error: &CompileError) -> String {
    match error {
        CompileError::ValidationError { src, .. } => {
            let mut faults = Vec::new();
            collect(src, &mut faults);
            faults.truncate(3);
            format!("is no JSON Schema: {}", faults.join("; "))
        }
        CompileError::LoadUrlError { url, src } => format!("refers to {url}: {src}"),
        error => format!("is no JSON Schema: {error}").replace(PLACE, ""),
    }
}

/// Keeps the text of the last message of the model; everything else is said on standard error.
pub(super) struct StructuredView {
    rest: PlainView<Sink, Stderr>,
    answer: AnswerText,
}

impl StructuredView {
    pub(super) fn new() -> Self {
        Self { rest: PlainView::new(io::sink(), io::stderr()), answer: AnswerText::default() }
    }
}

impl View for StructuredView {
    fn show(&mut self, message: &DaemonMessage) -> io::Result<()> {
        self.answer.follow(message);
        if matches!(message, DaemonMessage::AgentStreamChunk(_)) {
            return Ok(());
        }
        self.rest.show(message)
    }

    fn show_question(&mut self, question: Option<&OpenQuestion>) -> io::Result<()> {
        self.rest.show_question(question)
    }

    fn finish(&mut self) -> io::Result<()> {
        self.rest.finish()
    }

    fn deadline(&self) -> Option<Instant> {
        self.rest.deadline()
    }

    fn answer(&self) -> &str {
        let (answer, is_cut) = self.answer.get();
        if is_cut { "" } else { answer }
    }
}

#[cfg(test)]
#[path = "structured_tests.rs"]
mod tests;
