use cohab_config::model_settings::{AskedBy, KeyStore, Profile};
use cohab_model_api::{ModelEvent, ModelInfo, ModelRequest};
use futures::stream::{self, BoxStream, StreamExt as _};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::*;

struct Offline;

impl ModelProvider for Offline {
    fn info(&self) -> ModelInfo {
        ModelInfo {
            wire: "offline".to_owned(),
            model: "offline".to_owned(),
            origin: "built in".to_owned(),
            is_offline: true,
        }
    }

    fn stream(&self, _: ModelRequest) -> BoxStream<'static, ModelEvent> {
        stream::empty().boxed()
    }
}

/// Stores with nothing in them.
fn stores() -> KeyStores {
    KeyStores::with_programs(Path::new("/nonexistent"), "".into())
}

async fn choose_in(
    settings: &ModelSettings,
    variables: &[(&str, &str)],
    hosts: &[String],
) -> Result<Choice, ChoiceError> {
    let environment =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    choose(settings, &environment, hosts, &stores(), || Arc::new(Offline)).await
}

async fn ready_in(settings: &ModelSettings, variables: &[(&str, &str)]) -> ModelInfo {
    match choose_in(settings, variables, &[]).await {
        Ok(Choice::Ready(provider)) => provider.info(),
        Ok(Choice::AskLocal { .. }) => panic!("no host was given"),
        Err(error) => panic!("{error}: {:?}", error.hint),
    }
}

async fn ready(variables: &[(&str, &str)]) -> ModelInfo {
    ready_in(&ModelSettings::default(), variables).await
}

async fn refused(settings: &ModelSettings, variables: &[(&str, &str)]) -> ChoiceError {
    match choose_in(settings, variables, &[]).await {
        Ok(Choice::Ready(provider)) => panic!("{:?}", provider.info()),
        Ok(Choice::AskLocal { .. }) => panic!("no host was given"),
        Err(error) => error,
    }
}

/// A server that answers every request with `body` and passes on the requests' heads.
async fn serve(body: &'static str) -> (String, tokio::sync::mpsc::UnboundedReceiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has free ports");
    let host = listener.local_addr().expect("it is bound").to_string();
    let (sender, receiver) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = vec![0; 8192];
            let length = stream.read(&mut request).await.unwrap_or(0);
            let _ = sender.send(String::from_utf8_lossy(&request[..length]).to_ascii_lowercase());
            let head = format!(
                "HTTP/1.1 200 S\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all((head + body).as_bytes()).await;
        }
    });
    (host, receiver)
}

fn question() -> ModelRequest {
    let messages = vec![cohab_model_api::Message::user("hi".to_owned())];
    ModelRequest::of(messages)
}

/// The heads of the requests that a question to what `variables` choose sends.
async fn head_of_question(
    settings: &ModelSettings,
    variables: &[(&str, &str)],
    heads: &mut tokio::sync::mpsc::UnboundedReceiver<String>,
) -> String {
    let Ok(Choice::Ready(provider)) = choose_in(settings, variables, &[]).await else { panic!("not ready") };
    provider.stream(question()).collect::<Vec<_>>().await;
    let mut all = heads.recv().await.expect("a request");
    while let Ok(head) = heads.try_recv() {
        all.push_str(&head);
    }
    all
}

#[tokio::test]
async fn without_anything_the_offline_assistant_answers() {
    assert!(ready(&[]).await.is_offline);
    assert!(ready(&[("COHAB_PROVIDER", "offline"), ("OPENAI_API_KEY", "k")]).await.is_offline);
    assert!(ready(&[("OPENAI_API_KEY", "  "), ("COHAB_PROVIDER", "")]).await.is_offline);
}

