//! Shortens the conversation in the middle of a turn when it grows too long for the model, and informs the user.

use std::{
    ops::ControlFlow,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use async_trait::async_trait;
use cohab_agent::{
    Middleware, TurnResult, TurnState,
    completion::Account,
    plan::StepKind,
    port::{Activity, EventSink, StepResult, TurnEvent},
};
use cohab_config::ContextSettings;
use cohab_context::{
    analysis::analyse,
    compaction::{Compactor, Shortened, tokens},
    elision::{Target, counted},
};
use cohab_model_api::TokenUsage;
use cohab_protocol::amount;
use tokio::time::Instant;

use super::model_capacity::Window;
use crate::recording::TurnRecorder;

/// Model calls after a compaction without another one: everything removable is gone.
const CALLS_BETWEEN: u32 = 3;

/// Shortens the conversation of one turn.
pub struct Compaction {
    /// The strategy.
    pub compactor: Arc<dyn Compactor>,
    /// The model's context.
    pub window: Arc<Window>,
    /// The settings for when to shorten.
    pub settings: ContextSettings,
    /// Estimate of the request without the conversation.
    pub beside_tokens: u64,
    /// The usage of summaries.
    pub spent: Spent,
    /// Informs the user.
    pub sink: Arc<dyn EventSink>,
    /// Records the compaction.
    pub recorder: Arc<TurnRecorder>,
    /// Number of the model call before the last compaction; 0 for none.
    pub last_call: AtomicU32,
}

/// The usage of model calls outside of the turn, until it is added to it.
#[derive(Clone, Default)]
pub struct Spent(Arc<Mutex<Option<TokenUsage>>>);

impl Spent {
    /// Accounts with `inner`, and here.
    #[must_use]
    pub fn account(&self, inner: Account) -> Account {
        let spent = self.clone();
        Arc::new(move |usage: &mut TokenUsage| {
            inner(usage);
            let mut sum = spent.0.lock().unwrap_or_else(PoisonError::into_inner);
            sum.get_or_insert_default().add(*usage);
        })
    }

    /// The usage so far.
    #[must_use]
    pub fn look(&self) -> Option<TokenUsage> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The usage that was not added yet.
    #[must_use]
    pub fn take(&self) -> Option<TokenUsage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Compaction {
    /// The target for the conversation before the next model call. Before the first call of a turn only a conversation that would not
    /// fit is shortened: an answer should not wait.
    fn due(&self, state: &TurnState) -> Option<Target> {
        let ContextSettings { compact_at_percent, compact_over_messages, keep_messages, .. } = self.settings;
        let messages = state.messages();
        let analysis = analyse(&self.window.capacity(), self.beside_tokens, tokens(messages));
        let (calls, last) = (state.model_calls(), self.last_call.load(Ordering::Relaxed));
        if last > 0 && calls < last + CALLS_BETWEEN {
            return None;
        }
        let has_begun = calls > 0;
        let is_full = !analysis.fits || has_begun && analysis.percent >= compact_at_percent;
        let is_long = has_begun && compact_over_messages > 0 && counted(messages) > compact_over_messages;
        if !is_full && !is_long {
            return None;
        }
        // Far enough below the threshold, or the next call would shorten again.
        let percent = if is_full { compact_at_percent * 2 / 3 } else { compact_at_percent };
        let most = match compact_over_messages {
            0 => usize::MAX,
            most if is_long => keep_messages.min(most),
            most => most,
        };
        let factor = self.window.capacity().factor;
        Some(Target { tokens: (analysis.messages_at(percent) as f64 / factor) as u64, messages: most })
    }
}

#[async_trait]
impl Middleware for Compaction {
    async fn before_step(&self, step: StepKind, state: &mut TurnState) -> ControlFlow<TurnResult> {
        let target = matches!(step, StepKind::ModelCall { .. }).then(|| self.due(state)).flatten();
        let Some(target) = target else { return ControlFlow::Continue(()) };
        let (step, started) = (state.number_step(), Instant::now());
        self.sink.emit(TurnEvent::StepStarted { step, activity: Activity::Compaction }).await;
        let shortened = self.compactor.shorten(state.messages(), target).await;
        let usage = self.spent.take();
        usage.into_iter().for_each(|usage| state.spend(usage));
        let Shortened { summary, dropped, shortened: results, messages, .. } = &shortened;
        let has_changed = dropped + results > 0;
        if has_changed {
            self.recorder.compacted(summary.as_deref(), *dropped, messages.len(), usage.as_ref());
        }
        let (outcome, elapsed) = (StepResult::Done, started.elapsed());
        self.sink
            .emit(TurnEvent::StepFinished {
                step,
                outcome,
                summary: String::new(),
                elapsed,
                detail: None,
                only_reads: true,
            })
            .await;
        // A compaction before the first model call counts as one before the second: 0 means none.
        self.last_call.store(state.model_calls().max(1), Ordering::Relaxed);
        // Where nothing can be dropped, long texts lose their middle in the request only.
        if has_changed {
            let notice = notice(&shortened, tokens(state.messages()));
            state.rewrite(shortened.messages);
            self.sink.emit(TurnEvent::Notice(notice)).await;
        }
        ControlFlow::Continue(())
    }
}

/// The notice to the user, one line.
fn notice(shortened: &Shortened, before: u64) -> String {
    let Shortened { messages, dropped, shortened, summary, trouble } = shortened;
    let fate = if summary.is_some() { "summarized" } else { "left out" };
    let what = match dropped {
        0 => None,
        1 => Some(format!("1 earlier message was {fate}")),
        more => Some(format!("{more} earlier messages were {fate}")),
    };
    let outputs = match shortened {
        0 => None,
        1 => Some("the output of 1 step was left out".to_owned()),
        more => Some(format!("the outputs of {more} steps were left out")),
    };
    let what: Vec<String> = what.into_iter().chain(outputs).collect();
    let what = what.join(", ");
    let why = trouble
        .as_ref()
        .map_or(String::new(), |trouble| format!("; not summarized: {}", trouble.trim_end_matches('.')));
    let (before, after) = (amount::count(before), amount::count(tokens(messages)));
    format!("The conversation grew long: {what} (now about {after} tokens, before {before}){why}.")
}

#[cfg(test)]
#[path = "compaction_tests.rs"]
mod tests;
