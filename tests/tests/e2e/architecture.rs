//! Checks the architecture rules that no compiler checks: layout, layers, purity, sizes.

mod layers;
mod sizes;
mod type_names;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Command,
};

use cohab_e2e::binaries::workspace_root;
use layers::LAYERS;

use crate::sources::{Source, sources};

/// Everything at the top of the repository but build output.
const TOP_LEVEL: &[&str] = &[
    ".ci",
    ".clippy.toml",
    ".config",
    ".deny.toml",
    ".git",
    ".github",
    ".gitignore",
    ".rustfmt.toml",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "client",
    "daemon",
    "docs",
    "fuzz",
    "protocol",
    "scripts",
    "shell-relay",
    "tests",
];
/// Build output, present or not.
const BUILD_OUTPUT: &[&str] = &["target"];

/// Crates that decide and never act.
const PURE_CRATES: &[&str] = &[
    "cohab-line-classifier",
    "cohab-model-api",
    "cohab-offline",
    "cohab-policy",
    "cohab-policy-data",
    "cohab-secrets",
    "cohab-shell-state",
    "cohab-shell-syntax",
    "cohab-text",
    "cohab-types",
    "cohab-wires",
];

/// Files and folders that decide and never act.
const PURE: &[&str] = &[
    "daemon/crates/agent/src/plan.rs",
    "daemon/crates/graph/src/definition.rs",
    "daemon/crates/graph/src/draw.rs",
    "daemon/crates/graph/src/expression.rs",
    "daemon/crates/graph/src/flow.rs",
    "daemon/crates/graph/src/log.rs",
    "daemon/crates/graph/src/plan.rs",
    "daemon/crates/graph/src/state.rs",
    "daemon/crates/graph/src/template.rs",
    "daemon/crates/graph/src/value.rs",
    "client/crates/conversation/src",
    "client/crates/doctor/src/doctor/report.rs",
    "client/crates/doctor/src/shell_check/facts.rs",
    "client/crates/doctor/src/shell_check/findings.rs",
    "client/crates/doctor/src/shell_check/relay_findings.rs",
    "client/crates/doctor/src/shell_check/report",
    "client/crates/line-classifier/src",
    "daemon/crates/guard/src/pipeline/guard.rs",
    "daemon/crates/guard/src/pipeline/injection.rs",
    "daemon/crates/guard/src/pipeline/instructions.rs",
    "daemon/crates/guard/src/pipeline/mod.rs",
    "daemon/crates/guard/src/pipeline/redaction.rs",
    "daemon/crates/watchers/src/condition.rs",
    "daemon/crates/watchers/src/cron.rs",
    "daemon/crates/watchers/src/log_lines.rs",
    "daemon/crates/watchers/src/parse.rs",
    "daemon/crates/watchers/src/time_rule.rs",
    "shell-relay/crates/policy-data/src",
    "shell-relay/crates/policy/src",
    "shell-relay/crates/secrets/src",
    "shell-relay/crates/shell-state/src/quote.rs",
    "shell-relay/crates/shell-state/src/state",
    "shell-relay/crates/shell-syntax/src",
    "shell-relay/crates/text/src",
    "shell-relay/src/live/guard.rs",
    "shell-relay/src/marks",
];
/// Words that pure code must not contain.
const IMPURE_WORDS: &[&str] = &[
    ".await",
    "async fn",
    "Instant::now",
    "SystemTime::now",
    "std::fs",
    "fs::read",
    "File::open",
    "tokio",
    "std::net",
    "std::process",
    "std::env::var",
    "thread::spawn",
    "println!",
];

#[test]
fn the_top_level_is_as_designed() {
    let entries = fs::read_dir(workspace_root()).expect("the workspace can be read").flatten();
    let names: BTreeSet<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let names: BTreeSet<&str> = names.iter().map(String::as_str).filter(|name| !BUILD_OUTPUT.contains(name)).collect();
    // A source archive has no `.git`.
    let wanted: BTreeSet<&str> =
        TOP_LEVEL.iter().copied().filter(|name| *name != ".git" || names.contains(".git")).collect();
    let (missing, extra): (Vec<_>, Vec<_>) = (wanted.difference(&names).collect(), names.difference(&wanted).collect());
    assert!(missing.is_empty() && extra.is_empty(), "missing: {missing:?}, extra: {extra:?}");
}

