//! Questions that only read are answered without a card: the real policy judges the commands of the plans.

use std::path::Path;

use cohab_shell_relay::policy::{Context, Level, assess_line};

use super::{PHRASINGS, first_command, names};

/// Intents that change something, so that a card is right.
const ACTING: &[&str] = &["archives.create", "archives.extract", "files.code-lines"];

/// Phrasings that only read and are asked all the same, with the reason.
const ASKED_ALL_THE_SAME: &[(&str, &str)] = &[];

fn level(command: &str) -> Level {
    assess_line(command, Context::new(Path::new("/home/ann/src"), Path::new("/home/ann"))).level
}

#[test]
fn whatever_only_reads_is_allowed_unasked() {
    let mut asked = Vec::new();
    for line in PHRASINGS.lines() {
        let phrasing = line.split(" | ").nth(1).unwrap();
        let command = first_command(phrasing);
        if command != "-" && level(&command) != Level::Allow {
            let verdict = assess_line(&command, Context::new(Path::new("/home/ann/src"), Path::new("/home/ann")));
            asked.push(format!("{} | {phrasing} | {command} | {:?}", names(phrasing), verdict.reasons));
        }
    }
    let _ = (ACTING, ASKED_ALL_THE_SAME);
    assert!(asked.is_empty(), "{asked:#?}");
}
