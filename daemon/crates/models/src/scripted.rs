//! The scripted provider plays a script, for tests of everything around the model.
//!
//! `COHAB_PROVIDER=scripted`, and `COHAB_BASE_URL` is the absolute path of a JSON file: a list of answers, each
//! used once.
//!
//! ```json
//! [
//!   {"match": "list", "steps": [
//!     {"text": ["I ", "look."]}, {"call": {"name": "bash", "args": {"command": "ls"}}}, {"delay_ms": 50}]},
//!   {"steps": [{"reasoning": "Hm."}, {"text": "Done."}, {"usage": {"input": 10, "output": 2}}, {"stop": "end"}]},
//!   {"steps": [{"error": {"kind": "rate_limit", "message": "too fast", "hint": "slow down", "retry_after_ms": 100}}]},
//!   {"steps": [{"text": "half an ans"}, {"incomplete": "the connection broke"}]}
//! ]
//! ```
//!
//! A request takes the first unused answer whose `match` is part of the last user message, else the first unused one without
//! `match`. `{"repeat": true}` in an answer keeps it for further requests. Steps are played in order:
//!
//! - `text`: a piece or a list of pieces. `reasoning`, `refusal`: a piece.
//! - `call`: `name`; `args`, an object, or a string that is parsed as a service's would be; `id`, made if absent.
//! - `delay_ms`: a pause. `usage`: `input`, `output`, `cache_read`, `cache_write`, `reasoning`.
//! - `retrying`: `{"reason": ..., "after_ms": 0, "discard_shown": false}`.
//! - Terminal: `stop` (`end`, `tool`, `length`, `refusal`, `pause`), `error` (`kind` in snake case of `ProviderErrorKind`),
//!   `incomplete`. Without one the answer stops with `tool` after calls, else with `end`.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use cohab_model_api::{
    Message, ModelEvent, ModelInfo, ModelProvider, ModelRequest, ProviderError, ProviderErrorKind, StopClass,
    TokenUsage, ToolCall,
};
use cohab_wires::tool_arguments;
use futures::{
    StreamExt as _, future,
    stream::{self, BoxStream},
};
use serde::Deserialize;
use serde_json::Value;

