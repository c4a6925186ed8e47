use std::time::Instant;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;
use crate::provider::vendor;

/// A server that answers by path; `None` is a 404. Gives its `host:port`.
async fn serve(answer: impl Fn(&str, &str) -> Option<String> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let host = listener.local_addr().expect("it is bound").to_string();
    let answer = std::sync::Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let answer = std::sync::Arc::clone(&answer);
            tokio::spawn(async move {
                let mut request = vec![0; 8192];
                let length = stream.read(&mut request).await.unwrap_or(0);
                let request = String::from_utf8_lossy(&request[..length]).into_owned();
                assert!(!request.to_ascii_lowercase().contains("authorization"));
                let path = request.split(' ').nth(1).unwrap_or_default();
                let (status, body) = answer(path, &request).map_or((404, String::new()), |body| (200, body));
                let head =
                    format!("HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all((head + &body).as_bytes()).await;
            });
        }
    });
    host
}

/// A port that nobody listens on.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    listener.local_addr().expect("it is bound").to_string()
}

fn models(owner: &str, ids: &[&str]) -> String {
    let data: Vec<Value> = ids.iter().map(|id| json!({"id": id, "owned_by": owner})).collect();
    json!({"object": "list", "data": data}).to_string()
}

#[tokio::test]
async fn nothing_there_is_nothing_found() {
    assert_eq!(find(&[closed(), closed()]).await, None);
    assert_eq!(find(&[]).await, None);
}

#[tokio::test]
async fn a_server_is_known_by_its_answer() {
    for (owner, name) in [("llamacpp", "llama.cpp"), ("vllm", "vLLM"), ("someone", "an OpenAI-compatible server")] {
        let list = models(owner, &["nomic-embed-text", "qwen"]);
        let host = serve(move |path, _| (path == "/v1/models").then(|| list.clone())).await;
        let found = find(&[closed(), host.clone()]).await.expect("a server");
        let expected = LocalServer {
            url: format!("http://{host}/v1"),
            server: name.to_owned(),
            model: "qwen".to_owned(),
            can_call_tools: None,
        };
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn ollama_is_asked_which_model_can_call_tools() {
    let host = serve(|path, request| match path {
        "/api/version" => Some(json!({"version": "0.9"}).to_string()),
        "/v1/models" => Some(models("library", &["plain", "tooled"])),
        "/api/show" if request.contains("tooled") => Some(json!({"capabilities": ["completion", "tools"]}).to_string()),
        "/api/show" => Some(json!({"capabilities": ["completion"]}).to_string()),
        _ => None,
    })
    .await;
    let found = find(&[host]).await.expect("a server");
    assert_eq!((found.server.as_str(), found.model.as_str(), found.can_call_tools), ("Ollama", "tooled", Some(true)));
}

#[tokio::test]
async fn lm_studio_is_asked_which_model_is_loaded() {
    let host = serve(|path, _| match path {
        "/v1/models" => Some(models("organization_owner", &["cold", "warm"])),
        "/api/v0/models" => Some(
            json!({"data": [{"id": "e", "type": "embeddings", "state": "loaded"}, {"id": "cold", "type": "llm", "state": "not-loaded"},
                {"id": "warm", "type": "llm", "state": "loaded"}]})
            .to_string(),
        ),
        _ => None,
    })
    .await;
    let found = find(&[host]).await.expect("a server");
    assert_eq!((found.server.as_str(), found.model.as_str(), found.can_call_tools), ("LM Studio", "warm", None));
}

#[tokio::test]
async fn a_model_that_can_call_tools_beats_the_order_of_ports() {
    let first = serve(|path, _| (path == "/v1/models").then(|| models("llamacpp", &["a"]))).await;
    let second = serve(|path, _| match path {
        "/api/version" => Some(json!({"version": "0.9"}).to_string()),
        "/v1/models" => Some(models("library", &["b"])),
        "/api/show" => Some(json!({"capabilities": ["tools"]}).to_string()),
        _ => None,
    })
    .await;
    assert_eq!(find(&[first, second]).await.map(|found| found.model), Some("b".to_owned()));
}

#[tokio::test]
async fn wrong_silent_and_endless_services_cost_no_more_than_the_limit() {
    let page = serve(|_, _| Some("<html>hello</html>".to_owned())).await;
    let wrong = serve(|_, _| Some("{\"data\": 7}".to_owned())).await;
    let endless = serve(|_, _| Some(format!("{{\"data\": \"{}\"}}", "x".repeat(8 << 20)))).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let silent_host = silent.local_addr().expect("it is bound").to_string();
    let start = Instant::now();
    assert_eq!(find(&[page, wrong, endless, silent_host, closed()]).await, None);
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_millis(1500), "{elapsed:?}");
}

#[tokio::test]
async fn other_machines_are_never_asked() {
    assert_eq!(find(&["192.0.2.1:11434".to_owned(), "example.com:80".to_owned(), "not a host".to_owned()]).await, None);
}

#[test]
fn the_ollama_variable_is_read_in_all_its_forms() {
    let first = |setting: &str| usual_hosts(Some(setting)).swap_remove(0);
    for (setting, host) in [
        ("127.0.0.1:9999", "127.0.0.1:9999"),
        ("http://localhost:9999/", "localhost:9999"),
        ("0.0.0.0", "127.0.0.1:11434"),
        ("0.0.0.0:9999", "127.0.0.1:9999"),
        (":9999", "127.0.0.1:9999"),
        ("localhost:80", "localhost:80"),
        ("[::1]:9999", "[::1]:9999"),
        (" ", "127.0.0.1:11434"),
    ] {
        assert_eq!(first(setting), host, "{setting}");
    }
    assert_eq!(usual_hosts(Some("127.0.0.1")).len(), USUAL_PORTS.len());
    assert_eq!(usual_hosts(None).len(), USUAL_PORTS.len());
}

#[tokio::test]
async fn the_first_model_of_a_named_server_is_found_under_both_spellings_of_its_base() {
    let host = serve(|path, _| (path == "/v1/models").then(|| models("x", &["m1", "m2"]))).await;
    let wire = vendor::named("openai-chat").expect("it is known").wire;
    for base in [format!("http://{host}"), format!("http://{host}/v1"), format!("http://{host}/v1/")] {
        assert_eq!(first_model(wire, &Url::parse(&base).expect("a URL")).await.as_deref(), Some("m1"), "{base}");
    }
    assert_eq!(first_model(wire, &Url::parse("http://192.0.2.1/v1").expect("a URL")).await, None);
}
