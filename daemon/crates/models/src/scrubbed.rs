//! Removes secrets from every request to a model: the only path from a request to the code that sends it.

use std::sync::Arc;

use cohab_model_api::{
    ModelEvent, ModelInfo, ModelProvider, ModelRequest, ModelService, ProviderError, ProviderErrorKind, Scrubbed,
    Secrets,
};
use cohab_secrets::PersonalData;
use futures::{
    StreamExt,
    stream::{self, BoxStream},
};
use tokio::task::spawn_blocking;

/// A model elsewhere. As [`ModelProvider`], but it can only be sent what was rid of secrets.
pub(crate) trait RemoteModel: Send + Sync {
    /// The model that answers.
    fn info(&self) -> ModelInfo;

    /// Its place and its capacity.
    fn service(&self) -> ModelService;

    /// Sends a request, as [`ModelProvider::stream`].
    fn send(&self, request: Scrubbed<ModelRequest>) -> BoxStream<'static, ModelEvent>;
}

/// Passes requests on without secrets. If scrubbing fails nothing is sent.
pub(crate) struct ScrubbedProvider<M> {
    inner: Arc<M>,
    secrets: Arc<Secrets>,
}

impl<M: RemoteModel> ScrubbedProvider<M> {
    /// Wraps `inner`.
    pub(crate) fn around(inner: M, secrets: &Arc<Secrets>) -> Self {
        Self { inner: Arc::new(inner), secrets: Arc::clone(secrets) }
    }
}

impl<M: RemoteModel + 'static> ModelProvider for ScrubbedProvider<M> {
    fn info(&self) -> ModelInfo {
        self.inner.info()
    }

    fn service(&self) -> ModelService {
        self.inner.service()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let (inner, secrets) = (Arc::clone(&self.inner), Arc::clone(&self.secrets));
        let answered = async move {
            // A long conversation takes some milliseconds.
            match spawn_blocking(move || secrets.scrubbed(request)).await {
                Ok(request) => inner.send(request),
                Err(_) => stream::iter([ModelEvent::Failed(not_sent())]).boxed(),
            }
        };
        stream::once(answered).flatten().boxed()
    }
}

fn not_sent() -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::InvalidRequest,
        message: "nothing was sent: the search for secrets failed".to_owned(),
        hint: Some("start a new conversation; the log says where the search failed".to_owned()),
        retry_after: None,
        overflow: None,
    }
}

/// The personal data that currently stays on this machine.
pub type Withheld = Arc<dyn Fn() -> PersonalData + Send + Sync>;

/// Passes requests on without the personal data that the settings name.
pub struct WithheldProvider {
    inner: Arc<dyn ModelProvider>,
    withheld: Withheld,
}

impl WithheldProvider {
    /// Wraps `inner`.
    #[must_use]
    pub fn around(inner: Arc<dyn ModelProvider>, withheld: &Withheld) -> Arc<dyn ModelProvider> {
        Arc::new(Self { inner, withheld: Arc::clone(withheld) })
    }
}

impl ModelProvider for WithheldProvider {
    fn info(&self) -> ModelInfo {
        self.inner.info()
    }

    fn service(&self) -> ModelService {
        self.inner.service()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        self.inner.stream(ModelRequest { withheld: (self.withheld)(), ..request })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use cohab_model_api::{Message, StopClass};

    use super::*;

    /// Records the requests it gets.
    #[derive(Clone, Default)]
    struct Listener(Arc<Mutex<Vec<ModelRequest>>>);

    impl RemoteModel for Listener {
        fn info(&self) -> ModelInfo {
            ModelInfo { wire: "test".into(), model: "m".into(), origin: String::new(), is_offline: false }
        }

        fn service(&self) -> ModelService {
            ModelService::default()
        }

        fn send(&self, request: Scrubbed<ModelRequest>) -> BoxStream<'static, ModelEvent> {
            self.0.lock().expect("not poisoned").push(request.into_inner());
            stream::iter([ModelEvent::Stop { class: StopClass::End, provider_data: None }]).boxed()
        }
    }

    async fn heard(text: &str, withheld: PersonalData) -> String {
        let listener = Listener::default();
        let provider = Arc::new(ScrubbedProvider::around(listener.clone(), &Arc::default()));
        let withheld: Withheld = Arc::new(move || withheld);
        let provider = WithheldProvider::around(provider, &withheld);
        let messages = vec![Message::user(text.to_owned())];
        let (system, personal) = (format!("notes: {text}"), PersonalData::default());
        let request = ModelRequest { system, messages, tools: Vec::new(), allow_tools: false, withheld: personal };
        let events: Vec<ModelEvent> = provider.stream(request).collect().await;
        assert!(matches!(events[..], [ModelEvent::Stop { .. }]), "{events:?}");
        let heard = listener.0.lock().expect("not poisoned");
        format!("{} {:?}", heard[0].system, heard[0].messages)
    }

    #[tokio::test]
    async fn a_model_gets_placeholders() {
        let token = ["use glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
        let heard = heard(&token, PersonalData::default()).await;
        assert_eq!(heard.matches("use <secret:gitlab-token#1>").count(), 2, "{heard}");
    }

    #[tokio::test]
    async fn personal_data_leaves_unless_the_settings_keep_it_here() {
        let text = "mail ann@example.com, call +49 30 1234567, pay DE89 3704 0044 0532 0130 00 <secret:email#7>";
        let all = heard(text, PersonalData::default()).await;
        assert!(all.contains("ann@example.com") && all.contains("+49 30 1234567"), "{all}");
        let one = heard(text, PersonalData::default().with("email").expect("a kind")).await;
        assert!(!one.contains("ann@example.com") && one.contains("+49 30 1234567"), "{one}");
        assert!(one.contains("mail <secret:email#1>") && one.contains("<quoted-secret:email#7>"), "{one}");
        let none = heard(text, PersonalData::ALL).await;
        assert!(!none.contains("1234567") && !none.contains("0532"), "{none}");
    }
}
