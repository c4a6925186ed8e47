//! `cohab diff` shows what a turn, or a whole conversation, changed in files: what is kept for `cohab undo` compared with now.

use std::{io::Write, path::Path, process::ExitCode, time::Duration};

use clap::Args;
use cohab_protocol::Paths;
use cohab_store::backups::{Backups, ChangedFile, ChangedFiles, Compared, Content};
use cohab_text::sanitize::{escaped_json, sanitize_prose};
use jiff::{Timestamp, Zoned};
use serde_json::{Value, json};
use similar::TextDiff;

use super::{Failure, record};

/// Lines around a change.
const CONTEXT_LINES: usize = 3;
/// After this time the diff of a file is finished without minimizing it.
const DIFF_TIMEOUT: Duration = Duration::from_millis(300);
/// Of a file that is new or gone so many bytes are shown at most.
const MAX_DIFF_BYTES: usize = 1024 * 1024;
/// Printed if there is nothing else.
const NOTHING: &str = "Nothing to show: no change of a file is kept.";

/// Show what the last turn changed in files
#[derive(Clone, Debug, Default, PartialEq, Eq, Args)]
#[command(
    hide = true,
    after_help = "At the prompt of a shell that cohab opened, `? /diff` shows the last turn there and `? /diff session` the whole \
        conversation. Files that changed again since are compared as they are now. Into a pipe it prints a unified diff."
)]
pub struct DiffArgs {
    /// Show all turns of the conversation, not only the last one
    #[arg(long)]
    pub all: bool,
    /// The conversation, by the start of its id [default: that of the last change]
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Show this turn, by its number in `cohab undo --list`
    #[arg(long, value_name = "N", conflicts_with_all = ["all", "session"])]
    pub turn: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 shown, 1 the copies cannot be read, 3 the output is closed.
pub fn run(args: &DiffArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    super::finish(print(args, paths, output), output, errors)
}

fn print(args: &DiffArgs, paths: &Paths, output: &mut dyn Write) -> Result<(), Failure> {
    let backups = Backups::at(&paths.state_dir);
    let unreadable = |error: std::io::Error| Failure::Other(format!("the saved files cannot be read: {error}"), None);
    let turn = match args.turn.as_deref().map(str::parse::<usize>) {
        Some(Ok(number)) => Some(numbered(&backups, number)?),
        Some(Err(_)) => args.turn.clone(),
        None => None,
    };
    let compared = Compared { session: args.session.as_deref(), turn: turn.as_deref(), is_all: args.all };
    let changed = backups.compare(&compared).map_err(unreadable)?;
    let text = match args.json {
        true => escaped_json(&as_json(changed.as_ref(), &Zoned::now()).to_string()) + "\n",
        false => as_text(changed.as_ref(), &Zoned::now()),
    };
    Ok(output.write_all(text.as_bytes())?)
}

/// # Errors
/// No turn has this number.
fn numbered(backups: &Backups, number: usize) -> Result<String, Failure> {
    let turns = backups.turns().unwrap_or_default();
    let turn = number.checked_sub(1).and_then(|index| turns.get(index));
    turn.map(|turn| turn.turn.clone()).ok_or_else(|| {
        let hint = "`cohab undo --list` lists the turns whose changes are kept".to_owned();
        Failure::Other(format!("no turn has the number {number}"), Some(hint))
    })
}

/// A file's change as text.
struct FileText {
    /// What is said next to the path; may be empty.
    note: String,
    /// The parts of a unified diff; empty if the content is no text.
    hunks: String,
    is_new: bool,
    is_gone: bool,
}

fn file_text(file: &ChangedFile) -> FileText {
    if let Some(from) = &file.moved_from {
        let note = format!("moved from {}", record::folder(&from.to_string_lossy(), &record::home()));
        return FileText { note, hunks: String::new(), is_new: false, is_gone: false };
    }
    let text = |content: &Content| match content {
        Content::Nothing => Ok(String::new()),
        Content::File(bytes) if bytes.len() > MAX_DIFF_BYTES => Err(format!("{} bytes", bytes.len())),
        Content::File(bytes) => {
            String::from_utf8(bytes.clone()).map_err(|_| format!("{} bytes that are not text", bytes.len()))
        }
        Content::Other(phrase) => Err(phrase.clone()),
    };
    let mut notes = Vec::new();
    let (is_new, is_gone) = (file.before == Content::Nothing, file.after == Content::Nothing);
    notes.extend(is_new.then(|| "new".to_owned()));
    notes.extend(is_gone.then(|| "removed".to_owned()));
    let hunks = match (text(&file.before), text(&file.after)) {
        (Ok(before), Ok(after)) => {
            let diff = TextDiff::configure().timeout(DIFF_TIMEOUT).diff_lines(&before, &after);
            diff.unified_diff().context_radius(CONTEXT_LINES).to_string()
        }
        (before, after) => {
            let phrase = |content: Result<String, String>| content.err().unwrap_or_else(|| "text".to_owned());
            notes.push(match (is_new, is_gone) {
                (true, _) => phrase(after),
                (_, true) => phrase(before),
                _ => format!("{}, now {}", phrase(before), phrase(after)),
            });
            String::new()
        }
    };
    notes.extend(file.is_changed_since.then(|| "changed again since".to_owned()));
    FileText { note: notes.join(", "), hunks, is_new, is_gone }
}

/// The turn by its question and time.
fn title(changed: &ChangedFiles, now: &Zoned) -> String {
    let at = Timestamp::try_from(changed.at).unwrap_or(Timestamp::MIN);
    let ago = record::time::ago(at, now.timestamp(), now.time_zone());
    let question = record::visible(&changed.question);
    let turns = if changed.turns > 1 { format!(", {} turns", changed.turns) } else { String::new() };
    format!("\"{question}\", {ago}{turns}")
}

/// What is not compared.
fn remarks(changed: &ChangedFiles) -> Vec<String> {
    let mut remarks = Vec::new();
    for command in &changed.commands {
        let unknown = command.uncovered.iter().map(|part| format!("Not known: {}.", record::visible(part)));
        let left_out = command.left_out.iter().map(|part| format!("Not kept: {}.", record::visible(part)));
        for remark in unknown.chain(left_out) {
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
    }
    if changed.files.is_empty() {
        remarks.insert(0, "All files that are kept are as they were before.".to_owned());
    }
    remarks
}

/// A unified diff with absolute paths, as `patch` takes it.
fn as_text(changed: Option<&ChangedFiles>, now: &Zoned) -> String {
    let Some(changed) = changed else { return format!("{NOTHING}\n") };
    let mut text = title(changed, now) + "\n";
    for remark in remarks(changed) {
        text.push_str(&format!("{remark}\n"));
    }
    for file in &changed.files {
        let FileText { note, hunks, is_new, is_gone } = file_text(file);
        let path = record::visible(&file.path.to_string_lossy());
        if hunks.is_empty() {
            text.push_str(&format!("{path}: {note}\n"));
            continue;
        }
        let name = |is_absent: bool| if is_absent { "/dev/null" } else { path.as_str() };
        text.push_str(&format!("--- {}\n+++ {}\n{}", name(is_new), name(is_gone), sanitize_prose(&hunks)));
    }
    text
}

fn as_json(changed: Option<&ChangedFiles>, now: &Zoned) -> Value {
    let Some(changed) = changed else { return json!({"title": Value::Null, "remarks": [NOTHING], "files": []}) };
    let shown = |path: &Path| record::folder(&path.to_string_lossy(), &record::home());
    let file = |file: &ChangedFile| {
        let FileText { note, hunks, .. } = file_text(file);
        json!({"path": file.path.to_string_lossy(), "shown": shown(&file.path), "note": note, "diff": hunks})
    };
    let files: Vec<Value> = changed.files.iter().map(file).collect();
    json!({"title": title(changed, now), "remarks": remarks(changed), "files": files})
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cohab_store::backups::CommandChanges;

    use super::{super::testing::Home, *};

    fn write(home: &Home, (session, turn): (&str, &str), path: &Path, content: &[u8]) {
        let backups = Backups::at(&home.paths.state_dir);
        backups.keep(session, turn, &format!("the question of {turn}"), path).expect("kept");
        fs::write(path, content).expect("written");
        backups.changed(session, turn, path).expect("noted");
    }

    fn shown(home: &Home, args: &DiffArgs) -> String {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        run(args, &home.paths, &mut output, &mut errors);
        output.extend(errors);
        String::from_utf8(output).expect("text")
    }

    fn of(words: &[&str]) -> DiffArgs {
        let word = |name: &str| words.iter().position(|word| *word == name).map(|at| words[at + 1].to_owned());
        DiffArgs { all: words.contains(&"--all"), session: word("--session"), turn: word("--turn"), json: false }
    }

    #[test]
    fn the_last_turn_is_shown_and_the_whole_conversation_from_its_begin() {
        let (home, work) = Home::with_work_folder();
        assert_eq!(shown(&home, &of(&[])), "Nothing to show: no change of a file is kept.\n");
        let (a, b) = (work.join("a"), work.join("b"));
        fs::write(&a, "one\ntwo\n").expect("written");
        write(&home, ("shell:1", "0001"), &a, b"one\n2\n");
        write(&home, ("shell:2", "0002"), &b, b"other\n");
        write(&home, ("shell:1", "0003"), &a, b"one\n2\nthree\n");
        let (a, b) = (a.display(), b.display());
        assert_eq!(
            shown(&home, &of(&[])),
            format!("\"the question of 0003\", now\n--- {a}\n+++ {a}\n@@ -1,2 +1,3 @@\n one\n 2\n+three\n")
        );
        let all = format!(
            "\"the question of 0003\", now, 2 turns\n--- {a}\n+++ {a}\n@@ -1,2 +1,3 @@\n one\n-two\n+2\n+three\n"
        );
        assert_eq!(shown(&home, &of(&["--all"])), all);
        assert_eq!(shown(&home, &of(&["--all", "--session", "shell:1"])), all);
        let other = format!("\"the question of 0002\", now\n--- /dev/null\n+++ {b}\n@@ -0,0 +1 @@\n+other\n");
        assert_eq!(shown(&home, &of(&["--session", "shell:2"])), other);
        assert_eq!(shown(&home, &of(&["--turn", "2"])), other);
        assert!(shown(&home, &of(&["--turn", "9"])).contains("no turn has the number 9"));
        assert_eq!(shown(&home, &of(&["--session", "shell:3"])), "Nothing to show: no change of a file is kept.\n");
    }

    #[test]
    fn what_is_no_text_or_has_changed_again_is_said() {
        let (home, work) = Home::with_work_folder();
        let (picture, gone, same) = (work.join("p.png"), work.join("gone"), work.join("same"));
        [&gone, &same, &work.join("from")].iter().for_each(|path| fs::write(path, "old\n").expect("written"));
        write(&home, ("shell:1", "t"), &picture, b"\xff\0");
        write(&home, ("shell:1", "t"), &same, b"new\n");
        let changes = CommandChanges {
            line: "rm gone; make".to_owned(),
            paths: vec![gone.clone()],
            attributes: Vec::new(),
            moves: vec![(work.join("from"), work.join("to"))],
            uncovered: vec!["what `make` changes in files".to_owned()],
        };
        let backups = Backups::at(&home.paths.state_dir);
        let deadline = std::time::Instant::now() + Duration::from_secs(60);
        let pending = backups.keep_for_command(("shell:1", "t"), "tidy", &changes, deadline).expect("kept");
        fs::remove_file(&gone).expect("removed");
        fs::rename(work.join("from"), work.join("to")).expect("moved");
        backups.command_ended("shell:1", "t", &pending).expect("noted");
        fs::write(&same, "mine\n").expect("written");
        let [picture, gone, same, from, to] =
            ["p.png", "gone", "same", "from", "to"].map(|name| work.join(name).display().to_string());
        assert_eq!(
            shown(&home, &of(&[])),
            format!(
                "\"the question of t\", now\nNot known: what `make` changes in files.\n{picture}: new, 2 bytes that are not text\n\
                 --- {same}\n+++ {same}\n@@ -1 +1 @@\n-old\n+mine\n--- {gone}\n+++ /dev/null\n@@ -1 +0,0 @@\n-old\n\
                 {to}: moved from {from}\n"
            )
        );
        let json: Value = serde_json::from_str(&shown(&home, &DiffArgs { json: true, ..of(&[]) })).expect("JSON");
        let notes: Vec<_> = json["files"].as_array().expect("files").iter().map(|file| file["note"].clone()).collect();
        let moved = format!("moved from {from}");
        assert_eq!(notes, ["new, 2 bytes that are not text", "changed again since", "removed", moved.as_str()]);
        fs::write(work.join("same"), "old\n").expect("written");
        assert!(!shown(&home, &of(&[])).contains("/same"), "it is as it was");
    }
}
