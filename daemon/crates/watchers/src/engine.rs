//! Waits for conditions. It wakes up when the kernel reports a change, a process has ended or a time has come; only a watched port makes it
//! look by itself. What it does then is to look: an event that was missed or came twice changes nothing.

use std::{
    collections::{BTreeMap, BTreeSet},
    future,
    sync::Arc,
    time::Duration,
};

use jiff::{Timestamp, Zoned};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep_until},
};

use crate::{
    clock::Clock,
    condition::{Condition, FileEvent},
    folder_events::{EventPlace, FolderEvents},
    look::{self, LookFinding, LookResult, Ports},
    outside::{self, Outside},
    system,
    time_rule::TimeRule,
    watch::{Watch, WatcherId},
};

/// Several writes that follow each other are one change: it is looked at when nothing was written for so long.
const SETTLES: Duration = Duration::from_millis(300);
/// A file that is written to again and again is looked at after this time all the same.
const SETTLES_AT_LAST: Duration = Duration::from_secs(2);
/// After events of the kernel were read, the next ones are gathered for so long.
const GATHERS: Duration = Duration::from_millis(100);
/// A watcher fires at most once in this time.
const RESTS: Duration = Duration::from_secs(1);
/// Time between two looks at the ports of this machine.
const PORT_PAUSE: Duration = Duration::from_secs(1);
/// First and longest time between two looks where the system reports no changes.
const POLL_PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(30));
/// A time that was missed by more than this was missed because no daemon ran, or the machine slept.
const LATE: Duration = Duration::from_secs(90);
/// Names of changed entries that are kept until the next look.
const MAX_NAMES: usize = 20;
/// Columns of such a name.
const NAME_COLUMNS: usize = 100;
/// Looks that are asked for and wait.
const MAX_HINTS: usize = 64;

/// A condition held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// When.
    pub at: Zoned,
    /// How often since it was reported last.
    pub count: u64,
    /// What others may have written about it; each line is cut, without control characters.
    pub detail: Vec<String>,
    /// Whether its time was missed.
    pub is_late: bool,
    /// The anchor from now on.
    pub anchor: String,
    /// When its time comes next.
    pub due: Option<Timestamp>,
}

/// What happened to a watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happened {
    /// Its condition held; a watch that does not repeat is over.
    Held(WatcherId, Held),
    /// It is over, since its condition cannot hold or be looked at: a clause.
    Failed(WatcherId, String),
}

/// The reason for a wake-up.
#[derive(Debug)]
pub enum Wake {
    /// The kernel reports changes of files.
    Files,
    /// Something outside is different: a process has ended, or a port of another machine.
    Outside(Outside),
    /// A time has come.
    Time,
}

struct Watched {
    watch: Watch,
    look_at: Option<Instant>,
    /// The first event that was not looked at.
    changed_since: Option<Instant>,
    rests_until: Option<Instant>,
    /// Time to the next look where it looks by itself.
    pause: Duration,
    names: BTreeSet<String>,
    is_port_open: Option<bool>,
    _outside: Option<outside::OutsideTask>,
}

/// Waits for the conditions of all watchers.
pub struct Engine {
    clock: Arc<dyn Clock>,
    /// Absent where the system reports no changes.
    files: Option<FolderEvents>,
    gathers_until: Option<Instant>,
    watched: BTreeMap<WatcherId, Watched>,
    hints: (mpsc::Sender<Outside>, mpsc::Receiver<Outside>),
    wakes: u64,
}

impl Engine {
    /// An engine that waits for nothing. Needs a runtime.
    #[must_use]
    pub fn new(clock: Arc<dyn Clock>) -> Self {
        let files = FolderEvents::new();
        if let Err(error) = &files {
            tracing::info!(%error, "changes of files are not reported; they are looked for");
        }
        let hints = mpsc::channel(MAX_HINTS);
        Self { clock, files: files.ok(), gathers_until: None, watched: BTreeMap::new(), hints, wakes: 0 }
    }

    /// How often it woke up.
    #[must_use]
    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Waits for this condition from now on, and for no other one of this id.
    pub fn add(&mut self, id: WatcherId, watch: Watch) {
        if self.watched.get(&id).is_some_and(|known| known.watch == watch) {
            return;
        }
        self.remove(id);
        // Something may have changed since the anchor.
        let looks = !matches!(watch.condition, Condition::Time(_));
        let outside = outside::follow(id, &watch, self.hints.0.clone());
        let watched = Watched {
            look_at: looks.then(Instant::now),
            changed_since: None,
            rests_until: None,
            pause: POLL_PAUSES.0,
            names: BTreeSet::new(),
            is_port_open: None,
            _outside: outside,
            watch,
        };
        self.watched.insert(id, watched);
    }

