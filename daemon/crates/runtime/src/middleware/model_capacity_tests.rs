use cohab_agent::state::Record;
use cohab_model_api::{AssistantMessage, Message, StopClass};

use super::*;

fn key() -> ModelKey {
    ModelKey { host: "models.example:443".into(), model: "m".into() }
}

fn window(store: &Arc<Store>, sources: WindowSources) -> Window {
    let room = move || ModelCapacity { model: key(), sources, max_output_tokens: Some(1_000) };
    Window::new(Arc::clone(store), Box::new(room))
}

/// A request of about this many tokens by the estimate: turns of 100, and the question.
fn request(tokens: u64) -> ModelRequest {
    let words = "word ".repeat(100);
    let mut messages: Vec<Message> = (1..tokens / 100).map(|_| Message::user(words.clone())).collect();
    messages.push(Message::user("word ".repeat(100)));
    ModelRequest::of(messages)
}

fn settings(tokens: u64) -> WindowSources {
    WindowSources { settings: Some(tokens), ..WindowSources::default() }
}

fn sizes(prompt_tokens: Option<u64>, window_tokens: Option<u64>) -> Overflow {
    Overflow { prompt_tokens, window_tokens }
}

async fn sent(window: &Window, tokens: u64) -> u64 {
    let mut request = request(tokens);
    window.before_model(&mut request, None).await;
    request_tokens(&request)
}

async fn answered(window: &Window, usage: TokenUsage) {
    let record = Record::Answer { message: AssistantMessage::default(), class: StopClass::End, usage };
    window.observe(Fact::ModelEnded(&record)).await;
}

#[tokio::test]
async fn the_budget_follows_what_answers_teach() {
    let store = Arc::new(Store::in_memory());
    let window = window(&store, settings(20_000));
    assert_eq!(sent(&window, 30_000).await, 17_000);
    for _ in 0..5 {
        let estimate = sent(&window, 30_000).await;
        let usage = TokenUsage {
            input: Some(estimate / 10),
            cache_read: Some(estimate + estimate / 5),
            ..TokenUsage::default()
        };
        answered(&window, usage).await;
    }
    let factor = store.learned(&key()).factor;
    assert!((1.22..1.3).contains(&factor), "{factor}");
    let estimate = sent(&window, 30_000).await;
    assert!((13_000..14_000).contains(&estimate), "{estimate}");
    let in_use = store.learned(&key()).in_use.expect("a context");
    assert_eq!((in_use.tokens, in_use.source.word()), (20_000, "settings"));
}

#[tokio::test]
async fn usage_that_is_unknown_teaches_nothing() {
    let store = Arc::new(Store::in_memory());
    let window = window(&store, settings(20_000));
    sent(&window, 3_000).await;
    answered(&window, TokenUsage { output: Some(5), cache_read: Some(9), ..TokenUsage::default() }).await;
    assert_eq!(store.learned(&key()).factor, 1.0);
}

#[tokio::test]
async fn a_refusal_with_sizes_teaches_both_and_the_next_request_fits_them() {
    let store = Arc::new(Store::in_memory());
    let first = window(&store, WindowSources::default());
    let mut refused = request(30_000);
    first.before_model(&mut refused, None).await;
    assert!(first.before_model(&mut refused, Some(sizes(Some(36_000), Some(16_384)))).await);
    let estimate = request_tokens(&refused);
    // 16,384 without the answer and a tenth are 13,746 real tokens, of which 1.2 make one of the estimate.
    assert!((11_300..=11_455).contains(&estimate), "{estimate}");
    let learned = store.learned(&key());
    assert_eq!(learned.window_tokens, Some(16_384));
    assert!((learned.factor - 1.06).abs() < 0.001, "{}", learned.factor);
    let next_turn = window(&store, WindowSources::default());
    assert!(sent(&next_turn, 30_000).await <= 13_000);
}

#[tokio::test]
async fn a_refusal_without_sizes_shortens_to_seven_tenths_for_the_rest_of_the_turn() {
    let store = Arc::new(Store::in_memory());
    let window = window(&store, settings(100_000));
    let mut refused = request(30_000);
    window.before_model(&mut refused, None).await;
    assert!(window.before_model(&mut refused, Some(Overflow::default())).await);
    assert_eq!(request_tokens(&refused), 21_000);
    assert_eq!(sent(&window, 30_000).await, 21_000);
    assert_eq!(store.learned(&key()).window_tokens, None);
}

#[tokio::test]
async fn a_service_that_takes_less_than_the_settings_say_is_obeyed() {
    let store = Arc::new(Store::in_memory());
    let window = window(&store, settings(100_000));
    let mut refused = request(30_000);
    window.before_model(&mut refused, None).await;
    assert!(window.before_model(&mut refused, Some(sizes(None, Some(8_192)))).await);
    assert!(request_tokens(&refused) <= 6_400, "{}", request_tokens(&refused));
}

#[tokio::test]
async fn what_cannot_be_shortened_is_not_worth_another_try() {
    let store = Arc::new(Store::in_memory());
    let window = window(&store, settings(100_000));
    let mut refused = request(100);
    window.before_model(&mut refused, None).await;
    assert!(!window.before_model(&mut refused, Some(sizes(Some(5_000), Some(4_096)))).await);
}
