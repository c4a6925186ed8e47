//! Finds files of a crate that import each other in a circle, from the `use` lines and the paths of its sources.
//!
//! An import of a re-export counts as an import of the file that defines the name. A `pub use` itself is no import. A path in other
//! code, such as `super::a::f()`, is one, except for a path to a module below: a module may call what it is made of.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::binaries::workspace_root;

use crate::sources::{is_test, rust_files, without_tests};

const PACKAGES: [&str; 5] = ["client", "daemon", "protocol", "shell-relay", "tests"];
/// A re-export of a re-export is followed so many times.
const MOST_REEXPORTS: usize = 5;

/// The path of a module below its crate.
type Module = Vec<String>;

/// The modules of one crate, with what they import, what they name in other code, and what they re-export.
#[derive(Default)]
struct Crate {
    imports: BTreeMap<Module, Vec<Module>>,
    mentions: BTreeMap<Module, Vec<Module>>,
    reexports: BTreeMap<(Module, String), Module>,
}

/// Folders that hold the source of a crate below this one: `src`, and the folders of programs in `src/bin`.
fn source_folders(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in folders(folder) {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("src") => {
                found.extend(folders(&path.join("bin")));
                found.push(path);
            }
            Some(name) if name != "target" => source_folders(&path, found),
            _ => {}
        }
    }
}

fn folders(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(|path| path.is_dir())
}

/// The names of an import tree, each with its whole path.
fn leaves(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap_or_default().trim().to_owned()];
    };
    let inner = inner.trim_end().strip_suffix('}').unwrap_or(inner);
    let (mut parts, mut depth) = (vec![String::new()], 0_usize);
    for c in inner.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ',' && depth == 0 {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            part.push(c);
        }
    }
    let parts = parts.iter().filter(|part| !part.trim().is_empty());
    parts.flat_map(|part| leaves(part)).map(|leaf| format!("{}{leaf}", before.trim())).collect()
}

impl Crate {
    fn read(source: &Path) -> Self {
        let mut files = Vec::new();
        rust_files(source, &mut files);
        let has_library = source.join("lib.rs").is_file();
        let named = files.into_iter().filter_map(|file| {
            let relative = file.strip_prefix(source).ok()?.with_extension("");
            let mut module: Module = relative.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            let is_code = !module.iter().any(|name| is_test(name)) && module.first().is_none_or(|first| first != "bin");
            // Next to a library the program is a crate that the library does not see.
            let is_program = has_library && module == ["main"];
            if module.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) && !is_program {
                module.pop();
            }
            is_code.then_some((module, file))
        });
        let files: BTreeMap<Module, PathBuf> = named.collect();
        let mut all = Self::default();
        for (module, file) in &files {
            let text = fs::read_to_string(file).expect("sources are UTF-8");
            all.add(module, &without_tests(&text), &files);
        }
        all
    }

    fn add(&mut self, module: &Module, code: &str, files: &BTreeMap<Module, PathBuf>) {
        let lines: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let (mut imported, mut mentioned) = (Vec::new(), Vec::new());
        for statement in lines.join("\n").split(';') {
            let start = statement.rfind("use ").filter(|start| is_statement(&statement[..*start]));
            let other = &statement[..start.unwrap_or(statement.len())];
            mentioned.extend(paths(other).into_iter().filter_map(|path| resolve(module, path, files)));
            let Some(start) = start else { continue };
            let is_public =
                statement[..start].lines().next_back().is_some_and(|line| line.trim_start().starts_with("pub"));
            for leaf in leaves(&statement[start + "use ".len()..].replace('\n', " ")) {
                let Some(path) = resolve(module, &leaf, files) else { continue };
                match path.last() {
                    Some(name) if is_public => drop(self.reexports.insert((module.clone(), name.clone()), path)),
                    _ => imported.push(path),
                }
            }
        }
        self.imports.insert(module.clone(), imported);
        self.mentions.insert(module.clone(), mentioned);
    }

    /// The module that defines what this path names.
    fn owner(&self, path: &[String], reexports: usize) -> Option<Module> {
        let length = (0..=path.len()).rev().find(|length| self.imports.contains_key(&path[..*length]))?;
        let (module, rest) = (path[..length].to_vec(), &path[length..]);
        let next = rest.first().and_then(|name| self.reexports.get(&(module.clone(), name.clone())));
        match next.filter(|_| reexports < MOST_REEXPORTS) {
            Some(next) => self.owner(&[&next[..], &rest[1..]].concat(), reexports + 1),
            None => Some(module),
        }
    }

    /// Groups of modules of which each imports each other, directly or not.
    fn circles(&self) -> BTreeSet<BTreeSet<Module>> {
        let owners = |paths: &[Module]| paths.iter().filter_map(|path| self.owner(path, 0)).collect::<Vec<_>>();
        let next = self.imports.iter().map(|(module, imported)| {
            let mentioned = owners(&self.mentions[module]).into_iter().filter(|other| !other.starts_with(module));
            (module, owners(imported).into_iter().chain(mentioned).collect())
        });
        let next: BTreeMap<&Module, BTreeSet<Module>> = next.collect();
        let reached = |from: &Module| {
            let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
            while let Some(module) = open.pop() {
                let new = next[&module].iter().filter(|next| **next != module && seen.insert((*next).clone()));
                open.extend(new.cloned());
            }
            seen
        };
        let reach: BTreeMap<&Module, BTreeSet<Module>> = next.keys().map(|module| (*module, reached(module))).collect();
        let group =
            |module: &Module| reach[module].iter().filter(|other| reach[other].contains(module)).cloned().collect();
        let groups: BTreeSet<BTreeSet<Module>> = next.keys().map(|module| group(module)).collect();
        groups.into_iter().filter(|group| group.len() > 1).collect()
    }
}

