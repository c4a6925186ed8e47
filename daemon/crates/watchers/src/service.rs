//! Keeps the stored watchers going: has the engine wait for them, notes what fires, and passes it to terminals.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cohab_model_api::Secrets;
use cohab_session::{FiringSource, Terminals, WatcherFired};
use cohab_store::{
    StoreError,
    watchers::{FiringRow, WatcherRow, WatcherState},
};
use cohab_system::files::make_folder;
use jiff::{Timestamp, Zoned};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    clock::Clock,
    condition::Condition,
    engine::{Engine, Happened, Held},
    files::WatcherFiles,
    folder_events::{EventPlace, FolderEvents},
    parse::parse,
    system,
    watch::{Watch, WatcherId},
};

/// Reports of terminals that wait; more are lost, and what fired stays for the next time.
const MAX_REPORTS: usize = 1024;
/// Time between two looks at the signal where the system does not report changes.
const SIGNAL_PAUSE: Duration = Duration::from_secs(2);
/// Columns of a firing's clause.
const WHAT_COLUMNS: usize = 300;

/// What a terminal reports.
enum TerminalReport {
    Came(String),
    Shown(WatcherId, u64),
}

/// Takes the reports of terminals.
pub struct Reports(mpsc::Sender<TerminalReport>);

impl FiringSource for Reports {
    fn terminal_came(&self, terminal: &str) {
        // What is lost here is shown when the terminal comes the next time.
        let _ = self.0.try_send(TerminalReport::Came(terminal.to_owned()));
    }

    fn shown(&self, watcher: u32, fired: u64) {
        let _ = self.0.try_send(TerminalReport::Shown(watcher, fired));
    }
}

/// The watchers of this user.
pub struct Service {
    files: WatcherFiles,
    secrets: Arc<Secrets>,
    clock: Arc<dyn Clock>,
    terminals: Arc<dyn Terminals>,
    reports: mpsc::Receiver<TerminalReport>,
    changes: Changes,
    engine: Engine,
    rows: BTreeMap<WatcherId, WatcherRow>,
    /// Firings that a terminal has been given and not yet shown.
    given: BTreeMap<WatcherId, u64>,
}

impl Service {
    /// The service, and what takes reports for it. Needs a runtime.
    #[must_use]
    pub fn new(
        files: WatcherFiles,
        secrets: Arc<Secrets>,
        clock: Arc<dyn Clock>,
        terminals: Arc<dyn Terminals>,
    ) -> (Self, Reports) {
        let (sender, reports) = mpsc::channel(MAX_REPORTS);
        let engine = Engine::new(Arc::clone(&clock));
        let (rows, given) = (BTreeMap::new(), BTreeMap::new());
        let changes = Changes::of(&files.signal);
        let service = Self { files, secrets, clock, terminals, reports, changes, engine, rows, given };
        (service, Reports(sender))
    }

    /// Runs until `end` fires.
    pub async fn run(mut self, end: CancellationToken) {
        self.read().await;
        loop {
            tokio::select! {
                biased;
                () = end.cancelled() => return,
                Some(report) = self.reports.recv() => self.take(report).await,
                () = self.changes.next() => self.read().await,
                wake = self.engine.wait() => {
                    for happened in self.engine.take(wake).await {
                        self.note(happened).await;
                    }
                }
            }
        }
    }

    /// Reads the store and waits for what is active in it.
    async fn read(&mut self) {
        let files = self.files.clone();
        let Some(rows) = on_disk(move || files.open()?.map_or(Ok(Vec::new()), |store| store.all())).await else {
            return;
        };
        let rows: BTreeMap<WatcherId, WatcherRow> = rows.into_iter().map(|row| (row.id, row)).collect();
        let active: BTreeSet<WatcherId> =
            rows.values().filter(|row| row.state == WatcherState::Active).map(|row| row.id).collect();
        // A pause and a resume may be seen as one change.
        let begins_anew = |id: &WatcherId| {
            let both = self.rows.get(id).zip(rows.get(id));
            both.is_some_and(|(old, new)| {
                (&old.watcher.anchor, old.watcher.due) != (&new.watcher.anchor, new.watcher.due)
            })
        };
        let over: Vec<WatcherId> = self.engine.ids().filter(|id| !active.contains(id) || begins_anew(id)).collect();
        self.rows = rows;
        self.given.retain(|id, _| self.rows.contains_key(id));
        over.into_iter().for_each(|id| self.engine.remove(id));
        let waited: BTreeSet<WatcherId> = self.engine.ids().collect();
        for id in active.difference(&waited) {
            self.wait_for(*id).await;
        }
    }

