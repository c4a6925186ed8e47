//! Lets a model read finished turns again, behind an answer, for facts worth remembering. They go into the inbox.
//!
//! A pass is one request. Where it stopped is stored once its facts are, so that a daemon that was killed reads the same turns again: the
//! inbox holds the same proposal once. A service elsewhere gets only turns that it answered itself.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use cohab_agent::completion::Completion;
use cohab_config::consolidate::Consolidate;
use cohab_context::workspace::root_of;
use cohab_guard::pipeline::instructions;
use cohab_memory::{
    consolidation::episodes::{Episodes, MAX_EPISODES, PROMPT, is_due},
    inbox::{Inbox as _, NewProposal},
    past::{record::PastTurn, store::PastStore as _},
};
use cohab_model_api::{Message, ModelRequest, ModelService};
use cohab_models::resolution::Choice;
use cohab_protocol::Paths;
use cohab_runtime::middleware::budget::{Measured as _, Used};
use cohab_session::session::Session;
use cohab_store::{Database, StoreError, memory::SqliteMemory, past::SqlitePast};
use jiff::{Timestamp, ToSpan as _, Zoned};
use tokio::task::spawn_blocking;

use super::{Assembly, auxiliary_models::Summarizer};

/// Most bytes of turns that a request holds, and most per token of what the model takes.
const MAX_BYTES: usize = 24 * 1024;
const BYTES_PER_TOKEN: u64 = 2;
/// Longest answer that is read, in bytes.
const MAX_ANSWER_BYTES: usize = 8 * 1024;
/// Longest wait for the answer.
const ANSWER_WAIT: Duration = Duration::from_secs(60);

/// Turns that wait, and the services that each of them was sent to.
struct Waiting {
    turns: Vec<PastTurn>,
    services: HashMap<String, HashSet<String>>,
}

impl Assembly {
    /// Has a model read the turns that wait, if the settings say so and there are enough. One pass at a time.
    pub(super) async fn consolidate(&self, session: &Session) {
        let settings = self.past.settings();
        let Some(log) = self.past.log().filter(|_| settings.consolidate == Consolidate::Model) else { return };
        let Ok(_pass) = self.consolidating.try_lock() else { return };
        let Ok(resolved) = self.resolve(&session.variables()).await else { return };
        // A server that the user was not asked about is not used.
        let Choice::Ready(main) = &resolved.choice else { return };
        let day = self.parts.store.spent_on(Zoned::now().date());
        if main.info().is_offline || resolved.settings.guards.budget.exceeded(Used { day, ..Used::default() }).is_some()
        {
            return;
        }
        let (paths, store) = (self.paths.clone(), self.parts.store.clone());
        let waiting = spawn_blocking(move || {
            log.flush();
            store.flush();
            waiting(&paths, settings.look_back_hours, Timestamp::now())
        });
        let Ok(Ok(Some(waiting))) = waiting.await else { return };
        let pass = uuid::Uuid::now_v7().to_string();
        let model = self.summing(&resolved, main, session, pass).await;
        let service = model.provider.service();
        if model.provider.info().is_offline {
            return;
        }
        let bytes = usize::try_from(model.request_tokens * BYTES_PER_TOKEN).unwrap_or(MAX_BYTES).min(MAX_BYTES);
        let mark = uuid::Uuid::now_v7().simple().to_string();
        let episodes = Episodes::of(&waiting.turns, bytes, &mark, &|turn| waiting.may_go_to(&turn.turn, &service));
        let Some(last) = episodes.last else { return };
        let mut facts = Vec::new();
        if !episodes.text.is_empty() {
            match read(&model, &episodes.text).await {
                Ok(answer) => facts = episodes.facts(&answer, &|folder| root_of(folder, &self.parts.home)),
                // It is tried again behind a later turn.
                Err(reason) => return tracing::debug!(reason, "finished turns are not read again"),
            }
        }
        facts.retain(|fact| {
            instructions::find(&fact.what.key()).is_none() && !self.parts.secrets.are_in(&fact.what.key())
        });
        let paths = self.paths.clone();
        let kept = spawn_blocking(move || keep(&paths, &facts, last, Timestamp::now())).await;
        if let Ok(Err(error)) = kept {
            tracing::warn!(%error, "what a model proposes is not kept");
        }
    }
}

impl Waiting {
    /// Whether this service had the whole turn already, or is on this machine.
    fn may_go_to(&self, turn: &str, service: &ModelService) -> bool {
        let is_only = |hosts: &HashSet<String>| hosts.len() == 1 && hosts.contains(&service.host);
        service.is_local || self.services.get(turn).is_some_and(is_only)
    }
}

/// The turns that wait; `None` if it is not time to look at them. Blocks.
fn waiting(paths: &Paths, look_back_hours: u32, now: Timestamp) -> Result<Option<Waiting>, StoreError> {
    let since = now.checked_sub(i64::from(look_back_hours).hours()).unwrap_or(Timestamp::MIN);
    let past = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir())?;
    let turns = past.map(|past| past.unconsolidated(since, MAX_EPISODES)).transpose()?.unwrap_or_default();
    if !is_due(&turns, now) {
        return Ok(None);
    }
    let mut services = HashMap::<String, HashSet<String>>::new();
    if let Some(calls) = Database::open_existing(&paths.usage_file())? {
        calls.calls_since(since, |call| _ = services.entry(call.turn).or_default().insert(call.model.host))?;
    }
    Ok(Some(Waiting { turns, services }))
}

async fn read(model: &Summarizer, episodes: &str) -> Result<String, String> {
    let messages = vec![Message::user(episodes.to_owned())];
    let request = ModelRequest { system: PROMPT.to_owned(), allow_tools: false, ..ModelRequest::of(messages) };
    let completion = Completion {
        what: "list of facts",
        provider: model.provider.as_ref(),
        account: &model.account,
        max_bytes: MAX_ANSWER_BYTES,
        wait: ANSWER_WAIT,
    };
    completion.complete(request).await
}

/// Stores the facts, and then that the turns up to `last` have been read. Blocks.
fn keep(paths: &Paths, facts: &[NewProposal], last: u64, now: Timestamp) -> Result<(), StoreError> {
    if !facts.is_empty() {
        let mut inbox = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir())?;
        facts.iter().try_for_each(|fact| inbox.propose(fact, now).map(|_| ()))?;
    }
    let past = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir())?;
    past.map_or(Ok(()), |mut past| past.set_consolidated(last))
}

#[cfg(test)]
#[path = "consolidation_tests.rs"]
mod tests;