/// Whether a `use` behind this text begins a statement: its line holds nothing before it but `pub`.
fn is_statement(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line == "pub" || (line.starts_with("pub(") && line.ends_with(')'))
}

/// The paths in code that begin at the crate, this module or the one above. The path of a visibility names no item.
fn paths(code: &str) -> Vec<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    for start in ["crate::", "self::", "super::"].iter().flat_map(|first| code.match_indices(first)).map(|(at, _)| at) {
        let before = &code[..start];
        if before.ends_with(|c| is_name(c) || c == ':') || before.ends_with("(in ") {
            continue;
        }
        let mut end = start;
        loop {
            end += code[end..].find(|c| !is_name(c)).unwrap_or(code.len() - end);
            let is_longer = code[end..].strip_prefix("::").is_some_and(|rest| rest.starts_with(is_name));
            if !is_longer {
                break;
            }
            end += "::".len();
        }
        found.push(&code[start..end]);
    }
    found
}

/// The path below the crate of what is imported; `None` if it is of another crate.
fn resolve(module: &Module, leaf: &str, files: &BTreeMap<Module, PathBuf>) -> Option<Module> {
    let names: Vec<String> = leaf.split("::").map(|name| name.trim().to_owned()).collect();
    let (first, rest) = names.split_first()?;
    match first.as_str() {
        "crate" => Some(rest.to_vec()),
        "self" => Some([module, rest].concat()),
        "super" => {
            let ups = names.iter().take_while(|name| *name == "super").count();
            let base = &module[..module.len().checked_sub(ups)?];
            Some([base, &names[ups..]].concat())
        }
        _ => {
            let child = [&module[..], std::slice::from_ref(first)].concat();
            files.contains_key(&child).then(|| [&module[..], &names[..]].concat())
        }
    }
}

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() {
    let root = workspace_root();
    let mut found = Vec::new();
    for package in PACKAGES {
        let mut folders = Vec::new();
        source_folders(&root.join(package), &mut folders);
        assert!(!folders.is_empty(), "{package} has no sources");
        for folder in &folders {
            let circles = Crate::read(folder).circles();
            let name = |module: &Module| if module.is_empty() { "lib".into() } else { module.join("::") };
            found.extend(circles.iter().map(|circle| {
                let names: Vec<String> = circle.iter().map(name).collect();
                format!("{}: {}", folder.strip_prefix(&root).unwrap_or(folder).display(), names.join(", "))
            }));
        }
    }
    assert!(found.is_empty(), "{} circles of files:\n{}", found.len(), found.join("\n"));
}

#[test]
fn a_circle_is_found_through_a_re_export() {
    let mut one = Crate::default();
    let module = |name: &str| vec![name.to_owned()];
    let files: BTreeMap<Module, PathBuf> =
        [vec![], module("a"), module("b"), module("c")].into_iter().map(|module| (module, PathBuf::new())).collect();
    one.add(&vec![], "mod a;\nmod b;\nmod c;\n\npub use self::{a::A, b::B};", &files);
    one.add(&module("a"), "use std::fmt;\n\nuse crate::B;", &files);
    one.add(&module("b"), "use super::{\n    c,\n    a::{A, other},\n};", &files);
    one.add(&module("c"), "// use crate::A;\nuse serde::Serialize;", &files);
    let circle: BTreeSet<Module> = [module("a"), module("b")].into();
    assert_eq!(one.circles(), [circle].into());
}

#[test]
fn a_circle_is_found_through_a_path_in_an_expression() {
    let mut one = Crate::default();
    let module = |name: &str| vec![name.to_owned()];
    let below = vec!["a".to_owned(), "below".to_owned()];
    let modules = [vec![], module("a"), below.clone(), module("b"), module("c")];
    let files: BTreeMap<Module, PathBuf> = modules.into_iter().map(|module| (module, PathBuf::new())).collect();
    one.add(&vec![], "mod a;\n\nfn all() -> A {\n    self::a::f(crate::b::g())\n}", &files);
    one.add(&module("a"), "mod below;\n\npub(in crate::b) fn f(b: &B) {\n    self::below::g(b);\n}", &files);
    one.add(
        &below,
        "fn g() {\n    // super::super::c::h();\n    super::f(super::super::b::B::<u8>::new());\n}",
        &files,
    );
    one.add(&module("b"), "use super::c::C;\n\nstruct B(Vec<C>);", &files);
    assert_eq!(one.circles(), BTreeSet::new());
    one.add(&module("c"), "struct C;\n\nfn h() -> Option<Vec<crate::a::below::G>> {\n    None\n}", &files);
    let circle: BTreeSet<Module> = [below, module("b"), module("c")].into();
    assert_eq!(one.circles(), [circle].into());
}