    async fn wait_for(&mut self, id: WatcherId) {
        let Some(row) = self.rows.get(&id) else { return };
        match condition(row) {
            Ok(condition) => {
                let watcher = &row.watcher;
                let is_repeat = watcher.is_repeat || condition.always_repeats();
                let watch = Watch { condition, is_repeat, anchor: watcher.anchor.clone(), due: watcher.due };
                self.engine.add(id, watch);
            }
            Err(reason) => self.note(Happened::Failed(id, reason)).await,
        }
    }

    /// Stores what happened and passes it on.
    async fn note(&mut self, happened: Happened) {
        let (Happened::Held(id, _) | Happened::Failed(id, _)) = happened;
        let Some(row) = self.rows.get(&id) else { return };
        let (files, failed_at) = (self.files.clone(), self.clock.now().timestamp());
        let written = match happened {
            Happened::Held(_, held) => {
                let firing = self.firing(row, held);
                on_disk(move || files.open()?.map_or(Ok(None), |mut store| store.fired(id, &firing))).await
            }
            Happened::Failed(_, reason) => {
                let reason = format!("stopped: {reason}");
                on_disk(move || files.open()?.map_or(Ok(None), |mut store| store.failed(id, failed_at, &reason))).await
            }
        };
        // The user may have removed it meanwhile.
        let Some(row) = written.flatten() else { return };
        tracing::info!(watcher = id, fired = row.fired, "watcher fired");
        let is_over = row.state != WatcherState::Active;
        self.rows.insert(id, row);
        self.give(id);
        if is_over {
            self.settle().await;
        }
    }

    fn firing(&self, row: &WatcherRow, held: Held) -> FiringRow {
        let what = condition(row).map_or_else(|_| String::new(), |condition| condition.past(&row.watcher.folder));
        let (first, count) = (held.detail.first(), held.count);
        let mut summary = match first {
            Some(first) if count > 1 => format!("{what}: {first} (and {} more)", count - 1),
            Some(_) if held.detail.len() > 1 => format!("{what}: {}", held.detail.join(", ")),
            Some(first) => format!("{what}: {first}"),
            None => what,
        };
        if held.is_late {
            summary += ", which was missed: cohab did not run";
        }
        let mut detail = held.detail.join("\n");
        self.secrets.text(&mut summary);
        self.secrets.text(&mut detail);
        let summary = cohab_text::sanitize::one_line(&summary, WHAT_COLUMNS);
        FiringRow { at: held.at.timestamp(), summary, detail, anchor: held.anchor, due: held.due }
    }

    /// Gives the last firing to its terminal, unless an earlier one is still to be shown there.
    fn give(&mut self, id: WatcherId) {
        let Some(row) = self.rows.get(&id).filter(|row| row.waits() && !self.given.contains_key(&id)) else { return };
        let watcher = &row.watcher;
        // A watcher that failed has nothing to ask.
        let question = watcher.question.clone().filter(|_| row.state != WatcherState::Failed);
        let firing = WatcherFired {
            watcher: id,
            fired: row.fired,
            label: watcher.name.clone().unwrap_or_else(|| id.to_string()),
            what: row.summary.clone(),
            at: row.fired_at.map(|at| shown_time(at, &self.clock.now())).unwrap_or_default(),
            question,
            detail: Some(row.detail.clone()).filter(|detail| !detail.is_empty()),
            folder: watcher.folder.as_path().into(),
        };
        if self.terminals.show(&watcher.terminal, firing) {
            self.given.insert(id, row.fired);
        }
    }