#[tokio::test]
async fn a_key_variable_chooses_its_vendor_and_two_say_which() {
    let info = ready(&[("OPENAI_API_KEY", "k")]).await;
    assert_eq!((info.wire.as_str(), info.origin.as_str()), ("openai-chat", "OPENAI_API_KEY"));
    let info = ready(&[("OPENAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k"), ("COHAB_MODEL", "mine")]).await;
    assert_eq!((info.wire.as_str(), info.model.as_str()), ("anthropic", "mine"));
    assert!(info.origin.starts_with("ANTHROPIC_API_KEY") && info.origin.contains("OPENAI_API_KEY"), "{}", info.origin);
}

#[tokio::test]
async fn a_key_that_says_neither_where_to_ask_nor_which_model_chooses_nothing() {
    for variable in ["HF_TOKEN", "NVIDIA_API_KEY", "AZURE_OPENAI_API_KEY"] {
        assert!(ready(&[(variable, "k")]).await.is_offline, "{variable}");
    }
    let named = ready(&[("HF_TOKEN", "k"), ("COHAB_MODEL", "org/m")]).await;
    assert_eq!((named.model.as_str(), named.origin.as_str()), ("org/m", "HF_TOKEN"));
    let router = ready(&[("HF_TOKEN", "k"), ("OPENROUTER_API_KEY", "k")]).await;
    assert_eq!((router.model.as_str(), router.origin.as_str()), ("openrouter/auto", "OPENROUTER_API_KEY"));
    let responses = [("COHAB_PROVIDER", "openai-responses"), ("OPENAI_API_KEY", "k")];
    assert_eq!(ready(&responses).await.wire, "openai-responses");
    assert_eq!(ready(&responses[1..]).await.wire, "openai-chat");
}

#[tokio::test]
async fn a_host_of_azure_is_known_by_its_domain() {
    let base = ("COHAB_BASE_URL", "https://mine.openai.azure.com/openai/v1");
    let azure = ready(&[base, ("AZURE_OPENAI_API_KEY", "k"), ("COHAB_MODEL", "d")]).await;
    assert_eq!((azure.wire.as_str(), azure.model.as_str()), ("openai-chat", "d"));
    let nobody =
        refused(&ModelSettings::default(), &[("COHAB_PROVIDER", "azure"), ("AZURE_OPENAI_API_KEY", "k")]).await;
    assert!(nobody.message.starts_with("Azure has a different address"), "{nobody:?}");
}

#[tokio::test]
async fn what_is_named_wins_over_key_variables_and_variables_over_settings() {
    let settings = ModelSettings {
        provider: Some("anthropic".to_owned()),
        name: Some("from-file".to_owned()),
        api_key: Some("file-key".to_owned().into()),
        ..ModelSettings::default()
    };
    let info = ready_in(&settings, &[("OPENAI_API_KEY", "k")]).await;
    assert_eq!(
        (info.wire.as_str(), info.model.as_str(), info.origin.as_str()),
        ("anthropic", "from-file", "the settings")
    );
    let info = ready_in(&settings, &[("OPENAI_API_KEY", "k"), ("COHAB_PROVIDER", "openai-chat")]).await;
    assert_eq!((info.wire.as_str(), info.origin.as_str()), ("openai-chat", "COHAB_PROVIDER"));
    assert_ne!(info.model, "from-file", "the file's model is another provider's");
}

#[tokio::test]
async fn an_address_alone_chooses_a_wire() {
    let info = ready(&[("COHAB_BASE_URL", "http://127.0.0.1:9/v1"), ("COHAB_MODEL", "m")]).await;
    assert_eq!((info.wire.as_str(), info.origin.as_str()), ("openai-chat", "COHAB_BASE_URL"));
    let info = ready(&[("COHAB_BASE_URL", "https://api.anthropic.com/"), ("COHAB_API_KEY", "k")]).await;
    assert_eq!(info.wire, "anthropic");
}

