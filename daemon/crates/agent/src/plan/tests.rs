use cohab_model_api::{AssistantMessage, JsonObject, ProviderData, TokenUsage, ToolCall, ToolResult};
use serde_json::json;

use super::*;
use crate::state::{Cut, Record};

const LIMITS: TurnLimits = TurnLimits { model_calls: 2 };

fn call() -> ToolCall {
    ToolCall { id: "1".into(), name: "bash".into(), args: Ok(JsonObject::new().into()) }
}

fn answer(text: &str, calls: usize, class: StopClass) -> Record {
    let provider_data =
        Some(ProviderData { wire: "w".into(), host: "h".into(), model: "m".into(), json: json!({}).into() });
    let message = AssistantMessage { text: text.into(), tool_calls: vec![call(); calls], provider_data };
    Record::Answer { message, class, usage: TokenUsage::default() }
}

fn results(complaint: Option<&str>) -> Record {
    let result = ToolResult { call_id: "1".into(), tool: "bash".into(), content: "x".into(), is_error: false };
    Record::Tools { results: vec![result], images: Vec::new(), complaint: complaint.map(Into::into) }
}

/// Applies records to a fresh turn, counting a model call before each answer.
fn after(records: impl IntoIterator<Item = Record>) -> TurnState {
    let mut state = TurnState::new(Vec::new(), "question".into());
    for record in records {
        if !matches!(record, Record::Tools { .. }) {
            let allow_tools = state.model_calls() < LIMITS.model_calls;
            state.model_call_begins(allow_tools);
        }
        state.apply(record).unwrap();
    }
    state
}

#[test]
fn the_next_step_follows_from_the_state() {
    use StopClass::{End, Length, Pause, Refusal, Tool};
    let model = |allow_tools| Next::Run(StepKind::ModelCall { allow_tools });
    let tools = Next::Run(StepKind::ToolCalls);
    let cases: Vec<(&str, Vec<Record>, Next)> = vec![
        ("a fresh turn asks the model", vec![], model(true)),
        ("text ends it", vec![answer("hi", 0, End)], Next::Stop(StopReason::Answered)),
        ("calls run whatever the stop says", vec![answer("", 1, End)], tools.clone()),
        ("calls run", vec![answer("hi", 1, Tool)], tools.clone()),
        ("results go to the model", vec![answer("", 1, Tool), results(None)], model(true)),
        ("the stop says tool without a call", vec![answer("hi", 0, Tool)], Next::Stop(StopReason::Answered)),
        ("a cut text", vec![answer("hi", 0, Length)], Next::Stop(StopReason::Length)),
        ("cut calls get results", vec![answer("hi", 1, Length)], tools.clone()),
        ("a refusal", vec![answer("no", 0, Refusal)], Next::Stop(StopReason::Refused)),
        ("a refusal with a call does not run it", vec![answer("no", 1, Refusal)], Next::Stop(StopReason::Refused)),
        ("a pause that the provider gave up on", vec![answer("hm", 0, Pause)], Next::Stop(StopReason::Answered)),
        ("calls before a pause run", vec![answer("hm", 1, Pause)], tools.clone()),
        ("nothing at all", vec![answer(" ", 0, End)], Next::Fail(TurnError::Provider(empty_answer()))),
        (
            "nothing more to say after tools",
            vec![answer("look", 1, Tool), results(None), answer("", 0, End)],
            Next::Stop(StopReason::Answered),
        ),
        (
            "the limit allows one more answer without tools",
            vec![answer("", 1, Tool), results(None), answer("", 1, Tool), results(None)],
            model(false),
        ),
        (
            "the last answer is marked",
            vec![answer("", 1, Tool), results(None), answer("", 1, Tool), results(None), answer("sum", 0, End)],
            Next::Stop(StopReason::StepLimit),
        ),
        (
            "the last answer cannot call tools",
            vec![answer("", 1, Tool), results(None), answer("", 1, Tool), results(None), answer("", 1, Tool)],
            Next::Stop(StopReason::StepLimit),
        ),
    ];
    for (name, records, next) in cases {
        assert_eq!(next_step(&after(records), LIMITS), next, "{name}");
    }
}

#[test]
fn three_answers_in_a_row_with_nothing_but_broken_calls_end_the_turn() {
    let limits = TurnLimits { model_calls: 50 };
    let bad = || [answer("", 1, StopClass::Tool), results(Some("not JSON"))];
    let good = || [answer("", 1, StopClass::Tool), results(None)];
    let state = after([bad(), bad(), good(), bad(), bad()].into_iter().flatten());
    assert_eq!(next_step(&state, limits), Next::Run(StepKind::ModelCall { allow_tools: true }));
    let state = after([bad(), bad(), bad()].into_iter().flatten());
    let error = TurnError::BrokenCalls { answers: 3, last: "not JSON".into() };
    assert_eq!(next_step(&state, limits), Next::Fail(error));
}

#[test]
fn calls_that_will_never_run_leave_no_trace_in_the_conversation() {
    let state = after([answer("no", 1, StopClass::Refusal)]);
    let Some(cohab_model_api::Message::Assistant(message)) = state.messages().last() else { panic!("no answer") };
    assert_eq!(*message, AssistantMessage { text: "no".into(), ..AssistantMessage::default() });
}

#[test]
fn a_rejected_call_is_shown_to_the_model_once() {
    let rejected = || {
        let kind = ProviderErrorKind::ToolUseFailed;
        let error = ProviderError { kind, message: "bad call".into(), hint: None, retry_after: None, overflow: None };
        Record::Broken { text: String::new(), usage: TokenUsage::default(), cause: Cut::Failed(error) }
    };
    let mut state = after([rejected()]);
    assert_eq!(next_step(&state, LIMITS), Next::Run(StepKind::ModelCall { allow_tools: true }));
    assert!(
        matches!(state.messages().last(), Some(cohab_model_api::Message::User { text, .. }) if text.contains("bad call"))
    );
    assert!(matches!(state.apply(rejected()), Err(TurnError::Provider(_))));
}

#[test]
fn tokens_add_up_over_answers_and_unknown_stays_unknown() {
    let with = |input, output| {
        let message = AssistantMessage { text: "x".into(), ..AssistantMessage::default() };
        let usage = TokenUsage { input, output, ..TokenUsage::default() };
        Record::Answer { message, class: StopClass::Pause, usage }
    };
    let usage = after([with(Some(3), None), with(Some(4), None)]).usage();
    assert_eq!((usage.input, usage.output), (Some(7), None));
}

#[test]
fn steps_before_an_interruption_count_towards_the_limit() {
    let asked = || vec![cohab_model_api::Message::user("question".into())];
    let next = |calls| next_step(&TurnState::going_on(asked(), calls), LIMITS);
    assert_eq!(next(1), Next::Run(StepKind::ModelCall { allow_tools: true }));
    assert_eq!(next(2), Next::Run(StepKind::ModelCall { allow_tools: false }), "the last answer is asked for");
}
