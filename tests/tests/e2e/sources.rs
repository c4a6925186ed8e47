//! Reads the source files of the workspace without their tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use cohab_e2e::binaries::workspace_root;

/// A source file without its tests.
pub(crate) struct Source {
    /// Relative to the root of the workspace.
    pub(crate) path: String,
    pub(crate) code: String,
}

impl Source {
    /// Lines that are no comment.
    pub(crate) fn statements(&self) -> impl Iterator<Item = &str> {
        self.code.lines().filter(|line| !line.trim_start().starts_with("//"))
    }

    pub(crate) fn says(&self, word: &str) -> bool {
        self.statements().any(|line| line.contains(word))
    }

    pub(crate) fn is_below(&self, prefix: &str) -> bool {
        self.path.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || rest == ".rs")
    }

    /// The folder of the crate whose `src` holds this file; `None` for files that no program is made of.
    pub(crate) fn package(&self) -> Option<&str> {
        let (package, file) = self.path.split_once("/src/")?;
        (!file.split('/').any(is_test)).then_some(package)
    }
}

/// Whether a module of this name holds nothing but tests.
pub(crate) fn is_test(name: &str) -> bool {
    let name = name.strip_suffix(".rs").unwrap_or(name);
    name == "tests" || name.ends_with("_tests")
}

/// The text of a source file without its modules of tests. `mod tests;` is one line; `mod tests { .. }` ends at the next brace in the
/// first column.
pub(crate) fn without_tests(text: &str) -> String {
    let mut kept = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            kept.push(line);
            continue;
        }
        let mut item = vec![line];
        while item.last().is_some_and(|line| line.starts_with("#[")) {
            let Some(line) = lines.next() else { break };
            item.push(line);
        }
        match item.last().filter(|line| without_visibility(line).starts_with("mod ")) {
            Some(module) if module.ends_with(';') => {}
            Some(module) if module.ends_with('{') => drop(lines.find(|line| *line == "}")),
            _ => kept.append(&mut item),
        }
    }
    kept.join("\n")
}

/// An item behind its `pub` or `pub(..)`.
pub(crate) fn without_visibility(item: &str) -> &str {
    let Some(rest) = item.strip_prefix("pub") else { return item };
    match rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, rest)) => rest.trim_start(),
        None => rest.strip_prefix(' ').unwrap_or(item),
    }
}

/// All Rust files below a folder.
pub(crate) fn rust_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// All source files of the packages; `tests.rs` and `*_tests.rs` hold nothing but tests and are left out.
pub(crate) fn sources() -> Vec<Source> {
    let root = workspace_root();
    let mut paths = Vec::new();
    for package in ["protocol", "shell-relay", "client", "daemon", "tests"] {
        rust_files(&root.join(package), &mut paths);
    }
    let is_code = |path: &PathBuf| !path.file_name().is_some_and(|name| is_test(&name.to_string_lossy()));
    paths.sort();
    paths.iter().filter(|path| is_code(path)).map(|path| source(&root, path)).collect()
}

fn source(root: &Path, path: &Path) -> Source {
    let text = fs::read_to_string(path).expect("sources are UTF-8");
    let path = path.strip_prefix(root).expect("sources are in the workspace").display().to_string();
    Source { path, code: without_tests(&text) }
}

/// A source of a made-up path and text.
pub(crate) fn made_up(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), code: without_tests(text) }
}

#[test]
fn code_after_a_declaration_of_tests_is_read() {
    let declared =
        "mod a;\n#[cfg(test)]\nmod tests;\nmod b;\n#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod c_tests;\nfn d() {}\n";
    assert_eq!(without_tests(declared), "mod a;\nmod b;\nfn d() {}");
    let inside = "fn a() {}\n#[cfg(test)]\npub(super) mod tests {\n    fn b() {\n    }\n}\nfn c() {}\n";
    assert_eq!(without_tests(inside), "fn a() {}\nfn c() {}");
    let other = "#[cfg(test)]\nfn a() {\n}\n#[cfg(any(test, unix))]\nmod b;\n";
    assert_eq!(without_tests(other), other.trim_end());
}

#[test]
fn a_file_belongs_to_the_crate_whose_src_holds_it() {
    let package = |path: &str| made_up(path, "").package().map(str::to_owned);
    assert_eq!(package("client/crates/term/src/keys.rs").as_deref(), Some("client/crates/term"));
    assert_eq!(package("tests/src/bin/bench/main.rs").as_deref(), Some("tests"));
    for path in ["client/src/app/tests/screens.rs", "client/src/app_tests.rs", "client/build.rs", "daemon/benches/a.rs"]
    {
        assert_eq!(package(path), None, "{path}");
    }
}
