//! The way to a server: the pipes of a program, or HTTP. One type, so that the SDK's state machines are compiled once.

use std::error::Error;

use futures::{FutureExt as _, TryFutureExt as _, future::BoxFuture};
use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{StreamableHttpClientTransport, Transport, async_rw::AsyncRwTransport, auth::AuthClient},
};
use tokio::process::{ChildStdin, ChildStdout};

use crate::guarded_reader::GuardedReader;

/// The way to a server.
pub(crate) enum Wire {
    /// Lines on the standard input and output of a program.
    Pipes(AsyncRwTransport<RoleClient, GuardedReader<ChildStdout>, ChildStdin>),
    /// Requests to an address.
    Http(StreamableHttpClientTransport<AuthClient<reqwest::Client>>),
}

/// Why a message could not be sent.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub(crate) struct WireError(Box<dyn Error + Send + Sync>);

impl WireError {
    fn of(error: impl Error + Send + Sync + 'static) -> Self {
        Self(Box::new(error))
    }
}

impl Transport<RoleClient> for Wire {
    type Error = WireError;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), WireError>> + Send + 'static {
        let sending: BoxFuture<'static, _> = match self {
            Self::Pipes(pipes) => pipes.send(message).map_err(WireError::of).boxed(),
            Self::Http(http) => http.send(message).map_err(WireError::of).boxed(),
        };
        sending
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self {
            Self::Pipes(pipes) => pipes.receive().await,
            Self::Http(http) => http.receive().await,
        }
    }

    async fn close(&mut self) -> Result<(), WireError> {
        match self {
            Self::Pipes(pipes) => pipes.close().await.map_err(WireError::of),
            Self::Http(http) => http.close().await.map_err(WireError::of),
        }
    }
}
