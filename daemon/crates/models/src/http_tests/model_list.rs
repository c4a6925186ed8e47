//! Tests of model lists, from services with and without one.

use cohab_config::model_settings::ModelSettings;
use cohab_model_api::{ProviderError, ProviderErrorKind as Kind};
use cohab_wires::wire::Model;

use super::{KEY, Reply, Server};
use crate::{
    model_list,
    resolution::{self, Answerer},
    resolved_endpoint::ResolvedEndpoint,
};

async fn service_at(address: &str, provider: &str) -> ResolvedEndpoint {
    let settings = ModelSettings {
        provider: Some(provider.to_owned()),
        base_url: Some(format!("http://{address}/v1")),
        name: Some("m".to_owned()),
        ..ModelSettings::default()
    };
    match resolution::answerer(&settings, &|_: &str| None, &[]).await {
        Ok(Answerer::Service(service)) => service,
        _ => panic!("no service"),
    }
}

async fn list(reply: Reply) -> Result<Vec<Model>, ProviderError> {
    let server = Server::start(vec![reply]).await;
    let service = service_at(&server.address, "openai-chat").await;
    model_list::models(&service, Some(KEY.to_owned().into())).await
}

#[tokio::test]
async fn the_list_is_the_service_s_own_and_asked_for_with_the_key() {
    for (provider, header) in [("openai-chat", "authorization: bearer "), ("anthropic", "x-api-key: ")] {
        let body = r#"{"data":[{"id":"z","context_length":8192},{"id":"a"},{"no":"id"}]}"#;
        let server = Server::start(vec![Reply::json(200, body)]).await;
        let service = service_at(&server.address, provider).await;
        let models = model_list::models(&service, Some(KEY.to_owned().into())).await.expect("a list");
        let known: Vec<_> = models.iter().map(|model| (model.id.as_str(), model.context_window_tokens)).collect();
        assert_eq!(known, [("z", Some(8192)), ("a", None)]);
        let head = &server.seen()[0].head;
        assert!(head.starts_with("get /v1/models"), "{head}");
        assert!(head.contains(&format!("{header}{KEY}")), "{head}");
    }
}

#[tokio::test]
async fn refusals_are_typed_and_show_no_key() {
    let refused = format!(r#"{{"error":{{"message":"wrong key {KEY}"}}}}"#);
    let cases = [
        (Reply::json(401, &refused), Kind::Auth),
        (Reply::json(404, "{}"), Kind::ModelNotFound),
        (Reply::json(503, "{}"), Kind::Overloaded),
        (Reply::new(302, "location: https://elsewhere.example/", b""), Kind::InvalidRequest),
        (Reply::new(200, "content-type: text/html", b"<html>hello</html>"), Kind::Protocol),
        (Reply::nothing(), Kind::Network),
    ];
    for (reply, kind) in cases {
        let error = list(reply).await.expect_err("did not return a list");
        assert_eq!(error.kind, kind, "{error}");
        assert!(!format!("{error:?}").contains(KEY), "{error:?}");
    }
}

#[tokio::test]
async fn an_endless_list_is_not_read_to_its_end() {
    let endless = Reply::json(200, "{\"data\":[").then_repeat(&" ".repeat(256 * 1024), std::time::Duration::ZERO);
    let error = list(endless).await.expect_err("did not return a list");
    assert!(error.message.contains("longer than 4 MiB"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_silent_service_is_not_waited_for() {
    let error = list(Reply::silence()).await.expect_err("did not return a list");
    assert!(error.message.contains("within 10 s"), "{error}");
}
