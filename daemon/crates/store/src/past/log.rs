//! The daemon's way to store what was done: no caller waits for the file, and secrets are taken out before.

use std::{path::PathBuf, sync::Arc, time::Duration};

use cohab_memory::past::{
    record::{MAX_LINE_BYTES, MAX_OUTPUT_BYTES, MAX_TEXT_BYTES, MAX_TURN_COMMANDS, NewRun, NewTurn},
    store::PastStore,
};
use cohab_model_api::{Scrub, Secrets};
use cohab_text::cut::{head, tail};

use super::SqlitePast;
use crate::worker::Worker;

/// How long entries wait for others. The daemon's sudden end takes them.
const GATHERS: Duration = Duration::from_millis(250);

/// A record to be stored.
#[derive(Clone, Debug, PartialEq)]
pub enum PastEntry {
    /// The user ran a command.
    Run(NewRun),
    /// The assistant was asked.
    Turn(NewTurn),
}

/// Stores what was done without delaying callers. No file is open while nothing is written.
pub struct PastLog {
    worker: Worker<PastEntry>,
}

impl PastLog {
    /// A log in this file with the key in `key_dir`; neither need exist. Nothing is touched before the first entry.
    #[must_use]
    pub fn at(file: PathBuf, key_dir: PathBuf, secrets: Arc<Secrets>) -> Self {
        let worker = Worker::new(file, "the history of commands is", GATHERS, move |path| {
            let mut store = SqlitePast::create(path, &key_dir)?;
            let secrets = Arc::clone(&secrets);
            Ok(Box::new(move |entries: &[PastEntry]| {
                if entries.is_empty() {
                    return store.settle();
                }
                let (mut runs, mut turns) = (Vec::new(), Vec::new());
                for entry in entries.iter().filter_map(|entry| prepared(entry.clone(), &secrets)) {
                    match entry {
                        PastEntry::Run(run) => runs.push(run),
                        PastEntry::Turn(turn) => turns.push(turn),
                    }
                }
                store.add(&runs, &turns).map(|_| ())
            }))
        });
        Self { worker }
    }

    /// Queues an entry. Never waits.
    pub fn keep(&self, entry: PastEntry) {
        self.worker.enqueue(entry);
    }

    /// Waits until all is written, a second at most. Blocks.
    pub fn flush(&self) {
        self.worker.flush();
    }

    /// The trouble with the file since the last call, as a sentence for the user.
    #[must_use]
    pub fn take_trouble(&self) -> Option<String> {
        self.worker.take_trouble()
    }
}

/// The entry as it may be stored: without secrets, and cut to its limits. `None` for a run whose line contains a secret or is too long,
/// because half a command is none.
#[must_use]
pub fn prepared(entry: PastEntry, secrets: &Secrets) -> Option<PastEntry> {
    let line = match &entry {
        PastEntry::Run(run) if run.line.len() > MAX_LINE_BYTES => return None,
        PastEntry::Run(run) => Some(run.line.clone()),
        PastEntry::Turn(_) => None,
    };
    let mut entry = secrets.scrubbed(entry).into_inner();
    // Not before: half of a secret would not be recognized.
    match &mut entry {
        PastEntry::Run(run) if line.as_ref() != Some(&run.line) => return None,
        PastEntry::Run(run) => {
            run.output_tail = tail(&run.output_tail, MAX_OUTPUT_BYTES).to_owned();
        }
        PastEntry::Turn(turn) => {
            for text in [&mut turn.question, &mut turn.answer] {
                text.truncate(head(text, MAX_TEXT_BYTES).len());
            }
            turn.commands.retain(|command| command.line.len() <= MAX_LINE_BYTES);
            turn.commands.truncate(MAX_TURN_COMMANDS);
        }
    }
    Some(entry)
}

/// Folders and names stay: they must be found again. So does personal data: it is the user's own disk.
impl Scrub for PastEntry {
    fn scrub(&mut self, secrets: &Secrets) {
        match self {
            Self::Run(NewRun { line, output_tail, .. }) => {
                [line, output_tail].into_iter().for_each(|text| secrets.text(text));
            }
            Self::Turn(NewTurn { question, answer, commands, .. }) => {
                secrets.text(question);
                secrets.own_text(answer);
                commands.iter_mut().for_each(|command| secrets.own_text(&mut command.line));
            }
        }
    }
}
