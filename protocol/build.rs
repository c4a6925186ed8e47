//! Names this build, so that error messages can identify a client and a daemon that do not fit together.
//!
//! The name is the commit with its time, if there is a repository; otherwise the commit that cargo recorded in the published package;
//! otherwise a hash of this crate's sources. A debug build is always named by that hash: a name that changed with each commit would
//! rebuild everything.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Digits of a commit.
const COMMIT_DIGITS: usize = 9;

fn main() {
    let folder = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    println!("cargo::rerun-if-changed=tests/golden.txt");
    let is_release = env::var("PROFILE").is_ok_and(|profile| profile == "release");
    let commit = if is_release { repository_commit(&folder).or_else(|| package_commit(&folder)) } else { None };
    let name = commit.unwrap_or_else(|| format!("sources {:08x}", sources_hash(&folder)));
    println!("cargo::rustc-env=COHAB_BUILD_NAME={name}");
}

/// The commit of the repository that this folder belongs to, with its time: `1a2b3c4d5 of 2026-01-31 12:00 UTC`. A `+` follows the commit
/// if files were changed since. A package inside another repository is not named by that repository.
pub(crate) fn repository_commit(folder: &Path) -> Option<String> {
    git(folder, &["ls-files", "--error-unmatch", "build.rs"])?;
    for file in ["HEAD", "logs/HEAD"] {
        let path = folder.join(git(folder, &["rev-parse", "--git-path", file])?);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
    let named = git(folder, &["log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%d %H:%M UTC"])?;
    let (commit, time) = named.split_once(' ')?;
    let is_changed =
        git(folder, &["status", "--porcelain", "--untracked-files=no"]).is_none_or(|list| !list.is_empty());
    Some(format!("{}{} of {time}", commit.get(..COMMIT_DIGITS)?, if is_changed { "+" } else { "" }))
}

fn git(folder: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").arg("-C").arg(folder).args(arguments).env("TZ", "UTC").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The commit that `cargo package` has noted.
pub(crate) fn package_commit(folder: &Path) -> Option<String> {
    let noted = fs::read_to_string(folder.join(".cargo_vcs_info.json")).ok()?;
    let digits = noted.split_once("\"sha1\"")?.1.split('"').nth(1)?;
    let is_hash = digits.len() >= COMMIT_DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hash.then(|| digits[..COMMIT_DIGITS].to_owned())
}

/// FNV-1a over the names and contents of the sources, in the order of their names.
pub(crate) fn sources_hash(folder: &Path) -> u32 {
    let mut files = vec![folder.join("tests/golden.txt")];
    let mut folders = vec![folder.join("src")];
    while let Some(next) = folders.pop() {
        for path in fs::read_dir(next).into_iter().flatten().flatten().map(|entry| entry.path()) {
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let mut hash: u32 = 0x811c_9dc5;
    for file in files {
        let name = file.strip_prefix(folder).unwrap_or(&file).to_string_lossy().into_owned();
        for byte in name.into_bytes().into_iter().chain(fs::read(&file).unwrap_or_default()) {
            hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
    hash
}
