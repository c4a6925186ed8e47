//! Measures the preparation of a question on top of a long conversation: reading the surroundings, building the prompt, making it fit.

use std::{hint::black_box, path::Path, time::Instant};

use cohab_context::trust::TrustedFolders;
use cohab_context::{
    fit::fit_request,
    query::{Query, Runtime},
    sections::system_prompt,
    workspace::Surroundings,
};
use cohab_e2e::binaries::workspace_root;
use cohab_model_api::{AssistantMessage, JsonObject, Message, ModelRequest, ToolCall, ToolResult};

use crate::report::{Report, Samples};

const MEASURE: &str = "context";
const EVENTS: usize = 2_000;
const ASSEMBLY_MS: f64 = 5.0;
/// Larger than the conversation: cutting it is another matter.
const BUDGET_TOKENS: u64 = 1_000_000;

/// Questions, calls, results and answers in turns.
fn conversation() -> Vec<Message> {
    let message = |number: usize| match number % 4 {
        0 => {
            let question = format!("why does test {number} fail?");
            Message::user(Query { question: &question, ..Query::default() }.to_text())
        }
        1 => {
            let args: JsonObject =
                [("command".to_owned(), format!("cargo test case_{number}").into())].into_iter().collect();
            let call = ToolCall { id: format!("call_{number}"), name: "bash".into(), args: Ok(args.into()) };
            Message::Assistant(AssistantMessage { tool_calls: vec![call], ..AssistantMessage::default() })
        }
        2 => Message::ToolResults(vec![ToolResult {
            call_id: format!("call_{}", number - 1),
            tool: "bash".into(),
            content: "error[E0425]: cannot find value `x` in this scope\n".repeat(8),
            is_error: false,
        }]),
        _ => {
            let text = "The value is not defined in this scope; see `src/lib.rs`.".to_owned();
            Message::Assistant(AssistantMessage { text, ..AssistantMessage::default() })
        }
    };
    (0..EVENTS).map(message).collect()
}

fn assemble(cwd: &Path, conversation: &[Message]) -> u64 {
    let trust = TrustedFolders::new("/nonexistent/trusted".into(), "/".into());
    let around = Surroundings::read(cwd, Path::new("/"), Path::new("/nonexistent"), &trust);
    let skills = around.told_skills();
    let mut query = Query {
        environment: around.environment(cwd.to_owned(), Some("bash".to_owned()), 80),
        runtime: Some(Runtime::now("shell:bench".to_owned(), Vec::new())),
        project_notes: around.project_notes.as_deref(),
        project_identity: around.project_identity.as_deref(),
        project_skills: skills.as_deref(),
        question: "and now?",
        ..Query::default()
    };
    query.forget_told(conversation);
    let mut messages = conversation.to_vec();
    messages.push(Message::user(query.to_text()));
    let system = system_prompt(&around.standing);
    let mut request = ModelRequest { system, ..ModelRequest::of(messages) };
    fit_request(&mut request, BUDGET_TOKENS)
}

pub(crate) fn measure(report: &mut Report, rounds: usize) {
    let (cwd, conversation) = (workspace_root(), conversation());
    let _ = black_box(assemble(&cwd, &conversation));
    let mut samples = Samples::default();
    for _ in 0..rounds {
        let started = Instant::now();
        let _ = black_box(assemble(&cwd, &conversation));
        samples.push(started.elapsed());
    }
    let subject = format!("a question on top of {EVENTS} events");
    report.samples(MEASURE, &subject, "ms", &samples);
    report.at_most(MEASURE, &format!("{subject}, p99"), samples.quantile(0.99), ASSEMBLY_MS, "ms");
}
