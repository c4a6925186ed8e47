//! What `cohab undo` prints. Pure but for the place of the home.

use std::path::Path;

use cohab_store::backups::{ChangingCommand, Restored, Taken, TurnSummary, Word};
use cohab_text::sanitize::escaped_json;
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};

use super::record;

/// Paths that are named before an undo.
const MOST_NAMED: usize = 10;

fn shown(path: &Path) -> String {
    record::folder(&path.to_string_lossy(), &record::home())
}

fn ago(turn: &TurnSummary, now: &Zoned) -> String {
    let at = Timestamp::try_from(turn.at).unwrap_or(Timestamp::MIN);
    record::time::ago(at, now.timestamp(), now.time_zone())
}

/// The turn by its question and time.
pub(super) fn name(turn: &TurnSummary, now: &Zoned) -> String {
    format!("\"{}\", {}", record::visible(&turn.question), ago(turn, now))
}

/// The turn with what an undo of it is about.
pub(super) fn proposal(turn: &TurnSummary, now: &Zoned) -> String {
    format!("{}:\n{}", name(turn, now), details(turn))
}

/// What an undo of the turn is about, a line each.
pub(in super::super) fn details(turn: &TurnSummary) -> String {
    let mut text = String::new();
    for path in turn.paths.iter().take(MOST_NAMED) {
        text.push_str(&format!("  {}\n", shown(path)));
    }
    if turn.paths.len() > MOST_NAMED {
        text.push_str(&format!("  and {} more\n", turn.paths.len() - MOST_NAMED));
    }
    text.push_str(&not_undone(&turn.commands));
    text
}

/// The turns with their numbers, the newest first.
pub(super) fn list(turns: &[TurnSummary], now: &Zoned) -> String {
    if turns.is_empty() {
        return "Nothing to undo: no file changes are recorded.\n".to_owned();
    }
    let digits = turns.len().to_string().len();
    let times: Vec<String> = turns.iter().map(|turn| ago(turn, now)).collect();
    let when = times.iter().map(String::len).max().unwrap_or_default().max("when".len());
    let mut text = format!("{:>digits$}  {:when$}  files  turn\n", "#", "when");
    for (index, (turn, time)) in turns.iter().zip(&times).enumerate() {
        let number = index + 1;
        let row =
            format!("{number:>digits$}  {time:when$}  {:>5}  {}", turn.paths.len(), record::visible(&turn.question));
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

/// What was done, a line a path; what stays.
pub(in super::super) fn text(restored: Option<&Restored>, is_redo: bool) -> String {
    let Some(restored) = restored else {
        return match is_redo {
            true => "Nothing to redo: no undo is recorded.\n".to_owned(),
            false => "Nothing to undo: no file changes are recorded.\n".to_owned(),
        };
    };
    let line = |Taken { path, word }: &Taken| {
        let path = shown(path);
        match word {
            Word::Restored => format!("{path}: restored\n"),
            Word::Removed if is_redo => format!("{path}: removed again\n"),
            Word::Removed => format!("{path}: removed, the assistant had created it\n"),
            Word::MovedBack(to) => format!("{path}: moved back to {}\n", shown(to)),
            Word::AsBefore => format!("{path}: already as it was\n"),
            Word::Refused { reason, copy } => {
                let copy = copy.as_ref().map(|copy| format!("; its earlier content is in {}", shown(copy)));
                format!("{path}: left alone, {reason}{}\n", copy.unwrap_or_default())
            }
        }
    };
    let mut text: String = restored.files.iter().map(line).collect();
    text.push_str(&not_undone(&restored.commands));
    if text.is_empty() {
        text.push_str("The commands of this turn changed no file that is kept.\n");
    }
    text
}

/// What an undo leaves as the commands left it.
fn not_undone(commands: &[ChangingCommand]) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in commands.iter().flat_map(|command| &command.uncovered) {
        if !parts.contains(&part.as_str()) {
            parts.push(part);
        }
    }
    let mut text = String::new();
    if !parts.is_empty() {
        text.push_str(&format!("Not undone: {}.\n", record::visible(&parts.join(", "))));
    }
    for left_out in commands.iter().flat_map(|command| &command.left_out) {
        text.push_str(&format!("Not kept: {}.\n", record::visible(left_out)));
    }
    text
}

/// The turns as JSON.
pub(super) fn list_json(turns: &[TurnSummary]) -> String {
    let turn = |(index, turn): (usize, &TurnSummary)| {
        let at = Timestamp::try_from(turn.at).unwrap_or(Timestamp::MIN).to_string();
        let paths: Vec<_> = turn.paths.iter().map(|path| path.to_string_lossy()).collect();
        let (number, question) = (index + 1, &turn.question);
        json!({"number": number, "turn": turn.turn, "question": question, "at": at, "files": paths, "commands": commands(&turn.commands)})
    };
    let turns: Vec<Value> = turns.iter().enumerate().map(turn).collect();
    escaped_json(&json!({"turns": turns}).to_string()) + "\n"
}

/// What was done as JSON.
pub(super) fn json(restored: Option<&Restored>) -> String {
    let file = |Taken { path, word }: &Taken| {
        let (outcome, reason, copy) = match word {
            Word::Restored => ("restored", None, None),
            Word::Removed => ("removed", None, None),
            Word::MovedBack(_) => ("moved_back", None, None),
            Word::AsBefore => ("as_before", None, None),
            Word::Refused { reason, copy } => ("refused", Some(reason), copy.as_ref()),
        };
        json!({"path": path.to_string_lossy(), "outcome": outcome, "reason": reason, "copy": copy})
    };
    let files: Vec<Value> = restored.iter().flat_map(|restored| restored.files.iter().map(file)).collect();
    let commands = restored.map(|restored| commands(&restored.commands)).unwrap_or_default();
    escaped_json(&json!({"files": files, "commands": commands}).to_string()) + "\n"
}

fn commands(commands: &[ChangingCommand]) -> Vec<Value> {
    let command = |command: &ChangingCommand| json!({"command": command.line, "not_undone": command.uncovered, "not_kept": command.left_out});
    commands.iter().map(command).collect()
}
