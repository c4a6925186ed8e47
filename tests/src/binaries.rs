//! Finds the programs under test, next to the running program.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use cohab_shell_state::quote;

/// The folder that holds `cohab` and `cohabd`: `COHAB_BIN_DIR`, or `target/<profile>` of the running test or bench.
///
/// # Panics
/// If the running program has no path.
#[must_use]
pub fn folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("COHAB_BIN_DIR") {
        return PathBuf::from(folder);
    }
    let program = std::env::current_exe().expect("a running program has a path");
    let folder = program.parent().expect("a program is in a folder");
    if folder.ends_with("deps") { folder.parent().unwrap_or(folder).to_owned() } else { folder.to_owned() }
}

/// The path of one of our programs.
///
/// # Panics
/// If it was not built, with the command that builds it.
#[must_use]
pub fn program(name: &str) -> PathBuf {
    let path = folder().join(name);
    assert!(
        path.is_file(),
        "{} is missing: build it with `cargo build --workspace --bins` (scripts/test does), or set COHAB_BIN_DIR",
        path.display()
    );
    path
}

/// One of our programs as a word of a shell's: the clone may lie anywhere.
///
/// # Panics
/// As [`program`].
#[must_use]
pub fn word(name: &str) -> String {
    quote::word(&program(name).display().to_string())
}

/// Whether `name` is an executable somewhere in `PATH`.
#[must_use]
pub fn is_installed(name: &str) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| is_executable(&dir.join(name))))
}

/// The same; if not, says that a test is skipped for want of it.
#[must_use]
pub fn is_installed_or_skip(name: &str) -> bool {
    let is_there = is_installed(name);
    if !is_there {
        let _ = writeln!(std::io::stderr(), "SKIPPED: `{name}` is not installed");
    }
    is_there
}

/// Runs a test in each of the shells that a session can be opened in, as far as they are installed.
pub fn in_each_shell(test: impl Fn(&str)) {
    in_each_of(&["bash", "zsh", "fish"], test);
}

/// The same for these shells.
pub fn in_each_of(shells: &[&str], test: impl Fn(&str)) {
    shells.iter().filter(|shell| is_installed_or_skip(shell)).for_each(|shell| test(shell));
}

fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok() && path.is_file()
}

/// The root of the workspace.
///
/// # Panics
/// Never: this package is one level below it.
#[must_use]
pub fn workspace_root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("this package is inside the workspace").to_owned()
}
