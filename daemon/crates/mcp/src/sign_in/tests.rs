use std::{collections::BTreeMap, os::unix::fs::PermissionsExt as _, sync::Mutex};

use cohab_config::mcp::McpServer;
use cohab_model_api::Secrets;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::{keys::NoKeys, pool::ServerPool, server::Author};

/// A server with a sign-in service, on one port.
struct Service {
    address: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The token that the server takes.
    token: String,
    renewals: usize,
    scopes: Vec<String>,
    /// Metadata that differs.
    issuer: Option<String>,
    page: Option<String>,
}

impl Service {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (base, shared) = (address.clone(), Arc::clone(&state));
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(stream, base.clone(), Arc::clone(&shared)));
            }
        });
        Self { address, state }
    }

    fn server(&self) -> Server {
        let settings = McpServer::at(format!("{}/mcp", self.address));
        Server { name: "docs".into(), author: Author::User, settings, files: Vec::new() }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

/// Answers one request, and closes.
async fn answer(mut stream: TcpStream, base: String, state: Arc<Mutex<State>>) {
    let Some((target, head, body)) = request(&mut stream).await else { return };
    let (status, headers, value) = respond(&target, &head, &body, &base, &mut state.lock().unwrap());
    let body = if value.is_null() { String::new() } else { value.to_string() };
    let answer = format!(
        "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
}

async fn request(stream: &mut TcpStream) -> Option<(String, String, String)> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lower = head.to_lowercase();
            let length = lower.split("content-length: ").nth(1).and_then(|rest| rest.lines().next()?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return Some((head.split(' ').nth(1)?.to_owned(), lower, body.to_owned()));
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

fn respond(target: &str, head: &str, body: &str, base: &str, state: &mut State) -> (&'static str, String, Value) {
    let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
    let token = |state: &mut State| {
        state.token = format!("secret-{}", state.renewals);
        json!({"access_token": state.token, "token_type": "Bearer", "refresh_token": "renew", "expires_in": 3600})
    };
    match target {
        "/.well-known/oauth-protected-resource/mcp" => {
            let value = json!({
                "resource": format!("{base}/mcp"), "authorization_servers": [base], "scopes_supported": ["read"],
            });
            ("200 OK", String::new(), value)
        }
        "/.well-known/oauth-authorization-server" => {
            let issuer = state.issuer.clone().unwrap_or_else(|| base.to_owned());
            let page = state.page.clone().unwrap_or_else(|| format!("{base}/agree"));
            let value = json!({
                "issuer": issuer, "authorization_endpoint": page,
                "token_endpoint": format!("{base}/token"), "registration_endpoint": format!("{base}/register"),
                "code_challenge_methods_supported": ["S256"], "response_types_supported": ["code"],
                "authorization_response_iss_parameter_supported": true,
            });
            ("200 OK", String::new(), value)
        }
        "/register" => ("201 Created", String::new(), json!({"client_id": "me", "redirect_uris": []})),
        "/token" if body.contains("grant_type=refresh_token") => {
            state.renewals += 1;
            ("200 OK", String::new(), token(state))
        }
        "/token" if body.contains("code=good") && body.contains("code_verifier=") => {
            ("200 OK", String::new(), token(state))
        }
        "/mcp" if head.contains(&format!("authorization: bearer {}\r", state.token)) && !state.token.is_empty() => {
            let asked: Value = serde_json::from_str(body).unwrap_or_default();
            let result = match asked["method"].as_str().unwrap_or_default() {
                "initialize" => json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "docs", "version": "1"},
                }),
                "tools/list" => json!({"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}),
                "tools/call" if !state.scopes.contains(&"write".to_owned()) => {
                    let wants = r#"www-authenticate: Bearer error="insufficient_scope", scope="write""#;
                    return ("403 Forbidden", format!("{wants}, resource_metadata=\"{metadata}\"\r\n"), Value::Null);
                }
                "tools/call" => json!({"content": [{"type": "text", "text": "seen"}]}),
                _ if asked["id"].is_null() => return ("202 Accepted", String::new(), Value::Null),
                _ => {
                    let error = json!({"code": -32601, "message": "unknown"});
                    return ("200 OK", String::new(), json!({"jsonrpc": "2.0", "id": asked["id"], "error": error}));
                }
            };
            ("200 OK", String::new(), json!({"jsonrpc": "2.0", "id": asked["id"], "result": result}))
        }
        "/mcp" => {
            let header = format!("www-authenticate: Bearer resource_metadata=\"{metadata}\"\r\n");
            ("401 Unauthorized", header, Value::Null)
        }
        _ => ("404 Not Found", String::new(), Value::Null),
    }
}

/// A user who agrees, and what the service adds to the way back.
struct User<'a> {
    service: &'a Service,
    more: String,
}

#[async_trait]
impl Browser for User<'_> {
    fn redirect(&self) -> String {
        "http://127.0.0.1:1/callback".into()
    }

    async fn agree(&self, address: &str) -> Result<String, String> {
        let page = Url::parse(address).unwrap();
        let query: BTreeMap<String, String> = page.query_pairs().into_owned().collect();
        assert_eq!((query["code_challenge_method"].as_str(), query["client_id"].as_str()), ("S256", "me"));
        assert_eq!(query["resource"], format!("{}/mcp", self.service.address));
        self.service.state().scopes = query["scope"].split(' ').map(str::to_owned).collect();
        Ok(format!("{}?state={}&{}", query["redirect_uri"], query["state"], self.more))
    }
}

