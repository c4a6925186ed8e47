//! A model that gets no secrets.

use std::sync::Arc;

use futures::{
    StreamExt as _,
    stream::{self, BoxStream},
};
use tokio::task::spawn_blocking;

use crate::{
    agent::port::{ModelEvent, ModelInfo, ModelProvider, ModelRequest, ModelService, ProviderError, ProviderErrorKind},
    safety::secrets::Secrets,
};

/// Sends requests on without secrets. If they cannot be taken out nothing is sent.
pub struct ScrubbedProvider {
    inner: Arc<dyn ModelProvider>,
    secrets: Arc<Secrets>,
}

impl ScrubbedProvider {
    /// `inner` with that. The assistant without a model stays as it is: nothing leaves for it.
    #[must_use]
    pub fn around(inner: Arc<dyn ModelProvider>, secrets: &Arc<Secrets>) -> Arc<dyn ModelProvider> {
        if inner.info().is_offline {
            return inner;
        }
        Arc::new(Self { inner, secrets: Arc::clone(secrets) })
    }
}

impl ModelProvider for ScrubbedProvider {
    fn info(&self) -> ModelInfo {
        self.inner.info()
    }

    fn service(&self) -> ModelService {
        self.inner.service()
    }

    fn stream(&self, mut request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let (inner, secrets) = (Arc::clone(&self.inner), Arc::clone(&self.secrets));
        let answered = async move {
            // A long conversation takes some milliseconds.
            let clean = spawn_blocking(move || {
                secrets.request(&mut request);
                request
            });
            match clean.await {
                Ok(request) => inner.stream(request),
                Err(_) => stream::iter([ModelEvent::Failed(not_sent())]).boxed(),
            }
        };
        stream::once(answered).flatten().boxed()
    }
}

fn not_sent() -> ProviderError {
    ProviderError {
        kind: ProviderErrorKind::InvalidRequest,
        message: "nothing was sent: looking for secrets in it failed".to_owned(),
        hint: Some("a new conversation may do; the log says where it failed".to_owned()),
        retry_after: None,
        overflow: None,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::agent::port::{Message, StopClass};

    /// Notes what it is sent.
    struct Listener {
        is_offline: bool,
        heard: Mutex<Vec<ModelRequest>>,
    }

    impl ModelProvider for Listener {
        fn info(&self) -> ModelInfo {
            ModelInfo { wire: "test".into(), model: "m".into(), origin: String::new(), is_offline: self.is_offline }
        }

        fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
            self.heard.lock().expect("not poisoned").push(request);
            stream::iter([ModelEvent::Stop { class: StopClass::End, provider_data: None }]).boxed()
        }
    }

    async fn heard(is_offline: bool) -> String {
        let listener = Arc::new(Listener { is_offline, heard: Mutex::default() });
        let provider = ScrubbedProvider::around(Arc::clone(&listener) as _, &Arc::default());
        let text = ["use glpat", "-aB3dE5fG7hJ9kL1mN2pQ"].concat();
        let messages = vec![Message::User { text }];
        let request = ModelRequest { system: String::new(), messages, tools: Vec::new(), allow_tools: false };
        let events: Vec<ModelEvent> = provider.stream(request).collect().await;
        assert!(matches!(events[..], [ModelEvent::Stop { .. }]), "{events:?}");
        let heard = listener.heard.lock().expect("not poisoned");
        format!("{:?}", heard[0].messages)
    }

    #[tokio::test]
    async fn a_model_gets_placeholders() {
        assert!(heard(false).await.contains("use <secret:gitlab-token#1>"));
    }

    #[tokio::test]
    async fn the_assistant_without_a_model_gets_what_was_typed() {
        assert!(heard(true).await.contains("use glpat-"));
    }
}
