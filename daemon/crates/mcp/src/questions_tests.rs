use cohab_agent::port::Lasts;
use serde_json::json;

use super::*;
use crate::testing::Person;

fn yes() -> ApprovalAnswer {
    ApprovalAnswer::Approved { approval: None, lasts: Lasts::Once }
}

fn typed(text: &str) -> ApprovalAnswer {
    ApprovalAnswer::Edited { command: text.into(), approval: None }
}

fn form(properties: &Value, required: &[&str]) -> ElicitRequestParams {
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let request = json!({"mode": "form", "message": "Who\u{1b}[2J are you?", "requestedSchema": schema});
    serde_json::from_value(request).expect("a request")
}

async fn asked(request: ElicitRequestParams, answers: &[ApprovalAnswer]) -> (ElicitResult, Vec<ApprovalQuestion>) {
    let person = Person::answering(answers);
    let questions = Questions::default();
    let _call = questions.begin("MCP server notes".into(), Arc::clone(&person) as _);
    let result = questions.ask(request, &CancellationToken::new()).await;
    assert!(!questions.lock().is_open);
    let asked = std::mem::take(&mut *person.asked.lock().expect("free"));
    (result, asked)
}

#[tokio::test]
async fn each_field_is_a_question_and_a_yes_sends_what_stands_there() {
    let properties = json!({"age": {"type": "integer", "default": 30}, "name": {"type": "string"}});
    let (result, questions) = asked(form(&properties, &["name"]), &[yes(), typed("Ann")]).await;
    assert_eq!((result.action, result.content), (ElicitationAction::Accept, Some(json!({"age": 30, "name": "Ann"}))));
    let ApprovalSubject::Input { by, message, label, value } = &questions[0].subject else { panic!("no input") };
    assert_eq!((by.as_str(), value.as_deref()), ("MCP server notes", Some("30")));
    assert!(message.ends_with("are you?") && !message.contains('\u{1b}'), "{message}");
    assert_eq!(label, "1 of 2: age · optional · a whole number");
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_asked_for_again_and_not_for_ever() {
    let properties = json!({"age": {"type": "integer"}});
    let (result, questions) = asked(form(&properties, &["age"]), &[yes(), typed("x"), typed("7")]).await;
    assert_eq!(result.content, Some(json!({"age": 7})));
    assert_eq!(questions[1].reasons, ["a value is needed"]);
    assert_eq!(questions[2].reasons, ["that is no whole number"]);
    let (result, _) = asked(form(&properties, &["age"]), &[typed("x"), typed("x"), typed("x")]).await;
    assert_eq!(result.action, ElicitationAction::Decline);
}

#[tokio::test]
async fn a_no_declines_and_a_stop_cancels() {
    let properties = json!({"name": {"type": "string"}});
    let no = ApprovalAnswer::Refused { reason: String::new() };
    let (declined, _) = asked(form(&properties, &[]), &[no]).await;
    assert_eq!((declined.action, declined.content), (ElicitationAction::Decline, None));
    let (cancelled, _) = asked(form(&properties, &[]), &[ApprovalAnswer::CancelTurn]).await;
    assert_eq!(cancelled.action, ElicitationAction::Cancel);
}

#[tokio::test]
async fn an_address_and_a_form_without_fields_are_yes_or_no() {
    let request = json!({"mode": "url", "message": "Sign here", "url": "https://example.org/x", "elicitationId": "1"});
    let (result, questions) = asked(serde_json::from_value(request).expect("a request"), &[yes()]).await;
    assert_eq!((result.action, result.content), (ElicitationAction::Accept, None));
    let ApprovalSubject::Input { message, label, value: None, .. } = &questions[0].subject else { panic!("no input") };
    assert_eq!(message, "Sign here");
    assert_eq!(label, "that you open https://example.org/x yourself, then say yes");
    let long = format!("https://a.example/{}", "x".repeat(2_000));
    for url in ["file:///etc/passwd", "https://a.example/\u{202e}x", &long] {
        let request = json!({"mode": "url", "message": "m", "url": url, "elicitationId": "1"});
        let (result, _) = asked(serde_json::from_value(request).expect("a request"), &[]).await;
        assert_eq!(result.action, ElicitationAction::Decline, "{url}");
    }
    let (result, _) = asked(form(&json!({}), &[]), &[yes()]).await;
    assert_eq!(result.content, Some(json!({})));
}

#[tokio::test]
async fn a_question_of_no_call_or_of_one_of_several_is_declined() {
    let questions = Questions::default();
    let request = || form(&json!({}), &[]);
    assert_eq!(questions.ask(request(), &CancellationToken::new()).await.action, ElicitationAction::Decline);
    let person = Person::answering(&[yes()]);
    let first = questions.begin("a".into(), Arc::clone(&person) as _);
    let _second = questions.begin("b".into(), Arc::clone(&person) as _);
    assert_eq!(questions.ask(request(), &CancellationToken::new()).await.action, ElicitationAction::Decline);
    drop(first);
    assert_eq!(questions.ask(request(), &CancellationToken::new()).await.action, ElicitationAction::Accept);
}

/// A user who never answers.
struct Silent(tokio::sync::Notify);

#[async_trait::async_trait]
impl Approver for Silent {
    async fn ask(&self, _: ApprovalQuestion) -> ApprovalAnswer {
        self.0.notify_one();
        std::future::pending().await
    }
}

#[tokio::test]
async fn a_question_ends_with_its_call_and_is_the_only_one() {
    let questions = Questions::default();
    let silent = Arc::new(Silent(tokio::sync::Notify::new()));
    let asking = |withdrawn: CancellationToken| {
        let questions = questions.clone();
        tokio::spawn(async move { questions.ask(form(&json!({}), &[]), &withdrawn).await.action })
    };
    let call = questions.begin("a".into(), Arc::clone(&silent) as _);
    let first = asking(CancellationToken::new());
    silent.0.notified().await;
    let second = asking(CancellationToken::new()).await.expect("it ends");
    assert_eq!((second, questions.lock().is_open), (ElicitationAction::Decline, true));
    drop(call);
    assert_eq!(first.await.expect("it ends"), ElicitationAction::Cancel);
    // One that the server withdraws.
    let _call = questions.begin("a".into(), Arc::clone(&silent) as _);
    let withdrawn = CancellationToken::new();
    let first = asking(withdrawn.clone());
    silent.0.notified().await;
    withdrawn.cancel();
    assert_eq!(first.await.expect("it ends"), ElicitationAction::Cancel);
}

#[tokio::test]
async fn a_call_has_so_many_cards_and_no_more() {
    let questions = Questions::default();
    let person = Person::answering(&vec![yes(); MAX_CARDS]);
    let _call = questions.begin("a".into(), Arc::clone(&person) as _);
    for _ in 0..MAX_CARDS {
        let result = questions.ask(form(&json!({}), &[]), &CancellationToken::new()).await;
        assert_eq!(result.action, ElicitationAction::Accept);
    }
    let result = questions.ask(form(&json!({}), &[]), &CancellationToken::new()).await;
    assert_eq!(result.action, ElicitationAction::Decline);
}

#[tokio::test]
async fn what_a_server_says_of_its_call_is_a_short_harmless_line() {
    let said = |progress: Value| {
        let mut progress = progress;
        progress["progressToken"] = json!(1);
        how_far(&serde_json::from_value(progress).expect("progress"))
    };
    assert_eq!(said(json!({"progress": 2, "total": 5, "message": "reading\u{1b}[2J files\n"})), "40 %, reading files");
    assert_eq!(said(json!({"progress": 7, "total": 5})), "100 %");
    assert_eq!(said(json!({"progress": -1e300, "total": 1e-300, "message": " "})), "0 %");
    assert_eq!(said(json!({"progress": 3, "total": 0, "message": "three"})), "three");
    assert_eq!(said(json!({"progress": 3})), "");
    assert_eq!(said(json!({"progress": 1, "message": "x".repeat(1_000_000)})).chars().count(), PROGRESS_MAX_COLUMNS);
}

#[tokio::test]
async fn progress_goes_to_the_one_call_that_is_on() {
    let (questions, person) = (Questions::default(), Person::answering(&[]));
    let half = serde_json::from_value(json!({"progressToken": 1, "progress": 1, "total": 2})).expect("progress");
    questions.said(&half);
    assert!(questions.has_moved() && !questions.has_moved());
    let mut call = questions.begin("MCP server notes".into(), Arc::clone(&person) as _);
    questions.said(&half);
    assert_eq!(call.next_news().await, "50 %");
    let _second = questions.begin("MCP server notes".into(), person);
    questions.said(&half);
    assert!(!call.said.has_changed().expect("the call is on"));
}
