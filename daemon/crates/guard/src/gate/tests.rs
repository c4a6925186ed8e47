use std::collections::VecDeque;

use cohab_agent::port::Intent;
use cohab_model_api::{JsonObject, ToolCall};
use cohab_policy::user_rules;
use serde_json::json;

use super::*;

mod batch;
mod careful;
mod consent;
mod data_flow;
mod filling;
mod foreign;
mod hooks;
mod repository;
mod sandbox;

/// Judges by the first word.
fn by_first_word(effect: &Effect, _context: Context<'_>) -> Verdict {
    let text = match effect {
        Effect::RunCommand { command } => &**command,
        Effect::Read { .. } | Effect::Internal => "allow",
        Effect::Write { .. } | Effect::Foreign { .. } => "ask",
    };
    let level = match text.split(' ').next().unwrap_or_default() {
        "allow" => Level::Allow,
        "danger" => Level::Danger,
        "deny" => Level::Deny,
        _ => Level::Ask,
    };
    Verdict::new(level, vec![format!("it says {text}")])
}

#[derive(Default)]
struct User {
    answers: Mutex<VecDeque<ApprovalAnswer>>,
    questions: Mutex<Vec<ApprovalQuestion>>,
}

#[async_trait]
impl Approver for User {
    async fn ask(&self, question: ApprovalQuestion) -> ApprovalAnswer {
        self.questions.lock().unwrap().push(question);
        self.answers.lock().unwrap().pop_front().expect("the test has an answer for each question")
    }
}

fn user(answers: impl IntoIterator<Item = ApprovalAnswer>) -> Arc<User> {
    Arc::new(User { answers: Mutex::new(answers.into_iter().collect()), questions: Mutex::default() })
}

fn gate(mode: ApprovalMode, user: &Arc<User>, consents: &Consents) -> Gate {
    gate_with(by_first_word, mode, user, consents)
}

fn gate_with(policy: Policy, mode: ApprovalMode, user: &Arc<User>, consents: &Consents) -> Gate {
    Gate::new(policy, Arc::new(move || mode), Arc::clone(user) as _, consents.clone(), "/home/ann".into(), Shell::Bash)
}

fn planned(command: &str, cwd: &str) -> PlannedCall {
    let mut args = JsonObject::new();
    args.insert("command".into(), json!(command));
    let intent = Intent { title: command.into(), effect: Effect::RunCommand { command: command.into() } };
    let call = ToolCall { id: "call-1".into(), name: "bash".into(), args: Ok(args.clone().into()) };
    PlannedCall::new(&call, args, intent, cwd.into())
}

fn yes(for_session: bool) -> ApprovalAnswer {
    let lasts = if for_session { Lasts::Session } else { Lasts::Once };
    ApprovalAnswer::Approved { approval: Some("id".into()), lasts }
}

fn no() -> ApprovalAnswer {
    ApprovalAnswer::Refused { reason: "not now".into() }
}

/// Whether the call may run, and the number of questions.
async fn judge(mode: ApprovalMode, command: &str, answers: &[ApprovalAnswer]) -> (bool, usize) {
    let user = user(answers.iter().cloned());
    let may_run = gate(mode, &user, &Consents::default()).before_tool(&mut planned(command, "/")).await.is_ok();
    let questions = user.questions.lock().unwrap().len();
    (may_run, questions)
}

/// The rules of one folder or of all.
#[derive(Debug)]
struct Allowed(Arc<user_rules::Loaded>);

impl RuleSource for Allowed {
    fn loaded(&self, _cwd: &Path) -> Arc<user_rules::Loaded> {
        Arc::clone(&self.0)
    }
}

fn allowed(line: &str, folder: Option<&str>) -> Arc<Allowed> {
    let rule = user_rules::Rule::of(line, folder.map(Path::new), Shell::Bash).unwrap();
    Arc::new(Allowed(Arc::new(user_rules::parse(&user_rules::with_rule("", &rule).unwrap()))))
}

/// The commands that were asked about.
fn asked(user: &User) -> Vec<String> {
    let questions = user.questions.lock().unwrap();
    let text = |question: &ApprovalQuestion| match &question.subject {
        ApprovalSubject::Effect { effect: Effect::RunCommand { command }, .. } => command.to_string(),
        other => panic!("{other:?}"),
    };
    questions.iter().map(text).collect()
}

