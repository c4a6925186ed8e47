use super::*;

/// Middleware that returns one note before each model call, as long as there is one.
struct Tells(Mutex<VecDeque<Option<&'static str>>>);

impl Middleware for Tells {
    fn pending_notes(&self) -> Option<String> {
        self.0.lock().unwrap().pop_front().flatten().map(str::to_owned)
    }
}

fn telling<const N: usize>(scripts: Vec<Vec<ModelEvent>>, news: [Option<&'static str>; N]) -> Turn {
    Turn::new(scripts).with(Tells(Mutex::new(news.into())))
}

fn last_read(message: &Message) -> &str {
    match message {
        Message::User { text, .. } => text,
        Message::ToolResults(results) => &results.last().unwrap().content,
        Message::Assistant(message) => panic!("{message:?}"),
    }
}

#[tokio::test]
async fn news_stand_behind_what_the_model_reads_last_and_stay_there() {
    let calls = |one, two| vec![call(one), call(two), stop(StopClass::Tool)];
    let scripts = vec![calls("1", "2"), calls("3", "4"), done()];
    let mut turn = telling(scripts, [Some("early"), None, Some("late")]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let requests = turn.provider.requests.lock().unwrap();
    let read: Vec<&str> = requests.iter().map(|request| last_read(request.messages.last().unwrap())).collect();
    assert_eq!(read, ["question\n\nearly", "said 2", "said 4\n\n\u{1e}late"]);
    for pair in requests.windows(2) {
        assert!(pair[1].messages.starts_with(&pair[0].messages), "a later request begins with other bytes");
    }
    assert!(turn.state.messages().starts_with(&requests[2].messages));
}

#[tokio::test]
async fn what_each_model_call_took_is_told_in_sum() {
    let usage = |input, cost_microusd| {
        ModelEvent::Usage(TokenUsage { input: Some(input), cost_microusd, ..TokenUsage::default() })
    };
    let mut turn = Turn::new(vec![
        vec![usage(10, Some(5)), call("1"), stop(StopClass::Tool)],
        vec![call("2"), stop(StopClass::Tool)],
        vec![usage(20, None), text("done"), stop(StopClass::End)],
    ]);
    assert_eq!(turn.run().await, Ok(StopReason::Answered));
    let spent = turn.events().into_iter().filter_map(|event| match event {
        TurnEvent::Spent { usage, is_cost_partial } => Some((usage.input, usage.cost_microusd, is_cost_partial)),
        _ => None,
    });
    assert_eq!(spent.collect::<Vec<_>>(), [(Some(10), Some(5), false), (Some(30), Some(5), true)]);
}
