//! The response cache repeats an answer to the same question in the same conversation, by the same model, about the same files. It is
//! in memory only, and pure except for [`places`].

pub mod places;
pub mod question;

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Lifetime of an answer.
pub const KEEP: Duration = Duration::from_secs(3_600);
/// Answers that are kept; the oldest goes first.
pub const MAX_ENTRIES: usize = 500;
/// Longest answer that is kept, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;

/// The facts that must be equal for an answer to be repeated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CacheKey {
    /// The question, as [`question::normalised`] writes it.
    pub question: String,
    /// Wire and name of the model.
    pub model: String,
    /// Name of the session.
    pub session: String,
    /// Fingerprint of the user's commands in the shell.
    pub history: u64,
    /// Fingerprint of the model's texts besides question and history: instructions, skills, notes, tasks, tone.
    pub told: u64,
    /// Fingerprint of folder, repository and the files that the question names.
    pub places: u64,
}

struct CachedAnswer {
    key: CacheKey,
    answer: String,
    since: Instant,
    /// Length of the conversation when the answer was last repeated, in messages.
    given_at: Option<usize>,
}

/// A repeated answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Its text.
    pub answer: String,
    /// Its age.
    pub age: Duration,
}

/// The answers.
#[derive(Default)]
pub struct ResponseCache(Mutex<VecDeque<CachedAnswer>>);

impl ResponseCache {
    /// The answer to this question, asked now in a conversation of `length` messages. `is_known` reports whether an answer is still
    /// part of that conversation. A question that is repeated at the same place wants a new answer.
    pub fn find(&self, key: &CacheKey, length: usize, is_known: impl Fn(&str) -> bool) -> Option<Hit> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.since.elapsed() < KEEP);
        let entry = entries.iter_mut().find(|entry| entry.key == *key)?;
        if entry.given_at == Some(length) || !is_known(&entry.answer) {
            return None;
        }
        entry.given_at = Some(length);
        Some(Hit { answer: entry.answer.clone(), age: entry.since.elapsed() })
    }

    /// Keeps an answer in the place of an older one.
    pub fn keep(&self, key: CacheKey, answer: String) {
        if answer.trim().is_empty() || answer.len() > MAX_ANSWER_BYTES {
            return;
        }
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.key != key);
        if entries.len() == MAX_ENTRIES {
            entries.pop_front();
        }
        entries.push_back(CachedAnswer { key, answer, since: Instant::now(), given_at: None });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(question: &str) -> CacheKey {
        CacheKey { question: question.into(), model: "m".into(), session: "s".into(), history: 1, told: 3, places: 2 }
    }

    fn found(cache: &ResponseCache, key: &CacheKey, length: usize) -> Option<String> {
        cache.find(key, length, |_| true).map(|hit| hit.answer)
    }

    #[tokio::test(start_paused = true)]
    async fn only_the_same_question_about_the_same_things_hits_and_only_for_an_hour() {
        let cache = ResponseCache::default();
        cache.keep(key("a"), "one".into());
        assert_eq!(found(&cache, &key("a"), 3).as_deref(), Some("one"));
        for other in [
            key("b"),
            CacheKey { model: "n".into(), ..key("a") },
            CacheKey { session: "t".into(), ..key("a") },
            CacheKey { history: 9, ..key("a") },
            CacheKey { told: 9, ..key("a") },
            CacheKey { places: 9, ..key("a") },
        ] {
            assert_eq!(found(&cache, &other, 5), None, "{other:?}");
        }
        assert_eq!(cache.find(&key("a"), 5, |_| false), None, "it is no part of the conversation");
        tokio::time::advance(KEEP).await;
        assert_eq!(found(&cache, &key("a"), 5), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_that_is_asked_again_at_the_same_place_wants_another_answer() {
        let cache = ResponseCache::default();
        cache.keep(key("a"), "one".into());
        assert!(found(&cache, &key("a"), 3).is_some());
        assert_eq!(found(&cache, &key("a"), 3), None);
        cache.keep(key("a"), "two".into());
        assert_eq!(found(&cache, &key("a"), 5).as_deref(), Some("two"));
    }

    #[tokio::test]
    async fn what_is_kept_is_bounded() {
        let cache = ResponseCache::default();
        for n in 0..=MAX_ENTRIES {
            cache.keep(key(&n.to_string()), "x".into());
        }
        assert_eq!(found(&cache, &key("0"), 1), None);
        assert!(found(&cache, &key("1"), 1).is_some());
        cache.keep(key("long"), "x".repeat(MAX_ANSWER_BYTES + 1));
        assert_eq!(found(&cache, &key("long"), 1), None);
    }
}
