//! A model at its service: the HTTP client, the limits, and what was learned of the service.

use std::{
    collections::BTreeSet,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use cohab_config::model_settings::Timeouts;
use cohab_model_api::ModelInfo;
use cohab_types::reasoning::ReasoningEffort;
use cohab_wires::{
    error::ErrorContext,
    wire::{Options, Quirk, Wire},
};
use reqwest::{Client, Url, header::HeaderMap};

use super::retry::Pace;

/// A model at its service.
pub(super) struct HttpClientState {
    pub(super) wire: &'static dyn Wire,
    pub(super) client: Client,
    pub(super) base: Url,
    pub(super) headers: HeaderMap,
    pub(super) info: ModelInfo,
    pub(super) subject: ErrorContext,
    pub(super) timeouts: Timeouts,
    pub(super) max_output_tokens: Option<u32>,
    pub(super) context_window_tokens: Option<u64>,
    pub(super) reasoning_effort: Option<ReasoningEffort>,
    pub(super) temperature: Option<f64>,
    pub(super) retries: u32,
    pub(super) quirks: Mutex<BTreeSet<Quirk>>,
    /// Longest answer that the service said it gives, in tokens.
    pub(super) longest_answer_tokens: AtomicU32,
    /// What the user was told already.
    pub(super) told: Mutex<BTreeSet<String>>,
    pub(super) pace: Arc<dyn Pace>,
}

impl HttpClientState {
    /// The deviations known so far.
    pub(super) fn quirks(&self) -> BTreeSet<Quirk> {
        locked(&self.quirks).clone()
    }

    /// Notes a deviation.
    pub(super) fn learn(&self, quirk: Quirk) {
        locked(&self.quirks).insert(quirk);
    }

    /// Notes that no answer is longer than `tokens`.
    pub(super) fn bound(&self, tokens: u32) {
        self.longest_answer_tokens.fetch_min(tokens, Ordering::Relaxed);
    }

    /// `cap_tokens`, but no more than the service gives.
    pub(super) fn bounded(&self, cap_tokens: Option<u32>) -> Option<u32> {
        cap_tokens.map(|cap| cap.min(self.longest_answer_tokens.load(Ordering::Relaxed)))
    }

    /// Whether the user was not told so before. From now on he was.
    pub(super) fn is_news(&self, notice: &str) -> bool {
        locked(&self.told).insert(notice.to_owned())
    }

    pub(super) fn options<'a>(&'a self, quirks: &'a BTreeSet<Quirk>) -> Options<'a> {
        Options {
            model: &self.info.model,
            host: &self.subject.host,
            max_output_tokens: self.max_output_tokens,
            context_window_tokens: self.context_window_tokens,
            reasoning_effort: self.reasoning_effort,
            temperature: self.temperature,
            quirks,
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
