//! A chain of models, of which one answers. The next model takes over when a service fails in a way that another one may not, or
//! when the model that answers gets nowhere.
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
    Escalate, ModelEvent, ModelInfo, ModelProvider, ModelRequest, ModelService, ProviderError,
    ProviderErrorKind as Kind, TokenUsage,
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

/// One of the models.
pub struct Candidate {
    /// Its profile.
    pub name: String,
    /// Its tier.
    pub tier: Tier,
    /// Prepares it, when it is needed.
    pub make: Make,
}

/// The last failure of each profile, over all turns.
#[derive(Default)]
pub struct Cooldowns(Mutex<HashMap<String, Instant>>);

impl Cooldowns {
    fn failed(&self, name: &str) {
        locked(&self.0).insert(name.to_owned(), Instant::now());
    }

    fn contains(&self, name: &str) -> bool {
        locked(&self.0).get(name).is_some_and(|since| since.elapsed() < COOL_DOWN)
    }
}

/// The models of one turn.
pub struct FallbackChain {
    shared: Arc<Shared>,
}

struct Shared {
    candidates: Vec<Candidate>,
    cooldowns: Arc<Cooldowns>,
    at: Mutex<At>,
    /// The notice to the user that comes with the next answer.
    untold: Mutex<Option<String>>,
}

struct At {
    index: usize,
    provider: Arc<dyn ModelProvider>,
}

impl FallbackChain {
    /// Begins with the first model that can be got ready and has not failed just now; with the first at all if all have.
    ///
    /// # Errors
    /// None can be got ready: why the last one cannot.
    pub async fn start(candidates: Vec<Candidate>, cooldowns: Arc<Cooldowns>) -> Result<Self, String> {
        let mut complaint = None;
        let is_warm = |candidate: &Candidate| !cooldowns.contains(&candidate.name);
        let (warm, cold): (Vec<usize>, Vec<usize>) =
            (0..candidates.len()).partition(|index| is_warm(&candidates[*index]));
        for index in warm.into_iter().chain(cold) {
            match (candidates[index].make)().await {
                Ok(provider) => {
                    let model = provider.info().model;
                    let untold = (index > 0).then(|| match complaint {
                        None => format!("`{}` failed just now; {model} answers.", candidates[0].name),
                        Some(complaint) => format!("{complaint}; {model} answers."),
                    });
                    let (at, untold) = (Mutex::new(At { index, provider }), Mutex::new(untold));
                    return Ok(Self { shared: Arc::new(Shared { candidates, cooldowns, at, untold }) });
                }
                Err(error) => complaint = Some(error),
            }
        }
        Err(complaint.unwrap_or_else(|| "no model is named".to_owned()))
    }

    /// The current profile.
    #[must_use]
    pub fn profile(&self) -> String {
        let index = locked(&self.shared.at).index;
        self.shared.candidates[index].name.clone()
    }
}

impl Escalate for FallbackChain {
    fn escalate(&self) -> BoxFuture<'_, Option<(String, String)>> {
        async {
            let before = self.info().model;
            let tier = self.shared.candidates[locked(&self.shared.at).index].tier;
            self.shared.climb(|candidate| candidate.tier > tier).await?;
            Some((before, self.info().model))
        }
        .boxed()
    }
}

impl Shared {
    fn current(&self) -> Arc<dyn ModelProvider> {
        Arc::clone(&locked(&self.at).provider)
    }

    /// Takes the next model that is wanted, has not failed just now and can be got ready.
    async fn climb(&self, is_wanted: impl Fn(&Candidate) -> bool) -> Option<()> {
        let from = locked(&self.at).index;
        let rest = self.candidates.iter().enumerate().skip(from + 1);
        for (index, candidate) in
            rest.filter(|(_, candidate)| is_wanted(candidate) && !self.cooldowns.contains(&candidate.name))
        {
            match (candidate.make)().await {
                Ok(provider) => {
                    *locked(&self.at) = At { index, provider };
                    return Some(());
                }
                Err(message) => tracing::warn!(profile = candidate.name, message, "this model cannot take over"),
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

impl ModelProvider for FallbackChain {
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
            self.shared.cooldowns.failed(&self.shared.candidates[index].name);
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
#[path = "fallback_tests.rs"]
mod tests;