struct Bench {
    service: Service,
    folder: tempfile::TempDir,
    secrets: Arc<Secrets>,
}

impl Bench {
    async fn new() -> Self {
        Self { service: Service::start().await, folder: tempfile::tempdir().unwrap(), secrets: Arc::default() }
    }

    fn sign_ins(&self) -> SignIns {
        SignIns::at(self.folder.path().join("sign-ins.json"), Arc::clone(&self.secrets))
    }

    fn pool(&self) -> ServerPool {
        ServerPool::new(Box::new(NoKeys), self.sign_ins(), self.folder.path().join("logs"))
    }

    async fn sign_in(&self, pool: &ServerPool, wanted: &SignInRequest, more: &str) -> Result<Vec<String>, String> {
        let user = User { service: &self.service, more: more.to_owned() };
        pool.sign_in(&self.service.server(), &Surroundings::default(), wanted, &user).await
    }

    fn good(&self) -> String {
        format!("code=good&iss={}", self.service.address)
    }
}

#[tokio::test]
async fn a_signed_in_user_reaches_the_server_and_tokens_are_renewed_and_kept_private() {
    let bench = Bench::new().await;
    let (server, nowhere) = (bench.service.server(), Surroundings::default());
    let pool = bench.pool();
    let refused = pool.start(&server, &nowhere).await.unwrap_err();
    assert_eq!(refused, "it wants you to sign in: `cohab mcp login docs`");
    assert_eq!(bench.sign_in(&pool, &SignInRequest::default(), &bench.good()).await, Ok(vec!["read".to_owned()]));
    assert_eq!(pool.start(&server, &nowhere).await.unwrap().tools.tools.len(), 1);
    let file = bench.folder.path().join("sign-ins.json");
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let said = bench.secrets.scrubbed_own("the token is secret-0".into()).into_inner();
    assert!(!said.contains("secret-0"), "{said}");
    // Another process, and a token that the service has withdrawn meanwhile.
    bench.service.state().token = "another".into();
    assert_eq!(bench.pool().start(&server, &nowhere).await.unwrap().tools.tools.len(), 1);
    assert_eq!(bench.service.state().renewals, 1);
    // At another address the tokens are not used.
    let mut moved = server.clone();
    moved.settings.url = Some(format!("{}/mcp?x", bench.service.address));
    assert!(pool.start(&moved, &nowhere).await.is_err());
    assert!(bench.sign_ins().forget(&server).unwrap() && !bench.sign_ins().has(&server));
    assert!(bench.pool().start(&server, &nowhere).await.unwrap_err().contains("cohab mcp login docs"));
}

