//! Keys appear nowhere: not in errors, notices and reasons, not in `Debug` output, not in a log.

use std::io::Write;

use super::*;

const PASSWORD: &str = "hunter2-hunter2";
const QUERY_KEY: &str = "query-key-0123456789";

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no test panics with it").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Services and gateways that tell all that they got.
fn tattlers(fixture: &Fixture) -> Vec<Reply> {
    let told = format!("who are you, {KEY} with {PASSWORD} and {QUERY_KEY}?");
    let error = |code: &str| json!({"error": {"message": told, "code": code}}).to_string();
    let moderated = json!({"error": {"message": told, "metadata": {"reasons": [told]}}}).to_string();
    let location = format!("location: https://u:{PASSWORD}@elsewhere.example/{QUERY_KEY}?key={KEY}");
    let mut replies: Vec<Reply> = [400, 401, 402, 403, 404, 413, 422, 429, 500, 503, 529]
        .into_iter()
        .flat_map(|status| [Reply::json(status, &error("x")), Reply::new(status, "x: y", told.as_bytes())])
        .collect();
    replies.extend([
        Reply::json(400, &error("tool_use_failed")),
        Reply::json(403, &moderated),
        Reply::new(302, &location, b""),
        Reply::new(200, "content-type: text/html", format!("<p>{told}").as_bytes()),
        Reply::new(200, &format!("{}\ncontent-encoding: {KEY}", fixture.content_type()), b""),
        Reply::json(200, &error("x")),
        fixture.stream(&fixture.bytes(&[json!(told)])),
        fixture.stream(&fixture.half("half")),
        Reply::nothing(),
    ]);
    for fault in [Fault::Overload, Fault::Invalid] {
        replies.extend((fixture.error)(fault, &told).map(|error| fixture.stream(&fixture.bytes(&[error]))));
    }
    replies
}

#[tokio::test]
async fn a_key_shows_in_no_error_no_debug_output_and_no_log() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber =
        tracing_subscriber::fmt().with_max_level(tracing::Level::TRACE).with_writer(move || writer.clone()).finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let mut shown = String::new();
    for fixture in fixtures() {
        for retries in [0, 1] {
            for reply in tattlers(fixture) {
                let server = Server::start(vec![reply; 3]).await;
                let base = format!("http://me:{PASSWORD}@{}/v1?key={QUERY_KEY}", server.address);
                let settings = ModelSettings { retries: Some(retries), ..settings() };
                let endpoint = endpoint(&base, fixture.wire());
                shown.push_str(&format!("{settings:?}"));
                let provider = provider_with(endpoint, &settings, Arc::new(NoWaiting::default()));
                let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
                shown.push_str(&format!("{:?} {events:?}\n", provider.info()));
            }
        }
    }
    let logged = String::from_utf8_lossy(&log.0.lock().expect("no test panics with it")).into_owned();
    assert!(shown.contains("[key]") && logged.contains("trying again"));
    for (place, text) in [("shown", &shown), ("logged", &logged)] {
        for secret in [KEY, PASSWORD, QUERY_KEY] {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret} is {place}");
        }
    }
}

#[tokio::test]
async fn a_key_in_an_answer_is_named_as_one() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    for fixture in fixtures() {
        let bench = bench(fixture.wire(), vec![Reply::json(401, &echo)]).await;
        let error = bench.fails().await;
        assert!(error.message.ends_with("Incorrect API key provided: [key]"), "{error:?}");
    }
}
