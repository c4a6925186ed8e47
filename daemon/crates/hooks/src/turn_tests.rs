use std::{path::PathBuf, time::Duration};

use cohab_agent::{
    builtin_tools::LIVE,
    port::{Effect, Intent, ToolContext, ToolOutput},
};
use cohab_model_api::{AssistantMessage, StopClass, TokenUsage, ToolCall, ToolSpec};
use cohab_types::approval_mode::ApprovalMode;
use serde_json::json;

use super::*;
use crate::{file::Hook, matcher::Matcher};

/// Hears what hooks did.
#[derive(Default)]
pub(crate) struct Heard(Mutex<Vec<String>>);

impl Heard {
    fn push(&self, text: String) {
        self.0.lock().unwrap().push(text);
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[async_trait]
impl HookReport for Heard {
    async fn notice(&self, text: String) {
        self.push(text);
    }

    fn blocked(&self, event: HookEvent, tool: &str, by: &Spoken) {
        self.push(format!("blocked {event} {tool}: {}", by.text));
    }

    fn spoke(&self, command: &str, _cwd: &Path) {
        self.push(format!("spoke: {}", command.split(' ').next().unwrap_or_default()));
    }
}

/// Understands a command; `odd` is one that cannot be run.
struct Bash;

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: LIVE.into(), description: String::new(), parameters: json!({"type": "object"}) }
    }

    fn intent(&self, args: &JsonObject, _cwd: &Path) -> Result<Intent, String> {
        let command = args.get("command").and_then(|command| command.as_str()).ok_or("`command` is missing")?;
        Ok(Intent { title: command.to_owned(), effect: Effect::RunCommand { command: command.into() } })
    }

    async fn call(&self, _args: &JsonObject, _context: &ToolContext<'_>) -> Result<ToolOutput, String> {
        Err("not here".into())
    }
}

pub(crate) struct Fixture {
    pub(crate) hooks: Arc<TurnHooks>,
    pub(crate) heard: Arc<Heard>,
    pub(crate) cancel: CancellationToken,
}

pub(crate) fn hook(event: HookEvent, command: &str) -> Hook {
    let limit = Duration::from_secs(20);
    Hook { event, matcher: Matcher::All, command: command.into(), limit, source: Path::new("/h").into() }
}

impl Fixture {
    pub(crate) fn new(hooks: &[(HookEvent, &str)]) -> Self {
        Self::of(hooks, |_| {})
    }

    fn of(hooks: &[(HookEvent, &str)], change: impl FnOnce(&mut HookedTurn)) -> Self {
        let hooks = hooks.iter().map(|(event, command)| hook(*event, command)).collect();
        let set = Arc::new(HookSet::of(hooks, "/".into()));
        let (heard, cancel) = (Arc::new(Heard::default()), CancellationToken::new());
        let moment = || Moment {
            session: "shell:1".into(),
            cwd: PathBuf::from("/"),
            environment: [("PATH".to_owned(), std::env::var("PATH").unwrap())].into(),
            mode: ApprovalMode::Ask,
        };
        let mut turn = HookedTurn {
            session: "shell:1".into(),
            question: Some("why?".into()),
            subagent: None,
            is_private: false,
            cancel: cancel.clone(),
            moment: Box::new(moment),
        };
        change(&mut turn);
        let hooks = Arc::new(TurnHooks::new(set, Arc::default(), Arc::clone(&heard) as _, turn));
        hooks.know_tools(&[(LIVE.to_owned(), Arc::new(Bash) as Arc<dyn Tool>)].into());
        Self { hooks, heard, cancel }
    }

    async fn begin(&self, state: &mut TurnState) -> ControlFlow<TurnResult> {
        self.hooks.before_step(StepKind::ModelCall { allow_tools: true }, state).await
    }

    async fn call(&self, command: &str) -> (PlannedCall, Result<(), Denial>) {
        let mut call = planned(command);
        let passed = self.hooks.before_tool(&mut call).await;
        (call, passed)
    }
}

fn planned(command: &str) -> PlannedCall {
    let args = json!({"command": command}).as_object().cloned().unwrap();
    let call = ToolCall { id: "c1".into(), name: LIVE.into(), args: Ok(Arc::default()) };
    let intent = Bash.intent(&args, Path::new("/")).unwrap();
    PlannedCall::new(&call, args, intent, "/".into())
}

fn asked() -> TurnState {
    TurnState::new(Vec::new(), "why?".into())
}

fn answered() -> TurnState {
    let mut state = asked();
    let message = AssistantMessage { text: "because".into(), ..AssistantMessage::default() };
    let answer = cohab_agent::state::Record::Answer { message, class: StopClass::End, usage: TokenUsage::default() };
    state.apply(answer).unwrap();
    state
}

fn stopped(flow: &ControlFlow<TurnResult>) -> String {
    match flow {
        ControlFlow::Break(Err(TurnError::Stopped { message, .. })) => message.clone(),
        other => panic!("{other:?}"),
    }
}

