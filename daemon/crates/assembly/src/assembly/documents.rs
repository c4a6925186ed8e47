//! Searches the documents that the user gave cohab to learn, and reads again what changed in them.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use cohab_context::{ignore_rules::IgnoreRules, workspace::OWN_IGNORE};
use cohab_memory::knowledge::search::{KnowledgeLookup, RankedPassage, search};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_store::{StoreError, knowledge::SqliteKnowledge};
use cohab_tools::{Learner, SearchDocuments, refresh_before_search};
use jiff::Timestamp;

/// The user's documents.
#[derive(Clone)]
pub(super) struct Documents {
    paths: Paths,
    secrets: Arc<Secrets>,
    /// A thread reads large places.
    is_reading: Arc<AtomicBool>,
}

impl Documents {
    /// Nothing is opened before the first use.
    pub fn new(paths: &Paths, secrets: Arc<Secrets>) -> Self {
        Self { paths: paths.clone(), secrets, is_reading: Arc::default() }
    }

    /// The search of the tool.
    pub fn searching(&self, home: &Path) -> SearchDocuments {
        let (documents, home) = (self.clone(), home.canonicalize().unwrap_or_else(|_| home.to_owned()));
        Arc::new(move |wanted| {
            documents.find(wanted, &home).map_err(|error| format!("what was learned cannot be read: {error}"))
        })
    }

    /// Blocks.
    fn find(&self, wanted: &KnowledgeLookup, home: &Path) -> Result<Vec<RankedPassage>, StoreError> {
        let Some(mut store) = self.open()? else { return Ok(Vec::new()) };
        let ignore = &self.ignore_rules(home);
        let mut learner = Learner { secrets: &self.secrets, home, ignore, progress: &mut |_, _| {} };
        let later = refresh_before_search(&mut learner, &mut store, wanted.folder.as_deref(), Timestamp::now())?;
        let found = search(&store, wanted)?;
        if !later.is_empty() && !self.is_reading.swap(true, Ordering::AcqRel) {
            let (documents, home) = (self.clone(), home.to_owned());
            // It ends with the daemon: what was read until then is stored.
            thread::spawn(move || {
                documents.refresh(&later, &home);
                documents.is_reading.store(false, Ordering::Release);
            });
        }
        Ok(found)
    }

    fn ignore_rules(&self, home: &Path) -> IgnoreRules {
        IgnoreRules::new(home.to_owned(), self.paths.config_dir.join(OWN_IGNORE))
    }

    fn open(&self) -> Result<Option<SqliteKnowledge>, StoreError> {
        SqliteKnowledge::open_existing(&self.paths.knowledge_file(), &self.paths.memory_key_dir())
    }

    /// Reads all that changed in these places.
    fn refresh(&self, roots: &[PathBuf], home: &Path) {
        let mut store = match self.open() {
            Ok(Some(store)) => store,
            Ok(None) => return,
            Err(error) => return tracing::warn!(%error, "documents could not be read again"),
        };
        let ignore = &self.ignore_rules(home);
        let mut learner = Learner { secrets: &self.secrets, home, ignore, progress: &mut |_, _| {} };
        for root in roots {
            if let Err(fault) = learner.refresh(&mut store, root, Timestamp::now(), u64::MAX) {
                tracing::warn!(?fault, root = %root.display(), "documents could not be read again");
            }
        }
    }
}
