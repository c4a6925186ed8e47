//! Time limits and cancelling work in every phase.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::{io::AsyncReadExt as _, net::TcpListener};

use super::*;

/// As long may a connection live after its request is dropped.
const CLOSE_LIMIT: Duration = Duration::from_millis(200);

/// Sleeps for ever, and counts the sleepers.
#[derive(Default)]
struct Endless(Arc<AtomicUsize>);

struct Sleeper(Arc<AtomicUsize>);

impl Drop for Sleeper {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Pace for Endless {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }

    fn jitter(&self) -> f64 {
        0.0
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        let sleeper = Sleeper(Arc::clone(&self.0));
        Box::pin(async move {
            let _sleeper = sleeper;
            std::future::pending::<()>().await;
        })
    }
}

async fn soon(what: &str, closed: impl Future<Output = ()>) {
    tokio::time::timeout(CLOSE_LIMIT, closed).await.unwrap_or_else(|_| panic!("{what}: still open"));
}

#[tokio::test]
async fn cancelling_closes_the_connection_in_every_phase_and_the_next_question_is_whole() {
    for fixture in fixtures() {
        let waiting = (Reply::silence(), "waiting");
        let streaming = (fixture.stream(&fixture.half("half")).then_stall(), "streaming");
        let failing = (Reply::new(500, "content-length: 999", b"{\"error\":").then_stall(), "reading an error");
        for (reply, phase) in [waiting, streaming, failing] {
            let mut bench = bench(fixture.wire(), vec![reply, fixture.good()]).await;
            let mut events = bench.provider.stream(question());
            if phase == "streaming" {
                assert_eq!(events.next().await, Some(ModelEvent::TextDelta("half".to_owned())));
            } else {
                let asked = async {
                    bench.server.until_open(1).await;
                    while bench.server.seen().is_empty() {
                        tokio::task::yield_now().await;
                    }
                };
                tokio::select! { event = events.next() => panic!("{event:?}"), () = asked => {} }
            }
            drop(events);
            soon(phase, bench.server.until_open(0)).await;
            assert_eq!(text_of(&bench.ask().await), "ok", "{} {phase}", fixture.wire);
            let seen = bench.server.seen();
            assert_eq!(seen[0].body, seen[1].body, "{} {phase}", fixture.wire);
        }
    }
}

#[tokio::test]
async fn cancelling_while_connecting_closes_the_connection() {
    let (listener, base) = silent().await;
    let provider = provider_with(endpoint(&base, openai()), &settings(), Arc::new(NoWaiting::default()));
    let mut events = provider.stream(question());
    let accepted = async { listener.accept().await.expect("a connection").0 };
    let mut connection =
        tokio::select! { event = events.next() => panic!("{event:?}"), connection = accepted => connection };
    drop(events);
    let ended = async {
        let mut greeting = Vec::new();
        let _ = connection.read_to_end(&mut greeting).await;
    };
    soon("connecting", ended).await;
}

#[tokio::test]
async fn cancelling_ends_the_countdown() {
    for fixture in fixtures() {
        let server = Server::start(vec![Reply::new(429, "retry-after: 60", b"{}"), fixture.good()]).await;
        let sleepers = Arc::new(AtomicUsize::new(0));
        let base = format!("http://{}/v1", server.address);
        let pace = Arc::new(Endless(Arc::clone(&sleepers)));
        let provider = provider_with(endpoint(&base, fixture.wire()), &settings(), pace);
        let mut events = provider.stream(question());
        assert!(matches!(events.next().await, Some(ModelEvent::Retrying { after, .. }) if after.as_secs() == 60));
        let asleep = async {
            while sleepers.load(Ordering::Relaxed) == 0 {
                tokio::task::yield_now().await;
            }
        };
        tokio::select! { event = events.next() => panic!("{event:?}"), () = asleep => {} }
        drop(events);
        assert_eq!(sleepers.load(Ordering::Relaxed), 0);
        let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
        assert_eq!(text_of(&events), "ok", "{}", fixture.wire);
    }
}

/// A listener that takes connections and never says a word, and its address over TLS: connecting does not end.
async fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let address = listener.local_addr().expect("it is bound");
    (listener, format!("https://{address}/v1"))
}

/// Every way to stall after the headers, with the limits that end it and the name of the one that does.
fn stalls(fixture: &Fixture) -> Vec<(TimeoutSettings, Reply, &'static str)> {
    // All of them run in one thread: none may end another for its slowness.
    let base = TimeoutSettings { connect_ms: Some(60_000), ..settings().timeouts };
    let patient = TimeoutSettings { byte_idle_ms: Some(60_000), payload_idle_ms: Some(100), ..base };
    let half = || fixture.stream(&fixture.half("half"));
    let keep_alive = if fixture.content_type().contains("event-stream") { ": keep-alive\n\n" } else { "\n" };
    let often = Duration::from_millis(10);
    vec![
        (TimeoutSettings { headers_ms: Some(60), ..base }, Reply::silence(), "headers_ms"),
        (TimeoutSettings { byte_idle_ms: Some(60), ..base }, half().then_stall(), "byte_idle_ms"),
        (patient, half().then_repeat(keep_alive, often), "payload_idle_ms"),
        (patient, half().then_repeat(&fixture.bytes(&[(fixture.idle)()]), often), "payload_idle_ms"),
        (patient, Reply::json(200, " ").then_repeat(" ", often), "payload_idle_ms"),
    ]
}

#[tokio::test]
async fn each_limit_of_time_fires_with_its_own_name() {
    let all = fixtures().flat_map(|fixture| stalls(fixture).into_iter().map(move |stall| (fixture, stall)));
    let ended = all.map(async |(fixture, (timeouts, reply, name))| {
        let settings = ModelSettings { timeouts, ..settings() };
        let bench = bench_with(fixture.wire(), &settings, vec![reply, fixture.good()]).await;
        let error = bench.fails().await;
        let message = &error.message;
        assert!(
            error.kind == ProviderErrorKind::Timeout && message.contains(name),
            "{} {name}: {message}",
            fixture.wire
        );
        // A short limit may be over before the server has read what it was asked.
        while bench.server.seen().is_empty() {
            tokio::task::yield_now().await;
        }
        assert_eq!(bench.server.seen().len(), 1);
    });
    futures::future::join_all(ended).await;
}

#[tokio::test]
async fn the_limit_of_connecting_has_its_name_too() {
    let (_listener, base) = silent().await;
    let timeouts = TimeoutSettings { connect_ms: Some(60), ..settings().timeouts };
    let settings = ModelSettings { timeouts, ..settings() };
    let provider = provider_with(endpoint(&base, openai()), &settings, Arc::new(NoWaiting::default()));
    let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
    let Some(ModelEvent::Failed(error)) = events.last() else { panic!("{events:?}") };
    assert!(error.kind == ProviderErrorKind::Timeout && error.message.contains("connect_ms"), "{error:?}");
}
