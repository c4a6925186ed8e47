//! Tests of the process's surroundings: certificates and proxies. Each test runs again in a process of its own, since variables are
//! the whole process's.

use super::{tls::TlsServer, *};

/// Tells the child which test it is to run.
const CHILD: &str = "COHAB_TEST_CHILD";
/// Where there are no certificates.
const NOWHERE: [(&str, &str); 2] = [("SSL_CERT_FILE", "/nonexistent/roots.pem"), ("SSL_CERT_DIR", "/nonexistent")];

/// Runs `test` in a process with `variables`. True in that process, false afterwards in this one.
async fn is_respawned(test: &str, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(CHILD).is_some() {
        return true;
    }
    let path = format!("{}::{test}", module_path!().split_once("::").map_or("", |(_, path)| path));
    let output = tokio::process::Command::new(std::env::current_exe().expect("this is a program"))
        .args([&path, "--exact", "--nocapture"])
        .env(CHILD, test)
        .envs(variables.iter().copied())
        .output()
        .await
        .expect("it runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
    false
}

fn variable(name: &str) -> String {
    std::env::var(name).expect("the parent set it")
}

async fn answer_of(base: &str) -> Result<String, ProviderError> {
    let provider = provider_with(endpoint(base, openai()), &no_retries(), Arc::new(NoWaiting::default()));
    let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
    match events.last() {
        Some(ModelEvent::Failed(error)) => Err(error.clone()),
        _ => Ok(text_of(&events)),
    }
}

#[tokio::test]
async fn without_any_certificates_http_works_and_https_fails_in_words() {
    if !is_respawned("without_any_certificates_http_works_and_https_fails_in_words", &NOWHERE).await {
        return;
    }
    let server = Server::start(vec![fixture("openai-chat").good()]).await;
    assert_eq!(answer_of(&format!("http://{}/v1", server.address)).await.as_deref(), Ok("ok"));
    let secure = TlsServer::start(String::new()).await;
    let error = answer_of(&format!("https://localhost:{}/v1", secure.port)).await.expect_err("it is not trusted");
    assert!(error.message.contains("certificate"), "{error:?}");
}

#[tokio::test]
async fn a_certificate_that_nobody_signed_is_refused_at_once() {
    let secure = TlsServer::start(String::new()).await;
    let pace = Arc::new(NoWaiting::default());
    let base = format!("https://localhost:{}/v1", secure.port);
    let provider = provider_with(endpoint(&base, openai()), &settings(), Arc::clone(&pace) as Arc<dyn Pace>);
    let events: Vec<ModelEvent> = provider.stream(question()).collect().await;
    let Some(ModelEvent::Failed(error)) = events.last() else { panic!("{events:?}") };
    assert!(error.kind == ProviderErrorKind::Network && error.message.contains("certificate"), "{error:?}");
    assert!(error.hint.as_deref().is_some_and(|hint| hint.contains("SSL_CERT_FILE")), "{error:?}");
    assert!(pace.0.lock().expect("no test panics with it").is_empty(), "waiting changes no certificate");
}

#[tokio::test]
async fn a_certificate_of_the_user_s_own_is_trusted_for_its_host_alone() {
    let secure = TlsServer::start(fixture("openai-chat").answer("ok")).await;
    let folder = tempfile::tempdir().expect("a folder");
    let roots = folder.path().join("roots.pem");
    std::fs::write(&roots, tls::CERTIFICATE).expect("it is writable");
    let port = secure.port.to_string();
    let variables = [("SSL_CERT_FILE", roots.to_str().expect("a plain path")), ("TEST_PORT", &port)];
    if !is_respawned("a_certificate_of_the_user_s_own_is_trusted_for_its_host_alone", &variables).await {
        return;
    }
    let port = variable("TEST_PORT");
    assert_eq!(answer_of(&format!("https://localhost:{port}/v1")).await.as_deref(), Ok("ok"));
    let error = answer_of(&format!("https://127.0.0.1:{port}/v1")).await.expect_err("that is not its name");
    assert!(error.message.contains("certificate"), "{error:?}");
}

#[tokio::test]
async fn a_proxy_is_used_for_hosts_elsewhere_and_never_for_this_machine() {
    let good = || fixture("openai-chat").good();
    let proxy = Server::start(vec![good(), good()]).await;
    let direct = Server::start(vec![good(), good()]).await;
    let proxy_url = format!("http://{}", proxy.address);
    let variables = [
        ("http_proxy", proxy_url.as_str()),
        ("HTTP_PROXY", &proxy_url),
        ("https_proxy", &proxy_url),
        ("ALL_PROXY", &proxy_url),
        ("NO_PROXY", "skipped.invalid"),
        ("no_proxy", "skipped.invalid"),
        ("TEST_ADDRESS", &direct.address),
    ];
    if !is_respawned("a_proxy_is_used_for_hosts_elsewhere_and_never_for_this_machine", &variables).await {
        let lines: Vec<String> =
            proxy.seen().iter().map(|seen| seen.head.lines().next().unwrap_or_default().to_owned()).collect();
        assert_eq!(lines, ["post http://model.invalid/v1/chat/completions http/1.1"]);
        assert_eq!(direct.seen().len(), 1);
        return;
    }
    assert_eq!(answer_of(&format!("http://{}/v1", variable("TEST_ADDRESS"))).await.as_deref(), Ok("ok"));
    assert_eq!(answer_of("http://model.invalid/v1").await.as_deref(), Ok("ok"));
    assert!(answer_of("http://skipped.invalid/v1").await.is_err());
}
