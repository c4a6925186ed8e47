//! Replays the bytes of an existing answer through the code that reads answers from the network: recorded, invented or mutated answers
//! need no server. It makes one attempt, and sends, repeats and executes nothing.

use bytes::Bytes;
use cohab_config::model_settings::TimeoutSettings;
use cohab_model_api::{ModelEvent, ModelRequest, ProviderData};
use cohab_wires::{
    WIRES,
    error::ErrorContext,
    sse::Payloads,
    wire::{Options, Wire},
};
use futures::{FutureExt as _, Stream, StreamExt as _, channel::mpsc, future, stream};

use super::transport::{AnswerReader, EVENTS_AHEAD, Ending, Outlet, ReadError};

const HOST: &str = "recording";

/// The reader of an answer's bytes, and the way they came.
#[derive(Clone, Copy)]
pub struct Replay {
    wire: &'static dyn Wire,
    content_type: &'static str,
    is_cut: bool,
}

/// Names of all wires.
pub fn wires() -> impl Iterator<Item = &'static str> {
    WIRES.iter().map(|wire| wire.name())
}

impl Replay {
    /// A stream of the wire called `wire` that ends cleanly; `None` if there is no such wire.
    #[must_use]
    pub fn of(wire: &str) -> Option<Self> {
        let wire = WIRES.iter().find(|known| known.name() == wire)?;
        Some(Self { wire: *wire, content_type: "", is_cut: false })
    }

    /// The same in one piece of JSON.
    #[must_use]
    pub fn in_one_piece(self) -> Self {
        Self { content_type: "application/json", ..self }
    }

    /// The same with a connection that breaks after the last byte.
    #[must_use]
    pub fn cut(self) -> Self {
        Self { is_cut: true, ..self }
    }

    /// The events of `chunks` as a provider gives them: exactly one terminal event, as the last.
    pub fn events<C>(self, chunks: C) -> Vec<ModelEvent>
    where
        C: IntoIterator<Item: Into<Bytes>, IntoIter: Send + Unpin + 'static>,
    {
        let bytes = self.bytes(chunks);
        let (sender, receiver) = mpsc::channel(EVENTS_AHEAD);
        block_on(async { future::join(receiver.collect(), self.read(bytes, Outlet::new(sender))).await.0 })
    }

    /// The payloads for the fold in `chunks`, and the reason of an early end, if there was one.
    pub fn payloads<C>(self, chunks: C) -> (Vec<String>, Option<String>)
    where
        C: IntoIterator<Item: Into<Bytes>, IntoIter: Send + Unpin + 'static>,
    {
        let mut payloads = Payloads::new(self.bytes(chunks), self.wire.framing());
        let mut all = Vec::new();
        // The bytes are there: a part that is not ready at once never will be.
        while let Some(Some(payload)) = payloads.next().now_or_never() {
            match payload {
                Ok(payload) => all.push(payload),
                Err(error) => return (all, Some(error.to_string())),
            }
        }
        (all, None)
    }

    fn bytes<C>(self, chunks: C) -> impl Stream<Item = Result<Bytes, ReadError>> + Send + Unpin + 'static
    where
        C: IntoIterator<Item: Into<Bytes>, IntoIter: Send + Unpin + 'static>,
    {
        let end = self.is_cut.then_some(Err(ReadError::Cut));
        stream::iter(chunks.into_iter().map(|chunk| Ok(chunk.into())).chain(end))
    }

    async fn read(
        self,
        bytes: impl Stream<Item = Result<Bytes, ReadError>> + Send + Unpin + 'static,
        mut outlet: Outlet,
    ) {
        let request = ModelRequest::of(Vec::new());
        let mut fold = self.wire.fold(&request, &Options::default());
        let subject = ErrorContext {
            service: self.wire.name().to_owned(),
            host: HOST.to_owned(),
            model: String::new(),
            key_place: String::new(),
            key: None,
            secrets: Vec::new(),
            is_local: true,
        };
        let timeouts = TimeoutSettings::default().resolve(true);
        let reader = AnswerReader { subject: &subject, timeouts, fold: fold.as_mut(), outlet: &mut outlet };
        let ending = reader.read(bytes, self.content_type, self.wire.framing()).await;
        for notice in std::mem::take(&mut outlet.notices) {
            outlet.send(ModelEvent::Notice(notice)).await;
        }
        outlet.send(self.terminal(ending)).await;
    }

    fn terminal(self, ending: Ending) -> ModelEvent {
        let wire = self.wire.name().to_owned();
        let own_form =
            |json| ProviderData { wire, host: HOST.to_owned(), model: String::new(), json: std::sync::Arc::new(json) };
        match ending {
            Ending::Stopped(stopped) => {
                ModelEvent::Stop { class: stopped.class, provider_data: stopped.message.map(own_form) }
            }
            Ending::Incomplete(reason) => ModelEvent::Incomplete { reason },
            Ending::Failed(failure) => ModelEvent::Failed(failure.error),
        }
    }
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    runtime.expect("a clock without a driver for IO takes nothing from the system").block_on(future)
}