const SESSION: HookEvent = HookEvent::SessionStart;
const PROMPT: HookEvent = HookEvent::UserPromptSubmit;
const PRE: HookEvent = HookEvent::PreToolUse;
const POST: HookEvent = HookEvent::PostToolUse;
const STOP: HookEvent = HookEvent::Stop;

#[tokio::test]
async fn the_model_reads_what_hooks_say_about_a_question_once() {
    let fixture = Fixture::new(&[(SESSION, "echo it is Monday"), (PROMPT, "grep -o '\"prompt\":\"why?\"'")]);
    assert!(fixture.begin(&mut asked()).await.is_continue());
    let note = fixture.hooks.pending_notes().unwrap();
    assert_eq!(
        note,
        "[The user's hook `echo it is Monday` says: it is Monday]\n\
         [The user's hook `grep -o '\"prompt\":\"why?\"'` says: \"prompt\":\"why?\"]"
    );
    assert_eq!(fixture.heard.take(), ["spoke: echo", "spoke: grep"]);
    assert!(fixture.begin(&mut asked()).await.is_continue());
    assert_eq!(fixture.hooks.pending_notes(), None, "a question is shown once");
}

#[tokio::test]
async fn a_question_that_a_hook_refuses_is_no_part_of_the_conversation() {
    let fixture = Fixture::new(&[(PROMPT, "echo no secrets here >&2; exit 2")]);
    let mut state = asked();
    assert!(stopped(&fixture.begin(&mut state).await).ends_with("keeps your words from the model: no secrets here"));
    assert_eq!(state.messages(), []);
    assert_eq!(fixture.heard.take(), ["spoke: echo", "blocked UserPromptSubmit : no secrets here"]);
    let mut later = answered();
    later.extend("and this".into());
    let fixture = Fixture::of(&[(PROMPT, "grep -q 'and this' && exit 2; exit 0")], |turn| turn.question = None);
    assert!(fixture.begin(&mut later).await.is_continue());
    fixture.hooks.added("and this");
    stopped(&fixture.begin(&mut later).await);
    assert_eq!(later.messages().len(), 2, "the answer before stays: {:?}", later.messages());
}

#[tokio::test]
async fn a_call_is_refused_asked_about_or_changed() {
    let fixture = Fixture::new(&[(
        PRE,
        r#"c=$(cat); case $c in
            *'rm -rf'*) echo use trash >&2; exit 2;;
            *push*) echo '{"hookSpecificOutput": {"permissionDecision": "ask", "permissionDecisionReason": "main?"}}';;
            *npm*) echo '{"hookSpecificOutput": {"updatedInput": {"command": "pnpm test"}}}';;
            *odd*) echo '{"hookSpecificOutput": {"updatedInput": {"cmd": "x"}}}';;
            *) echo '{"decision": "approve"}';;
        esac"#,
    )]);
    let (_, passed) = fixture.call("rm -rf /tmp/x").await;
    assert!(matches!(passed, Err(Denial::Refused { reason }) if reason.ends_with("objects: use trash")));
    let (call, passed) = fixture.call("git push").await;
    assert_eq!(passed, Ok(()));
    assert!(call.must_ask.unwrap().ends_with("wants you to be asked: main?"));
    let (call, passed) = fixture.call("npm test").await;
    assert_eq!((passed, call.intent.title.as_str()), (Ok(()), "pnpm test"));
    assert_eq!(call.args["command"], "pnpm test");
    assert!(call.note.unwrap().ends_with("changed the call; what ran instead: pnpm test"));
    let (_, passed) = fixture.call("odd").await;
    assert!(
        matches!(passed, Err(Denial::Refused { reason }) if reason.contains("cannot be run: `command` is missing"))
    );
    let (call, passed) = fixture.call("ls").await;
    assert_eq!((call, passed), (planned("ls"), Ok(())), "what a hook allows is as if there were none");
}

#[tokio::test]
async fn a_result_is_reported_with_what_a_hook_says_of_it() {
    let fixture = Fixture::new(&[(POST, "grep -q '\"stdout\":\"done\"' && { echo format it >&2; exit 2; }")]);
    let mut result = ToolResult { call_id: "c1".into(), tool: LIVE.into(), content: "done".into(), is_error: false };
    fixture.hooks.after_tool(&mut result).await;
    assert_eq!(fixture.hooks.pending_notes(), None, "it did not run");
    fixture.hooks.observe(Fact::ToolRan(&planned("make"), StepResult::Done)).await;
    fixture.hooks.after_tool(&mut result).await;
    assert!(fixture.hooks.pending_notes().unwrap().ends_with("objects to what `bash` did: format it]"));
    assert_eq!(result.content, "done");
}

