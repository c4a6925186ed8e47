use std::{
    ffi::OsStr,
    fs::Permissions,
    os::unix::{
        ffi::OsStrExt,
        fs::{PermissionsExt, symlink},
    },
};

use cohab_memory::{
    knowledge::{
        record::LearnedPlace,
        search::{KnowledgeLookup, search},
    },
    record::Scope,
};
use cohab_store::knowledge::SqliteKnowledge;
use tempfile::TempDir;

use super::*;

/// A folder of documents, and a store.
struct Desk {
    folder: TempDir,
    store: SqliteKnowledge,
    now: Timestamp,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().canonicalize().expect("a path");
        fs::create_dir(home.join("docs")).expect("made");
        let store = SqliteKnowledge::create(&home.join("k.db"), &home.join("keys")).expect("made");
        let mut desk = Self { folder, store, now: Timestamp::from_second(1_000).expect("a time") };
        desk.learn("docs");
        desk
    }

    fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().expect("a path")
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    fn learn(&mut self, root: &str) {
        let place =
            LearnedPlace { root: self.home().join(root), scope: Scope::Everywhere, learned: self.now, looked: None };
        self.store.learn(&place).expect("learned");
    }

    fn refresh(&mut self, root: &str, most_bytes: u64) -> Result<LearnReport, LearnFault<cohab_store::StoreError>> {
        let (home, secrets) = (self.home(), Secrets::of_this_process());
        let ignore = IgnoreRules::new(home.clone(), home.join("ignore"));
        let mut learner = Learner { secrets: &secrets, home: &home, ignore: &ignore, progress: &mut |_, _| {} };
        learner.refresh(&mut self.store, &home.join(root), self.now, most_bytes)
    }

    fn all(&mut self) -> LearnReport {
        self.refresh("docs", u64::MAX).expect("read")
    }

    /// The sources of what is found, below the home, after the places were compared; and the places that are left for later.
    fn ask(&mut self, question: &str) -> (Vec<String>, Vec<PathBuf>) {
        let (home, secrets) = (self.home(), Secrets::of_this_process());
        let ignore = IgnoreRules::new(home.clone(), home.join("ignore"));
        let mut learner = Learner { secrets: &secrets, home: &home, ignore: &ignore, progress: &mut |_, _| {} };
        let later = refresh_before_search(&mut learner, &mut self.store, None, self.now).expect("compared");
        (self.found(question), later)
    }

    fn found(&self, question: &str) -> Vec<String> {
        let lookup = KnowledgeLookup { question: question.into(), folder: None, limit: 50, least_share: 0.0 };
        let found = search(&self.store, &lookup).expect("searched");
        let name = |file: &Path| file.strip_prefix(self.home()).expect("below").to_string_lossy().into_owned();
        found.iter().map(|hit| format!("{}:{}", name(&hit.file), hit.line)).collect()
    }

    fn left_out(&self) -> Vec<(LeftOut, u64)> {
        self.store.places().expect("read").remove(0).left_out
    }

    fn pass(&mut self, seconds: i64) {
        self.now = self.now.checked_add(SignedDuration::from_secs(seconds)).expect("a time");
    }
}

#[test]
fn files_are_found_changed_ones_again_and_removed_ones_not() {
    let mut desk = Desk::new();
    desk.write("docs/deploy.md", "# Deploying\n\nPull the zebra lever.\n");
    desk.write("docs/in/other.txt", "a walrus");
    let report = desk.all();
    assert_eq!((report.read, report.gone, report.is_complete), (2, 0, true));
    assert_eq!(desk.found("zebra"), ["docs/deploy.md:3"]);
    assert_eq!(desk.all().read, 0, "nothing changed");
    desk.write("docs/deploy.md", "Pull\nthe lion lever, which is new.\n");
    fs::remove_file(desk.home().join("docs/in/other.txt")).expect("removed");
    assert_eq!(desk.ask("lion"), (vec![], vec![]), "it was compared just now");
    desk.pass(5);
    assert_eq!(desk.ask("lion"), (vec!["docs/deploy.md:2".to_owned()], vec![]));
    assert!(desk.found("zebra").is_empty() && desk.found("walrus").is_empty());
    // The clock was set back.
    desk.write("docs/new.txt", "a marmot");
    desk.pass(-500);
    assert_eq!(desk.ask("marmot").0, ["docs/new.txt:1"]);
    fs::remove_dir_all(desk.home().join("docs")).expect("removed");
    desk.pass(60);
    assert_eq!(desk.ask("marmot"), (vec![], vec![]));
}

#[test]
fn a_file_can_be_a_place() {
    let mut desk = Desk::new();
    desk.write("notes.md", "zebra");
    desk.learn("notes.md");
    assert_eq!(desk.refresh("notes.md", u64::MAX).expect("read").read, 1);
    assert_eq!(desk.found("zebra"), ["notes.md:1"]);
    desk.write("notes.md", "lion, longer than before");
    desk.pass(60);
    assert_eq!(desk.ask("lion").0, ["notes.md:1"]);
}

