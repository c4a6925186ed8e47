//! `cohabd stores` reports the state of the store files for `cohab doctor`. It changes nothing in them.
//!
//! Prints a JSON list, an object for each: `name`, `path`, `is_there`; if it is, `bytes`, `version` and `known_version` (of this
//! release), `is_checked` (false: there was no time to check all of it), `kept` (the path of a broken file that was kept next to its
//! replacement; or null); and if it cannot be used `message` and `hint`. A file of hooks is in the list only if it is broken.

use std::{
    io::Write,
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::{
    Database, StoreError, health::Health, knowledge::SqliteKnowledge, memory::SqliteMemory, past::SqlitePast,
    sessions::SqliteStore, watchers::WatcherStore,
};
use serde_json::{Value, json};

use super::Failure;

/// Print how the files are in which things are kept, as JSON, for `cohab doctor`
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
pub struct StoresArgs {}

/// A store file.
struct Store {
    /// Its name in the report.
    name: &'static str,
    file: fn(&Paths) -> PathBuf,
    health: fn(&Path) -> Result<Option<Health>, StoreError>,
    /// Whether users may well never have it; then it is reported only if it is there.
    is_optional: bool,
}

const STORES: [Store; 6] = [
    Store { name: "sessions", file: Paths::sessions_file, health: SqliteStore::health, is_optional: false },
    Store { name: "usage", file: Paths::usage_file, health: Database::health, is_optional: false },
    Store { name: "memory", file: Paths::memory_file, health: SqliteMemory::health, is_optional: true },
    Store { name: "past", file: Paths::past_file, health: SqlitePast::health, is_optional: true },
    Store { name: "knowledge", file: Paths::knowledge_file, health: SqliteKnowledge::health, is_optional: true },
    Store { name: "watchers", file: Paths::watchers_file, health: WatcherStore::health, is_optional: true },
];

impl Store {
    fn report(&self, paths: &Paths) -> Option<Value> {
        let path = (self.file)(paths);
        (!self.is_optional || path.exists()).then(|| told(self.name, &path, (self.health)(&path)))
    }
}

/// Runs it.
pub fn run(_: &StoresArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let stores = STORES.iter().filter_map(|store| store.report(paths));
    let stores: Vec<Value> = stores.chain(super::hooks::faults(paths)).collect();
    let written = writeln!(output, "{}", Value::from(stores)).map_err(Failure::from);
    super::finish(written, output, errors)
}

fn told(name: &str, path: &Path, health: Result<Option<Health>, StoreError>) -> Value {
    let mut told = json!({"name": name, "path": path.to_string_lossy(), "is_there": true});
    match health {
        Ok(None) => told["is_there"] = false.into(),
        Ok(Some(health)) => {
            told["bytes"] = health.bytes.into();
            told["version"] = health.version.into();
            told["known_version"] = health.known_version.into();
            told["is_checked"] = health.is_checked.into();
            told["kept"] = health.kept.map(|path| path.to_string_lossy().into_owned()).into();
        }
        Err(error) => {
            told["message"] = error.to_string().into();
            told["hint"] = error.remedy().into();
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::testing::Home;

    fn shown(home: &Home) -> Vec<Value> {
        let mut output = Vec::new();
        let _ = run(&StoresArgs {}, &home.paths, &mut output, &mut Vec::new());
        serde_json::from_slice(&output).expect("a list")
    }

    #[test]
    fn a_store_that_is_there_is_told_with_its_size_and_version_and_none_is_made() {
        let home = Home::with_sessions();
        let told = shown(&home);
        assert_eq!((&told[0]["name"], &told[0]["is_checked"]), (&json!("sessions"), &json!(true)));
        assert_eq!(told[0]["version"], told[0]["known_version"]);
        assert!(told[0]["bytes"].as_u64().is_some_and(|bytes| bytes > 4_096), "{told:?}");
        assert_eq!(told[1]["is_there"], false);
        assert!(!home.paths.usage_file().exists());
        assert_eq!(told.len(), 2);
        SqliteMemory::create(&home.paths.memory_file(), &home.paths.memory_key_dir()).expect("it is made");
        let told = shown(&home);
        assert_eq!((&told[2]["name"], &told[2]["is_checked"]), (&json!("memory"), &json!(true)));
        SqlitePast::create(&home.paths.past_file(), &home.paths.memory_key_dir()).expect("it is made");
        let told = shown(&home);
        assert_eq!((&told[3]["name"], &told[3]["is_checked"]), (&json!("past"), &json!(true)));
        SqliteKnowledge::create(&home.paths.knowledge_file(), &home.paths.memory_key_dir()).expect("it is made");
        let told = shown(&home);
        assert_eq!((&told[4]["name"], &told[4]["is_checked"]), (&json!("knowledge"), &json!(true)));
        WatcherStore::create(&home.paths.watchers_file(), &home.paths.watchers_signal()).expect("it is made");
        let told = shown(&home);
        assert_eq!((&told[5]["name"], &told[5]["is_checked"]), (&json!("watchers"), &json!(true)));
    }

    #[test]
    fn what_is_wrong_with_one_is_told_with_what_helps() {
        let home = Home::with_sessions();
        std::fs::write(home.paths.usage_file(), b"SQLite format 3\0 but not really one").expect("it is written");
        let told = shown(&home);
        assert!(told[1]["hint"].as_str().is_some_and(|hint| hint.contains(".broken")), "{told:?}");
    }
}
