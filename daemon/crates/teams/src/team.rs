//! The state that the subagents of one turn share.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU32, Ordering},
};

use cohab_model_api::TokenUsage;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Most subagents of a question that work at the same time; those that they order come on top.
pub const MAX_AT_ONCE: usize = 8;
/// Most subagents that a question may start, over all depths.
pub const MAX_OF_TURN: u32 = 32;
/// The depth of the deepest subagent: those of the user's turn have depth 1.
pub const MAX_DEPTH: u32 = 2;

/// Numbers, limits and usage of the subagents of one turn and of theirs.
#[derive(Clone)]
pub struct Team {
    shared: Arc<Shared>,
    depth: u32,
    /// What the members of this depth took since it was asked last.
    spent: Arc<Mutex<TokenUsage>>,
}

struct Shared {
    places: Arc<Semaphore>,
    started: AtomicU32,
}

/// A member's place. Others wait while all places are taken.
pub struct MemberPlace {
    /// Its number in the turn, from 1.
    pub number: u32,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Default for Team {
    fn default() -> Self {
        let shared = Shared { places: Arc::new(Semaphore::new(MAX_AT_ONCE)), started: AtomicU32::new(0) };
        Self { shared: Arc::new(shared), depth: 0, spent: Arc::default() }
    }
}

impl Team {
    /// Whether a member of this depth may order subagents.
    #[must_use]
    pub fn may_order(&self) -> bool {
        self.depth < MAX_DEPTH
    }

    /// The team as a member sees it that works for this one.
    #[must_use]
    pub fn below(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), depth: self.depth + 1, spent: Arc::default() }
    }

    /// Waits for a place. A member of a member needs none of its own: the one that ordered it waits meanwhile.
    ///
    /// # Errors
    /// The question has started too many already; the text is for the model.
    pub async fn place(&self) -> Result<MemberPlace, String> {
        if !self.may_order() {
            return Err("a subagent's subagent cannot order another one: do it yourself".to_owned());
        }
        let number = self.shared.started.fetch_add(1, Ordering::Relaxed) + 1;
        if number > MAX_OF_TURN {
            return Err(format!(
                "this question has started {MAX_OF_TURN} subagents, which is the most: do the rest yourself"
            ));
        }
        let permit = match self.depth {
            0 => Arc::clone(&self.shared.places).acquire_owned().await.ok(),
            _ => None,
        };
        Ok(MemberPlace { number, _permit: permit })
    }

    /// Adds what a member took.
    pub fn spend(&self, usage: TokenUsage) {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner).add(usage);
    }

    /// What members took since this was asked last.
    #[must_use]
    pub fn take_spent(&self) -> TokenUsage {
        std::mem::take(&mut self.spent.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn as_many_as_have_a_place_work_at_once_and_the_next_one_waits() {
        let team = Team::default();
        let mut places = Vec::new();
        for _ in 0..MAX_AT_ONCE {
            places.push(team.place().await.unwrap());
        }
        assert_eq!(places.last().unwrap().number, 8);
        assert!(timeout(Duration::from_secs(1), team.place()).await.is_err(), "all places are taken");
        places.pop();
        assert_eq!(team.place().await.unwrap().number, 10, "the one that gave up has had the number 9");
    }

    #[tokio::test]
    async fn depth_and_number_are_bounded() {
        let team = Team::default();
        assert!(team.below().place().await.is_ok());
        assert!(team.below().below().place().await.is_err(), "depth 3");
        for _ in 0..40 {
            let _ = team.below().place().await;
        }
        assert!(team.place().await.is_err_and(|error| error.contains("32 subagents")));
    }

    #[test]
    fn what_members_took_is_handed_over_once() {
        let team = Team::default();
        team.spend(TokenUsage { input: Some(3), ..TokenUsage::default() });
        team.spend(TokenUsage { input: Some(4), output: Some(1), ..TokenUsage::default() });
        assert_eq!(team.take_spent(), TokenUsage { input: Some(7), output: Some(1), ..TokenUsage::default() });
        assert_eq!(team.take_spent(), TokenUsage::default());
    }
}
