//! Keeps what the user does, where the settings allow it, and searches what was done.

use std::sync::{Arc, Mutex, PoisonError};

use cohab_agent::port::Tool;
use cohab_config::{MemorySettings, consolidate::Consolidate};
use cohab_memory::past::{
    record::{NewRun, RunSource},
    search::{PastLookup, Recalled, search},
};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_secrets::holds_placeholder;
use cohab_session::RanCommand;
use cohab_store::{
    StoreError,
    past::{PastEntry, PastLog, SqlitePast},
};
use cohab_text::sanitize::sanitize;
use cohab_tools::SearchPast;
use jiff::{Timestamp, Zoned};

use super::{Assembly, Stamp, conversations, stamp};

/// What was done, with the settings of what is kept.
pub(super) struct Past {
    paths: Paths,
    log: Arc<PastLog>,
    /// The settings, and the state of their file that they were read from.
    settings: Mutex<Option<(Stamp, MemorySettings)>>,
}

impl Past {
    /// Nothing is opened before the first use.
    pub fn new(paths: &Paths, secrets: Arc<Secrets>) -> Self {
        let log = PastLog::at(paths.past_file(), paths.memory_key_dir(), secrets);
        Self { paths: paths.clone(), log: Arc::new(log), settings: Mutex::default() }
    }

    /// Where turns are stored; `None` if memory is off.
    pub fn log(&self) -> Option<Arc<PastLog>> {
        self.settings().enabled.then(|| Arc::clone(&self.log))
    }

    /// Keeps a command of the user, if the settings say so. Never waits for the disk.
    pub fn ran(&self, ran: &RanCommand) {
        let settings = self.settings();
        if !settings.enabled || !settings.shell_history {
            return;
        }
        let RanCommand { command, ran_in, ended_ms } = ran;
        // As in shells: a line that begins with a blank is not to be kept.
        let Some(line) = command.line.as_deref().filter(|line| !line.starts_with([' ', '\t'])) else { return };
        let line = line.trim_end();
        // Half a command is none, and one whose secret the client has taken out is none either.
        if line.is_empty() || sanitize(line) != line || holds_placeholder(line) {
            return;
        }
        let output = if settings.outputs { sanitize(&command.output_tail) } else { String::new() };
        self.log.keep(PastEntry::Run(NewRun {
            line: line.to_owned(),
            at: Some(*ended_ms).and_then(moment).and_then(|ended| ended.checked_sub(command.duration).ok()),
            folder: Some(ran_in.clone()),
            exit_code: Some(command.exit_code),
            duration: Some(command.duration),
            output_tail: output.trim_end().to_owned(),
            source: RunSource::Shell,
        }));
    }

    /// What went wrong with the file since the last call, as a sentence for the user.
    pub fn take_trouble(&self) -> Option<String> {
        self.log.take_trouble()
    }

    /// The search of the tool; `None` if memory is off.
    pub fn searching(&self) -> Option<SearchPast> {
        let log = self.log()?;
        let paths = self.paths.clone();
        Some(Arc::new(move |wanted, now| {
            log.flush();
            recall(&paths, wanted, now).map_err(|error| format!("what was done cannot be read: {error}"))
        }))
    }

    /// The settings as they are now; everything off if they are wrong.
    pub fn settings(&self) -> MemorySettings {
        let now = [stamp(&self.paths.config_file()), None];
        let mut known = self.settings.lock().unwrap_or_else(PoisonError::into_inner);
        match known.as_ref() {
            Some((seen, settings)) if *seen == now => *settings,
            _ => {
                let off = MemorySettings {
                    enabled: false,
                    shell_history: false,
                    outputs: false,
                    consolidate: Consolidate::Off,
                    look_back_hours: 1,
                };
                let settings = cohab_config::load(&self.paths).map_or(off, |settings| settings.memory);
                *known = Some((now, settings));
                settings
            }
        }
    }
}

impl Assembly {
    /// The tools that search what was done with the user's documents and, if conversations are stored, those that are not `own`; none if memory is off.
    pub(super) fn search_tools(&self, has_conversations: bool, own: Option<String>) -> Vec<Arc<dyn Tool>> {
        let Some(search) = self.past.searching() else { return Vec::new() };
        let home = &self.parts.home;
        let mut tools = vec![cohab_tools::memory_search(search, self.documents.searching(home), home.clone())];
        if has_conversations {
            tools.push(cohab_tools::conversation_search(conversations::searching(&self.paths, own)));
        }
        tools
    }
}

/// A time in milliseconds since 1970.
fn moment(ms: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(ms).ok()?).ok()
}

/// Blocks. `None` if nothing is kept yet.
fn recall(paths: &Paths, wanted: &PastLookup, now: &Zoned) -> Result<Option<Recalled>, StoreError> {
    let store = SqlitePast::open_existing(&paths.past_file(), &paths.memory_key_dir())?;
    store.map(|store| search(&store, wanted, now)).transpose()
}
