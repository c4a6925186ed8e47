//! Decides the retry of a failed request and its delay. Pure, except for [`SystemPace`].

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::Duration,
};

use cohab_model_api::{ProviderError, ProviderErrorKind};
use cohab_wires::error::ErrorBody;
use futures::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::HeaderMap;

/// Retries without a setting.
pub(crate) const DEFAULT_RETRIES: u32 = 2;
/// A longer wait is reported to the user, not slept.
const MAX_WAIT: Duration = Duration::from_secs(120);
const MAX_BACKOFF_S: f64 = 8.0;
const FIRST_BACKOFF_S: f64 = 0.5;
const FIRST_BACKOFF_OVERLOADED_S: f64 = 2.0;

/// A failed request.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    /// For the user.
    pub(crate) error: ProviderError,
    /// The service's report, if there was one.
    pub(crate) body: Option<ErrorBody>,
    /// The service's own hint on trying again.
    pub(crate) should_retry: Option<bool>,
    /// The connection died before any byte of the answer; usually one that was idle too long.
    pub(crate) is_stale: bool,
}

impl From<ProviderError> for Failure {
    fn from(error: ProviderError) -> Self {
        Self { error, body: None, should_retry: None, is_stale: false }
    }
}

/// The action after a failure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RetryDecision {
    /// Try again after this wait.
    Again(Duration),
    /// Another try would help, but only after this long.
    NotNow(Duration),
    /// Give up.
    Final,
}

/// Judges a failure after `tries` repetitions of at most `max_tries`. `jitter` is in 0..1.
pub(crate) fn verdict(failure: &Failure, tries: u32, max_tries: u32, jitter: f64) -> RetryDecision {
    let kind = failure.error.kind;
    if !failure.should_retry.unwrap_or_else(|| kind.is_retryable()) {
        return RetryDecision::Final;
    }
    match failure.error.retry_after.filter(|wait| !wait.is_zero()) {
        // Reported even when there is no try left.
        Some(wait) if wait > MAX_WAIT => RetryDecision::NotNow(wait),
        _ if tries >= max_tries => RetryDecision::Final,
        Some(wait) => RetryDecision::Again(wait),
        None => RetryDecision::Again(backoff(kind, tries, jitter)),
    }
}

fn backoff(kind: ProviderErrorKind, tries: u32, jitter: f64) -> Duration {
    let first = if kind == ProviderErrorKind::Overloaded { FIRST_BACKOFF_OVERLOADED_S } else { FIRST_BACKOFF_S };
    let seconds = (first * f64::from(1_u32 << tries.min(16))).min(MAX_BACKOFF_S);
    Duration::from_secs_f64(seconds * (0.75 + 0.25 * jitter.clamp(0.0, 1.0)))
}

/// The wait that a service asks for: milliseconds, seconds or a date. Zero and garbage count as none.
pub(crate) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    let number =
        |text: &str, unit_s: f64| text.parse::<f64>().ok().and_then(|n| Duration::try_from_secs_f64(n * unit_s).ok());
    let date = |text: &str| {
        let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
        Duration::try_from(until.duration_since(now)).ok()
    };
    let wait = text("retry-after-ms").and_then(|text| number(text, 0.001)).filter(|wait| !wait.is_zero());
    wait.or_else(|| text("retry-after").and_then(|text| number(text, 1.0).or_else(|| date(text))))
        .filter(|wait| !wait.is_zero())
}

/// The service's hint in `x-should-retry`.
pub(crate) fn should_retry(headers: &HeaderMap) -> Option<bool> {
    match headers.get("x-should-retry")?.as_bytes() {
        b"true" => Some(true),
        b"false" => Some(false),
        _ => None,
    }
}

/// Time and chance, as far as waiting depends on them.
pub(crate) trait Pace: Send + Sync {
    /// The time of day.
    fn now(&self) -> Timestamp;
    /// A number in 0..1.
    fn jitter(&self) -> f64;
    /// Waits.
    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()>;
}

/// Real time and chance.
pub(crate) struct SystemPace;

impl Pace for SystemPace {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn jitter(&self) -> f64 {
        let random = RandomState::new().build_hasher().finish();
        f64::from((random >> 32) as u32) / f64::from(u32::MAX)
    }