/// Plays a script.
pub struct ScriptedProvider {
    path: PathBuf,
    unused: Mutex<Vec<ScriptedAnswer>>,
    made_ids: Arc<AtomicUsize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedAnswer {
    #[serde(default, rename = "match")]
    matching: Option<String>,
    #[serde(default)]
    repeat: bool,
    steps: Vec<ScriptedStep>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
enum ScriptedStep {
    Text(Pieces),
    Reasoning(String),
    Refusal(String),
    Call(ScriptedCall),
    DelayMs(u64),
    Usage(ScriptedUsage),
    Retrying(ScriptedRetry),
    Stop(ScriptedStop),
    Error(ScriptedError),
    Incomplete(String),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum Pieces {
    One(String),
    Many(Vec<String>),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedCall {
    #[serde(default)]
    id: String,
    name: String,
    #[serde(default)]
    args: Value,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScriptedUsage {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    reasoning: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ScriptedRetry {
    reason: String,
    after_ms: u64,
    discard_shown: bool,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ScriptedError {
    kind: ScriptedErrorKind,
    message: String,
    #[serde(default)]
    hint: Option<String>,
    #[serde(default)]
    retry_after_ms: Option<u64>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScriptedStop {
    End,
    Tool,
    Length,
    Refusal,
    Pause,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ScriptedErrorKind {
    ToolUseFailed,
    ContextOverflow,
    Billing,
    Auth,
    ModelNotFound,
    RateLimit,
    Overloaded,
    Server,
    Network,
    Timeout,
    InvalidRequest,
    Protocol,
    EmptyAnswer,
}

impl ScriptedProvider {
    /// Reads the script at `path`.
    ///
    /// # Errors
    /// One sentence with the place, when it cannot be read or is no script.
    pub fn load(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| format!("the script {} cannot be read: {error}", path.display()))?;
        let unused =
            serde_json::from_str(&text).map_err(|error| format!("{} is not a script: {error}", path.display()))?;
        Ok(Self { path: path.to_owned(), unused: Mutex::new(unused), made_ids: Arc::default() })
    }

    fn take_answer(&self, question: &str) -> Option<ScriptedAnswer> {
        let mut unused = self.unused.lock().unwrap_or_else(PoisonError::into_inner);
        let matches = |answer: &ScriptedAnswer| answer.matching.as_deref().is_some_and(|part| question.contains(part));
        let at =
            unused.iter().position(matches).or_else(|| unused.iter().position(|answer| answer.matching.is_none()))?;
        Some(if unused[at].repeat { unused[at].clone() } else { unused.remove(at) })
    }
}

impl ModelProvider for ScriptedProvider {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            wire: "scripted".to_owned(),
            model: "script".to_owned(),
            origin: self.path.display().to_string(),
            is_offline: false,
        }
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let question = request.messages.iter().rev().find_map(|message| match message {
            Message::User { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let Some(answer) = self.take_answer(question.unwrap_or_default()) else {
            let message = format!("the script {} has no more answers", self.path.display());
            let error = ProviderError {
                kind: ProviderErrorKind::InvalidRequest,
                message,
                hint: None,
                retry_after: None,
                overflow: None,
            };
            return stream::iter([ModelEvent::Failed(error)]).boxed();
        };
        let made_ids = Arc::clone(&self.made_ids);
        let mut plays = answer.steps.into_iter().flat_map(|step| plays_of(step, &made_ids)).collect::<Vec<_>>();
        let is_terminal = |play: &Play| matches!(play, Play::Event(event) if is_terminal(event));
        match plays.iter().position(is_terminal) {
            Some(end) => plays.truncate(end + 1),
            None => {
                let has_calls = plays.iter().any(|play| matches!(play, Play::Event(ModelEvent::ToolCallDone(_))));
                let class = if has_calls { StopClass::Tool } else { StopClass::End };
                plays.push(Play::Event(ModelEvent::Stop { class, provider_data: None }));
            }
        }
        stream::iter(plays).then(play).filter_map(future::ready).boxed()
    }
}

/// The playable form of a step.
enum Play {
    Event(ModelEvent),
    Pause(Duration),
}

async fn play(play: Play) -> Option<ModelEvent> {
    match play {
        Play::Event(event) => Some(event),
        Play::Pause(pause) => {
            tokio::time::sleep(pause).await;
            None
        }
    }
}

fn is_terminal(event: &ModelEvent) -> bool {
    matches!(event, ModelEvent::Stop { .. } | ModelEvent::Failed(_) | ModelEvent::Incomplete { .. })
}

fn plays_of(step: ScriptedStep, made_ids: &AtomicUsize) -> Vec<Play> {
    let event = match step {
        ScriptedStep::Text(Pieces::One(text)) => ModelEvent::TextDelta(text),
        ScriptedStep::Text(Pieces::Many(pieces)) => {
            return pieces.into_iter().map(|text| Play::Event(ModelEvent::TextDelta(text))).collect();
        }
        ScriptedStep::Reasoning(text) => ModelEvent::ReasoningDelta(text),
        ScriptedStep::Refusal(text) => ModelEvent::RefusalDelta(text),
        ScriptedStep::Call(call) => ModelEvent::ToolCallDone(tool_call(call, made_ids)),
        ScriptedStep::DelayMs(ms) => return vec![Play::Pause(Duration::from_millis(ms))],
        ScriptedStep::Usage(usage) => ModelEvent::Usage(TokenUsage {
            cost_microusd: None,
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            reasoning: usage.reasoning,
        }),
        ScriptedStep::Retrying(retry) => ModelEvent::Retrying {
            reason: retry.reason,
            after: Duration::from_millis(retry.after_ms),
            discard_shown: retry.discard_shown,
        },
        ScriptedStep::Stop(stop) => ModelEvent::Stop { class: stop.class(), provider_data: None },
        ScriptedStep::Error(error) => ModelEvent::Failed(ProviderError {
            kind: error.kind.kind(),
            message: error.message,
            hint: error.hint,
            retry_after: error.retry_after_ms.map(Duration::from_millis),
            overflow: None,
        }),
        ScriptedStep::Incomplete(reason) => ModelEvent::Incomplete { reason },
    };
    vec![Play::Event(event)]
}

fn tool_call(call: ScriptedCall, made_ids: &AtomicUsize) -> ToolCall {
    let id =
        if call.id.is_empty() { format!("scripted_{}", made_ids.fetch_add(1, Ordering::Relaxed) + 1) } else { call.id };
    let args = match call.args {
        Value::String(raw) => tool_arguments::parse(&raw),
        other => tool_arguments::parse(&other.to_string()),
    };
    ToolCall { id, name: call.name, args: args.map(Arc::new) }
}

impl ScriptedStop {
    fn class(self) -> StopClass {
        match self {
            Self::End => StopClass::End,
            Self::Tool => StopClass::Tool,
            Self::Length => StopClass::Length,
            Self::Refusal => StopClass::Refusal,
            Self::Pause => StopClass::Pause,
        }
    }
}

impl ScriptedErrorKind {
    fn kind(self) -> ProviderErrorKind {
        match self {
            Self::ToolUseFailed => ProviderErrorKind::ToolUseFailed,
            Self::ContextOverflow => ProviderErrorKind::ContextOverflow,
            Self::Billing => ProviderErrorKind::Billing,
            Self::Auth => ProviderErrorKind::Auth,
            Self::ModelNotFound => ProviderErrorKind::ModelNotFound,
            Self::RateLimit => ProviderErrorKind::RateLimit,
            Self::Overloaded => ProviderErrorKind::Overloaded,
            Self::Server => ProviderErrorKind::Server,
            Self::Network => ProviderErrorKind::Network,
            Self::Timeout => ProviderErrorKind::Timeout,
            Self::InvalidRequest => ProviderErrorKind::InvalidRequest,
            Self::Protocol => ProviderErrorKind::Protocol,
            Self::EmptyAnswer => ProviderErrorKind::EmptyAnswer,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn provider(script: &str) -> Result<ScriptedProvider, String> {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        std::fs::write(file.path(), script).expect("the file is ours");
        ScriptedProvider::load(file.path())
    }

    async fn ask(provider: &ScriptedProvider, question: &str) -> Vec<ModelEvent> {
        let messages = vec![Message::user(question.to_owned())];
        let request = ModelRequest::of(messages);
        provider.stream(request).collect().await
    }

    fn stop(class: StopClass) -> ModelEvent {
        ModelEvent::Stop { class, provider_data: None }
    }

    #[tokio::test]
    async fn answers_match_the_question_or_come_in_order_and_are_used_once() {
        let script = r#"[
            {"match": "disk", "steps": [{"text": ["a", "b"]}, {"call": {"name": "bash", "args": {"command": "df"}}}]},
            {"steps": [{"delay_ms": 1}, {"text": "first"}, {"stop": "length"}, {"text": "never"}]},
            {"match": "disk", "steps": [{"text": "full"}]}
        ]"#;
        let provider = provider(script).expect("a script");
        assert_eq!(ask(&provider, "hello").await, [ModelEvent::TextDelta("first".to_owned()), stop(StopClass::Length)]);
        let events = ask(&provider, "my disk").await;
        assert!(
            matches!(&events[2], ModelEvent::ToolCallDone(call) if call.id == "scripted_1" && call.args.is_ok()),
            "{events:?}"
        );
        assert_eq!(events[3], stop(StopClass::Tool));
        assert_eq!(ask(&provider, "my disk").await, [ModelEvent::TextDelta("full".to_owned()), stop(StopClass::End)]);
        let events = ask(&provider, "my disk").await;
        assert!(
            matches!(&events[..], [ModelEvent::Failed(error)] if error.message.contains("no more answers")),
            "{events:?}"
        );
    }

    #[tokio::test]
    async fn failures_and_broken_calls_can_be_scripted() {
        let script = r#"[{"repeat": true, "steps": [
            {"call": {"id": "x", "name": "bash", "args": "{\"a\""}}, {"usage": {"input": 3}},
            {"retrying": {"reason": "r", "discard_shown": true}},
            {"error": {"kind": "rate_limit", "message": "slow", "retry_after_ms": 5}}]}]"#;
        let provider = provider(script).expect("a script");
        assert_eq!(ask(&provider, "x").await, ask(&provider, "y").await);
        let events = ask(&provider, "z").await;
        assert!(matches!(&events[0], ModelEvent::ToolCallDone(call) if call.id == "x" && call.args.is_err()));
        assert!(matches!(&events[3], ModelEvent::Failed(error) if error.kind == ProviderErrorKind::RateLimit));
    }

    #[test]
    fn a_file_that_is_no_script_is_refused_with_the_place() {
        for script in ["", "{}", r#"[{"steps": [{"txt": "a"}]}]"#, r#"[{"steps": [], "extra": 1}]"#] {
            let error = provider(script).err().expect("refused");
            assert!(error.contains("line 1"), "{error}");
        }
        assert!(ScriptedProvider::load(Path::new("/nonexistent/script.json")).is_err());
    }
}
