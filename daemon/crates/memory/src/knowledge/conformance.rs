//! The tests that every [`KnowledgeStore`] has to pass. Each takes an empty store and panics when the store breaks the contract.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::{
    record::{FileStamp, LearnedFile, LearnedPlace, LeftOut, Passage},
    search::{KnowledgeLookup, RankedPassage, search},
    split,
    store::{KnowledgeStore, MAX_HITS},
    terms,
};
use crate::{past::store::WordGroup, record::Scope};

/// All of them.
pub fn all<S: KnowledgeStore>(empty: impl Fn() -> S) {
    files_come_back_as_they_were(&mut empty());
    a_file_is_replaced_as_a_whole(&mut empty());
    a_place_takes_those_below_it(&mut empty());
    a_place_that_is_gone_takes_nothing(&mut empty());
    passages_are_found_from_their_project_only(&mut empty());
    text_headings_and_paths_are_found(&mut empty());
    a_part_of_a_name_finds_it(&mut empty());
    more_words_come_first_and_rarer_ones_count_more(&mut empty());
    hits_are_few(&mut empty());
    hostile_texts_paths_and_terms_are_data(&mut empty());
    an_unlearned_place_is_gone(&mut empty());
}

/// A moment, in seconds since the epoch.
#[must_use]
pub fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// A place that is found from everywhere.
#[must_use]
pub fn place(root: &str) -> LearnedPlace {
    LearnedPlace { root: root.into(), scope: Scope::Everywhere, learned: at(1), looked: None }
}

/// A file with the passages of this text.
#[must_use]
pub fn file(path: &str, text: &str) -> LearnedFile {
    let stamp = FileStamp { bytes: text.len() as u64, modified_ns: 1_000, inode: 7 };
    LearnedFile { path: path.into(), stamp, content: Ok(split::passages(Path::new(path), text)) }
}

/// Learns a place with these files.
pub fn learn<S: KnowledgeStore>(store: &mut S, place: &LearnedPlace, files: &[LearnedFile]) {
    store.learn(place).unwrap();
    assert!(store.replace(&place.root, files, &[]).unwrap());
}

/// What is found for a question from a folder.
#[must_use]
pub fn found<S: KnowledgeStore>(store: &S, question: &str, folder: Option<&str>) -> Vec<RankedPassage> {
    let folder = folder.map(PathBuf::from);
    search(store, &KnowledgeLookup { question: question.into(), folder, limit: 10, least_share: 0.0 }).unwrap()
}

/// The sources of what is found from everywhere: file and line.
#[must_use]
pub fn sources<S: KnowledgeStore>(store: &S, question: &str) -> Vec<String> {
    let found = found(store, question, None);
    found.iter().map(|found| format!("{}:{}", found.file.display(), found.line)).collect()
}

fn files_come_back_as_they_were<S: KnowledgeStore>(store: &mut S) {
    let place = LearnedPlace { scope: Scope::Project("/src".into()), looked: None, ..place("/src/docs") };
    let large = LearnedFile { content: Err(LeftOut::Large), ..file("big.bin", "x") };
    let stamp = FileStamp { bytes: u64::from(u32::MAX), modified_ns: i64::MIN, inode: u64::MAX };
    let files = [LearnedFile { stamp, ..file("a.md", "# One\n\ntext") }, file("b/c.md", ""), large];
    learn(store, &place, &files);
    let known = store.files(&place.root).unwrap();
    assert_eq!(known.len(), 3);
    assert!(files.iter().all(|file| known[&file.path] == file.stamp), "{known:?}");
    let summary = store.places().unwrap().remove(0);
    assert_eq!((&summary.place, summary.files, summary.passages), (&place, 2, 1));
    assert_eq!((summary.bytes, summary.left_out), (u64::from(u32::MAX), vec![(LeftOut::Large, 1)]));
    store.looked(&place.root, at(9)).unwrap();
    store.learn(&LearnedPlace { scope: Scope::Everywhere, learned: at(8), ..place.clone() }).unwrap();
    let summary = store.places().unwrap().remove(0);
    let expected = LearnedPlace { scope: Scope::Everywhere, learned: at(8), looked: Some(at(9)), ..place };
    assert_eq!((summary.place, summary.passages), (expected, 1), "its files stay");
    let passage = found(store, "text", None).remove(0);
    assert_eq!(passage.file, Path::new("/src/docs/a.md"));
    assert_eq!(passage.passage, Passage { line: 1, headings: "One".into(), text: "# One\n\ntext".into() });
    assert_eq!((passage.line, store.changed().unwrap()), (3, Vec::new()));
}

