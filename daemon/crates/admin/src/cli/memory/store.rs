//! Opens the store of facts and finds facts in it, with errors for people.

use cohab_memory::{
    record::{Memory, MemoryId, Scope},
    statement::{self, MAX_CHARS, StatementFault},
    store::{Hit, MemoryStore as _},
    words,
};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_store::{StoreError, memory::SqliteMemory};
use cohab_text::sanitize::one_line;
use serde_json::Value;

use super::{
    super::{Failure, record},
    Caller,
};

/// The scope of a fact that holds in every folder, as JSON.
pub(super) const EVERYWHERE: &str = "everywhere";
/// The remedy for an unknown number.
const LISTS: &str = "`cohab memory list --all` lists all facts";

/// The store, if it exists.
pub(super) fn open(paths: &Paths) -> Result<Option<SqliteMemory>, Failure> {
    SqliteMemory::open_existing(&paths.memory_file(), &paths.memory_key_dir()).map_err(unusable(paths))
}

/// The store, which is made if it does not exist.
pub(super) fn create(paths: &Paths) -> Result<SqliteMemory, Failure> {
    SqliteMemory::create(&paths.memory_file(), &paths.memory_key_dir()).map_err(unusable(paths))
}

/// The reason why the store cannot be used, for people.
pub(super) fn unusable(paths: &Paths) -> impl Fn(StoreError) -> Failure {
    let path = paths.memory_file();
    move |error| {
        Failure::Other(format!("{} cannot be used: {error}", path.display()), error.remedy().map(str::to_owned))
    }
}

/// The store, and a fact in it.
pub(super) fn fact(paths: &Paths, id: MemoryId) -> Result<(SqliteMemory, Memory), Failure> {
    let Some(store) = open(paths)? else { return Err(unknown(id)) };
    let memory = store.get(id).map_err(unusable(paths))?.ok_or_else(|| unknown(id))?;
    Ok((store, memory))
}

/// The failure for a number that no fact has.
pub(super) fn unknown(id: MemoryId) -> Failure {
    Failure::Other(format!("there is no fact {id}"), Some(LISTS.to_owned()))
}

/// The text of a fact as it is stored.
pub(super) fn storable(text: &str, secrets: &Secrets) -> Result<String, (String, String)> {
    let text = statement::clean(text).map_err(|fault| match fault {
        StatementFault::Empty => {
            ("the text has no words".to_owned(), "state a fact: `cohab memory add staging is on host blue`".to_owned())
        }
        StatementFault::TooLong => {
            (format!("the text is longer than {MAX_CHARS} characters"), "state it as several facts".to_owned())
        }
    })?;
    if !secrets.are_in(&text) {
        return Ok(text);
    }
    let hint = "remember where the secret is kept, not the secret itself";
    Err(("the text holds a secret".to_owned(), hint.to_owned()))
}

/// The facts with one of these words, those with the most words first, the newer first among equals; and the words.
pub(super) fn found(
    store: &SqliteMemory,
    query: &str,
    is_anywhere: bool,
    caller: &Caller<'_>,
) -> Result<(Vec<Hit>, Vec<String>), Failure> {
    let words = words::content(query);
    if words.is_empty() {
        let message = format!("there is no word to search for in \"{}\"", record::visible(query));
        return Err(Failure::Other(message, Some("use a word that says what the fact is about".to_owned())));
    }
    let folder = (!is_anywhere).then_some(caller.folder.as_path());
    let mut hits = store.search(&words, folder).map_err(unusable(caller.paths))?.hits;
    hits.sort_by(|one, other| {
        let (one, other) = [one, other].map(|hit| (hit.words.len(), hit.memory.stated, hit.memory.id)).into();
        other.cmp(&one)
    });
    Ok((hits, words))
}

/// A fact, for people.
pub(super) fn text(memory: &Memory) -> String {
    one_line(&memory.text, usize::MAX)
}

/// The place where a fact holds, in words behind it; empty if it holds everywhere.
pub(super) fn place(scope: &Scope, caller: &Caller<'_>) -> String {
    match scope {
        Scope::Everywhere => String::new(),
        Scope::Project(root) => format!("in {}", record::folder(&root.to_string_lossy(), &caller.home)),
    }
}

/// A scope as JSON.
pub(super) fn scope_json(scope: &Scope) -> Value {
    match scope {
        Scope::Everywhere => EVERYWHERE.into(),
        Scope::Project(root) => root.to_string_lossy().into(),
    }
}
