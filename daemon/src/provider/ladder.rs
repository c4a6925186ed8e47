//! The fallback chain tries several models in order. The next one takes over when a service fails in a way that another one may not, or
//! when the current model makes no progress.
//!
//! Only a request is ever repeated: calls of an answer run after its end, so the effects of a tool stay and are part of the next
//! model's conversation.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use cohab_config::model_roles::Tier;
use cohab_model_api::{
    ModelEvent, ModelInfo, ModelProvider, ModelRequest, ModelService, ProviderError, ProviderErrorKind as Kind,
    TokenUsage,
};
use futures::{
    FutureExt as _, StreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use tokio::time::Instant;

/// Time during which a failed service is skipped.
const COOL_DOWN: Duration = Duration::from_secs(60);

/// Prepares a model. The error is a sentence for the user.
pub type Make = Box<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn ModelProvider>, String>> + Send + Sync>;

/// A model of the chain.
pub struct Rung {
    /// Its profile.
    pub name: String,
    /// Its tier.
    pub tier: Tier,
    /// Prepares it, when it is needed.
    pub make: Make,
}

/// The last failure of each profile, over all turns.
#[derive(Default)]
pub struct Cooling(Mutex<HashMap<String, Instant>>);

impl Cooling {
    fn failed(&self, name: &str) {
        locked(&self.0).insert(name.to_owned(), Instant::now());
    }

    fn contains(&self, name: &str) -> bool {
        locked(&self.0).get(name).is_some_and(|since| since.elapsed() < COOL_DOWN)
    }
}

/// The models of one turn.
pub struct Ladder {
    shared: Arc<Shared>,
}

struct Shared {
    rungs: Vec<Rung>,
    cooling: Arc<Cooling>,
    at: Mutex<At>,
    /// The notice to the user that comes with the next answer.
    untold: Mutex<Option<String>>,
}

struct At {
    index: usize,
    provider: Arc<dyn ModelProvider>,
}

impl Ladder {
    /// Starts with the first model that can be prepared and has not failed recently; with the first one if all have failed.
    ///
    /// # Errors
    /// No model can be prepared: the reason of the last one.
    pub async fn start(rungs: Vec<Rung>, cooling: Arc<Cooling>) -> Result<Self, String> {
        let mut complaint = "no model is named".to_owned();
        let is_warm = |rung: &Rung| !cooling.contains(&rung.name);
        let (warm, cold): (Vec<usize>, Vec<usize>) = (0..rungs.len()).partition(|index| is_warm(&rungs[*index]));
        for index in warm.into_iter().chain(cold) {
            match (rungs[index].make)().await {
                Ok(provider) => {
                    let model = provider.info().model;
                    let untold = (index > 0).then(|| match complaint.as_str() {
                        "no model is named" => format!("`{}` failed just now; {model} answers.", rungs[0].name),
                        _ => format!("{complaint}; {model} answers."),
                    });
                    let (at, untold) = (Mutex::new(At { index, provider }), Mutex::new(untold));
                    return Ok(Self { shared: Arc::new(Shared { rungs, cooling, at, untold }) });
                }
                Err(error) => complaint = error,
            }
        }
        Err(complaint)
    }

    /// The current profile.
    #[must_use]
    pub fn profile(&self) -> String {
        let index = locked(&self.shared.at).index;
        self.shared.rungs[index].name.clone()
    }

    /// Replaces a model without progress by one of a higher tier, if there is one. Returns its name and that of the one before.
    pub async fn escalate(&self) -> Option<(String, String)> {
        let before = self.info().model;
        let tier = self.shared.rungs[locked(&self.shared.at).index].tier;
        self.shared.climb(|rung| rung.tier > tier).await?;
        Some((before, self.info().model))
    }
}

impl Shared {
    fn current(&self) -> Arc<dyn ModelProvider> {
        Arc::clone(&locked(&self.at).provider)
    }

    /// Takes the next wanted model that has not failed recently and can be prepared.
    async fn climb(&self, is_wanted: impl Fn(&Rung) -> bool) -> Option<()> {
        let from = locked(&self.at).index;
        let rest = self.rungs.iter().enumerate().skip(from + 1);
        for (index, rung) in rest.filter(|(_, rung)| is_wanted(rung) && !self.cooling.contains(&rung.name)) {
            match (rung.make)().await {
                Ok(provider) => {
                    *locked(&self.at) = At { index, provider };
                    return Some(());
                }
                Err(message) => tracing::warn!(profile = rung.name, message, "this model cannot take over"),
            }
        }
        None
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether another service may answer after this error. A fault of the request would be one there, too.
fn may_differ_elsewhere(kind: Kind) -> bool {
    match kind {
        Kind::Auth
        | Kind::Billing
        | Kind::ModelNotFound
        | Kind::RateLimit
        | Kind::Overloaded
        | Kind::Server
        | Kind::Network
        | Kind::Timeout => true,
        Kind::ToolUseFailed | Kind::ContextOverflow | Kind::InvalidRequest | Kind::Protocol | Kind::EmptyAnswer => {
            false
        }
    }
}

impl ModelProvider for Ladder {
    fn info(&self) -> ModelInfo {
        self.shared.current().info()
    }

    fn service(&self) -> ModelService {
        self.shared.current().service()
    }

    fn stream(&self, request: ModelRequest) -> BoxStream<'static, ModelEvent> {
        let shared = Arc::clone(&self.shared);
        let queue = locked(&shared.untold).take().map(ModelEvent::Notice).into_iter().collect();
        let answer = shared.current().stream(request.clone());
        let attempt = Attempt { shared, request, answer, queue, usage: None, has_shown: false };
        stream::unfold(attempt, |attempt| attempt.next().boxed()).boxed()
    }
}

/// One request to the current model.
struct Attempt {
    shared: Arc<Shared>,
    request: ModelRequest,
    answer: BoxStream<'static, ModelEvent>,
    queue: VecDeque<ModelEvent>,
    /// Tokens that are not passed on yet: after a fallback they would be booked on another model.
    usage: Option<TokenUsage>,
    has_shown: bool,
}

impl Attempt {
    async fn next(mut self) -> Option<(ModelEvent, Self)> {
        loop {
            if let Some(event) = self.queue.pop_front() {
                return Some((event, self));
            }
            match self.answer.next().await? {
                ModelEvent::Usage(usage) => self.usage.get_or_insert_default().update(usage),
                ModelEvent::Failed(error) => self.failed(error).await,
                event => {
                    self.has_shown |= shows(&event);
                    if let ModelEvent::Retrying { discard_shown: true, .. } = &event {
                        self.has_shown = false;
                    }
                    self.pass_on(event);
                }
            }
        }
    }

    fn pass_on(&mut self, event: ModelEvent) {
        self.queue.extend(self.usage.take().map(ModelEvent::Usage));
        self.queue.push_back(event);
    }

    async fn failed(&mut self, error: ProviderError) {
        let is_elsewhere = may_differ_elsewhere(error.kind);
        if is_elsewhere {
            let index = locked(&self.shared.at).index;
            self.shared.cooling.failed(&self.shared.rungs[index].name);
        }
        if !is_elsewhere || self.shared.climb(|_| true).await.is_none() {
            return self.pass_on(ModelEvent::Failed(error));
        }
        let provider = self.shared.current();
        let reason = format!("{}; {} answers now.", error.message.trim_end_matches('.'), provider.info().model);
        self.queue.push_back(if self.has_shown {
            ModelEvent::Retrying { reason, after: Duration::ZERO, discard_shown: true }
        } else {
            ModelEvent::Notice(reason)
        });
        (self.usage, self.has_shown) = (None, false);
        self.answer = provider.stream(self.request.clone());
    }
}

/// Whether the event makes part of the answer visible to the user or the turn.
fn shows(event: &ModelEvent) -> bool {
    matches!(
        event,
        ModelEvent::TextDelta(_)
            | ModelEvent::ReasoningDelta(_)
            | ModelEvent::RefusalDelta(_)
            | ModelEvent::ToolCallDone(_)
    )
}

#[cfg(test)]
#[path = "ladder_tests.rs"]
mod tests;
