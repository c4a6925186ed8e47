//! Checks the documents and the scripts: links lead somewhere, named files exist, commands can be run.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

use cohab_e2e::binaries::workspace_root;

/// Lines of the fenced blocks of a Markdown text, without a leading `$ `.
fn commands(markdown: &str) -> Vec<String> {
    let mut is_inside = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            is_inside = !is_inside;
        } else if is_inside {
            found.push(line.trim().trim_start_matches("$ ").to_owned());
        }
    }
    found
}

/// The Markdown files at the top and below `docs`.
fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    let mut folders = vec![root.join("docs")];
    let top = fs::read_dir(root).expect("the workspace can be read").flatten().map(|entry| entry.path());
    found.extend(top.filter(|path| path.extension().is_some_and(|is| is == "md")));
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(&folder).expect("docs can be read").flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|is| is == "md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn links_of_the_documents_lead_to_files() {
    let root = workspace_root();
    let mut links = 0;
    for document in documents(&root) {
        let text = fs::read_to_string(&document).expect("documents are UTF-8");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets.filter(|target| !target.contains("://") && !target.starts_with('#')) {
            let file = target.split('#').next().unwrap_or_default();
            let path = document.parent().expect("a file is in a folder").join(file);
            assert!(path.exists(), "{} links to {target}, which is not there", document.display());
            links += 1;
        }
    }
    assert!(links > 10, "{links}");
}

#[test]
fn the_summary_lists_every_page() {
    let root = workspace_root();
    let summary = fs::read_to_string(root.join("docs/SUMMARY.md")).expect("there is a summary");
    for page in documents(&root) {
        let Ok(page) = page.strip_prefix(root.join("docs")) else { continue };
        let is_listed = page == Path::new("SUMMARY.md") || summary.contains(&format!("]({})", page.display()));
        assert!(is_listed, "docs/SUMMARY.md does not list {}", page.display());
    }
}

#[test]
fn files_that_the_documents_name_exist() {
    let root = workspace_root();
    let places = ["client/", "daemon/", "docs/", "protocol/", "scripts/", "shell-relay/", "tests/"];
    let mut named = 0;
    for document in documents(&root).iter().filter(|path| !path.ends_with("CHANGELOG.md")) {
        let text = fs::read_to_string(document).expect("documents are UTF-8");
        let words = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
        for word in words.filter(|word| places.iter().any(|place| word.starts_with(place))) {
            let path = word.split([' ', ':', '*']).next().unwrap_or_default();
            assert!(root.join(path).exists(), "{} names {word}, which is not there", document.display());
            named += 1;
        }
    }
    assert!(named > 100, "{named}");
}

#[test]
fn the_recorded_patches_apply_and_are_small() {
    let root = workspace_root();
    let contributing = fs::read_to_string(root.join("CONTRIBUTING.md")).expect("there is a CONTRIBUTING.md");
    for (name, most_files, most_lines) in
        [("command", 1, 1), ("key", 0, 3), ("tool", 1, 1), ("wire", 1, 1), ("policy-rule", 0, 1)]
    {
        let file = format!("docs/patches/{name}.patch");
        assert!(contributing.contains(&format!("]({file})")), "CONTRIBUTING.md does not link {file}");
        let checked = Command::new("git").args(["apply", "--check", &file]).current_dir(&root).output();
        let checked = checked.expect("git can be run");
        assert!(checked.status.success(), "{file}: {}", String::from_utf8_lossy(&checked.stderr));
        let patch = fs::read_to_string(root.join(&file)).expect("patches are UTF-8");
        let (new, changed): (Vec<_>, Vec<_>) =
            patch.split("diff --git ").skip(1).partition(|part| part.contains("\nnew file mode "));
        let is_change =
            |line: &&str| line.starts_with(['+', '-']) && !line.starts_with("+++ ") && !line.starts_with("--- ");
        let lines: usize = changed.iter().map(|part| part.lines().filter(is_change).count()).sum();
        assert!(new.len() <= most_files && lines <= most_lines, "{file}: {} new files, {lines} lines", new.len());
    }
}

#[test]
fn the_commands_of_the_readme_exist() {
    let root = workspace_root();
    let readme = fs::read_to_string(root.join("README.md")).expect("there is a README");
    let commands = commands(&readme);
    for wanted in ["./scripts/run", "./scripts/test"] {
        assert!(
            commands.iter().any(|command| command.split_whitespace().next() == Some(wanted)),
            "no {wanted} in README.md"
        );
    }
    let programs = commands.iter().filter_map(|command| command.split_whitespace().next());
    for program in programs.filter(|program| program.starts_with("./")) {
        let metadata = fs::metadata(root.join(program)).unwrap_or_else(|_| panic!("README.md names {program}"));
        assert!(metadata.is_file() && metadata.permissions().mode() & 0o111 != 0, "{program} cannot be run");
    }
}

#[test]
fn every_script_is_strict_and_explains_itself() {
    let scripts = fs::read_dir(workspace_root().join("scripts")).expect("there are scripts").flatten();
    for script in scripts.map(|entry| entry.path()) {
        let text = fs::read_to_string(&script).expect("scripts are text");
        let name = script.display();
        assert!(text.starts_with("#!/usr/bin/env bash\n"), "{name} is no bash script");
        assert!(text.contains("\nset -euo pipefail\n"), "{name} is not strict");
        let help = Command::new(&script).arg("--help").current_dir("/").output().expect("the script can be run");
        assert!(help.status.success(), "{name} --help fails");
        assert!(String::from_utf8_lossy(&help.stdout).contains("Usage:"), "{name} --help shows no usage");
    }
}

#[test]
fn the_licence_is_the_one_the_packages_name() {
    let text = fs::read_to_string(workspace_root().join("LICENSE")).expect("there is a licence");
    assert!(text.starts_with("MIT License\n") && text.contains("the cohab contributors"), "{text}");
}