#[test]
fn secrets_hidden_files_ignored_files_and_links_are_left_out() {
    let mut desk = Desk::new();
    desk.write("outside/o.txt", "zebra");
    desk.write("docs/.hidden.txt", "zebra");
    desk.write("docs/.gitignore", "ignored*\n");
    desk.write("docs/ignored.txt", "zebra");
    desk.write("docs/server.key", "zebra");
    desk.write("docs/secrets.yaml", "zebra");
    let key = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQ\n-----END OPENSSH PRIVATE KEY-----\n";
    desk.write("docs/pasted.md", format!("zebra\n{key}"));
    desk.write("docs/token.md", "zebra\npassword = \"kJ8x2mQpLw93zzTr\"\nlion\n");
    symlink(desk.home().join("outside"), desk.home().join("docs/link")).expect("linked");
    symlink(desk.home().join("outside/o.txt"), desk.home().join("docs/o.txt")).expect("linked");
    desk.all();
    assert_eq!(desk.found("zebra"), ["docs/token.md:1"]);
    assert_eq!(desk.found("lion"), ["docs/token.md:3"], "its line stays");
    assert_eq!(desk.left_out(), [(LeftOut::Secret, 3)]);
    let bytes =
        fs::read_dir(desk.home()).expect("listed").filter_map(|file| fs::read(file.expect("a file").path()).ok());
    for bytes in bytes {
        assert!(!bytes.windows(16).any(|window| window == b"kJ8x2mQpLw93zzTr"));
    }
}

#[test]
fn what_is_no_text_and_hostile_names_do_no_harm() {
    let mut desk = Desk::new();
    desk.write("docs/long.txt", "zebra ".repeat(1_700_000));
    desk.write("docs/line.txt", format!("{}\nzebra", "x".repeat(900_000)));
    desk.write("docs/nul.bin", b"zebra\0");
    desk.write("docs/latin.txt", b"zebra \xe4\xf6\xfc\nlion \xff");
    desk.write("docs/a\n\u{1b}[2J\u{202e}b.txt", "zebra");
    let name = desk.home().join("docs").join(OsStr::from_bytes(b"\xff.txt"));
    fs::write(name, "zebra").expect("written");
    let pipe = desk.home().join("docs/pipe");
    let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, pipe, rustix::fs::FileType::Fifo, mode, 0).expect("made");
    let report = desk.all();
    assert_eq!((report.read, report.unreadable), (6, 0));
    assert_eq!(desk.left_out(), [(LeftOut::Large, 1), (LeftOut::Binary, 1)]);
    let mut found = desk.found("zebra");
    found.sort();
    assert_eq!(
        found,
        ["docs/a\n\u{1b}[2J\u{202e}b.txt:1", "docs/latin.txt:1", "docs/line.txt:2", "docs/\u{fffd}.txt:1"]
    );
    assert_eq!(desk.found("lion"), ["docs/latin.txt:2"]);
    assert_eq!(desk.all().read, 0, "what was left out is not read again");
}

#[test]
fn much_is_left_for_later_and_a_stopped_one_continues() {
    let mut desk = Desk::new();
    for name in ["a", "b", "c"] {
        desk.write(&format!("docs/{name}.txt"), "zebra words\n".repeat(100));
    }
    let report = desk.refresh("docs", 1).expect("read");
    assert_eq!((report.read, report.is_complete), (1, false));
    assert_eq!(desk.found("zebra").len(), 1, "what is read is found");
    assert_eq!(desk.ask("zebra").1, [desk.home().join("docs")], "it was never read to its end");
    assert_eq!(desk.all().read, 2);
    desk.pass(60);
    assert!(desk.ask("zebra").1.is_empty());
}

#[test]
fn a_place_that_is_unlearned_meanwhile_stays_so() {
    let mut desk = Desk::new();
    desk.write("docs/a.txt", "zebra");
    desk.store.unlearn(&desk.home().join("docs")).expect("deleted");
    assert!(matches!(desk.refresh("docs", u64::MAX), Err(LearnFault::Place(_))));
    assert!(desk.store.places().expect("read").is_empty());
}

#[test]
fn what_lies_in_a_folder_that_cannot_be_read_stays() {
    let mut desk = Desk::new();
    desk.write("docs/in/a.txt", "zebra");
    desk.write("docs/b.txt", "zebra");
    desk.all();
    let closed = desk.home().join("docs/in");
    fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("closed");
    // The administrator reads everything.
    let is_closed = fs::read_dir(&closed).is_err();
    fs::remove_file(desk.home().join("docs/b.txt")).expect("removed");
    let report = desk.all();
    fs::set_permissions(&closed, Permissions::from_mode(0o700)).expect("opened");
    assert_eq!((report.gone, report.unreadable), (1, usize::from(is_closed)));
    assert_eq!(desk.found("zebra"), ["docs/in/a.txt:1"]);
}

