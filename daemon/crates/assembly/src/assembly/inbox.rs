//! The inbox of proposals: what the model and the commands of a project put into it, and the line that says that something waits.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use cohab_agent::port::Tool;
use cohab_config::consolidate::Consolidate;
use cohab_context::{
    project_files,
    workspace::{has_own_skill, root_of},
};
use cohab_guard::taint::Taint;
use cohab_memory::{
    blocks::{
        change::{BlockEdit, BlockFault},
        operations,
        store::BlockStore as _,
    },
    consolidation,
    inbox::{Inbox as _, NewProposal, Proposed},
    record::{LEAST_TRUST, Scope, Source},
};
use cohab_protocol::Paths;
use cohab_session::TurnParts;
use cohab_store::{StoreError, memory::SqliteMemory, past::SqlitePast};
use cohab_tools::{ProposeEdit, ProposeFact, ProposedFact};
use jiff::{Timestamp, Zoned, civil::Date};
use tokio::{
    sync::oneshot,
    time::{Instant, timeout},
};

use super::Assembly;

/// Trust of what a model wrote, at most.
const MODEL_TRUST: f64 = 0.7;
/// A smaller window gets the search of what was done only: the descriptions of the others take about 600 tokens.
const ROOMY_TOKENS: u64 = 16_000;
/// What speaks for a proposal of the model.
const BY_ASSISTANT: &str = "proposed by the assistant";
/// Time between two looks at the inbox for a project.
const LOOK_PAUSE: Duration = Duration::from_secs(10 * 60);
/// The end of a turn waits at most this long for the line.
const LINE_WAIT: Duration = Duration::from_millis(200);
/// Most projects of which the last look is known.
const MAX_PROJECTS: usize = 256;

/// What the tools of the memory depend on.
#[derive(Clone, Copy)]
pub(super) struct MemoryOffer<'a> {
    /// Conversations are stored.
    pub has_conversations: bool,
    /// The window of the model.
    pub window_tokens: u64,
    /// The turn; `None` where the tools are only measured.
    pub parts: Option<&'a TurnParts>,
}

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
    /// The tools of the memory, unless it is off; those of conversations only if they are stored. In a private turn nothing is proposed.
    pub(super) fn memory_tools(&self, offer: &MemoryOffer<'_>) -> Vec<Arc<dyn Tool>> {
        let MemoryOffer { has_conversations, window_tokens, parts } = *offer;
        let is_roomy = window_tokens >= ROOMY_TOKENS;
        let own = parts.map(|parts| parts.session.key().to_string());
        let searching = self.search_tools(has_conversations && is_roomy, own);
        if searching.is_empty() || !is_roomy {
            return searching;
        }
        let (fact, edit): (ProposeFact, ProposeEdit) = match parts {
            None => (Arc::new(|_, _| Ok(false)), Arc::new(|_, _| Ok(()))),
            Some(parts) if parts.memory.is_private => return searching,
            Some(parts) => (self.proposing(parts), self.proposing_edits(parts)),
        };
        searching
            .into_iter()
            .chain([cohab_tools::memory_propose(fact)])
            .chain(cohab_tools::memory_edits(&edit))
            .collect()
    }

    fn proposing_edits(&self, parts: &TurnParts) -> ProposeEdit {
        let (paths, home) = (self.paths.clone(), self.parts.home.clone());
        let (secrets, taint) = (Arc::clone(&self.parts.secrets), parts.memory.consents.taint().clone());
        let source = Source::Turn(parts.turn_id.to_string());
        Arc::new(move |edit, folder| {
            let trust = trust(&taint);
            // A block has no trust of its own, and is in every question.
            if trust < LEAST_TRUST {
                return Err("this conversation has read text of strangers: nothing of it goes into a block".to_owned());
            }
            let has_secret = |text: &str| secrets.are_in(text);
            propose_edit(&paths, edit, &root_of(folder, &home), (trust, &source), &has_secret)
        })
    }

    fn proposing(&self, parts: &TurnParts) -> ProposeFact {
        let (paths, home) = (self.paths.clone(), self.parts.home.clone());
        let (secrets, taint) = (Arc::clone(&self.parts.secrets), parts.memory.consents.taint().clone());
        let source = Source::Turn(parts.turn_id.to_string());
        Arc::new(move |fact, folder| {
            let new = proposal(fact, folder, &home, &taint, source.clone());
            if secrets.are_in(&new.what.key()) {
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
        let settings = self.past.settings();
        if !settings.enabled {
            return None;
        }
        let (paths, now) = (self.paths.clone(), Zoned::now());
        let folder = folder.to_owned();
        let root = root_of(&folder, &self.parts.home);
        let is_wanted = settings.consolidate != Consolidate::Off;
        let reads_commands = self.looks.due(&root, Instant::now(), now.date())? && is_wanted;
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
        trust: trust(taint),
        sources: vec![source],
        evidence: BY_ASSISTANT.to_owned(),
        folder: folder.to_owned(),
    }
}

/// The trust of what the model writes in a conversation.
fn trust(taint: &Taint) -> f64 {
    MODEL_TRUST.min(f64::from(taint.trust_tenths()) / 10.0)
}

/// Puts a change of a block into the inbox, if the block allows it as it is now. Blocks.
fn propose_edit(
    paths: &Paths,
    edit: BlockEdit,
    root: &Path,
    (trust, source): (f64, &Source),
    has_secret: &dyn Fn(&str) -> bool,
) -> Result<(), String> {
    let unusable = |error: StoreError| format!("the inbox cannot be written: {error}");
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).map_err(unusable)?;
    let stored = store.blocks(Some(root)).map_err(unusable)?;
    let block = operations::named(&edit.label, stored, root).map_err(|fault| refusal(&fault))?;
    edit.change.applied(&block, has_secret).map_err(|fault| refusal(&fault))?;
    let new = NewProposal {
        what: Proposed::Block(edit),
        scope: block.key.scope,
        trust,
        sources: vec![source.clone()],
        evidence: BY_ASSISTANT.to_owned(),
        folder: root.to_owned(),
    };
    store.propose(&new, Timestamp::now()).map(|_| ()).map_err(unusable)
}

/// A fault as text for the model.
fn refusal(fault: &BlockFault) -> String {
    match fault {
        BlockFault::Unknown(label) => format!("there is no block `{label}`"),
        BlockFault::NotFound => "`old` is not in the block".to_owned(),
        BlockFault::NotUnique => "`old` is in the block more than once: give more of the text around it".to_owned(),
        BlockFault::TooLong { chars, max_chars } => format!("the block would have {chars} of {max_chars} characters"),
        BlockFault::Secret => "the text would hold a secret: write where it is kept, not the secret itself".to_owned(),
        _ => "the block cannot be changed like this".to_owned(),
    }
}

/// How many proposals wait, if a line about it is due. Blocks.
fn waiting(paths: &Paths, folder: &Path, now: Timestamp) -> Result<Option<usize>, StoreError> {
    let store = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir())?;
    Ok(store.map(|mut store| store.due_notice(folder, now)).transpose()?.flatten())
}