    async fn take(&mut self, report: TerminalReport) {
        match report {
            TerminalReport::Came(terminal) => {
                // What another connection of it was given may not have been shown.
                let own: Vec<WatcherId> =
                    self.rows.values().filter(|row| row.watcher.terminal == terminal).map(|row| row.id).collect();
                for id in own {
                    self.given.remove(&id);
                    self.give(id);
                }
                self.announce(&terminal).await;
            }
            TerminalReport::Shown(id, fired) => {
                let Some(row) = self.rows.get_mut(&id).filter(|row| fired <= row.fired) else { return };
                row.shown = row.shown.max(fired);
                self.given.remove(&id);
                let files = self.files.clone();
                on_disk(move || files.open()?.map_or(Ok(()), |mut store| store.shown(id, fired))).await;
                self.give(id);
                self.settle().await;
            }
        }
    }

    /// Says in a terminal how many watchers of terminals that are gone have fired, once.
    async fn announce(&mut self, terminal: &str) {
        let is_news = |row: &&mut WatcherRow| row.waits() && row.fired > row.announced;
        let gone = |row: &&mut WatcherRow| !self.terminals.is_there(&row.watcher.terminal);
        let news: Vec<&mut WatcherRow> = self.rows.values_mut().filter(is_news).filter(gone).collect();
        let watchers = match news.len() {
            0 => return,
            1 => "1 watcher".to_owned(),
            count => format!("{count} watchers"),
        };
        if !self.terminals.say(terminal, format!("{watchers} fired while you were away: cohab watch list")) {
            return;
        }
        let mut ids = Vec::new();
        for row in news {
            row.announced = row.fired;
            ids.push(row.id);
        }
        let files = self.files.clone();
        on_disk(move || {
            let Some(mut store) = files.open()? else { return Ok(()) };
            ids.into_iter().try_for_each(|id| store.announced(id))
        })
        .await;
        self.settle().await;
    }

    /// Takes the signal away once no daemon is needed.
    async fn settle(&self) {
        let files = self.files.clone();
        on_disk(move || files.open()?.map_or(Ok(()), |store| store.settle_signal())).await;
    }
}

/// The condition of a stored watcher; its paths are absolute.
fn condition(row: &WatcherRow) -> Result<Condition, String> {
    parse(&row.watcher.condition, &row.watcher.folder, "/".as_ref()).map_err(|error| error.to_string())
}

/// The time of day, with the date unless it is today, and the year unless it is this one.
#[must_use]
pub fn shown_time(at: Timestamp, now: &Zoned) -> String {
    let at = at.to_zoned(now.time_zone().clone());
    let form = match () {
        () if at.date() == now.date() => "%H:%M",
        () if at.year() == now.year() => "%-d %b %H:%M",
        () => "%-d %b %Y %H:%M",
    };
    at.strftime(form).to_string()
}

/// Works with the store where waiting for the disk harms no other task. `None`, and a line in the log, if it cannot be used.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> Result<T, StoreError> + Send + 'static) -> Option<T> {
    match tokio::task::spawn_blocking(work).await.ok()? {
        Ok(result) => Some(result),
        Err(error) => {
            tracing::warn!(%error, "the store of watchers cannot be used");
            None
        }
    }
}

/// Hears of changes by commands, from the signal.
enum Changes {
    /// The system reports them.
    Reported(FolderEvents),
    /// They are looked for: the signal, and how it was.
    LookedFor(PathBuf, String),
}

impl Changes {
    /// Hears of them from now on. The signal's folder is made, so that the first watcher is heard of as well.
    fn of(signal: &Path) -> Self {
        let looked_for = || Self::LookedFor(signal.to_owned(), system::file_stamp(signal));
        let Some(folder) = signal.parent() else { return looked_for() };
        let made = make_folder(folder);
        let listening = made.and_then(|()| {
            let mut events = FolderEvents::new()?;
            events.listen(0, &[EventPlace::Folder(folder)])?;
            Ok(events)
        });
        listening.map_or_else(|_| looked_for(), Self::Reported)
    }

    /// Completes when a command has changed something. Cancel-safe.
    async fn next(&mut self) {
        match self {
            Self::Reported(events) => {
                if let Err(error) = events.ready().await {
                    tracing::warn!(%error, "changes of watchers count after the next start of the daemon");
                    return std::future::pending().await;
                }
                events.read();
            }
            Self::LookedFor(signal, before) => loop {
                tokio::time::sleep(SIGNAL_PAUSE).await;
                let now = system::file_stamp(signal);
                if now != *before {
                    *before = now;
                    return;
                }
            },
        }
    }
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
