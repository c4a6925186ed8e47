//! `cohab undo` takes back changes of files: outside the prompt of a shell that cohab opened, and on behalf of that prompt.

use std::{io::Write, path::Path, process::ExitCode};

use clap::Args;
use cohab_audit::{
    Journal, Places,
    record::{Event, Note},
};
use cohab_protocol::Paths;
use cohab_store::backups::{Backups, Restored, Taken, Word};
use cohab_text::sanitize::escaped_json;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::{Failure, record};

/// Days that the record of an undo is kept at least.
const KEEP_DAYS: u32 = 90;

/// Undo the changes of the last turn
#[derive(Clone, Debug, PartialEq, Eq, Args)]
#[command(hide = true)]
#[command(
    after_help = "Typed alone on a line at the prompt of a shell that cohab opened, it reverts what the last turn \
        changed there: files that `write` and `edit` changed, the current folder, exported variables, aliases, \
        options, the umask and the prompt. It does not revert your own later changes, functions, other variables, \
        jobs, or what commands did to files. Right after the turn, Ctrl-_ does the same. In other shells it restores \
        the files of the most recent turn of all sessions. An undo cannot be undone."
)]
pub struct UndoArgs {
    /// Restore only the files of this turn
    #[arg(long, value_name = "ID", hide = true)]
    pub turn: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Runs it. Exit status: 0 done, 1 a file was left alone or cannot be read, 3 the output is closed.
pub fn run(args: &UndoArgs, paths: &Paths, output: &mut dyn Write, errors: &mut dyn Write) -> ExitCode {
    let result = undo(args, paths).and_then(|restored| {
        let files = restored.map(|restored| restored.files).unwrap_or_default();
        let text = if args.json { json(&files) } else { text(&files, &record::home()) };
        output.write_all(text.as_bytes())?;
        let is_refused = files.iter().any(|taken| matches!(taken.word, Word::Refused { .. }));
        if is_refused { Err(Failure::Told) } else { Ok(()) }
    });
    super::finish(result, output, errors)
}

fn undo(args: &UndoArgs, paths: &Paths) -> Result<Option<Restored>, Failure> {
    let unreadable = |error| Failure::Other(format!("the saved files cannot be read: {error}"), None);
    let restored = Backups::at(&paths.state_dir).restore(args.turn.as_deref()).map_err(unreadable)?;
    if let Some(restored) = &restored {
        put_on_record(restored, paths);
    }
    Ok(restored)
}

/// Only into an existing audit log: the settings decide about having one.
fn put_on_record(Restored { turn, files }: &Restored, paths: &Paths) {
    let is_undone = |taken: &&Taken| matches!(taken.word, Word::Restored | Word::Removed);
    let undone: Vec<String> =
        files.iter().filter(is_undone).map(|taken| taken.path.to_string_lossy().into_owned()).collect();
    let places = Places::of(paths);
    if undone.is_empty() || !places.head_file().exists() {
        return;
    }
    let event = Event::Undone { paths: undone };
    let note = Note { at: Timestamp::now(), session: String::new(), turn: turn.clone(), keep_days: KEEP_DAYS, event };
    if let Err(error) = Journal::at(places).append(&[note]) {
        tracing::warn!(%error, "an undo is not in the audit log");
    }
}

fn text(files: &[Taken], home: &Path) -> String {
    if files.is_empty() {
        return "Nothing to undo: no file change is recorded.\n".to_owned();
    }
    let shown = |path: &Path| record::folder(&path.to_string_lossy(), home);
    let line = |Taken { path, word }: &Taken| {
        let path = shown(path);
        match word {
            Word::Restored => format!("{path}: restored\n"),
            Word::Removed => format!("{path}: removed, the assistant had created it\n"),
            Word::AsBefore => format!("{path}: already as it was before the turn\n"),
            Word::Refused { reason, copy } => {
                let copy = copy.as_ref().map(|copy| format!("; its earlier content is in {}", shown(copy)));
                format!("{path}: left alone, {reason}{}\n", copy.unwrap_or_default())
            }
        }
    };
    files.iter().map(line).collect()
}

fn json(files: &[Taken]) -> String {
    let file = |Taken { path, word }: &Taken| {
        let (word, reason, copy) = match word {
            Word::Restored => ("restored", None, None),
            Word::Removed => ("removed", None, None),
            Word::AsBefore => ("as_before", None, None),
            Word::Refused { reason, copy } => ("refused", Some(reason), copy.as_ref()),
        };
        json!({"path": path.to_string_lossy(), "outcome": word, "reason": reason, "copy": copy})
    };
    let files: Vec<Value> = files.iter().map(file).collect();
    escaped_json(&json!({"files": files}).to_string()) + "\n"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::testing::Home;
    use super::*;

    fn run_as(home: &Home, json: bool) -> (ExitCode, String) {
        let (mut output, mut errors) = (Vec::new(), Vec::new());
        let code = run(&UndoArgs { turn: None, json }, &home.paths, &mut output, &mut errors);
        assert!(errors.is_empty(), "{}", String::from_utf8_lossy(&errors));
        (code, String::from_utf8(output).expect("text"))
    }

    #[test]
    fn each_file_is_told_and_one_that_is_left_alone_is_a_failure() {
        let home = Home::empty();
        assert_eq!(run_as(&home, false).1, "Nothing to undo: no file change is recorded.\n");
        let work = home.paths.state_dir.parent().expect("a folder").join("work").clone();
        fs::create_dir_all(&work).expect("made");
        let work = work.canonicalize().expect("a path");
        let backups = Backups::at(&home.paths.state_dir);
        let write = |name: &str| {
            let path = work.join(name);
            backups.keep("shell:1", "t1", &path).expect("kept");
            fs::write(&path, "new").expect("written");
            backups.changed("shell:1", "t1", &path).expect("noted");
        };
        ["a", "b"].iter().for_each(|name| fs::write(work.join(name), "old").expect("written"));
        ["a", "b", "made"].iter().for_each(|name| write(name));
        fs::write(work.join("b"), "mine").expect("written");
        let (code, text) = run_as(&home, false);
        assert_eq!(code, ExitCode::FAILURE);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with("/made: removed, the assistant had created it"), "{text}");
        assert!(lines[1].contains("/b: left alone, it was changed since; its earlier content is in "), "{text}");
        assert!(lines[2].ends_with("/a: restored"), "{text}");
        let (code, json) = run_as(&home, true);
        let value: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!((code, &value["files"][0]["outcome"]), (ExitCode::FAILURE, &json!("refused")));
    }
}
