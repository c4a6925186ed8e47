use cohab_model_api::Overflow;

use super::*;

const SIZES: Overflow = Overflow { prompt_tokens: Some(9_000), window_tokens: Some(8_192) };

fn too_long() -> ModelEvent {
    ModelEvent::Failed(ProviderError {
        kind: ProviderErrorKind::ContextOverflow,
        message: "too long".into(),
        hint: None,
        retry_after: None,
        overflow: Some(SIZES),
    })
}

/// Middleware that drops all but the last message, and records the sizes it receives.
#[derive(Default)]
struct Shorten(Mutex<Vec<Overflow>>);

#[async_trait]
impl Middleware for Arc<Shorten> {
    async fn before_model(&self, request: &mut ModelRequest, refused: Option<Overflow>) -> bool {
        let Some(sizes) = refused else { return false };
        self.0.lock().unwrap().push(sizes);
        let older = request.messages.len() - 1;
        request.messages.drain(..older);
        older > 0
    }
}

/// A turn with a history.
fn turn(scripts: Vec<Vec<ModelEvent>>) -> (Turn, Arc<Shorten>) {
    let shorten = Arc::new(Shorten::default());
    let mut turn = Turn::new(scripts).with(Arc::clone(&shorten));
    let earlier = vec![Message::user("earlier".into()), Message::Assistant(AssistantMessage::default())];
    turn.state = TurnState::new(earlier, "now".into());
    (turn, shorten)
}

fn notices(turn: &Turn) -> Vec<String> {
    let text = |event| match event {
        TurnEvent::Notice(text) => Some(text),
        _ => None,
    };
    turn.events().into_iter().filter_map(text).collect()
}

fn requested(turn: &Turn) -> Vec<usize> {
    turn.provider.requests.lock().unwrap().iter().map(|request| request.messages.len()).collect()
}

#[tokio::test]
async fn a_conversation_that_is_too_long_is_shortened_once_and_the_user_is_told() {
    let (mut turn, shorten) = turn(vec![vec![too_long()], done()]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(requested(&turn), [3, 1]);
    assert_eq!(*shorten.0.lock().unwrap(), [SIZES]);
    assert_eq!(notices(&turn), ["The conversation was too long for m; older parts were left out."]);
    assert_eq!(turn.last_text(), "done");
    assert_eq!(turn.state.messages().len(), 4, "the conversation itself keeps everything");
}

#[tokio::test]
async fn a_second_refusal_is_the_error() {
    let (mut turn, _) = turn(vec![vec![too_long()], vec![too_long()]]);
    let Err(TurnError::Provider(error)) = turn.run().await else { panic!("it fails") };
    assert_eq!(error.kind, ProviderErrorKind::ContextOverflow);
    assert_eq!(requested(&turn), [3, 1]);
}

#[tokio::test]
async fn what_cannot_be_shortened_is_not_sent_again() {
    let (mut turn, _) = turn(vec![vec![too_long()]]);
    turn.state = TurnState::new(Vec::new(), "now".into());
    assert!(turn.run().await.is_err());
    assert_eq!((requested(&turn), notices(&turn)), (vec![1], vec![]));
}

#[tokio::test]
async fn nothing_is_sent_again_once_something_was_shown_but_sizes_are_learned() {
    for shown in [text("half"), ModelEvent::ReasoningDelta("hm".into()), ModelEvent::RefusalDelta("no".into())] {
        let (mut turn, shorten) = turn(vec![vec![shown, too_long()]]);
        assert!(turn.run().await.is_err());
        assert_eq!((requested(&turn), notices(&turn)), (vec![3], vec![]));
        assert_eq!(shorten.0.lock().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn calls_of_a_later_step_may_be_too_long_as_well() {
    let (mut turn, _) = turn(vec![
        vec![call("1"), stop(StopClass::Tool)],
        vec![too_long()],
        vec![call("2"), stop(StopClass::Tool)],
        done(),
    ]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    assert_eq!(turn.ran(), ["1", "2"], "no call runs twice");
}

/// A turn where each answer with tokens has its price.
fn priced(scripts: Vec<Vec<ModelEvent>>) -> Turn {
    let mut turn = Turn::new(scripts);
    turn.agent.ports.account =
        Some(Arc::new(|usage: &mut TokenUsage| usage.cost_microusd = usage.output.map(|tokens| tokens * 2)));
    turn
}

#[tokio::test]
async fn costs_add_up_and_what_is_not_known_is_told_apart() {
    let used = |output| ModelEvent::Usage(TokenUsage { output: Some(output), ..TokenUsage::default() });
    let first = || vec![used(10), call("1"), stop(StopClass::Tool)];
    let known = vec![used(5), text("done"), stop(StopClass::End)];
    for (second, partial) in [(known, false), (done(), true)] {
        let is_known = !partial;
        let mut turn = priced(vec![first(), second]);
        turn.run().await.unwrap();
        assert_eq!(turn.state.usage().cost_microusd, Some(if is_known { 30 } else { 20 }));
        assert_eq!(turn.state.is_cost_partial(), partial);
    }
    let mut failed = priced(vec![vec![ModelEvent::Incomplete { reason: "cut".into() }]]);
    assert!(failed.run().await.is_err());
    assert!(!failed.state.is_cost_partial(), "an answer that never began costs nothing");
}
