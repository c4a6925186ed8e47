use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::Instant,
};
use tracing_subscriber::layer::SubscriberExt;

use super::*;
use crate::telemetry::Telemetry;

/// Reads one request: its head and its body.
async fn request(stream: &mut TcpStream) -> (String, Vec<u8>) {
    let mut read = Vec::new();
    let end = loop {
        if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
            break at + 4;
        }
        assert!(stream.read_buf(&mut read).await.expect("bytes") > 0, "it ends early");
    };
    let head = String::from_utf8(read[..end].to_vec()).expect("text").to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).expect("a length");
    let length: usize = length.parse().expect("a number");
    while read.len() < end + length {
        assert!(stream.read_buf(&mut read).await.expect("bytes") > 0, "it ends early");
    }
    (head, read.split_off(end))
}

async fn collector() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    (listener, address)
}

fn contains(body: &[u8], text: &str) -> bool {
    body.windows(text.len()).any(|window| window == text.as_bytes())
}

fn make_spans(layer: SpanLayer, count: usize) {
    let _guard = tracing::subscriber::set_default(tracing_subscriber::registry().with(layer));
    for number in 0..count {
        let turn = tracing::info_span!(
            target: TARGET, parent: None, "invoke_agent", otel.name = "invoke_agent cohab", gen_ai.usage.input_tokens = 7
        );
        drop(tracing::info_span!(target: TARGET, parent: &turn, "chat", otel.name = "chat m", number));
    }
    tracing::info_span!(target: "cohabd", "something else").in_scope(|| tracing::error!("a private error"));
}

#[tokio::test]
async fn spans_arrive_with_their_names_and_without_what_is_none_of_ours() {
    let (listener, address) = collector().await;
    let (telemetry, layer) = Telemetry::set_up(&format!("http://{address}/"));
    let exporting = telemetry.start();
    make_spans(layer.expect("a layer"), 1);
    let (mut stream, _) = listener.accept().await.expect("a connection");
    let (head, body) = request(&mut stream).await;
    stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("it is sent");
    assert!(head.starts_with("post /v1/traces "), "{head}");
    assert!(head.contains("content-type: application/x-protobuf"), "{head}");
    for text in ["invoke_agent cohab", "chat m", "gen_ai.usage.input_tokens", "service.name", "cohab"] {
        assert!(contains(&body, text), "{text}");
    }
    for text in ["something else", "private", "code.file", "thread.id"] {
        assert!(!contains(&body, text), "{text}");
    }
    exporting.finish().await;
}

#[tokio::test]
async fn the_end_sends_what_is_left_at_once() {
    let (listener, address) = collector().await;
    let (telemetry, layer) = Telemetry::set_up(&format!("http://{address}"));
    make_spans(layer.expect("a layer"), 1);
    let exporting = telemetry.start();
    let answering = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.expect("a connection");
        let (_, body) = request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 503 Busy\r\ncontent-length: 0\r\n\r\n").await.expect("it is sent");
        body
    });
    exporting.finish().await;
    assert!(contains(&answering.await.expect("it ends"), "chat m"));
}

#[tokio::test]
async fn a_collector_that_is_gone_or_hangs_costs_neither_a_turn_nor_the_end_anything() {
    let (listener, hanging) = collector().await;
    let (gone_listener, gone) = collector().await;
    drop(gone_listener);
    for address in [hanging, gone] {
        let (telemetry, layer) = Telemetry::set_up(&format!("http://{address}"));
        let exporting = telemetry.start();
        let began = Instant::now();
        make_spans(layer.expect("a layer"), 2_000);
        assert!(began.elapsed() < Duration::from_secs(2), "4,000 spans took {:?}", began.elapsed());
        let ends = Instant::now();
        exporting.finish().await;
        assert!(ends.elapsed() < Duration::from_millis(1_500), "{:?}", ends.elapsed());
    }
    drop(listener);
}

#[tokio::test]
async fn what_waits_is_bounded_and_what_is_lost_is_counted() {
    let (_listener, address) = collector().await;
    let (layer, mut queue) = set_up(&format!("http://{address}")).expect("it is set up");
    make_spans(layer, 1_000);
    assert_eq!(queue.lost.load(Ordering::Relaxed), 2_000 - MAX_WAITING as u64);
    let mut batch = Vec::new();
    queue.fill(&mut batch);
    assert_eq!(batch.len(), MAX_BATCH);
}

#[test]
fn the_address_of_traces_is_below_that_of_the_collector() {
    let path = |endpoint: &str| traces(endpoint).map(|url| url.path().to_owned());
    assert_eq!(path("http://127.0.0.1:4318").as_deref(), Ok("/v1/traces"));
    assert_eq!(path("https://host/otlp/").as_deref(), Ok("/otlp/v1/traces"));
    assert_eq!(path("https://host/otlp/v1/traces").as_deref(), Ok("/otlp/v1/traces"));
    assert!(path("no url").is_err());
}