    /// Waits for it no more.
    pub fn remove(&mut self, id: WatcherId) {
        if self.watched.remove(&id).is_some()
            && let Some(files) = &mut self.files
        {
            files.forget(id);
        }
    }

    /// The watchers that are waited for.
    pub fn ids(&self) -> impl Iterator<Item = WatcherId> {
        self.watched.keys().copied()
    }

    /// Completes when there is something to look at. Cancel-safe; [`take`](Self::take) comes next.
    pub async fn wait(&mut self) -> Wake {
        let look_at = self.watched.values().filter_map(|watched| watched.look_at).min();
        let due = self.watched.values().filter_map(|watched| watched.watch.due).min();
        let Self { clock, files, gathers_until, hints, .. } = self;
        tokio::select! {
            Some(outside) = hints.1.recv() => Wake::Outside(outside),
            () = until(look_at) => Wake::Time,
            () = async { match due { Some(due) => clock.reached(due).await, None => future::pending().await } } => Wake::Time,
            () = async { heard(files.as_ref(), *gathers_until).await } => Wake::Files,
        }
    }

    /// Looks at what a wake-up is about.
    pub async fn take(&mut self, wake: Wake) -> Vec<Happened> {
        self.wakes += 1;
        match wake {
            Wake::Files => self.take_events(),
            Wake::Outside(Outside { id, is_port_open }) => {
                if let Some(watched) = self.watched.get_mut(&id) {
                    watched.is_port_open = is_port_open.or(watched.is_port_open);
                    watched.look_at = Some(watched.not_resting(Instant::now()));
                }
            }
            Wake::Time => {}
        }
        let mut happened = self.times_that_came();
        let looks = self.looks_that_are_due();
        if !looks.is_empty() {
            // A disk may be slow.
            let looking = tokio::task::spawn_blocking(move || {
                let ports = Ports::default();
                let look = |due: DueLook| {
                    (due.id, look::look(&due.condition, &due.anchor, &due.names, due.is_port_open, &ports))
                };
                looks.into_iter().map(look).collect::<Vec<_>>()
            });
            for (id, look) in looking.await.unwrap_or_default() {
                happened.extend(self.looked(id, look));
            }
        }
        happened
    }

    fn take_events(&mut self) {
        let now = Instant::now();
        self.gathers_until = Some(now + GATHERS);
        let Some(files) = &mut self.files else { return };
        for heard in files.read() {
            let Some(watched) = self.watched.get_mut(&heard.id) else { continue };
            let since = *watched.changed_since.get_or_insert(now);
            let at = match watched.watch.condition {
                Condition::LogMatches { .. } => now,
                _ => (now + SETTLES).min(since + SETTLES_AT_LAST),
            };
            watched.look_at = Some(watched.not_resting(at));
            if let Some(name) = heard.name.filter(|_| watched.names.len() < MAX_NAMES) {
                watched.names.insert(cohab_text::sanitize::one_line(&name, NAME_COLUMNS));
            }
        }
    }

    /// Conditions that are a time, and hold.
    fn times_that_came(&mut self) -> Vec<Happened> {
        let now = self.clock.now();
        let mut happened = Vec::new();
        for (id, watched) in &mut self.watched {
            let Some(due) = watched.watch.due.filter(|due| *due <= now.timestamp()) else { continue };
            let Condition::Time(rule) = &watched.watch.condition else { continue };
            watched.watch.due = next_due(rule, due, &now).filter(|_| watched.watch.is_repeat);
            let is_late = now.timestamp().duration_since(due) > LATE.try_into().unwrap_or_default();
            let held = Held {
                at: now.clone(),
                count: 1,
                detail: Vec::new(),
                is_late,
                anchor: String::new(),
                due: watched.watch.due,
            };
            happened.push(Happened::Held(*id, held));
        }
        self.watched
            .retain(|_, watched| !matches!(watched.watch.condition, Condition::Time(_)) || watched.watch.due.is_some());
        happened
    }