    fn sleep(&self, wait: Duration) -> BoxFuture<'static, ()> {
        Box::pin(tokio::time::sleep(wait))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn failure(kind: ProviderErrorKind, retry_after: Option<Duration>) -> Failure {
        ProviderError { kind, message: "m".to_owned(), hint: None, retry_after, overflow: None }.into()
    }

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_str(value).expect("a header")))
            .collect()
    }

    fn now() -> Timestamp {
        "2015-10-21T07:27:30Z".parse().expect("a time")
    }

    #[test]
    fn backoff_doubles_between_three_quarters_and_all_of_it() {
        let wait = |kind, tries, jitter| verdict(&failure(kind, None), tries, 9, jitter);
        let ms = |ms| RetryDecision::Again(Duration::from_millis(ms));
        assert_eq!(wait(ProviderErrorKind::Server, 0, 0.0), ms(375));
        assert_eq!(wait(ProviderErrorKind::Server, 0, 1.0), ms(500));
        assert_eq!(wait(ProviderErrorKind::RateLimit, 1, 1.0), ms(1000));
        assert_eq!(wait(ProviderErrorKind::Network, 8, 1.0), ms(8000));
        assert_eq!(wait(ProviderErrorKind::Overloaded, 0, 0.0), ms(1500));
    }

    #[test]
    fn a_service_s_wish_is_kept_up_to_two_minutes() {
        let wish =
            |seconds| verdict(&failure(ProviderErrorKind::RateLimit, Some(Duration::from_secs(seconds))), 0, 2, 1.0);
        assert_eq!(wish(2), RetryDecision::Again(Duration::from_secs(2)));
        assert_eq!(wish(0), RetryDecision::Again(Duration::from_millis(500)));
        assert_eq!(wish(3600), RetryDecision::NotNow(Duration::from_secs(3600)));
        let late = failure(ProviderErrorKind::RateLimit, Some(Duration::from_secs(3600)));
        assert_eq!(verdict(&late, 2, 2, 1.0), RetryDecision::NotNow(Duration::from_secs(3600)));
    }

    #[test]
    fn the_service_s_word_beats_the_class_and_the_count_beats_both() {
        let mut rate_limit = failure(ProviderErrorKind::RateLimit, None);
        rate_limit.should_retry = Some(false);
        assert_eq!(verdict(&rate_limit, 0, 2, 1.0), RetryDecision::Final);
        let mut invalid = failure(ProviderErrorKind::InvalidRequest, None);
        assert_eq!(verdict(&invalid, 0, 2, 1.0), RetryDecision::Final);
        invalid.should_retry = Some(true);
        assert_eq!(verdict(&invalid, 0, 2, 1.0), RetryDecision::Again(Duration::from_millis(500)));
        assert_eq!(verdict(&invalid, 2, 2, 1.0), RetryDecision::Final);
    }

    #[test]
    fn waits_are_read_from_all_three_forms() {
        let read = |pairs: &[(&'static str, &str)]| retry_after(&headers(pairs), now());
        assert_eq!(read(&[("retry-after", "2")]), Some(Duration::from_secs(2)));
        assert_eq!(read(&[("retry-after", "1.5")]), Some(Duration::from_millis(1500)));
        assert_eq!(read(&[("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT")]), Some(Duration::from_secs(30)));
        assert_eq!(read(&[("retry-after-ms", "300"), ("retry-after", "9")]), Some(Duration::from_millis(300)));
        assert_eq!(read(&[("retry-after-ms", "0"), ("retry-after", "9")]), Some(Duration::from_secs(9)));
        for garbage in ["0", "-1", "soon", "NaN", "inf", "1e400", "Wed, 21 Oct 2015 07:27:00 GMT", ""] {
            assert_eq!(read(&[("retry-after", garbage)]), None, "{garbage}");
        }
    }

    #[test]
    fn chance_stays_in_its_range() {
        assert!((0..100).all(|_| (0.0..=1.0).contains(&SystemPace.jitter())));
    }

    proptest! {
        #[test]
        fn any_header_gives_a_wait_or_none(text in "[ -~]{0,40}") {
            let _ = retry_after(&headers(&[("retry-after", &text), ("retry-after-ms", &text)]), now());
        }
    }
}
