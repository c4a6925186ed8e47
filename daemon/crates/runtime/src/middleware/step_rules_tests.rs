use std::sync::Mutex;

use cohab_agent::{
    port::{Intent, Lasts},
    state::Record,
};
use cohab_config::StepRule;
use cohab_model_api::{AssistantMessage, StopClass, TokenUsage, ToolCall};
use serde_json::Map;

use super::*;

fn rules(text: &str) -> Arc<Rules> {
    let wrapped: std::collections::BTreeMap<String, Vec<StepRule>> = toml::from_str(text).expect(text);
    Arc::new(Rules(wrapped.into_values().flatten().map(|rule| rule.0).collect()))
}

const ALL: &str = "
[[r]]
tool = 'bash'
model = 'small*'
action = 'skip'
reason = 'too small for a shell'
[[r]]
tool = 'bash'
action = 'ask'
[[r]]
tool = 'read'
action = 'retry'
times = 2
[[r]]
tool = 'write'
action = 'stop'
reason = 'look only'
[[r]]
model = 'dear'
action = 'ask'
reason = 'it costs'
[[r]]
model = 'never'
action = 'stop'
[[r]]
step = 'tool'
action = 'allow'
";

#[test]
fn the_first_rule_that_fits_decides() {
    let rules = rules(ALL);
    let tool = |tool, model| rules.of_tool(tool, model).map(|rule| rule.action);
    for (name, model, action) in [
        ("bash", "small-1", Some(Action::Skip)),
        ("bash", "large", Some(Action::Ask)),
        ("read", "large", Some(Action::Retry(2))),
        ("write", "small-1", Some(Action::Stop)),
        ("grep", "dear", Some(Action::Allow)),
    ] {
        assert_eq!(tool(name, model), action, "{name} {model}");
    }
    let model = |model| rules.of_model(model).map(|rule| rule.action);
    assert_eq!([model("dear"), model("never"), model("large")], [Some(Action::Ask), Some(Action::Stop), None]);
    assert_eq!(rules.must_ask("bash", "large").as_deref(), Some("your rule requires a question"));
    assert_eq!((rules.must_ask("bash", "small"), rules.must_ask("grep", "large")), (None, None));
}

struct Says(ApprovalAnswer, Mutex<Vec<String>>);

#[async_trait]
impl Approver for Says {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        let ApprovalSubject::GoOn { what } = question.subject else { panic!("another question") };
        self.1.lock().unwrap().push(what);
        self.0.clone()
    }
}

fn says(answer: ApprovalAnswer) -> Arc<Says> {
    Arc::new(Says(answer, Mutex::default()))
}

fn middleware(model: &str, approver: &Arc<Says>) -> StepRules {
    StepRules::new(rules(ALL), model.into(), Arc::clone(approver) as _)
}

/// A turn whose model has just called these tools.
fn called(tools: &[&str]) -> TurnState {
    let mut state = TurnState::new(Vec::new(), "q".into());
    let call = |name: &&str| ToolCall { id: (*name).into(), name: (*name).into(), args: Ok(Map::new().into()) };
    let message = AssistantMessage { tool_calls: tools.iter().map(call).collect(), ..AssistantMessage::default() };
    state.apply(Record::Answer { message, class: StopClass::Tool, usage: TokenUsage::default() }).unwrap();
    state
}

const ASK_MODEL: StepKind = StepKind::ModelCall { allow_tools: true };

fn stopped(flow: ControlFlow<TurnResult>) -> String {
    match flow {
        ControlFlow::Break(Err(error @ TurnError::Stopped { .. })) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_rule_stops_the_turn_before_any_call_of_an_answer_runs() {
    let approver = says(ApprovalAnswer::CancelTurn);
    let middleware = middleware("large", &approver);
    let flow = middleware.before_step(StepKind::ToolCalls, &mut called(&["grep", "write"])).await;
    assert_eq!(stopped(flow), "your rule stops the turn before `write`: look only");
    assert!(middleware.before_step(StepKind::ToolCalls, &mut called(&["grep", "bash"])).await.is_continue());
}

#[tokio::test]
async fn a_model_is_asked_about_once_in_a_turn_and_no_is_the_end() {
    let yes = says(ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once });
    let agreed = middleware("dear", &yes);
    for _ in 0..2 {
        assert!(agreed.before_step(ASK_MODEL, &mut called(&[])).await.is_continue());
    }
    assert_eq!(*yes.1.lock().unwrap(), ["The next step is asking dear; your rule requires a question: it costs."]);
    let no = says(ApprovalAnswer::Refused { reason: String::new() });
    let flow = middleware("dear", &no).before_step(ASK_MODEL, &mut called(&[])).await;
    assert_eq!(stopped(flow), "your rule stops the turn before asking dear: it costs");
    let flow = middleware("never", &no).before_step(ASK_MODEL, &mut called(&[])).await;
    assert_eq!(stopped(flow), "your rule stops the turn before asking never");
}

#[tokio::test]
async fn a_tool_is_left_out_and_only_what_reads_is_repeated() {
    let approver = says(ApprovalAnswer::CancelTurn);
    let small = middleware("small-1", &approver);
    let call = |tool: &str, effect| {
        let call = ToolCall { id: "1".into(), name: tool.into(), args: Ok(Map::new().into()) };
        PlannedCall::new(&call, Map::new(), Intent { title: String::new(), effect }, "/".into())
    };
    let run = Effect::RunCommand { command: "ls".into() };
    let reason = "left out by a rule of the user's: too small for a shell".to_owned();
    assert_eq!(small.before_tool(&mut call("bash", run.clone())).await, Err(Denial::Refused { reason }));
    assert_eq!(middleware("large", &approver).before_tool(&mut call("bash", run.clone())).await, Ok(()));
    let mut read = call("read", Effect::Read { path: "/f".into(), pattern: None });
    assert_eq!((small.before_tool(&mut read).await, read.repeats), (Ok(()), 2));
    let mut run = call("read", run);
    assert_eq!((small.before_tool(&mut run).await, run.repeats), (Ok(()), 0), "a command never runs twice");
}
