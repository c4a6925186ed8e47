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

fn rung(model: &'static str, tier: Tier, events: Vec<ModelEvent>) -> Rung {
    let provider: Arc<dyn ModelProvider> = Arc::new(Fixed { model, events });
    Rung { name: model.into(), tier, make: Box::new(move || future::ready(Ok(Arc::clone(&provider))).boxed()) }
}

fn missing(name: &str, tier: Tier) -> Rung {
    let complaint = format!("`{name}` has no key");
    Rung { name: name.into(), tier, make: Box::new(move || future::ready(Err(complaint.clone())).boxed()) }
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

async fn ladder(rungs: Vec<Rung>, cooling: &Arc<Cooling>) -> Ladder {
    Ladder::start(rungs, Arc::clone(cooling)).await.unwrap_or_else(|error| panic!("{error}"))
}

async fn ask(ladder: &Ladder) -> Vec<ModelEvent> {
    let messages = vec![Message::User { text: "q".into() }];
    let request = ModelRequest::of(messages);
    ladder.stream(request).collect().await
}

#[tokio::test]
async fn another_service_answers_what_this_one_cannot_and_the_user_is_told() {
    for kind in [Kind::Auth, Kind::Billing, Kind::ModelNotFound, Kind::Overloaded, Kind::Network] {
        let rungs = vec![
            rung("first", Tier::Low, vec![tokens(900), failed(kind)]),
            missing("second", Tier::Low),
            rung("third", Tier::Low, vec![tokens(7), text("hello"), end()]),
        ];
        let ladder = ladder(rungs, &Arc::default()).await;
        let told = ModelEvent::Notice(format!("it failed by {kind:?}; third answers now."));
        assert_eq!(ask(&ladder).await, [told, tokens(7), text("hello"), end()]);
        assert_eq!((ladder.info().model, ladder.service().host, ladder.profile()).0, "third");
        assert_eq!(ask(&ladder).await, [tokens(7), text("hello"), end()], "the turn stays with it");
    }
}

#[tokio::test]
async fn a_fault_of_the_request_is_told_and_nobody_else_is_asked() {
    for kind in [Kind::ToolUseFailed, Kind::ContextOverflow, Kind::InvalidRequest, Kind::Protocol, Kind::EmptyAnswer] {
        let rungs = vec![
            rung("first", Tier::Low, vec![tokens(9), failed(kind)]),
            rung("second", Tier::Low, vec![text("hello"), end()]),
        ];
        let ladder = ladder(rungs, &Arc::default()).await;
        assert_eq!(ask(&ladder).await, [tokens(9), failed(kind)]);
        assert_eq!(ladder.profile(), "first");
    }
}

#[tokio::test]
async fn what_was_shown_is_void_when_another_one_takes_over() {
    let rungs = vec![
        rung("first", Tier::Low, vec![text("half"), failed(Kind::Overloaded)]),
        rung("second", Tier::Low, vec![text("whole"), end()]),
    ];
    let events = ask(&ladder(rungs, &Arc::default()).await).await;
    let [_, ModelEvent::Retrying { discard_shown: true, reason, .. }, rest @ ..] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!(reason, "it failed by Overloaded; second answers now.");
    assert_eq!(rest, [text("whole"), end()]);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_kept() {
    let cut = ModelEvent::Incomplete { reason: "cut".into() };
    let rungs = vec![rung("first", Tier::Low, vec![text("half"), cut.clone()]), rung("second", Tier::Low, vec![end()])];
    assert_eq!(ask(&ladder(rungs, &Arc::default()).await).await, [text("half"), cut]);
}

#[tokio::test]
async fn when_all_fail_the_last_failure_is_told() {
    let rungs = vec![
        rung("first", Tier::Low, vec![failed(Kind::Network)]),
        rung("second", Tier::Low, vec![failed(Kind::Billing)]),
    ];
    let events = ask(&ladder(rungs, &Arc::default()).await).await;
    assert_eq!(events.last(), Some(&failed(Kind::Billing)));
    assert_eq!(events.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_failed_is_passed_over_for_a_minute() {
    let cooling = Arc::default();
    let rungs = || {
        vec![
            rung("first", Tier::Low, vec![failed(Kind::Network)]),
            rung("second", Tier::Low, vec![text("hello"), end()]),
        ]
    };
    ask(&ladder(rungs(), &cooling).await).await;
    let told = ModelEvent::Notice("`first` failed just now; second answers.".into());
    assert_eq!(ask(&ladder(rungs(), &cooling).await).await, [told, text("hello"), end()]);
    tokio::time::advance(COOL_DOWN).await;
    assert_eq!(ladder(rungs(), &cooling).await.profile(), "first");
}

#[tokio::test]
async fn a_model_that_cannot_be_got_ready_is_told() {
    let rungs = vec![missing("first", Tier::Low), rung("second", Tier::Low, vec![end()])];
    let told = ModelEvent::Notice("`first` has no key; second answers.".into());
    assert_eq!(ask(&ladder(rungs, &Arc::default()).await).await, [told, end()]);
    let error = Ladder::start(vec![missing("first", Tier::Low)], Arc::default()).await.err();
    assert_eq!(error.as_deref(), Some("`first` has no key"));
}

#[tokio::test]
async fn one_that_gets_nowhere_gives_way_to_one_that_is_trusted_with_more() {
    let rungs = vec![
        rung("small", Tier::Low, vec![end()]),
        rung("stand-in", Tier::Low, vec![end()]),
        rung("big", Tier::High, vec![end()]),
    ];
    let ladder = ladder(rungs, &Arc::default()).await;
    assert_eq!(ladder.escalate().await, Some(("small".into(), "big".into())));
    assert_eq!(ladder.escalate().await, None);
    assert_eq!(ladder.profile(), "big");
}
