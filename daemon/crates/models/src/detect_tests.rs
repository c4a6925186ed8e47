use std::sync::Arc;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::*;

/// A server's answer to a path and a body; `None` is a 404.
type Answer = dyn Fn(&str, &str) -> Option<(u16, String)> + Send + Sync;

/// A server on this machine that never gets a key. Gives its `host:port`.
async fn serve_raw(answer: impl Fn(&str, &str) -> Option<(u16, String)> + Send + Sync + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let host = listener.local_addr().expect("it is bound").to_string();
    let answer: Arc<Answer> = Arc::new(answer);
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(reply(stream, Arc::clone(&answer)));
        }
    });
    host
}

async fn reply(mut stream: TcpStream, answer: Arc<Answer>) {
    let mut request = String::new();
    let mut piece = vec![0; 4096];
    let is_whole = |request: &str| {
        request.split_once("\r\n\r\n").is_some_and(|(head, body)| !head.starts_with("POST") || body.ends_with('}'))
    };
    while !is_whole(&request) {
        match stream.read(&mut piece).await {
            Ok(length) if length > 0 => request.push_str(&String::from_utf8_lossy(&piece[..length])),
            _ => return,
        }
    }
    assert!(!request.to_ascii_lowercase().contains("authorization"));
    let (head, body) = request.split_once("\r\n\r\n").expect("it is whole");
    let path = head.split(' ').nth(1).unwrap_or_default();
    let (status, body) = answer(path, body).unwrap_or((404, "nothing".to_owned()));
    let head = format!("HTTP/1.1 {status} S\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    let _ = stream.write_all((head + &body).as_bytes()).await;
}

/// A server with these answers by path; one with a number is for a question about the model with that number.
async fn serve(answers: &[(&'static str, Value)]) -> String {
    let answers = answers.to_vec();
    serve_raw(move |path, body| {
        let asked = body.split('"').nth(3).unwrap_or_default();
        let is_meant = |known: &&(&str, Value)| known.0 == path || known.0 == format!("{path} {asked}");
        answers.iter().find(is_meant).map(|(_, answer)| (200, answer.to_string()))
    })
    .await
}

/// A port without a listener.
fn closed() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("loopback has free ports");
    listener.local_addr().expect("it is bound").to_string()
}

fn list(owner: &str, ids: &[&str]) -> Value {
    let data: Vec<Value> = ids.iter().map(|id| json!({"id": id, "owned_by": owner})).collect();
    json!({"object": "list", "data": data})
}

/// Ollama with these models: name, context, what it can do, whether it is loaded.
async fn ollama(models: &[(&'static str, u64, &[&str], bool)]) -> String {
    let names: Vec<&str> = models.iter().map(|(name, ..)| *name).collect();
    let running: Vec<Value> =
        models.iter().filter(|(.., is_loaded)| *is_loaded).map(|(name, ..)| json!({"name": name})).collect();
    let mut answers = vec![
        ("/api/version", json!({"version": "0.9"})),
        ("/v1/models", list("library", &names)),
        ("/api/ps", json!({"models": running})),
    ];
    for (name, window, capabilities, _) in models {
        let path: &'static str = Box::leak(format!("/api/show {name}").into_boxed_str());
        let info = json!({"general.architecture": "q", "q.context_length": window, "q.block_count": 3});
        answers.push((path, json!({"capabilities": capabilities, "model_info": info})));
    }
    serve(&answers).await
}

/// However busy the machine is.
async fn find_all(hosts: &[String]) -> Vec<LocalServer> {
    find_within(Duration::from_secs(10), hosts).await
}

async fn find(hosts: &[String]) -> Option<LocalServer> {
    find_all(hosts).await.into_iter().next()
}

fn ids(server: &LocalServer) -> Vec<&str> {
    server.models.iter().map(|model| model.id.as_str()).collect()
}

#[tokio::test]
async fn nothing_there_is_nothing_found() {
    assert_eq!(find(&[closed(), closed()]).await, None);
    assert_eq!(find_all(&[]).await, []);
}

#[tokio::test]
async fn a_server_is_known_by_its_answer_and_not_by_its_port() {
    for (owner, name) in [
        ("llamacpp", "llama.cpp"),
        ("vllm", "vLLM"),
        ("sglang", "SGLang"),
        ("janhq", "Jan"),
        ("someone", "an OpenAI-compatible server"),
    ] {
        let mut answer = list(owner, &["nomic-embed-text", "qwen"]);
        answer["data"][1]["max_model_len"] = json!(40_960);
        let host = serve(&[("/v1/models", answer)]).await;
        let found = find(&[closed(), host.clone()]).await.expect("a server");
        let model = Model { id: "qwen".to_owned(), context_window_tokens: Some(40_960), ..Model::default() };
        let expected = LocalServer {
            url: format!("http://{host}/v1"),
            wire: "openai-chat",
            server: name.to_owned(),
            models: vec![model],
            model: "qwen".to_owned(),
            can_call_tools: None,
            context_window_tokens: Some(40_960),
        };
        assert_eq!(found, expected);
    }
}

#[tokio::test]
async fn ollama_speaks_its_own_wire_with_the_model_that_can_do_most() {
    let host = ollama(&[
        ("plain", 1_000_000, &["completion"], true),
        ("small", 8_192, &["completion", "tools"], false),
        ("large", 131_072, &["completion", "tools"], false),
    ])
    .await;
    let mut found = find(std::slice::from_ref(&host)).await.expect("a server");
    assert_eq!((found.server.as_str(), found.wire, found.url), ("Ollama", "ollama", format!("http://{host}")));
    assert_eq!((found.model.as_str(), found.can_call_tools), ("large", Some(true)));
    assert_eq!(found.context_window_tokens, Some(32_768), "no more than is asked for");
    found.url = String::new();
    assert_eq!(ids(&found), ["large", "small", "plain"]);
    found.choose("plain");
    assert_eq!((found.model.as_str(), found.can_call_tools), ("plain", Some(false)));
    found.choose("small");
    assert_eq!(found.context_window_tokens, Some(8_192));
    found.choose("not listed");
    assert_eq!((found.can_call_tools, found.context_window_tokens), (None, None));
}

#[tokio::test]
async fn a_loaded_model_comes_before_a_larger_one() {
    let tools: &[&str] = &["tools"];
    let host = ollama(&[("large", 131_072, tools, false), ("warm", 8_192, tools, true)]).await;
    assert_eq!(find(&[host]).await.map(|found| found.model), Some("warm".to_owned()));
}

#[tokio::test]
async fn lm_studio_is_asked_in_its_new_and_in_its_old_way() {
    let listed = ("/v1/models", list("organization_owner", &["cold", "warm"]));
    let old = json!({"data": [
        {"id": "e", "type": "embeddings", "state": "loaded"},
        {"id": "cold", "type": "llm", "state": "not-loaded", "max_context_length": 99_999},
        {"id": "warm", "type": "llm", "state": "loaded", "max_context_length": 99_999, "loaded_context_length": 4_096,
            "capabilities": ["tool_use"]}]});
    let new = json!({"models": [
        {"key": "e", "type": "embedding"},
        {"key": "cold", "type": "llm", "max_context_length": 99_999, "loaded_instances": []},
        {"key": "warm", "type": "llm", "max_context_length": 99_999, "capabilities": {"trained_for_tool_use": true},
            "loaded_instances": [{"id": "warm", "config": {"context_length": 4_096}}]}]});
    for (path, answer) in [("/api/v0/models", old), ("/api/v1/models", new)] {
        let host = serve(&[listed.clone(), (path, answer)]).await;
        let found = find(&[host]).await.expect("a server");
        assert_eq!(
            (found.server.as_str(), found.model.as_str(), found.can_call_tools),
            ("LM Studio", "warm", Some(true))
        );
        assert_eq!((found.context_window_tokens, ids(&found)), (Some(4_096), vec!["warm", "cold"]), "{path}");
    }
    let host = serve(&[listed]).await;
    assert_eq!(find(&[host]).await.map(|found| found.model), Some("cold".to_owned()), "as listed, if that is all");
}

#[tokio::test]
async fn llama_cpp_tells_what_one_conversation_gets() {
    let mut listed = list("llamacpp", &["m.gguf"]);
    listed["data"][0]["meta"] = json!({"n_ctx": 65_536, "n_ctx_train": 131_072});
    let props =
        json!({"default_generation_settings": {"n_ctx": 16_384}, "chat_template_caps": {"supports_tools": true}});
    let host = serve(&[("/v1/models", listed.clone()), ("/props", props)]).await;
    let found = find(&[host]).await.expect("a server");
    assert_eq!((found.context_window_tokens, found.can_call_tools), (Some(16_384), Some(true)));
    let host = serve(&[("/v1/models", listed)]).await;
    assert_eq!(find(&[host]).await.and_then(|found| found.context_window_tokens), Some(65_536));
}

#[tokio::test]
async fn a_server_that_still_loads_its_model_is_found_already() {
    let host = serve_raw(|_, _| {
        let error = json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}});
        Some((503, error.to_string()))
    })
    .await;
    let found = find(&[host]).await.expect("a server");
    assert_eq!((found.server.as_str(), found.models[0].is_loaded), ("llama.cpp", Some(false)));
}

#[tokio::test]
async fn the_best_server_comes_first_and_each_only_once() {
    let first = serve(&[("/v1/models", list("llamacpp", &["a"]))]).await;
    let second = ollama(&[("b", 8_192, &["tools"], false)]).await;
    let again = second.replace("127.0.0.1", "localhost");
    let talker = ollama(&[("c", 8_192, &["completion"], true)]).await;
    let found = find_all(&[talker, first, second, again]).await;
    let models: Vec<&str> = found.iter().map(|server| server.model.as_str()).collect();
    assert_eq!(models, ["b", "a", "c"]);
}

#[tokio::test]
async fn wrong_silent_and_endless_services_cost_no_more_than_the_limit() {
    let page = serve_raw(|_, _| Some((200, "<html>hello</html>".to_owned()))).await;
    let wrong = serve_raw(|_, _| Some((200, "{\"data\": 7}".to_owned()))).await;
    let endless = serve_raw(|_, _| Some((200, format!("{{\"data\": \"{}\"}}", "x".repeat(8 << 20))))).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let silent_host = silent.local_addr().expect("it is bound").to_string();
    let start = std::time::Instant::now();
    assert_eq!(super::find_all(&[page, wrong, endless, silent_host, closed()]).await, []);
    let elapsed = start.elapsed();
    assert!(elapsed < Duration::from_millis(1500), "{elapsed:?}");
}

#[tokio::test]
async fn a_silent_service_hides_nobody() {
    let refusing = serve_raw(|_, _| Some((500, json!({"error": {"message": "no"}}).to_string()))).await;
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let silent_host = silent.local_addr().expect("it is bound").to_string();
    let right = serve(&[("/v1/models", list("vllm", &["m"]))]).await;
    let found = find_within(Duration::from_secs(1), &[silent_host, refusing, right]).await;
    assert_eq!(found.iter().map(|server| server.server.as_str()).collect::<Vec<_>>(), ["vLLM"]);
}

#[tokio::test]
async fn other_machines_are_never_asked() {
    assert_eq!(find(&["192.0.2.1:11434".to_owned(), "example.com:80".to_owned(), "not a host".to_owned()]).await, None);
}

#[test]
fn the_ollama_variable_names_one_more_host() {
    let first = |setting: &str| usual_hosts(Some(setting)).swap_remove(0);
    for (setting, host) in [
        ("127.0.0.1:9999", "127.0.0.1:9999"),
        ("http://localhost:9999/", "localhost:9999"),
        ("0.0.0.0:9999", "127.0.0.1:9999"),
        ("localhost:80", "localhost:80"),
        ("[::1]:9999", "[::1]:9999"),
        ("not a host", "127.0.0.1:11434"),
    ] {
        assert_eq!(first(setting), host, "{setting}");
    }
    assert_eq!(usual_hosts(Some("127.0.0.1")).len(), USUAL_PORTS.len());
    assert_eq!(usual_hosts(Some(" ")).len(), USUAL_PORTS.len());
    assert_eq!(usual_hosts(None).len(), USUAL_PORTS.len());
}

#[tokio::test]
async fn the_first_model_of_a_named_server_is_found_under_every_spelling_of_its_base() {
    let tags = json!({"models": [{"name": "o1"}]});
    let host = serve(&[("/v1/models", list("x", &["m1", "m2"])), ("/api/tags", tags)]).await;
    for (wire, model) in [("openai-chat", "m1"), ("ollama", "o1")] {
        let wire = vendor::named(wire).expect("it is known").wire;
        for base in [format!("http://{host}"), format!("http://{host}/v1"), format!("http://{host}/v1/")] {
            let base = Url::parse(&base).expect("a URL");
            assert_eq!(first_model(wire, &base).await.as_deref(), Some(model), "{base}");
        }
        assert_eq!(first_model(wire, &Url::parse("http://192.0.2.1/v1").expect("a URL")).await, None);
    }
    let host = ollama(&[("talker", 8_192, &["completion"], true), ("doer", 8_192, &["tools"], false)]).await;
    let wire = vendor::named("ollama").expect("it is known").wire;
    let base = Url::parse(&format!("http://{host}")).expect("a URL");
    assert_eq!(first_model(wire, &base).await.as_deref(), Some("doer"));
}