#[test]
fn what_the_user_keeps_from_the_assistant_is_not_learned_and_forgotten_if_it_was() {
    let mut desk = Desk::new();
    desk.write("docs/a.txt", "zebra");
    desk.write("docs/private/b.txt", "zebra");
    desk.learn("docs");
    assert_eq!(desk.all().read, 2);
    desk.write("docs/.cohabignore", "private/\n");
    assert_eq!(desk.all().gone, 1);
    assert_eq!(desk.found("zebra"), ["docs/a.txt:1"]);
    desk.write("one.txt", "zebra");
    desk.learn("one.txt");
    assert_eq!(desk.refresh("one.txt", u64::MAX).expect("read").read, 1);
    desk.write(".cohabignore", "one.txt\n");
    assert_eq!(desk.refresh("one.txt", u64::MAX).expect("read").gone, 1);
    assert_eq!(desk.found("zebra"), ["docs/a.txt:1"]);
}

#[test]
fn a_file_that_changes_before_it_is_read_is_known_as_it_was_read() {
    let desk = Desk::new();
    desk.write("docs/a.txt", "zebra");
    let (home, secrets) = (desk.home(), Secrets::of_this_process());
    let ignore = IgnoreRules::new(home.clone(), home.join("ignore"));
    let learner = Learner { secrets: &secrets, home: &home, ignore: &ignore, progress: &mut |_, _| {} };
    let root = home.join("docs");
    let seen = stamp_of(&root.join("a.txt")).expect("a file");
    let unread = || Unread { path: "a.txt".into(), stamp: seen };
    desk.write("docs/a.txt", "a lion, later");
    let file = learner.read(&root, unread()).unwrap_or_else(|(_, error)| panic!("{error}"));
    assert_eq!((Some(file.stamp), file.stamp == seen), (stamp_of(&root.join("a.txt")), false));
    fs::remove_file(root.join("a.txt")).expect("removed");
    assert!(matches!(learner.read(&root, unread()), Err((_, FileError::Missing))));
    symlink(home.join("k.db"), root.join("a.txt")).expect("linked");
    assert!(matches!(learner.read(&root, unread()), Err((_, FileError::Special(_)))));
}

/// Learns a folder of the machine and searches it. Run it in a release build:
/// `COHAB_LEARN_FOLDER=/usr/share cargo nextest run --release -p cohab-tools --run-ignored only --no-capture measured_folder`
#[test]
#[ignore = "a measurement of a folder that the caller names"]
#[expect(clippy::print_stderr, reason = "a measurement is read by a person")]
fn measured_folder() {
    let folder = std::env::var_os("COHAB_LEARN_FOLDER").expect("COHAB_LEARN_FOLDER names a folder");
    let root = Path::new(&folder).canonicalize().expect("a folder");
    let mut desk = Desk::new();
    let place = LearnedPlace { root: root.clone(), scope: Scope::Everywhere, learned: desk.now, looked: None };
    desk.store.learn(&place).expect("learned");
    let mut timed = |what: &str| {
        let began = std::time::Instant::now();
        let report = desk.refresh(&root.to_string_lossy(), u64::MAX).expect("read");
        eprintln!("{what}: {:.1} s, {report:?}", began.elapsed().as_secs_f64());
    };
    timed("learn");
    timed("compare again, nothing changed");
    let summary = desk.store.places().expect("read").into_iter().find(|summary| summary.place.root == root);
    let summary = summary.expect("it is there");
    let size: u64 = ["k.db", "k.db-wal"]
        .iter()
        .filter_map(|file| fs::metadata(desk.home().join(file)).ok())
        .map(|file| file.len())
        .sum();
    eprintln!(
        "{} files, {} passages, {:.1} MB of text, store {:.1} MB; left out: {:?}",
        summary.files,
        summary.passages,
        summary.bytes as f64 / 1e6,
        size as f64 / 1e6,
        summary.left_out
    );
    // Words of passages: one of the three is frequent, the others are as they come.
    let lookup = |question: String| KnowledgeLookup { question, folder: None, limit: 10, least_share: 0.3 };
    let sample = search(&desk.store, &lookup("file default error option".into())).expect("searched");
    let words: Vec<String> = sample.iter().flat_map(|hit| cohab_memory::words::content(&hit.passage.text)).collect();
    let mut times = Vec::new();
    for number in 0..300_usize {
        let word = |step: usize| words[(number * step + step) % words.len()].clone();
        let question = [word(7), word(31), ["file", "use", "set"][number % 3].to_owned()].join(" ");
        let began = std::time::Instant::now();
        search(&desk.store, &lookup(question)).expect("searched");
        times.push(began.elapsed());
    }
    times.sort();
    eprintln!("search of three words: p50 {:?}, p95 {:?}, most {:?}", times[150], times[285], times[299]);
}
