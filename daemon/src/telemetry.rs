//! Spans of turns and steps for a collector of the user's, if the settings name one: [`cohab_runtime::middleware::spans`] makes them, this
//! sends them. Only a build with the feature `otlp` can; everything else is the same without it.

#[cfg(feature = "otlp")]
mod otlp;

use std::time::Duration;

use futures::future::BoxFuture;
use tokio::{task::JoinHandle, time::timeout};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{Layer, Registry};

/// Longest wait of the daemon's end for unsent spans.
const END_WAIT: Duration = Duration::from_secs(1);

/// Collects spans.
pub type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;
/// Sends the collected spans until its token fires, then the rest.
type Export = Box<dyn FnOnce(CancellationToken) -> BoxFuture<'static, ()> + Send>;

/// What was set up, before it begins.
#[derive(Default)]
pub struct Telemetry {
    export: Option<Export>,
    complaint: Option<String>,
}

/// Sends while the daemon lives.
#[derive(Default)]
pub struct Exporting {
    end: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Telemetry {
    /// Sends to the collector at this URL; nowhere if it is empty. The layer collects the spans.
    #[must_use]
    pub fn set_up(endpoint: &str) -> (Self, Option<SpanLayer>) {
        if endpoint.is_empty() {
            return (Self::default(), None);
        }
        match Self::exporter(endpoint) {
            Ok((layer, export)) => (Self { export: Some(export), complaint: None }, Some(layer)),
            Err(complaint) => (Self { export: None, complaint: Some(complaint) }, None),
        }
    }

    #[cfg(feature = "otlp")]
    fn exporter(endpoint: &str) -> Result<(SpanLayer, Export), String> {
        let (layer, queue) = otlp::set_up(endpoint)?;
        Ok((layer, Box::new(|end| Box::pin(queue.send_until(end)))))
    }

    #[cfg(not(feature = "otlp"))]
    fn exporter(_endpoint: &str) -> Result<(SpanLayer, Export), String> {
        Err(cohab_admin::telemetry::missing().unwrap_or_default().to_owned())
    }

    /// Starts sending, in the daemon's runtime. Faults go to the log: no turn waits for telemetry.
    #[must_use]
    pub fn start(self) -> Exporting {
        if let Some(complaint) = &self.complaint {
            tracing::warn!("{complaint}");
        }
        let end = CancellationToken::new();
        let task = self.export.map(|export| tokio::spawn(export(end.clone())));
        Exporting { end, task }
    }
}

impl Exporting {
    /// Sends the rest, for a second at most.
    pub async fn finish(self) {
        self.end.cancel();
        if let Some(mut task) = self.task
            && timeout(END_WAIT, &mut task).await.is_err()
        {
            task.abort();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_an_endpoint_there_is_nothing() {
        let (telemetry, layer) = Telemetry::set_up("");
        assert!(layer.is_none() && telemetry.export.is_none() && telemetry.complaint.is_none());
    }

    #[cfg(not(feature = "otlp"))]
    #[test]
    fn an_endpoint_that_this_build_cannot_use_is_told() {
        let (telemetry, layer) = Telemetry::set_up("http://127.0.0.1:4318");
        assert!(layer.is_none());
        assert!(telemetry.complaint.is_some_and(|complaint| complaint.contains("--features otlp")));
    }
}