#[tokio::test]
async fn mistakes_are_told_with_what_to_do() {
    let none = ModelSettings::default();
    type Case<'a> = (&'a [(&'a str, &'a str)], &'a str, &'a str);
    let cases: [Case<'_>; 11] = [
        (&[("COHAB_API_KEY", "k")], "its provider is unknown", "COHAB_PROVIDER"),
        (&[("COHAB_BASE_URL", "http://api.openai.com/v1"), ("OPENAI_API_KEY", "k")], "no model is set", "COHAB_MODEL"),
        (&[("COHAB_PROVIDER", "openai-ch")], "no model provider \"openai-ch\"", "did you mean \"openai-chat\"?"),
        (&[("COHAB_PROVIDER", "something-else")], "no model provider", "known: anthropic"),
        (&[("COHAB_PROVIDER", "antropic")], "\"antropic\"", "did you mean \"anthropic\"?"),
        (&[("COHAB_PROVIDER", "anthropic")], "needs a key", "cohab setup"),
        (&[("COHAB_PROVIDER", "openai-chat")], "needs a key", "OPENAI_API_KEY"),
        (
            &[("COHAB_PROVIDER", "openai-chat"), ("COHAB_BASE_URL", "http://192.0.2.1/v1")],
            "no model is set",
            "COHAB_MODEL",
        ),
        (&[("COHAB_BASE_URL", "127.0.0.1:8080")], "base URL", "http://"),
        (&[("COHAB_BASE_URL", "ftp://127.0.0.1/")], "base URL", "http://"),
        (&[("COHAB_PROVIDER", "scripted")], "no script", "COHAB_BASE_URL"),
    ];
    for (variables, message, hint) in cases {
        let error = refused(&none, variables).await;
        assert!(error.message.contains(message), "{error}");
        assert!(error.hint.as_deref().is_some_and(|text| text.contains(hint)), "{:?}", error.hint);
    }
    let settings =
        ModelSettings { provider: Some("anthropic".to_owned()), api_key_env: Some("MY_KEY".to_owned()), ..none };
    assert!(refused(&settings, &[("ANTHROPIC_API_KEY", "k")]).await.message.contains("MY_KEY"));
    assert!(
        refused(&settings, &[("COHAB_PROVIDER", "scripted"), ("COHAB_BASE_URL", "/nonexistent")])
            .await
            .message
            .contains("/nonexistent")
    );
}

#[tokio::test]
async fn a_script_can_answer() {
    let script = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(script.path(), "[]").expect("the file is ours");
    let path = script.path().to_str().expect("temporary paths are text");
    assert_eq!(ready(&[("COHAB_PROVIDER", "scripted"), ("COHAB_BASE_URL", path)]).await.wire, "scripted");
}

#[tokio::test]
async fn a_vendor_s_key_goes_to_no_other_address() {
    let (host, mut heads) = serve("{}").await;
    let url = format!("http://{host}");
    let none = ModelSettings { retries: Some(0), ..ModelSettings::default() };
    let base: &[(&str, &str)] = &[("COHAB_BASE_URL", &url), ("COHAB_MODEL", "m"), ("OPENAI_API_KEY", "sk-vendor")];
    assert!(!head_of_question(&none, base, &mut heads).await.contains("authorization"));
    let own = [base, &[("COHAB_API_KEY", "sk-own")]].concat();
    assert!(head_of_question(&none, &own, &mut heads).await.contains("authorization: bearer sk-own"));
    let vendor_url = [("OPENAI_BASE_URL", url.as_str()), ("OPENAI_API_KEY", "sk-vendor")];
    assert!(head_of_question(&none, &vendor_url, &mut heads).await.contains("authorization: bearer sk-vendor"));
    let file =
        ModelSettings { provider: Some("anthropic".to_owned()), api_key: Some("sk-file".to_owned().into()), ..none };
    for variables in [base, &[base, &[("COHAB_PROVIDER", "openai-chat")]].concat()] {
        assert!(!head_of_question(&file, variables, &mut heads).await.contains("sk-file"));
    }
}

