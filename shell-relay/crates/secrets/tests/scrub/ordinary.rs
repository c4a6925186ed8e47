//! Tests that text without secrets stays as it is. The lines are those of this repository, of the sources of its dependencies if they
//! are on the machine, and lines generated in the shapes of common listings.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use cohab_secrets::Scrubber;

use crate::samples::Dice;

/// The step among the dependencies' files: one in this many is read.
const ONE_OF: usize = 10;
const MOST_FILE_BYTES: u64 = 1024 * 1024;

fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        match path.is_dir() {
            true if !path.ends_with("target") && !path.ends_with(".git") => walk(&path, found),
            true => {}
            false => found.push(path),
        }
    }
}

/// Lines, and those that were changed.
fn count(paths: &[PathBuf]) -> (usize, Vec<String>) {
    let (mut lines, mut changed) = (0, Vec::new());
    for path in paths {
        let is_small = fs::metadata(path).is_ok_and(|metadata| metadata.len() < MOST_FILE_BYTES);
        let Some(text) = is_small.then(|| fs::read_to_string(path).ok()).flatten() else { continue };
        lines += text.lines().count();
        let clean = Scrubber::default().text(&text).into_owned();
        let hits = clean.lines().filter(|line| line.contains("<secret:") && !text.contains(line));
        changed.extend(hits.map(|line| format!("{}: {line}", path.display())));
    }
    (lines, changed)
}

fn check(lines: usize, changed: &[String], least: usize) {
    let _ = writeln!(io::stderr(), "{} of {lines} lines changed", changed.len());
    assert!(lines >= least, "{lines} lines only");
    assert!(changed.len() * 10_000 <= 2 * lines, "{} of {lines}:\n{}", changed.len(), changed.join("\n"));
}

#[test]
fn sources_and_lock_files_stay() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("the workspace");
    let mut paths = Vec::new();
    walk(root, &mut paths);
    let (lines, changed) = count(&paths);
    check(lines, &changed, 100_000);
}

#[test]
fn sources_of_dependencies_stay() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::var_os("HOME").map(|home| Path::new(&home).join(".cargo")));
    let mut paths = Vec::new();
    walk(&home.unwrap_or_default().join("registry/src"), &mut paths);
    paths.sort();
    let some: Vec<PathBuf> = paths.into_iter().step_by(ONE_OF).collect();
    let (lines, changed) = count(&some);
    check(lines, &changed, 0);
}

fn hex(dice: &mut Dice, length: usize) -> String {
    (0..length).map(|_| char::from(b"0123456789abcdef"[dice.below(16)])).collect()
}

fn base64(dice: &mut Dice, length: usize) -> String {
    let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    (0..length).map(|_| char::from(alphabet[dice.below(64)])).collect()
}

fn uuid(dice: &mut Dice) -> String {
    [8, 4, 4, 4, 12].map(|part| hex(dice, part)).join("-")
}

/// Listings, digests, ids, public keys, certificates, usage texts.
fn listings(dice: &mut Dice) -> Vec<String> {
    let words = ["alpha", "token", "main", "secret-santa", "api", "auth", "key", "report", "password-reset", "Cargo"];
    let word = dice.pick(&words).to_owned();
    let (day, size) = (dice.below(28) + 1, dice.below(1_000_000));
    let (sha1, sha256, id) = (hex(dice, 40), hex(dice, 64), uuid(dice));
    let digest = base64(dice, 86);
    vec![
        format!("-rw-r--r-- 1 user user {size:>8} Jan {day:>2} 10:{day:02} {word}-{day}.rs"),
        format!("commit {sha1}"),
        format!("{} {word}: fix the {word} of {word}s (#{size})", &sha1[..9]),
        format!("index {}..{} 100644", &sha1[..9], &sha1[20..29]),
        format!("{sha256}  {word}-{day}.tar.gz"),
        format!("{}  {word}.iso", &sha256[..32]),
        format!("checksum = \"{sha256}\""),
        format!("      \"integrity\": \"sha512-{digest}==\","),
        format!("  resolved \"https://registry.yarnpkg.com/{word}/-/{word}-{day}.0.1.tgz#{sha1}\""),
        format!("id: {id}"),
        format!("{id}"),
        format!("Started container {}", &sha256[..12]),
        format!("sha256:{sha256}"),
        format!("{word}@sha256:{sha256}"),
        format!("trace_id={} span_id={}", &sha256[..32], &sha256[..16]),
        format!("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA{} {word}@host", base64(dice, 48)),
        format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB{} {word}@host", base64(dice, 340)),
        format!("256 SHA256:{} {word}@host (ED25519)", base64(dice, 43)),
        "-----BEGIN CERTIFICATE-----".to_owned(),
        base64(dice, 64),
        base64(dice, 64),
        "-----END CERTIFICATE-----".to_owned(),
        format!("  --{word} <{}>   The {word} to use [default: {word}{day}]", word.to_uppercase()),
        format!("  --password=PASSWORD   password for {word}, or - to be asked"),
        format!("usage: {word} [--token TOKEN] [--api-key KEY] [--secret FILE]"),
        format!(
            "key fingerprint: {}",
            sha1.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair)).collect::<Vec<_>>().join(":")
        ),
    ]
}

#[test]
fn listings_digests_ids_public_keys_and_usage_texts_stay() {
    let mut dice = Dice::new(3);
    let lines: Vec<String> = (0..800).flat_map(|_| listings(&mut dice)).collect();
    for line in &lines {
        assert_eq!(Scrubber::default().text(line), *line);
    }
    let text = lines.join("\n");
    assert_eq!(Scrubber::default().text(&text), text);
}
