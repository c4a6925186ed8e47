//! Handles a failed attempt: another attempt at once, in another form or after a wait, or the end.

use std::{collections::BTreeSet, time::Duration};

use cohab_model_api::{ModelEvent, Overflow, ProviderError, ProviderErrorKind, StopClass};
use cohab_text::tokens::estimate_tokens;
use cohab_wires::wire::Quirk;
use reqwest::Url;
use serde_json::Value;

use super::{Exchange, Next, Once};
use crate::retry::{Failure, RetryDecision, verdict};

/// A prompt that fills more of the window than this, in percent, is the likely reason of a repeated "too many requests".
const CROWDED_PERCENT: u64 = 80;

impl Exchange {
    /// `cut`: the answer has no end, one sentence.
    pub(super) async fn after_failure(&mut self, mut failure: Failure, cut: Option<String>) -> Next {
        if let Some(words) = self.words_of_refusal(&failure) {
            self.outlet.send(ModelEvent::RefusalDelta(words)).await;
            return Next::Done(ModelEvent::Stop { class: StopClass::Refusal, provider_data: None });
        }
        if !self.outlet.has_shown
            && (self.learn(&failure).await || self.lower_cap(&failure) || self.is_first_stale(&failure))
        {
            return Next::Again;
        }
        if self.is_too_long(&failure) {
            failure = self.service.subject.overflowed(Overflow::default()).into();
        }
        let give_up = |mut error: ProviderError, wait: Option<Duration>| {
            error.retry_after = wait.or(error.retry_after);
            // An answer that never began leaves nothing to keep: then it is a failure like any other.
            let cut = cut.filter(|_| self.outlet.has_shown);
            Next::Done(cut.map_or(ModelEvent::Failed(error), |reason| ModelEvent::Incomplete { reason }))
        };
        if self.outlet.has_shown && (self.done.contains(&Once::RetryShown) || !self.may_discard()) {
            return give_up(failure.error, None);
        }
        match verdict(&failure, self.tries, self.service.retries, self.service.pace.jitter()) {
            RetryDecision::Final => give_up(failure.error, None),
            RetryDecision::NotNow(wait) => {
                let hint = format!("the service accepts no requests now: ask again in {}", in_words(wait));
                give_up(ProviderError { hint: Some(hint), ..failure.error }, Some(wait))
            }
            RetryDecision::Again(wait) => {
                self.wait(failure.error, wait).await;
                Next::Again
            }
        }
    }

    async fn wait(&mut self, error: ProviderError, wait: Duration) {
        tracing::info!(kind = ?error.kind, ?wait, host = self.service.subject.host, "request failed; trying again");
        self.tries += 1;
        if self.outlet.has_shown {
            self.done.insert(Once::RetryShown);
        }
        if error.kind == ProviderErrorKind::RateLimit {
            self.done.insert(Once::WaitForRate);
        }
        self.announce(error.message, wait).await;
        self.service.pace.sleep(wait).await;
    }

    /// The words of a filter that did not pass the question on to the model.
    fn words_of_refusal(&self, failure: &Failure) -> Option<String> {
        let body = failure.body.as_ref().filter(|body| body.is_refusal() && !self.outlet.has_shown)?;
        let words = self.service.subject.words_of(body);
        Some(if words.is_empty() { "The service refused the question.".to_owned() } else { words })
    }

    /// Whether the service refused a feature that can be avoided from now on.
    async fn learn(&mut self, failure: &Failure) -> bool {
        let Some(quirk) = failure.body.as_ref().and_then(|body| self.service.wire.remedy(body)) else { return false };
        let mut quirks = self.service.quirks();
        quirks.insert(quirk);
        // A request that was refused in this very form is not sent again.
        if self.form(&quirks) == self.form(&self.sent_quirks) {
            return false;
        }
        self.service.learn(quirk);
        let host = &self.service.subject.host;
        tracing::info!(?quirk, host, "the service refused a request; later requests use another form");
        if let Some(notice) = self.notice_of(quirk) {
            self.tell_once(notice).await;
        }
        true
    }

    /// Address and body of the request with these deviations.
    fn form(&self, quirks: &BTreeSet<Quirk>) -> (Url, Value) {
        let options = self.options(quirks);
        (self.service.wire.url(&self.service.base, &options), self.service.wire.body(&self.request, &options))
    }

    /// The notice about a feature that the user pays for and does not get. A missing feature that the user asked for is reported with
    /// each answer.
    fn notice_of(&self, quirk: Quirk) -> Option<String> {
        let model = &self.service.info.model;
        (quirk == Quirk::NoCacheControl)
            .then(|| format!("{model} does not support cache marks; each question is read in full"))
    }

    /// Whether a shorter answer is all that the service requires.
    fn lower_cap(&mut self, failure: &Failure) -> bool {
        let Some(body) = &failure.body else { return false };
        let (longest, room) = (body.longest_answer_tokens(), body.answer_room_tokens());
        let Some(cap) = longest.or(room).filter(|_| self.is_first(Once::LowerCap)) else { return false };
        if let Some(longest) = longest {
            self.service.bound(longest);
        }
        tracing::info!(
            cap,
            host = self.service.subject.host,
            "the requested answer is too long; asking for a shorter one"
        );
        self.cap_tokens =
            Some(self.cap_tokens.or(self.service.max_output_tokens).map_or(cap, |before| before.min(cap)));
        true
    }

    fn is_first_stale(&mut self, failure: &Failure) -> bool {
        failure.is_stale && self.is_first(Once::RetryStale)
    }

    /// Some services say "too many requests" about a prompt that is too long. No wait helps then.
    fn is_too_long(&self, failure: &Failure) -> bool {
        let Some(window) = self.service.context_window_tokens else { return false };
        if failure.error.kind != ProviderErrorKind::RateLimit {
            return false;
        }
        let (_, body) = self.form(&self.sent_quirks);
        let prompt = text_tokens(&body);
        let is_repeated = self.done.contains(&Once::WaitForRate);
        prompt > window || (is_repeated && prompt.saturating_mul(100) > window.saturating_mul(CROWDED_PERCENT))
    }
}

/// Tokens of all texts in a request.
fn text_tokens(body: &Value) -> u64 {
    match body {
        Value::String(text) => estimate_tokens(text),
        Value::Array(items) => items.iter().map(text_tokens).sum(),
        Value::Object(fields) => fields.values().map(text_tokens).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn in_words(wait: Duration) -> String {
    let minutes = wait.as_secs().div_ceil(60);
    if minutes < 120 { format!("{minutes} minutes") } else { format!("{} hours", minutes.div_ceil(60)) }
}
