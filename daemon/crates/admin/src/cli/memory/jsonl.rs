//! `cohab memory jsonl` adds, searches and forgets records in a store of its own, for benchmarks: one JSON object a line in, one out. It
//! never touches what the user keeps.

use std::{
    collections::HashMap,
    fs,
    io::{BufRead, Write},
    path::PathBuf,
};

use cohab_memory::past::{
    ranking::Ranked,
    recall::groups,
    record::{NewRun, NewTurn, PastId, PastItem, RunSource},
    search::{PastLookup, search},
    store::{PastQuery, PastSelection, PastStore},
};
use cohab_store::{StoreError, past::SqlitePast};
use jiff::{
    Timestamp, Zoned,
    civil::{Date, DateTime},
    tz::TimeZone,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{super::Failure, Caller};

/// Records of one write.
const BATCH: usize = 1_000;
/// Longest line, in bytes.
const MAX_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Hits of a search that names no number.
const DEFAULT_HITS: usize = 10;

/// A request.
#[derive(Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
enum JsonlRequest {
    Reset,
    Add(Box<AddRequest>),
    Search { query: String, k: Option<usize>, now: Option<Value>, scope: Option<PathBuf> },
    Forget { id: Value },
    Stats,
}

/// A record to add. With `kind` "command" it is a command of the user, otherwise a turn of a conversation.
#[derive(Deserialize)]
struct AddRequest {
    /// Any value; it is returned as it is.
    id: Value,
    text: String,
    /// A time or day, in UTC unless it says otherwise, or seconds since 1970.
    time: Option<Value>,
    speaker: Option<String>,
    session: Option<Value>,
    kind: Option<String>,
    cwd: Option<PathBuf>,
    exit: Option<i32>,
}

pub(super) fn run(caller: &mut Caller<'_>, output: &mut dyn Write) -> Result<(), Failure> {
    let mut desk = Desk::open().map_err(|error| Failure::Other(error.to_string(), None))?;
    let mut line = Vec::new();
    loop {
        line.clear();
        let mut input = std::io::Read::take(&mut *caller.input, MAX_LINE_BYTES);
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        if line.trim_ascii().is_empty() {
            continue;
        }
        let answer = match serde_json::from_slice(&line) {
            Ok(request) => desk.answer(request).unwrap_or_else(|error| json!({"error": error.to_string()})),
            Err(error) => json!({"error": format!("not understood: {error}")}),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
    }
}

/// A store in a temporary folder, with the names that the requests use.
struct Desk {
    folder: tempfile::TempDir,
    store: SqlitePast,
    runs: Vec<NewRun>,
    turns: Vec<NewTurn>,
    /// The ids of runs by line and time.
    runs_by_line: HashMap<(String, Option<Timestamp>), Value>,
    /// Ids and texts by the ids as JSON.
    added: HashMap<String, (Value, String)>,
    /// The newest time.
    newest: Timestamp,
}

impl Desk {
    fn open() -> Result<Self, StoreError> {
        let folder = tempfile::Builder::new().prefix("cohab-jsonl-").tempdir()?;
        let store = SqlitePast::create(&folder.path().join("past.db"), &folder.path().join("key"))?;
        let (runs, turns, runs_by_line, added) = (Vec::new(), Vec::new(), HashMap::new(), HashMap::new());
        Ok(Self { folder, store, runs, turns, runs_by_line, added, newest: Timestamp::UNIX_EPOCH })
    }

    fn answer(&mut self, request: JsonlRequest) -> Result<Value, StoreError> {
        match request {
            JsonlRequest::Reset => {
                *self = Self::open()?;
                Ok(json!({"ok": true}))
            }
            JsonlRequest::Add(add) => self.add(*add),
            JsonlRequest::Search { query, k, now, scope } => {
                self.search(query, k.unwrap_or(DEFAULT_HITS), now.as_ref(), scope)
            }
            JsonlRequest::Forget { id } => self.forget(&id),
            JsonlRequest::Stats => {
                self.write()?;
                let counts = self.store.counts()?;
                let runs: u64 = counts.runs.iter().map(|(_, runs)| runs).sum();
                let bytes = fs::metadata(self.folder.path().join("past.db")).map_or(0, |file| file.len());
                Ok(
                    json!({"items": runs + counts.turns, "commands": runs, "lines": counts.lines, "turns": counts.turns, "bytes": bytes}),
                )
            }
        }
    }

    fn add(&mut self, add: AddRequest) -> Result<Value, StoreError> {
        let AddRequest { id, text, time, speaker, session, kind, cwd, exit } = add;
        let at = match time.as_ref().map(moment) {
            Some(None) => return Ok(json!({"error": "the time is not understood"})),
            at => at.flatten(),
        };
        self.newest = self.newest.max(at.unwrap_or(Timestamp::UNIX_EPOCH));
        self.added.insert(id.to_string(), (id.clone(), text.clone()));
        if kind.as_deref() == Some("command") {
            self.runs_by_line.insert((text.clone(), at), id);
            let (duration, output_tail, source) = (None, String::new(), RunSource::Shell);
            self.runs.push(NewRun { line: text, at, folder: cwd, exit_code: exit, duration, output_tail, source });
        } else {
            let question = speaker.map_or(text.clone(), |speaker| format!("{speaker}: {text}"));
            self.turns.push(NewTurn {
                turn: id.to_string(),
                session: session.map(|session| session.to_string()).unwrap_or_default(),
                at: at.unwrap_or(Timestamp::UNIX_EPOCH),
                folder: cwd.unwrap_or_else(|| "/".into()),
                question,
                answer: String::new(),
                commands: Vec::new(),
                trust: 0.7,
            });
        }
        if self.runs.len() + self.turns.len() >= BATCH {
            self.write()?;
        }
        Ok(json!({"ok": true}))
    }

    fn write(&mut self) -> Result<(), StoreError> {
        if !self.runs.is_empty() || !self.turns.is_empty() {
            self.store.add(&self.runs, &self.turns)?;
        }
        self.runs.clear();
        self.turns.clear();
        Ok(())
    }

    fn search(
        &mut self,
        question: String,
        limit: usize,
        now: Option<&Value>,
        folder: Option<PathBuf>,
    ) -> Result<Value, StoreError> {
        self.write()?;
        let now = Zoned::new(now.and_then(moment).unwrap_or(self.newest), TimeZone::UTC);
        let wanted = PastLookup { question, folder, limit, ..PastLookup::default() };
        let recalled = search(&self.store, &wanted, &now)?;
        let hit = |ranked: &Ranked| Some(json!({"id": self.id(&ranked.item)?, "score": ranked.score}));
        let hits: Vec<Value> = recalled.ranked.iter().filter_map(hit).collect();
        Ok(json!({"hits": hits}))
    }

    fn id(&self, item: &PastItem) -> Option<&Value> {
        match item {
            PastItem::Line(line) => self.runs_by_line.get(&(line.last.line.clone(), line.last.at)),
            PastItem::Turn(turn) => self.added.get(&turn.turn.turn).map(|(id, _)| id),
        }
    }

    /// Forgets the record of this id; a line goes with all its runs.
    fn forget(&mut self, id: &Value) -> Result<Value, StoreError> {
        self.write()?;
        let Some((id, text)) = self.added.remove(&id.to_string()) else { return Ok(json!({"ok": false})) };
        let found = self.store.search(&PastQuery { groups: groups(&text), ..PastQuery::default() })?;
        let name = id.to_string();
        let is_meant = |item: &&PastItem| match item {
            PastItem::Line(line) => line.last.line == text,
            PastItem::Turn(turn) => turn.turn.turn == name,
        };
        let ids: Vec<PastId> = found.hits.iter().filter(is_meant).map(PastItem::id).collect();
        let forgotten = self.store.forget(&PastSelection::Ids(ids))?;
        Ok(json!({"ok": forgotten > 0}))
    }
}

/// A moment in any of the forms that benchmarks use.
fn moment(value: &Value) -> Option<Timestamp> {
    if let Some(seconds) = value.as_i64() {
        return Timestamp::from_second(seconds).ok();
    }
    let text = value.as_str()?;
    let civil = |text: &str| {
        let day = || text.parse::<Date>().map(|day| day.at(0, 0, 0, 0));
        text.parse::<DateTime>().or_else(|_| day()).ok()?.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
    };
    text.parse().ok().or_else(|| civil(text))
}
