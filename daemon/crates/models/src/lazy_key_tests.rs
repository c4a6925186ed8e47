use std::{fs, path::Path};

use cohab_model_api::{Message, Secrets};
use cohab_wires::WIRES;
use futures::StreamExt as _;

use super::*;
use crate::key::Source;

fn provider_with(command: String) -> LazyKeyProvider {
    let endpoint = Endpoint {
        wire: WIRES.iter().copied().find(|wire| wire.name() == "openai-chat").unwrap(),
        vendor: None,
        service: "Test".into(),
        // Nothing listens there.
        base: "http://127.0.0.1:1/v1".parse().unwrap(),
        model: "m".into(),
        key: None,
        key_place: "`key_command` under [model]".into(),
        origin: "a test".into(),
        context_window_tokens: None,
    };
    let key = ApiKey { source: Source::Command(command), place: endpoint.key_place.clone() };
    let settings = ModelSettings { retries: Some(0), ..ModelSettings::default() };
    let stores = KeyStores::with_programs(Path::new("/nonexistent"), "".into());
    LazyKeyProvider::new(endpoint, key, "test".into(), &settings, &stores)
}

async fn ask(provider: &LazyKeyProvider) -> ProviderError {
    let messages = vec![Message::user("hi".into())];
    let request = ModelRequest { allow_tools: false, ..ModelRequest::of(messages) };
    match provider.send(Secrets::default().scrubbed(request)).collect::<Vec<_>>().await.pop() {
        Some(ModelEvent::Failed(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_key_is_got_at_the_first_question_and_then_kept() {
    let calls = tempfile::NamedTempFile::new().unwrap();
    let provider = provider_with(format!("echo x >> {}; echo sk-1", calls.path().display()));
    let count = || fs::read_to_string(calls.path()).unwrap().lines().count();
    assert_eq!((provider.info().model.as_str(), count()), ("m", 0), "opening a shell asks for no passphrase");
    let service = provider.service();
    assert_eq!(
        (service.host.as_str(), service.is_local),
        ("127.0.0.1:1", true),
        "what is known is known without a key"
    );
    for _ in 0..2 {
        assert_eq!(ask(&provider).await.kind, ProviderErrorKind::Network);
    }
    future::join(ask(&provider), ask(&provider)).await;
    assert_eq!(count(), 1);
    let forgotten = ModelEvent::Failed(ProviderError { kind: ProviderErrorKind::Auth, ..ask(&provider).await });
    forget_refused(Arc::clone(&provider.shared), forgotten).await;
    ask(&provider).await;
    assert_eq!(count(), 2, "a key that was refused is got anew");
}

#[tokio::test]
async fn a_provider_stays_as_long_as_its_key() {
    let key = tempfile::NamedTempFile::new().unwrap();
    let provider = provider_with(format!("cat {}", key.path().display()));
    let mut seen = Vec::new();
    for text in ["sk-1", "sk-1", "sk-2"] {
        fs::write(key.path(), text).unwrap();
        seen.push(provider.shared.provider().await.unwrap());
        provider.shared.ready.lock().await.as_mut().unwrap().since = None;
    }
    assert!(Arc::ptr_eq(&seen[0], &seen[1]), "it knows what it learned");
    assert!(!Arc::ptr_eq(&seen[1], &seen[2]));
}

#[tokio::test]
async fn without_a_key_nobody_is_asked_and_the_user_told() {
    let error = ask(&provider_with("echo no entry >&2; false".into())).await;
    assert_eq!(error.kind, ProviderErrorKind::Auth);
    assert_eq!(error.message, "Test (127.0.0.1:1) was not asked: `key_command` under [model] failed: no entry");
    assert!(error.hint.is_some());
}