#[tokio::test]
async fn a_hook_may_end_the_turn_before_the_next_step() {
    let fixture = Fixture::new(&[(PRE, r#"echo '{"continue": false, "stopReason": "budget"}'"#)]);
    let (_, passed) = fixture.call("ls").await;
    assert!(matches!(passed, Err(Denial::Refused { .. })));
    let (_, next) = fixture.call("ls").await;
    assert!(matches!(next, Err(Denial::Refused { reason }) if reason == STOPPED));
    assert!(stopped(&fixture.begin(&mut answered()).await).ends_with("ended the turn: budget"));
}

#[tokio::test]
async fn the_model_continues_twice_at_most() {
    let fixture = Fixture::new(&[(STOP, "grep -o '\"stop_hook_active\":[a-z]*' >&2; exit 2")]);
    let state = answered();
    let mut said = Vec::new();
    for _ in 0..3 {
        said.push(fixture.hooks.objection(&state).await.map(|text| text.contains("_active\":true")));
    }
    assert_eq!(said, [Some(false), Some(true), None]);
    fixture.heard.take();
    fixture.hooks.observe(Fact::TurnEnded(&state, &Ok(StopReason::Answered))).await;
    assert_eq!(fixture.heard.take(), Vec::<String>::new(), "its hooks have run");
}

#[tokio::test]
async fn an_end_that_the_model_did_not_choose_is_told_but_not_when_the_user_cancels() {
    let fixture = Fixture::new(&[(STOP, r#"echo '{"systemMessage": "bye"}'"#)]);
    fixture.hooks.observe(Fact::TurnEnded(&answered(), &Ok(StopReason::Cancelled))).await;
    assert_eq!(fixture.heard.take(), Vec::<String>::new());
    fixture.hooks.observe(Fact::TurnEnded(&answered(), &Ok(StopReason::StepLimit))).await;
    assert_eq!(fixture.heard.take().len(), 1);
}

#[tokio::test]
async fn a_private_turn_has_guards_only_and_a_subagent_its_own_end() {
    let fixture = Fixture::of(&[(PRE, "exit 2"), (STOP, "exit 2")], |turn| turn.is_private = true);
    assert!(fixture.call("ls").await.1.is_err());
    assert_eq!(fixture.hooks.objection(&answered()).await, None);
    let fixture = Fixture::of(&[(HookEvent::SubagentStop, "exit 2"), (PROMPT, "exit 2")], |turn| {
        (turn.question, turn.subagent) = (None, Some("explore".into()));
    });
    assert!(fixture.begin(&mut asked()).await.is_continue());
    assert!(fixture.hooks.objection(&answered()).await.is_some());
}

#[tokio::test]
async fn a_fault_is_told_once_and_does_not_stop_an_observer() {
    let fixture = Fixture::new(&[(POST, "exit 1")]);
    for _ in 0..2 {
        fixture.hooks.observe(Fact::ToolRan(&planned("make"), StepResult::Done)).await;
        let mut result =
            ToolResult { call_id: "c1".into(), tool: LIVE.into(), content: String::new(), is_error: false };
        fixture.hooks.after_tool(&mut result).await;
    }
    assert_eq!(fixture.heard.take(), ["The hook `exit 1` of PostToolUse failed: it ended with status 1."]);
}

#[tokio::test]
async fn a_guard_of_a_cancelled_turn_lets_nothing_pass() {
    let fixture = Fixture::new(&[(PRE, "exit 0"), (PROMPT, "exit 0")]);
    fixture.cancel.cancel();
    assert_eq!(fixture.call("ls").await.1, Err(Denial::CancelTurn));
    let mut state = asked();
    let flow = fixture.begin(&mut state).await;
    assert!(matches!(flow, ControlFlow::Break(Ok(StopReason::Cancelled))), "{flow:?}");
    assert_eq!(state.messages(), [], "no hook has seen the words");
    assert_eq!(fixture.heard.take(), Vec::<String>::new(), "no hook objected");
}

#[tokio::test]
async fn what_changes_a_call_is_reported_before_the_call_is_judged() {
    let change = r#"echo '{"hookSpecificOutput": {"updatedInput": {"command": "ls -la"}}}'"#;
    let fixture = Fixture::new(&[(PRE, change)]);
    assert_eq!(fixture.call("ls").await.0.args["command"], "ls -la");
    assert_eq!(fixture.heard.take(), ["spoke: echo"]);
}

#[tokio::test]
async fn a_cancelled_turn_waits_for_no_hook() {
    let fixture = Fixture::new(&[(POST, "sleep 1000")]);
    fixture.hooks.observe(Fact::ToolRan(&planned("make"), StepResult::Done)).await;
    let mut result = ToolResult { call_id: "c1".into(), tool: LIVE.into(), content: String::new(), is_error: false };
    let cancel = fixture.cancel.clone();
    let began = std::time::Instant::now();
    let (_, took) = tokio::join!(
        async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            cancel.cancel();
        },
        async {
            fixture.hooks.after_tool(&mut result).await;
            began.elapsed()
        }
    );
    assert!(took < Duration::from_millis(250), "{took:?}");
}
