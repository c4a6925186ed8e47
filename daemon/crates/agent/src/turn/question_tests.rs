//! What belongs to the question: files that it names, and words that the user adds to the turn.

use cohab_model_api::ToolResult;

use super::*;
use crate::{port::Addition, state::Attachments};

/// Records the number of messages when the additions were reported as part of the conversation.
struct Keeps(Arc<Mutex<Vec<usize>>>);

#[async_trait]
impl TurnObserver for Keeps {
    async fn observe(&self, fact: Fact<'_>) {
        if let Fact::Extended(state) = fact {
            self.0.lock().unwrap().push(state.messages().len());
        }
    }
}

/// A turn to which one of these is added each time that the loop asks.
fn adding<const N: usize>(
    scripts: Vec<Vec<ModelEvent>>,
    words: [Option<&'static str>; N],
) -> (Turn, Arc<Mutex<Vec<usize>>>) {
    let (kept, words) = (Arc::default(), Mutex::new(VecDeque::from(words)));
    let mut turn = Turn::new(scripts).observed_by(Keeps(Arc::clone(&kept)));
    turn.agent.ports.additions = Some(Arc::new(move || {
        let words = words.lock().unwrap().pop_front().flatten();
        words.map(|words| Addition { words: words.into(), message: format!("added: {words}") }).into_iter().collect()
    }));
    (turn, kept)
}

fn user(text: &str) -> Message {
    Message::user(text.into())
}

#[tokio::test]
async fn an_addition_goes_to_the_model_behind_the_results() {
    let scripts = vec![vec![call("1"), stop(StopClass::Tool)], done()];
    let (mut turn, kept) = adding(scripts, [None, Some("only src")]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let requests = turn.provider.requests.lock().unwrap();
    let [.., results, addition] = &requests[1].messages[..] else { panic!("{requests:?}") };
    assert!(matches!(results, Message::ToolResults(_)), "{results:?}");
    assert_eq!(*addition, user("added: only src"));
    assert_eq!(*kept.lock().unwrap(), [4], "it is kept before it is reported");
    let extended = |event: &TurnEvent| *event == TurnEvent::Extended("only src".into());
    assert!(turn.events().iter().any(extended), "{:?}", turn.events());
}

#[tokio::test]
async fn an_answer_with_an_addition_behind_it_is_not_the_last() {
    let scripts = vec![done(), vec![text("done again"), stop(StopClass::End)]];
    let (mut turn, _) = adding(scripts, [None, Some("and the tests")]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.last_text(), "done again");
    let requests = turn.provider.requests.lock().unwrap();
    assert_eq!(requests[1].messages.last(), Some(&user("added: and the tests")));
}

#[tokio::test]
async fn a_turn_that_is_stopped_takes_no_addition() {
    let (mut turn, kept) = adding(vec![], [Some("too late")]);
    turn.cancel.cancel();
    assert_eq!(turn.run().await, Ok(StopReason::Cancelled));
    assert_eq!(turn.state.messages(), [user("question")]);
    assert!(kept.lock().unwrap().is_empty());
}

fn attachments(commands: &[&str]) -> Attachments {
    let call = |command: &&str| match call(command) {
        ModelEvent::ToolCallDone(call) => call,
        event => panic!("{event:?}"),
    };
    let fold = |question: &str, calls: &[ToolCall], results: &[ToolResult]| {
        let all: Vec<&str> = results.iter().map(|result| result.content.as_str()).collect();
        format!("{} of {}: {question}", all.join(", "), calls.len())
    };
    Attachments { calls: commands.iter().map(call).collect(), fold, is_check: false }
}

#[tokio::test]
async fn what_a_question_names_is_read_before_the_model_is_asked() {
    let mut turn = Turn::new(vec![done()]);
    turn.state.attach(attachments(&["1", "fail"]));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.ran(), ["1", "fail"]);
    let requests = turn.provider.requests.lock().unwrap();
    assert_eq!(requests[0].messages, [user("said 1, it failed of 2: question")], "no call without an answer before it");
    let shown = |event: &TurnEvent| match event {
        TurnEvent::StepStarted { activity: Activity::Attachment { path }, .. } => Some(path.clone()),
        _ => None,
    };
    assert_eq!(turn.events().iter().filter_map(shown).collect::<Vec<_>>(), ["1", "fail"]);
}

#[tokio::test]
async fn a_refused_attachment_leaves_its_reason_in_the_question() {
    let denial = Denial::Refused { reason: "it is secret".into() };
    let mut turn = Turn::new(vec![done()]).with(DenyAll(denial));
    turn.state.attach(attachments(&["1"]));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert!(turn.ran().is_empty());
    assert_eq!(turn.state.messages()[0], user("it is secret of 1: question"));
}

#[tokio::test]
async fn an_attachment_that_is_stopped_leaves_a_whole_conversation() {
    let mut turn = Turn::new(vec![]);
    turn.state.attach(attachments(&["hang"]));
    let cancel = turn.cancel.clone();
    let (result, ()) = tokio::join!(turn.run(), async {
        tokio::task::yield_now().await;
        cancel.cancel();
    });
    assert_eq!(result, Ok(StopReason::Cancelled));
    assert!(matches!(turn.state.messages(), [Message::User { .. }]), "{:?}", turn.state.messages());
}

fn refused() -> ModelEvent {
    ModelEvent::Failed(ProviderError {
        kind: ProviderErrorKind::InvalidRequest,
        message: "no images here".into(),
        hint: None,
        retry_after: None,
        overflow: None,
    })
}

/// The names of the images of each request.
fn shown(turn: &Turn) -> Vec<Vec<String>> {
    let names = |request: &ModelRequest| {
        let images = request.messages.iter().flat_map(Message::images);
        images.map(|image| image.name.clone()).collect()
    };
    turn.provider.requests.lock().unwrap().iter().map(names).collect()
}

#[tokio::test]
async fn an_image_that_a_question_names_is_shown_and_a_call_shows_none() {
    let mut turn = Turn::new(vec![vec![call("b.gif"), stop(StopClass::Tool)], done()]);
    turn.state.attach(attachments(&["a.gif", "1"]));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(shown(&turn), [["a.gif"], ["a.gif"]]);
}

#[tokio::test]
async fn an_image_that_a_service_refuses_is_dropped_and_the_user_is_told() {
    let mut turn = Turn::new(vec![vec![refused()], done()]);
    turn.state.attach(attachments(&["a.gif"]));
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(shown(&turn), [vec!["a.gif".to_owned()], vec![]]);
    let told = "m did not take a.gif, the question goes without. It said: no images here";
    assert!(turn.events().contains(&TurnEvent::Notice(told.into())), "{:?}", turn.events());
    assert!(turn.state.messages()[0].images().is_empty(), "the next question goes without, too");
}

#[tokio::test]
async fn a_refusal_without_images_is_the_error() {
    let mut turn = Turn::new(vec![vec![refused()]]);
    assert!(turn.run().await.is_err());
}

#[test]
fn the_newest_images_are_kept() {
    let image = |number: usize| Image::read(&number.to_string(), b"GIF89a".to_vec()).unwrap();
    let asked = |number| Message::User { text: "q".into(), images: vec![image(number)] };
    let mut state = TurnState::new((0..30).map(asked).collect(), "now".into());
    assert_eq!(state.drop_images(20, 1_000).len(), 10);
    assert!(state.messages()[9].images().is_empty() && !state.messages()[10].images().is_empty());
    assert_eq!(state.drop_images(20, 6 * 5), (10..25).rev().map(|number| number.to_string()).collect::<Vec<_>>());
}