#[tokio::test]
async fn the_mode_decides_what_is_asked_and_what_runs() {
    use ApprovalMode::{All, Ask, Auto, ReadOnly};
    for (mode, command, may_run, questions) in [
        (ReadOnly, "allow", true, 0),
        (ReadOnly, "ask", false, 0),
        (ReadOnly, "danger", false, 0),
        (ReadOnly, "deny", false, 0),
        (Ask, "allow", true, 0),
        (Ask, "ask", true, 1),
        (Ask, "danger", true, 1),
        (Ask, "deny", false, 0),
        (Auto, "allow", true, 0),
        (Auto, "ask", true, 0),
        (Auto, "danger", true, 1),
        (Auto, "deny", false, 0),
        (All, "allow", true, 0),
        (All, "ask", true, 0),
        (All, "danger", true, 0),
        (All, "deny", false, 0),
    ] {
        assert_eq!(judge(mode, command, &[yes(false)]).await, (may_run, questions), "{mode} {command}");
    }
    assert_eq!(judge(Ask, "ask", &[no()]).await, (false, 1));
}

#[tokio::test]
async fn the_same_refused_command_is_not_asked_twice_in_a_turn_but_in_the_next() {
    let (user, consents) = (user([no(), no(), no()]), Consents::default());
    let first = gate(ApprovalMode::Ask, &user, &consents);
    for command in ["ask a", "ask a", "danger a", "danger a"] {
        assert!(matches!(first.before_tool(&mut planned(command, "/")).await, Err(Denial::Refused { .. })));
    }
    assert_eq!(user.questions.lock().unwrap().len(), 2);
    let next = gate(ApprovalMode::Ask, &user, &consents);
    next.before_tool(&mut planned("ask a", "/")).await.unwrap_err();
    assert_eq!(user.questions.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn an_edited_command_replaces_the_one_of_the_model() {
    let edited = ApprovalAnswer::Edited { command: "danger mine".into(), approval: Some("e".into()) };
    let user = user([edited]);
    let mut call = planned("ask yours", "/");
    gate(ApprovalMode::Ask, &user, &Consents::default()).before_tool(&mut call).await.unwrap();
    assert_eq!(call.args["command"], json!("danger mine"));
    assert_eq!(call.intent.effect, Effect::RunCommand { command: "danger mine".into() });
    assert_eq!(call.approval.as_deref(), Some("e"));
    assert_eq!(user.questions.lock().unwrap().len(), 1);
}

#[tokio::test]
async fn the_question_shows_the_exact_effect_and_the_reasons() {
    let user = user([ApprovalAnswer::CancelTurn]);
    let denial = gate(ApprovalMode::Ask, &user, &Consents::default()).before_tool(&mut planned("ask a", "/")).await;
    assert_eq!(denial, Err(Denial::CancelTurn));
    let effect = Effect::RunCommand { command: "ask a".into() };
    let subject = ApprovalSubject::Effect { tool: "bash".into(), effect };
    let expected = ApprovalQuestion { reasons: vec!["it says ask a".into()], ..ApprovalQuestion::about(subject) };
    assert_eq!(*user.questions.lock().unwrap(), [expected]);
}

#[tokio::test]
async fn the_policy_learns_which_shell_reads_the_command() {
    let by_shell = |_: &Effect, context: Context<'_>| {
        let level = if context.shell == Shell::Fish { Level::Ask } else { Level::Allow };
        Verdict::new(level, vec!["fish".into()])
    };
    for (shell, may_run) in [(Shell::Bash, true), (Shell::Fish, false)] {
        let read_only = Arc::new(|| ApprovalMode::ReadOnly);
        let gate = Gate::new(by_shell, read_only, user([]), Consents::default(), "/home/ann".into(), shell);
        assert_eq!(gate.before_tool(&mut planned("x", "/")).await.is_ok(), may_run, "{shell:?}");
    }
}

#[tokio::test]
async fn what_we_wrote_ourselves_is_read_unasked_and_nothing_beside_it() {
    fn never(_: &Effect, _: Context<'_>) -> Verdict {
        Verdict::new(Level::Deny, vec!["never".into()])
    }
    for (path, may_run) in [("/s/outputs/1/a", true), ("/s/outputs/12/a", false), ("/s/outputs", false)] {
        let user = user([]);
        let gate = Gate { policy: never, ..gate(ApprovalMode::Ask, &user, &Consents::default()) };
        let gate = gate.with_outputs("/s/outputs/1".into());
        let mut call = planned("x", "/");
        call.intent.effect = Effect::Read { path: path.into(), pattern: None };
        assert_eq!(gate.before_tool(&mut call).await.is_ok(), may_run, "{path}");
        call.intent.effect = Effect::Write { path: path.into(), diff: "".into() };
        assert!(gate.before_tool(&mut call).await.is_err(), "{path}");
    }
}