#[tokio::test]
async fn more_rights_are_asked_for_with_those_that_were_granted() {
    let bench = Bench::new().await;
    let (server, pool) = (bench.service.server(), bench.pool());
    bench.sign_in(&pool, &SignInRequest::default(), &bench.good()).await.unwrap();
    let open = pool.open(&server, &Surroundings::default()).await.unwrap();
    let refused = open.call("look", serde_json::Map::new()).await.unwrap_err();
    assert_eq!(refused, "it wants more rights: `cohab mcp login docs --scope write`");
    drop(open);
    let more = SignInRequest { scopes: vec!["write".into()], challenge: None };
    bench.sign_in(&pool, &more, &bench.good()).await.unwrap();
    assert_eq!(bench.service.state().scopes, ["read", "write"]);
    let open = pool.open(&server, &Surroundings::default()).await.unwrap();
    assert!(open.call("look", serde_json::Map::new()).await.is_ok());
}

#[tokio::test]
async fn answers_that_cannot_be_trusted_and_refusals_grant_nothing() {
    let bench = Bench::new().await;
    let pool = bench.pool();
    for (back, reason) in [
        ("code=good&iss=https://evil.example", "names another service"),
        ("code=good", "does not say that it comes from"),
        ("error=access_denied", "you did not agree"),
        ("error=server_error&error_description=try%20later%1b", "the service refused: try later"),
        ("iss=x", "missing code"),
    ] {
        let refused = bench.sign_in(&pool, &SignInRequest::default(), back).await.unwrap_err();
        assert!(refused.contains(reason), "{back}: {refused}");
    }
    let wrong = format!("code=bad&iss={}", bench.service.address);
    assert!(bench.sign_in(&pool, &SignInRequest::default(), &wrong).await.is_err());
    bench.service.state().page = Some("file:///etc/passwd".into());
    let refused = bench.sign_in(&pool, &SignInRequest::default(), &bench.good()).await.unwrap_err();
    assert!(refused.contains("neither encrypted nor on this machine"), "{refused}");
    bench.service.state().page = None;
    bench.service.state().issuer = Some("https://evil.example".into());
    assert!(bench.sign_in(&pool, &SignInRequest::default(), &bench.good()).await.is_err());
    assert!(!bench.sign_ins().has(&bench.service.server()));
}

#[tokio::test]
async fn the_browser_comes_back_to_a_port_of_this_machine() {
    let (pasting, pasted) = tokio::sync::mpsc::channel(1);
    let browser = browser::LoopbackBrowser::new(Box::new(|_| {}), pasted).await.unwrap();
    let place = browser.redirect();
    let visit = async {
        let get = async |path: String| reqwest::get(path).await.unwrap();
        assert_eq!(get(place.replace("callback", "favicon.ico")).await.status().as_u16(), 404);
        let page = get(format!("{place}?code=1&state=2")).await.text().await.unwrap();
        assert!(page.starts_with("cohab has what it needs"), "{page}");
    };
    let _ = ring_is_there();
    let (back, ()) = tokio::join!(browser.agree("https://example.org"), visit);
    assert_eq!(back.unwrap(), format!("{place}?code=1&state=2"));
    pasting.send("http://127.0.0.1:9/callback?code=3".into()).await.unwrap();
    assert_eq!(browser.agree("https://example.org").await.unwrap(), "http://127.0.0.1:9/callback?code=3");
}

/// Plain HTTP needs no TLS, but the client wants a provider.
fn ring_is_there() -> Result<reqwest::Client, String> {
    cohab_models::http::client(&Url::parse("http://127.0.0.1/").unwrap(), std::time::Duration::from_secs(1))
}
