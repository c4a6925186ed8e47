//! Opens the store of the user's documents and reads documents, with errors for people.

use std::path::Path;

use cohab_context::{ignore_rules::IgnoreRules, workspace::OWN_IGNORE};
use cohab_model_api::Secrets;
use cohab_protocol::Paths;
use cohab_store::{StoreError, knowledge::SqliteKnowledge};
use cohab_tools::Learner;

use super::{
    super::{Failure, progress::Progress, record},
    Caller,
};

/// The store, if it exists.
pub(super) fn open(paths: &Paths) -> Result<Option<SqliteKnowledge>, Failure> {
    SqliteKnowledge::open_existing(&paths.knowledge_file(), &paths.memory_key_dir()).map_err(unusable(paths))
}

/// The reason why the store cannot be used, for people.
pub(super) fn unusable(paths: &Paths) -> impl Fn(StoreError) -> Failure {
    let path = paths.knowledge_file();
    move |error| {
        Failure::Other(format!("{} cannot be used: {error}", path.display()), error.remedy().map(str::to_owned))
    }
}

/// Calls `work` with what reads documents, which shows its progress.
pub(super) fn reading<T>(caller: &Caller<'_>, work: impl FnOnce(&mut Learner<'_>) -> T) -> T {
    let mut progress = Progress::new("reading documents");
    let secrets = Secrets::of_this_process();
    let progress = &mut |done, total| progress.bytes(done, total);
    let ignore = &IgnoreRules::new(caller.home.clone(), caller.paths.config_dir.join(OWN_IGNORE));
    work(&mut Learner { secrets: &secrets, home: &caller.home, ignore, progress })
}

/// A path for people.
pub(super) fn shown(path: &Path, caller: &Caller<'_>) -> String {
    record::folder(&path.to_string_lossy(), &caller.home)
}

/// `1 file`, `2 files`.
pub(super) fn count(number: u64, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