#[test]
fn no_package_reaches_over_its_layer() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
    let arguments = ["metadata", "--no-deps", "--offline", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(workspace_root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("there are packages");
    let name = |value: &serde_json::Value| value["name"].as_str().unwrap_or_default().to_owned();
    let ours: BTreeSet<String> = packages.iter().map(name).collect();
    let dependencies: BTreeMap<String, Vec<String>> = packages
        .iter()
        .map(|package| {
            let all = package["dependencies"].as_array().expect("a list").iter();
            // Dependencies of tests only are no layer.
            let all = all.filter(|dependency| dependency["kind"].is_null()).map(name);
            (name(package), all.filter(|dependency| ours.contains(dependency)).collect())
        })
        .collect();
    for (package, allowed) in LAYERS {
        for dependency in &dependencies[*package] {
            assert!(allowed.contains(&dependency.as_str()), "{package} must not depend on {dependency}");
        }
    }
    let all: BTreeSet<&str> = LAYERS.iter().map(|(package, _)| *package).chain(["cohab-e2e"]).collect();
    assert_eq!(ours.iter().map(String::as_str).collect::<BTreeSet<_>>(), all, "a package without a layer");
}

#[test]
fn crates_that_decide_stand_on_nothing_that_acts() {
    for package in PURE_CRATES {
        let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".into());
        // brush-parser 0.4 lists the crate of its snapshot tests among its build dependencies.
        let has_parser = ["cohab-policy", "cohab-shell-syntax"].contains(package);
        let pruned: &[&str] = if has_parser { &["--prune", "insta"] } else { &[] };
        let arguments = ["tree", "-p", package, "-e", "normal", "--prefix", "none", "--offline"];
        let output = Command::new(cargo).args(arguments).args(pruned).current_dir(workspace_root()).output();
        let output = output.expect("cargo runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let tree = String::from_utf8_lossy(&output.stdout);
        let crates: BTreeSet<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(crates.contains(package), "{tree}");
        for acting in ["hyper", "mio", "reqwest", "rusqlite", "rustix", "tokio"] {
            assert!(!crates.contains(acting), "{package} depends on {acting}");
        }
    }
}

#[test]
fn only_the_codec_names_the_binary_format() {
    for source in sources() {
        let is_codec = source.path == "protocol/src/codec.rs" || source.is_below("tests/tests/e2e/architecture.rs");
        assert!(is_codec || !source.says("bincode"), "{} names the binary format", source.path);
    }
}

/// Names after `cohab_protocol::`, one level deep.
fn names_of_the_protocol(code: &str) -> Vec<&str> {
    let named = code.split("cohab_protocol::").skip(1).flat_map(|rest| match rest.strip_prefix('{') {
        Some(group) => group.split('}').next().unwrap_or_default().split(',').collect::<Vec<_>>(),
        None => vec![rest],
    });
    named.map(|name| name.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or_default()).collect()
}

#[test]
fn inside_the_daemon_only_sessions_see_messages() {
    // Where things are, which release this is, a mode that the settings know too, and how amounts are written.
    let neutral = ["", "ApprovalMode", "BUILD", "PROTOCOL_VERSION", "Paths", "amount", "socket"];
    let silent = |source: &&Source| {
        ["daemon/src", "daemon/crates"].iter().any(|folder| source.is_below(folder))
            && !source.is_below("daemon/crates/session")
    };
    for source in sources().iter().filter(silent) {
        for name in names_of_the_protocol(&source.code) {
            assert!(neutral.contains(&name), "{} speaks the protocol: {name}", source.path);
        }
    }
}

#[test]
fn pure_code_does_not_wait_look_at_the_clock_or_touch_the_world() {
    let sources = sources();
    for pure in PURE {
        let prefix = pure.strip_suffix(".rs").unwrap_or(pure);
        let files: Vec<&Source> = sources.iter().filter(|source| source.is_below(prefix)).collect();
        assert!(!files.is_empty(), "{pure} is gone: correct this list");
        for (source, word) in files.iter().flat_map(|source| IMPURE_WORDS.iter().map(move |word| (source, word))) {
            assert!(!source.says(word), "{} is pure and says `{word}`", source.path);
        }
    }
}

#[test]
fn what_draws_does_not_write_to_the_terminal_itself() {
    let drawing = ["client/crates/conversation/src", "client/crates/term/src"];
    for source in sources().iter().filter(|source| drawing.iter().any(|prefix| source.is_below(prefix))) {
        for word in ["stdout()", "stderr()", "/dev/tty"] {
            assert!(!source.says(word), "{} writes past client/src/terminal.rs: `{word}`", source.path);
        }
    }
}
