//! Brings the files of several turns back.

use std::fmt::Write as _;

use cohab_protocol::Paths;
use cohab_store::backups::{Backups, TurnSummary};

use super::super::{
    Failure,
    undo::{put_on_record, told, unreadable},
};

/// Brings back what was at the paths of these turns before the last of them, and tells the outcome of each path. The turns are given the
/// last one first, so that a path that several of them changed goes back step by step.
pub(super) fn restore(backups: &Backups, turns: &[String], paths: &Paths) -> Result<String, Failure> {
    let mut text = String::new();
    for turn in turns {
        let Some(restored) = backups.restore(Some(turn)).map_err(|error| unreadable(&error))? else { continue };
        put_on_record(&restored, paths);
        let question = super::record::visible(&restored.question);
        let _ = write!(text, "\"{question}\":\n{}", told::text(Some(&restored), false));
    }
    if text.is_empty() {
        text.push_str("No file of these turns is kept.\n");
    }
    Ok(text)
}

/// What would come back, turn by turn, and what would not.
pub(super) fn preview(turns: &[&TurnSummary]) -> Vec<String> {
    if turns.is_empty() {
        return vec!["Files: no change is kept.".to_owned()];
    }
    let mut lines = vec!["Files:".to_owned()];
    for turn in turns {
        lines.extend(told::details(turn).lines().map(str::to_owned));
    }
    lines
}