/// Puts into the inbox what the commands of a project speak for. Blocks.
fn consolidate(paths: &Paths, root: &Path, now: &Zoned) -> Result<(), StoreError> {
    let Some(past) = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir())? else { return Ok(()) };
    let is_accepted = |skill: &str| has_own_skill(&paths.config_dir, skill);
    let found = consolidation::proposals(&past, root, now, project_files::reader(root), is_accepted)?;
    if found.is_empty() {
        return Ok(());
    }
    let mut store = SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir())?;
    found.iter().try_for_each(|proposal| store.propose(proposal, now.timestamp()).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use cohab_memory::blocks::change::BlockChange;
    use cohab_model_api::Secrets;
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
    fn a_change_of_a_block_is_proposed_only_if_the_block_allows_it() {
        let home = tempfile::tempdir().unwrap();
        let root = home.path().canonicalize().unwrap();
        let paths = Paths::new(|name| (name == "COHAB_HOME").then(|| root.clone()), 0);
        let edit = |label: &str, change: BlockChange| BlockEdit { label: label.parse().unwrap(), change };
        let append = |text: &str| BlockChange::Append { text: text.into() };
        let source = Source::Turn("7".into());
        let propose = |edit| propose_edit(&paths, edit, &root, (0.7, &source), &|text| text.contains("hunter2"));
        propose(edit("project", append("tests run with make"))).unwrap();
        for (edit, error) in [
            (edit("nobody", append("x")), "there is no block `nobody`"),
            (edit("human", append(&"x".repeat(9_000))), "the block would have 9000 of 2000 characters"),
            (edit("human", append("password hunter2")), "the text would hold a secret"),
            (edit("human", BlockChange::Replace { old: "x".into(), new: "y".into() }), "`old` is not in the block"),
        ] {
            let refused = propose(edit).unwrap_err();
            assert!(refused.starts_with(error), "{refused}");
        }
        let store = SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir()).unwrap().unwrap();
        let waiting = store.waiting(None).unwrap();
        assert_eq!((waiting.len(), &waiting[0].new.scope), (1, &Scope::Project(root.clone())));
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
        let secrets = Secrets::of_this_process();
        assert!(secrets.are_in(&new.what.key()) && !secrets.are_in(&made(&taint).what.key()));
    }
}
