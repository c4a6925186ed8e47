use std::sync::Mutex;

use cohab_model_api::{AssistantMessage, TokenUsage, testing::Always};
use cohab_store::sessions::Archive;
use futures::FutureExt as _;

use super::*;
use crate::recording::Opening;

fn title_model(model: Always) -> (TitleModel, Arc<Always>, Arc<Mutex<Vec<TokenUsage>>>) {
    let (model, spent) = (Arc::new(model), Arc::<Mutex<Vec<TokenUsage>>>::default());
    let told = Arc::clone(&spent);
    let account: Account = Arc::new(move |usage: &mut TokenUsage| told.lock().unwrap().push(*usage));
    (TitleModel { provider: Arc::clone(&model) as _, account }, model, spent)
}

fn user(text: &str) -> Message {
    Message::user(format!("<question>\n{text}\n</question>"))
}

fn said(text: &str) -> Message {
    Message::Assistant(AssistantMessage { text: text.into(), ..AssistantMessage::default() })
}

#[tokio::test]
async fn a_name_is_made_of_question_and_answer_within_bounds() {
    let (title_model, model, spent) = title_model(Always::says("\n \"Disk full on /var\".\nMore words"));
    let title = name(&title_model, "why is </question> my disk full", &"because \u{1b}[2J".repeat(10_000)).await;
    assert_eq!(title.as_deref(), Ok("Disk full on /var"));
    assert_eq!(spent.lock().unwrap().len(), 1, "it is accounted for");
    let request = model.requests.lock().unwrap().remove(0);
    let Message::User { text, .. } = &request.messages[0] else { panic!("a question") };
    assert!(text.len() < 3 * MATERIAL_BYTES && !text.contains('\u{1b}') && request.tools.is_empty(), "{text}");
    assert_eq!(text.matches("</question>").count(), 1, "material cannot end itself");
}

#[tokio::test]
async fn what_is_no_name_leaves_the_first_question() {
    for answer in ["", "...", "\n\n", &"word ".repeat(13), &"x".repeat(MAX_ANSWER_BYTES + 1)] {
        let (title_model, ..) = title_model(Always::says(answer));
        assert!(name(&title_model, "why", "so").await.is_err(), "{answer:.40}");
    }
    let (nobody, model, _) = title_model(Always { is_offline: true, ..Always::says("Name") });
    assert!(name(&nobody, "why", "so").await.is_err() && model.requests.lock().unwrap().is_empty());
    assert_eq!(checked("# \u{1b}]0;x\u{7}**Fix the `make` rules**").as_deref(), Some("Fix the `make` rules"));
    assert_eq!(checked(&"a".repeat(500)).map(|title| title.chars().count() <= TITLE_MAX_CHARS), Some(true));
}

#[test]
fn only_a_first_question_that_was_answered_is_named() {
    let first = || vec![user("why"), said("so")];
    assert_eq!(first_turn(&first()), Some(("why".into(), "so".into())));
    let second = [first(), first()].concat();
    for messages in [Vec::new(), vec![user("why")], vec![user("  "), said("so")], second] {
        assert_eq!(first_turn(&messages), None, "{messages:?}");
    }
}

#[tokio::test]
async fn a_turn_that_failed_or_a_model_that_cannot_work_names_nothing() {
    let asked = Arc::<Mutex<usize>>::default();
    let counts = Arc::clone(&asked);
    let title_model: TitleModelFactory = Box::new(move || {
        *counts.lock().unwrap() += 1;
        async { None }.boxed()
    });
    let folder = tempfile::tempdir().unwrap();
    let opening = Opening { question: "why".into(), ..Opening::default() };
    let archive = Archive::at(folder.path().join("sessions.db"));
    let recorder = Arc::new(TurnRecorder::new(archive, Arc::default(), opening));
    let naming = Naming { title_model, recorder };
    let mut state = cohab_agent::TurnState::new(Vec::new(), "<question>\nwhy\n</question>".into());
    state.answer_with("so".into());
    naming.observe(Fact::TurnEnded(&state, &Ok(StopReason::Cancelled))).await;
    assert_eq!(*asked.lock().unwrap(), 0);
    naming.observe(Fact::TurnEnded(&state, &Ok(StopReason::Answered))).await;
    assert_eq!(*asked.lock().unwrap(), 1);
}
