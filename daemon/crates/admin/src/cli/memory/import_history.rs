//! Imports the commands of a shell's own history, once the user has agreed.

use std::{
    env,
    fs::File,
    io::{BufReader, Write},
    path::{Path, PathBuf},
};

use cohab_memory::past::{
    import::{HistoryEnvironment, HistoryReader, ImportCounts},
    record::{NewRun, RunSource},
    store::{Added, PastStore as _},
};
use cohab_model_api::Secrets;
use cohab_store::{
    StoreError,
    atuin::AtuinHistory,
    past::{PastEntry, SqlitePast, prepared},
};

use super::{
    super::{Failure, record},
    Caller, past,
};

/// Runs of one write.
const BATCH: usize = 5_000;

/// The source of a history, by its word.
pub(super) fn source(word: &str) -> Result<RunSource, String> {
    let known = RunSource::of_word(word).filter(|source| source.is_import());
    known.ok_or_else(|| {
        let words = RunSource::WORDS.iter().filter(|(source, _)| source.is_import()).map(|(_, word)| *word);
        format!("the histories are {}", words.collect::<Vec<_>>().join(", "))
    })
}

pub(super) fn import(
    source: RunSource,
    file: Option<&Path>,
    is_agreed: bool,
    caller: &mut Caller<'_>,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let path = match file {
        Some(file) => caller.folder.join(file),
        None => usual(source)?,
    };
    let name = record::folder(&path.to_string_lossy(), &caller.home);
    let unreadable = |error: String| Failure::Other(format!("{name}: {error}; nothing was imported"), None);
    let mut found = HistoryExtent::default();
    let counts = each(source, &path, caller, &mut |run| {
        found.note(&run);
        Ok(())
    })
    .map_err(|error| unreadable(error.to_string()))?;
    if found.runs == 0 {
        return Ok(writeln!(output, "{name} has no commands to import.{}", skipped(&counts, 0))?);
    }
    if !is_agreed && !agrees(&name, &found, caller, output)? {
        return Ok(writeln!(output, "Nothing was imported.")?);
    }
    let unusable = past::unusable(caller.paths);
    let mut store = SqlitePast::create(&caller.paths.past_file(), &caller.paths.memory_key_dir()).map_err(&unusable)?;
    let mut writer = Writer {
        store: &mut store,
        secrets: Secrets::of_this_process(),
        batch: Vec::new(),
        secret: 0,
        added: Added::default(),
    };
    let counts = each(source, &path, caller, &mut |run| writer.take(run).map_err(|error| error.to_string()))
        .and_then(|counts| writer.flush().map(|()| counts).map_err(|error| error.to_string()))
        .map_err(|error| {
            Failure::Other(format!("{name}: {error}; {} commands were imported", writer.added.new), None)
        })?;
    let Added { new, known } = writer.added;
    let again = if known == 0 { String::new() } else { format!(", {known} were known already") };
    let commands = if new == 1 { "command" } else { "commands" };
    writeln!(output, "Imported {new} {commands} from {name}{again}.{}", skipped(&counts, writer.secret))?;
    Ok(writeln!(
        output,
        "`cohab memory past WORDS` finds them; `cohab memory forget --source {}` deletes them.",
        source.word()
    )?)
}

/// What a history holds.
#[derive(Default)]
struct HistoryExtent {
    runs: u64,
    /// The oldest and the newest time.
    times: Option<(jiff::Timestamp, jiff::Timestamp)>,
}

impl HistoryExtent {
    fn note(&mut self, run: &NewRun) {
        self.runs += 1;
        if let Some(at) = run.at {
            self.times = Some(self.times.map_or((at, at), |(first, last)| (first.min(at), last.max(at))));
        }
    }
}

fn agrees(name: &str, found: &HistoryExtent, caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<bool, Failure> {
    let day = |at: jiff::Timestamp| at.to_zoned(caller.now.time_zone().clone()).date();
    let span = found.times.map_or(String::new(), |(first, last)| format!(", from {} to {}", day(first), day(last)));
    let told = format!("{name} has {} commands{span}.", found.runs);
    if !caller.is_terminal {
        let hint = "`--yes` imports them without a question".to_owned();
        return Err(Failure::Other(format!("{told} Nothing was imported"), Some(hint)));
    }
    writeln!(output, "{told} They stay on this machine; those with a secret in them are left out.")?;
    write!(output, "Import them? [y/N] ")?;
    output.flush()?;
    let mut answer = String::new();
    caller.input.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// The entries that were left out, as a sentence.
fn skipped(counts: &ImportCounts, secret: u64) -> String {
    let mut parts: Vec<String> = counts.skips().map(|(_, phrase, count)| format!("{count} {phrase}")).collect();
    if secret > 0 {
        parts.push(format!("{secret} with a secret"));
    }
    if parts.is_empty() { String::new() } else { format!(" Left out: {}.", parts.join(", ")) }
}

/// The file in which a source usually keeps its history.
fn usual(source: RunSource) -> Result<PathBuf, Failure> {
    let folder = |name: &str| env::var_os(name).map(PathBuf::from);
    let environment = HistoryEnvironment {
        home: folder("HOME"),
        histfile: folder("HISTFILE"),
        zdotdir: folder("ZDOTDIR"),
        xdg_data_home: folder("XDG_DATA_HOME"),
        fish_history: env::var("fish_history").ok(),
    };
    environment.paths(source).into_iter().find(|path| path.exists()).ok_or_else(|| {
        let hint = format!("name it: `cohab memory import --history {} FILE`", source.word());
        Failure::Other(format!("no history of {} was found", source.word()), Some(hint))
    })
}

/// Hands each run of a history over, in the order of the file.
fn each(
    source: RunSource,
    path: &Path,
    caller: &Caller<'_>,
    take: &mut dyn FnMut(NewRun) -> Result<(), String>,
) -> Result<ImportCounts, String> {
    let now = caller.now.timestamp();
    if source == RunSource::Atuin {
        let mut history = AtuinHistory::open(path, now).map_err(|error| error.to_string())?;
        for run in history.by_ref() {
            take(run.map_err(|error| error.to_string())?)?;
        }
        return Ok(history.counts());
    }
    let file = File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().is_ok_and(|file| file.is_file()) {
        return Err("it is not a regular file".to_owned());
    }
    let mut reader = HistoryReader::of_source(source, BufReader::new(file), now).ok_or("it has no history file")?;
    for run in reader.by_ref() {
        take(run.map_err(|error| error.to_string())?)?;
    }
    Ok(reader.counts())
}

/// Writes runs in batches, without those that hold a secret.
struct Writer<'a> {
    store: &'a mut SqlitePast,
    secrets: Secrets,
    batch: Vec<NewRun>,
    /// Runs that hold a secret.
    secret: u64,
    added: Added,
}

impl Writer<'_> {
    fn take(&mut self, run: NewRun) -> Result<(), StoreError> {
        match prepared(PastEntry::Run(run), &self.secrets) {
            Some(PastEntry::Run(run)) => self.batch.push(run),
            _ => self.secret += 1,
        }
        if self.batch.len() == BATCH { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        let added = self.store.add(&self.batch, &[])?;
        self.added = Added { new: self.added.new + added.new, known: self.added.known + added.known };
        self.batch.clear();
        Ok(())
    }
}