#[tokio::test]
async fn a_local_server_needs_no_key_and_names_its_own_model() {
    let (host, _heads) = serve(r#"{"data":[{"id":"local-model"}]}"#).await;
    let info = ready(&[("COHAB_PROVIDER", "openai-chat"), ("COHAB_BASE_URL", &format!("http://{host}"))]).await;
    assert_eq!(info.model, "local-model");
    let info = ready(&[("OPENAI_API_KEY", "any"), ("OPENAI_BASE_URL", &format!("http://{host}/v1"))]).await;
    assert_eq!((info.model.as_str(), info.origin.as_str()), ("local-model", "OPENAI_API_KEY"));
}

#[tokio::test]
async fn a_local_server_that_is_named_tells_how_large_its_context_is() {
    let (host, _heads) =
        serve(r#"{"data":[{"id":"m","owned_by":"llamacpp","meta":{"n_ctx":16384}}],"models":[{"name":"m"}]}"#).await;
    let base = format!("http://{host}/v1");
    let window = async |provider: &str, window| {
        let settings = ModelSettings { context_window_tokens: window, ..ModelSettings::default() };
        let variables = [("COHAB_PROVIDER", provider), ("COHAB_BASE_URL", &base), ("COHAB_MODEL", "m")];
        match choose_in(&settings, &variables, &[]).await {
            Ok(Choice::Ready(provider)) => provider.service().context_window_tokens,
            _ => panic!("{provider} is there"),
        }
    };
    assert_eq!(window("llama-cpp", None).await, Some(16_384));
    assert_eq!(window("openai-chat", None).await, Some(16_384), "of whatever kind the settings say it is");
    assert_ne!(window("llama-cpp", Some(2_048)).await, Some(16_384), "the settings say it");
}

#[tokio::test]
async fn a_found_server_is_offered_and_not_taken() {
    let (host, _heads) = serve(r#"{"data":[{"id":"local-model","owned_by":"llamacpp"}]}"#).await;
    let choice = choose_in(&ModelSettings::default(), &[], std::slice::from_ref(&host)).await;
    let Ok(Choice::AskLocal { found, provider, otherwise }) = choice else { panic!("nothing was offered") };
    assert_eq!((found.server.as_str(), found.url.as_str()), ("llama.cpp", format!("http://{host}/v1").as_str()));
    assert_eq!((provider.info().model.as_str(), otherwise.info().is_offline), ("local-model", true));
    let keyed = choose_in(&ModelSettings::default(), &[("OPENAI_API_KEY", "k")], &[host]).await;
    assert!(matches!(keyed, Ok(Choice::Ready(_))));
}

#[tokio::test]
async fn ollama_s_variable_says_where_it_is_once_it_is_chosen() {
    let (host, _heads) = serve(r#"{"models":[{"name":"own-model"}]}"#).await;
    let port = host.rsplit_once(':').expect("it has a port").1;
    for setting in [&host, &format!(":{port}"), &format!("http://{host}/"), &format!("0.0.0.0:{port}")] {
        let info = ready(&[("COHAB_PROVIDER", "ollama"), ("OLLAMA_HOST", setting)]).await;
        assert_eq!((info.wire.as_str(), info.model.as_str()), ("ollama", "own-model"), "{setting}");
    }
}

#[tokio::test]
async fn a_named_model_is_asked_of_a_found_server() {
    let (host, _heads) = serve(r#"{"data":[{"id":"one"},{"id":"two"}]}"#).await;
    let choice = choose_in(&ModelSettings::default(), &[("COHAB_MODEL", "two")], &[host]).await;
    let Ok(Choice::AskLocal { found, provider, .. }) = choice else { panic!("nothing was offered") };
    assert_eq!((found.model.as_str(), provider.info().model.as_str()), ("two", "two"));
}

#[test]
fn the_choice_can_be_made_on_any_thread() {
    fn is_send<T: Send>(_: &T) {}
    let settings = ModelSettings::default();
    let stores = stores();
    is_send(&choose(&settings, &|_: &str| None, &[], &stores, || Arc::new(Offline)));
}

#[tokio::test]
async fn the_nearest_key_wins() {
    let (host, mut heads) = serve("{}").await;
    let mut settings = ModelSettings {
        provider: Some("openai-chat".to_owned()),
        base_url: Some(format!("http://{host}/v1")),
        name: Some("m".to_owned()),
        api_key_env: Some("MINE".to_owned()),
        key_command: Some("echo sk-printed".to_owned()),
        api_key: Some("sk-file".to_owned().into()),
        retries: Some(0),
        ..ModelSettings::default()
    };
    let all = [("COHAB_API_KEY", "sk-first"), ("MINE", "sk-mine")];
    assert!(head_of_question(&settings, &all, &mut heads).await.contains("bearer sk-first"));
    assert!(head_of_question(&settings, &all[1..], &mut heads).await.contains("bearer sk-mine"));
    assert!(head_of_question(&settings, &[], &mut heads).await.contains("bearer sk-printed"));
    settings.key_command = None;
    assert!(head_of_question(&settings, &[], &mut heads).await.contains("bearer sk-file"));
    settings.api_key = None;
    assert!(refused(&settings, &[]).await.message.contains("MINE, which is not set"));
}

#[tokio::test]
async fn a_stored_key_goes_to_the_place_it_was_given_for_and_before_the_vendor_s_variable() {
    let (host, mut heads) = serve("{}").await;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let stores = KeyStores::with_programs(folder.path(), "".into());
    for (account, key) in [(host.as_str(), "sk-host"), ("openai", "sk-openai"), (&format!("{host}/work"), "sk-work")] {
        stores.save(KeyStore::File, account, &key.to_owned().into()).await.expect("the folder is ours");
    }
    let mut settings = ModelSettings {
        provider: Some("openai".to_owned()),
        base_url: Some(format!("http://{host}/v1")),
        name: Some("m".to_owned()),
        key_store: Some(KeyStore::File),
        retries: Some(0),
        // Otherwise the server is asked for it first.
        context_window_tokens: Some(8_192),
        ..ModelSettings::default()
    };
    let environment = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-variable".to_owned());
    for (profile, key) in [(None, "sk-host"), (Some("work"), "sk-work")] {
        settings.profile = profile.map(|name| Profile { name: name.to_owned(), asked_by: AskedBy::User });
        let choice = choose(&settings, &environment, &[], &stores, || Arc::new(Offline)).await;
        let Ok(Choice::Ready(provider)) = choice else { panic!("not ready") };
        provider.stream(question()).collect::<Vec<_>>().await;
        let head = heads.recv().await.expect("a request");
        assert!(head.contains(&format!("bearer {key}")), "{head}");
    }
}

#[tokio::test]
async fn a_profile_that_was_asked_for_is_alone_but_for_the_model() {
    let variables = [("COHAB_PROVIDER", "anthropic"), ("COHAB_API_KEY", "sk-x"), ("COHAB_MODEL", "mine")];
    let mut settings = ModelSettings {
        provider: Some("openai".to_owned()),
        api_key: Some("sk-file".to_owned().into()),
        ..ModelSettings::default()
    };
    for (asked_by, wire, origin) in
        [(AskedBy::User, "openai-chat", "profile `work`"), (AskedBy::File, "anthropic", "COHAB_PROVIDER")]
    {
        settings.profile = Some(Profile { name: "work".to_owned(), asked_by });
        let info = ready_in(&settings, &variables).await;
        assert_eq!((info.wire.as_str(), info.origin.as_str(), info.model.as_str()), (wire, origin, "mine"));
    }
    settings.api_key = None;
    settings.profile = Some(Profile { name: "work".to_owned(), asked_by: AskedBy::User });
    assert!(refused(&settings, &variables).await.message.contains("needs a key"));
}