fn a_file_is_replaced_as_a_whole<S: KnowledgeStore>(store: &mut S) {
    learn(store, &place("/docs"), &[file("a.txt", "the old zebra"), file("b.txt", "a walrus")]);
    assert!(store.replace(Path::new("/docs"), &[file("a.txt", "the new lion")], &["b.txt".into()]).unwrap());
    assert!(found(store, "zebra", None).is_empty() && found(store, "walrus", None).is_empty());
    assert_eq!(sources(store, "lion"), ["/docs/a.txt:1"]);
    assert_eq!(store.files(Path::new("/docs")).unwrap().len(), 1);
    let binary = LearnedFile { content: Err(LeftOut::Binary), ..file("a.txt", "") };
    assert!(store.replace(Path::new("/docs"), &[binary], &["never.txt".into()]).unwrap());
    assert!(found(store, "lion", None).is_empty());
}

fn a_place_takes_those_below_it<S: KnowledgeStore>(store: &mut S) {
    learn(store, &place("/a/docs/in"), &[file("x.txt", "zebra")]);
    learn(store, &place("/a/docs-old"), &[file("x.txt", "zebra")]);
    store.learn(&place("/a/docs")).unwrap();
    let roots: Vec<PathBuf> = store.places().unwrap().into_iter().map(|summary| summary.place.root).collect();
    assert_eq!(roots, [Path::new("/a/docs"), Path::new("/a/docs-old")]);
    assert_eq!(sources(store, "zebra"), ["/a/docs-old/x.txt:1"]);
}

fn a_place_that_is_gone_takes_nothing<S: KnowledgeStore>(store: &mut S) {
    assert!(!store.replace(Path::new("/docs"), &[file("a.txt", "zebra")], &[]).unwrap());
    store.looked(Path::new("/docs"), at(3)).unwrap();
    assert_eq!(store.unlearn(Path::new("/docs")).unwrap(), None);
    assert!(store.places().unwrap().is_empty() && found(store, "zebra", None).is_empty());
}

fn passages_are_found_from_their_project_only<S: KnowledgeStore>(store: &mut S) {
    let in_project = |root: &str, project: &str| LearnedPlace { scope: Scope::Project(project.into()), ..place(root) };
    learn(store, &in_project("/src/shop/docs", "/src/shop"), &[file("a.txt", "zebra")]);
    learn(store, &in_project("/src/site", "/src/site"), &[file("b.txt", "zebra")]);
    learn(store, &place("/notes"), &[file("c.txt", "zebra")]);
    let count = |folder| found(store, "zebra", folder).len();
    assert_eq!(
        (count(Some("/src/shop/web")), count(Some("/src/shopping")), count(Some("/")), count(None)),
        (2, 1, 1, 3)
    );
    assert_eq!(count(Some("/src/site/../shop")), 1, "a path with `..` is in no project");
}

fn text_headings_and_paths_are_found<S: KnowledgeStore>(store: &mut S) {
    let text = format!("# Rollback\n\n{}\n\nPress the lever.\n", "Many words stand here. ".repeat(30));
    let files = [file("deploy.md", &text), file("bin/restartServer.sh", "exec true"), file("other.md", "nothing")];
    learn(store, &place("/docs"), &files);
    assert_eq!(sources(store, "pressing levers"), ["/docs/deploy.md:5"], "the line of the words");
    assert_eq!(found(store, "rollback", None).len(), 2, "each passage below a heading");
    assert_eq!(sources(store, "how to restart the server"), ["/docs/bin/restartServer.sh:1"]);
    assert!(sources(store, "the").is_empty() && sources(store, "walrus").is_empty());
}

