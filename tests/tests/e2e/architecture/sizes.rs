//! Checks sizes: crates, files, structures.

use std::collections::BTreeMap;

use cohab_e2e::binaries::workspace_root;

use crate::{
    source_rules::manifests,
    sources::{Source, made_up, sources, without_visibility},
};

const FEWEST_CRATES: usize = 22;
const MOST_CRATES: usize = 48;
const CRATE_CAP_LINES: usize = 13_000;
const FILE_CAP_LINES: usize = 500;
const FILE_P90_LINES: usize = 350;
const FILE_MEDIAN_LINES: usize = 140;
const MOST_FIELDS: usize = 24;
/// Structures that everything around them reads: where each is, its name and its most fields.
const FEWER_FIELDS: &[(&str, &str, usize)] = &[("client/", "App", 18), ("client/", "Turn", 20)];

/// Lines of production code of each crate, by its folder.
fn lines_of_crates(sources: &[Source]) -> BTreeMap<&str, usize> {
    let mut lines = BTreeMap::new();
    for source in sources {
        if let Some(package) = source.package() {
            *lines.entry(package).or_default() += source.code.lines().count();
        }
    }
    lines
}

fn too_large<'a>(lines: &BTreeMap<&'a str, usize>) -> Vec<(&'a str, usize)> {
    lines.iter().filter(|(_, lines)| **lines > CRATE_CAP_LINES).map(|(package, lines)| (*package, *lines)).collect()
}

/// A structure with named fields: its name and their number.
fn structures(source: &Source) -> Vec<(&str, usize)> {
    let mut lines = source.statements();
    let mut found = Vec::new();
    while let Some(line) = lines.next() {
        let head = line.trim_start();
        let Some(rest) = without_visibility(head).strip_prefix("struct ") else { continue };
        let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default();
        let indent = line.len() - head.len();
        if line.ends_with([';', '}']) || !line.ends_with('{') && !lines.by_ref().any(|line| line.trim_start() == "{") {
            continue;
        }
        let end = format!("{}}}", &line[..indent]);
        let body = lines.by_ref().take_while(|line| *line != end);
        found.push((name, body.filter(|line| is_field(line, indent + 4)).count()));
    }
    found
}

/// Whether the line begins a field, at this depth.
fn is_field(line: &str, indent: usize) -> bool {
    let field = line.trim_start();
    let name = without_visibility(field).split_once(':').map_or("", |(name, _)| name);
    line.len() - field.len() == indent
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || "_#".contains(c))
}

fn most_fields(path: &str, name: &str) -> usize {
    let fewer = FEWER_FIELDS.iter().find(|(folder, named, _)| path.starts_with(folder) && *named == name);
    fewer.map_or(MOST_FIELDS, |(_, _, most)| *most)
}

/// The structures with too many fields, each with its place.
fn with_too_many_fields(sources: &[Source]) -> Vec<String> {
    let all = sources.iter().filter(|source| source.package().is_some()).flat_map(|source| {
        let large = structures(source).into_iter().filter(|(name, count)| *count > most_fields(&source.path, name));
        large.map(|(name, count)| format!("{}: {name} has {count}", source.path))
    });
    all.collect()
}

#[test]
fn crates_stay_small_and_few() {
    let members = manifests(&workspace_root()).len();
    assert!((FEWEST_CRATES..=MOST_CRATES).contains(&members), "the workspace has {members} members");
    let sources = sources();
    let lines = lines_of_crates(&sources);
    assert_eq!(lines.len(), members, "crates with sources: {:?}", lines.keys());
    let too_large = too_large(&lines);
    assert!(too_large.is_empty(), "crates of more than {CRATE_CAP_LINES} lines without tests: {too_large:?}");
}

#[test]
fn a_crate_that_grew_too_large_is_found() {
    let half = "fn a() {}\n".repeat(CRATE_CAP_LINES / 2);
    let with_tests = format!("{half}#[cfg(test)]\nmod tests {{\n{half}}}\n");
    let mut sources = vec![
        made_up("client/src/a.rs", &half),
        made_up("client/src/b.rs", &with_tests),
        made_up("client/src/tests/c.rs", &half),
        made_up("client/build.rs", &half),
        made_up("client/crates/term/src/a.rs", &half),
    ];
    assert_eq!(too_large(&lines_of_crates(&sources)), []);
    sources.push(made_up("client/src/d.rs", "fn d() {}"));
    assert_eq!(too_large(&lines_of_crates(&sources)), [("client", CRATE_CAP_LINES + 1)]);
}

#[test]
fn files_stay_small() {
    let sources = sources();
    let mut sizes: Vec<(usize, &str)> =
        sources.iter().map(|source| (source.code.lines().count(), source.path.as_str())).collect();
    sizes.sort_unstable();
    let too_long: Vec<_> = sizes.iter().filter(|(lines, _)| *lines > FILE_CAP_LINES).collect();
    assert!(too_long.is_empty(), "more than {FILE_CAP_LINES} lines without tests: {too_long:?}");
    let (median, p90) = (sizes[sizes.len() / 2].0, sizes[sizes.len() * 9 / 10].0);
    assert!(median <= FILE_MEDIAN_LINES, "the median file has {median} lines, at most {FILE_MEDIAN_LINES}");
    assert!(p90 <= FILE_P90_LINES, "nine of ten files have at most {p90} lines, should be {FILE_P90_LINES}");
}

#[test]
fn structures_have_few_fields() {
    let sources = sources();
    let found: usize = sources.iter().map(|source| structures(source).len()).sum();
    assert!(found > 500, "only {found} structures were found");
    for (folder, name, _) in FEWER_FIELDS {
        let mut files = sources.iter().filter(|source| source.path.starts_with(folder));
        let is_there = files.any(|source| structures(source).iter().any(|(found, _)| found == name));
        assert!(is_there, "no {name} in {folder}: correct the list");
    }
    let large = with_too_many_fields(&sources);
    assert!(
        large.is_empty(),
        "structures with too many fields, most have at most {MOST_FIELDS}:\n{}",
        large.join("\n")
    );
}

#[test]
fn a_structure_with_too_many_fields_is_found() {
    let fields =
        |count: usize| (0..count).map(|at| format!("    /// One.\n    pub field_{at}: u8,\n")).collect::<String>();
    let structure = |name: &str, count| {
        format!("struct Unit;\n\npub(crate) struct {name}<T>\nwhere\n    T: Copy,\n{{\n{}}}\n", fields(count))
    };
    let large = |path, name, count| with_too_many_fields(&[made_up(path, &structure(name, count))]);
    assert_eq!(large("client/src/a.rs", "Large", 25), ["client/src/a.rs: Large has 25"]);
    assert_eq!(large("client/src/a.rs", "Large", 24), Vec::<String>::new());
    let app = "client/crates/state/src/app.rs";
    assert_eq!(large(app, "App", 19), [format!("{app}: App has 19")]);
    assert_eq!(large("daemon/src/app.rs", "App", 19), Vec::<String>::new());
    assert_eq!(large("client/src/app/tests/a.rs", "Large", 25), Vec::<String>::new());
}
