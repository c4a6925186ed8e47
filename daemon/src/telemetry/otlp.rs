//! Sends spans by OTLP over HTTP. An ended span goes into a queue; a task takes them out in batches. A collector that is slow, broken
//! or gone costs the spans without room in the queue, and nothing else: sending is never repeated, and an empty queue has no timer.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::{Bytes, BytesMut};
use cohab_models::http;
use cohab_runtime::middleware::spans::TARGET;
use opentelemetry::{Context, KeyValue, trace::TracerProvider as _};
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{RetryPolicy, SpanExporter as OtlpExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    error::OTelSdkResult,
    trace::{SdkTracerProvider, Span, SpanData, SpanExporter, SpanProcessor},
};
use reqwest::Url;
use tokio::{
    sync::mpsc,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::{Layer, filter::filter_fn};

use super::SpanLayer;

/// Most waiting spans; further ones are lost. One takes about 2 KB.
const MAX_WAITING: usize = 1_024;
/// Most spans of one request.
const MAX_BATCH: usize = 256;
/// Time that a first span waits for others.
const GATHER: Duration = Duration::from_millis(500);
/// For a connection.
const CONNECT_LIMIT: Duration = Duration::from_secs(3);
/// For one request with its answer.
const SEND_LIMIT: Duration = Duration::from_secs(5);
/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The path below the address of a collector.
const PATH: &str = "v1/traces";

/// The collected unsent spans.
pub(super) struct Queue {
    receiver: mpsc::Receiver<SpanData>,
    exporter: OtlpExporter,
    /// Number of spans lost for lack of room.
    lost: Arc<AtomicU64>,
    /// The reason of the last failure.
    trouble: Arc<Mutex<String>>,
    /// For the log.
    host: String,
    /// Whether the last request failed.
    is_failing: bool,
}

/// Collects ended spans.
#[derive(Debug)]
struct Intake {
    sender: mpsc::Sender<SpanData>,
    lost: Arc<AtomicU64>,
}

/// Sends to the collector with the HTTP client that is used for services.
#[derive(Debug)]
struct Client {
    client: reqwest::Client,
    trouble: Arc<Mutex<String>>,
}

/// Collects spans for the collector at this URL: its base, or the whole address of its traces.
///
/// # Errors
/// A sentence, when it cannot be set up.
pub(super) fn set_up(endpoint: &str) -> Result<(SpanLayer, Queue), String> {
    let url = traces(endpoint)?;
    let host = http::host_of(&url);
    let trouble = Arc::<Mutex<String>>::default();
    let client = Client { client: http::client(&url, CONNECT_LIMIT)?, trouble: Arc::clone(&trouble) };
    let exporter = OtlpExporter::builder()
        .with_http()
        .with_http_client(client)
        .with_endpoint(url)
        .with_timeout(SEND_LIMIT)
        .with_retry_policy(RetryPolicy::disabled())
        .build();
    let mut exporter = exporter.map_err(|error| format!("spans cannot be sent to {host}: {error}"))?;
    let version = KeyValue::new("service.version", env!("CARGO_PKG_VERSION"));
    let resource = Resource::builder().with_service_name("cohab").with_attribute(version).build();
    exporter.set_resource(&resource);
    let (sender, receiver) = mpsc::channel(MAX_WAITING);
    let lost = Arc::<AtomicU64>::default();
    let intake = Intake { sender, lost: Arc::clone(&lost) };
    let provider = SdkTracerProvider::builder().with_resource(resource).with_span_processor(intake).build();
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("cohabd"))
        .with_location(false)
        .with_threads(false)
        .with_target(false)
        .with_level(false)
        .with_tracked_inactivity(false)
        .with_filter(filter_fn(|metadata| metadata.is_span() && metadata.target() == TARGET));
    Ok((Box::new(layer), Queue { receiver, exporter, lost, trouble, host, is_failing: false }))
}

fn traces(endpoint: &str) -> Result<Url, String> {
    let mut url = Url::parse(endpoint)
        .map_err(|error| format!("`telemetry.otlp_endpoint` is no URL that can be used: {error}"))?;
    if !url.path().ends_with(PATH) {
        let path = format!("{}/{PATH}", url.path().trim_end_matches('/'));
        url.set_path(&path);
    }
    Ok(url)
}

impl SpanProcessor for Intake {
    fn on_start(&self, _: &mut Span, _: &Context) {}

    fn on_end(&self, span: SpanData) {
        if self.sender.try_send(span).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        Ok(())
    }

    fn shutdown_with_timeout(&self, _: Duration) -> OTelSdkResult {
        Ok(())
    }
}

impl Queue {
    /// Sends until `end` fires, then the rest.
    pub(super) async fn send_until(mut self, end: CancellationToken) {
        while let Some(first) = end.run_until_cancelled(self.receiver.recv()).await.flatten() {
            end.run_until_cancelled(sleep(GATHER)).await;
            let mut batch = vec![first];
            self.fill(&mut batch);
            self.send(batch).await;
        }
        let mut batch = Vec::new();
        self.fill(&mut batch);
        while !batch.is_empty() {
            self.send(std::mem::take(&mut batch)).await;
            self.fill(&mut batch);
        }
    }

    fn fill(&mut self, batch: &mut Vec<SpanData>) {
        while batch.len() < MAX_BATCH
            && let Ok(span) = self.receiver.try_recv()
        {
            batch.push(span);
        }
    }

    /// Logs once that sending fails, and once that it works again.
    async fn send(&mut self, batch: Vec<SpanData>) {
        let count = batch.len();
        let failed = match timeout(SEND_LIMIT, self.exporter.export(batch)).await {
            Ok(Ok(())) => None,
            Ok(Err(_)) => Some(self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone()),
            Err(_) => Some("no answer".to_owned()),
        };
        let (lost, host) = (self.lost.swap(0, Ordering::Relaxed), &self.host);
        if lost > 0 {
            tracing::warn!(lost, host, "spans were left out: the collector is too slow");
        }
        match &failed {
            Some(reason) if !self.is_failing => tracing::warn!(host, reason, count, "spans could not be sent"),
            None if self.is_failing => tracing::info!(host, "spans can be sent again"),
            _ => {}
        }
        self.is_failing = failed.is_some();
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let told = self.exchange(request).await;
        let trouble = match &told {
            Ok(response) => format!("it answered {}", response.status()),
            Err(reason) => reason.clone(),
        };
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
        Ok(told?)
    }
}

impl Client {
    async fn exchange(&self, request: Request<Bytes>) -> Result<Response<Bytes>, String> {
        let wrong = |error: reqwest::Error| http::cause(&error);
        let request = request.try_into().map_err(wrong)?;
        let mut response = self.client.execute(request).await.map_err(wrong)?;
        let status = response.status();
        let mut body = BytesMut::new();
        while let Some(chunk) = response.chunk().await.map_err(wrong)? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err("its answer is too long".to_owned());
            }
            body.extend_from_slice(&chunk);
        }
        Response::builder().status(status).body(body.freeze()).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
#[path = "otlp_tests.rs"]
mod tests;
