//! The inbox of proposals: what the model and the commands of a project put into it, and the line that says that something waits.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cohab_agent::port::Tool;
use cohab_context::workspace::root_of;
use cohab_guard::taint::Taint;
use cohab_memory::{
    consolidation,
    inbox::{Inbox as _, NewProposal, Proposed},
    record::{Scope, Source},
};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_session::TurnParts;
use cohab_store::{StoreError, memory::SqliteMemory, past::SqlitePast};
use cohab_tools::{ProposeFact, ProposedFact};
use jiff::{Timestamp, Zoned, civil::Date};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use super::Assembly;

/// Trust of what a model wrote, at most.
const MODEL_TRUST: f64 = 0.7;
/// Time between two looks at the inbox for a project.
const LOOK_PAUSE: Duration = Duration::from_secs(10 * 60);
/// The end of a turn waits at most this long for the line.
const LINE_WAIT: Duration = Duration::from_millis(200);
/// Most projects of which the last look is known.
const MAX_PROJECTS: usize = 256;

/// When the inbox was looked at last, by root of the project, and on which day its commands were.
#[derive(Default)]
pub(super) struct Looks(Mutex<BTreeMap<PathBuf, (Instant, Date)>>);

impl Looks {
    /// Whether the inbox is to be looked at now, and its commands as well. Counts as a look.
    fn due(&self, root: &Path, now: Instant, today: Date) -> Option<bool> {
        let mut looks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = looks.get(root).copied();
        if last.is_some_and(|(at, _)| now.duration_since(at) < LOOK_PAUSE) {
            return None;
        }
        if looks.len() >= MAX_PROJECTS {
            looks.clear();
        }
        looks.insert(root.to_owned(), (now, today));
        Some(last.is_none_or(|(_, day)| day != today))
    }
}

impl Assembly {
    /// The tools of the memory, unless it is off. In a private turn nothing is proposed.
    pub(super) fn memory_tools(&self, parts: Option<&TurnParts>) -> Vec<Arc<dyn Tool>> {
        let Some(search) = self.memory_search() else { return Vec::new() };
        let propose: Option<ProposeFact> = match parts {
            None => Some(Arc::new(|_, _| Ok(false))),
            Some(parts) if parts.memory.is_private => None,
            Some(parts) => Some(self.proposing(parts)),
        };
        [search].into_iter().chain(propose.map(cohab_tools::memory_propose)).collect()
    }

    fn proposing(&self, parts: &TurnParts) -> ProposeFact {
        let (paths, home) = (self.paths.clone(), self.parts.home.clone());
        let (secrets, taint) = (Arc::clone(&self.parts.secrets), parts.memory.consents.taint().clone());
        let source = Source::Turn(parts.turn_id.to_string());
        Arc::new(move |fact, folder| {
            let new = proposal(fact, folder, &home, &taint, source.clone());
            if holds_secret(&new, &secrets) {
                return Err("the text holds a secret: propose where it is kept, not the secret itself".to_owned());
            }
            let stored = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir())
                .and_then(|mut store| store.propose(&new, Timestamp::now()));
            stored.map(|id| id.is_some()).map_err(|error| format!("the inbox cannot be written: {error}"))
        })
    }

    /// The line that proposals wait, at most once a day. Puts into the inbox what the commands of the project speak for, once a day; nobody waits for
    /// that.
    pub(super) async fn waiting_line(&self, folder: &Path) -> Option<String> {
        self.past.log()?;
        let (paths, now) = (self.paths.clone(), Zoned::now());
        let folder = folder.to_owned();
        let root = root_of(&folder, &self.parts.home);
        let reads_commands = self.looks.due(&root, Instant::now(), now.date())?;
        let (send, line) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let count = waiting(&paths, &folder, now.timestamp());
            if let Ok(count) = count.inspect_err(|error| tracing::warn!(%error, "the inbox cannot be read")) {
                // Nobody may wait for it any more.
                let _ = send.send(count);
            }
            if reads_commands && let Err(error) = consolidate(&paths, &root, &now) {
                tracing::warn!(%error, "what was done cannot be looked through");
            }
        });
        let count = timeout(LINE_WAIT, line).await.ok()?.ok()??;
        let wait = if count == 1 { "1 proposal waits".to_owned() } else { format!("{count} proposals wait") };
        Some(format!("memory: {wait} · `cohab memory inbox`"))
    }
}

fn proposal(fact: ProposedFact, folder: &Path, home: &Path, taint: &Taint, source: Source) -> NewProposal {
    let scope = if fact.is_of_project { Scope::Project(root_of(folder, home)) } else { Scope::Everywhere };
    NewProposal {
        what: Proposed::Fact { text: fact.text },
        scope,
        trust: MODEL_TRUST.min(f64::from(taint.trust_tenths()) / 10.0),
        sources: vec![source],
        evidence: "proposed by the assistant".to_owned(),
        folder: folder.to_owned(),
    }
}

fn holds_secret(new: &NewProposal, secrets: &Secrets) -> bool {
    let text = new.what.key();
    let mut scrubbed = text.clone();
    secrets.text(&mut scrubbed);
    scrubbed != text
}

/// How many proposals wait, if a line about it is due. Blocks.
fn waiting(paths: &Paths, folder: &Path, now: Timestamp) -> Result<Option<usize>, StoreError> {
    let store = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir())?;
    Ok(store.map(|mut store| store.due_notice(folder, now)).transpose()?.flatten())
}

/// Puts into the inbox what the commands of a project speak for. Blocks.
fn consolidate(paths: &Paths, root: &Path, now: &Zoned) -> Result<(), StoreError> {
    let Some(past) = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir())? else { return Ok(()) };
    let found = consolidation::proposals(&past, root, now)?;
    if found.is_empty() {
        return Ok(());
    }
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir())?;
    found.iter().try_for_each(|proposal| store.propose(proposal, now.timestamp()).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[tokio::test]
    async fn a_project_is_looked_at_now_and_then_and_its_commands_once_a_day() {
        let (looks, start) = (Looks::default(), Instant::now());
        let (shop, blog) = (Path::new("/shop"), Path::new("/blog"));
        let (today, tomorrow) = (date(2026, 11, 3), date(2026, 11, 4));
        assert_eq!(looks.due(shop, start, today), Some(true));
        assert_eq!(looks.due(shop, start, today), None);
        assert_eq!(looks.due(blog, start, today), Some(true));
        assert_eq!(looks.due(shop, start + LOOK_PAUSE, today), Some(false));
        assert_eq!(looks.due(shop, start + 2 * LOOK_PAUSE, tomorrow), Some(true));
    }

    #[test]
    fn a_proposal_is_worth_as_much_as_the_conversation() {
        let fact = || ProposedFact { text: "staging is on blue".into(), is_of_project: true };
        let (taint, source) = (Taint::default(), Source::Turn("7".into()));
        let made =
            |taint: &Taint| proposal(fact(), Path::new("/shop/src"), Path::new("/home/ann"), taint, source.clone());
        assert!(!made(&taint).is_doubtful());
        taint.raise("a page");
        assert!(made(&taint).is_doubtful() && made(&taint).trust <= 0.3);
        let secret = ProposedFact { text: "the token is ghp_Aa1Bb2Cc3Dd4Ee5Ff6Gg7Hh8Ii9Jj0Kk1Ll2".into(), ..fact() };
        let new = proposal(secret, Path::new("/"), Path::new("/home/ann"), &taint, source.clone());
        assert!(
            holds_secret(&new, &Secrets::of_this_process())
                && !holds_secret(&made(&taint), &Secrets::of_this_process())
        );
    }
}