    /// What is to be looked at now. Where changes are reported, they are from here on, so that none falls between two looks.
    fn looks_that_are_due(&mut self) -> Vec<DueLook> {
        let now = Instant::now();
        let mut looks = Vec::new();
        for (id, watched) in &mut self.watched {
            if watched.look_at.is_none_or(|at| at > now) {
                continue;
            }
            (watched.look_at, watched.changed_since) = (None, None);
            let condition = &watched.watch.condition;
            if let (Some(files), places @ [_, ..]) = (&mut self.files, &*places(condition)) {
                // Without its folder nothing can be reported; the look finds out what is wrong.
                if let Err(error) = files.listen(*id, places) {
                    tracing::debug!(watcher = id, %error, "its changes are not reported");
                    watched.look_at = Some(now + POLL_PAUSES.1);
                }
            }
            looks.push(DueLook {
                id: *id,
                condition: condition.clone(),
                anchor: watched.watch.anchor.clone(),
                names: std::mem::take(&mut watched.names).into_iter().collect(),
                is_port_open: watched.is_port_open,
            });
        }
        looks
    }

    fn looked(&mut self, id: WatcherId, look: LookResult) -> Option<Happened> {
        let now = Instant::now();
        let watched = self.watched.get_mut(&id)?;
        watched.watch.anchor.clone_from(&look.anchor);
        let again = match &watched.watch.condition {
            _ if look.has_more => Some(GATHERS),
            Condition::Port { host: None, .. } if system::is_port_table_known() => Some(PORT_PAUSE),
            condition if self.files.is_none() && !places(condition).is_empty() => Some(watched.longer_pause()),
            _ => None,
        };
        watched.look_at = watched.look_at.into_iter().chain(again.map(|pause| now + pause)).min();
        match look.finding {
            LookFinding::Nothing => None,
            LookFinding::Impossible(reason) => {
                self.remove(id);
                Some(Happened::Failed(id, reason))
            }
            LookFinding::Held { detail, count } => {
                watched.rests_until = Some(now + RESTS);
                watched.look_at = watched.look_at.map(|at| watched.not_resting(at));
                watched.pause = POLL_PAUSES.0;
                if !watched.watch.is_repeat {
                    self.remove(id);
                }
                let at = self.clock.now();
                Some(Happened::Held(id, Held { at, count, detail, is_late: false, anchor: look.anchor, due: None }))
            }
        }
    }
}

impl Watched {
    /// The time, or the end of its rest.
    fn not_resting(&self, at: Instant) -> Instant {
        self.rests_until.map_or(at, |until| until.max(at))
    }

    fn longer_pause(&mut self) -> Duration {
        let pause = self.pause;
        self.pause = (pause * 2).min(POLL_PAUSES.1);
        pause
    }
}

struct DueLook {
    id: WatcherId,
    condition: Condition,
    anchor: String,
    names: Vec<String>,
    is_port_open: Option<bool>,
}

/// The next time of a rule whose last one was `due`. `every` keeps its rhythm, without the times that were missed.
fn next_due(rule: &TimeRule, due: Timestamp, now: &Zoned) -> Option<Timestamp> {
    let next = match rule {
        TimeRule::Every(seconds) => {
            let missed = now.timestamp().duration_since(due).as_secs().max(0) / i64::try_from(*seconds).ok()?;
            let length = i64::try_from(*seconds).ok()?.checked_mul(missed + 1)?;
            return due.checked_add(jiff::SignedDuration::from_secs(length)).ok();
        }
        rule => rule.next(now)?,
    };
    Some(next.timestamp())
}

/// Where changes are that a condition is about.
fn places(condition: &Condition) -> Vec<EventPlace<'_>> {
    match condition {
        Condition::File { path, event: FileEvent::Appears | FileEvent::Disappears } => vec![EventPlace::Name(path)],
        Condition::File { path, .. } | Condition::LogMatches { path, .. } => {
            vec![EventPlace::Name(path), EventPlace::Content(path)]
        }
        Condition::FolderChanges(path) => vec![EventPlace::Folder(path)],
        Condition::Port { .. } | Condition::ProcessEnds(_) | Condition::Time(_) => Vec::new(),
    }
}

async fn until(at: Option<Instant>) {
    match at {
        Some(at) => sleep_until(at).await,
        None => future::pending().await,
    }
}

/// Completes when changes are reported, those of a short time together.
async fn heard(files: Option<&FolderEvents>, gathers_until: Option<Instant>) {
    let Some(files) = files else { return future::pending().await };
    if let Err(error) = files.ready().await {
        tracing::warn!(%error, "changes of files are not reported any more");
        return future::pending().await;
    }
    if let Some(at) = gathers_until {
        sleep_until(at).await;
    }
}

#[cfg(test)]
#[path = "engine_tests.rs"]
mod tests;
