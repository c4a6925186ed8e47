use cohab_model_api::{Message, StopClass};
use futures::future;

use super::*;

/// Gives the same events each time, and counts.
struct Fixed {
    model: &'static str,
    events: Vec<ModelEvent>,
}

impl ModelProvider for Fixed {
    fn info(&self) -> ModelInfo {
        ModelInfo { wire: "fixed".into(), model: self.model.into(), origin: String::new(), is_offline: false }
    }

    fn service(&self) -> ModelService {
        ModelService { host: format!("{}.example", self.model), ..ModelService::default() }
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
        stream::iter(self.events.clone()).boxed()
    }
}

fn candidate(model: &'static str, tier: Tier, events: Vec<ModelEvent>) -> Candidate {
    let provider: Arc<dyn ModelProvider> = Arc::new(Fixed { model, events });
    Candidate { name: model.into(), tier, make: Box::new(move || future::ready(Ok(Arc::clone(&provider))).boxed()) }
}

fn missing(name: &str, tier: Tier) -> Candidate {
    let complaint = format!("`{name}` has no key");
    Candidate { name: name.into(), tier, make: Box::new(move || future::ready(Err(complaint.clone())).boxed()) }
}

fn failed(kind: Kind) -> ModelEvent {
    let message = format!("it failed by {kind:?}.");
    ModelEvent::Failed(ProviderError { kind, message, hint: None, retry_after: None, overflow: None })
}

fn text(text: &str) -> ModelEvent {
    ModelEvent::TextDelta(text.into())
}

fn end() -> ModelEvent {
    ModelEvent::Stop { class: StopClass::End, provider_data: None }
}

fn tokens(input: u64) -> ModelEvent {
    ModelEvent::Usage(TokenUsage { input: Some(input), ..TokenUsage::default() })
}

async fn fallback(candidates: Vec<Candidate>, cooldowns: &Arc<Cooldowns>) -> FallbackChain {
    FallbackChain::start(candidates, Arc::clone(cooldowns)).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn ask(fallback: &FallbackChain) -> Vec<ModelEvent> {
    let messages = vec![Message::user("q".into())];
    let request = ModelRequest::of(messages);
    fallback.stream(request).collect().await
}

#[tokio::test]
async fn another_service_answers_what_this_one_cannot_and_the_user_is_told() {
    for kind in [Kind::Auth, Kind::Billing, Kind::ModelNotFound, Kind::Overloaded, Kind::Network] {
        let candidates = vec![
            candidate("first", Tier::Low, vec![tokens(900), failed(kind)]),
            missing("second", Tier::Low),
            candidate("third", Tier::Low, vec![tokens(7), text("hello"), end()]),
        ];
        let fallback = fallback(candidates, &Arc::default()).await;
        let told = ModelEvent::Notice(format!("it failed by {kind:?}; third answers now."));
        assert_eq!(ask(&fallback).await, [told, tokens(7), text("hello"), end()]);
        assert_eq!((fallback.info().model, fallback.service().host, fallback.profile()).0, "third");
        assert_eq!(ask(&fallback).await, [tokens(7), text("hello"), end()], "the turn stays with it");
    }
}

#[tokio::test]
async fn a_fault_of_the_request_is_told_and_nobody_else_is_asked() {
    for kind in [Kind::ToolUseFailed, Kind::ContextOverflow, Kind::InvalidRequest, Kind::Protocol, Kind::EmptyAnswer] {
        let candidates = vec![
            candidate("first", Tier::Low, vec![tokens(9), failed(kind)]),
            candidate("second", Tier::Low, vec![text("hello"), end()]),
        ];
        let fallback = fallback(candidates, &Arc::default()).await;
        assert_eq!(ask(&fallback).await, [tokens(9), failed(kind)]);
        assert_eq!(fallback.profile(), "first");
    }
}

#[tokio::test]
async fn what_was_shown_is_void_when_another_one_takes_over() {
    let candidates = vec![
        candidate("first", Tier::Low, vec![text("half"), failed(Kind::Overloaded)]),
        candidate("second", Tier::Low, vec![text("whole"), end()]),
    ];
    let events = ask(&fallback(candidates, &Arc::default()).await).await;
    let [_, ModelEvent::Retrying { discard_shown: true, reason, .. }, rest @ ..] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(reason, "it failed by Overloaded; second answers now.");
    assert_eq!(rest, [text("whole"), end()]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_kept() {
    let cut = ModelEvent::Incomplete { reason: "cut".into() };
    let candidates = vec![
        candidate("first", Tier::Low, vec![text("half"), cut.clone()]),
        candidate("second", Tier::Low, vec![end()]),
    ];
    assert_eq!(ask(&fallback(candidates, &Arc::default()).await).await, [text("half"), cut]);
}

#[tokio::test]
async fn when_all_fail_the_last_failure_is_told() {
    let candidates = vec![
        candidate("first", Tier::Low, vec![failed(Kind::Network)]),
        candidate("second", Tier::Low, vec![failed(Kind::Billing)]),
    ];
    let events = ask(&fallback(candidates, &Arc::default()).await).await;
    assert_eq!(events.last(), Some(&failed(Kind::Billing)));
    assert_eq!(events.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_failed_is_passed_over_for_a_minute() {
    let cooldowns = Arc::default();
    let candidates = || {
        vec![
            candidate("first", Tier::Low, vec![failed(Kind::Network)]),
            candidate("second", Tier::Low, vec![text("hello"), end()]),
        ]
    };
    ask(&fallback(candidates(), &cooldowns).await).await;
    let told = ModelEvent::Notice("`first` failed just now; second answers.".into());
    assert_eq!(ask(&fallback(candidates(), &cooldowns).await).await, [told, text("hello"), end()]);
    tokio::time::advance(COOL_DOWN).await;
    assert_eq!(fallback(candidates(), &cooldowns).await.profile(), "first");
}

#[tokio::test]
async fn a_model_that_cannot_be_got_ready_is_told() {
    let candidates = vec![missing("first", Tier::Low), candidate("second", Tier::Low, vec![end()])];
    let told = ModelEvent::Notice("`first` has no key; second answers.".into());
    assert_eq!(ask(&fallback(candidates, &Arc::default()).await).await, [told, end()]);
    let error = FallbackChain::start(vec![missing("first", Tier::Low)], Arc::default()).await.err();
    assert_eq!(error.as_deref(), Some("`first` has no key"));
}

#[tokio::test]
async fn one_that_gets_nowhere_gives_way_to_one_that_is_trusted_with_more() {
    let candidates = vec![
        candidate("small", Tier::Low, vec![end()]),
        candidate("stand-in", Tier::Low, vec![end()]),
        candidate("big", Tier::High, vec![end()]),
    ];
    let fallback = fallback(candidates, &Arc::default()).await;
    assert_eq!(fallback.escalate().await, Some(("small".into(), "big".into())));
    assert_eq!(fallback.escalate().await, None);
    assert_eq!(fallback.profile(), "big");
}