fn a_part_of_a_name_finds_it<S: KnowledgeStore>(store: &mut S) {
    let files = [file("run_deploy_production.sh", "x"), file("b.txt", "edit the kubeconfig"), file("c.txt", "conf")];
    learn(store, &place("/ops"), &files);
    assert_eq!(sources(store, "deploy_prod")[0], "/ops/run_deploy_production.sh:1");
    assert_eq!(sources(store, "beconf"), ["/ops/b.txt:1"]);
    assert_eq!(sources(store, "kubeconfgi"), ["/ops/b.txt:1"], "mistyped");
    assert_eq!(sources(store, "conf"), ["/ops/c.txt:1"], "what is stored itself stands for nothing else");
}

fn more_words_come_first_and_rarer_ones_count_more<S: KnowledgeStore>(store: &mut S) {
    let files = [
        file("a.txt", "nginx and some other words about it"),
        file("b.txt", "nginx certificates"),
        file("c.txt", "nginx for the site"),
        file("d.txt", "certificates for mail"),
    ];
    learn(store, &place("/docs"), &files);
    assert_eq!(sources(store, "nginx certificates")[..2], ["/docs/b.txt:1", "/docs/d.txt:1"]);
}

fn hits_are_few<S: KnowledgeStore>(store: &mut S) {
    let mut files: Vec<LearnedFile> = (0..300).map(|n| file(&format!("{n}.txt"), "zebra")).collect();
    files.push(file("rare.txt", "zebra crossing"));
    learn(store, &place("/docs"), &files);
    let groups = terms::of("zebra crossing").into_iter().map(|term| WordGroup { term, others: Vec::new() });
    let groups: Vec<WordGroup> = groups.collect();
    let result = store.search(&groups, None).unwrap();
    assert_eq!((result.total, result.with_term, result.hits.len()), (301, vec![(301, vec![]), (1, vec![])], MAX_HITS));
    assert!(result.hits.iter().any(|hit| hit.file == Path::new("/docs/rare.txt")));
}

fn hostile_texts_paths_and_terms_are_data<S: KnowledgeStore>(store: &mut S) {
    let texts = [
        "zebra\0lion",
        "zebra \u{1b}[31m\u{202e}red",
        "zebra \" OR * NEAR(x) '; DROP TABLE files; --",
        "zebra\u{feff}",
    ];
    let paths = ["a\nb.txt", "\u{1b}[2Jc.txt", "d'\";--.txt", " .txt"];
    let files: Vec<LearnedFile> = paths.iter().zip(texts).map(|(path, text)| file(path, text)).collect();
    learn(store, &place("/docs/\u{202e}x"), &files);
    let hits = found(store, "zebra", None);
    assert_eq!(hits.len(), texts.len());
    assert!(hits.iter().all(|hit| texts.contains(&hit.passage.text.as_str())), "{hits:?}");
    for term in ["", "\"", "zebra\" OR \"red", "§1", "(", "%", "_", "NEAR", "\0", "\u{1f980}"] {
        let group = WordGroup { term: term.to_owned(), others: vec![term.to_owned()] };
        let hits = store.search(&[group], None).unwrap().hits;
        assert!(hits.len() <= 1, "{term:?}: {hits:?}");
        assert!(store.alternatives(term).unwrap().len() <= 1, "{term:?}");
    }
}

fn an_unlearned_place_is_gone<S: KnowledgeStore>(store: &mut S) {
    let large = LearnedFile { content: Err(LeftOut::Large), ..file("big", "") };
    learn(store, &place("/a"), &[file("x.txt", "zebra"), large]);
    learn(store, &place("/b"), &[file("x.txt", "zebra")]);
    assert_eq!(store.unlearn(Path::new("/a")).unwrap(), Some(1));
    assert_eq!(sources(store, "zebra"), ["/b/x.txt:1"]);
    assert_eq!(store.unlearn(Path::new("/b")).unwrap(), Some(1));
    assert!(store.places().unwrap().is_empty() && sources(store, "zebra").is_empty());
    learn(store, &place("/a"), &[file("y.txt", "zebra")]);
    assert_eq!(sources(store, "zebra"), ["/a/y.txt:1"]);
}
